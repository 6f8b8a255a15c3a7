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
        chunk, self.data = self.data[:4], self.data[4:]
        assert len(chunk) == 4
        return sum(byte << 8 * position for position, byte in enumerate(chunk))

    def seed(self):
        multiplier = self.word()
        return [multiplier | 1, self.word()]

    def chance(self, threshold):
        return self.word() < threshold

    def below(self, bound):
        if bound <= 1:
            return 0
        while True:
            word = self.word()
            # Words from the largest multiple of the bound on are drawn again: no remainder is likelier than the next.
            if word < WORD - WORD % bound:
                return word % bound

    def place(self, weight, inside, outside):
        low = self.word()
        # 64 bits, the low word first.
        x = low + WORD * self.word()
        return x // weight if x < weight * inside else inside + (x - weight * inside) % outside

    def draw_items(self, count, values):
        values = list(values)
        if len(values) <= count:
            return values
        # A partial shuffle of Fisher and Yates: every subset and every order is as likely.
        for position in range(count):
            partner = position + self.below(len(values) - position)
            values[position], values[partner] = values[partner], values[position]
        return values[:count]


def hashed(seed, item):
    h = (seed[0] * item + seed[1]) % WORD
    # The shifts and multipliers are of the hash-prospector project; docs/wire.md fixes them.
    h = (h ^ (h >> 16)) * 0x21F0AAAD % WORD
    h = (h ^ (h >> 15)) * 0xD35A2D97 % WORD
    return h ^ (h >> 15)


def family(number):
    multiplier, increment = (hashed((1, 0x9E3779B9), 2 * number + part) for part in (0, 1))
    # An odd multiplier permutes the 32-bit numbers; an even one would join items.
    return multiplier if multiplier % 2 else multiplier + 1, increment


def number_of_text(text_form, begin, text):
    """Return the number of a text with a beginning, or None for a text with none or outside the alphabet."""
    if not 1 <= len(text) <= text_form["length"] or any(symbol not in text_form["alphabet"] for symbol in text):
        return None
    symbols = ["\n", *text_form["alphabet"]]
    # The end is a symbol of its own, so that a text differs from the longer texts that it begins.
    padded_text = text + "\n"
    if not padded_text.startswith(begin):
        return None
    padded_text = padded_text[len(begin) :].ljust(text_form["step"], "\n")[: text_form["step"]]
    number = text_form["begin"].index(begin)
    for symbol in padded_text:
        number = number * len(symbols) + symbols.index(symbol)
    return number


def values_of(question, basket, pairs_held=()):
    candidates = question["of"]
    if "texts" in question:
        text_form = question["texts"]
        basket = {number_of_text(text_form, begin, text) for begin in text_form["begin"] for text in basket} - {None}
    if question["ask"] == "cells":
        return [sum(2**place for place, item in enumerate(candidates) if item in basket)]
    if question["ask"] == "valued":
        values = []
        for place, (antecedent, consequent) in enumerate(candidates):
            has = (
                [antecedent, consequent] in pairs_held
                if question["pairs"] != "together"
                else antecedent in basket and consequent in basket
            )
            if has:
                values.append(2 * place + 1)
            elif question["absent"] and antecedent in basket:
                values.append(2 * place)
        return values
    if question["ask"] == "prefix":
        prefix = []
        for item in question["order"]:
            if item in basket and len(prefix) < question["length"]:
                prefix.append(item)
        return [
            next(
                (place_of_prefix for place_of_prefix, candidate in enumerate(candidates) if candidate == prefix),
                len(candidates),
            )
        ]
    if question["ask"] == "projection":
        return [on_grid(question, projected(question, basket, pairs_held))]
    if isinstance(candidates, int):
        values = sorted({item for item in basket if item < candidates})
    else:
        lists = [candidate if isinstance(candidate, list) else [candidate] for candidate in candidates]
        if question.get("pairs", "together") != "together":
            values = [
                place_of_list for place_of_list, items_of_list in enumerate(lists) if linked(items_of_list, pairs_held)
            ]
        else:
            values = [
                place_of_list
                for place_of_list, items_of_list in enumerate(lists)
                if all(item in basket for item in items_of_list)
            ]
    if question["ask"] == "how-many":
        return [
            max(bin_place for bin_place, smallest_count in enumerate(question["bins"]) if smallest_count <= len(values))
        ]
    return values


def linked(items, pairs_held):
    return all([items[position], items[position + 1]] in pairs_held for position in range(len(items) - 1))


