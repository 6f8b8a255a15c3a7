// A device that takes part: what it remembers before it sends, what it sends again, and what it refuses.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Memory, Participant, Refused, Unreached, localStore } from "../dist/index.js";
import { folderStore } from "../dist/node.js";

const CASES = JSON.parse(readFileSync(new URL("../../../tests/vectors/v1/studies.json", import.meta.url), "utf8"));
const ASKED = CASES.find((one) => one.what === "questions");
const TOKEN = "ab".repeat(16);

let folder;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "discreet-"))));
afterEach(() => rmSync(folder, { recursive: true }));
const kept = () => JSON.parse(readFileSync(join(folder, "breakfast.json"), "utf8"));

/** A service that answers from a table, and remembers what it was sent; each entry may be changed. */
class Service {
  study = ASKED.study;
  questions = ASKED.questions;
  outcome = () => [200, { outcome: "counted" }];
  requests = [];
  bodies = [];
  send = async (method, address, body) => {
    const path = address.replace("https://studies.example/v1/studies/breakfast", "");
    this.requests.push(`${method} ${path}`);
    if (path === "/reports") this.bodies.push(body);
    const answers = { "": [200, this.study], "/questions": [200, this.questions], "/enrol": [200, { token: TOKEN }] };
    const [status, told] = path === "/reports" ? this.outcome() : answers[path];
    return { status, body: JSON.stringify(told) };
  };
}

function participant(service, options = {}) {
  return new Participant("https://studies.example/", "breakfast", {
    store: folderStore(folder),
    maxEpsilon: 1,
    token: TOKEN,
    pause: 0,
    now: () => 0,
    send: service.send,
    ...options,
  });
}

test("a report is written down before it is sent, and sent once", async () => {
  const service = new Service();
  service.outcome = () => {
    assert.equal(kept().report, service.bodies[0]);
    return [200, { outcome: "counted" }];
  };
  assert.equal(await participant(service).takePart([1]), "counted");
  assert.deepEqual(service.requests, ["GET ", "GET /questions", "POST /reports"]);
  const { round, token, key, report } = JSON.parse(service.bodies[0]);
  const { number, seen, outcome } = kept();
  assert.equal(round, number < 2 ** 31 ? 0 : 1);
  assert.equal(token, TOKEN);
  assert.match(key, /^[0-9a-f]{32}$/);
  assert.ok(Number.isInteger(report.value));
  assert.deepEqual([seen.map((one) => one[0]), outcome], [[0, 1], "counted"]);
  assert.equal(await participant(service).takePart([2]), "already-counted");
  assert.equal(service.requests.length, 3);
  assert.deepEqual(readdirSync(folder), ["breakfast.json"]);
});

test("the same bytes are sent again, whatever is held then", async () => {
  const service = new Service();
  const fates = [() => { throw new Unreached("no answer"); }, () => [503, {}], () => [429, {}], () => [200, { outcome: "already-counted" }]];
  service.outcome = () => fates[service.bodies.length - 1]();
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(participant(service).takePart([attempt]), Unreached);
  }
  assert.equal(await participant(service).takePart([]), "already-counted");
  assert.equal(service.bodies.length, 4);
  assert.equal(new Set(service.bodies).size, 1);
});

test("the number is drawn before anything is read, and once", async () => {
  const service = new Service();
  const { send } = service;
  service.send = async (...request) => {
    assert.equal(kept().number, 0x04030201);
    return send(...request);
  };
  const drawn = [];
  const take = (count) => {
    drawn.push(count);
    return Uint8Array.from({ length: count }, (_, at) => at + 1);
  };
  service.questions = { state: "waiting", questions: [] };
  assert.equal(await participant(service, { take }).takePart([]), "waiting");
  assert.equal(await participant(service, { take }).takePart([]), "waiting");
  service.questions = { state: "released", questions: [] };
  assert.equal(await participant(service, { take }).takePart([]), "not-asked");
  assert.deepEqual(drawn, [4]);
});

test("two calls at once make one report", async () => {
  const service = new Service();
  const one = participant(service);
  assert.deepEqual((await Promise.all([one.takePart([1]), one.takePart([2])])).sort(), ["already-counted", "counted"]);
  assert.equal(service.bodies.length, 1);
});

