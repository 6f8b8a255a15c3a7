/**
 * One device in one study, over the network: it joins, asks what is asked, and answers once.
 *
 * The order of things is the point. The device draws its number before it reads a question. It refuses what does not fit
 * (`documents`) whatever it holds, and what it holds it checks first of all. It writes its report down before it sends it, and whatever happens then, it
 * sends these bytes and no others. `docs/wire.md` says the same in words.
 */

import { type OwnThings, type Question, deviceData } from "./answering.js";
import { becomes } from "./becoming.js";
import { checkKind, client } from "./client.js";
import { type Limits, type QuestionText, type StudyText, checkedName, hexOf, questionsOf, studyOf } from "./documents.js";
import { type Take, secure } from "./draws.js";
import { type Fields, type Json, Refused, field } from "./json.js";
import { type Known, Memory, Spending, type Store } from "./memory.js";
import { MARGIN, rehearse } from "./rehearsal.js";
import { ANOTHER_TOKEN, type Send, Unreached, fateOf, overHttp, problemOf, toldIn } from "./sending.js";
import { type Limit, check } from "./trust.js";

/**
 * How a device stands. `counted`, `already-counted`: its one report was taken, now or before. `waiting`: the study goes on,
 * and this device has not been asked yet. `not-asked`: the study is over, and nobody asked. `refused`: its one report was
 * not taken, and no other will be made.
 */
export type Standing = "counted" | "already-counted" | "waiting" | "not-asked" | "refused";

const OVER = ["released", "scrubbed"];

