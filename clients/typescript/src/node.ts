/**
 * Where a device that runs on Node remembers: a folder of its own, one file per study, as the Python device has them.
 *
 * A write goes to a file beside it, is forced to the disk, and takes the place of what was there; then the folder is forced
 * too. Programs on one folder take turns: whoever is at work has put a file with its number beside the record. One that was
 * killed leaves that file behind, and the next program sees that nobody of that number runs any more. Machines that share a
 * folder do not see each other's programs: give each a folder of its own.
 */

import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "./memory.js";

const AGAIN = 50; // milliseconds until a program that waits for its turn looks again

/** Texts in a folder, which is made where it is not there; `patience` is how many milliseconds a program waits for its turn. */
export function folderStore(folder: string, { patience = 60_000 } = {}): Store {
  const placeOf = (name: string, kind = "json"): string => join(folder, `${name}.${kind}`);
  // What stands in the file of a turn: who has it, and which of its turns that is.
  const mine = new Map<string, string>();
  return {
    async get(name) {
      return readText(placeOf(name));
    },
    async set(name, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const part = placeOf(name, "part");
      await forced(part, "w", (file) => file.writeFile(text));
      const turn = mine.get(name);
      if (turn !== undefined && (await readText(placeOf(name, "turn"))) !== turn) {
        throw new Error(`Somebody took ${placeOf(name, "turn")} away: nothing is written without it.`);
      }
      await rename(part, placeOf(name));
      if (process.platform !== "win32") await forced(folder, "r");
    },
    async alone(name, work) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const turn = `${process.pid} ${await began(process.pid)} ${crypto.randomUUID()}`;
      await taken(placeOf(name, "turn"), turn, patience);
      mine.set(name, turn);
      try {
        return await work();
      } finally {
        mine.delete(name);
        if ((await readText(placeOf(name, "turn"))) === turn) await rm(placeOf(name, "turn"), { force: true });
      }
    },
  };
}

/** Put the file of a turn in its place, which only one program can; wait while one that runs has it. */
async function taken(place: string, turn: string, patience: number): Promise<void> {
  const own = `${place}.${crypto.randomUUID()}`;
  const until = Date.now() + patience;
  await forced(own, "wx", (file) => file.writeFile(turn));
  try {
    for (;;) {
      try {
        return await link(own, place); // whole, or not at all: nobody reads half of it
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
      }
      const other = await readText(place);
      if (other === undefined) continue;
      if (!(await runs(other))) await clearedAway(place, other);
      else if (Date.now() >= until) {
        throw new Error(`Another program takes part from this folder: end it, or wait until it is done. It has ${place}.`);
      } else await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** Take the file of a dead program away; if somebody else was quicker and it is the file of another, put that back. */
async function clearedAway(place: string, dead: string): Promise<void> {
  const aside = `${place}.${crypto.randomUUID()}`;
  try {
    await rename(place, aside);
    if ((await readText(aside)) !== dead) await link(aside, place);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(codeOf(error))) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

/** Return whether the program of a turn runs: one of its number, which began when that one did. */
async function runs(turn: string): Promise<boolean> {
  const [number, when] = turn.split(" ");
  if (!(Number(number) > 0)) return false;
  try {
    process.kill(Number(number), 0); // asks, and does nothing
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return when === (await began(Number(number)));
}

/** Return when a program began, where the system tells: numbers are given out again, in a container even the same one. */
async function began(number: number): Promise<string> {
  const told = process.platform === "linux" ? await readText(`/proc/${number}/stat`) : undefined;
  // The second field is a name in parentheses, and may hold anything; the beginning is the twentieth after it.
  return told?.slice(told.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
}

async function readText(place: string): Promise<string | undefined> {
  try {
    return await readFile(place, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

type Opened = Awaited<ReturnType<typeof open>>;

async function forced(place: string, how: string, work?: (file: Opened) => Promise<void>): Promise<void> {
  const file = await open(place, how, 0o600);
  try {
    await work?.(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
