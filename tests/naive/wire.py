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


def values_of(question, basket):
    of = question["of"]
    if question["ask"] == "prefix":
        kept = []
        for item in question["order"]:
            if item in basket and len(kept) < question["length"]:
                kept.append(item)
        return [next((at for at, one in enumerate(of) if one == kept), len(of))]
    if isinstance(of, int):
        values = sorted({item for item in basket if item < of})
    else:
        itemsets = [one if isinstance(one, list) else [one] for one in of]
        values = [at for at, itemset in enumerate(itemsets) if all(item in basket for item in itemset)]
    if question["ask"] == "how-many":
        return [max(at for at, least in enumerate(question["bins"]) if least <= len(values))]
    return values


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
        data = [sum(bit << at for at, bit in enumerate(bits[first : first + 8])) for first in range(0, len(bits), 8)]
        return {"bits": "".join(f"{byte:02x}" for byte in data)}
    seed = words.seed()
    bucket = hashed(seed, own) * oracle["buckets"] // WORD
    return {"seed": seed, "value": other_than(bucket, words.place(int(oracle["inside"]), 1, oracle["buckets"] - 1))}


def written(report):
    return json.dumps(report, separators=(",", ":"))
