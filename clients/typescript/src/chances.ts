/**
 * How likely a report is for a basket, exactly: what whoever reads the report could work out too.
 *
 * A device does not need it to answer. It is for showing people what their report gives away: the same report comes from
 * other baskets, and these are the chances. Where a report names a hash function, that was drawn without looking at the
 * basket, so the chances are those of the rest. A value is drawn in two steps, as in `client`: what is sampled, then what
 * is said of it.
 */

import { held, type Pair, type Question } from "./answering.js";
import { type Report, meets, placeOf, circleOf, stretchesOf } from "./client.js";
import { type Fraction, choose } from "./fractions.js";
import { type Oracle, WIDE, WORD, pointsOf, weightOf } from "./loss.js";

type Chance = (oracle: Oracle, values: readonly number[], report: Report) => Fraction | undefined;

const MOST_WAYS = 200_000; // sets of own values that a wheel may have sampled
const NEVER: Fraction = [0n, 1n];

/**
 * Return the probability that a device with this basket reports this to a question that was checked.
 *
 * Undefined where there are too many ways to go through: a wheel, and a basket much longer than its padding.
 */
export function chanceOf(
  question: Question,
  basket: Iterable<number>,
  report: Report,
  pairs: Iterable<Pair> = [],
): Fraction | undefined {
  return CHANCES.get(question.oracle.oracle)!(question.oracle, held(question, basket, pairs), report);
}

/** Return the weight of each place outside, out of 2^64: what does not divide evenly goes to the first ones. */
function outside(weight: bigint, inside: number, places: number): (place: number) => bigint {
  const rest = WIDE - weight * BigInt(inside);
  const [each, more] = [rest / BigInt(places), rest % BigInt(places)];
  return (place) => each + (BigInt(place) < more ? 1n : 0n);
}

/** Return how many of the ways to sample lead to a symbol below this one, and how many ways there are. */
function sampling({ size, pad, dummies }: Oracle, values: readonly number[]): [(symbol: number) => number, number] {
  const padded = Math.max(pad - values.length, 0);
  const rounds = Math.floor(padded / dummies) || 0; // all dummies are drawn so often; there may be none
  const below = (symbol: number): number => {
    const before = Math.max(symbol - size, 0);
    return values.filter((value) => value < symbol).length + before * rounds + Math.min(before, padded - rounds * dummies);
  };
  return [below, Math.max(values.length, pad)];
}

const value: Chance = (oracle, values, report) => {
  if (!("value" in report)) return NEVER;
  const told = report.value;
  const [below, all] = sampling(oracle, values);
  const weight = weightOf(oracle);
  const other = outside(weight, 1, oracle.size + oracle.dummies - 1);
  const [lower, notHigher] = [BigInt(below(told)), BigInt(below(told + 1))];
  // The own one stands first and is left out of the others, which are counted from 0.
  let over = (notHigher - lower) * weight;
  if (lower > 0n) over += lower * other(told - 1);
  if (BigInt(all) > notHigher) over += (BigInt(all) - notHigher) * other(told);
  return [over, BigInt(all) * WIDE];
};

/** Return the symbols that may be sampled, with how many of the ways lead to each. */
function symbols(oracle: Oracle, values: readonly number[]): { ways: [symbol: number, ways: number][]; all: number } {
  const [below, all] = sampling(oracle, values);
  const last = oracle.size + Math.min(oracle.dummies, Math.max(oracle.pad - values.length, 0));
  const found = [...values];
  for (let dummy = oracle.size; dummy < last; dummy++) found.push(dummy);
  return { ways: found.map((symbol) => [symbol, below(symbol + 1) - below(symbol)]), all };
}

const hashed: Chance = (oracle, values, report) => {
  if (!("seed" in report) || !("value" in report)) return NEVER;
  const weight = weightOf(oracle);
  const other = outside(weight, 1, oracle.buckets - 1);
  const { ways, all } = symbols(oracle, values);
  let over = 0n;
  for (const [symbol, many] of ways) {
    const bucket = placeOf(oracle.buckets, report.seed, symbol);
    const likely = report.value === bucket ? weight : other(report.value < bucket ? report.value : report.value - 1);
    over += BigInt(many) * likely;
  }
  return [over, BigInt(all) * WIDE];
};

const subset: Chance = (oracle, values, report) => {
  if (!("values" in report)) return NEVER;
  const named = new Set(report.values);
  const { ways, all } = symbols(oracle, values);
  const met = ways.reduce((sum, [symbol, many]) => sum + (named.has(symbol) ? many : 0), 0);
  return hitOrMiss(oracle, 1, [BigInt(met), BigInt(all)]);
};

