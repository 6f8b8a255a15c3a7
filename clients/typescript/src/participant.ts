/**
 * One device in one study, over the network: it joins, asks what is asked, and answers once.
 *
 * The order of things is the point. The device draws its number before it reads a question. It refuses what does not fit
 * (`documents`) before it looks at its basket. It writes its report down before it sends it, and whatever happens then, it
 * sends these bytes and no others. `docs/wire.md` says the same in words.
 */

import type { Pair } from "./answering.js";
import { client } from "./client.js";
import { MOST_STUDY, type Limits, type QuestionText, type StudyText, hexOf, questionsOf, studyOf } from "./documents.js";
import { type Take, secure } from "./draws.js";
import { type Fields, type Json, Refused, field, isFields } from "./json.js";
import { type Known, Memory, type Store } from "./memory.js";

/**
 * How a device stands. `counted`, `already-counted`: its one report was taken, now or before. `waiting`: the study goes on,
 * and this device has not been asked yet. `not-asked`: the study is over, and nobody asked. `refused`: its one report was
 * not taken, and no other will be made.
 */
export type Standing = "counted" | "already-counted" | "waiting" | "not-asked" | "refused";

/** The service was not reached, or cannot answer now. The same bytes are sent again with the next call. */
export class Unreached extends Error {
  override name = "Unreached";
}

/** Sends a request and returns status and body; an `Unreached` where nobody answers. */
export type Send = (method: "GET" | "POST", address: string, body?: string) => Promise<{ status: number; body: string }>;

const MOST_ANSWER = 4 * MOST_STUDY;
const OVER = ["released", "scrubbed"];

