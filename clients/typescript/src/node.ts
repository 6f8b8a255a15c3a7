/**
 * Where a device that runs on Node remembers: a folder of its own, one file per study, as the Python device has them.
 *
 * A write goes to a file beside it, is forced to the disk, and takes the place of what was there; then the folder is forced
 * too. Programs on one folder take turns: whoever is at work has put a file with its number beside the record. One that was
 * killed leaves that file behind, and the next program sees that nobody of that number runs any more. Of several that see
 * it, the one takes its place that could put down a claim to it. Machines that share a folder do not see each other's
 * programs: give each a folder of its own.
 */

import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Store } from "./memory.js";

const AGAIN = 50; // milliseconds until a program that waits for its turn looks again

/**
 * Texts in a folder, which is made where it is not there.
 *
 * It is given by its whole path; `~` stands for one's home. `patience` is how many milliseconds a program waits for its turn.
 */
export function folderStore(given: string, { patience = 60_000 } = {}): Store {
  const folder = wholePath(given);
  const placeOf = (name: string, kind = "json"): string => {
    if (!/^[_a-z0-9][a-z0-9-]*$/.test(name)) throw new TypeError("A name is small letters, digits and dashes, and no path.");
    return join(folder, `${name}.${kind}`);
  };
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

/** Return where a folder is: a relative one would be another, and empty, for a program that begins elsewhere. */
function wholePath(folder: string): string {
  const place = /^~(?=$|[/\\])/.test(folder) ? join(homedir(), folder.slice(1)) : folder;
  if (isAbsolute(place)) return place;
  throw new TypeError(
    "The folder in which a device remembers is given by its whole path, such as /home/me/.breakfast or ~/.breakfast; " +
      `'${String(folder).slice(0, 78)}' was given.`,
  );
}

/** Put the file of a turn in its place, which only one program can; wait while one that runs has it. */
async function taken(place: string, turn: string, patience: number): Promise<void> {
  const own = `${place}.${crypto.randomUUID()}`;
  const until = Date.now() + patience;
  await forced(own, "wx", (file) => file.writeFile(turn));
  try {
    for (;;) {
      const other = await readText(place);
      if (other === undefined ? await linked(own, place) : !(await runs(other)) && (await succeeded(place, other, own))) return;
      if (other === undefined) continue; // somebody else was quicker: look who
      if (Date.now() >= until) {
        throw new Error(`Another program takes part from this folder: end it, or wait until it is done. It has ${place}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  } finally {
    await rm(own, { force: true });
  }
}

/**
 * Take the place of a program that died, and return whether that could be.
 *
 * Its file may be changed by one program alone: by whoever put down a claim to it, or, where that one died too, a claim to
 * the claim, and so on. A claim is named after the turn it is to, which nobody has twice. Somebody slow may claim what was
 * cleared up long ago, so whoever has claimed looks once more whether the dead turn is still there.
 */
async function succeeded(place: string, dead: string, own: string): Promise<boolean> {
  const claims: string[] = [];
  for (let turn: string | undefined = dead; turn !== undefined; ) {
    const claim = `${place}.to.${turn.split(" ").at(-1)!.replace(/[^0-9a-z-]/g, "_")}`;
    claims.push(claim);
    if (await linked(own, claim)) {
      const still = (await readText(place)) === dead;
      if (still) await rename(own, place);
      for (const one of still ? claims : [claim]) await rm(one, { force: true });
      return still;
    }
    turn = await readText(claim);
    if (turn !== undefined && (await runs(turn))) return false;
  }
  return false;
}

/** Put a file in a place where there is none, whole or not at all: nobody reads half of it. Return whether that could be. */
async function linked(own: string, place: string): Promise<boolean> {
  try {
    await link(own, place);
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return false;
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
