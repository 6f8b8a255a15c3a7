/**
 * How long the longest answer to a question takes on this device.
 *
 * The moment at which a report is sent must not depend on what is held, so it is chosen beforehand, and later than any answer
 * could be. How fast a device is nobody can say for it. So it answers the question once for as much as a device may hold, all
 * of it what the question names, and throws that report away. The time depends on the question and on the device, and on
 * nothing that is held.
 */

import { END, MOST_HELD, MOST_SYMBOLS_HELD, type OwnThings, type Pair, type Texts } from "./answering.js";
import { becomes } from "./becoming.js";
import { client } from "./client.js";
import type { Limits, StudyText } from "./documents.js";
import { type Fields, field } from "./json.js";

/** How many times as long as the rehearsal took passes before a report is sent: a device may be busier by then. */
export const MARGIN = 4;

/** Return the milliseconds that the answer takes for as much as a device may hold. */
export function rehearse(question: Fields, { become }: Pick<StudyText, "become">, limits: Limits): number {
  const begun = performance.now();
  if (become !== undefined) {
    const longest = become.map((_, at) => at).sort((one, other) => become[other]!.length - become[one]!.length);
    becomes(longest.slice(0, MOST_HELD), become);
  }
  const { maxEpsilon, maxDelta = 0 } = limits;
  for (const { basket, ...own } of fullest(question)) client(question, basket, { maxEpsilon, maxDelta, ...own });
  return performance.now() - begun;
}

/** Return the largest that may be held: what the question names first, and then numbers that it may not know. */
export function fullest(question: Fields): ({ basket: number[] } & OwnThings)[] {
  const texts = field(question, "texts") as unknown as Texts | undefined;
  // Many short texts, and few long ones: which takes longer depends on the question.
  if (texts !== undefined) return [1, texts.length].map((symbols) => ({ basket: [], texts: longest(texts, symbols) }));
  const basket: number[] = [];
  const pairs: Pair[] = [];
  for (const name of ["of", "order"]) {
    const entries = field(question, name);
    for (const entry of Array.isArray(entries) ? entries : []) {
      const chain = (Array.isArray(entry) ? entry : [entry]) as number[];
      if (basket.length < MOST_HELD) basket.push(...chain.slice(0, MOST_HELD - basket.length));
      for (let at = 1; at < chain.length && pairs.length < MOST_HELD; at++) pairs.push([chain[at - 1]!, chain[at]!]);
    }
  }
  for (let item = 0; basket.length < MOST_HELD; item++) basket.push(item);
  const kind = field(question, "pairs");
  if (kind !== "given" && kind !== "after") return [{ basket }]; // a participant answers without pairs, whichever it holds
  for (let item = 0; pairs.length < MOST_HELD; item++) pairs.push([item, item + 1]);
  return [{ basket, [kind]: pairs }];
}

/** Return texts of about so many symbols that begin as the question says, as many as a device answers for. */
function longest(told: Texts, symbols: number): string[] {
  const [fill] = told.alphabet;
  const starts = told.begin.map((begin) => begin.replace(END, ""));
  const found: string[] = [];
  for (let symbolsLeft = MOST_SYMBOLS_HELD, at = 0; ; at++) {
    const start = starts[at % starts.length]!;
    const size = [...start].length;
    const filled = Math.max(symbols, size, 1);
    symbolsLeft -= filled + 1;
    if (symbolsLeft < 0) return found;
    found.push(start + fill!.repeat(filled - size));
  }
}
