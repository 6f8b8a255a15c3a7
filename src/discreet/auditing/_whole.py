"""The whole audit: coupled runs on two neighbours, from a file that is read to the bytes that are saved.

As in the coupled audit, the second run receives the released values of the first. Here both runs begin with a file, one
of them with a person more, pass the reader, with and without segments, and end with every saved format of a release.
Every byte must be equal: a vocabulary, a column type, a name or a number that depends on the person has leaked past the
meter.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from ..baskets import AnyBaskets, Baskets, Item, read, require_local_baskets
from ..curator import Mechanism
from ..exact import LocalEngine
from ..privacy import Budget, Neighbours
from ..publish import Case, Question, Release, build_cases
from ._attack import Attack, PairTrial
from ._runs import AuditedCase, Coupling, Values, list_released_values, run_checked
from ._steps import Differs
from ._tape import MOODS, Mood, Recorder
from ._verdict import Attempt

Basket: TypeAlias = tuple[Item, ...]
# The basket and the segment of each person.
PeopleRows: TypeAlias = list[tuple[Basket, str]]

READERS = ("csv", "dat", "parquet")
SUFFIXES = ("json", "csv", "parquet", "html")
SEGMENTS = ("north", "south")


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The rows of all further people, the public list of items, and the possible baskets of the differing person."""

    items: tuple[Item, ...]
    others: tuple[tuple[Basket, int], ...]
    changes: tuple[Basket, ...]


# Names, one with separators and quotes of CSV; and numbers, where one name makes a reader take all items for names. One
# item of each list occurs with the differing person alone.
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
    """One question about a file, by segment or not, and the differing person."""

    shop: Shop
    words: Mapping[str, Any] = field(hash=False)
    has_list: bool
    changed_basket: Basket
    reader: str
    by: bool
    segment: str

    def __str__(self) -> str:
        words_text = ", ".join(f"{name}={value!r}" for name, value in self.words.items())
        list_text = f"items={list(self.shop.items)!r}" if self.has_list else "without a list of items"
        segments = f", by segment {list(SEGMENTS)!r}" if self.by else ""
        return f"{words_text}, {list_text}, read from a .{self.reader} file{segments}"

    def describe_pair(self, neighbours: Neighbours) -> str:
        """Return the two files in words."""
        segment_text = f" in the segment {self.segment!r}" if self.by else ""
        person_text = f"one person who holds {{{', '.join(map(str, self.changed_basket))}}}{segment_text}"
        other_count = sum(times for _, times in self.shop.others)
        if neighbours is Neighbours.REPLACE:
            return f"{other_count} others; {person_text}, or {{{self.shop.others[1][0][0]}}} instead"
        return f"{other_count} others; with and without {person_text}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The ways of data input and result output."""
        scope_text = "by segment" if self.by else "all people"
        return f"read from .{self.reader}", scope_text, *(f"saved as .{suffix}" for suffix in SUFFIXES)

    def list_people(self, neighbours: Neighbours) -> tuple[PeopleRows, PeopleRows]:
        """Return the people of both files. The differing person comes first."""
        other_rows = [(basket, SEGMENTS[place % 2]) for basket, times in self.shop.others for place in range(times)]
        before = [(self.shop.others[1][0], self.segment)] if neighbours is Neighbours.REPLACE else []
        return [*before, *other_rows], [(self.changed_basket, self.segment), *other_rows]


