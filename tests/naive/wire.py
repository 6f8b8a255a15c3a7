"""A device written from `docs/wire.md` alone: nothing of the package is used."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb

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


def family(number):
    first, second = (hashed((1, 0x9E3779B9), 2 * number + at) for at in (0, 1))
    return first if first % 2 else first + 1, second


def number_of_text(told, begin, text):
    """Return the number of a text that begins so, or None where it does not, or is no text of the alphabet."""
    if not 1 <= len(text) <= told["length"] or any(symbol not in told["alphabet"] for symbol in text):
        return None
    symbols = ["\n", *told["alphabet"]]
    padded = text + "\n"
    if not padded.startswith(begin):
        return None
    padded = padded[len(begin) :].ljust(told["step"], "\n")[: told["step"]]
    number = told["begin"].index(begin)
    for symbol in padded:
        number = number * len(symbols) + symbols.index(symbol)
    return number


def values_of(question, basket, own=()):
    of = question["of"]
    if "texts" in question:
        told = question["texts"]
        basket = {number_of_text(told, begin, text) for begin in told["begin"] for text in basket} - {None}
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


def wheel(oracle, own, told, seed, words):
    """Take the circle apart at every end of an arc, and go through the pieces in order."""
    n = oracle.get("points", WORD)
    starts = [hashed(seed, x) * n // WORD for x in own]
    edges = sorted({0, n, *starts, *((start + oracle["arc"]) % n for start in starts)})
    pieces = [(a, b, any((a - start) % n < oracle["arc"] for start in starts)) for a, b in pairwise(edges)]
    inside = sum(b - a for a, b, over in pieces if over)
    number = words.place(int(oracle["inside"]), inside, n - inside)
    within = number < inside
    number -= 0 if within else inside
    for a, b, over in pieces:
        if over == within:
            if number < b - a:
                return {"seed": told, "point": a + number}
            number -= b - a
    raise AssertionError


def point_of(number, q, t):
    if number == 0:
        return [0] * (t - 1) + [1]
    return [*point_of((number - 1) // q, q, t - 1), (number - 1) % q]


def number_of(point, q):
    if sum(point[:-1]) == 0:
        return 0
    return q * number_of(point[:-1], q) + 1 + point[-1]


def geometry(oracle, own, words):
    q, t = oracle["field"], oracle["coordinates"]
    u = point_of(own, q, t)
    zeros = next(at for at, one in enumerate(u) if one)
    f = t - 1 - zeros
    if words.chance(oracle["hit"]):
        v, d = point_of(words.below((q ** (t - 1) - 1) // (q - 1)), q, t - 1), 0
    else:
        w = words.below(q ** (t - 1))
        g, digits = w // q**zeros, []
        for _ in range(zeros):
            digits, w = [w % q, *digits], w // q
        v, d = ([0] * f, 1) if g == 0 else (point_of((g - 1) // (q - 1), q, f), 1 + (g - 1) % (q - 1))
        v += digits
    x = (d - sum(u[t - 1 - i] * v[i] for i in range(f))) % q
    return {"point": number_of([*v[:f], x, *v[f:]], q)}


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


def drawn_seed(oracle, words):
    if "seeds" in oracle:
        number = words.below(oracle["seeds"])
        return number, family(number)
    seed = words.seed()
    return seed, seed


def answer(oracle, values, words):
    name = oracle["oracle"]
    if name == "wheel":
        own = words.some(oracle["pad"], values)
        told, seed = drawn_seed(oracle, words)
        return wheel(oracle, own, told, seed, words)
    if name == "privset":
        own = words.some(oracle["pad"], values)
        return subset(oracle, own + [oracle["size"] + at for at in range(oracle["pad"] - len(own))], words)
    own = symbol(oracle, values, words)
    if name == "subset":
        return subset(oracle, [own], words)
    if name == "geometry":
        return geometry(oracle, own, words)
    if name == "grr":
        return {"value": other_than(own, words.place(int(oracle["inside"]), 1, oracle["size"] + oracle["dummies"] - 1))}
    told, seed = drawn_seed(oracle, words)
    bucket = hashed(seed, own) * oracle["buckets"] // WORD
    return {"seed": told, "value": other_than(bucket, words.place(int(oracle["inside"]), 1, oracle["buckets"] - 1))}


def written(report):
    return json.dumps(report, separators=(",", ":"))


def in_words(oracle, report):
    """Return the words of a report."""
    name = oracle["oracle"]
    if name == "hm":
        return [1, report["pm"]["point"]] if "pm" in report else [0, report["duchi"]["sign"]]
    if name in ("olh", "wheel"):
        last = report["value" if name == "olh" else "point"]
        return [report["seed"], last] if "seeds" in oracle else [*report["seed"], last]
    if name in ("subset", "privset"):
        return report["values"]
    return [report[{"grr": "value", "duchi": "sign"}.get(name, "point")]]


def of_words(oracle, words):
    """Return the report that words stand for, or None where no device makes it."""
    name = oracle["oracle"]
    symbols = oracle["size"] + oracle["dummies"] if "size" in oracle else 0
    if name == "hm":
        kind, at = words
        if kind == 1 and at < oracle["pm"]["points"] and oracle["choose"]:
            return {"pm": {"point": at}}
        return {"duchi": {"sign": at}} if kind == 0 and at < 2 else None
    if name in ("subset", "privset"):
        assert len(words) == oracle["many"]
        rising = all(one < other for one, other in pairwise(words))
        return {"values": words} if rising and words[-1] < symbols else None
    bound = {
        "grr": lambda: symbols,
        "olh": lambda: oracle["buckets"],
        "wheel": lambda: oracle.get("points", WORD),
        "geometry": lambda: (oracle["field"] ** oracle["coordinates"] - 1) // (oracle["field"] - 1),
        "duchi": lambda: 2,
        "pm": lambda: oracle["points"],
    }[name]()
    if words[-1] >= bound:
        return None
    last = {{"grr": "value", "olh": "value", "duchi": "sign"}.get(name, "point"): words[-1]}
    if name not in ("olh", "wheel"):
        (_,) = words
        return last
    if "seeds" in oracle:
        number, _ = words
        return {"seed": number, **last} if number < oracle["seeds"] else None
    first, second, _ = words
    return {"seed": [first, second], **last} if first % 2 else None


def answered_for(question, basket):
    """Return the part of a basket that is answered for."""
    if "texts" not in question:
        return basket[:32_768]
    sums = accumulate(len(text) + 1 for text in basket)
    return [text for text, symbols in zip(basket, sums, strict=True) if symbols <= 262_144]


def device(question, basket, own, words):
    basket, own = answered_for(question, basket), own[:32_768]
    values, oracle = values_of(question, basket, own), question["oracle"]
    return number(oracle, values[0], words) if question["ask"] == "projection" else answer(oracle, values, words)


class RefusedError(Exception):
    pass


def need(condition):
    if not condition:
        raise RefusedError


def read(asked, most, fail):
    """Return the question, or None where it is refused."""
    try:
        question = parse(asked) if isinstance(asked, bytes) else asked
        looked_at(question, Fraction(most), Fraction(fail))
    except (RefusedError, KeyError, TypeError, ValueError, AttributeError):
        return None
    return question


def parse(text):
    need(len(text) <= 8_388_608)

    def once(fields):
        need(len({name for name, _ in fields}) == len(fields))
        return dict(fields)

    def never(_):
        raise RefusedError

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=once, parse_float=never, parse_constant=never)
    except RecursionError:
        raise RefusedError from None


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def in_lists(value, depth=1):
    """Return the entries of all lists."""
    need(depth <= 3)
    inner = value.values() if isinstance(value, dict) else value
    found = len(value) if isinstance(value, list) else 0
    return found + sum(in_lists(one, depth + 1) for one in inner if isinstance(one, dict | list))


def as_number(text):
    need(isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,100}([./][0-9]{1,100})?", text))
    need("/" not in text or int(text.split("/")[1]))
    return Fraction(text)


def looked_at(question, most, fail):
    need(isinstance(question, dict))
    need(in_lists(question) <= 1_048_576)
    need(is_whole(question["format"]) and question["format"] == 1)
    epsilon, delta = as_number(question["epsilon"]), as_number(question.get("delta", "0"))
    need(0 < epsilon <= 64 and epsilon <= most)
    need(0 <= delta < 1 and delta <= fail)
    oracle = question["oracle"]
    fits(question, oracle)
    need(loss(oracle) <= series(epsilon))
    share = oracle.get("share")
    need(share is None or Fraction(comb(oracle["pad"], share + 1), oracle["buckets"] ** share) <= delta)


def items(some):
    need(isinstance(some, list))
    need(all(is_whole(item) and 0 <= item <= 2_147_483_647 for item in some))


def fits_texts(told):
    need(isinstance(told, dict) and set(told) == {"begin", "alphabet", "step", "length"})
    begin, alphabet, step, length = (told[name] for name in ("begin", "alphabet", "step", "length"))
    need(is_whole(step) and is_whole(length) and 0 <= step <= 31 and 1 <= length <= 1024)
    need(isinstance(alphabet, str) and alphabet and len(set(alphabet)) == len(alphabet))
    need(all(symbol != "\n" and not 0xD800 <= ord(symbol) <= 0xDFFF for symbol in alphabet))
    need(isinstance(begin, list) and begin and all(isinstance(one, str) for one in begin))
    need(len(set(begin)) == len(begin))
    for one in begin:
        need(all(symbol in alphabet for symbol in (one[:-1] if one.endswith("\n") else one)))
        need(len(one[:-1] if one.endswith("\n") else one) <= length)
    need(len(begin) * (len(alphabet) + 1) ** step <= 2_147_483_648)


def fits(question, oracle):
    ask, of, pairs = question["ask"], question["of"], question.get("pairs")
    if "texts" in question:
        need(ask in ("which", "how-many") and "pairs" not in question)
        fits_texts(question["texts"])
    kinds = {"which": 3, "how-many": 3, "valued": 3, "projection": 4}.get(ask, 0)
    need("pairs" not in question or pairs in ("together", "given", "after", "folded")[:kinds])
    if ask == "projection":
        need(oracle["oracle"] in ("duchi", "pm", "hm"))
        projection(question)
        return
    need(oracle["oracle"] not in ("duchi", "pm", "hm"))
    if ask == "prefix":
        items(question["order"])
        items([question["length"]])
        need(isinstance(of, list))
        for one in of:
            items(one)
        size = len(of) + 1
    elif ask == "cells":
        items(of)
        need(1 <= len(of) <= 16)
        size = 2 ** len(of)
    else:
        need(ask in ("which", "how-many", "valued"))
        if is_whole(of):
            need(pairs is None and 1 <= of <= 2_147_483_648)
            size = of
        else:
            need(isinstance(of, list))
            items([item for one in of for item in (one if isinstance(one, list) else [one])])
            need(pairs is None or all(isinstance(one, list) and len(one) >= 2 for one in of))
            size = len(of)
        if ask == "how-many":
            bins = question["bins"]
            items(bins)
            need(bins[:1] == [0] and all(a < b for a, b in pairwise(bins)))
            size = len(bins)
        if ask == "valued":
            need(pairs is not None and not is_whole(of) and question["absent"] in (True, False))
            need(all(len(one) == 2 for one in of))
            size = 2 * len(of)
    need(size == oracle["size"])
    need(oracle["pad"] == 1 if ask in ("how-many", "prefix", "cells") else True)
    need(oracle["oracle"] == "wheel" or oracle["dummies"] > 0 if ask in ("which", "valued") else True)


def projection(question):
    of, left, right, low, high = (question[name] for name in ("of", "left", "right", "low", "high"))
    need(isinstance(left, list) and isinstance(right, list) and len(left) == len(right))
    if question["pairs"] == "folded":
        need(is_whole(of) and 1 <= of <= min(len(left) ** 2, 2_147_483_648))
    else:
        need(isinstance(of, list))
        lists = [tuple(one) if isinstance(one, list) else (one,) for one in of]
        items([item for one in lists for item in one])
        need(all(lists) and len(set(lists)) == len(lists) == len(left))
    need(all(is_whole(one) for one in [*left, *right, low, high]))
    need(all(abs(one) <= 1_048_576 for one in left + right))
    need(-9_007_199_254_740_991 <= low <= high <= 9_007_199_254_740_991)


FIELDS = {
    "grr": "size pad dummies inside",
    "olh": "size pad dummies buckets inside",
    "subset": "size pad dummies many hit",
    "privset": "size pad dummies many hit",
    "wheel": "size pad dummies arc inside",
    "geometry": "size pad dummies field coordinates hit",
    "duchi": "span slope",
    "pm": "span step window points inside",
    "hm": "span choose pm duchi",
}


POWERS = [2**at for at in range(1, 32)]


def loss(oracle):
    name = oracle["oracle"]
    need(name in FIELDS)
    may = {"olh": {"share", "seeds"}, "wheel": {"points", "seeds"}}.get(name, set())
    need(oracle.keys() - may == {"oracle", *FIELDS[name].split()})
    if name == "hm":
        need((oracle["pm"]["oracle"], oracle["duchi"]["oracle"]) == ("pm", "duchi"))
        need(oracle["span"] == oracle["pm"]["span"] == oracle["duchi"]["span"])
        need(is_whole(oracle["choose"]) and 0 <= oracle["choose"] <= WORD)
        return max(loss(oracle["pm"]), loss(oracle["duchi"]))
    numbers = [value for key, value in oracle.items() if key not in ("oracle", "inside")]
    need(all(is_whole(value) and 0 <= value <= WORD for value in numbers))
    need("inside" not in oracle or re.fullmatch(r"[0-9]{1,20}", oracle["inside"]))
    inside = int(oracle.get("inside", 0))
    if name == "duchi":
        return turned(odds(2**31 + oracle["slope"] * oracle["span"]))
    if name == "pm":
        need(oracle["points"] - oracle["window"] == 2 * oracle["span"] * oracle["step"])
        return spread(inside, oracle["window"], oracle["points"] - oracle["window"], Fraction(1))
    size, pad, dummies = oracle["size"], oracle["pad"], oracle["dummies"]
    most = 131_072 if name in ("subset", "privset") else 2_147_483_648
    need(size >= 1 and 1 <= pad <= most and size + dummies <= most)
    if name == "grr":
        return spread(inside, 1, size + dummies - 1, Fraction(1, pad) if dummies >= pad else Fraction(1))
    if name == "olh":
        need(oracle.get("share", 0) <= 4096)
        need("seeds" not in oracle or ("share" not in oracle and oracle["seeds"] in POWERS))
        part = min(Fraction(oracle["share"], pad), 1) if "share" in oracle and dummies >= pad else Fraction(1)
        return spread(inside, 1, oracle["buckets"] - 1, part)
    if name == "wheel":
        need(("seeds" in oracle) == ("points" in oracle) and oracle.get("seeds", 2) in POWERS)
        return spread(inside, pad * oracle["arc"], oracle.get("points", WORD) - pad * oracle["arc"], Fraction(1))
    if name == "geometry":
        q, t = oracle["field"], oracle["coordinates"]
        need(q >= 2 and 2 <= t <= 31)
        need(size + dummies <= (q**t - 1) // (q - 1) <= 2_147_483_648)
        return turned(odds(oracle["hit"]) * Fraction(q ** (t - 1) * (q - 1), q ** (t - 1) - 1))
    symbols, many, own = size + dummies, oracle["many"], pad if name == "privset" else 1
    need(12 + many * (len(str(symbols - 1)) + 1) <= 65_536)
    need(name == "subset" or dummies >= pad or (dummies == 0 and pad == 1))
    need(1 <= many <= symbols - own)
    need(name == "subset" or many * pad <= 4 * symbols)
    without = comb(symbols - own, many)
    return turned(odds(oracle["hit"]) * Fraction(without, comb(symbols, many) - without))


def turned(one):
    return max(one, 1 / one)


def odds(threshold):
    need(0 < threshold < WORD)
    return Fraction(threshold, WORD - threshold)


def spread(w, i, o, f):
    rest = 2**64 - w * i
    need(min(w, i, o) >= 1 and rest >= o)
    high, low = -(-rest // o), rest // o
    if i > 1:
        high, low = max(high, -(-(2**64) // (i + o))), min(low, 2**64 // (i + o))
    return (f * max(w, high) + (1 - f) * high) / min(w, low)


def series(epsilon):
    term, total = Fraction(1), Fraction(1)
    for count in range(1, 160):
        term = term * epsilon / count
        total += term
        if term < Fraction(1, 2**200):
            break  # what is left out is far less than what the comparison turns on
    return total
