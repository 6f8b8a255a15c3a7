// What a device makes of a signed study and its questions: the golden vectors that the Python device is held to.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { becomes } from "../dist/becoming.js";
import { MOST_QUESTIONS, questionsOf, studyOf } from "../dist/documents.js";
import { verified, verifiedHere } from "../dist/ed25519.js";
import { Refused } from "../dist/json.js";
import { localStore } from "../dist/memory.js";
import { Participant } from "../dist/participant.js";
import { Unreached } from "../dist/sending.js";

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

/** Take part as the device of a number, with a service that answers so; return what it does and what it has in its record. */
async function takenPart(answers, number, { now = 0, token } = {}) {
  const texts = new Map();
  const store = localStore({ getItem: (name) => texts.get(name) ?? null, setItem: (name, text) => void texts.set(name, text) });
  const sent = [];
  const send = async (method, address, body) => {
    const path = address.slice("http://service/v1/studies/breakfast".length);
    if (path === "/reports") sent.push(JSON.parse(body));
    const [status, text] = path === "/reports" ? [200, '{"outcome":"counted"}'] : answers[path];
    return { status, body: typeof text === "string" ? text : JSON.stringify(text) };
  };
  const drawn = [new Uint8Array(new Uint32Array([number]).buffer)];
  const take = (count) => drawn.pop() ?? new Uint8Array(count);
  const options = { store, maxEpsilon: 1, pause: 0, send, take, now: () => now, ...(token === undefined ? {} : { token }) };
  const device = new Participant("http://service", "breakfast", options);
  const done = await device.takePart([1]).then(
    (standing) => (sent.length > 0 ? { round: sent[0].round, token: sent[0].token } : { standing }),
    (error) => (error instanceof Unreached ? { again: true } : { refused: error.message }),
  );
  return { done, seen: (await device.known()).seen ?? [] };
}

test("devices answer what every case of asked.json says, by their number and the clock", async () => {
  assert.ok(cases("asked").length > 10);
  for (const given of cases("asked")) {
    const answers = { "": [200, given.study], "/questions": [200, given.questions] };
    const { done, seen } = await takenPart(answers, given.number, { now: given.now, token: "ab".repeat(16) });
    delete done.token;
    const { round, standing, refused } = given;
    assert.deepEqual(done, JSON.parse(JSON.stringify({ round, standing, refused })), given.what);
    assert.deepEqual(seen, given.seen, given.what);
  }
});

test("devices enrol as every case of enrol.json says", async () => {
  const { study, questions } = cases("asked").find((one) => one.what === "a question that never expires");
  assert.ok(cases("enrol").length > 10);
  for (const given of cases("enrol")) {
    const answers = { "": [200, study], "/questions": [200, questions], "/enrol": [given.status, given.body] };
    const { done } = await takenPart(answers, 0);
    delete done.round;
    const { token, refused, again } = given;
    assert.deepEqual(done, JSON.parse(JSON.stringify({ token, refused, again })), given.what);
  }
});

test("it is the bytes of the signed text that are counted, as every case of measured.json says", async () => {
  for (const given of cases("measured")) {
    const [one] = given.questions.questions;
    const question = one.question + " ".repeat(given.bytes - new TextEncoder().encode(one.question).length);
    const told = { ...given, questions: { state: "open", questions: [{ ...one, question }] } };
    if ("refused" in given) await assert.rejects(decided(told), { name: "Refused", message: given.refused });
    else assert.deepEqual((await decided(told)).rounds, given.rounds, given.what);
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
