// What people are told of their report: what it names, and who else would have sent it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { chanceOf } from "../dist/chances.js";
import { check } from "../dist/trust.js";
import { askedInWords, mostRatio, namedBy, near, othersOf, timesAs, valueInWords } from "../dist/telling.js";

const FOLDER = new URL("../../../tests/vectors/v1/", import.meta.url);
const cases = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8"));
const ITEMS = ["bread", "butter", "cheese", "tea", "milk", "jam", "eggs", "ham", "salt", "rice"];
const GRR = { format: 1, ask: "which", of: 10, epsilon: "1/2" };
GRR.oracle = { oracle: "grr", size: 10, pad: 2, dummies: 2, inside: "3187104170844616126" };

for (const name of ["grr", "olh", "subset", "privset", "wheel", "geometry", "related", "further"]) {
  test(`every report of ${name}.json has words and chances`, () => {
    for (const { question: form, report, basket, given = [], after = [], max_delta: delta } of cases(name)) {
      const question = check(form, 64, delta);
      const told = JSON.parse(report);
      const chance = chanceOf(question, basket, told, form.pairs === "after" ? after : given);
      assert.ok(0 < near(chance) && near(chance) <= 1);
      assert.match(askedInWords(question), /\w/);
      for (const value of namedBy(question, told) ?? []) assert.match(valueInWords(question, value, ITEMS), /\w/);
      const others = othersOf(question, told, 10, basket);
      // What is promised holds for all that are shown.
      assert.ok(timesAs(others[0].chance, others.at(-1).chance) <= mostRatio(question) * (1 + 1e-9) || delta !== undefined);
      assert.ok(mostRatio(question) <= Math.exp(64));
    }
  });
}

test("chances of all reports add up to one", () => {
  for (const basket of [[], [3], [0, 1, 2, 3, 4]]) {
    const chances = Array.from({ length: 12 }, (_, value) => chanceOf(GRR, basket, { value }));
    assert.equal(chances.reduce((sum, [over]) => sum + over, 0n), chances[0][1]);
    assert.ok(chances.every(([, under]) => under === chances[0][1]));
  }
});

test("other baskets, the likeliest first, as likely ones together", () => {
  const others = othersOf(GRR, { value: 4 }, 10, [4, 7]);
  const row = ({ what, items }) => [what, items];
  const rest = [0, 1, 2, 3, 5, 6, 8, 9];
  assert.deepEqual(others.map(row), [
    // With a padding of 2, one of two is sampled: as likely the one that is named with another as with a stand-in.
    ["own", []],
    ["alone", [4]],
    ["without", [7]],
    ["with", rest],
    ["nothing", []],
    ["alone", [0, 1, 2, 3, 5, 6, 7, 8, 9]],
    ["without", [4]],
  ]);
  assert.equal(timesAs(others[0].chance, others[1].chance), 1);
  assert.ok(timesAs(others[0].chance, others[4].chance) > 1.2);
  assert.deepEqual(othersOf(GRR, { value: 4 }, 10).map(row), [["alone", [4]], ["nothing", []], ["alone", [...rest, 7].sort()]]);
});

test("values in words", () => {
  const words = (form, value) => valueInWords({ oracle: { size: 9 }, ...form }, value, ITEMS);
  assert.equal(words({ ask: "which", of: 10 }, 3), "tea");
  assert.equal(words({ ask: "which", of: 10 }, 9), "none of them (a stand-in)");
  assert.equal(words({ ask: "which", of: [[0, 1], 2] }, 0), "bread + butter");
  assert.equal(words({ ask: "which", of: [[0, 1]], pairs: "after" }, 0), "bread → butter");
  assert.equal(words({ ask: "valued", of: [[0, 1]], pairs: "together" }, 1), "bread → butter: both");
  assert.equal(words({ ask: "cells", of: [0, 1, 2] }, 5), "bread + cheese");
  assert.equal(words({ ask: "cells", of: [0, 1, 2] }, 0), "nothing");
  assert.equal(words({ ask: "prefix", of: [[0, 1]] }, 1), "any other");
  assert.deepEqual([0, 1, 2].map((value) => words({ ask: "how-many", of: 10, bins: [0, 1, 4] }, value)), ["0", "1 to 3", "4 or more"]);
});

test("fractions longer than numbers", () => {
  assert.equal(near([1n, 3n]), 1 / 3);
  assert.equal(near([0n, 3n]), 0);
  assert.ok(Math.abs(near([10n ** 400n, 4n * 10n ** 400n]) - 0.25) < 1e-12);
  assert.ok(Math.abs(near([1n, 10n ** 300n]) / 1e-300 - 1) < 1e-9);
  assert.equal(timesAs([1n, 10n ** 400n], [1n, 2n * 10n ** 400n]), 2);
});
