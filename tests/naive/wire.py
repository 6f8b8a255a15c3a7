"""A device written from `docs/wire.md` alone: nothing of the package is used."""

from __future__ import annotations

import json
from itertools import pairwise

WORD = 2**32


class Words:
    def __init__(self, data):
        self.data = data

    def word(self):
        taken, self.data = self.data[:4], self.data[4:]
        assert len(taken) == 4
        return sum(byte << 8 * at for at, byte in enumerate(taken))

    def seed(self):
        first = self.word()
        return [first | 1, self.word()]

    def chance(self, threshold):
        return self.word() < threshold

    def below(self, bound):
        if bound <= 1:
            return 0
        while True:
            word = self.word()
            if word < WORD - WORD % bound:
                return word % bound

    def place(self, weight, inside, outside):
        low = self.word()
        x = low + WORD * self.word()
        return x // weight if x < weight * inside else inside + (x - weight * inside) % outside

    def bits(self, count, threshold):
        words = [0] * -(-count // 32)
        lowest = next(bit for bit in range(32) if threshold >> bit & 1)
        for bit in range(lowest, 32):
            fair = [self.word() for _ in words]
            if threshold >> bit & 1:
                words = [a | b for a, b in zip(words, fair, strict=True)]
            else:
                words = [a & b for a, b in zip(words, fair, strict=True)]
        return [words[at // 32] >> at % 32 & 1 for at in range(count)]

    def some(self, many, values):
        values = list(values)
        if len(values) <= many:
            return values
        for at in range(many):
            other = at + self.below(len(values) - at)
            values[at], values[other] = values[other], values[at]
        return values[:many]


def hashed(seed, item):
    h = (seed[0] * item + seed[1]) % WORD
    h = (h ^ (h >> 16)) * 0x21F0AAAD % WORD
    h = (h ^ (h >> 15)) * 0xD35A2D97 % WORD
    return h ^ (h >> 15)


def values_of(question, basket, own=()):
    of = question["of"]
    if question["ask"] == "cells":
        return [sum(2**place for place, item in enumerate(of) if item in basket)]
    if question["ask"] == "valued":
        values = []
        for place, (first, second) in enumerate(of):
            has = [first, second] in own if question["pairs"] != "together" else first in basket and second in basket
            if has:
                values.append(2 * place + 1)
            elif question["absent"] and first in basket:
                values.append(2 * place)
        return values
    if question["ask"] == "prefix":
        kept = []
        for item in question["order"]:
            if item in basket and len(kept) < question["length"]:
                kept.append(item)
        return [next((at for at, one in enumerate(of) if one == kept), len(of))]
    if question["ask"] == "projection":
        return [on_grid(question, projected(question, basket, own))]
    if isinstance(of, int):
        values = sorted({item for item in basket if item < of})
    else:
        lists = [one if isinstance(one, list) else [one] for one in of]
        if question.get("pairs", "together") != "together":
            values = [at for at, one in enumerate(lists) if linked(one, own)]
        else:
            values = [at for at, one in enumerate(lists) if all(item in basket for item in one)]
    if question["ask"] == "how-many":
        return [max(at for at, least in enumerate(question["bins"]) if least <= len(values))]
    return values


def linked(items, own):
    return all([items[at], items[at + 1]] in own for at in range(len(items) - 1))


def projected(question, basket, own):
    of, left, right = question["of"], question["left"], question["right"]
    if question["pairs"] == "folded":
        side = len(left)
        return sum(left[item // side] * right[item % side] for item in set(basket) if item < of)
    lists = [one if isinstance(one, list) else [one] for one in of]
    if question["pairs"] == "together":
        held = [at for at, one in enumerate(lists) if all(item in basket for item in one)]
        return sum(left[at] for at in held) * sum(right[at] for at in held)
    total = 0
    for at, one in enumerate(lists):
        if one[0] in basket if len(one) == 1 else linked(one, own):
            total += left[at] * right[at]
        for pair in own:
            if pair[0] == one[-1] and pair[1] not in one and [pair[1]] in lists and linked(one, own):
                total += left[at] * right[lists.index([pair[1]])]
    return total


def on_grid(question, number):
    span, width = question["oracle"]["span"], question["high"] - question["low"]
    clipped = sorted([question["low"], number, question["high"]])[1]
    return (4 * span * (clipped - question["low"]) + width) // (2 * width) - span if width else 0


def symbol(oracle, values, words):
    drawn = words.below(max(len(values), oracle["pad"]))
    if drawn < len(values):
        return values[drawn]
    return oracle["size"] + (drawn - len(values)) % oracle["dummies"]


def other_than(own, place):
    if place == 0:
        return own
    return place - 1 if place <= own else place


def subset(oracle, own, words):
    hit = words.chance(oracle["hit"])
    while True:
        members = [own[words.below(len(own))]] if hit else []
        while len(members) < oracle["many"]:
            x = words.below(oracle["size"] + oracle["dummies"])
            if x not in members and (hit or x not in own):
                members.append(x)
        if not hit or words.below(sum(one in own for one in members)) == 0:
            return {"values": sorted(members)}


def wheel(oracle, own, seed, words):
    """Take the circle apart at every end of an arc, and go through the pieces in order."""
    starts = [hashed(seed, x) for x in own]
    edges = sorted({0, WORD, *starts, *((start + oracle["arc"]) % WORD for start in starts)})
    pieces = [(a, b, any((a - start) % WORD < oracle["arc"] for start in starts)) for a, b in pairwise(edges)]
    inside = sum(b - a for a, b, over in pieces if over)
    number = words.place(int(oracle["inside"]), inside, WORD - inside)
    within = number < inside
    number -= 0 if within else inside
    for a, b, over in pieces:
        if over == within:
            if number < b - a:
                return {"seed": seed, "point": a + number}
            number -= b - a
    raise AssertionError


def number(oracle, n, words):
    if oracle["oracle"] == "hm":
        kind = "pm" if words.chance(oracle["choose"]) else "duchi"
        return {kind: number(oracle[kind], n, words)}
    n = sorted([-oracle["span"], n, oracle["span"]])[1]
    if oracle["oracle"] == "duchi":
        return {"sign": 1 if words.chance(2**31 + oracle["slope"] * n) else 0}
    first = (n + oracle["span"]) * oracle["step"]
    place = words.place(int(oracle["inside"]), oracle["window"], oracle["points"] - oracle["window"])
    if place < oracle["window"]:
        return {"point": first + place}
    rest = place - oracle["window"]
    return {"point": rest if rest < first else rest + oracle["window"]}


def digits(bits):
    data = [sum(bit << at for at, bit in enumerate(bits[first : first + 8])) for first in range(0, len(bits), 8)]
    return "".join(f"{byte:02x}" for byte in data)


def answer(oracle, values, words):
    name = oracle["oracle"]
    if name == "wheel":
        own = words.some(oracle["pad"], values)
        return wheel(oracle, own, words.seed(), words)
    if name == "privset":
        own = words.some(oracle["pad"], values)
        return subset(oracle, own + [oracle["size"] + at for at in range(oracle["pad"] - len(own))], words)
    own = symbol(oracle, values, words)
    if name == "subset":
        return subset(oracle, [own], words)
    if name == "grr":
        return {"value": other_than(own, words.place(int(oracle["inside"]), 1, oracle["size"] + oracle["dummies"] - 1))}
    if name == "hr":
        row = words.below(oracle["rows"])
        sign = bin(row & (own + 1)).count("1") % 2
        return {"row": row, "sign": sign if words.chance(oracle["keep"]) else 1 - sign}
    if name in ("oue", "sue"):
        bits = words.bits(oracle["size"], oracle["lie"])
        if own < oracle["size"]:
            bits[own] = int(words.chance(oracle["keep"]))
        return {"bits": digits(bits)}
    if name == "pckv-ue":
        many = -(-oracle["size"] // 2)
        told = words.bits(many, oracle["lie"])
        signs = words.bits(many, 2**31)
        if words.chance(oracle["keep"]) and own < oracle["size"] and told[own // 2] == 0:
            told[own // 2], signs[own // 2] = 1, own % 2
        return {"told": digits(told), "signs": digits([a * b for a, b in zip(told, signs, strict=True)])}
    seed = words.seed()
    bucket = hashed(seed, own) * oracle["buckets"] // WORD
    return {"seed": seed, "value": other_than(bucket, words.place(int(oracle["inside"]), 1, oracle["buckets"] - 1))}


def written(report):
    return json.dumps(report, separators=(",", ":"))