/** Another program that takes part from the folder; it waits at its first request until it is told to go on. */
function program() {
  const place = (name) => new URL(name, import.meta.url).href;
  const code = `
    import { Participant } from ${JSON.stringify(place("../dist/index.js"))};
    import { folderStore } from ${JSON.stringify(place("../dist/node.js"))};
    const answers = ${JSON.stringify({ "": ASKED.study, "/questions": ASKED.questions, "/reports": { outcome: "counted" } })};
    const told = new Promise((resolve) => process.stdin.once("data", resolve));
    const send = async (method, address, body) => {
      console.log(body === undefined ? "asked" : "sent " + body);
      await told;
      return { status: 200, body: JSON.stringify(answers[address.slice(${"https://studies.example/v1/studies/breakfast".length})]) };
    };
    const one = new Participant("https://studies.example", "breakfast", {
      store: folderStore(${JSON.stringify(folder)}), maxEpsilon: 1, token: ${JSON.stringify(TOKEN)}, pause: 0, now: () => 0, send });
    console.log(await one.takePart([1]));
    process.exit();
  `;
  return spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["pipe", "pipe", "inherit"] });
}

const said = (child) => new Promise((resolve) => child.stdout.once("data", (text) => resolve(String(text))));
const ended = async (child) => {
  let all = "";
  child.stdout.on("data", (text) => (all += text));
  await once(child, "close");
  return all;
};

test("two programs on one folder make one report", async () => {
  const [one, other] = [program(), program()];
  const all = Promise.all([ended(one), ended(other)]);
  await Promise.race([said(one), said(other)]);
  for (const child of [one, other]) child.stdin.write("go on");
  const lines = (await all).join("").trim().split("\n");
  assert.equal(lines.filter((line) => line.startsWith("sent ")).length, 1);
  assert.deepEqual(lines.filter((line) => line.endsWith("counted")).sort(), ["already-counted", "counted"]);
  assert.deepEqual(readdirSync(folder), ["breakfast.json"]);
});

test("a program that is at work keeps others out, and one that was killed does not", async () => {
  const child = program();
  await said(child);
  const service = new Service();
  const impatient = participant(service, { store: folderStore(folder, { patience: 100 }) });
  await assert.rejects(impatient.takePart([1]), /Another program takes part from this folder: end it, or wait/);
  assert.deepEqual(service.requests, []);
  child.kill("SIGKILL");
  await once(child, "close");
  assert.deepEqual(readdirSync(folder).sort(), ["breakfast.json", "breakfast.turn"]);
  assert.equal(await impatient.takePart([1]), "counted");
  // A number is given out again: what counts is when the program began.
  writeFileSync(join(folder, "breakfast.turn"), `${process.pid} 1 of-another-time`);
  if (process.platform === "linux") assert.equal(await impatient.takePart([1]), "already-counted");
});

test("what a program has lost hold of it does not write to", async () => {
  const store = folderStore(folder);
  const lost = store.alone("breakfast", async () => {
    writeFileSync(join(folder, "breakfast.turn"), "1 of another");
    await store.set("breakfast", "{}");
  });
  await assert.rejects(lost, /nothing is written without it/);
  assert.equal(await store.get("breakfast"), undefined);
});

test("a report that is not taken is no reason for another", async () => {
  const service = new Service();
  service.outcome = () => [409, { reason: "token-spent" }];
  const one = participant(service);
  assert.equal(await one.takePart([1]), "refused");
  assert.equal(await one.takePart([1]), "refused");
  assert.equal((await one.known()).reason, "token-spent");
  assert.equal(service.bodies.length, 1);
});

test("without a token it asks for one, and keeps it", async () => {
  const service = new Service();
  const options = { token: undefined };
  service.outcome = () => [503, {}];
  await assert.rejects(participant(service, options).takePart([1]), Unreached);
  service.outcome = () => [200, { outcome: "counted" }];
  assert.equal(await participant(service, options).takePart([1]), "counted");
  assert.equal(service.requests.filter((one) => one === "POST /enrol").length, 1);
  assert.equal(JSON.parse(service.bodies[0]).token, TOKEN);
});

const WITHOUT = {
  "a study for some": [[403, { title: "The study is for those who were given a token" }], Refused, /does not answer: The study/],
  "a service that is busy": [[503, {}], Unreached, /cannot answer now/],
  "an answer without one": [[200, {}], Refused, /The service gave no token of a participant: it has 32 digits/],
  "what is no token": [[200, { token: "EE" }], Refused, /The service gave no token of a participant/],
};
for (const [what, [answer, kind, why]] of Object.entries(WITHOUT)) {
  test(`without a token it has not answered: ${what}`, async () => {
    const service = new Service();
    const { send } = service;
    const answers = [answer];
    const asked = async (method, address, body) => {
      if (!address.endsWith("/enrol") || answers.length === 0) return send(method, address, body);
      const [status, told] = answers.pop();
      return { status, body: JSON.stringify(told) };
    };
    const drawn = [];
    const take = (count) => {
      drawn.push(count);
      return new Uint8Array(count);
    };
    const never = { [Symbol.iterator]: () => assert.fail("the basket was looked at") };
    const one = participant(service, { token: undefined, send: asked, take });
    await assert.rejects(one.takePart(never), (error) => error instanceof kind && why.test(error.message));
    assert.deepEqual(drawn, [4]);
    assert.deepEqual([kept().token, kept().report], [undefined, undefined]);
    assert.equal(await one.takePart([1]), "counted");
  });
}

