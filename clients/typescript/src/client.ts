/**
 * What runs on a device: one question, one basket, one randomised report.
 *
 * With `answering`, `draws`, `trust`, `loss` and `limits` beside it, this file does what `docs/wire.md` says, as the Python
 * files of these names do: the same question, basket and random bytes give the same report. Probabilities are integers
 * over a power of two that come with the question; a device computes no exponentials to answer, and it refuses a question
 * whose numbers lose more than they claim, or that would keep it busy. Items are numbers: places in the study's public
 * list. What a basket holds beyond that list is ignored. In a study without a list a device holds texts, and the question
 * tells how they become numbers. A device with nothing to say answers too, and cannot be told apart by it.
 */

import { type Pair, type Question, deviceData, held } from "./answering.js";
import { Draws, type Seed, type Take, mixed, published, secure } from "./draws.js";
import { type Fields, Refused } from "./json.js";
import { type Oracle, WORD, pointsOf, weightOf } from "./loss.js";
import { type Limit, check, parsed } from "./trust.js";

/** A report before it is written: its fields, in the order in which they are. */
export type Report =
  | { value: number }
  | { seed: Seed | number; value: number }
  | { values: number[] }
  | { seed: Seed | number; point: number }
  | { sign: number }
  | { point: number }
  | { pm: Report }
  | { duchi: Report };
type Answer = (oracle: Oracle, values: readonly number[], draws: Draws) => Report;

/** Pad to the given length with dummies, and sample one (PS of Wang, Li, Jha 2018). Dummies follow the values. */
function sampled(oracle: Oracle, values: readonly number[], draws: Draws): number {
  const drawn = draws.below(Math.max(values.length, oracle.pad));
  return drawn < values.length ? values[drawn]! : oracle.size + ((drawn - values.length) % oracle.dummies);
}

/** Return the own value for the first place, and the others in order for those after it. */
function ownFirst(own: number, place: number): number {
  return place === 0 ? own : place - Number(place <= own);
}

const value: Answer = (oracle, values, draws) => {
  const symbol = sampled(oracle, values, draws);
  return { value: ownFirst(symbol, draws.place(weightOf(oracle), 1, oracle.size + oracle.dummies - 1)) };
};

const hashed: Answer = (oracle, values, draws) => {
  const symbol = sampled(oracle, values, draws);
  const seed = seedFor(oracle, draws);
  const bucket = placeOf(oracle.buckets, seed, symbol);
  return { seed, value: ownFirst(bucket, draws.place(weightOf(oracle), 1, oracle.buckets - 1)) };
};

/** Return the number of a published seed, or a fresh one: drawn without looking at what is held either way. */
function seedFor({ seeds }: Oracle, draws: Draws): Seed | number {
  return seeds === undefined ? draws.seed() : draws.published(seeds);
}

/** Return which of so many places a symbol falls into, by a seed or the number of a published one. */
export function placeOf(places: number, seed: Seed | number, symbol: number): number {
  const own = typeof seed === "number" ? published(seed) : seed;
  return Number((BigInt(mixed(own, symbol)) * BigInt(places)) >> 32n); // the product has up to 64 bits
}

/** Return how many points a wheel has: few where seeds are published. */
export function circleOf({ seeds, points }: Oracle): number {
  return seeds === undefined ? WORD : points;
}

const subset: Answer = (oracle, values, draws) => {
  const size = oracle.size + oracle.dummies;
  const own = oracle.oracle === "subset" ? [sampled(oracle, values, draws)] : draws.some(oracle.pad, values);
  if (oracle.oracle === "privset") {
    for (let dummy = oracle.size; own.length < oracle.pad; dummy++) own.push(dummy); // distinct dummies
  }
  const mine = new Set(own);
  let chosen: Set<number>;
  if (draws.chance(oracle.hit)) {
    let met: number;
    do {
      // One held value and any others; kept once in as many times as it was met, so that every set is as likely.
      chosen = draws.filled(new Set([own[draws.below(own.length)]!]), oracle.many, size);
      met = [...chosen].filter((one) => mine.has(one)).length;
    } while (draws.below(met) !== 0);
  } else {
    chosen = draws.filled(new Set(), oracle.many, size, mine);
  }
  return { values: [...chosen].sort((one, other) => one - other) };
};

/** Return the union of the arcs that begin at each start, as stretches in order, which may be empty. */
export function stretchesOf(starts: readonly number[], arc: number, points: number): Pair[] {
  const sorted = [...starts].sort((one, other) => one - other);
  // What passes the end begins the circle.
  let end = sorted.length > 0 ? Math.max(sorted[sorted.length - 1]! + arc - points, 0) : 0;
  const stretches: Pair[] = [[0, end]];
  for (const start of sorted) {
    const begin = Math.max(start, end);
    end = Math.max(Math.min(start + arc, points), end);
    stretches.push([begin, end]);
  }
  return stretches;
}

const wheel: Answer = (oracle, values, draws) => {
  const own = draws.some(oracle.pad, values);
  const seed = seedFor(oracle, draws);
  const points = circleOf(oracle);
  const stretches = stretchesOf(own.map((one) => placeOf(points, seed, one)), oracle.arc, points);
  const inside = stretches.reduce((sum, [begin, end]) => sum + end - begin, 0);
  let point = draws.place(weightOf(oracle), inside, points - inside);
  let missed = point - inside;
  for (const [begin, end] of stretches) {
    if (missed >= begin) missed += end - begin;
    if (0 <= point && point < end - begin) return { seed, point: begin + point };
    point -= end - begin;
  }
  return { seed, point: missed };
};