export interface ParticipantOptions extends Limits {
  /** Where the device remembers: `indexedStore()`, `localStore()`, `folderStore(…)` of Node, or a store of your own. */
  readonly store: Store;
  /** What the owner gives away at most in all studies of the store together; without it there is no such limit. */
  readonly maxTotalEpsilon?: Limit;
  /** The token that it was given; without one it asks for one, where anyone may take part. */
  readonly token?: string;
  /** The key of the service, as hexadecimal digits; without one it keeps the first that comes, and no other after it. */
  readonly key?: string;
  /**
   * Milliseconds from when the answer is begun to when it is sent, at least. It is more where the question asks for more
   * work: four times what the longest answer takes, which the device tries first. So the time it took tells nothing.
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
  private readonly spending: Spending;
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
    this.address = `${address.replace(/\/+$/, "")}/v1/studies/${checkedName(name)}`;
    this.memory = new Memory(options.store, name);
    this.spending = new Spending(options.store);
    this.send = options.send ?? overHttp;
    this.take = options.take ?? secure;
  }

  /**
   * Do the next thing there is to do, and return how this device stands; call it again while it waits.
   *
   * A `Refused` says why the device does not answer what is asked, or that the service does not know its token: then the
   * same report goes with another. In a study without a list of items, what is held are `texts`, and the basket is empty.
   * An `Unreached` says that the service was not reached, or that what answered is none.
   */
  async takePart(
    basket: Iterable<number>,
    own: OwnThings = {},
  ): Promise<Standing> {
    return this.memory.held(async (known) => {
      this.checkKey(known);
      if (known.report !== undefined) return this.sent(known);
      // Before anything is asked for: who has enrolled and then is silent could be told apart.
      const held = deviceData(basket, own);
      if (known.number === undefined) {
        // Before anything is read that could be made for some numbers alone.
        known.number = new DataView(copied(this.take(4))).getUint32(0, true);
        await this.memory.write(known);
      }
      const study = await this.joined(known);
      const asked = await this.asked(known, study);
      if (typeof asked === "string") return asked;
      // Before anything is asked for or charged: a question that is refused costs neither token nor epsilon.
      check(asked.question, this.options.maxEpsilon, this.options.maxDelta);
      checkKind(asked.question as Pick<Question, "texts">, held.texts);
      const charge = [this.name, asked.question["epsilon"] as string, this.options.maxTotalEpsilon] as const;
      await this.spending.check(...charge);
      const token = await this.token(known);
      await this.spending.charge(...charge);
      const wait = Math.max(this.options.pause ?? 1000, MARGIN * rehearse(asked.question, study, this.options));
      const ready = performance.now() + wait;
      const items = study.become === undefined ? held.items : becomes(held.items, study.become);
      const kind = field(asked.question, "pairs");
      const pairs = kind === "given" ? { given: held.given } : kind === "after" ? { after: held.after } : {};
      const report = client(asked.question, items, { ...this.options, texts: held.texts, ...pairs, take: this.take });
      const key = hexOf(this.take(16));
      const told = JSON.parse(new TextDecoder().decode(report)) as Json;
      // The body as it travels, so that what is sent again is what was sent before.
      known.asked = asked.text;
      known.report = JSON.stringify({ round: asked.round, token, key, report: told });
      await this.memory.write(known);
      await moment(ready, wait);
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
  private async asked(known: Known, study: StudyText): Promise<QuestionText | Standing> {
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

  /** Refuse another key than the one of the memory, before a stored report and its token are sent. */
  private checkKey(known: Known): void {
    const given = this.options.key;
    if (given !== undefined && (known.key ?? given) !== given) {
      throw new Refused("This device knows the study under another key than it was given now.");
    }
  }

  private async joined(known: Known): Promise<StudyText> {
    this.checkKey(known);
    const pinned = known.key ?? this.options.key;
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
      known.token = this.checked(given ?? String(field(await this.got("/enrol", "{}"), "token") ?? ""));
      await this.memory.write(known);
    }
    return known.token;
  }

  private checked(token: string): string {
    if (/^[0-9a-f]{32}$/.test(token)) return token;
    const whose = this.options.token === undefined ? "The service gave" : "The device was given";
    throw new Refused(`${whose} no token of a participant: it has 32 digits from 0 to 9 and a to f.`);
  }

  /** Send the report that is remembered, unless the service has it already. */
  private async sent(known: Known): Promise<Standing> {
    if (known.outcome !== undefined) return known.outcome === "refused" ? "refused" : "already-counted";
    const given = this.options.token;
    if (known.reason === ANOTHER_TOKEN && given !== undefined && given !== known.token) {
      await this.withToken(known, this.checked(given));
    }
    const { status, body } = await this.send("POST", `${this.address}/reports`, known.report!);
    const [fate, why] = fateOf(status, body);
    if (fate === "again") throw new Unreached(`The service cannot take the report now (${why}).`);
    delete known.reason;
    if (fate !== "another-token") known.outcome = fate;
    if (why !== "") known.reason = why;
    await this.memory.write(known);
    if (fate === "another-token") {
      throw new Refused("The service does not know the token: give the right one, and the same report goes with it.");
    }
    return fate;
  }

  /** Put another token to the report. The service said that it does not know the first: nothing was counted. */
  private async withToken(known: Known, token: string): Promise<void> {
    const body = JSON.parse(known.report!) as Fields;
    Object.assign(known, { token, report: JSON.stringify({ ...body, token }) });
    delete known.reason;
    await this.memory.write(known);
  }

  private async got(path: string, sent?: string): Promise<Fields> {
    const { status, body } = await this.send(sent === undefined ? "GET" : "POST", this.address + path, sent);
    const told = toldIn(body);
    if (status === 200 && told !== undefined) return told;
    const problem = problemOf(status, told);
    if (problem === undefined || status >= 500 || status === 408 || status === 429) {
      throw new Unreached(`The service cannot answer now (status ${status}).`);
    }
    throw new Refused(`The service does not answer: ${problem.title}.`);
  }
}

/**
 * Wait for a moment; where that has passed, for the next one that is whole waits after it.
 *
 * A device that was held up for longer than any answer takes tells by how many waits, and no more.
 */
async function moment(ready: number, wait: number): Promise<void> {
  const late = performance.now() - ready;
  await new Promise((resolve) => setTimeout(resolve, late > 0 ? Math.ceil(late / wait) * wait - late : -late));
}

function copied(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
