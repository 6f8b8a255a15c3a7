/**
 * How a basket answers a question: the few values it becomes before anything is randomised.
 *
 * How long that takes could be seen from outside, so the loops go over the question, and look at all of it whatever is
 * held. Only making sets of what is held, adding up the pairs of a projection, and questions about all items below a
 * number take longer for more of it: by how much there is, and not by what it is. The work is linear in the length of the
 * question and in what is held.
 */

import type { Oracle } from "./loss.js";

/** A relation held: two items, in this order. */
export type Pair = readonly [number, number];
type Entry = number | readonly number[];

/** How texts become items, where the study has no list of them. */
export interface Texts {
  readonly begin: readonly string[];
  readonly alphabet: string;
  readonly step: number;
  readonly length: number;
}

/** A question, after `check` has looked at it: what one has not is undefined, and not used. */
export interface Question {
  readonly ask: string;
  readonly of: number | readonly Entry[];
  readonly bins: readonly number[];
  readonly order: readonly number[];
  readonly length: number;
  readonly pairs?: string;
  readonly texts?: Texts;
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly absent: boolean;
  readonly oracle: Oracle;
}

/**
 * Items that a device answers for, and pairs of either kind: what comes after the first of them is ignored.
 *
 * So the work of an answer has a bound that is known before anything is held. No limit of what is asked, and so not in
 * `limits`: a device that holds more is not refused, which would show.
 */
export const MOST_HELD = 2 ** 15;

/** Symbols of the texts that a device answers for, with the end of each counted: texts after the first are ignored. */
export const MOST_SYMBOLS_HELD = 2 ** 18;

export const OWN = ["after", "given"]; // kinds of pairs that a device has beside its items
export const END = "\n"; // what every text ends with, and none has inside

/** Return items as a list, after all of them were looked at: what is no whole number is refused. */
export function wholeNumbers(items: Iterable<number>): number[] {
  const held = [...items];
  if (held.filter((item) => !Number.isInteger(item)).length > 0) {
    throw new TypeError(
      "A basket holds whole numbers, the places of items on the study's list: this one has other things.",
    );
  }
  return held;
}

/** Return texts as a list, after all of them were looked at: what is no text is refused. */
export function plainTexts(texts: Iterable<string>): string[] {
  const held = [...texts];
  if (held.filter((text) => typeof text !== "string").length > 0) {
    throw new TypeError("A study without a list of items asks for texts: this device holds other things.");
  }
  return held;
}

/** Return what comes first, up to as many as said. */
function* firstOf<T>(some: Iterable<T>, many: number): Generator<T> {
  let left = many;
  if (left <= 0) return;
  for (const one of some) {
    yield one;
    if (--left <= 0) return;
  }
}

/** Return relations as pairs of whole numbers: as many as a device answers for. */
function wholePairs(pairs: Iterable<Pair>): Pair[] {
  return [...firstOf(pairs, MOST_HELD)].map((pair) => {
    const both = wholeNumbers(pair);
    if (both.length !== 2) throw new TypeError("A relation is a pair of two items: this device has others.");
    return [both[0]!, both[1]!];
  });
}

/** Return the texts that a device answers for: those at the front that are not too long together. */
function firstTexts(texts: Iterable<string>): string[] {
  let symbolsLeft = MOST_SYMBOLS_HELD;
  const first: string[] = [];
  for (const text of texts) {
    symbolsLeft -= 1;
    if (typeof text === "string") for (const _ of text) symbolsLeft -= 1;
    if (symbolsLeft < 0) break;
    first.push(text);
  }
  return plainTexts(first);
}

/** What a device may hold beside its items. */
export interface OwnThings {
  readonly texts?: Iterable<string> | undefined;
  readonly given?: Iterable<Pair> | undefined;
  readonly after?: Iterable<Pair> | undefined;
}

/** What a device holds, checked, and cut to what it answers for. */
export interface DeviceData {
  readonly items: readonly number[];
  readonly texts: readonly string[] | undefined;
  readonly given: readonly Pair[];
  readonly after: readonly Pair[];
}

/** Return what is held, or throw: whatever is asked, and before anything is asked for. */
export function deviceData(basket: Iterable<number>, { texts, given = [], after = [] }: OwnThings = {}): DeviceData {
  return {
    items: wholeNumbers(firstOf(basket, MOST_HELD)),
    texts: texts === undefined ? undefined : firstTexts(texts),
    given: wholePairs(given),
    after: wholePairs(after),
  };
}

/**
 * Return the items that texts are by what a question tells of them.
 *
 * A text that begins with one of `begin` is the number of that one and of the `step` symbols that follow: a digit each, 0 for
 * the end and for what would follow it. Texts that are longer, empty or of other symbols are no items.
 */
export function numbered(told: Texts, texts: Iterable<string>): number[] {
  const places = new Map(told.begin.map((one, at): [string, number] => [one, at]));
  const digits = new Map([...told.alphabet].map((symbol, at): [string, number] => [symbol, at + 1]));
  const lengths = new Set(told.begin.map((one) => [...one].length));
  const found = new Set<number>();
  for (const text of texts) {
    const symbols = [...text];
    const others = symbols.filter((symbol) => !digits.has(symbol)).length;
    if (symbols.length === 0 || symbols.length > told.length || others > 0) continue;
    // Slices of a text are cheap, and lists put together anew are not: where each symbol ends is looked up.
    const whole = text + END;
    const ends = [0];
    for (const symbol of symbols) ends.push(ends.at(-1)! + symbol.length);
    for (const length of lengths) {
      let at = places.get(whole.slice(0, ends[length] ?? whole.length));
      if (at === undefined) continue;
      for (let next = length; next < length + told.step; next++) {
        at = at * (digits.size + 1) + (digits.get(symbols[next] ?? END) ?? 0);
      }
      found.add(at);
    }
  }
  return [...found];
}

