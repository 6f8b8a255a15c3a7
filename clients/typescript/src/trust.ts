/**
 * Which questions a device answers: well-formed ones, whose oracle fits, that give away no more than is allowed.
 *
 * A device that stopped, or reported what nobody else can, because of what it holds would tell it. So everything that
 * could go wrong is looked for here, in the question alone, before the basket is.
 */

import { END, OWN, type Question } from "./answering.js";
import { type Fraction, isOver, plus, shown, written } from "./fractions.js";
import { type Fields, type Json, Refused, decoded, field, isFields, parse } from "./json.js";
import {
  MOST_CELLS,
  MOST_DEPTH,
  MOST_DIGITS,
  MOST_EPSILON,
  MOST_ITEM,
  MOST_NUMBERS,
  MOST_QUESTION,
  MOST_RANGE,
  MOST_SYMBOLS,
  MOST_TEXT,
  MOST_WEIGHT,
} from "./limits.js";
import { BEYOND, UNWHOLE, UNWRITTEN, checkLoss, isWhole } from "./loss.js";

/** An epsilon or delta that the owner of a device writes; the number 0.1 is one tenth. */
export type Limit = number | bigint | string;

const MEANS: Json[] = ["duchi", "pm", "hm"];
// No exponents: a few letters of them would make numbers that keep a device busy.
const WRITTEN = new RegExp(`^-?[0-9]{1,${MOST_DIGITS}}([./][0-9]{1,${MOST_DIGITS}})?$`);
// What the owner of a device writes may have a short one.
const OWNED = new RegExp(`${WRITTEN.source.slice(0, -1)}([eE][+-]?[0-9]{1,2})?$`);

const OTHERWISE = "The question's oracle is made for other answers than the question has.";
const NO_PAIRS = "The question's relations are not pairs.";
export const TOO_LONG = "The question is longer than a device reads.";

/** Return a question as read from the text that came; its length is looked at before anything else. */
export function parsed(text: Fields | Uint8Array | string, depth = MOST_DEPTH, most = MOST_QUESTION): Json {
  if (typeof text !== "string" && !(text instanceof Uint8Array)) return text;
  // It is bytes that are counted; and half of a character is no text, in a string either.
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  if (bytes.length > most) throw new Refused(TOO_LONG);
  const whole = decoded(bytes);
  const question = whole === undefined || (typeof text === "string" && whole !== text) ? undefined : parse(whole, depth);
  if (question === undefined) throw new Refused(UNWRITTEN);
  return question;
}

/** Refuse a question in another format, one that asks for more than is given, or one that hides what it asks for. */
export function check(given: Json, maxEpsilon: Limit, maxDelta: Limit = 0): Question {
  limits(maxEpsilon, maxDelta);
  if (!isFields(given)) throw new Refused(UNWRITTEN);
  checkSize(given);
  const spoken = field(given, "format");
  if (spoken !== 1) {
    const told = typeof spoken === "object" ? "of another kind" : String(spoken).slice(0, 40);
    throw new Refused(`This device speaks format 1, and the question is in format ${told}.`);
  }
  const [epsilon, delta] = [numberOf(given, "epsilon"), numberOf(given, "delta", "0")];
  within("question", epsilon, delta, maxEpsilon, maxDelta);
  checkAnswers(given);
  checkLoss(field(given, "oracle"), epsilon, delta);
  return given as unknown as Question;
}

/** Refuse what asks for more than the owner of the device gives. */
export function within(what: string, epsilon: Fraction, delta: Fraction, maxEpsilon: Limit, maxDelta: Limit): void {
  const [allowed, failingAllowed] = limits(maxEpsilon, maxDelta);
  if (isOver(epsilon, allowed)) throw new Refused(refusal(what, "epsilon", epsilon, allowed));
  if (isOver(delta, failingAllowed)) throw new Refused(refusal(what, "delta", delta, failingAllowed));
}

/** Refuse what asks for more than the owner of the device gives in all studies together. */
export function withinTotal(epsilon: Fraction, spent: Fraction, maxTotalEpsilon: Limit): void {
  const allowed = limit(maxTotalEpsilon);
  if (allowed === undefined || allowed[0] <= 0n) {
    throw new TypeError(
      "maxTotalEpsilon is the largest epsilon this device gives away in all studies together, a finite number over 0 " +
        `such as 3 or '2.5'; ${String(maxTotalEpsilon).slice(0, 40)} was given.`,
    );
  }
  if (isOver(plus(spent, epsilon), allowed)) {
    throw new Refused(
      `The question asks for epsilon ${shown(epsilon)}. This device has given ${shown(spent)} in other studies, and ` +
        `gives at most ${shown(allowed)} in all.`,
    );
  }
}

