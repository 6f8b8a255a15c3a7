/** Exact fractions of whole numbers of any length: what an epsilon is compared with, without floating point. */

/** The first over the second, which is over 0. It need not be in lowest terms. */
export type Fraction = readonly [over: bigint, under: bigint];

export const ONE: Fraction = [1n, 1n];

/** Return a fraction of two whole numbers; the second may be below 0, and not 0. */
export function fraction(over: bigint, under: bigint): Fraction {
  if (under === 0n) throw new RangeError("A fraction of nothing.");
  return under < 0n ? [-over, -under] : [over, under];
}

/** Return whether the first is more than the second. */
export function isOver(one: Fraction, other: Fraction): boolean {
  return one[0] * other[1] > other[0] * one[1];
}

/** Return the sum of two. */
export function plus(one: Fraction, other: Fraction): Fraction {
  return [one[0] * other[1] + other[0] * one[1], one[1] * other[1]];
}

/** Return a ratio the way round in which it is 1 or more. */
export function both([over, under]: Fraction): Fraction {
  return over < under ? fraction(under, over) : [over, under];
}

/** Return how many ways there are to choose so many of so many. */
export function choose(of: number, many: number): bigint {
  if (many > of) return 0n;
  let ways = 1n;
  for (let at = 1; at <= Math.min(many, of - many); at++) ways = (ways * BigInt(of - at + 1)) / BigInt(at);
  return ways;
}

/** Return a number that was written as digits, with a point or a slash and where need be an exponent; else undefined. */
export function written(text: string): Fraction | undefined {
  const found = /^(-?)([0-9]+)(?:([./])([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  if (found === null) return undefined;
  const [, sign, before, mark, after, power] = found;
  if (mark === "/" && (power !== undefined || BigInt(after!) === 0n)) return undefined;
  const shift = Number(power ?? 0) - (mark === "." ? after!.length : 0);
  const digits = BigInt(before! + (mark === "." ? after! : "")) * (sign === "-" ? -1n : 1n);
  if (mark === "/") return [digits, BigInt(after!)];
  return shift < 0 ? [digits, 10n ** BigInt(-shift)] : [digits * 10n ** BigInt(shift), 1n];
}

/** Return a fraction as people read it; nothing is computed with it. */
export function shown([over, under]: Fraction): string {
  return String(Number((Number(over) / Number(under)).toPrecision(6)));
}