/**
 * Return the values a basket answers a question with, ascending; `pairs` are its own ones of the kind asked for.
 *
 * The basket is of texts where the question tells how those become items.
 */
export function held(question: Question, basket: Iterable<number | string>, pairs: Iterable<Pair> = []): number[] {
  const { texts } = question;
  const items = new Set(texts ? numbered(texts, basket as Iterable<string>) : (basket as Iterable<number>));
  const { ask } = question;
  if (ask === "projection") return [onGrid(question, projected(question, items, pairs))];
  let found: number[];
  if (typeof question.of === "number") {
    const below = question.of;
    found = [...items].filter((item) => 0 <= item && item < below).sort((one, other) => one - other);
  } else {
    const of = question.of;
    if (ask === "prefix") return [prefix(question, of as readonly number[][], items)];
    if (ask === "cells") return [of.reduce<number>((sum, item, at) => sum + 2 ** at * Number(items.has(item as number)), 0)];
    const has = hasEach(question, of, items, related(pairs));
    if (ask === "valued") return valued(of as readonly number[][], has, question.absent, items);
    found = has.flatMap((own, at) => (own ? [at] : []));
  }
  if (ask !== "how-many") return found;
  return [question.bins.filter((least) => least <= found.length).length - 1];
}

function prefix(question: Question, of: readonly number[][], items: ReadonlySet<number>): number {
  const mine = question.order.filter((item) => items.has(item)).slice(0, question.length);
  const places = new Map(of.map((one, at): [string, number] => [one.join(), at]).reverse()); // the first of equal ones
  return places.get(mine.join()) ?? of.length;
}

function valued(of: readonly number[][], has: boolean[], absent: boolean, items: ReadonlySet<number>): number[] {
  const apart = of.map((one) => absent && items.has(one[0]!));
  return has.flatMap((own, at) => (own || apart[at] ? [2 * at + Number(own)] : []));
}

/** Return pairs as a set of texts, as sets tell lists apart by which they are and not by what they have. */
function related(pairs: Iterable<Pair>): Set<string> {
  return new Set([...pairs].map(([first, second]) => `${first},${second}`));
}

/** Return whether each entry of a list is held: one item, or several as items or by pairs from each to the next. */
function hasEach(question: Question, of: readonly Entry[], items: ReadonlySet<number>, own: Set<string>): boolean[] {
  const chained = OWN.includes(question.pairs ?? "");
  return of.map((one) => {
    if (typeof one === "number") return items.has(one);
    if (!chained || one.length === 1) return hasAll(one, items);
    return hasAll(one.slice(1).map((next, at) => `${one[at]},${next}`), own);
  });
}

/** Return whether all of these are there; unlike `every`, it looks for every one. */
function hasAll<T>(some: readonly T[], among: ReadonlySet<T>): boolean {
  return some.filter((one) => !among.has(one)).length === 0;
}

/**
 * Return the sum of left × right over what is held, with itself and in pairs of different ones.
 *
 * What is held are items, and bonds: pairs that the question names beside its items. The bond (a, b) is paired with every
 * c but a that b is paired with. Sums of products have more than 53 bits.
 */
function projected(question: Question, items: ReadonlySet<number>, pairs: Iterable<Pair>): bigint {
  const { of, left, right } = question;
  if (typeof of === "number") {
    const side = left.length; // items are folded into rows of so many
    return sum([...items].filter((item) => 0 <= item && item < of), (item) =>
      BigInt(left[Math.floor(item / side)]! * right[item % side]!),
    );
  }
  const own = related(pairs);
  const has = hasEach(question, of, items, own);
  if (question.pairs === "together") {
    const side = (weights: readonly number[]) => sum(weights, (weight, at) => BigInt(weight * Number(has[at])));
    return side(left) * side(right);
  }
  const chains = of.map((one) => (typeof one === "number" ? [one] : one));
  const alone = new Map(chains.flatMap((chain, at): Pair[] => (chain.length === 1 ? [[chain[0]!, right[at]!]] : [])));
  // What each item is paired with weighs, and of that, for each entry, what is not the entry's own. Every pair held
  // is added, whether or not the question is about it.
  const weights = new Map<number, number>();
  for (const pair of own) {
    const [first, second] = pair.split(",").map(Number) as [number, number];
    weights.set(first, (weights.get(first) ?? 0) + (alone.get(second) ?? 0));
  }
  return sum(chains, (chain, at) => {
    const last = chain[chain.length - 1]!;
    let others = weights.get(last) ?? 0;
    for (const other of new Set(chain)) others -= Number(own.has(`${last},${other}`)) * (alone.get(other) ?? 0);
    const leads = has[at] || chain.length === 1; // an item is one side of a pair whether or not it is in the basket
    return BigInt(left[at]!) * BigInt(Number(has[at]) * right[at]! + Number(leads) * others);
  });
}

function sum<T>(some: readonly T[], each: (one: T, at: number) => bigint): bigint {
  return some.reduce((total, one, at) => total + each(one, at), 0n);
}

/** Bring a number from the question's range to the nearest point of the oracle's grid; what is beyond is clipped. */
function onGrid(question: Question, total: bigint): number {
  const [low, high, span] = [BigInt(question.low), BigInt(question.high), BigInt(question.oracle.span)];
  if (low === high) return 0;
  const within = total < low ? low : total > high ? high : total;
  return Number((4n * span * (within - low) + high - low) / (2n * (high - low)) - span);
}
