"""The exact law of a device's report: every random choice it can make is followed, with its exact probability.

The device's own code runs, but for the choices of `local.device.draws`, each of which has a stated law: a choice is
made for it, and it is run again for every other choice. Attempts that are made anew until one succeeds (`Draws.until`)
are followed once: what comes of the first that succeeds has the chances of one attempt, divided by that of success.
What a hash function does is enumerated for some of them, since the report names the one that was used and it is drawn
without looking at the basket. A place among very many (a point of the wheel) is followed by stretches: places next to
each other that lead to reports next to each other.
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

# What one device does: a report made of the choices it is given, or nothing at all.
Device: TypeAlias = Callable[[Draws], Any]
# Attempts that a device makes anew until one succeeds: the choices before them, and how many such there were before.
_Loop: TypeAlias = tuple[tuple[int, ...], int]

_PATHS = 4000  # ways a device is followed before the rest is left out
_LEFT = Fraction(1, 10**9)  # what may be left out of a law
_PLACES = 64  # more places than these are followed by stretches
_SEEDS = tuple((0x9E3779B1 * odd & WORD - 1 | 1, 0x85EBCA77 * odd & WORD - 1) for odd in (1, 3, 5, 7, 11))
_BITS = 12  # more of them than these cannot be enumerated
NOTHING = "nothing"  # what a silent device says


class ChoicePath(Exception):  # noqa: N818
    """The device is stopped to be followed further: nothing of it may catch this."""


class _Fork(ChoicePath):
    """The device comes to a choice that was not made for it: how many ways there are, and how likely each is."""

    def __init__(self, chances: list[Fraction]) -> None:
        self.chances = chances


class _Wide(ChoicePath):
    """The device comes to a place among very many: stretches of places, first and behind the last, each as likely."""

    def __init__(self, stretches: list[tuple[int, int, Fraction]]) -> None:
        self.stretches = stretches


class _Again(ChoicePath):
    """An attempt of the device failed, and it would make another."""

    def __init__(self, loop: _Loop) -> None:
        self.loop = loop


class _Chosen(Draws):
    """Random choices that are made beforehand; the first that is not made stops the device."""

    def __init__(self, made: tuple[int, ...]) -> None:
        super().__init__(_no_bytes)
        self._made = made
        self._used = 0
        self.loops: list[_Loop] = []  # the attempts that were begun

    def _given(self) -> int | None:
        if self._used == len(self._made):
            return None
        self._used += 1
        return self._made[self._used - 1]

    def _next(self, chances: Callable[[], list[Fraction]]) -> int:
        made = self._given()
        if made is None:
            raise _Fork(chances())
        return made

    def until(self, attempt: Callable[[], set[int] | None]) -> set[int]:
        loop = self._made[: self._used], len(self.loops)
        self.loops.append(loop)
        found = attempt()
        if found is None:
            raise _Again(loop)
        return found

    def filled(self, chosen: set[int], many: int, bound: int, without: Collection[int] = ()) -> set[int]:
        others = [value for value in range(bound) if value not in chosen and value not in without]
        return chosen.union(self.some(many - len(chosen), others))

    def seed(self) -> tuple[int, int]:
        return _SEEDS[self._next(lambda: [Fraction(1, len(_SEEDS))] * len(_SEEDS))]

    def published(self, seeds: int) -> int:
        few = min(seeds, len(_SEEDS))
        return self._next(lambda: [Fraction(1, few)] * few)

    def chance(self, threshold: int) -> bool:
        likely = Fraction(min(max(threshold, 0), WORD), WORD)
        return self._next(lambda: [1 - likely, likely]) == 1

    def below(self, bound: int) -> int:
        return self._next(lambda: [Fraction(1, bound)] * bound) if bound > 1 else 0

    def bits(self, count: int, threshold: int) -> int:
        if count > _BITS:
            raise MisuseError(
                f"One bit for each of {count:,} candidates cannot be enumerated: audit a question about {_BITS} or "
                "fewer."
            )
        likely = Fraction(threshold, WORD)
        powers = [likely**ones * (1 - likely) ** (count - ones) for ones in range(count + 1)]
        return self._next(lambda: [powers[bits.bit_count()] for bits in range(1 << count)])

    def some(self, many: int, values: Collection[int]) -> list[int]:
        sets = list(combinations(values, min(many, len(values))))
        return list(sets[self.below(len(sets))])

    def place(self, weight: int, inside: int, outside: int) -> int:
        made = self._given()
        if made is not None:
            return made
        rest = WEIGHT_SCALE - weight * inside
        each, more = divmod(rest, outside)
        edges = [0, inside, inside + more, inside + outside]
        likely = [Fraction(one, WEIGHT_SCALE) for one in (weight, each + 1, each)]
        if inside + outside > _PLACES:
            raise _Wide([*zip(edges, edges[1:], likely, strict=False)])
        raise _Fork([likely[step] for step in range(3) for _ in range(edges[step], edges[step + 1])])


def _no_bytes(_: int) -> bytes:
    raise ChoicePath("every choice is made through the methods above")


@dataclass
class ReportLaw:
    """The probabilities of reports.

    Parameters
    ----------
    single
        Of single reports, by their text.
    stretched
        Of reports that differ in one number alone: by the text of the rest, stretches of that number, each number
        in it with the same probability.
    left
        What was not followed to its end: any report may have that much more.
    """

    single: dict[str, Fraction] = field(default_factory=dict)
    stretched: dict[str, list[tuple[int, int, Fraction]]] = field(default_factory=dict)
    left: Fraction = Fraction(0)

    def flat(self, edges: Mapping[str, list[int]]) -> dict[str, Fraction]:
        """Return the probability of every report, one for each piece between the edges where numbers are stretched."""
        found = dict(self.single)
        for rest, parts in self.stretched.items():
            for number in edges[rest]:
                likely = sum((one for start, stop, one in parts if start <= number < stop), Fraction(0))
                found[f"{rest} at {number}"] = likely
        return found


def law(device: Device) -> ReportLaw:
    """Return the law of a device's report. The likeliest ways are followed first."""
    ends: list[_End] = []
    order = count()
    open_ways: list[tuple[Fraction, int, tuple[int, ...]]] = [(Fraction(-1), next(order), ())]
    reached: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    left, followed = Fraction(1), 0
    while open_ways and left > _LEFT and followed < _PATHS:
        negative, _, made = heappop(open_ways)
        followed += 1
        draws = _Chosen(made)
        try:
            ends.append(_End(-negative, draws.loops, report=_written(device(draws))))
        except _Again as again:
            ends.append(_End(-negative, draws.loops, again=again.loop))
        except _Fork as fork:
            for way, chance in enumerate(fork.chances):
                if chance:
                    reached[*made, way] = -negative * chance
                    heappush(open_ways, (negative * chance, next(order), (*made, way)))
            continue
        except _Wide as wide:
            for start, stop, chance in wide.stretches:
                ends += [
                    _End(-negative * chance * places, draws.loops, report=rest, numbers=numbers)
                    for rest, numbers, places in _stretch(device, made, start, stop)
                ]
        left += negative
    return _told_in_the_end(ends, reached)