def whole(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    """Return the attempt on every case, from file to file, until one breaks the claim."""
    attack, coupling = Attack("whole", paths=()), Coupling(seed)
    with TemporaryDirectory() as folder:
        run = _Run(Path(folder), mechanism, budget, neighbours, coupling)
        attack.try_pairs(
            PairTrial(
                pair=case.describe_pair(neighbours),
                question=case,
                compare=partial(run.compare, case, MOODS[place % len(MOODS)]),
                paths=case.paths,
            )
            for place, case in enumerate(_cases(mechanism, budget, neighbours))
        )
    # The ways of input come first, then the people, then the files.
    attack.paths = dict.fromkeys(sorted(attack.paths, key=lambda path: ("read" not in path, "saved" in path)))
    return attack.attempt(f"{attack.pairs:,} pairs of files, {coupling.steps:,} steps")


@dataclass
class _Run:
    """The directory and the inputs of one whole audit."""

    folder: Path
    mechanism: Mechanism
    budget: Budget
    neighbours: Neighbours
    coupling: Coupling

    def compare(self, case: FileCase, mood: Mood) -> float:
        """Return the loss of a case, in epsilon; `Differs` states a fault."""
        cases, other_cases = (self._cases(case, people) for people in case.list_people(self.neighbours))
        if list(cases) != list(other_cases):
            raise Differs(
                f"There are releases of {list(cases)!r} for the one, and of {list(other_cases)!r} for the other."
            )
        largest_loss = 0.0
        for segment, first_case in cases.items():
            # A segment without the person has equal data on both sides, so its files would be equal in any case.
            is_saved = not _has_same_data(first_case.baskets, other_cases[segment].baskets)
            run = partial(self._run_and_save, is_saved=is_saved)
            recording = self.coupling.record(first_case, mood, run)
            # A person is in one segment, so the losses of segments do not add up: parallel composition.
            largest_loss = max(largest_loss, self.coupling.replay(other_cases[segment], recording, run))
        return largest_loss

    def _cases(self, case: FileCase, people: PeopleRows) -> dict[Item, Case]:
        # FIMI text has no columns, so its segments are given beside the file.
        in_column = case.by and case.reader != "dat"
        question = Question(
            mechanism=self.mechanism,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            neighbours=self.neighbours,
            items=list(case.shop.items) if case.has_list else None,
            by="region" if in_column else None,
            segments=list(SEGMENTS) if case.by else None,
            **case.words,
        )
        segment_of = [segment for _, segment in people] if case.by and not in_column else None
        return build_cases(
            question, write_and_read(case.reader, tuple(people), case.by), segment_of=segment_of, trying=True
        )

    def _run_and_save(self, case: AuditedCase, meter: Recorder, *, is_saved: bool) -> Values:
        """Run a case on the engine of a release, save it in every format, and return all visible values."""
        release, warning_texts = run_checked(case, meter, LocalEngine)
        return {
            **list_released_values(release),
            "warnings": warning_texts,
            **(self._save_all(release) if is_saved else {}),
        }

    def _save_all(self, release: Release) -> dict[str, Any]:
        """Return the bytes of all written files, by their names."""
        values: dict[str, Any] = {}
        with TemporaryDirectory(dir=self.folder) as folder:
            # Every format may leak in its own way: by a type, a width or a name.
            for suffix in SUFFIXES:
                release.save(Path(folder) / f"release.{suffix}")
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    values[f"bytes of {path.name}"] = path.read_bytes()
        return values


@lru_cache(maxsize=128)
def write_and_read(reader: str, people: tuple[tuple[Basket, str], ...], by: bool) -> Baskets:
    """Return the baskets of people after a file of them was written and read; equal people share one file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"people.{reader}"
        if reader == "dat":
            path.write_text("".join(" ".join(map(str, basket)) + "\n" for basket, _ in people))
            return read(path)
        # A person without an item has no row: a table cannot say that such a person exists.
        rows = [(number, item, segment) for number, (basket, segment) in enumerate(people) for item in basket]
        names = ("customer", "product", "region")
        if reader == "csv":
            with path.open("w", newline="") as stream:
                csv.writer(stream).writerows([names, *rows])
        else:
            from pyarrow import parquet, table

            columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            # A column of Parquet has one type, so one name makes all items text.
            numeric = all(isinstance(item, int) for item in columns["product"])
            columns["product"] = columns["product"] if numeric else [str(item) for item in columns["product"]]
            parquet.write_table(table(columns), path)
        return read(path, person="customer", item="product", by="region" if by else None)


def _has_same_data(data: AnyBaskets, other_data: AnyBaskets) -> bool:
    data, other_data = require_local_baskets(data, "An audit"), require_local_baskets(other_data, "An audit")
    is_equal = data.vocabulary == other_data.vocabulary and np.array_equal(data.offsets, other_data.offsets)
    return is_equal and np.array_equal(data.codes, other_data.codes)


def _cases(mechanism: Mechanism, budget: Budget, neighbours: Neighbours) -> Iterator[FileCase]:
    """Yield the questions that a mechanism answers, each change of a shop with the readers in turn.

    Under add/remove, some changes have a case by segment too: a person in a listed segment, and in an unlisted one.
    """
    place = 0
    for shop in SHOPS:
        for words, has_list in _list_forms(mechanism, budget, shop):
            for changed_basket in shop.changes:
                place += 1
                turns = [("south", False)]
                if neighbours is Neighbours.ADD_REMOVE and changed_basket is not shop.changes[-1]:
                    turns.append(("hiv-clinic" if changed_basket is shop.changes[0] else "south", True))
                for turn, (segment, by) in enumerate(turns):
                    # In turn, as every change with every reader takes three times as long.
                    reader = READERS[(place + turn) % len(READERS)]
                    spaced = reader == "dat" and any(" " in str(item) for basket in shop.others for item in basket[0])
                    yield FileCase(
                        shop=shop,
                        words=words,
                        has_list=has_list,
                        changed_basket=changed_basket,
                        reader="csv" if spaced else reader,
                        by=by,
                        segment=segment,
                    )


def _list_forms(mechanism: Mechanism, budget: Budget, shop: Shop) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the keywords of each question, and whether the list of items is given."""
    lists = (True,) if budget.pure else (True, False)
    for has_list in lists:
        if "top" in mechanism.answers:
            yield {"top": 3}, has_list
        elif "threshold" in mechanism.answers:
            yield {"min_count": 20}, has_list
    if "itemsets" in mechanism.answers:
        yield {"itemsets": [[shop.items[0]], list(shop.items[:2])]}, True