/** Return what the owner of the device allows; what is no such number would allow anything, or nothing. */
function limits(maxEpsilon: Limit, maxDelta: Limit): [Fraction, Fraction] {
  const allowed = limit(maxEpsilon);
  if (allowed === undefined || allowed[0] <= 0n) {
    throw new TypeError(
      "maxEpsilon is the largest epsilon this device gives away, a finite number over 0 such as 1 or '0.5'; " +
        `${String(maxEpsilon).slice(0, 40)} was given.`,
    );
  }
  const failingAllowed = limit(maxDelta);
  if (failingAllowed === undefined || failingAllowed[0] < 0n || failingAllowed[0] >= failingAllowed[1]) {
    throw new TypeError(
      "maxDelta is the largest delta this device accepts, a number from 0 to below 1 such as 0 or '1e-6'; " +
        `${String(maxDelta).slice(0, 40)} was given.`,
    );
  }
  return [allowed, failingAllowed];
}

/** Return the finite number that the owner of the device wrote, exactly; undefined for anything else. */
export function limit(given: Limit): Fraction | undefined {
  if (typeof given === "bigint") return [given, 1n];
  if (typeof given !== "number" && typeof given !== "string") return undefined;
  return OWNED.test(String(given)) ? written(String(given)) : undefined;
}

/** Refuse a question with more in it than a device looks at: its lists are counted before they are gone through. */
function checkSize(question: Fields): void {
  let left = MOST_NUMBERS;
  let level: (Json[] | Fields)[] = [question];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MOST_DEPTH) throw new Refused(UNWRITTEN);
    const inner: (Json[] | Fields)[] = [];
    for (const one of level) {
      if (Array.isArray(one)) left -= one.length;
      if (left < 0) throw new Refused(TOO_LONG);
      for (const entry of Array.isArray(one) ? one : Object.values(one)) {
        if (typeof entry === "object" && entry !== null) inner.push(entry);
      }
    }
    level = inner;
  }
}

function refusal(what: string, name: string, asked: Fraction, given: Fraction): string {
  return `The ${what} asks for ${name} ${shown(asked)}, and this device gives at most ${shown(given)}.`;
}

/** Return epsilon or delta, which travel as text: a decimal number or a fraction. */
export function numberOf(question: Fields, name: "epsilon" | "delta", otherwise?: string): Fraction {
  const text = Object.hasOwn(question, name) ? question[name] : otherwise;
  const number = typeof text === "string" && WRITTEN.test(text) ? written(text) : undefined;
  if (number === undefined) throw new Refused(UNWRITTEN);
  const [over, under] = number;
  const fits =
    name === "epsilon" ? over > 0n && !isOver(number, [BigInt(MOST_EPSILON), 1n]) : over >= 0n && over < under;
  if (!fits) throw new Refused(`The question's ${name} is out of range.`);
  return number;
}

/** Refuse a question that stops some baskets from answering, or has answers its oracle has no place for. */
function checkAnswers(question: Fields): void {
  const ask = needed(question, "ask");
  const oracle = needed(question, "oracle");
  if (typeof ask !== "string" || !isFields(oracle)) throw new Refused(UNWRITTEN);
  const kind = KINDS.get(ask);
  if (kind === undefined) throw new Refused(`This device does not know the question '${ask.slice(0, 38)}'.`);
  if (Object.hasOwn(question, "pairs") && !kind.pairs.includes(question["pairs"]!)) throw new Refused(UNWRITTEN);
  if (Object.hasOwn(question, "texts")) {
    if (!OF_TEXTS.includes(ask) || Object.hasOwn(question, "pairs")) throw new Refused(UNWRITTEN);
    checkTexts(question["texts"]!);
  }
  const values = kind.values(question);
  let fits: boolean;
  if (ask === "projection") {
    fits = MEANS.includes(needed(oracle, "oracle"));
  } else {
    fits = values === needed(oracle, "size");
    // Whoever holds none of them answers with a dummy, or with no arc of the wheel at all.
    if (ask === "which" || ask === "valued") fits &&= oracle["oracle"] === "wheel" || needed(oracle, "dummies") !== 0;
    else fits &&= needed(oracle, "pad") === 1;
  }
  if (!fits) throw new Refused(OTHERWISE);
}

/** Refuse what texts cannot be numbered by: all there is to say, and nothing that takes long. */
function checkTexts(told: Json): void {
  if (!isFields(told) || Object.keys(told).sort().join() !== "alphabet,begin,length,step") throw new Refused(UNWRITTEN);
  const [begin, alphabet] = [list(told["begin"]!), told["alphabet"]];
  const [step, length] = items([told["step"]!, told["length"]!]) as [number, number];
  if (2 ** step > MOST_SYMBOLS || length < 1 || length > MOST_TEXT) throw new Refused(BEYOND);
  if (typeof alphabet !== "string" || !begin.every((one) => typeof one === "string")) throw new Refused(UNWRITTEN);
  const every = [...alphabet];
  const symbols = new Set(every);
  // Half of a character is none: languages cut such texts otherwise.
  const halves = every.some((one) => one.length === 1 && "\ud800" <= one && one <= "\udfff");
  if (every.length === 0 || symbols.size !== every.length || symbols.has(END) || halves) throw new Refused(UNWRITTEN);
  const begins = (begin as string[]).map((one) => [...one.replace(/\n$/, "")]);
  const different = new Set(begin).size === begin.length && begin.length > 0;
  const other = (one: string[]): boolean => one.some((symbol) => !symbols.has(symbol));
  if (!different || begins.some(other)) throw new Refused(UNWRITTEN);
  // A text is compared once for every length of a beginning: none is longer than the longest text.
  if (begins.some((one) => one.length > length)) throw new Refused(BEYOND);
  if (begin.length * (symbols.size + 1) ** step > MOST_SYMBOLS) throw new Refused(BEYOND);
}