test("a token that cannot be one costs no answer", async () => {
  const service = new Service();
  for (const token of ["", "aa", "AA".repeat(16), `${TOKEN}\n`]) {
    await assert.rejects(participant(service, { token }).takePart([1]), /The device was given no token of a participant/);
  }
  assert.equal(await participant(service).takePart([1]), "counted");
});

const FOREIGN = CASES.find((one) => one.what === "another key than is known").key;
const DELTA = CASES.find((one) => one.what === "a delta that the owner allows").study;
const REFUSALS = {
  "another key than was given": [{ key: FOREIGN }, /another key than this device knows/],
  "an epsilon over the owner's": [{ maxEpsilon: "1/2" }, /The study asks for epsilon 1, and this device gives at most 0.5/],
  "a question that has expired": [{ now: () => 4e9, take: () => new Uint8Array(16).fill(255) }, /has expired/],
};
for (const [what, [options, why]] of Object.entries(REFUSALS)) {
  test(`${what} is refused, and nothing is sent`, async () => {
    const service = new Service();
    await assert.rejects(participant(service, options).takePart([1]), (error) => error instanceof Refused && why.test(error.message));
    assert.deepEqual(service.bodies, []);
  });
}

test("what changes between rounds is refused", async () => {
  const service = new Service();
  service.questions = { state: "waiting", questions: [] };
  const options = { maxDelta: "0.01" };
  await participant(service, options).takePart([1]);
  service.study = DELTA;
  await assert.rejects(participant(service, options).takePart([1]), /something else than it did when this device joined/);
  await assert.rejects(participant(service, { key: FOREIGN }).takePart([1]), /under another key than it was given now/);
});

test("a round that overlaps one of before is refused", async () => {
  const service = new Service();
  const overlap = CASES.find((one) => one.what === "rounds that overlap").questions.questions[1];
  // A device whose number is in neither has seen the first round, and later is shown the other.
  service.questions = { state: "open", questions: [ASKED.questions.questions[0]] };
  const take = (count) => new Uint8Array(count).fill(255);
  assert.equal(await participant(service, { take }).takePart([1]), "waiting");
  service.questions = { state: "open", questions: [overlap] };
  await assert.rejects(participant(service, { take }).takePart([1]), /Two rounds of the study ask the same people/);
});

test("a service that says no, or nothing that can be read", async () => {
  const service = new Service();
  const answering = (status, body) => participant(service, { send: async () => ({ status, body }) }).takePart([1]);
  await assert.rejects(answering(404, '{"title": "No study has this name"}'), /does not answer: No study has this name/);
  await assert.rejects(answering(500, "{}"), Unreached);
  await assert.rejects(answering(200, "<html>"), /The study is not written as format 1 has it/);
  assert.throws(() => new Participant("studies.example", "breakfast", {}), /begins with https/);
});

test("a record that is damaged is not begun anew", async () => {
  writeFileSync(join(folder, "breakfast.json"), '{"number": 1');
  await assert.rejects(participant(new Service()).takePart([1]), /is damaged: it answers no more/);
});

test("a browser's storage keeps the same", async () => {
  const texts = new Map();
  const storage = { getItem: (name) => texts.get(name) ?? null, setItem: (name, text) => void texts.set(name, text) };
  const service = new Service();
  assert.equal(await participant(service, { store: localStore(storage) }).takePart([1]), "counted");
  assert.equal((await new Memory(localStore(storage), "breakfast").read()).report, service.bodies[0]);
});

test("the answer is sent at a moment that was chosen before it was made", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const service = new Service();
  const done = participant(service, { pause: 5000 }).takePart([1]);
  while (!readdirSync(folder).includes("breakfast.json") || kept().report === undefined) await new Promise(setImmediate);
  assert.deepEqual(service.bodies, []);
  context.mock.timers.tick(5000);
  assert.equal(await done, "counted");
});
