/**
 * What a service signs, as a device reads it: a study, and its questions.
 *
 * Everything is checked here that can be told from the texts and from what the device remembers, before it looks at its
 * basket. Each refusal is a `Refused` that says why.
 */

import { verified } from "./ed25519.js";
import { type Fraction, isOver } from "./fractions.js";
import { type Fields, type Json, Refused, field, isFields } from "./json.js";
import { MOST_QUESTION } from "./limits.js";
import { WORD, isWhole } from "./loss.js";
import { type Limit, numberOf, parsed, within } from "./trust.js";

/** A round, whom it asks, and the hash of its question. */
export type Seen = readonly [round: number, start: number, stop: number, hash: string];

export const MOST_QUESTIONS = 4096; // that are asked at once
export const MOST_STUDY = 8 * MOST_QUESTION; // bytes: a list of items is longer than what is asked about it
const MOST_NESTED = 64; // lists and objects within each other, around a question and in a study
const [STUDY, QUESTION] = ["discreet study 1\n", "discreet question 1\n"];

/** A study that was checked: its id, what it is called and asks, its items and limits, and its key. */
export interface StudyText {
  readonly id: string;
  readonly text: string;
  readonly key: string;
  readonly name: string;
  readonly epsilon: Fraction;
  readonly delta: Fraction;
  /** The names of the items that are asked about; null where there is no list, and people hold texts. */
  readonly items: readonly string[] | null;
  /** The names of what a device may hold, in the order of its numbers: the same, but in a study with a hierarchy. */
  readonly held: readonly string[] | null;
  /** What each of these becomes in a study with a hierarchy, as places in `items`; undefined without one. */
  readonly become: readonly (readonly number[])[] | undefined;
  readonly told: Fields;
}

/** A question that was checked: its round, whom it asks, until when, its text with its hash, and what is asked. */
export interface QuestionText {
  readonly round: number;
  readonly start: number;
  readonly stop: number;
  readonly expires: number | null;
  readonly hash: string;
  readonly text: string;
  readonly question: Fields;
}

/** Return the name of a study. It comes in links, and is part of an address and of a path: nothing else passes. */
export function checkedName(name: string): string {
  if (typeof name === "string" && /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return name;
  const given = `'${String(name).slice(0, 78)}'`;
  throw new Refused(`The name of a study is small letters, digits and dashes, 63 at most; ${given} was given.`);
}

/** What the owner of a device allows. */
export interface Limits {
  readonly maxEpsilon: Limit;
  readonly maxDelta?: Limit;
}

/**
 * Return a study from the answer of a service, or refuse it.
 *
 * `key` is the key it has to be signed with, as hexadecimal digits; undefined to take that which comes with it, once.
 */
export async function studyOf(
  answer: Json,
  name: string,
  { key, maxEpsilon, maxDelta = 0 }: Limits & { readonly key?: string | undefined },
): Promise<StudyText> {
  const [text, signature, given] = [textOf(answer, "study", "study"), textOf(answer, "signature", "study"), textOf(answer, "key", "study")];
  if (key !== undefined && given !== key) {
    throw new Refused("The study comes with another key than this device knows for it.");
  }
  if (!(await isSigned(given, STUDY, text, signature))) throw new Refused(unsigned("study"));
  const told = read(text, "study", MOST_STUDY);
  const [epsilon, delta] = [numberOf(told, "epsilon"), numberOf(told, "delta", "0")];
  const fits = FIELDS.every(([name, fit]) => fit(field(told, name)));
  const items = field(told, "items");
  if (!fits || !isListed(items) || field(told, "name") !== checkedName(name) || field(told, "key") !== given) {
    throw new Refused(otherFormat("study"));
  }
  const levels = field(told, "format") === 2 ? levelsOf(told, items) : { held: items, become: undefined };
  within("study", epsilon, delta, maxEpsilon, maxDelta);
  return { id: (await hashOf(text)).slice(0, 32), text, key: given, name, epsilon, delta, items, ...levels, told };
}

/**
 * Return the state of a study and its questions, each signed and of this study, or refuse them all.
 *
 * Rounds that have a number of devices in common, or two questions under one round, are refused: somebody would be asked
 * twice. So are those that do not fit to what was `seen`: round, who and hash of each question before.
 */
export async function questionsOf(
  answer: Json,
  study: StudyText,
  seen: readonly Seen[] = [],
): Promise<{ state: string; questions: QuestionText[] }> {
  const state = textOf(answer, "state", "answer");
  const listed = field(answer as Fields, "questions");
  if (!Array.isArray(listed) || listed.length > MOST_QUESTIONS) throw new Refused(otherFormat("answer"));
  const known = new Set(seen.map(([, , , hash]) => hash));
  const questions = [];
  for (const one of listed) questions.push(await questionOf(one, study, known));
  checkApart(seen, questions);
  return { state, questions };
}

async function questionOf(one: Json, study: StudyText, known: ReadonlySet<string>): Promise<QuestionText> {
  const [text, signature] = [textOf(one, "question", "question"), textOf(one, "signature", "question")];
  const hash = await hashOf(text);
  // A text that was checked before need not be checked again, which takes longest of all.
  if (!known.has(hash) && !(await isSigned(study.key, QUESTION, text, signature))) {
    throw new Refused(unsigned("question"));
  }
  const told = read(text, "question", MOST_QUESTION);
  if (field(told, "study") !== study.id) throw new Refused("The question belongs to another study.");
  const [who, round, expires] = [field(told, "who"), field(told, "round"), field(told, "expires")];
  const question = field(told, "question");
  const [start, stop] = Array.isArray(who) && who.length === 2 ? who : [];
  const fits = isWhole(start) && isWhole(stop) && 0 <= start && start < stop && stop <= WORD;
  const inTime = expires === null || isWhole(expires);
  if (!fits || !isWhole(round) || round < 0 || round >= WORD || !inTime || !isFields(question)) {
    throw new Refused(otherFormat("question"));
  }
  if (isOver(numberOf(question, "epsilon"), study.epsilon) || isOver(numberOf(question, "delta", "0"), study.delta)) {
    throw new Refused("The question asks for more than its study says.");
  }
  const pairs = Object.hasOwn(question, "pairs") ? question["pairs"] : "folded";
  if (!["folded", study.told["pairs"]].includes(pairs)) {
    throw new Refused("The question is about other relations than its study says.");
  }
  const { items } = study;
  if ((items === null) !== Object.hasOwn(question, "texts")) {
    throw new Refused("The question is about texts, and its study is about a list of items; or the other way round.");
  }
  if (items !== null && named(question).some((one) => one >= items.length)) {
    throw new Refused("The question is about items that are not on the list of its study.");
  }
  return { round, start, stop, expires, hash, text, question };
}

/**
 * Return the items that a question names, and the last where it is about all below a number.
 *
 * Of what is not written as a question is, nothing is looked at: it is refused before it is answered.
 */
function named(question: Fields): number[] {
  const of = field(question, "of");
  const lists = [of, field(question, "order")].map((one) => (Array.isArray(one) ? one.flat() : []));
  return [...(isWhole(of) ? [of - 1] : []), ...lists.flat().filter(isWhole)];
}

function checkApart(seen: readonly Seen[], questions: readonly QuestionText[]): void {
  const known = new Map(seen.map((one) => [one[0], one]));
  for (const { round, start, stop, hash } of questions) {
    const mine: Seen = [round, start, stop, hash];
    if (!known.has(round)) known.set(round, mine);
    if (known.get(round)!.join() !== mine.join()) {
      throw new Refused("A round of the study asks something else than it did before.");
    }
  }
  const intervals = [...known.values()].sort((one, other) => one[1] - other[1] || one[2] - other[2]);
  if (intervals.some(([, start], at) => at > 0 && intervals[at - 1]![2] > start)) {
    throw new Refused("Two rounds of the study ask the same people.");
  }
}

/** Return the SHA-256 of a text, as hexadecimal digits. */
async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return hexOf(digest);
}

