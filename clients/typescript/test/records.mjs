// A device with a service that answers from a table and random bytes that are given, line by line: see `tests/clients`.

import { createInterface } from "node:readline";
import { Participant } from "../dist/index.js";
import { folderStore } from "../dist/node.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, basket, answers, random, token, most } = JSON.parse(line);
  let left = Buffer.from(random, "hex");
  const take = (count) => {
    const taken = new Uint8Array(left.subarray(0, count));
    left = left.subarray(count);
    return taken;
  };
  const bodies = [];
  const send = async (method, address, body) => {
    const path = address.slice("http://service/v1/studies/breakfast".length);
    if (path === "/reports") bodies.push(body);
    const [status, told] = answers[path];
    return { status, body: told };
  };
  const options = { store: folderStore(folder), maxEpsilon: 1, pause: 0, now: () => 0, take, send };
  const given = { ...(token == null ? {} : { token }), ...(most == null ? {} : { maxTotalEpsilon: most }) };
  const device = new Participant("http://service", "breakfast", { ...options, ...given });
  const told = await device.takePart(basket).catch((error) => error.message);
  process.stdout.write(`${JSON.stringify({ told, bodies, left: left.length })}\n`);
}