@dataclass(frozen=True)
class _End:
    """One way followed to its end: a report, the same for a stretch of numbers, or an attempt that failed."""

    likely: Fraction
    loops: list[_Loop]
    report: str = ""
    numbers: tuple[int, int] | None = None
    again: _Loop | None = None


def _told_in_the_end(ends: list[_End], reached: Mapping[tuple[int, ...], Fraction]) -> ReportLaw:
    """Return the law of the reports, where the device goes back to the first of its attempts as often as one fails.

    Attempts within attempts come first. What was not followed counts as if it never failed, so that no report is given
    more than it has.
    """
    failing: dict[_Loop, list[_End]] = {}
    for end in ends:
        if end.again is not None:
            failing.setdefault(end.again, []).append(end)
    more: dict[_Loop, Fraction] = {}  # how much likelier an end becomes by the attempts before it

    def raised(end: _End, outer: _Loop | None = None) -> Fraction:
        inner = end.loops if outer is None else end.loops[end.loops.index(outer) + 1 :]
        return end.likely * prod((more.get(loop, Fraction(1)) for loop in inner), start=Fraction(1))

    for loop in sorted(failing, key=lambda one: (len(one[0]), one[1]), reverse=True):
        failed = sum((raised(end, loop) for end in failing[loop]), Fraction(0)) / reached[loop[0]]
        more[loop] = 1 / (1 - failed) if failed < 1 else Fraction(0)
    found = ReportLaw(left=Fraction(1))
    for end in ends:
        if end.again is not None:
            continue
        likely = raised(end)
        if end.numbers is None:
            found.single[end.report] = found.single.get(end.report, Fraction(0)) + likely
            found.left -= likely
        else:
            start, stop = end.numbers
            found.stretched.setdefault(end.report, []).append((start, stop, likely))
            found.left -= likely * (stop - start)
    return found


