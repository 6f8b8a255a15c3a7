/**
 * What an oracle gives away, computed exactly from its numbers: what a device checks before it answers.
 *
 * Every oracle's probabilities are integers over a power of two, so the largest ratio between the chances of one report
 * under two baskets is a fraction. The proof page of each oracle says why the ratio here bounds it. No floating point.
 */

import { type Fraction, ONE, both, choose, isOver } from "./fractions.js";
import { type Fields, type Json, Refused, field, isFields } from "./json.js";
import { MOST_MET, MOST_POINTS, MOST_REPORT, MOST_SHARE, MOST_SUBSET, MOST_SYMBOLS } from "./limits.js";

export const WORD = 2 ** 32; // chances are out of this many
export const WIDE = 1n << 64n; // weights of places are out of this many

export const UNWRITTEN = "The question is not written as format 1 has it.";
export const BEYOND = "The question is about more than a device looks at.";
export const UNWHOLE = "The question's numbers are not whole.";
export const NO_CHANCES = "The question's numbers are not probabilities.";
const TERMS = 160; // of the series of e^x: they leave out less than 2^-96 of it up to x = 20
const SHIFT = 128n; // bits of a term after the point

/** The numbers of an oracle, after `ratio` has looked at them: what one has not is undefined, and not used. */
export interface Oracle {
  readonly oracle: string;
  readonly size: number;
  readonly pad: number;
  readonly dummies: number;
  readonly inside: string;
  readonly buckets: number;
  readonly share?: number;
  readonly seeds?: number;
  readonly many: number;
  readonly hit: number;
  readonly arc: number;
  readonly field: number;
  readonly coordinates: number;
  readonly span: number;
  readonly slope: number;
  readonly step: number;
  readonly window: number;
  readonly points: number;
  readonly choose: number;
  readonly pm: Oracle;
  readonly duchi: Oracle;
}

/** Return the weight of a place inside; it travels as digits, as a number so long is not read exactly. */
export function weightOf(oracle: Oracle): bigint {
  if (typeof oracle.inside !== "string" || !/^[0-9]{1,20}$/.test(oracle.inside)) throw new Refused(UNWHOLE);
  return BigInt(oracle.inside);
}

/** Return whether this is a whole number, and not one that passes for it. */
export function isWhole(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value);
}

/** Return a number that is at most e to the power of epsilon, by less than 2^-96 of it up to 20. */
export function grownAtLeast([over, under]: Fraction): Fraction {
  let term = 1n << SHIFT;
  let total = term;
  for (let count = 1n; count < TERMS; count++) {
    term = (term * over) / (under * count); // cut, which keeps the sum below
    total += term;
  }
  return [total, 1n << SHIFT];
}

/**
 * Return the largest ratio of the chances of two places, whatever part of `inside` is there.
 *
 * Where only `sampled` of the chances go by what the basket holds, the others are those of a place outside.
 */
function placed(weight: bigint, inside: bigint, outside: bigint, [over, under]: Fraction = ONE): Fraction {
  const rest = WIDE - weight * inside;
  const places = inside + outside;
  if (weight < 1n || inside < 1n || outside < 1n || rest < outside) throw new Refused(NO_CHANCES);
  // With nothing inside all places are alike; the weight outside lies between that and what is left when all is.
  // What does not divide evenly makes some places outside one unit heavier than others.
  const heavy = most((rest + outside - 1n) / outside, inside > 1n ? (WIDE + places - 1n) / places : 0n);
  const least = -most(-weight, -(rest / outside), inside > 1n ? -(WIDE / places) : -weight);
  return [over * most(weight, heavy) + (under - over) * heavy, under * least];
}

function most(...numbers: bigint[]): bigint {
  return numbers.reduce((one, other) => (other > one ? other : one));
}

/** Return how likely a threshold out of 2^32 makes something, against its opposite. */
function odds(threshold: bigint): Fraction {
  const word = BigInt(WORD);
  if (threshold <= 0n || threshold >= word) throw new Refused(NO_CHANCES);
  return [threshold, word - threshold];
}

