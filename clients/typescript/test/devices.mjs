// Devices that take part over the network, line by line, for the tests with a real service: see `tests/clients`.

import { createInterface } from "node:readline";
import { Participant } from "../dist/index.js";
import { folderStore } from "../dist/node.js";
import { overHttp } from "../dist/sending.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { address, study, folder, basket, token, crash } = JSON.parse(line);
  const send = (method, place, body) => {
    if (crash && place.endsWith("/reports")) throw new Error("killed before it sent");
    return overHttp(method, place, body);
  };
  const device = new Participant(address, study, { store: folderStore(folder), maxEpsilon: 4, token, pause: 0, send });
  const told = await device.takePart(basket).catch((error) => `${error.name}: ${error.message}`);
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
