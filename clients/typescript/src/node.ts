/**
 * Where a device that runs on Node remembers: a folder of its own, one file per study, as the Python device has them.
 *
 * A write goes to a file beside it, is forced to the disk, and takes the place of what was there; then the folder is forced
 * too. One program at a time is for the owner of the folder to see to.
 */

import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "./memory.js";

/** Texts in a folder, which is made where it is not there. */
export function folderStore(folder: string): Store {
  const placeOf = (name: string): string => join(folder, `${name}.json`);
  return {
    async get(name) {
      try {
        return await readFile(placeOf(name), "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async set(name, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const part = join(folder, `${name}.part`);
      await forced(part, "w", (file) => file.writeFile(text));
      await rename(part, placeOf(name));
      if (process.platform !== "win32") await forced(folder, "r");
    },
  };
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
