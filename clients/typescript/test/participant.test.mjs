// A device that takes part: what it remembers before it sends, what it sends again, and what it refuses.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, promises, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Memory, Participant, Refused, Unreached, localStore } from "../dist/index.js";
import { MOST_HELD, MOST_SYMBOLS_HELD, deviceData } from "../dist/answering.js";
import { Spending } from "../dist/memory.js";
import { fullest } from "../dist/rehearsal.js";
import { folderStore } from "../dist/node.js";
import { overHttp, sendWithin } from "../dist/sending.js";

const ANSWERS = JSON.parse(readFileSync(new URL("../../../tests/vectors/v1/answers.json", import.meta.url), "utf8"));
const CASES = JSON.parse(readFileSync(new URL("../../../tests/vectors/v1/studies.json", import.meta.url), "utf8"));
const ASKED = CASES.find((one) => one.what === "questions");
const TOKEN = "ab".repeat(16);

let folder;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "discreet-"))));
afterEach(() => rmSync(folder, { recursive: true }));
const refusal = (reason, title = "No") => ({ type: `urn:discreet:${reason}`, title, reason });
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
    return { status, body: typeof told === "string" ? told : JSON.stringify(told) };
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
  assert.deepEqual(readdirSync(folder).sort(), ["_spent.json", "breakfast.json"]);
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
  assert.deepEqual(readdirSync(folder).sort(), ["_spent.json", "breakfast.json"]);
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

/** Programs that all find the turn of a dead one, each step at a moment of its own: see that one at a time has its turn. */
test("of many programs that find a dead one's turn, one at a time has it", async (context) => {
  const { setTimeout: later } = globalThis;
  context.mock.method(globalThis, "setTimeout", (work, wait, ...rest) => later(work, wait / 25, ...rest));
  let state = 20261116; // a small generator, so that the delays are the same each time
  const drawn = (below) => (state = (state * 1103515245 + 12345) % 2 ** 31) % below;
  for (const name of ["link", "rename", "readFile", "rm"]) {
    const real = promises[name];
    context.mock.method(promises, name, async (...given) => {
      for (let at = drawn(12); at > 0; at--) await new Promise(setImmediate);
      const told = await real(...given);
      for (let at = drawn(12); at > 0; at--) await new Promise(setImmediate);
      return told;
    });
  }
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  for (let round = 0; round < 40; round++) {
    writeFileSync(join(folder, "breakfast.turn"), `999999999 - dead-${round}`);
    if (round % 3 === 0) writeFileSync(join(folder, `breakfast.turn.to.dead-${round}`), `999999998 - claimer-${round}`);
    let inside = 0;
    let most = 0;
    const program = async () => {
      await folderStore(folder).alone("breakfast", async () => {
        most = Math.max(most, (inside += 1));
        for (let at = 0; at < 20; at++) await new Promise(setImmediate);
        inside -= 1;
      });
    };
    await Promise.all([program(), program(), program(), program()]);
    assert.equal(most, 1, `round ${round}`);
    assert.deepEqual(readdirSync(folder), []);
  }
});

for (const { what, status, body, fate } of ANSWERS) {
  test(`only the service ends a report: ${what}`, async () => {
    const service = new Service();
    const texts = new Map(); // what is written to a disk has tests of its own, and takes longer
    const store = { get: async (name) => texts.get(name), set: async (name, text) => void texts.set(name, text) };
    service.outcome = () => (service.bodies.length === 1 ? [status, body] : [200, { outcome: "already-counted" }]);
    const one = participant(service, { store });
    if (fate === "again" || fate === "another-token") {
      const [kind, why] = fate === "again" ? [Unreached, /cannot take the report now/] : [Refused, /know the token/];
      await assert.rejects(one.takePart([1]), (error) => error instanceof kind && why.test(error.message));
      assert.equal((await one.known()).outcome, undefined);
      assert.equal(await one.takePart([2]), "already-counted");
      assert.deepEqual([(await one.known()).reason, service.bodies.length, new Set(service.bodies).size], [undefined, 2, 1]);
    } else {
      assert.equal(await one.takePart([1]), fate);
      assert.equal(await one.takePart([1]), fate === "refused" ? "refused" : "already-counted");
      assert.deepEqual([(await one.known()).reason, service.bodies.length], [fate === "refused" ? what : undefined, 1]);
    }
  });
}