/** Return bytes as hexadecimal digits. */
export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(hex: string): Uint8Array | undefined {
  if (!/^([0-9a-f]{2})*$/.test(hex)) return undefined;
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
}

async function isSigned(key: string, purpose: string, text: string, signature: string): Promise<boolean> {
  const [signer, signed] = [bytesOf(key), bytesOf(signature)];
  if (signer === undefined || signed === undefined) return false;
  return verified(signer, new TextEncoder().encode(purpose + text), signed);
}

const isText = (value: Json | undefined): boolean => typeof value === "string";
const isCount = (value: Json | undefined): boolean => isWhole(value) && value >= 1;
const isOneOf = (...words: string[]) => (value: Json | undefined): boolean => words.includes(value as string);

/** What a study says beside its name, its key and what is checked as a number: each field has to be there. */
const FIELDS: [string, (value: Json | undefined) => boolean][] = [
  ["title", isText],
  ["asks", isText],
  ["protocol", isText],
  ["settings", isFields],
  ["top", isCount],
  ["least", isCount],
  ["delta", isText],
  ["items", isListed],
  ["pairs", isOneOf("none", "given", "after", "together")],
  ["rounds", (value) => value === null || isCount(value)],
  ["who", isOneOf("tokens", "anyone")],
];

/** Return of everything that a device may hold which items of the study's list it becomes, or refuse the study. */
function levelsOf(told: Fields, items: string[] | null): Pick<StudyText, "held" | "become"> {
  const [held, become, pairs] = [field(told, "held"), field(told, "become"), field(told, "pairs")];
  const listed = items !== null && (pairs === "none" || pairs === "together");
  const rises = (one: Json): boolean =>
    Array.isArray(one) &&
    one.every((place, at) => isWhole(place) && (at === 0 ? 0 : (one[at - 1] as number) + 1) <= place && place < items!.length);
  const fits = listed && held !== null && isListed(held) && Array.isArray(become) && become.length === held.length;
  if (!fits || !become.every(rises)) throw new Refused(otherFormat("study"));
  return { held, become: become as number[][] };
}

function isListed(value: Json | undefined): value is string[] | null {
  return value === null || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}

function textOf(answer: Json, name: string, what: string): string {
  const value = isFields(answer) ? field(answer, name) : undefined;
  if (typeof value !== "string") throw new Refused(otherFormat(what));
  return value;
}

function unsigned(what: string): string {
  return `The ${what} is not signed by the key of this study.`;
}

function otherFormat(what: string): string {
  return `The ${what} is not written as format 1 has it.`;
}

function read(text: string, what: string, most: number): Fields {
  let told: Json;
  try {
    told = parsed(text, MOST_NESTED, most);
  } catch (error) {
    if (error instanceof Refused) throw new Refused(otherFormat(what));
    throw error;
  }
  // A study in format 2 says what items become.
  const spoken: (Json | undefined)[] = what === "study" ? [1, 2] : [1];
  if (!isFields(told) || !spoken.includes(field(told, "format"))) throw new Refused(otherFormat(what));
  return told;
}