/** Send one request without cookies or anything else that tells who sends it. */
export const overHttp: Send = async (method, address, body) => {
  try {
    const answer = await fetch(address, {
      method,
      ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.status, body: await limited(answer) };
  } catch (error) {
    throw new Unreached(`The service was not reached: ${String(error)}`);
  }
};

/** Return the text of an answer, and stop reading where it is longer than any that there is. */
async function limited(answer: Response): Promise<string> {
  const parts: BlobPart[] = [];
  let length = 0;
  for (const reader = answer.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_ANSWER) throw new Unreached("The service says more than a device reads.");
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  return new Blob(parts).text();
}

export interface ParticipantOptions extends Limits {
  /** Where the device remembers: `indexedStore()`, `localStore()`, `folderStore(…)` of Node, or a store of your own. */
  readonly store: Store;
  /** The token that it was given; without one it asks for one, where anyone may take part. */
  readonly token?: string;
  /** The key of the service, as hexadecimal digits; without one it keeps the first that comes, and no other after it. */
  readonly key?: string;
  /**
   * Milliseconds from when the answer is begun to when it is sent: longer than any answer takes, so that the time it took
   * tells nothing.
   */
  readonly pause?: number;
  /** How a request is sent, the time in seconds, and random bytes; others are for tests. */
  readonly send?: Send;
  readonly now?: () => number;
  readonly take?: Take;
}

/** A device that takes part in one study. */
export class Participant {
  private readonly address: string;
  private readonly memory: Memory;
  private readonly send: Send;
  private readonly take: Take;

  constructor(
    address: string,
    private readonly name: string,
    private readonly options: ParticipantOptions,
  ) {
    if (!/^https?:\/\//.test(address)) {
      const shown = address.slice(0, 80);
      throw new TypeError(`The address of a service begins with https:// or http://; ${shown} was given.`);
    }
    if (crypto.subtle === undefined) {
      throw new Error("Signatures cannot be checked on a page that came by http://: open it by https://.");
    }
    this.address = `${address.replace(/\/+$/, "")}/v1/studies/${name}`;
    this.memory = new Memory(options.store, name);
    this.send = options.send ?? overHttp;
    this.take = options.take ?? secure;
  }

  /**
   * Do the next thing there is to do, and return how this device stands; call it again while it waits.
   *
   * A `Refused` says why the device does not answer what is asked, an `Unreached` that the service was not reached.
   */
  async takePart(
    basket: Iterable<number>,
    pairs: { given?: Iterable<Pair>; after?: Iterable<Pair> } = {},
  ): Promise<Standing> {
    return this.memory.held(async (known) => {
      if (known.number === undefined) {
        // Before anything is read that could be made for some numbers alone.
        known.number = new DataView(copied(this.take(4))).getUint32(0, true);
        await this.memory.write(known);
      }
      if (known.report === undefined) {
        const asked = await this.asked(known);
        if (typeof asked === "string") return asked;
        const token = await this.token(known);
        const ready = new Promise((resolve) => setTimeout(resolve, this.options.pause ?? 1000));
        const report = client(asked.question, basket, { ...this.options, ...pairs, take: this.take });
        const key = hexOf(this.take(16));
        const told = JSON.parse(new TextDecoder().decode(report)) as Json;
        // The body as it travels, so that what is sent again is what was sent before.
        known.asked = asked.question;
        known.report = JSON.stringify({ round: asked.round, token, key, report: told });
        await this.memory.write(known);
        await ready;
      }
      return this.sent(known);
    });
  }

  /** What this device remembers: its number, what it was asked and the body it sent, and why that was not taken. */
  async known(): Promise<Known> {
    return this.memory.read();
  }

  /** Return the study, checked and remembered. */
  async study(): Promise<StudyText> {
    return this.memory.held((known) => this.joined(known));
  }

  /** Return the question to this device; everything it has seen is remembered before it answers. */
  private async asked(known: Known): Promise<QuestionText | Standing> {
    const study = await this.joined(known);
    const seen = known.seen ?? [];
    const { state, questions } = await questionsOf(await this.got("/questions"), study, seen);
    const before = new Set(seen.map(([round]) => round));
    const fresh = questions.filter(({ round }) => !before.has(round));
    if (fresh.length > 0) {
      const each = new Map(fresh.map((one) => [one.round, one]));
      known.seen = [...seen, ...[...each.values()].map((one) => [one.round, one.start, one.stop, one.hash] as const)];
      await this.memory.write(known);
    }
    const mine = questions.find(({ start, stop }) => start <= known.number! && known.number! < stop);
    if (mine === undefined) return OVER.includes(state) ? "not-asked" : "waiting";
    const now = this.options.now ?? (() => Date.now() / 1000);
    if (mine.expires !== null && mine.expires <= now()) throw new Refused("The question has expired.");
    return mine;
  }

  private async joined(known: Known): Promise<StudyText> {
    const pinned = known.key ?? this.options.key;
    if (this.options.key !== undefined && pinned !== this.options.key) {
      throw new Refused("This device knows the study under another key than it was given now.");
    }
    const study = await studyOf(await this.got(""), this.name, { ...this.options, key: pinned });
    if ((known.study ?? study.text) !== study.text) {
      throw new Refused("The study says something else than it did when this device joined it.");
    }
    if (known.study === undefined) {
      Object.assign(known, { study: study.text, key: study.key });
      await this.memory.write(known);
    }
    return study;
  }

  /** Return the token: the one that is remembered, the one that was given, or one that the service gives. */
  private async token(known: Known): Promise<string> {
    if (known.token === undefined) {
      const given = this.options.token;
      const token = given ?? String(field(await this.got("/enrol", "{}"), "token") ?? "");
      if (!/^[0-9a-f]{32}$/.test(token)) {
        const whose = given === undefined ? "The service gave" : "The device was given";
        throw new Refused(`${whose} no token of a participant: it has 32 digits from 0 to 9 and a to f.`);
      }
      known.token = token;
      await this.memory.write(known);
    }
    return known.token;
  }

  /** Send the report that is remembered, unless the service has it already. */
  private async sent(known: Known): Promise<Standing> {
    if (known.outcome !== undefined) return known.outcome === "refused" ? "refused" : "already-counted";
    const { status, body } = await this.send("POST", `${this.address}/reports`, known.report!);
    const told = read(body);
    const outcome = field(told, "outcome");
    if (status === 200 && (outcome === "counted" || outcome === "already-counted")) {
      known.outcome = outcome;
    } else if (isFinal(status)) {
      Object.assign(known, { outcome: "refused", reason: String(field(told, "reason") ?? status).slice(0, 80) });
    } else {
      throw new Unreached(`The service cannot take the report now (status ${status}).`);
    }
    await this.memory.write(known);
    return known.outcome!;
  }

  private async got(path: string, sent?: string): Promise<Fields> {
    const { status, body } = await this.send(sent === undefined ? "GET" : "POST", this.address + path, sent);
    const told = read(body);
    if (status === 200) return told;
    if (isFinal(status)) {
      throw new Refused(`The service does not answer: ${String(field(told, "title") ?? status).slice(0, 80)}.`);
    }
    throw new Unreached(`The service cannot answer now (status ${status}).`);
  }
}

/** Return whether sending the same again would be answered in the same way. */
function isFinal(status: number): boolean {
  return 400 <= status && status < 500 && status !== 408 && status !== 429;
}

function copied(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function read(body: string): Fields {
  try {
    const told = JSON.parse(body) as Json;
    return isFields(told) ? told : {};
  } catch {
    return {};
  }
}
