/**
 * Which of its baskets a device answers for, where it holds several: one, drawn at random.
 *
 * A report is about one basket. One that is drawn stands for all of them: over many devices, a pattern is estimated to be
 * held by the share of their baskets that hold it. The device pads its baskets with empty ones to `maxBaskets` and samples
 * one. This does what the Python file of this name does, from the same bytes.
 */

import { plainTexts, wholeNumbers } from "./answering.js";
import { Draws, type Take, secure } from "./draws.js";

const MOST_BASKETS = 1_000_000;

/** How a basket is chosen. */
export interface Choosing {
  /**
   * Up to how many baskets a person counts for more than who has one: a number of the study, the same on every device. With
   * fewer than that, what is drawn may be an empty basket. 1, unless given, has everybody count the same.
   */
  readonly maxBaskets?: number;
  /** Where random bytes come from: the system's secure source. Anything else is for tests. */
  readonly take?: Take;
}

/**
 * Return the basket that this device answers for: one of those it holds, or an empty one where it holds none.
 *
 * A report about it is as private as one about a basket that nobody drew, and hides all of them. Make one report per study,
 * whichever was drawn: reports about several would add up.
 */
export function chosen<T extends number | string>(baskets: Iterable<Iterable<T>>, options: Choosing = {}): T[] {
  const { maxBaskets = 1, take = secure } = options;
  if (!Number.isInteger(maxBaskets) || maxBaskets < 1 || maxBaskets > MOST_BASKETS) {
    throw new TypeError(`maxBaskets is a whole number from 1 to 1,000,000; ${String(maxBaskets).slice(0, 80)} was given.`);
  }
  const held = [...baskets].map((basket) => [...basket]);
  // All are looked at, whichever is drawn: a device that stops at one of them alone would tell.
  const everything: (number | string)[] = held.flat();
  if (everything.filter((item) => typeof item === "string").length > 0) plainTexts(everything as string[]);
  else wholeNumbers(everything as number[]);
  return held[new Draws(take).below(Math.max(held.length, maxBaskets))] ?? [];
}
