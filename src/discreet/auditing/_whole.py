"""Running a mechanism the whole way on two neighbours: from a file that is read to the bytes that are saved.

As in the coupled audit the second run is told what the first released. Here both begin with a file, one of which has a
person more, go through the reader, with and without segments, and end with everything a release can be saved as. Where
both were told the same, every byte must be the same: a vocabulary, a column's type, a name or a number in a file that
depends on the person has come out past the meter.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from ..baskets import AnyBaskets, Baskets, Item, on_this_machine, read
from ..curator import Mechanism
from ..errors import MisuseError
from ..exact import LocalEngine
from ..privacy import Budget, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Case, Question, Release, build_cases, build_meter
from ._coupled import carried, compare_results, labels, lost, seen
from ._engines import NAME
from ._steps import Differs, Step
from ._tape import MOODS, Recorder, Replayer, Unlikely
from ._verdict import Attempt

Basket: TypeAlias = tuple[Item, ...]
# Who holds what, and in which segment.
PeopleRows: TypeAlias = list[tuple[Basket, str]]

READERS = ("csv", "dat", "parquet")
SAVED = ("json", "csv", "parquet", "html")
SEGMENTS = ("north", "south")


@dataclass(frozen=True, kw_only=True)
class Shop:
    """What everyone else holds, the public list of items, and what the person who differs may hold."""

    items: tuple[Item, ...]
    others: tuple[tuple[Basket, int], ...]
    changes: tuple[Basket, ...]


# Names, one of which has what tables are told by; and numbers, among which a name makes a reader take all for names.
# One item of each list is held by nobody else.
SHOPS = (
    Shop(
        items=("bread", 'milk, "whole"', "rice", "salt", "tea"),
        others=((("tea", 'milk, "whole"'), 40), (("bread",), 25), (("bread", "salt", "tea"), 3)),
        changes=(("zinc",), ("bread", 'milk, "whole"', "rice", "salt", "tea"), ("salt", "aloe")),
    ),
    Shop(
        items=(10, 20, 30, 40, 50),
        others=(((10, 20), 40), ((30,), 25), ((10, 30, 40), 3)),
        changes=(("tea",), (50, "tea"), (5,)),
    ),
)


@dataclass(frozen=True, kw_only=True)
class FileCase:
    """One question about a file, by segment or not, and the person who is more or another in it."""

    shop: Shop
    words: Mapping[str, Any] = field(hash=False)
    listed: bool
    change: Basket
    reader: str
    by: bool
    segment: str

    def __str__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.words.items())
        listed = f"items={list(self.shop.items)!r}" if self.listed else "without a list of items"
        segments = f", by segment {list(SEGMENTS)!r}" if self.by else ""
        return f"{told}, {listed}, read from a .{self.reader} file{segments}"

    def pair(self, neighbours: Neighbours) -> str:
        """Return the two files in words."""
        where = f" in the segment {self.segment!r}" if self.by else ""
        held = f"one person who holds {{{', '.join(map(str, self.change))}}}{where}"
        others = sum(times for _, times in self.shop.others)
        if neighbours is Neighbours.REPLACE:
            return f"{others} others; {held}, or {{{self.shop.others[1][0][0]}}} instead"
        return f"{others} others; with and without {held}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The ways the data come in and the results go out."""
        asked = "by segment" if self.by else "all people"
        return f"read from .{self.reader}", asked, *(f"saved as .{suffix}" for suffix in SAVED)

    def people(self, neighbours: Neighbours) -> tuple[PeopleRows, PeopleRows]:
        """Return who is in the one file and in the other. The person who differs comes first."""
        alike = [(basket, SEGMENTS[place % 2]) for basket, times in self.shop.others for place in range(times)]
        before = [(self.shop.others[1][0], self.segment)] if neighbours is Neighbours.REPLACE else []
        return [*before, *alike], [(self.change, self.segment), *alike]


