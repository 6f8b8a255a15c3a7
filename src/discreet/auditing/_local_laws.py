"""The exact law of a device's report: every random choice of the device is followed, with its exact probability.

The device's own code runs on prepared choices in place of `local.device.draws`, where each choice has a stated law; it
is run again for every further choice. Rejection loops (`Draws.until`) are followed for one attempt: the result of the
first success has the chances of one attempt, divided by the chance of success. Seeds of hash functions are enumerated
for a few seeds, because the report contains its seed, which is drawn without the basket. A place among very many (a
point of the wheel) is followed by stretches: adjacent places that lead to adjacent reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count
from math import inf, log, prod
from typing import Any, TypeAlias

from ..errors import MisuseError
from ..local.device import WEIGHT_SCALE, WORD, Draws

# A device as a function from random choices to a report; None for silence.
Device: TypeAlias = Callable[[Draws], Any]
# A rejection loop: the choices before it, and the number of loops before it.
_Loop: TypeAlias = tuple[tuple[int, ...], int]

_PATHS = 4000  # followed ways of a device; more: a longer audit with less left out
_MAX_LEFT_OUT = Fraction(1, 10**9)  # of a law: far below the losses that verdicts show
_PLACES = 64  # more places are followed by stretches
_SEEDS = tuple((0x9E3779B1 * odd & WORD - 1 | 1, 0x85EBCA77 * odd & WORD - 1) for odd in (1, 3, 5, 7, 11))
_BITS = 12  # more bits have too many outcomes (2^12) to enumerate
NOTHING = "nothing"  # the text for a silent device


class ChoicePath(Exception):  # noqa: N818
    """The device is stopped to be followed further; device code must not catch it."""


class _Fork(ChoicePath):
    """The device needs a choice that is not prepared: the chances of all ways."""

    def __init__(self, chances: list[Fraction]) -> None:
        self.chances = chances


class _WideFork(ChoicePath):
    """The device needs a place among very many: stretches (first place, end, chance of each place)."""

    def __init__(self, stretches: list[tuple[int, int, Fraction]]) -> None:
        self.stretches = stretches


class _FailedAttempt(ChoicePath):
    """An attempt of a rejection loop failed, and the device would try again."""

    def __init__(self, loop: _Loop) -> None:
        self.loop = loop


class _FixedDraws(Draws):
    """Prepared random choices; the first choice that is not prepared stops the device."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        super().__init__(_no_bytes)
        self._choices = choices
        self._used = 0
        self.loops: list[_Loop] = []  # the loops that were begun

    def _take_choice(self) -> int | None:
        if self._used == len(self._choices):
            return None
        self._used += 1
        return self._choices[self._used - 1]

    def _choose_way(self, chances: Callable[[], list[Fraction]]) -> int:
        choices = self._take_choice()
        if choices is None:
            raise _Fork(chances())
        return choices

    def until(self, attempt: Callable[[], set[int] | None]) -> set[int]:
        # A loop is known by the choices before it, so that equal loops of two paths are one.
        loop = self._choices[: self._used], len(self.loops)
        self.loops.append(loop)
        result = attempt()
        if result is None:
            raise _FailedAttempt(loop)
        return result

    def filled(self, chosen: set[int], many: int, bound: int, without: Collection[int] = ()) -> set[int]:
        # The order of a set does not matter, so the number of sets is followed, and not of sequences.
        others = [value for value in range(bound) if value not in chosen and value not in without]
        return chosen.union(self.some(many - len(chosen), others))

    def seed(self) -> tuple[int, int]:
        return _SEEDS[self._choose_way(lambda: [Fraction(1, len(_SEEDS))] * len(_SEEDS))]

    def published(self, seeds: int) -> int:
        # A few seeds stand for all: the seed is drawn independently of the basket.
        seed_count = min(seeds, len(_SEEDS))
        return self._choose_way(lambda: [Fraction(1, seed_count)] * seed_count)

    def chance(self, threshold: int) -> bool:
        probability = Fraction(min(max(threshold, 0), WORD), WORD)
        return self._choose_way(lambda: [1 - probability, probability]) == 1

    def below(self, bound: int) -> int:
        return self._choose_way(lambda: [Fraction(1, bound)] * bound) if bound > 1 else 0

    def bits(self, count: int, threshold: int) -> int:
        if count > _BITS:
            raise MisuseError(
                f"One bit for each of {count:,} candidates cannot be enumerated: audit a question about {_BITS} or "
                "fewer."
            )
        probability = Fraction(threshold, WORD)
        # The chance of a word of bits depends on the number of its ones alone.
        powers = [probability**ones * (1 - probability) ** (count - ones) for ones in range(count + 1)]
        return self._choose_way(lambda: [powers[bits.bit_count()] for bits in range(1 << count)])

    def some(self, many: int, values: Collection[int]) -> list[int]:
        sets = list(combinations(values, min(many, len(values))))
        return list(sets[self.below(len(sets))])

    def place(self, weight: int, inside: int, outside: int) -> int:
        choices = self._take_choice()
        if choices is not None:
            return choices
        other_fields = WEIGHT_SCALE - weight * inside
        place_weight, factors = divmod(other_fields, outside)
        edges = [0, inside, inside + factors, inside + outside]
        probability = [Fraction(weight_part, WEIGHT_SCALE) for weight_part in (weight, place_weight + 1, place_weight)]
        if inside + outside > _PLACES:
            raise _WideFork([*zip(edges, edges[1:], probability, strict=False)])
        raise _Fork([probability[step] for step in range(3) for _ in range(edges[step], edges[step + 1])])


