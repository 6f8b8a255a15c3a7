/**
 * What a device remembers of a study: one small text, written whole or not at all, before anything is sent.
 *
 * Where it lies is for a store: IndexedDB in a browser (here), a folder in Node (`node.ts`), or one of an app's own. After a
 * crash at any moment a store has either what was written before or what was written last.
 */

import type { Seen } from "./documents.js";
import { type Fraction, plus } from "./fractions.js";
import { type Json, Refused, isFields } from "./json.js";
import { type Limit, numberOf, withinTotal } from "./trust.js";

/** Texts by name, which last. `set` is done only when the text would survive a crash. */
export interface Store {
  get(name: string): Promise<string | undefined>;
  set(name: string, text: string): Promise<void>;
  /** Do something with one text while no other program does, where a store can be used by several. */
  alone?<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** What is remembered of one study. The Python device has the same fields in its file. */
export interface Known {
  /** The number of this device, drawn once. */
  number?: number;
  study?: string;
  key?: string;
  seen?: Seen[];
  token?: string;
  /** The signed text of what it was asked, for showing what the report gives away. */
  asked?: string;
  /** The body of its one report, as it travels. */
  report?: string;
  outcome?: "counted" | "already-counted" | "refused";
  /** Why the report was not taken; without an outcome, that its token is not known. */
  reason?: string;
  /** Of the record of all studies together: the name of each that was answered in, and the epsilon as it was written. */
  spent?: [study: string, epsilon: string][];
}

const SPENT = "_spent"; // the record of all studies together; no study has such a name
const DAMAGED = "What this device remembers is damaged: it answers no more.";

const turns = new Map<string, Promise<unknown>>();

/** The memory of one device for one study. */
export class Memory {
  constructor(
    private readonly store: Store,
    private readonly name: string,
  ) {}

  /** Do something with what is remembered, while nothing else of this device does: one after the other. */
  async held<T>(work: (known: Known) => Promise<T>): Promise<T> {
    const reading = async (): Promise<T> => work(await this.read());
    const alone = async (): Promise<T> => this.store.alone?.(this.name, reading) ?? reading();
    const name = `discreet ${this.name}`;
    // All pages of a browser take turns; elsewhere all that runs in one process does, and a store sees to other processes.
    if (typeof navigator !== "undefined" && navigator.locks !== undefined) {
      return (await navigator.locks.request(name, alone)) as T;
    }
    const turn = (turns.get(name) ?? Promise.resolve()).then(alone, alone);
    turns.set(name, turn);
    return turn;
  }

  /** Return what is remembered; what is damaged is refused, as answering again would tell more. */
  async read(): Promise<Known> {
    const text = await this.store.get(this.name);
    if (text === undefined) return {};
    let known: Json = null;
    try {
      known = JSON.parse(text) as Json;
    } catch {
      // as for anything else that is no record
    }
    if (!isFields(known)) throw new Error(DAMAGED);
    return known as Known;
  }

  /** Remember this, for good. */
  async write(known: Known): Promise<void> {
    await this.store.set(this.name, JSON.stringify(known));
  }
}

/** What a device gives away in all studies of one store: the epsilon of each that it answers in. */
export class Spending {
  private readonly memory: Memory;

  constructor(store: Store) {
    this.memory = new Memory(store, SPENT);
  }

  /** Refuse an answer that would be too much in all. Whoever enrols and then refuses shows what it gave before. */
  async check(study: string, epsilon: string, most?: Limit): Promise<void> {
    return this.memory.held(async (known) => checkTotal(read(known), study, epsilon, most));
  }

  /** Write down what an answer gives away, before it is made; refuse it where that would be too much in all. */
  async charge(study: string, epsilon: string, most?: Limit): Promise<void> {
    return this.memory.held(async (known) => {
      const spent = read(known);
      checkTotal(spent, study, epsilon, most);
      const others = spent.filter(([name]) => name !== study);
      known.spent = [...others.map(([name, text]): [string, string] => [name, text]), [study, epsilon]];
      await this.memory.write(known);
    });
  }
}

type Spent = [study: string, epsilon: string, number: Fraction][];

function checkTotal(spent: Spent, study: string, epsilon: string, most?: Limit): void {
  const others = spent.filter(([name]) => name !== study);
  const total = others.reduce<Fraction>((sum, [, , number]) => plus(sum, number), [0n, 1n]);
  if (most !== undefined) withinTotal(numberOf({ epsilon }, "epsilon"), total, most);
}

function read({ spent = [] }: Known): Spent {
  try {
    return spent.map(([study, epsilon]) => [String(study), epsilon, numberOf({ epsilon }, "epsilon")]);
  } catch (error) {
    if (error instanceof Refused || error instanceof TypeError) throw new Error(DAMAGED);
    throw error;
  }
}

/**
 * Texts in a browser's IndexedDB, each written through to the disk before it is done.
 *
 * The browser is asked to keep them where room is short: a device that forgets may be asked again.
 */
export function indexedStore(database = "discreet"): Store {
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(database, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("studies");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  let asked = false;
  return {
    async get(name) {
      const transaction = (await opened).transaction("studies", "readonly");
      const request = transaction.objectStore("studies").get(name) as IDBRequest<string | undefined>;
      return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    },
    async set(name, text) {
      asked ||= askToKeep();
      const transaction = (await opened).transaction("studies", "readwrite", { durability: "strict" });
      transaction.objectStore("studies").put(text, name);
      return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
      });
    },
  };
}

/**
 * Texts in a browser's `localStorage`, for where there is no IndexedDB.
 *
 * A browser writes them to the disk when it likes to, so they survive a crash of the page and not always one of the machine.
 */
export function localStore(storage: Storage = localStorage): Store {
  let asked = false;
  return {
    get: async (name) => storage.getItem(`discreet ${name}`) ?? undefined,
    set: async (name, text) => {
      asked ||= askToKeep();
      storage.setItem(`discreet ${name}`, text);
    },
  };
}

/** Ask the browser to keep what is stored; nobody waits for the answer, as some browsers put the question to a person. */
function askToKeep(): true {
  globalThis.navigator?.storage?.persist?.().catch(() => false);
  return true;
}