def whole(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    """Go the whole way with every case, until one breaks the claim."""
    begun = perf_counter()
    source, generator = SimulationSource(seed), np.random.default_rng(seed)
    tried, steps, loss, worst, why = 0, 0, 0.0, ("", ""), ""
    paths: dict[str, None] = {}
    with TemporaryDirectory() as folder:
        run = _Run(Path(folder), mechanism, budget, neighbours, source, generator)
        for place, case in enumerate(_cases(mechanism, budget, neighbours)):
            try:
                total, taken = run.both(case, place)
            except (MisuseError, Unlikely):
                continue  # what is refused is not asked, and there is nothing to compare in the event of a delta
            except Differs as difference:
                paths |= dict.fromkeys(case.paths)
                tried, why, worst = tried + 1, str(difference), (case.pair(neighbours), str(case))
                break
            paths |= dict.fromkeys(case.paths)
            tried, steps = tried + 1, steps + taken
            if total >= loss:
                loss, worst = total, (case.pair(neighbours), str(case))
    return Attempt(
        means="whole",
        stands=not why,
        loss=loss,
        tried=f"{tried:,} pairs of files, {steps:,} steps" if tried else "nothing: every question was refused",
        engine=NAME if tried else "",
        paths=tuple(sorted(paths, key=lambda path: ("read" not in path, "saved" in path))),
        pairs=tried,
        pair=worst[0],
        question=worst[1],
        why=why,
        seconds=perf_counter() - begun,
    )


@dataclass
class _Run:
    """Where files lie, and what is asked of them by whom."""

    folder: Path
    mechanism: Mechanism
    budget: Budget
    neighbours: Neighbours
    source: SimulationSource
    generator: np.random.Generator

    def both(self, case: FileCase, place: int) -> tuple[float, int]:
        """Return what a case reveals, in epsilon, and how many steps that took; `Differs` says what is wrong."""
        one, other = (self._cases(case, people) for people in case.people(self.neighbours))
        if list(one) != list(other):
            raise Differs(f"There are releases of {list(one)!r} for the one, and of {list(other)!r} for the other.")
        total, steps = 0.0, 0
        for segment, resolved in one.items():
            first = build_meter(resolved, self.source, kind=Recorder)
            first.record(MOODS[place % len(MOODS)], self.generator, labels(resolved))
            # A segment that the person is not in has the same data on both sides: its files are as many again.
            saved = not _same(resolved.baskets, other[segment].baskets)
            told = self._told(resolved, first, saved)
            again = build_meter(resolved, self.source, kind=Replayer)
            tape: Sequence[Step] = first.tape
            again.replay(tape, self.generator, labels(other[segment]))
            found = self._told(other[segment], again, saved)
            again.done()
            compare_results(told, found)
            total, steps = max(total, lost(again)), steps + len(tape)  # everyone is in one segment
        return total, steps

    def _cases(self, case: FileCase, people: PeopleRows) -> dict[Item, Case]:
        in_column = case.by and case.reader != "dat"
        question = Question(
            mechanism=self.mechanism,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            neighbours=self.neighbours,
            items=list(case.shop.items) if case.listed else None,
            by="region" if in_column else None,
            segments=list(SEGMENTS) if case.by else None,
            **case.words,
        )
        segment_of = [segment for _, segment in people] if case.by and not in_column else None
        return build_cases(question, read_back(case.reader, tuple(people), case.by), segment_of=segment_of, trying=True)

    def _told(self, case: Case, meter: Recorder, saved: bool) -> dict[str, Any]:
        """Carry a case out on the engine of a release, save it in every way, and return all that anyone sees."""
        release, heard = carried(case, meter, LocalEngine)
        return {**seen(release), "warnings": heard, **(self._saved(release) if saved else {})}

    def _saved(self, release: Release) -> dict[str, Any]:
        """Return the bytes of everything that is written, by the names of the files."""
        found: dict[str, Any] = {}
        with TemporaryDirectory(dir=self.folder) as folder:
            for suffix in SAVED:
                release.save(Path(folder) / f"release.{suffix}")
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    found[f"bytes of {path.name}"] = path.read_bytes()
        return found


@lru_cache(maxsize=128)
def read_back(reader: str, people: tuple[tuple[Basket, str], ...], by: bool) -> Baskets:
    """Write what people hold to a file, and read it; the same people are the same file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"people.{reader}"
        if reader == "dat":
            path.write_text("".join(" ".join(map(str, basket)) + "\n" for basket, _ in people))
            return read(path)
        rows = [(number, item, segment) for number, (basket, segment) in enumerate(people) for item in basket]
        names = ("customer", "product", "region")
        if reader == "csv":
            with path.open("w", newline="") as stream:
                csv.writer(stream).writerows([names, *rows])
        else:
            from pyarrow import parquet, table

            columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            numeric = all(isinstance(item, int) for item in columns["product"])
            columns["product"] = columns["product"] if numeric else [str(item) for item in columns["product"]]
            parquet.write_table(table(columns), path)
        return read(path, person="customer", item="product", by="region" if by else None)


def _same(one: AnyBaskets, other: AnyBaskets) -> bool:
    one, other = on_this_machine(one, "An audit"), on_this_machine(other, "An audit")
    alike = one.vocabulary == other.vocabulary and np.array_equal(one.offsets, other.offsets)
    return alike and np.array_equal(one.codes, other.codes)


def _cases(mechanism: Mechanism, budget: Budget, neighbours: Neighbours) -> Iterator[FileCase]:
    """Yield the questions that this kind of mechanism answers, each change of a shop with one reader after the other.

    Where the number of people is not public, one of the changes is asked about by segment too: that of a person in a
    segment, and that of one in none of those that are listed.
    """
    place = 0
    for shop in SHOPS:
        for words, listed in _asked(mechanism, budget, shop):
            for change in shop.changes:
                place += 1
                turns = [("south", False)]
                if neighbours is Neighbours.ADD_REMOVE and change is not shop.changes[-1]:
                    turns.append(("hiv-clinic" if change is shop.changes[0] else "south", True))
                for turn, (segment, by) in enumerate(turns):
                    reader = READERS[(place + turn) % len(READERS)]
                    spaced = reader == "dat" and any(" " in str(item) for basket in shop.others for item in basket[0])
                    yield FileCase(
                        shop=shop,
                        words=words,
                        listed=listed,
                        change=change,
                        reader="csv" if spaced else reader,
                        by=by,
                        segment=segment,
                    )


def _asked(mechanism: Mechanism, budget: Budget, shop: Shop) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the questions, and whether the list of items is given with them."""
    lists = (True,) if budget.pure else (True, False)
    for listed in lists:
        if "top" in mechanism.answers:
            yield {"top": 3}, listed
        elif "threshold" in mechanism.answers:
            yield {"min_count": 20}, listed
    if "itemsets" in mechanism.answers:
        yield {"itemsets": [[shop.items[0]], list(shop.items[:2])]}, True
