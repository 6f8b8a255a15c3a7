// A device that answers line by line, for the differential test against the Python one: see `tests/clients`.

import { createInterface } from "node:readline";
import { client } from "../dist/client.js";
import { Refused } from "../dist/json.js";

class Exhausted extends Error {}

function told(asked) {
  let left = Buffer.from(asked.random, "base64");
  const take = (count) => {
    if (count > left.length) throw new Exhausted();
    const taken = left.subarray(0, count);
    left = left.subarray(count);
    return taken;
  };
  try {
    const report = client(Buffer.from(asked.question, "base64"), asked.basket, {
      maxEpsilon: asked.max_epsilon,
      maxDelta: asked.max_delta,
      texts: asked.texts ?? undefined,
      given: asked.given,
      after: asked.after,
      take,
    });
    return { report: Buffer.from(report).toString("base64"), left: left.length };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    if (error instanceof Exhausted) return { exhausted: true };
    return { stopped: String(error.stack) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(told(JSON.parse(line)))}\n`);
}