/** Return the coordinates of the point of a number: the first that is not 0 is a 1, the last counts single. */
function coordinatesOf(number: number, field: number, many: number): number[] {
  const found: number[] = [];
  for (let left = number; left > 0; left = Math.floor((left - 1) / field)) found.unshift((left - 1) % field);
  return [...Array<number>(many - 1 - found.length).fill(0), 1, ...found];
}

/** Return the sum of products, the last of one with the first of the other: it has up to 67 bits. */
function product(own: readonly number[], told: readonly number[], field: number): number {
  const sum = told.reduce((total, one, at) => total + BigInt(one) * BigInt(own[own.length - 1 - at]!), 0n);
  return Number(sum % BigInt(field));
}

/** Return whether the points of two numbers meet. */
export function meets({ field, coordinates }: Oracle, one: number, other: number): boolean {
  return product(coordinatesOf(one, field, coordinates), coordinatesOf(other, field, coordinates), field) === 0;
}

const point: Answer = (oracle, values, draws) => {
  const { field, coordinates } = oracle;
  const own = coordinatesOf(sampled(oracle, values, draws), field, coordinates);
  const lead = own.indexOf(1);
  // All coordinates are free but one, which says whether the point meets the own one. Those before it lead.
  const free = coordinates - 1 - lead;
  let [told, more]: [number[], number] = [[], 0];
  if (draws.chance(oracle.hit)) {
    told = coordinatesOf(draws.below(Number(pointsOf(field, coordinates - 1))), field, coordinates - 1);
  } else {
    let rest = draws.below(field ** (coordinates - 1));
    for (let at = 0; at < lead; at++) {
      told.unshift(rest % field);
      rest = Math.floor(rest / field);
    }
    const front = rest === 0 ? Array<number>(free).fill(0) : coordinatesOf(Math.floor((rest - 1) / (field - 1)), field, free);
    [told, more] = [[...front, ...told], rest === 0 ? 1 : 1 + ((rest - 1) % (field - 1))];
  }
  told.splice(free, 0, (more + field - product(own, told.slice(0, free), field)) % field);
  const behind = told.slice(told.indexOf(1) + 1);
  return { point: behind.reduce((number, one) => field * number + 1 + one, 0) };
};

const sign: Answer = (oracle, values, draws) => ({
  sign: Number(draws.chance(WORD / 2 + oracle.slope * clipped(oracle, values))),
});

const piece: Answer = (oracle, values, draws) => {
  const { span, step, window, points } = oracle;
  const start = (clipped(oracle, values) + span) * step;
  const drawn = draws.place(weightOf(oracle), window, points - window);
  return { point: drawn < window ? start + drawn : drawn - window + window * Number(drawn - window >= start) };
};

const either: Answer = (oracle, values, draws) =>
  draws.chance(oracle.choose) ? { pm: piece(oracle.pm, values, draws) } : { duchi: sign(oracle.duchi, values, draws) };

/** Return the number to report: whatever was computed, it is within the range. */
function clipped({ span }: Oracle, values: readonly number[]): number {
  return Math.min(Math.max(values[0]!, -span), span);
}

export const ANSWERS: ReadonlyMap<string, Answer> = new Map([
  ["grr", value],
  ["olh", hashed],
  ["subset", subset],
  ["privset", subset],
  ["wheel", wheel],
  ["geometry", point],
  ["duchi", sign],
  ["pm", piece],
  ["hm", either],
]);

/** What the owner of a device allows, and what it holds beside its items. */
export interface Options {
  /**
   * The most epsilon this device gives away, a finite number over 0: a question that asks for more is refused. It is for
   * the owner of the device to say, and never for whoever asks, so nothing stands in for it.
   */
  readonly maxEpsilon: Limit;
  /** The largest probability (delta) of giving away more than that; by default only questions without one are answered. */
  readonly maxDelta?: Limit;
  /** The texts held, where the study has no list of items: then there is no basket of numbers. */
  readonly texts?: Iterable<string> | undefined;
  /** The relations that the device was given, as pairs of items. */
  readonly given?: Iterable<Pair> | undefined;
  /** The pairs (a, b) of items where b came later than a. */
  readonly after?: Iterable<Pair> | undefined;
  /** Where random bytes come from: the system's secure source. Anything else is for tests. */
  readonly take?: Take;
}

/**
 * Return this device's one report to a question, as the bytes to send. A `Refused` says why there is none.
 *
 * The question is the bytes or the text that came, or what `parsed` read from them. The basket has the numbers of the
 * items held; those that the question does not know are ignored, and so is what comes after the first 32,768, here and
 * among relations.
 */
export function client(question: Fields | Uint8Array | string, basket: Iterable<number>, options: Options): Uint8Array {
  const asked = check(parsed(question), options.maxEpsilon, options.maxDelta);
  checkKind(asked, options.texts);
  // Looked at whatever is asked: a report that shows of what kind a number was, or stops at it, would tell.
  const own = deviceData(basket, options);
  const values = held(asked, own.texts ?? own.items, asked.pairs === "after" ? own.after : own.given);
  const report = ANSWERS.get(asked.oracle.oracle)!(asked.oracle, values, new Draws(options.take ?? secure));
  return new TextEncoder().encode(JSON.stringify(report));
}

/** Refuse a question about texts where the device holds items, and the other way round. */
export function checkKind(asked: Pick<Question, "texts">, texts: Iterable<string> | undefined): void {
  if ((asked.texts === undefined) !== (texts === undefined)) {
    throw new Refused("The question is about texts, and this device holds items; or the other way round.");
  }
}
