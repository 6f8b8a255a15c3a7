"""What runs on a device: one question, one basket, one randomised report. Standard library only.

With `answering`, `draws`, `trust`, `loss` and `limits` beside it, this file is the specification that other languages
follow, so it is short and plain, and every random choice is made from bytes in a stated order: the same question,
basket and bytes give the same report. Probabilities are integers over a power of two that come with the question; a
device computes no exponentials to answer, and it refuses a question whose numbers lose more than they claim, or that
would keep it busy. Items are numbers: places in the study's public list. What a basket holds beyond that list is
ignored. In a study without a list a device holds texts, and the question tells how they become numbers. A device with
nothing to say answers too, and cannot be told apart by it (errata A7, X3).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from secrets import token_bytes
from typing import Any, TypeAlias

from ._answering import DeviceData, held
from ._draws import Draws, mixed, published
from ._loss import LOSSES, WORD, Loss, points
from ._trust import Limit, check, parsed

Answer: TypeAlias = Callable[[Mapping[str, Any], list[int], Draws], dict[str, Any]]


def sampled(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> int:
    """Pad to the given length with dummies, and sample one (PS of Wang, Li, Jha 2018). Dummies follow the values."""
    drawn = draws.below(max(len(values), oracle["pad"]))
    return values[drawn] if drawn < len(values) else oracle["size"] + (drawn - len(values)) % oracle["dummies"]


def _value(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    symbol = sampled(oracle, values, draws)
    drawn = draws.place(int(oracle["inside"]), 1, oracle["size"] + oracle["dummies"] - 1)
    return {"value": symbol if drawn == 0 else drawn - (drawn <= symbol)}


def _seed(oracle: Mapping[str, Any], draws: Draws) -> tuple[int | list[int], tuple[int, int]]:
    """Return what is told of a seed, and the seed: a published one by its number, or a fresh one.

    It is drawn without looking at what is held either way.
    """
    if "seeds" in oracle:
        number = draws.published(oracle["seeds"])
        return number, published(number)
    seed = draws.seed()
    return list(seed), seed


def _hashed(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    symbol = sampled(oracle, values, draws)
    told, seed = _seed(oracle, draws)
    bucket = mixed(seed, symbol) * oracle["buckets"] >> 32
    drawn = draws.place(int(oracle["inside"]), 1, oracle["buckets"] - 1)
    return {"seed": told, "value": bucket if drawn == 0 else drawn - (drawn <= bucket)}


def _subset(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    many, size = oracle["many"], oracle["size"] + oracle["dummies"]
    if oracle["oracle"] == "subset":
        own = [sampled(oracle, values, draws)]
    else:
        own = draws.some(oracle["pad"], values)
        own += range(oracle["size"], oracle["size"] + oracle["pad"] - len(own))  # distinct dummies (A3)
    mine = set(own)

    def attempt() -> set[int] | None:
        # One held value and any others; kept once in as many times as it was met, so that every set is as likely.
        chosen = draws.filled({own[draws.below(len(own))]}, many, size)
        return chosen if draws.below(len(chosen & mine)) == 0 else None

    hit = draws.chance(oracle["hit"])
    return {"values": sorted(draws.until(attempt) if hit else draws.filled(set(), many, size, mine))}


def _wheel(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    own, arc, points = draws.some(oracle["pad"], values), oracle["arc"], oracle.get("points", WORD)
    told, seed = _seed(oracle, draws)
    starts = sorted(mixed(seed, value) * points >> 32 for value in own)
    # The union of the arcs that begin at each start, as stretches in order; what passes the end begins the circle.
    end = max(starts[-1] + arc - points, 0) if starts else 0
    stretches = [(0, end)]
    for start in starts:
        begin, end = max(start, end), max(min(start + arc, points), end)
        stretches.append((begin, end))
    inside = sum(end - begin for begin, end in stretches)
    point = draws.place(int(oracle["inside"]), inside, points - inside)
    missed = point - inside
    for begin, end in stretches:
        if missed >= begin:
            missed += end - begin
        if 0 <= point < end - begin:
            return {"seed": told, "point": begin + point}
        point -= end - begin
    return {"seed": told, "point": missed}


def coordinates(number: int, field: int, many: int) -> list[int]:
    """Return the coordinates of the point of a number: the first that is not 0 is a 1, the last counts single."""
    found: list[int] = []
    while number > 0:
        number, last = divmod(number - 1, field)
        found.insert(0, last)
    return [0] * (many - 1 - len(found)) + [1] + found


def _point(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    field, many = oracle["field"], oracle["coordinates"]
    own = coordinates(sampled(oracle, values, draws), field, many)
    lead = own.index(1)
    # All coordinates are free but one, which says whether the point meets the own one. Those before it lead.
    free, more = many - 1 - lead, 0
    if draws.chance(oracle["hit"]):
        told = coordinates(draws.below(points(field, many - 1)), field, many - 1)
    else:
        front, rest = divmod(draws.below(field ** (many - 1)), field**lead)
        behind = [rest // field**at % field for at in range(lead - 1, -1, -1)]
        number, more = divmod(front - 1, field - 1) if front else (0, 0)
        told, more = (coordinates(number, field, free) if front else [0] * free) + behind, more + 1
    met = sum(own[many - 1 - at] * told[at] for at in range(free))
    point = 0
    told.insert(free, (more - met) % field)
    for one in told[told.index(1) + 1 :]:
        point = field * point + 1 + one
    return {"point": point}


def _sign(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    return {"sign": int(draws.chance(WORD // 2 + oracle["slope"] * _clipped(oracle, values)))}


def _piece(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    start, window = (_clipped(oracle, values) + oracle["span"]) * oracle["step"], oracle["window"]
    drawn = draws.place(int(oracle["inside"]), window, oracle["points"] - window)
    return {"point": start + drawn if drawn < window else drawn - window + window * (drawn - window >= start)}


def _either(oracle: Mapping[str, Any], values: list[int], draws: Draws) -> dict[str, Any]:
    kind = "pm" if draws.chance(oracle["choose"]) else "duchi"
    return {kind: ANSWERS[kind](oracle[kind], values, draws)}


def _clipped(oracle: Mapping[str, Any], values: list[int]) -> int:
    span: int = oracle["span"]
    return min(max(values[0], -span), span)  # D5: whatever was computed, it is within the range


ANSWERS: dict[str, Answer] = {
    "grr": _value,
    "olh": _hashed,
    "subset": _subset,
    "privset": _subset,
    "wheel": _wheel,
    "geometry": _point,
    "duchi": _sign,
    "pm": _piece,
    "hm": _either,
}


def check_kind(asked: Mapping[str, Any], texts: Iterable[str] | None) -> None:
    """Refuse a question about texts where the device holds items, and the other way round."""
    if ("texts" in asked) is (texts is None):
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
    """Return this device's one report to a question, as the bytes to send. A `ValueError` says why there is none.

    Parameters
    ----------
    question
        What the collector asks: the bytes that came, or what was read from them.
    basket
        The numbers of the items held, whole ones of any kind; anything else among them is refused. Those the question
        does not know are ignored, and so is what comes after the first 32,768, here and among relations.
    max_epsilon
        The most epsilon this device gives away, a finite number over 0: a question that asks for more is refused. It
        is for the owner of the device to say, and never for whoever asks, so nothing stands in for it.
    max_delta
        The largest probability (delta) of giving away more than that; by default only questions without one are
        answered.
    texts
        The texts held, where the study has no list of items: then there is no basket of numbers.
    given, after
        The relations held, as pairs of items: those the device was given, and the pairs (a, b) where b came later than
        a. The question says which of them it is about.
    take
        Where random bytes come from: the system's secure source. Anything else is for tests.
    answers, losses
        The oracles it answers for: those of the format. Others are for simulations.
    """
    asked = parsed(question)
    check(asked, max_epsilon, max_delta, losses)
    check_kind(asked, texts)
    # Looked at whatever is asked: a report that shows of what kind a number was, or stops at it, would tell.
    own = DeviceData.of(basket, texts, given, after)
    mine = own.items if own.texts is None else own.texts
    values = held(asked, mine, own.after if asked.get("pairs") == "after" else own.given)
    report = answers[asked["oracle"]["oracle"]](asked["oracle"], values, Draws(take))
    return json.dumps(report, separators=(",", ":")).encode("ascii")