def _written(report: Any) -> str:
    return NOTHING if report is None else json.dumps(report, sort_keys=True)


def _stretch(
    device: Device, made: tuple[int, ...], start: int, stop: int
) -> Iterator[tuple[str, tuple[int, int] | None, int]]:
    """Yield the reports of all places from start to before stop: split until both ends are as far apart as those.

    With the stretch of numbers and 1; or, for a report that is the same at all of them, without and how many they are.
    """
    open_parts = [(start, stop - 1)] if start < stop else []
    while open_parts:
        first, last = open_parts.pop()
        (rest, low), (other, high) = (_told(device(_Chosen((*made, place)))) for place in (first, last))
        if rest == other and low is not None and high is not None and high - low == last - first:
            yield rest, (low, high + 1), 1
        elif rest == other and low is None and high is None:
            yield rest, None, last - first + 1
        else:
            middle = (first + last) // 2
            open_parts += [(first, middle), (middle + 1, last)]


def _told(report: Any) -> tuple[str, int | None]:
    """Return a report without its number of very many, and that number, if it has one."""
    name = "point" if report and "point" in report else "value"
    if not report or name not in report:  # one kind of report inside another, or none at all
        inner = next(iter(report.values()), None) if report else None
        if not isinstance(inner, Mapping):
            return _written(report), None
        rest, number = _told(inner)
        return f"{next(iter(report))} {rest}", number
    return _written({key: value for key, value in report.items() if key != name}), int(report[name])


@dataclass(frozen=True)
class ReportLoss:
    """The largest ratio of the chances of one report under two baskets, and where it is.

    Parameters
    ----------
    ratio
        The ratio; None where it is infinite.
    one, other
        The names of the baskets.
    report
        The report.
    left
        The most that was left out of any of the laws.
    """

    ratio: Fraction | None
    one: str = ""
    other: str = ""
    report: str = ""
    left: Fraction = Fraction(0)

    @property
    def epsilon(self) -> float:
        """The ratio as a loss."""
        return inf if self.ratio is None else log(self.ratio)


def largest(laws: Mapping[str, ReportLaw]) -> ReportLoss:
    """Return the largest loss between any two of the laws, by the names of baskets.

    Where something was left out of a law, it counts against finding a loss: what is returned is really lost.
    """
    edges: dict[str, list[int]] = {}
    for rest in {rest for one in laws.values() for rest in one.stretched}:
        edges[rest] = sorted({number for one in laws.values() for number in _edges(one, rest)})
    highest: dict[str, tuple[Fraction, str]] = {}
    lowest: dict[str, tuple[Fraction, str]] = {}
    flats = {name: one.flat({rest: edges[rest] for rest in one.stretched}) for name, one in laws.items()}
    for name, flat in flats.items():
        for report, likely in flat.items():
            if likely > highest.get(report, (Fraction(0), ""))[0]:
                highest[report] = likely, name
    for report in highest:
        lowest[report] = min(((flat.get(report, Fraction(0)) + laws[name].left, name) for name, flat in flats.items()))
    left = max(one.left for one in laws.values())
    best = ReportLoss(Fraction(1), left=left)
    for report, (likely, one) in highest.items():
        least, other = lowest[report]
        if not least:
            return ReportLoss(None, one, other, report, left)
        if best.ratio is not None and likely / least > best.ratio:
            best = ReportLoss(likely / least, one, other, report, left)
    return best


def _edges(one: ReportLaw, rest: str) -> Iterator[int]:
    for start, stop, _ in one.stretched.get(rest, ()):
        yield start
        yield stop


def subsets(values: Iterable[int]) -> list[tuple[int, ...]]:
    """Return all sets of these values, the empty one first."""
    found: list[tuple[int, ...]] = [()]
    for value in values:
        found += [(*one, value) for one in found]
    return sorted(found, key=lambda one: (len(one), one))