const OF_TEXTS = ["which", "how-many"];

function needed(fields: Fields, name: string): Json {
  const value = field(fields, name);
  if (value === undefined) throw new Refused(UNWRITTEN);
  return value;
}

function list(value: Json): Json[] {
  if (!Array.isArray(value)) throw new Refused(UNWRITTEN);
  return value;
}

function items(value: Json): number[] {
  const some = list(value);
  if (!some.every(isWhole)) throw new Refused(UNWHOLE);
  if (!some.every((item) => 0 <= item && item <= MOST_ITEM)) throw new Refused(BEYOND);
  return some;
}

function candidates(question: Fields): number {
  const of = needed(question, "of");
  const related = Object.hasOwn(question, "pairs");
  if (isWhole(of)) {
    if (related) throw new Refused(UNWRITTEN);
    if (of <= 0 || of > MOST_SYMBOLS) throw new Refused(BEYOND);
    return of;
  }
  for (const one of list(of)) {
    if (Array.isArray(one)) items(one);
    if (related && (!Array.isArray(one) || one.length < 2)) throw new Refused(NO_PAIRS);
  }
  items(list(of).filter((one) => !Array.isArray(one)));
  return list(of).length;
}

function bins(question: Fields): number {
  candidates(question);
  const least = items(needed(question, "bins"));
  if (least.length === 0) throw new Refused(UNWRITTEN);
  if (least[0] !== 0 || !least.every((one, at) => at === 0 || one > least[at - 1]!)) throw new Refused(OTHERWISE);
  return least.length;
}

function prefixes(question: Fields): number {
  items(needed(question, "order"));
  items([needed(question, "length")]);
  const of = list(needed(question, "of"));
  of.forEach(items);
  return of.length + 1;
}

function cells(question: Fields): number {
  const of = items(needed(question, "of"));
  if (of.length < 1 || of.length > MOST_CELLS) throw new Refused(OTHERWISE);
  return 2 ** of.length;
}

function valued(question: Fields): number {
  // Every relation is a pair, whose first item may be held without it.
  const whole = isWhole(needed(question, "of"));
  if (!Object.hasOwn(question, "pairs") || whole || typeof field(question, "absent") !== "boolean") {
    throw new Refused(UNWRITTEN);
  }
  const many = candidates(question);
  if (!list(question["of"]!).every((one) => list(one).length === 2)) throw new Refused(NO_PAIRS);
  return 2 * many;
}

function projection(question: Fields): number {
  const of = needed(question, "of");
  const [left, right] = [list(needed(question, "left")), list(needed(question, "right"))];
  if (needed(question, "pairs") === "folded") {
    // Items in rows of as many as there are weights: all of them have a place.
    if (!isWhole(of) || of <= 0 || of > left.length ** 2 || left.length !== right.length) throw new Refused(UNWRITTEN);
    if (of > MOST_SYMBOLS) throw new Refused(BEYOND);
  } else {
    const chains = list(of).map((one) => items(Array.isArray(one) ? one : [one]).join());
    if (chains.includes("") || new Set(chains).size !== chains.length) throw new Refused(UNWRITTEN);
    if (left.length !== chains.length || right.length !== chains.length) throw new Refused(UNWRITTEN);
  }
  const [low, high] = [needed(question, "low"), needed(question, "high")];
  const weights = [...left, ...right];
  if (!weights.every(isWhole) || !isWhole(low) || !isWhole(high)) throw new Refused(UNWHOLE);
  if (!weights.every((one) => Math.abs(one) <= MOST_WEIGHT) || Math.max(Math.abs(low), Math.abs(high)) > MOST_RANGE) {
    throw new Refused("The question's weights or range are beyond what a device computes with.");
  }
  if (low > high) throw new Refused(OTHERWISE);
  return 1;
}

/** How many values each question may be answered with, and what pairs it may name. */
const KINDS: ReadonlyMap<string, { values: (question: Fields) => number; pairs: Json[] }> = new Map([
  ["which", { values: candidates, pairs: ["together", ...OWN] }],
  ["how-many", { values: bins, pairs: ["together", ...OWN] }],
  ["prefix", { values: prefixes, pairs: [] }],
  ["cells", { values: cells, pairs: [] }],
  ["valued", { values: valued, pairs: ["together", ...OWN] }],
  ["projection", { values: projection, pairs: ["together", ...OWN, "folded"] }],
]);