def _no_bytes(_: int) -> bytes:
    raise ChoicePath("every choice is made through the methods above")


@dataclass
class ReportLaw:
    """The probabilities of reports.

    Parameters
    ----------
    single
        The probability of each single report, by its text.
    stretched
        For reports that differ in one number alone, by the text of all other fields: stretches (start, end, probability
        of each number).
    left_out
        The probability that was not followed to the end: any report may have up to this much more.
    """

    single: dict[str, Fraction] = field(default_factory=dict)
    stretched: dict[str, list[tuple[int, int, Fraction]]] = field(default_factory=dict)
    left_out: Fraction = Fraction(0)

    def flat(self, edges: Mapping[str, list[int]]) -> dict[str, Fraction]:
        """Return the probability of every report, and of one number per piece between the edges of stretches."""
        chances = dict(self.single)
        for other_fields, parts in self.stretched.items():
            for number in edges[other_fields]:
                probability = sum((chance for start, stop, chance in parts if start <= number < stop), Fraction(0))
                chances[f"{other_fields} at {number}"] = probability
        return chances


def law(device: Device) -> ReportLaw:
    """Return the law of a device's report. The most probable ways are followed first."""
    ends: list[_End] = []
    order = count()
    open_ways: list[tuple[Fraction, int, tuple[int, ...]]] = [(Fraction(-1), next(order), ())]
    reached: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    left_out, followed = Fraction(1), 0
    while open_ways and left_out > _MAX_LEFT_OUT and followed < _PATHS:
        negative, _, choices = heappop(open_ways)
        followed += 1
        draws = _FixedDraws(choices)
        try:
            ends.append(_End(-negative, draws.loops, report=_render_report(device(draws))))
        except _FailedAttempt as failed_loop:
            ends.append(_End(-negative, draws.loops, failed_loop=failed_loop.loop))
        except _Fork as fork:
            for way, chance in enumerate(fork.chances):
                if chance:
                    reached[*choices, way] = -negative * chance
                    heappush(open_ways, (negative * chance, next(order), (*choices, way)))
            continue
        except _WideFork as wide:
            for start, stop, chance in wide.stretches:
                ends += [
                    _End(-negative * chance * places, draws.loops, report=other_fields, numbers=numbers)
                    for other_fields, numbers, places in _stretch(device, choices, start, stop)
                ]
        left_out += negative
    return _build_law(ends, reached)


@dataclass(frozen=True)
class _End:
    """One way that was followed to the end: a report, a stretch of numbers, or a failed attempt."""

    probability: Fraction
    loops: list[_Loop]
    report: str = ""
    numbers: tuple[int, int] | None = None
    failed_loop: _Loop | None = None


def _build_law(ends: list[_End], reached: Mapping[tuple[int, ...], Fraction]) -> ReportLaw:
    """Return the law of the reports, with rejection loops resolved.

    1. Resolve inner loops before outer loops: an end gains the factor 1 / (1 - failure probability) per loop.
    2. Count a way that was left out as a success, so that no report gets more probability than it has.
    """
    failing: dict[_Loop, list[_End]] = {}
    for end in ends:
        if end.failed_loop is not None:
            failing.setdefault(end.failed_loop, []).append(end)
    factors: dict[_Loop, Fraction] = {}  # the factor of an end's probability from earlier attempts

    def raise_chance(end: _End, outer: _Loop | None = None) -> Fraction:
        inner = end.loops if outer is None else end.loops[end.loops.index(outer) + 1 :]
        return end.probability * prod((factors.get(loop, Fraction(1)) for loop in inner), start=Fraction(1))

    for loop in sorted(failing, key=lambda loop_key: (len(loop_key[0]), loop_key[1]), reverse=True):
        failed = sum((raise_chance(end, loop) for end in failing[loop]), Fraction(0)) / reached[loop[0]]
        factors[loop] = 1 / (1 - failed) if failed < 1 else Fraction(0)
    report_law = ReportLaw(left_out=Fraction(1))
    for end in ends:
        if end.failed_loop is not None:
            continue
        probability = raise_chance(end)
        if end.numbers is None:
            report_law.single[end.report] = report_law.single.get(end.report, Fraction(0)) + probability
            report_law.left_out -= probability
        else:
            start, stop = end.numbers
            report_law.stretched.setdefault(end.report, []).append((start, stop, probability))
            report_law.left_out -= probability * (stop - start)
    return report_law