def projected(question, basket, pairs_held):
    candidates, left_weights, right_weights = question["of"], question["left"], question["right"]
    if question["pairs"] == "folded":
        side = len(left_weights)
        return sum(left_weights[item // side] * right_weights[item % side] for item in set(basket) if item < candidates)
    lists = [candidate if isinstance(candidate, list) else [candidate] for candidate in candidates]
    if question["pairs"] == "together":
        held_places = [
            position for position, items_of_list in enumerate(lists) if all(item in basket for item in items_of_list)
        ]
        return sum(left_weights[position] for position in held_places) * sum(
            right_weights[position] for position in held_places
        )
    total = 0
    for position, items_of_list in enumerate(lists):
        if items_of_list[0] in basket if len(items_of_list) == 1 else linked(items_of_list, pairs_held):
            total += left_weights[position] * right_weights[position]
        for pair in pairs_held:
            if (
                pair[0] == items_of_list[-1]
                and pair[1] not in items_of_list
                and [pair[1]] in lists
                and linked(items_of_list, pairs_held)
            ):
                total += left_weights[position] * right_weights[lists.index([pair[1]])]
    return total


def on_grid(question, number):
    span, width = question["oracle"]["span"], question["high"] - question["low"]
    clipped_number = sorted([question["low"], number, question["high"]])[1]
    return (4 * span * (clipped_number - question["low"]) + width) // (2 * width) - span if width else 0


def symbol(oracle, values, words):
    drawn_place = words.below(max(len(values), oracle["pad"]))
    if drawn_place < len(values):
        return values[drawn_place]
    return oracle["size"] + (drawn_place - len(values)) % oracle["dummies"]


def other_than(own_value, place):
    if place == 0:
        return own_value
    return place - 1 if place <= own_value else place


def subset(oracle, own_values, words):
    hit = words.chance(oracle["hit"])
    while True:
        members = [own_values[words.below(len(own_values))]] if hit else []
        while len(members) < oracle["many"]:
            x = words.below(oracle["size"] + oracle["dummies"])
            if x not in members and (hit or x not in own_values):
                members.append(x)
        # A set that meets m own values is drawn m times as often, so one in m is kept.
        if not hit or words.below(sum(member in own_values for member in members)) == 0:
            return {"values": sorted(members)}


def wheel(oracle, own_values, written_seed, seed, words):
    """Take the circle apart at every end of an arc, and go through the pieces in order."""
    n = oracle.get("points", WORD)
    starts = [hashed(seed, x) * n // WORD for x in own_values]
    edges = sorted({0, n, *starts, *((start + oracle["arc"]) % n for start in starts)})
    pieces = [(a, b, any((a - start) % n < oracle["arc"] for start in starts)) for a, b in pairwise(edges)]
    inside = sum(b - a for a, b, is_covered in pieces if is_covered)
    number = words.place(int(oracle["inside"]), inside, n - inside)
    is_inside = number < inside
    number -= 0 if is_inside else inside
    for a, b, is_covered in pieces:
        if is_covered == is_inside:
            if number < b - a:
                return {"seed": written_seed, "point": a + number}
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


def geometry(oracle, own_value, words):
    q, t = oracle["field"], oracle["coordinates"]
    u = point_of(own_value, q, t)
    zeros = next(position for position, coordinate in enumerate(u) if coordinate)
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
    window_start = (n + oracle["span"]) * oracle["step"]
    place = words.place(int(oracle["inside"]), oracle["window"], oracle["points"] - oracle["window"])
    if place < oracle["window"]:
        return {"point": window_start + place}
    outside_place = place - oracle["window"]
    return {"point": outside_place if outside_place < window_start else outside_place + oracle["window"]}


def drawn_seed(oracle, words):
    if "seeds" in oracle:
        number = words.below(oracle["seeds"])
        return number, family(number)
    seed = words.seed()
    return seed, seed


def answer(oracle, values, words):
    name = oracle["oracle"]
    if name == "wheel":
        own_values = words.draw_items(oracle["pad"], values)
        written_seed, seed = drawn_seed(oracle, words)
        return wheel(oracle, own_values, written_seed, seed, words)
    if name == "privset":
        own_values = words.draw_items(oracle["pad"], values)
        return subset(
            oracle, own_values + [oracle["size"] + dummy for dummy in range(oracle["pad"] - len(own_values))], words
        )
    own_value = symbol(oracle, values, words)
    if name == "subset":
        return subset(oracle, [own_value], words)
    if name == "geometry":
        return geometry(oracle, own_value, words)
    if name == "grr":
        return {
            "value": other_than(
                own_value, words.place(int(oracle["inside"]), 1, oracle["size"] + oracle["dummies"] - 1)
            )
        }
    written_seed, seed = drawn_seed(oracle, words)
    bucket = hashed(seed, own_value) * oracle["buckets"] // WORD
    return {
        "seed": written_seed,
        "value": other_than(bucket, words.place(int(oracle["inside"]), 1, oracle["buckets"] - 1)),
    }


def render_report(report):
    return json.dumps(report, separators=(",", ":"))


def in_words(oracle, report):
    """Return the words of a report."""
    name = oracle["oracle"]
    if name == "hm":
        return [1, report["pm"]["point"]] if "pm" in report else [0, report["duchi"]["sign"]]
    if name in ("olh", "wheel"):
        value = report["value" if name == "olh" else "point"]
        return [report["seed"], value] if "seeds" in oracle else [*report["seed"], value]
    if name in ("subset", "privset"):
        return report["values"]
    return [report[{"grr": "value", "duchi": "sign"}.get(name, "point")]]


def of_words(oracle, words):
    """Return the report that words stand for, or None where no device makes it."""
    name = oracle["oracle"]
    symbols = oracle["size"] + oracle["dummies"] if "size" in oracle else 0
    if name == "hm":
        kind, number_or_sign = words
        if kind == 1 and number_or_sign < oracle["pm"]["points"] and oracle["choose"]:
            return {"pm": {"point": number_or_sign}}
        return {"duchi": {"sign": number_or_sign}} if kind == 0 and number_or_sign < 2 else None
    if name in ("subset", "privset"):
        assert len(words) == oracle["many"]
        rising = all(number < next_number for number, next_number in pairwise(words))
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
    tail = {{"grr": "value", "olh": "value", "duchi": "sign"}.get(name, "point"): words[-1]}
    if name not in ("olh", "wheel"):
        (_,) = words
        return tail
    if "seeds" in oracle:
        number, _ = words
        return {"seed": number, **tail} if number < oracle["seeds"] else None
    multiplier, increment, _ = words
    return {"seed": [multiplier, increment], **tail} if multiplier % 2 else None


def answered_for(question, basket):
    """Return the part of a basket that is answered for."""
    if "texts" not in question:
        return basket[:32_768]
    sums = accumulate(len(text) + 1 for text in basket)
    return [text for text, symbols in zip(basket, sums, strict=True) if symbols <= 262_144]


def device(question, basket, pairs_held, words):
    basket, pairs_held = answered_for(question, basket), pairs_held[:32_768]
    values, oracle = values_of(question, basket, pairs_held), question["oracle"]
    return number(oracle, values[0], words) if question["ask"] == "projection" else answer(oracle, values, words)


class RefusedError(Exception):
    pass


def need(condition):
    if not condition:
        raise RefusedError


def read_question(document, max_epsilon, max_delta):
    """Return the question, or None for a refused question."""
    try:
        question = parse(document) if isinstance(document, bytes) else document
        looked_at(question, Fraction(max_epsilon), Fraction(max_delta))
    except (RefusedError, KeyError, TypeError, ValueError, AttributeError):
        return None
    return question


def parse(text):
    need(len(text) <= 8_388_608)

    def check_unique(fields):
        need(len({name for name, _ in fields}) == len(fields))
        return dict(fields)

    def never(_):
        raise RefusedError

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=check_unique, parse_float=never, parse_constant=never)
    except RecursionError:
        raise RefusedError from None


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def in_lists(value, depth=1):
    """Return the entries of all lists."""
    need(depth <= 3)
    inner = value.values() if isinstance(value, dict) else value
    entry_count = len(value) if isinstance(value, list) else 0
    return entry_count + sum(in_lists(entry, depth + 1) for entry in inner if isinstance(entry, dict | list))


def as_number(text):
    need(isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,100}([./][0-9]{1,100})?", text))
    need("/" not in text or int(text.split("/")[1]))
    return Fraction(text)


def looked_at(question, max_epsilon, max_delta):
    need(isinstance(question, dict))
    need(in_lists(question) <= 1_048_576)
    need(is_whole(question["format"]) and question["format"] == 1)
    epsilon, delta = as_number(question["epsilon"]), as_number(question.get("delta", "0"))
    need(0 < epsilon <= 64 and epsilon <= max_epsilon)
    need(0 <= delta < 1 and delta <= max_delta)
    oracle = question["oracle"]
    fits(question, oracle)
    need(loss(oracle) <= series(epsilon))
    share = oracle.get("share")
    need(share is None or Fraction(comb(oracle["pad"], share + 1), oracle["buckets"] ** share) <= delta)


def items(numbers_listed):
    need(isinstance(numbers_listed, list))
    need(all(is_whole(item) and 0 <= item <= 2_147_483_647 for item in numbers_listed))


def fits_texts(text_form):
    need(isinstance(text_form, dict) and set(text_form) == {"begin", "alphabet", "step", "length"})
    begin, alphabet, step, length = (text_form[name] for name in ("begin", "alphabet", "step", "length"))
    need(is_whole(step) and is_whole(length) and 0 <= step <= 31 and 1 <= length <= 1024)
    need(isinstance(alphabet, str) and alphabet and len(set(alphabet)) == len(alphabet))
    need(all(symbol != "\n" and not 0xD800 <= ord(symbol) <= 0xDFFF for symbol in alphabet))
    need(isinstance(begin, list) and begin and all(isinstance(beginning, str) for beginning in begin))
    need(len(set(begin)) == len(begin))
    for beginning in begin:
        need(all(symbol in alphabet for symbol in (beginning[:-1] if beginning.endswith("\n") else beginning)))
        need(len(beginning[:-1] if beginning.endswith("\n") else beginning) <= length)
    need(len(begin) * (len(alphabet) + 1) ** step <= 2_147_483_648)


def fits(question, oracle):
    ask, candidates, pairs = question["ask"], question["of"], question.get("pairs")
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
        need(isinstance(candidates, list))
        for candidate in candidates:
            items(candidate)
        size = len(candidates) + 1
    elif ask == "cells":
        items(candidates)
        need(1 <= len(candidates) <= 16)
        size = 2 ** len(candidates)
    else:
        need(ask in ("which", "how-many", "valued"))
        if is_whole(candidates):
            need(pairs is None and 1 <= candidates <= 2_147_483_648)
            size = candidates
        else:
            need(isinstance(candidates, list))
            items(
                [
                    item
                    for candidate in candidates
                    for item in (candidate if isinstance(candidate, list) else [candidate])
                ]
            )
            need(pairs is None or all(isinstance(candidate, list) and len(candidate) >= 2 for candidate in candidates))
            size = len(candidates)
        if ask == "how-many":
            bins = question["bins"]
            items(bins)
            need(bins[:1] == [0] and all(a < b for a, b in pairwise(bins)))
            size = len(bins)
        if ask == "valued":
            need(pairs is not None and not is_whole(candidates) and question["absent"] in (True, False))
            need(all(len(candidate) == 2 for candidate in candidates))
            size = 2 * len(candidates)
    need(size == oracle["size"])
    need(oracle["pad"] == 1 if ask in ("how-many", "prefix", "cells") else True)
    need(oracle["oracle"] == "wheel" or oracle["dummies"] > 0 if ask in ("which", "valued") else True)


def projection(question):
    candidates, left_weights, right_weights, low, high = (
        question[name] for name in ("of", "left", "right", "low", "high")
    )
    need(isinstance(left_weights, list) and isinstance(right_weights, list) and len(left_weights) == len(right_weights))
    if question["pairs"] == "folded":
        need(is_whole(candidates) and 1 <= candidates <= min(len(left_weights) ** 2, 2_147_483_648))
    else:
        need(isinstance(candidates, list))
        lists = [tuple(candidate) if isinstance(candidate, list) else (candidate,) for candidate in candidates]
        items([item for candidate in lists for item in candidate])
        need(all(lists) and len(set(lists)) == len(lists) == len(left_weights))
    need(all(is_whole(number) for number in [*left_weights, *right_weights, low, high]))
    need(all(abs(weight) <= 1_048_576 for weight in left_weights + right_weights))
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


POWERS = [2**exponent for exponent in range(1, 32)]


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
    max_symbols = 131_072 if name in ("subset", "privset") else 2_147_483_648
    need(size >= 1 and 1 <= pad <= max_symbols and size + dummies <= max_symbols)
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
    symbols, subset_size, own_count = size + dummies, oracle["many"], pad if name == "privset" else 1
    need(12 + subset_size * (len(str(symbols - 1)) + 1) <= 65_536)
    need(name == "subset" or dummies >= pad or (dummies == 0 and pad == 1))
    need(1 <= subset_size <= symbols - own_count)
    need(name == "subset" or subset_size * pad <= 4 * symbols)
    subsets_without_own = comb(symbols - own_count, subset_size)
    return turned(odds(oracle["hit"]) * Fraction(subsets_without_own, comb(symbols, subset_size) - subsets_without_own))


def turned(ratio):
    return max(ratio, 1 / ratio)


def odds(threshold):
    need(0 < threshold < WORD)
    return Fraction(threshold, WORD - threshold)


def spread(w, i, o, f):
    remaining_weight = 2**64 - w * i
    need(min(w, i, o) >= 1 and remaining_weight >= o)
    high, low = -(-remaining_weight // o), remaining_weight // o
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
