"""What `det-gd` and `ran-gd` share: records of a categorical table, perturbed one by one, and mined from the reports.

A record is one cell of the table of all combinations of values, as in FRAPP (Agrawal and Haritsa 2005). Everyone
reports a cell; what a report says about the others is a known matrix, and supports are found by turning it round.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets, Item
from discreet.errors import InputError, MisuseError
from discreet.privacy import exact
from discreet.privacy.sampling import Source

from .comparator import Comparator, ComparatorResult, ComparatorTask

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

# Each estimate of a table is an array of its size, and there are as many as subsets of the attributes.
MOST_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class PerturbedTable:
    """Everyone's record as the number of a cell; `values` has the labels of each attribute, in the order of axes."""

    records: I64
    values: tuple[tuple[Item, ...], ...]

    @classmethod
    def of(cls, baskets: Baskets) -> PerturbedTable:
        """Read a table from baskets whose items are called "attribute=value": everyone holds one of each attribute."""
        attributes: dict[str, list[int]] = {}
        for code, label in enumerate(baskets.vocabulary):
            name, equals, _ = str(label).partition("=")
            if not equals:
                raise InputError(
                    f"The item {label!r} is not of the form attribute=value, which a categorical table needs:"
                    " name the items so, or load 'made-up-census'."
                )
            attributes.setdefault(name, []).append(code)
        sizes = tuple(map(len, attributes.values()))
        if prod(sizes) > MOST_CELLS:
            raise MisuseError(
                f"The table has {prod(sizes):,} different records, more than {MOST_CELLS:,}: leave attributes out."
            )
        axis, place = np.zeros(baskets.items, np.int64), np.zeros(baskets.items, np.int64)
        for number, codes in enumerate(attributes.values()):
            axis[codes], place[codes] = number, np.arange(len(codes))
        # The labels are sorted, so those of an attribute may lie apart: rows are brought into the order of axes.
        if baskets.sizes.size and not bool((baskets.sizes == len(sizes)).all()):
            raise InputError(f"Everyone must hold exactly one value of each of the {len(sizes)} attributes.")
        held = baskets.codes.reshape(len(baskets), len(sizes))
        held = np.take_along_axis(held, np.argsort(axis[held], axis=1, kind="stable"), axis=1)
        if not bool((axis[held] == np.arange(len(sizes))).all()):
            raise InputError(f"Everyone must hold exactly one value of each of the {len(sizes)} attributes.")
        records = np.ravel_multi_index(tuple(place[held].T), sizes) if sizes else np.zeros(len(baskets), np.int64)
        labels = tuple(baskets.vocabulary)
        return cls(
            np.asarray(records, np.int64), tuple(tuple(labels[code] for code in one) for one in attributes.values())
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(map(len, self.values))

    @property
    def cells(self) -> int:
        """How many different records there could be."""
        return prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class GammaDiagonal(Comparator):
    """A record is kept gamma times as likely as it becomes any one of the others.

    Parameters
    ----------
    gamma
        The amplification: e to the epsilon of local privacy. An exact number over 1.
    """

    gamma: Fraction = Fraction(19)

    citation: ClassVar[str] = (
        "S. Agrawal, J. R. Haritsa. A framework for high-accuracy privacy-preserving mining. ICDE 2005."
    )

    def __post_init__(self) -> None:
        gamma = exact(self.gamma, "gamma")
        if not 1 < gamma < 2**32 or gamma.denominator > 2**16:
            raise MisuseError(f"gamma lies over 1 and is a short fraction, such as 19; {self.gamma} was given.")
        object.__setattr__(self, "gamma", gamma)

    @abstractmethod
    def keeping(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Decide for everyone whether they report their own record."""

    def check(self, cells: int) -> None:
        """Refuse a table that the settings do not fit."""

    def find(self, baskets: Baskets, wanted: ComparatorTask, source: Source) -> ComparatorResult:
        """Let everyone report a record, and mine the reports level by level."""
        table = PerturbedTable.of(baskets)
        self.check(table.cells)
        reports = self.reports(table.records, table.cells, source)
        seen = np.bincount(reports, minlength=table.cells).reshape(table.shape)
        return ComparatorResult(counts=self.mined(seen, table, wanted))

    def reports(self, records: I64, cells: int, source: Source) -> I64:
        """Return everyone's report: their own record, or any of the others alike."""
        if cells == 1:
            return records
        kept = self.keeping(cells, len(records), source)
        other = below(source, cells - 1, len(records))
        return np.where(kept, records, other + (other >= records))

    def mined(self, seen: I64, table: PerturbedTable, wanted: ComparatorTask) -> dict[frozenset[Item], float]:
        """Return the itemsets whose estimate passes, and those of all their subsets."""
        found: dict[frozenset[Item], float] = {}
        frequent: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        axes = range(len(table.shape))
        for size in range(1, len(table.shape) + 1):
            for kept in combinations(axes, size):
                values = self.estimates(seen.sum(axis=tuple(axis for axis in axes if axis not in kept)), table.cells)
                passed = values >= wanted.count
                for place in range(size) if size > 1 else ():
                    passed &= np.expand_dims(frequent[kept[:place] + kept[place + 1 :]], place)
                frequent[kept] = passed
                if wanted.fits(size):
                    for where in np.argwhere(passed).tolist():
                        labels = (table.values[axis][value] for axis, value in zip(kept, where, strict=True))
                        found[frozenset(labels)] = float(values[tuple(where)])
        return found

    def estimates(self, seen: NDArray[np.int64], cells: int) -> F64:
        """Turn numbers of reports in the cells of some attributes into numbers of people, without bias.

        Of N people, s of whom are in a cell that stands for `share` of the whole table, s (gamma - 1) x + N share x are
        expected to report it, where x = 1 / (gamma + cells - 1).
        """
        own, other = self.gamma.numerator, self.gamma.denominator
        expected = other * int(seen.sum()) * (cells // seen.size)
        # Whole numbers up to here, so that a count that equals the threshold does not fall below it.
        return np.asarray(((own + (cells - 1) * other) * seen - expected) / (own - other), np.float64)


def below(source: Source, bound: int, many: int) -> I64:
    """Return `many` whole numbers from 0 to before `bound`, each as likely as the others; `bound` is at most 2^63."""
    drawn = np.zeros(many, np.int64)
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    missing = np.arange(many)
    while len(missing):
        # The highest bits make a number below the next power of two; those that are not below the bound are drawn anew.
        fresh = (source.words(len(missing)) >> shift).astype(np.int64)
        drawn[missing] = fresh
        missing = missing[fresh >= bound]
    return drawn
