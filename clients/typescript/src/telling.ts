/**
 * What a report gives away, for the person whose it is: what was asked, what the report names, and from which other baskets
 * it would have come too. Everything here is for showing; nothing is decided by it.
 */

import { END, type Question, type Texts } from "./answering.js";
import { chanceOf } from "./chances.js";
import { type Report, meets, placeOf, circleOf } from "./client.js";
import { type Fraction, isOver } from "./fractions.js";
import { ratio } from "./loss.js";
import type { Fields } from "./json.js";

const MOST_NAMED = 200_000; // candidates that are hashed to see which a report names
const MOST_CHANGED = 300; // items that are taken out or put in, one at a time

/** Baskets that make a report as likely as each other: the own one, nothing, or ones that differ by one item. */
export interface Others {
  /** What they are: the own one with or without one of the items, or one of the items alone. */
  readonly what: "own" | "nothing" | "with" | "without" | "alone";
  readonly items: readonly number[];
  readonly chance: Fraction;
}

/** Return a fraction as a number close to it: its ends may be longer than any number. */
export function near([over, under]: Fraction): number {
  const shift = (value: bigint): number => Math.max(value.toString(16).length * 4 - 64, 0);
  const [top, bottom] = [shift(over), shift(under)];
  return (Number(over >> BigInt(top)) / Number(under >> BigInt(bottom))) * 2 ** (top - bottom);
}

/** Return how many times the first is the second; both are over 0. */
export function timesAs(one: Fraction, other: Fraction): number {
  return near([one[0] * other[1], one[1] * other[0]]);
}

/** Return how much likelier some report is for one basket than for another, at most, by the numbers of the question. */
export function mostRatio(question: Question): number {
  return near(ratio(question.oracle as unknown as Fields));
}

/** Return what was asked, in words. */
export function askedInWords(question: Question): string {
  const { ask, of, texts } = question;
  if (texts !== undefined && texts.step > 0) {
    const many = texts.begin.length.toLocaleString("en");
    return ask === "which" ? `how your texts go on from ${many} beginnings` : `how many of your texts begin in one of ${many} ways`;
  }
  const many = (typeof of === "number" ? of : of.length).toLocaleString("en");
  if (ask === "which") return `which of ${many} things or combinations you hold`;
  if (ask === "how-many") return `how many of ${many} things or combinations you hold`;
  if (ask === "prefix") return `which of ${many} beginnings your basket has, in an order that everybody knows`;
  if (ask === "cells") return `which of ${many} things you hold, all of them at once`;
  if (ask === "valued") return `which of ${many} pairs you hold, whole or half`;
  return "one number that is made of what you hold";
}

/** Return the text that a number stands for, with an ellipsis where it goes on. */
function spelt({ begin, alphabet, step }: Texts, item: number): string {
  const symbols = [...alphabet];
  let [rest, after] = [item, ""];
  for (let digit = 0; digit < step; digit++) {
    after = (symbols[(rest % (symbols.length + 1)) - 1] ?? END) + after;
    rest = Math.floor(rest / (symbols.length + 1));
  }
  const whole = (begin[rest] ?? "") + after;
  return whole.includes(END) ? whole.slice(0, whole.indexOf(END)) : `${whole}…`;
}

/** Return what a value of a question stands for, in words; `items` are the names on the study's list. */
export function valueInWords(question: Question, value: number, items: readonly string[] | null): string {
  const { texts } = question;
  const name = (item: number): string => (texts ? spelt(texts, item) : items?.[item]) ?? `item ${item}`;
  const together = (some: readonly number[]): string => some.map(name).join(" + ") || "nothing";
  const { ask, of, bins } = question;
  if (value >= question.oracle.size) return "none of them (a stand-in)";
  if (ask === "how-many") {
    const [low, high] = [bins[value]!, bins[value + 1]];
    return high === undefined ? `${low} or more` : high === low + 1 ? `${low}` : `${low} to ${high - 1}`;
  }
  if (typeof of === "number") return name(value);
  if (ask === "cells") return together((of as readonly number[]).filter((_, at) => Math.floor(value / 2 ** at) % 2 === 1));
  const entry = of[ask === "valued" ? Math.floor(value / 2) : value];
  if (entry === undefined) return "any other";
  if (typeof entry === "number") return name(entry);
  if (ask === "valued") return `${entry.map(name).join(" → ")}: ${value % 2 === 1 ? "both" : "the first alone"}`;
  return question.pairs === undefined || question.pairs === "together" ? together(entry) : entry.map(name).join(" → ");
}

/** Return the values that a report names: more likely so where they are held. Undefined where it names none at all. */
export function namedBy(question: Question, report: Report): number[] | undefined {
  const { oracle } = question;
  if ("values" in report) return report.values;
  if ("value" in report && !("seed" in report)) return [report.value];
  if (oracle.size > MOST_NAMED) return undefined;
  const all = Array.from({ length: oracle.size }, (_, at) => at);
  if ("point" in report && oracle.oracle === "geometry") return all.filter((one) => meets(oracle, one, report.point));
  if (!("seed" in report)) return undefined;
  if ("value" in report) return all.filter((one) => placeOf(oracle.buckets, report.seed, one) === report.value);
  const points = circleOf(oracle);
  return all.filter((one) => (report.point - placeOf(points, report.seed, one) + points) % points < oracle.arc);
}

/** Return the items that a question is about, of a list of so many. */
function itemsOf({ ask, of, order }: Question, size: number): number[] {
  if (typeof of === "number") return Array.from({ length: Math.min(of, size) }, (_, at) => at);
  return [...new Set([...of, ...(ask === "prefix" ? [order] : [])].flat())].sort((one, other) => one - other);
}

/**
 * Return baskets that would have sent the same report, the likeliest first: the own one, nothing at all, the own one with one
 * item more or less, and items alone.
 */
export function othersOf(question: Question, report: Report, size: number, own: readonly number[] = []): Others[] {
  const found = new Map<string, { what: Others["what"]; items: number[]; chance: Fraction }>();
  const add = (what: Others["what"], basket: readonly number[], item?: number): void => {
    const chance = chanceOf(question, basket, report);
    if (chance === undefined) return;
    const same = `${what} ${near(chance).toPrecision(12)}`;
    const others = found.get(same) ?? { what, items: [], chance };
    if (item !== undefined) others.items.push(item);
    found.set(same, others);
  };
  if (own.length > 0) add("own", own);
  add("nothing", []);
  // Of texts there are too many others to tell.
  for (const item of question.texts === undefined ? itemsOf(question, size).slice(0, MOST_CHANGED) : []) {
    if (!own.includes(item) && own.length > 0) add("with", [...own, item], item);
    if (own.includes(item) && own.length > 1) add("without", own.filter((one) => one !== item), item);
    if (own.length !== 1 || own[0] !== item) add("alone", [item], item);
  }
  const likelier = (one: Others, other: Others): number => Number(isOver(one.chance, other.chance));
  return [...found.values()].sort((one, other) => likelier(other, one) - likelier(one, other));
}