/** Return how much likelier some report can be for one basket than for another, exactly, from the numbers alone. */
export function ratio(given: Json | undefined): Fraction {
  if (!isFields(given)) throw new Refused(UNWRITTEN);
  const name = field(given, "oracle");
  if (typeof name !== "string") throw new Refused(UNWRITTEN);
  const loss = LOSSES.get(name);
  if (loss === undefined) {
    throw new Refused(`This device does not know the oracle '${name.slice(0, 38)}': it is no part of format 1.`);
  }
  const names = Object.keys(given);
  const known = new Set([...loss.needs, ...loss.may, "oracle"]);
  if (!loss.needs.every((needed) => names.includes(needed)) || !names.every((one) => known.has(one))) {
    throw new Refused(UNWRITTEN);
  }
  const numbers = names.filter((one) => !["oracle", "inside", "pm", "duchi"].includes(one)).map((one) => given[one]!);
  if (!numbers.every(isWhole)) throw new Refused(UNWHOLE);
  if (!numbers.every((one) => 0 <= one && one <= WORD)) throw new Refused(NO_CHANCES);
  const oracle = given as unknown as Oracle;
  const { size = 1, pad = 1, dummies = 0, share = 0 } = given as Record<string, number>;
  if (size < 1 || pad < 1) throw new Refused(NO_CHANCES);
  if (size + dummies > loss.largest || pad > loss.largest || share > MOST_SHARE) throw new Refused(BEYOND);
  if (loss.longest !== undefined && loss.longest(oracle) > MOST_REPORT) {
    const bytes = MOST_REPORT.toLocaleString("en");
    throw new Refused(`An answer to the question would be longer than the ${bytes} bytes a device sends.`);
  }
  return loss.of(oracle);
}

/** Return the probability with which the ratio may not hold: 0 but for hashing that counts on sampling. */
export function failing({ share, pad, buckets }: Oracle): Fraction {
  return share === undefined ? [0n, 1n] : [choose(pad, share + 1), BigInt(buckets) ** BigInt(share)];
}

function value(oracle: Oracle): Fraction {
  const { size, pad, dummies } = oracle;
  // One symbol in `pad` is sampled: the sampling hides the rest, if all dummies differ.
  const sampled: Fraction = dummies >= pad ? [1n, BigInt(pad)] : ONE;
  return placed(weightOf(oracle), 1n, BigInt(size + dummies - 1), sampled);
}

/** Refuse published seeds that are no power of two, or that do not fit the other numbers. */
function checkPublished({ seeds = 2 }: Oracle, fits: boolean): void {
  if (seeds < 2 || seeds >= WORD || (seeds & (seeds - 1)) !== 0 || !fits) {
    throw new Refused("The question's numbers are not those of published seeds.");
  }
}

function hashed(oracle: Oracle): Fraction {
  const { pad, dummies, buckets, share = pad } = oracle;
  // The share is about seeds that behave as random ones: of a few that somebody chose, none need.
  checkPublished(oracle, oracle.seeds === undefined || oracle.share === undefined);
  // With a share of the padding that rarely meets in one bucket, if all dummies differ: never pure, see `failing`.
  const sampled: Fraction = dummies >= pad ? [BigInt(Math.min(share, pad)), BigInt(pad)] : ONE;
  return placed(weightOf(oracle), 1n, BigInt(buckets - 1), sampled);
}

function subset(oracle: Oracle): Fraction {
  const own = oracle.oracle === "privset" ? oracle.pad : 1;
  const size = oracle.size + oracle.dummies;
  const { many, dummies } = oracle;
  if (many < 1 || size - own < many || (dummies < own && own !== 1)) {
    throw new Refused("The question's numbers are not those of a subset.");
  }
  if (many * own > MOST_MET * size) throw new Refused(BEYOND);
  const missing = choose(size - own, many);
  const [over, under] = odds(BigInt(oracle.hit));
  return both([over * missing, under * (choose(size, many) - missing)]);
}

function wheel(oracle: Oracle): Fraction {
  // Few points are for published seeds, whose reports are added up point by point.
  const { points = WORD }: Partial<Oracle> = oracle;
  checkPublished(oracle, (oracle.seeds === undefined) === !("points" in oracle));
  const arcs = BigInt(oracle.pad) * BigInt(oracle.arc);
  return placed(weightOf(oracle), arcs, BigInt(points) - arcs);
}