test("counted, and then an answer of somebody else", async () => {
  const service = new Service();
  service.outcome = () => { throw new Unreached("the answer is lost"); };
  await assert.rejects(participant(service).takePart([1]), Unreached);
  service.outcome = () => [404, "nginx"];
  await assert.rejects(participant(service).takePart([1]), /cannot take the report now .status 404/);
  service.outcome = () => [200, { outcome: "already-counted" }];
  assert.equal(await participant(service).takePart([1]), "already-counted");
  assert.equal(new Set(service.bodies).size, 1);
});

test("the same report goes with the right token", async () => {
  const service = new Service();
  service.outcome = () => [403, refusal("token-unknown")];
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(participant(service).takePart([1]), /does not know the token: give the right one, and the same report/);
  }
  await assert.rejects(participant(service, { token: "cd" }).takePart([2]), /The device was given no token of a participant/);
  service.outcome = () => [200, { outcome: "counted" }];
  assert.equal(await participant(service, { token: "cd".repeat(16) }).takePart([2]), "counted");
  const [first, second, third] = service.bodies.map((body) => JSON.parse(body));
  assert.deepEqual(second, first);
  assert.deepEqual(third, { ...first, token: "cd".repeat(16) });
  assert.equal(kept().token, "cd".repeat(16));
});

test("another token is no use while the first may have been counted", async () => {
  const service = new Service();
  service.outcome = () => [503, refusal("busy")];
  await assert.rejects(participant(service).takePart([1]), Unreached);
  service.outcome = () => [200, { outcome: "counted" }];
  assert.equal(await participant(service, { token: "cd".repeat(16) }).takePart([1]), "counted");
  assert.equal(service.bodies[0], service.bodies[1]);
});