const privset: Chance = (oracle, values, report) => {
  if (!("values" in report)) return NEVER;
  const { size, pad } = oracle;
  const named = new Set(report.values);
  const mine = values.filter((one) => named.has(one)).length;
  if (values.length > pad) {
    const [missing, all] = [choose(values.length - mine, pad), choose(values.length, pad)];
    return hitOrMiss(oracle, pad, [all - missing, all]);
  }
  const last = size + pad - values.length;
  const met = mine > 0 || report.values.some((one) => size <= one && one < last);
  return hitOrMiss(oracle, pad, [met ? 1n : 0n, 1n]);
};

/** Return the chance of a set, where so many symbols are own ones and the set has one of them in some of the ways. */
function hitOrMiss({ size, dummies, many, hit }: Oracle, own: number, [met, all]: Fraction): Fraction {
  const missing = choose(size + dummies - own, many); // sets without an own one
  const meeting = choose(size + dummies, many) - missing;
  const over = met * BigInt(hit) * missing + (all - met) * BigInt(WORD - hit) * meeting;
  return [over, all * BigInt(WORD) * meeting * missing];
}

const wheel: Chance = (oracle, values, report) => {
  if (!("seed" in report) || !("point" in report)) return NEVER;
  const all = choose(values.length, Math.min(values.length, oracle.pad));
  if (all > MOST_WAYS) return undefined;
  const weight = weightOf(oracle);
  const points = circleOf(oracle);
  const starts = values.map((one) => placeOf(points, report.seed, one));
  let over = 0n;
  for (const own of subsets(starts, Math.min(starts.length, oracle.pad))) {
    let [inside, before, within] = [0, 0, false];
    for (const [begin, end] of stretchesOf(own, oracle.arc, points)) {
      inside += end - begin;
      before += Math.max(Math.min(end, report.point) - begin, 0);
      within ||= begin <= report.point && report.point < end;
    }
    over += within ? weight : outside(weight, inside, points - inside)(report.point - before);
  }
  return [over, all * WIDE];
};

const point: Chance = (oracle, values, report) => {
  if (!("point" in report)) return NEVER;
  const { field, coordinates, hit } = oracle;
  const [inside, outside] = [pointsOf(field, coordinates - 1), BigInt(field) ** BigInt(coordinates - 1)];
  const { ways, all } = symbols(oracle, values);
  let over = 0n;
  for (const [symbol, many] of ways) {
    over += BigInt(many) * (meets(oracle, symbol, report.point) ? BigInt(hit) * outside : BigInt(WORD - hit) * inside);
  }
  return [over, BigInt(all) * BigInt(WORD) * inside * outside];
};

/** Yield all ways to choose so many. */
function* subsets(some: readonly number[], many: number, from = 0): Generator<number[]> {
  if (many === 0) yield [];
  for (let at = from; at <= some.length - many && many > 0; at++) {
    for (const rest of subsets(some, many - 1, at + 1)) yield [some[at]!, ...rest];
  }
}

const sign: Chance = ({ slope, span }, values, report) => {
  if (!("sign" in report)) return NEVER;
  const likely = BigInt(WORD / 2) + BigInt(slope) * BigInt(clipped(span, values));
  return [report.sign === 1 ? likely : BigInt(WORD) - likely, BigInt(WORD)];
};

const piece: Chance = (oracle, values, report) => {
  if (!("point" in report)) return NEVER;
  const { span, step, window, points } = oracle;
  const start = (clipped(span, values) + span) * step;
  const weight = weightOf(oracle);
  const { point } = report;
  if (start <= point && point < start + window) return [weight, WIDE];
  return [outside(weight, window, points - window)(point < start ? point : point - window), WIDE];
};

const either: Chance = (oracle, values, report) => {
  if ("pm" in report) return multiplied(piece(oracle.pm, values, report.pm), oracle.choose);
  return "duchi" in report ? multiplied(sign(oracle.duchi, values, report.duchi), WORD - oracle.choose) : NEVER;
};

function multiplied(likely: Fraction | undefined, chosen: number): Fraction | undefined {
  return likely && [likely[0] * BigInt(chosen), likely[1] * BigInt(WORD)];
}

function clipped(span: number, values: readonly number[]): number {
  return Math.min(Math.max(values[0]!, -span), span);
}

const CHANCES: ReadonlyMap<string, Chance> = new Map([
  ["grr", value],
  ["olh", hashed],
  ["subset", subset],
  ["privset", privset],
  ["wheel", wheel],
  ["geometry", point],
  ["duchi", sign],
  ["pm", piece],
  ["hm", either],
]);