def _render_report(report: Any) -> str:
    return NOTHING if report is None else json.dumps(report, sort_keys=True)


def _stretch(
    device: Device, choices: tuple[int, ...], start: int, stop: int
) -> Iterator[tuple[str, tuple[int, int] | None, int]]:
    """Yield the reports of all places from start to before stop, by recursive halving.

    A part is complete when its ends are as far apart in their reports as in their places. Each result is the text of
    the report, its stretch of numbers or None for constant reports, and the number of places with that report.
    """
    open_parts = [(start, stop - 1)] if start < stop else []
    while open_parts:
        first_place, last_place = open_parts.pop()
        (other_fields, low), (other_rest, high) = (
            _split_number(device(_FixedDraws((*choices, place)))) for place in (first_place, last_place)
        )
        if (
            other_fields == other_rest
            and low is not None
            and high is not None
            and high - low == last_place - first_place
        ):
            yield other_fields, (low, high + 1), 1
        elif other_fields == other_rest and low is None and high is None:
            yield other_fields, None, last_place - first_place + 1
        else:
            middle = (first_place + last_place) // 2
            open_parts += [(first_place, middle), (middle + 1, last_place)]


def _split_number(report: Any) -> tuple[str, int | None]:
    """Return the text of a report without its large number, and the number; None without one."""
    name = "point" if report and "point" in report else "value"
    if not report or name not in report:  # a nested report, or silence
        inner = next(iter(report.values()), None) if report else None
        if not isinstance(inner, Mapping):
            return _render_report(report), None
        other_fields, number = _split_number(inner)
        return f"{next(iter(report))} {other_fields}", number
    return _render_report({key: value for key, value in report.items() if key != name}), int(report[name])


@dataclass(frozen=True)
class ReportLoss:
    """The largest ratio of the probabilities of one report under two baskets.

    Parameters
    ----------
    ratio
        The ratio; None for infinity.
    basket, other_basket
        The names of the baskets.
    report
        The report.
    left_out
        The largest probability that was left out of a law.
    """

    ratio: Fraction | None
    basket: str = ""
    other_basket: str = ""
    report: str = ""
    left_out: Fraction = Fraction(0)

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio: the privacy loss."""
        return inf if self.ratio is None else log(self.ratio)


def largest(laws: Mapping[str, ReportLaw]) -> ReportLoss:
    """Return the largest loss between any two laws, by the names of baskets.

    A probability that was left out counts against a loss, so the result is a lower bound.
    """
    edges: dict[str, list[int]] = {}
    for other_fields in {other_fields for name_or_law in laws.values() for other_fields in name_or_law.stretched}:
        edges[other_fields] = sorted(
            {number for name_or_law in laws.values() for number in _list_edges(name_or_law, other_fields)}
        )
    highest: dict[str, tuple[Fraction, str]] = {}
    lowest: dict[str, tuple[Fraction, str]] = {}
    flats = {
        name: name_or_law.flat({other_fields: edges[other_fields] for other_fields in name_or_law.stretched})
        for name, name_or_law in laws.items()
    }
    for name, flat in flats.items():
        for report, probability in flat.items():
            if probability > highest.get(report, (Fraction(0), ""))[0]:
                highest[report] = probability, name
    for report in highest:
        lowest[report] = min(
            ((flat.get(report, Fraction(0)) + laws[name].left_out, name) for name, flat in flats.items())
        )
    left_out = max(name_or_law.left_out for name_or_law in laws.values())
    largest_loss = ReportLoss(Fraction(1), left_out=left_out)
    for report, (probability, name_or_law) in highest.items():
        lowest_chance, lowest_name = lowest[report]
        if not lowest_chance:
            return ReportLoss(None, name_or_law, lowest_name, report, left_out)
        if largest_loss.ratio is not None and probability / lowest_chance > largest_loss.ratio:
            largest_loss = ReportLoss(probability / lowest_chance, name_or_law, lowest_name, report, left_out)
    return largest_loss


def _list_edges(report_law: ReportLaw, other_fields: str) -> Iterator[int]:
    for start, stop, _ in report_law.stretched.get(other_fields, ()):
        yield start
        yield stop


def subsets(values: Iterable[int]) -> list[tuple[int, ...]]:
    """Return all subsets of values, by size, the empty set first."""
    sets: list[tuple[int, ...]] = [()]
    for value in values:
        sets += [(*value_set, value) for value_set in sets]
    return sorted(sets, key=lambda value_set: (len(value_set), value_set))