/** The address of a socket that says one thing to whoever comes. */
async function saying(context, said) {
  const server = createServer((socket) => socket.once("data", () => socket.end(said)).on("error", () => undefined));
  context.after(() => server.close());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

test("half an answer is none, and nobody is followed elsewhere", async (context) => {
  const halves = ["", "HTT", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"];
  const elsewhere = await saying(context, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  for (const status of [301, 302, 303, 307, 308]) {
    halves.push(`HTTP/1.1 ${status} Go\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`);
  }
  for (const said of halves) {
    await assert.rejects(overHttp("GET", await saying(context, said)), Unreached);
    await assert.rejects(overHttp("POST", await saying(context, said), "{}"), Unreached);
  }
});

/** The address of a socket that says the beginning of an answer, and then a byte every 50 milliseconds. */
async function dripping(context, begin, drip) {
  const server = createServer((socket) =>
    socket
      .once("data", async () => {
        socket.write(begin);
        for (const byte of drip) {
          if (socket.destroyed) return;
          socket.write(byte);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        socket.end();
      })
      .on("error", () => undefined),
  );
  context.after(() => server.close());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

test("an answer that drips without end is none, and a slow one is read", async (context) => {
  const head = (length) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
  const endless = "x".repeat(1000);
  const send = sendWithin(300, 600);
  for (const begin of ["HTTP/1.1 200 OK\r\n", head(1000)]) {
    await assert.rejects(send("GET", await dripping(context, begin, endless)), Unreached);
  }
  await assert.rejects(sendWithin(10, 600_000)("GET", await dripping(context, head(20), endless)), Unreached);
  const slow = await sendWithin(500, 600_000)("GET", await dripping(context, head(20), endless.slice(0, 20)));
  assert.deepEqual(slow, { status: 200, body: "x".repeat(20) });
});

test("the home is the same from everywhere, and another folder that is not whole is refused", async (context) => {
  const home = process.env.HOME;
  context.after(() => (process.env.HOME = home));
  process.env.HOME = folder;
  await folderStore("~/device").set("breakfast", "{}");
  assert.deepEqual(readdirSync(join(folder, "device")), ["breakfast.json"]);
  for (const relative of ["device", "./device", "", "~somebody/device"]) {
    assert.throws(() => folderStore(relative), /is given by its whole path, such as \/home\/me\/.breakfast or ~\/.breakfast/);
  }
});

test("a name is no path", async () => {
  writeFileSync(join(folder, "config.json"), '{"my":"settings"}');
  for (const name of ["../config", "a/b", "", ".", "_spent", "Breakfast", "a".repeat(64), "b\n", "a.b", "a%2f", 5]) {
    const options = { store: folderStore(join(folder, "device")), maxEpsilon: 1, send: () => assert.fail("somebody was asked") };
    assert.throws(
      () => new Participant("https://studies.example", name, options),
      (error) => error instanceof Refused && /^The name of a study is small letters, digits and dashes, 63 at most; /.test(error.message),
    );
  }
  assert.deepEqual(readdirSync(folder), ["config.json"]);
  await assert.rejects(folderStore(join(folder, "device")).set("../config", "{}"), /no path/);
  assert.equal(readFileSync(join(folder, "config.json"), "utf8"), '{"my":"settings"}');
});

test("what is given in all studies adds up", async () => {
  const store = folderStore(folder);
  for (const study of ["one", "two"]) await new Spending(store).charge(study, "1", "2.5");
  const limited = (maxTotalEpsilon, more = {}) => participant(new Service(), { maxTotalEpsilon, ...more }).takePart([1]);
  await assert.rejects(limited("2.5"), (error) => {
    assert.equal(error.message, "The question asks for epsilon 1. This device has given 2 in other studies, and gives at most 2.5 in all.");
    return error instanceof Refused;
  });
  assert.equal(kept().report, undefined);
  assert.equal(await store.get("_spent"), '{"spent":[["one","1"],["two","1"]]}');
  await assert.rejects(limited(3, { maxEpsilon: "1/2" }), /gives at most 0.5/);
  await assert.rejects(participant(new Service(), { maxTotalEpsilon: 3 }).takePart(["bread"]), /whole numbers/);
  assert.equal(await limited(3), "counted");
  assert.equal(await limited(3), "already-counted");
  await assert.rejects(new Spending(store).charge("three", "1", 3), /has given 3 in other studies/);
  for (const most of [0, -1, "many", NaN]) {
    await assert.rejects(new Spending(store).charge("three", "1", most), /maxTotalEpsilon is the largest epsilon/);
  }
  for (const text of ["", "[]", '{"spent":7}', '{"spent":[["one"]]}', '{"spent":[["one",1]]}']) {
    writeFileSync(join(folder, "_spent.json"), text);
    await assert.rejects(new Spending(store).charge("three", "1"), /is damaged: it answers no more/);
  }
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
  "a study for some": [[403, refusal("not-for-anyone", "The study is for some")], Refused, /does not answer: The study is for some/],
  "a network that wants a login": [[403, "<html>"], Unreached, /cannot answer now .status 403/],
  "a network that says that all is well": [[200, "<html>"], Unreached, /cannot answer now .status 200/],
  "somebody else's words": [[404, { title: "There is nothing here" }], Unreached, /cannot answer now .status 404/],
  "too many requests": [[429, refusal("too-many")], Unreached, /cannot answer now/],
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
    const one = participant(service, { token: undefined, send: asked, take });
    await assert.rejects(one.takePart([1]), (error) => error instanceof kind && why.test(error.message));
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

test("a stored report goes to no service with another key", async () => {
  const service = new Service();
  await participant(service).takePart([1]);
  const sent = service.bodies.length;
  await assert.rejects(participant(service, { key: FOREIGN }).takePart([1]), /under another key than it was given now/);
  assert.equal(service.bodies.length, sent);
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
  const unknown = JSON.stringify(refusal("unknown-study", "No study has this name"));
  await assert.rejects(answering(404, unknown), /does not answer: No study has this name/);
  await assert.rejects(answering(500, "{}"), Unreached);
  await assert.rejects(answering(200, "<html>"), Unreached);
  await assert.rejects(answering(200, "{}"), /The study is not written as format 1 has it/);
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

const SPELT = CASES.find((one) => one.what === "texts of a study without a list");

/** Take part by a clock that stands still, but for what each answer takes; return the last delay before the sending. */
async function delayed(context, taken, pause) {
  let clock = 0;
  const delays = [];
  const { setTimeout: later } = globalThis;
  const { encode } = TextEncoder.prototype;
  context.mock.method(performance, "now", () => clock);
  context.mock.method(globalThis, "setTimeout", (work, wait, ...rest) => {
    delays.push(wait);
    return later(work, 0, ...rest);
  });
  // Every answer ends with its report, as bytes: two of the rehearsal, and its own.
  context.mock.method(TextEncoder.prototype, "encode", function (text) {
    if (text?.startsWith('{"value":')) clock += taken.shift();
    return encode.call(this, text);
  });
  const service = new Service();
  Object.assign(service, { study: SPELT.study, questions: SPELT.questions });
  const store = localStore({ getItem: () => null, setItem: () => {} });
  const take = (count) => new Uint8Array(count);
  assert.equal(await participant(service, { store, pause, take }).takePart([], { texts: ["a"] }), "counted");
  context.mock.restoreAll();
  return delays.at(-1);
}

test("the answer is sent at a moment that was chosen before it was made, and later than the longest one", async (context) => {
  // The pause where answers are quick, four times the rehearsal where they are not; of that, what the own answer took is over.
  assert.equal(await delayed(context, [10, 10, 0], 1000), 1000);
  assert.equal(await delayed(context, [10, 10, 20], 1000), 980);
  assert.equal(await delayed(context, [1000, 700, 0], 1000), 6800);
  assert.equal(await delayed(context, [1000, 700, 2000], 1000), 4800);
  // One that was held up is sent at the next of the same moments: 33,300 after the beginning comes 35,000.
  assert.equal(await delayed(context, [10, 10, 33_300], 5000), 1700);
});

test("a rehearsal holds as much as a device answers for, all of it what the question names", () => {
  const spelt = { begin: ["", "ab", "é😀\n"], alphabet: "abé😀", step: 1, length: 9 };
  for (const own of fullest({ ask: "which", of: 99, texts: spelt })) {
    assert.deepEqual(deviceData(own.basket, own).texts, own.texts);
    const symbols = own.texts.reduce((sum, text) => sum + [...text].length + 1, 0);
    assert.ok(symbols > 0.99 * MOST_SYMBOLS_HELD && symbols <= MOST_SYMBOLS_HELD);
  }
  for (const question of [{ of: 10 }, { of: [[7, 8, 9], 5] }, { of: [[7, 8]], order: [5, 4] }, { of: [[7, 8]], pairs: "given" }, { of: [[7, 8]], pairs: "after" }]) {
    const [own] = fullest(question);
    const held = deviceData(own.basket, own);
    assert.equal(held.items.length, MOST_HELD);
    assert.ok(question.of === 10 || held.items[0] === 7);
    for (const kind of ["given", "after"]) {
      assert.equal(held[kind].length, question.pairs === kind ? MOST_HELD : 0);
      assert.ok(question.pairs !== kind || `${held[kind][0]}` === "7,8");
    }
  }
});

test("what was given elsewhere shows in nothing", async () => {
  const service = new Service();
  await new Spending(folderStore(folder)).charge("lunch", "1/2");
  const one = participant(service, { maxTotalEpsilon: 1, token: undefined });
  await assert.rejects(one.takePart([1]), /has given 0.5 in other studies, and gives at most 1 in all/);
  assert.deepEqual(service.requests, ["GET ", "GET /questions"]);
});

test("a basket that is none shows in nothing", async () => {
  const cases = [
    [["tea"], {}, /A basket holds whole numbers/],
    [[1.5], {}, /A basket holds whole numbers/],
    [[1], { given: [[1, 2, 3]] }, /A relation is a pair of two items/],
    [[], { texts: [1] }, /asks for texts/],
  ];
  const service = new Service();
  for (const [basket, own, why] of cases) await assert.rejects(participant(service).takePart(basket, own), why);
  assert.deepEqual(service.requests, []);
  assert.deepEqual(readdirSync(folder), []);
  service.outcome = () => { throw new Unreached("no answer"); };
  await assert.rejects(participant(service).takePart([1]), Unreached);
  service.outcome = () => [200, { outcome: "counted" }];
  assert.equal(await participant(service).takePart(["tea"]), "counted"); // a report that was made is not kept back
});
