// What a device makes of a signed study and its questions: the golden vectors that the Python device is held to.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { becomes } from "../dist/becoming.js";
import { MOST_QUESTIONS, questionsOf, studyOf } from "../dist/documents.js";
import { verified, verifiedHere } from "../dist/ed25519.js";
import { Refused } from "../dist/json.js";

const FOLDER = new URL("../../../tests/vectors/v1/", import.meta.url);
const cases = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

async function decided(given) {
  const { key, max_epsilon: maxEpsilon = "1", max_delta: maxDelta = "0" } = given;
  const study = await studyOf(given.study, given.name, { key, maxEpsilon, maxDelta });
  if (!("questions" in given)) return { id: study.id };
  const { questions } = await questionsOf(given.questions, study, given.seen);
  return { id: study.id, rounds: questions.map((one) => [one.round, one.start, one.stop, one.expires]) };
}

test("devices do as every case of studies.json says", async () => {
  assert.ok(cases("studies").length > 30);
  for (const given of cases("studies")) {
    if ("refused" in given) {
      await assert.rejects(decided(given), (error) => {
        assert.equal(error.message, given.refused, given.what);
        return error instanceof Refused;
      });
    } else {
      const { id, rounds } = given;
      assert.deepEqual(await decided(given), rounds === undefined ? { id } : { id, rounds }, given.what);
    }
  }
});

test("baskets become what every case of becoming.json says", () => {
  assert.ok(cases("becoming").length > 5);
  for (const given of cases("becoming")) assert.deepEqual(becomes(given.basket, given.table), given.becomes);
  assert.throws(() => becomes(["tea"], [[0]]), TypeError);
});

test("signatures hold, or do not, by the platform and computed here", async () => {
  assert.ok(cases("signatures").length > 20);
  for (const given of cases("signatures")) {
    const parts = [given.key, given.message, given.signature].map(bytes);
    assert.equal(await verified(...parts), given.holds, given.what);
    assert.equal(await verifiedHere(...parts), given.holds, `${given.what}, here`);
  }
});

test("a platform without Ed25519 gets the same answers", async (context) => {
  const [good, bad] = [cases("signatures")[2], cases("signatures")[4]];
  context.mock.method(crypto.subtle, "importKey", () => Promise.reject(new Error("not known")));
  assert.equal(await verified(...[good.key, good.message, good.signature].map(bytes)), true);
  assert.equal(await verified(...[bad.key, bad.message, bad.signature].map(bytes)), false);
});

test("what was seen is not checked again but compared", async (context) => {
  const given = cases("studies").find((one) => one.what === "questions");
  const study = await studyOf(given.study, "breakfast", { maxEpsilon: 1 });
  const { questions } = await questionsOf(given.questions, study);
  const seen = questions.map((one) => [one.round, one.start, one.stop, one.hash]);
  context.mock.method(crypto.subtle, "verify", () => Promise.resolve(false));
  assert.deepEqual((await questionsOf(given.questions, study, seen)).questions, questions);
  await assert.rejects(questionsOf(given.questions, study, seen.slice(0, 1)), /is not signed/);
});

test("too many questions are not looked at", async () => {
  const study = await studyOf(cases("studies")[0].study, "breakfast", { maxEpsilon: 1 });
  const answer = { state: "open", questions: Array(MOST_QUESTIONS + 1).fill({}) };
  await assert.rejects(questionsOf(answer, study), /The answer is not written as format 1 has it/);
});
