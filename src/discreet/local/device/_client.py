"""The answer of a device: one question, one basket, one randomised report. Standard library only.

With `answering`, `draws`, `trust`, `loss` and `limits` beside it, this file is the specification that ports to other
languages follow. Every random choice is made from bytes in a stated order: equal question, basket and bytes give the
equal report. Probabilities are integers over a power of two that come with the question. A device computes no
exponentials to answer, and it refuses a question with a larger loss than stated, or one that would keep it busy.

Items are numbers: positions on the study's public list; items beyond that list are ignored. In a study without a list
a device holds texts, and the question has the coding from texts to numbers. A device without a value answers too: its
report differs from other reports by no more than the epsilon allows (errata A7, X3).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from secrets import token_bytes
from typing import Any, TypeAlias

from ._answering import DeviceData, find_values
from ._draws import Draws, derive_seed, hash_item
from ._loss import LOSSES, WORD, Loss, count_space_points
from ._trust import Limit, check, parse_json

Answer: TypeAlias = Callable[[Mapping[str, Any], list[int], Draws], dict[str, Any]]


def sample_symbol(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> int:
    """Draw one of the values, padded to `pad` with dummies, the symbols from `size` on (PS of Wang, Li, Jha 2018)."""
    position = draws.below(max(len(values), oracle["pad"]))
    return values[position] if position < len(values) else oracle["size"] + (position - len(values)) % oracle["dummies"]


def _answer_value(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    symbol = sample_symbol(oracle, values, draws)
    place = draws.place(int(oracle["inside"]), 1, oracle["size"] + oracle["dummies"] - 1)
    # Place 0 is the own symbol; places from 1 on are all further symbols in order.
    return {"value": symbol if place == 0 else place - (place <= symbol)}


def _draw_seed(oracle: Mapping[str, Any], draws: Draws) -> tuple[int | list[int], tuple[int, int]]:
    """Draw a seed, independently of the values; return its form in the report (published: its number) and the seed."""
    if "seeds" in oracle:
        number = draws.published(oracle["seeds"])
        return number, derive_seed(number)
    seed = draws.seed()
    return list(seed), seed


def _answer_hash(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    symbol = sample_symbol(oracle, values, draws)
    seed_form, seed = _draw_seed(oracle, draws)
    bucket = hash_item(seed, symbol) * oracle["buckets"] >> 32
    place = draws.place(int(oracle["inside"]), 1, oracle["buckets"] - 1)
    return {"seed": seed_form, "value": bucket if place == 0 else place - (place <= bucket)}


def _answer_subset(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    subset_size, symbols = oracle["many"], oracle["size"] + oracle["dummies"]
    if oracle["oracle"] == "subset":
        own_symbols = [sample_symbol(oracle, values, draws)]
    else:
        own_symbols = draws.some(oracle["pad"], values)
        own_symbols += range(oracle["size"], oracle["size"] + oracle["pad"] - len(own_symbols))  # distinct dummies (A3)
    own_set = set(own_symbols)

    def attempt() -> set[int] | None:
        # A subset with m own symbols is proposed in m ways, and kept with the probability 1 / m: all are as likely.
        subset = draws.filled({own_symbols[draws.below(len(own_symbols))]}, subset_size, symbols)
        return subset if draws.below(len(subset & own_set)) == 0 else None

    hit = draws.chance(oracle["hit"])
    return {"values": sorted(draws.until(attempt) if hit else draws.filled(set(), subset_size, symbols, own_set))}


def _answer_wheel(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    own_values, arc, points = draws.some(oracle["pad"], values), oracle["arc"], oracle.get("points", WORD)
    seed_form, seed = _draw_seed(oracle, draws)
    starts = sorted(hash_item(seed, value) * points >> 32 for value in own_values)
    # The union of the arcs as disjoint stretches in order; the part of an arc past the last point begins the circle.
    end = max(starts[-1] + arc - points, 0) if starts else 0
    stretches = [(0, end)]
    for start in starts:
        begin, end = max(start, end), max(min(start + arc, points), end)
        stretches.append((begin, end))
    inside = sum(end - begin for begin, end in stretches)
    point = draws.place(int(oracle["inside"]), inside, points - inside)
    # The k-th point inside is found by the lengths of the stretches, and the k-th outside by their gaps.
    outside_point = point - inside
    for begin, end in stretches:
        if outside_point >= begin:
            outside_point += end - begin
        if 0 <= point < end - begin:
            return {"seed": seed_form, "point": begin + point}
        point -= end - begin
    return {"seed": seed_form, "point": outside_point}


def find_coordinates(number: int, field: int, dimension: int) -> list[int]:
    """Return the coordinates of the point with a number: the first other than 0 is a 1, the last is the units digit."""
    digits: list[int] = []
    while number > 0:
        number, digit = divmod(number - 1, field)
        digits.insert(0, digit)
    return [0] * (dimension - 1 - len(digits)) + [1] + digits


def _answer_geometry(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    field, dimension = oracle["field"], oracle["coordinates"]
    own_point = find_coordinates(sample_symbol(oracle, values, draws), field, dimension)
    lead = own_point.index(1)
    # All coordinates are free but one, which decides whether the inner product with the own point is 0 (a hit). The
    # free coordinates before it have the higher digits.
    free, product = dimension - 1 - lead, 0
    if draws.chance(oracle["hit"]):
        vector = find_coordinates(draws.below(count_space_points(field, dimension - 1)), field, dimension - 1)
    else:
        front, behind_number = divmod(draws.below(field ** (dimension - 1)), field**lead)
        behind = [behind_number // field**power % field for power in range(lead - 1, -1, -1)]
        number, product = divmod(front - 1, field - 1) if front else (0, 0)
        vector, product = (find_coordinates(number, field, free) if front else [0] * free) + behind, product + 1
    partial = sum(own_point[dimension - 1 - position] * vector[position] for position in range(free))
    point = 0
    vector.insert(free, (product - partial) % field)
    for digit in vector[vector.index(1) + 1 :]:
        point = field * point + 1 + digit
    return {"point": point}


def _answer_duchi(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    return {"sign": int(draws.chance(WORD // 2 + oracle["slope"] * _clip(oracle, values)))}


def _answer_piecewise(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    start, window = (_clip(oracle, values) + oracle["span"]) * oracle["step"], oracle["window"]
    place = draws.place(int(oracle["inside"]), window, oracle["points"] - window)
    return {"point": start + place if place < window else place - window + window * (place - window >= start)}


def _answer_hybrid(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    kind = "pm" if draws.chance(oracle["choose"]) else "duchi"
    return {kind: ANSWERS[kind](oracle[kind], values, draws)}


def _clip(oracle: Mapping[str, Any], values: list[int]) -> int:
    span: int = oracle["span"]
    return min(max(values[0], -span), span)  # D5: the number is within the range for every computed value


ANSWERS: dict[str, Answer] = {
    "grr": _answer_value,
    "olh": _answer_hash,
    "subset": _answer_subset,
    "privset": _answer_subset,
    "wheel": _answer_wheel,
    "geometry": _answer_geometry,
    "duchi": _answer_duchi,
    "pm": _answer_piecewise,
    "hm": _answer_hybrid,
}


def check_kind(question: Mapping[str, Any], texts: Iterable[str] | None) -> None:
    """Refuse a question about texts if the device holds items, and a question about items if it holds texts."""
    if ("texts" in question) is (texts is None):
        raise ValueError("The question is about texts, and this device holds items; or the other way round.")


def client(
    question: Mapping[str, Any] | bytes | str,
    basket: Iterable[int],
    *,
    max_epsilon: Limit,
    max_delta: Limit = 0,
    texts: Iterable[str] | None = None,
    given: Iterable[tuple[int, int]] = (),
    after: Iterable[tuple[int, int]] = (),
    take: Callable[[int], bytes] = token_bytes,
    answers: Mapping[str, Answer] = ANSWERS,
    losses: Mapping[str, Loss] = LOSSES,
) -> bytes:
    """Return this device's one report to a question, as the bytes to send. A `ValueError` is the reason of a refusal.

    Parameters
    ----------
    question
        The question of the collector: its bytes, its text, or the object read from them.
    basket
        The numbers of the held items, integers of any type; any other entry is refused. Items that the question does
        not list are ignored, and so is everything after the first 32,768 items, and after as many relations.
    max_epsilon
        The largest epsilon that this device gives away, a finite number over 0: a question with a larger epsilon is
        refused. The owner of the device sets it, and not the collector, so it has no default.
    max_delta
        The largest delta, from 0 to below 1: the probability of giving away more than epsilon. By default only
        questions without a delta are answered.
    texts
        The held texts, in a study without a list of items: then the basket is empty.
    given, after
        The held relations, as pairs of items: the pairs that the device was given, and the pairs (a, b) with b later
        than a. The question says which kind it is about.
    take
        The source of random bytes: the system's secure source, except in tests.
    answers, losses
        The oracles that the device answers for, by name: the oracles of the format, except in simulations.
    """
    checked_question = parse_json(question)
    check(checked_question, max_epsilon, max_delta, losses)
    check_kind(checked_question, texts)
    # Checked for every question: a report that depended on the type of an entry, or a refusal, would reveal it.
    data = DeviceData.of(basket, texts, given, after)
    held_entries = data.items if data.texts is None else data.texts
    pairs = data.after if checked_question.get("pairs") == "after" else data.given
    oracle, values = checked_question["oracle"], find_values(checked_question, held_entries, pairs)
    report = answers[oracle["oracle"]](oracle, values, Draws(take))
    return json.dumps(report, separators=(",", ":")).encode("ascii")
