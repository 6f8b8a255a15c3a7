// How likely reports are, line by line, for the test against the laws that Python enumerates: see `tests/clients`.

import { createInterface } from "node:readline";
import { chanceOf } from "../dist/chances.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { question, basket, own, reports } = JSON.parse(line);
  const told = reports.map((report) => chanceOf(question, basket, report, own)?.map(String) ?? null);
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