/** Return how many points a projective space has: vectors whose first coordinate that is not 0 is a 1. */
export function pointsOf(field: number, coordinates: number): bigint {
  return (BigInt(field) ** BigInt(coordinates) - 1n) / BigInt(field - 1);
}

function point({ size, dummies, field, coordinates, hit }: Oracle): Fraction {
  // With two or more values of a coordinate, more coordinates make more points than that.
  const most = BigInt(MOST_POINTS);
  if (coordinates > Math.log2(MOST_POINTS) || (field > 1 && pointsOf(field, coordinates) > most)) throw new Refused(BEYOND);
  if (Math.min(field, coordinates) < 2 || BigInt(size + dummies) > pointsOf(field, coordinates)) {
    throw new Refused("The question's numbers are not those of a space.");
  }
  const [over, under] = odds(BigInt(hit));
  return both([over * BigInt(field) ** BigInt(coordinates - 1), under * pointsOf(field, coordinates - 1)]);
}

function sign({ slope, span }: Oracle): Fraction {
  return both(odds(BigInt(WORD / 2) + BigInt(slope) * BigInt(span)));
}

function piece(oracle: Oracle): Fraction {
  const { points, window, span, step } = oracle;
  // The window of every value from -span to span lies within the points.
  if (BigInt(points - window) !== 2n * BigInt(span) * BigInt(step)) {
    throw new Refused("The question's numbers are not those of a window.");
  }
  return placed(weightOf(oracle), BigInt(window), BigInt(points - window));
}

function either({ span, pm, duchi }: Oracle): Fraction {
  if (!isFields(pm) || !isFields(duchi)) throw new Refused(UNWRITTEN);
  if (pm.oracle !== "pm" || duchi.oracle !== "duchi" || pm.span !== span || duchi.span !== span) {
    throw new Refused("The question's numbers are not those of a choice.");
  }
  const [one, other] = [ratio(pm as unknown as Fields), ratio(duchi as unknown as Fields)];
  return isOver(one, other) ? one : other;
}

/** What a device knows of an oracle before it answers. */
interface Loss {
  /** What it gives away, computed from its numbers. */
  readonly of: (oracle: Oracle) => Fraction;
  /** The names of the numbers that it has, and may have. */
  readonly needs: readonly string[];
  readonly may: readonly string[];
  /** How many candidates and dummies it is for, and how long a padding. */
  readonly largest: number;
  /** The bytes of its longest report; undefined where all reports are short. */
  readonly longest?: (oracle: Oracle) => number;
}

/** Return the bytes of the longest report of a subset: its symbols, as long as the last one, and commas. */
function longestSubset({ many, size, dummies }: Oracle): number {
  return 12 + many * (String(size + dummies - 1).length + 1);
}

function loss(of: Loss["of"], needs: string, more: Partial<Loss> = {}): Loss {
  return { of, needs: needs.split(" "), may: [], largest: MOST_SYMBOLS, ...more };
}

const SUBSET = { largest: MOST_SUBSET, longest: longestSubset };
export const LOSSES: ReadonlyMap<string, Loss> = new Map([
  ["grr", loss(value, "size pad dummies inside")],
  ["olh", loss(hashed, "size pad dummies buckets inside", { may: ["share", "seeds"] })],
  ["subset", loss(subset, "size pad dummies many hit", SUBSET)],
  ["privset", loss(subset, "size pad dummies many hit", SUBSET)],
  ["wheel", loss(wheel, "size pad dummies arc inside", { may: ["points", "seeds"] })],
  ["geometry", loss(point, "size pad dummies field coordinates hit")],
  ["duchi", loss(sign, "span slope")],
  ["pm", loss(piece, "span step window points inside")],
  ["hm", loss(either, "span choose pm duchi")],
]);

/** Refuse a question whose oracle gives away more than the epsilon and delta it states. */
export function checkLoss(oracle: Json | undefined, epsilon: Fraction, delta: Fraction): void {
  const lost = ratio(oracle);
  if (isOver(lost, grownAtLeast(epsilon)) || isOver(failing(oracle as unknown as Oracle), delta)) {
    throw new Refused("The question's probabilities give away more than the epsilon it states.");
  }
}
