"""Bugs planted in the device: some golden vector fails for each, so that vectors certify a port to a further language."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest

import discreet.local
from discreet.local.device import _limits as limits
from discreet.local.oracle_steps import means
from vectors import make
from vectors.reading import failures

HOME = Path(discreet.local.__file__).parent / "device"
# ruff: noqa: E501
FILES = ("client", "answering", "draws", "trust", "loss", "limits")
CASES = ["edges", *means(), "refused", *make.LIVE, "published", "further", "related", "texts", "held", "spaced"]

PLANTED = {
    "words are not drawn again": ("draws", "if word < WORD - WORD % bound:", "if True:"),
    "words are drawn again too seldom": ("draws", "if word < WORD - WORD % bound:", "if word <= WORD - WORD % bound:"),
    "words are drawn again too often": ("draws", "if word < WORD - WORD % bound:", "if word < WORD - WORD % bound - 1:"),
    "a word is drawn where there is no choice": ("draws", "while bound > 1:", "while bound > 0:"),
    "the most significant byte first": ("draws", 'self.take(4), "little"', 'self.take(4), "big"'),
    "the second word of a place first": ("draws", "number = self.word() + WORD * self.word()", "number = WORD * self.word() + self.word()"),
    "a place inside by one too few": ("draws", "if number < weight * inside:", "if number < weight * inside - 1:"),
    "places outside begin at none": ("draws", "return inside + (number", "return (number"),
    "a chance by one too many": ("draws", "return self.word() < threshold", "return self.word() <= threshold"),
    "seeds that are even": ("draws", "return self.word() | 1, self.word()", "return self.word(), self.word()"),
    "published seeds that are even": ("draws", "hash_item(_FAMILY, 2 * number) | 1,", "hash_item(_FAMILY, 2 * number),"),
    "published seeds of one half": ("draws", "hash_item(_FAMILY, 2 * number + 1)", "hash_item(_FAMILY, 2 * number)"),
    "another family of seeds": ("draws", "0x9E3779B9", "0x9E3779B1"),
    "published seeds and a share": ("loss", '"seeds" not in oracle or "share" not in oracle', "True"),
    "points without published seeds": ("loss", '("seeds" in oracle) == ("points" in oracle)', '"seeds" not in oracle or "points" in oracle'),
    "published seeds without points": ("loss", '("seeds" in oracle) == ("points" in oracle)', '"points" not in oracle or "seeds" in oracle'),
    "a loss of all points": ("loss", 'oracle.get("points", WORD)', "WORD"),
    "few points by their rest": ("client", "hash_item(seed, value) * points >> 32", "hash_item(seed, value) % points"),
    "a place among all points": ("client", "inside, points - inside)", "inside, WORD - inside)"),
    "any number of published seeds": ("loss", " or seeds & (seeds - 1)", ""),
    "hashes of 53 bits": ("draws", "value = item * seed[0] + seed[1] & MASK", "value = int(float(item * seed[0]) + seed[1]) & MASK"),
    "another mix": ("draws", "0xD35A2D97", "0xD35A2D99"),
    "some that may repeat": ("draws", "swapped = position + self.below(len(values) - position)", "swapped = self.below(len(values))"),
    "others among those to be left out": ("draws", "if number not in without:", "if True:"),
    "dummies that are all alike": ("client", '(position - len(values)) % oracle["dummies"]', "0"),
    "dummies that never end": ("client", '(position - len(values)) % oracle["dummies"]', "(position - len(values))"),
    "sampling that never pads": ("client", 'draws.below(max(len(values), oracle["pad"]))', "draws.below(max(len(values), 1))"),
    "the place after the own one": ("client", "place - (place <= symbol)", "place - (place < symbol)"),
    "the bucket after the own one": ("client", "place - (place <= bucket)", "place - (place < bucket)"),
    "buckets of 53 bits": ("client", 'hash_item(seed, symbol) * oracle["buckets"] >> 32', 'hash_item(seed, symbol) % oracle["buckets"]'),
    "every set of a hit is kept": ("client", "draws.below(len(subset & own_set)) == 0", "True"),
    "arcs that do not go round": ("client", "end = max(starts[-1] + arc - points, 0) if starts else 0", "end = 0"),
    "arcs longer by one": ("client", "min(start + arc, points)", "min(start + arc + 1, points)"),
    "points of other numbers": ("client", "divmod(number - 1, field)", "divmod(number, field)"),
    "points that all meet": ("client", "(product - partial) % field", "-partial % field"),
    "points that meet the other way round": ("client", "own_point[dimension - 1 - position] * vector[position]", "own_point[position] * vector[position]"),
    "points that never meet by one alone": ("client", "+ behind, product + 1", "+ behind, 1"),
    "digits the other way round": ("client", "for power in range(lead - 1, -1, -1)]", "for power in range(lead)]"),
    "any number of symbols for a space": ("loss", ' or oracle["size"] + oracle["dummies"] > count_space_points(field, coordinates)', ""),
    "a space without a field": ("loss", "if min(field, coordinates) < 2", "if coordinates < 2"),
    "a loss that leaves the space out": ("loss", 'odds(oracle["hit"]) * Fraction(misses, hits)', 'odds(oracle["hit"])'),
    "windows that do not move": ("client", '(_clip(oracle, values) + oracle["span"]) * oracle["step"]', "0"),
    "a sign that leans the other way": ("client", 'oracle["slope"] * _clip', '-oracle["slope"] * _clip'),
    "pairs in time for those given": ("client", 'data.after if checked_question.get("pairs") == "after" else data.given', "data.given"),
    "a number that is not clipped": ("client", "return min(max(values[0], -span), span)", "return int(values[0])"),
    "a projection rounded down": ("answering", "+ high - low) // (2", ") // (2"),
    "a projection in floating point": ("answering", "+ high - low) // (2 * (high - low)) - span", "+ high - low) / (2 * (high - low)) - span"),
    "pairs of an entry with its own items": ("answering", "(partner_weights.get(chain[-1], 0) - inner)", "partner_weights.get(chain[-1], 0)"),
    "bonds that need no pair": ("answering", "leads = held_flags[code] or len(chain) == 1", "leads = True"),
    "items below a number and one more": ("answering", "if 0 <= item < candidates)\n    else", "if 0 <= item <= candidates)\n    else"),
    "the bin before": ("answering", "bisect_right(question[\"bins\"], len(values)) - 1", "bisect_right(question[\"bins\"], len(values) - 1) - 1"),
    "a prefix that goes on": ("answering", '[: question["length"]]', ""),
    "cells the other way round": ("answering", "1 << bit for bit, item in enumerate(candidates)", "1 << bit for bit, item in enumerate(reversed(candidates))"),
    "relations whatever their order": ("answering", "_has_all(pairwise(chain), pairs)", "_has_all(map(tuple, map(sorted, pairwise(chain))), pairs)"),
    "keys that are absent": ("answering", 'question["absent"] and candidate[0] in items', "candidate[0] in items"),
    "all items are answered for": ("answering", "whole_numbers(islice(basket, MOST_HELD))", "whole_numbers(basket)"),
    "an item too few is answered for": ("answering", "whole_numbers(islice(basket, MOST_HELD))", "whole_numbers(islice(basket, MOST_HELD - 1))"),
    "all pairs are answered for": ("answering", "in islice(pairs, MOST_HELD)]", "in pairs]"),
    "a pair too few is answered for": ("answering", "in islice(pairs, MOST_HELD)]", "in islice(pairs, MOST_HELD - 1)]"),
    "all texts are answered for": ("answering", "        if symbols_left < 0:\n            break\n", ""),
    "a symbol too few is answered for": ("answering", "if symbols_left < 0:", "if symbols_left <= 0:"),
    "texts after one too many are answered for": ("answering", "        if symbols_left < 0:\n            break\n", "        if symbols_left < 0:\n            symbols_left += len(text) + 1\n            continue\n"),
    "the ends of texts are not counted": ("answering", "len(text) + 1 if isinstance", "len(text) if isinstance"),
    "texts are counted in bytes": ("answering", "len(text) + 1 if isinstance", "len(text.encode()) + 1 if isinstance"),
    "any space around a question": ("trust", "            text.decode(),\n            object_pairs_hook", "            text.decode().strip(),\n            object_pairs_hook"),
    "texts without their end": ("answering", "ended_text = text + END", "ended_text = text"),
    "texts of any length": ("answering", 'not 0 < len(text) <= coding["length"] or', "not text or"),
    "texts that are empty": ("answering", "not 0 < len(text) <=", "not len(text) <="),
    "texts of any symbols": ("answering", " or sum([symbol not in digits for symbol in text])", ""),
    "ends that are symbols": ("answering", 'enumerate(coding["alphabet"], start=1)', 'enumerate(coding["alphabet"])'),
    "steps of one symbol": ("answering", "ended_text[length : length + step]", "ended_text[length : length + 1]"),
    "the first beginning alone": ("answering", "numbers.add(number * base ** (step - len(following)))", "return [number * base ** (step - len(following))]"),
    "ends that are cut off": ("answering", "base ** (step - len(following))", "1"),
    "items in the place of texts": ("client", '("texts" in question) is (texts is None)', '"texts" in question and texts is None'),
    "texts in the place of items": ("client", '("texts" in question) is (texts is None)', 'texts is not None and "texts" not in question'),
    "an alphabet with an end": ("trust", "or END in symbols", ""),
    "symbols that are there twice": ("trust", "0 < len(symbols) == len(alphabet)", "0 < len(symbols)"),
    "halves of characters": ("trust", ' or any("\\ud800" <= symbol <= "\\udfff" for symbol in symbols)', ""),
    "beginnings that are there twice": ("trust", "0 < len(set(begin)) == len(begin)", "0 < len(set(begin))"),
    "beginnings of any symbols": ("trust", "or any(set(stem) - symbols for stem in stems)", ""),
    "beginnings of any length": ("trust", 'if any(len(stem) > coding["length"] for stem in stems):', "if False:"),
    "an end that counts as a symbol": ("trust", "text.removesuffix(END) for text in begin]", "text for text in begin]"),
    "texts of anything": ("trust", 'if kind not in _TEXT_KINDS or "pairs" in question:', "if False:"),
    "any epsilon": ("trust", '("epsilon", epsilon, epsilon_limit)', '("epsilon", epsilon, epsilon)'),
    "any delta": ("trust", '("delta", delta, delta_limit)', '("delta", delta, delta)'),
    "probabilities that are not looked at": ("trust", "if true_ratio > exp_lower_bound(epsilon) or true_delta > delta:", "if False:"),
    "a delta that is hidden": ("trust", "or true_delta > delta:", "or False:"),
    "answers the oracle has no place for": ("trust", "value_count == oracle[\"size\"]", "True"),
    "nothing for the empty-handed": ("trust", '(oracle["dummies"] > 0 or oracle["oracle"] == "wheel")', "True"),
    "fields that are there twice": ("trust", "if len(dict(pairs)) < len(pairs):", "if False:"),
    "any whole number": ("trust", " or not -MOST_RANGE <= int(digits) <= MOST_RANGE", ""),
    "any whole number below": ("trust", "-MOST_RANGE <= int(digits) <=", "int(digits) <="),
    "numbers with a point": ("trust", "parse_float=_refuse,", "parse_float=lambda text: int(float(text)),"),
    "one dummy for all of the padding": ("loss", "Fraction(1, pad) if dummies >= pad else Fraction(1)", "Fraction(1, pad)"),
}  # fmt: skip
# Limits that do not hold, or that are other ones, and what the cases are about that tell.
UNLIMITED = {
    "questions of any length": ("trust", "if len(text) > most:", "if False:", "bytes: "),
    "any number of numbers": ("trust", "if entries_left < 0:", "if False:", "numbers"),
    "any item": ("trust", "if items and not 0 <= min(items) <= max(items) <= MOST_ITEM:", "if False:", "an item"),
    "any number of cells": ("trust", "<= MOST_CELLS:", "<= 99:", "cells"),
    "any weight": ("trust", "> MOST_WEIGHT or", "> 1 << 60 or", "weights"),
    "any range": ("trust", "> MOST_RANGE:", "> 1 << 60:", "high"),
    "any padding": ("loss", 'or pad > loss.largest', "", "padding"),
    "any number of symbols": ("loss", 'symbols > loss.largest', "False", "candidates and"),
    "any share": ("loss", 'or oracle.get("share", 0) > MOST_SHARE', "", "what may"),
    "reports of any length": ("loss", "loss.longest(oracle) > MOST_REPORT", "False", "bytes of"),
    "as many attempts as it takes": ("loss", "if subset_size * own_count > MOST_MET * symbols:", "if False:", "own values"),
    "any number of points": ("loss", "(field > 1 and count_space_points(field, coordinates) > MOST_POINTS)", "False", "points of"),
    "lists within lists within lists": ("trust", "if level and depth == MOST_DEPTH:", "if False:", "lists within"),
    "any number of texts": ("trust", 'if len(begin) * (len(symbols) + 1) ** coding["step"] > MOST_SYMBOLS:', "if False:", "numbers of"),
    **{
        f"{name} is one more": ("limits", f"\n{name} = ", f"\n{name} = 1 + ", prefix)
        for name, prefix in {
            "MOST_QUESTION": "bytes: ",
            "MOST_NUMBERS": "numbers",
            "MOST_DEPTH": "lists within",
            "MOST_DIGITS": "digits",
            "MOST_EPSILON": "epsilon",
            "MOST_ITEM": "an item",
            "MOST_SYMBOLS": "candidates:",
            "MOST_TEXT": "symbols of a text",
            "MOST_CELLS": "cells",
            "MOST_WEIGHT": "weights",
            "MOST_RANGE": "low",
            "MOST_SHARE": "what may",
            "MOST_SUBSET": "symbols",
            "MOST_POINTS": "points of",
            "MOST_MET": "own values",
            "MOST_REPORT": "bytes of",
        }.items()
    },
}  # fmt: skip


@pytest.fixture
def device(tmp_path, monkeypatch):
    """Return a function that imports the device's files with a piece of one file exchanged."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def imported(name="", before="", after=""):
        home = tmp_path / "planted"
        home.mkdir()
        (home / "__init__.py").write_text("")
        for file in FILES:
            shutil.copy(HOME / f"_{file}.py", home)
        if name:
            text = (home / f"_{name}.py").read_text()
            assert text.count(before) == 1, (name, before)
            (home / f"_{name}.py").write_text(text.replace(before, after))
        return importlib.import_module("planted._client").client

    yield imported
    for name in [name for name in sys.modules if name.partition(".")[0] == "planted"]:
        del sys.modules[name]


def test_a_copy_of_the_device_passes(device):
    assert list(failures(device(), CASES)) == []


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_fails_a_vector(device, bug):
    assert next(failures(device(*PLANTED[bug]), CASES), "")


@pytest.mark.parametrize("bug", UNLIMITED)
def test_a_limit_that_does_not_hold_fails_a_vector(device, bug):
    *planted, prefix = UNLIMITED[bug]
    assert next(failures(device(*planted), ["limits"], prefix), "")


def test_every_limit_is_planted_in():
    limits_by_name = {name for name in vars(limits) if name.startswith("MOST_")}
    assert {bug.partition(" ")[0] for bug in UNLIMITED if bug.endswith("one more")} == limits_by_name
