// Wire format 1 is frozen: the golden vectors that the Python device is held to, read where they lie.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { chosen } from "../dist/choosing.js";
import { ANSWERS, client } from "../dist/client.js";
import { Draws } from "../dist/draws.js";
import { Refused } from "../dist/json.js";

const FOLDER = new URL("../../../tests/vectors/v1/", import.meta.url);
const STUDIES = ["packed.json", "batches.json", "studies.json", "answers.json", "signatures.json", "becoming.json", "asked.json", "enrol.json", "measured.json"]; // of what travels around questions
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && ![...STUDIES, "chosen.json"].includes(name));
// With fewer files than these, something was not read.
assert.ok(FILES.length >= 13);

/** Return a source of given bytes, and how many of them are left. */
function source(text) {
  let left = Buffer.from(text, "hex");
  const take = (count) => {
    assert.ok(count <= left.length, "more bytes are used than there are");
    const taken = left.subarray(0, count);
    left = left.subarray(count);
    return taken;
  };
  return { take, left: () => left.length };
}

/** Return the question of a case: as it is written, with its long lists filled in, or as text of so many bytes. */
function askedIn(given) {
  if ("text" in given) return new TextEncoder().encode(given.text);
  const question = { ...given.question };
  for (const [name, [start, stop]] of Object.entries(given.lists ?? {})) {
    question[name] = Array.from({ length: stop - start }, (_, at) => start + at);
  }
  return "bytes" in given ? new TextEncoder().encode(JSON.stringify(question).padEnd(given.bytes)) : question;
}

function told(given) {
  const bytes = source(given.random ?? "");
  const options = { maxEpsilon: given.max_epsilon ?? 64, maxDelta: given.max_delta ?? 0 };
  const own = { basket: given.basket, texts: given.texts, given: given.given, after: given.after };
  for (const [name, entries] of Object.entries(given.repeated ?? {})) {
    own[name] = entries.flatMap(([entry, times]) => Array(times).fill(entry));
  }
  for (const name of ["texts", "given", "after"]) if (own[name] !== undefined) options[name] = own[name];
  if (!("most_bytes" in given)) options.take = bytes.take;
  const report = new TextDecoder().decode(client(askedIn(given), own.basket ?? (own.texts === undefined ? [1] : []), options));
  assert.equal(bytes.left(), 0, "bytes are left over");
  return report;
}

for (const name of FILES) {
  test(`devices do as every case of ${name} says`, () => {
    const cases = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
    assert.ok(cases.length > 0);
    cases.forEach((given, number) => {
      const where = `${name} ${number} (${given.what ?? ""})`;
      if ("number" in given) {
        const bytes = source(given.random);
        const report = ANSWERS.get(given.oracle.oracle)(given.oracle, [given.number], new Draws(bytes.take));
        assert.equal(JSON.stringify(report), given.report, where);
        assert.equal(bytes.left(), 0, where);
      } else if ("refused" in given) {
        assert.throws(() => told(given), (error) => {
          // The same words, but for how Python writes what is true.
          assert.equal(error.message, given.refused.replace("True", "true"), where);
          return error instanceof Refused;
        });
      } else if ("most_bytes" in given) {
        assert.ok(told(given).length <= given.most_bytes, where);
      } else {
        assert.equal(told(given), given.report, where);
        if (!("bytes" in given || "text" in given)) {
          // As text, it is the same question.
          assert.equal(told({ ...given, text: JSON.stringify(askedIn(given)) }), given.report, where);
        }
      }
    });
  });
}

test("the basket that answers is the one that every case of chosen.json says", () => {
  const cases = JSON.parse(readFileSync(new URL("chosen.json", FOLDER), "utf8"));
  assert.ok(cases.length > 0);
  cases.forEach((given, number) => {
    const where = `chosen.json ${number}`;
    const bytes = source(given.random ?? "");
    const choose = () => chosen(given.baskets, { maxBaskets: given.max_baskets, take: bytes.take });
    if ("refused" in given) assert.throws(choose, TypeError, where);
    else assert.deepEqual(choose(), given.chosen, where);
    assert.equal(bytes.left(), 0, where);
  });
  assert.deepEqual(chosen([[1, 2]]), [1, 2]); // by default everybody counts the same, and nothing is drawn of one
  assert.equal(chosen([[1], [2], [3]]).length, 1);
});
