"""The common part of `det-gd` and `ran-gd`: perturbed records of a categorical table, and mining from the reports.

A record is a cell of the table of all combinations of values, as in FRAPP (Agrawal and Haritsa 2005). Each person
reports a cell; the probabilities of reports are a known matrix, and supports are estimated by its inverse.
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

# Bounds the memory: each subset of the attributes has an array of estimates, of up to this number of cells.
MAX_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class PerturbedTable:
    """The record of each person as the number of a cell; `values` has the labels of each attribute, by axis."""

    records: I64
    values: tuple[tuple[Item, ...], ...]

    @classmethod
    def from_baskets(cls, baskets: Baskets) -> PerturbedTable:
        """Return the table of baskets with items named "attribute=value", one of each attribute per person."""
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
        if prod(sizes) > MAX_CELLS:
            raise MisuseError(
                f"The table has {prod(sizes):,} different records, more than {MAX_CELLS:,}: leave attributes out."
            )
        axis, place = np.zeros(baskets.items, np.int64), np.zeros(baskets.items, np.int64)
        for number, codes in enumerate(attributes.values()):
            axis[codes], place[codes] = number, np.arange(len(codes))
        # Labels are sorted, and labels of one attribute need not be adjacent: bring each row into the order of axes.
        if baskets.sizes.size and not bool((baskets.sizes == len(sizes)).all()):
            raise InputError(f"Everyone must hold exactly one value of each of the {len(sizes)} attributes.")
        record_codes = baskets.codes.reshape(len(baskets), len(sizes))
        record_codes = np.take_along_axis(record_codes, np.argsort(axis[record_codes], axis=1, kind="stable"), axis=1)
        if not bool((axis[record_codes] == np.arange(len(sizes))).all()):
            raise InputError(f"Everyone must hold exactly one value of each of the {len(sizes)} attributes.")
        records = (
            np.ravel_multi_index(tuple(place[record_codes].T), sizes) if sizes else np.zeros(len(baskets), np.int64)
        )
        labels = tuple(baskets.vocabulary)
        return cls(
            np.asarray(records, np.int64), tuple(tuple(labels[code] for code in codes) for codes in attributes.values())
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each attribute."""
        return tuple(map(len, self.values))

    @property
    def cells(self) -> int:
        """The number of possible records."""
        return prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class GammaDiagonal(Comparator):
    """A matrix that keeps a record with gamma times the probability of every different record.

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
    def draw_kept(self, cells: int, people: int, source: Source) -> NDArray[np.bool_]:
        """Draw whether each person reports the own record."""

    def check(self, cells: int) -> None:
        """Raise for a table that the settings do not fit."""

    def find(self, baskets: Baskets, task: ComparatorTask, source: Source) -> ComparatorResult:
        """Draw a report of each person, and mine the reports by length."""
        table = PerturbedTable.from_baskets(baskets)
        self.check(table.cells)
        reports = self.draw_reports(table.records, table.cells, source)
        report_counts = np.bincount(reports, minlength=table.cells).reshape(table.shape)
        return ComparatorResult(counts=self.mine_reports(report_counts, table, task))

    def draw_reports(self, records: I64, cells: int, source: Source) -> I64:
        """Return the report of each person: the own record, or a uniform other record."""
        if cells == 1:
            return records
        is_kept = self.draw_kept(cells, len(records), source)
        other_record = draw_below(source, cells - 1, len(records))
        return np.where(is_kept, records, other_record + (other_record >= records))

    def mine_reports(
        self, report_counts: I64, table: PerturbedTable, task: ComparatorTask
    ) -> dict[frozenset[Item], float]:
        """Return the itemsets with an estimate, like those of all subsets, of at least the threshold."""
        counts: dict[frozenset[Item], float] = {}
        frequent: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        axes = range(len(table.shape))
        for size in range(1, len(table.shape) + 1):
            for kept_axes in combinations(axes, size):
                values = self.estimate_counts(
                    report_counts.sum(axis=tuple(axis for axis in axes if axis not in kept_axes)), table.cells
                )
                is_frequent = values >= task.count
                for place in range(size) if size > 1 else ():
                    is_frequent &= np.expand_dims(frequent[kept_axes[:place] + kept_axes[place + 1 :]], place)
                frequent[kept_axes] = is_frequent
                if task.fits(size):
                    for cell in np.argwhere(is_frequent).tolist():
                        labels = (table.values[axis][value] for axis, value in zip(kept_axes, cell, strict=True))
                        counts[frozenset(labels)] = float(values[tuple(cell)])
        return counts

    def estimate_counts(self, report_counts: NDArray[np.int64], cells: int) -> F64:
        """Turn numbers of reports in the cells of some attributes into numbers of people, without bias.

        Of N people, s of whom are in a cell that stands for `share` of the whole table, s (gamma - 1) x + N share x are
        expected to report it, where x = 1 / (gamma + cells - 1).
        """
        gamma_numerator, gamma_denominator = self.gamma.numerator, self.gamma.denominator
        expected = gamma_denominator * int(report_counts.sum()) * (cells // report_counts.size)
        # Whole numbers up to the division: a count equal to the threshold must not fall below it.
        return np.asarray(
            ((gamma_numerator + (cells - 1) * gamma_denominator) * report_counts - expected)
            / (gamma_numerator - gamma_denominator),
            np.float64,
        )


def draw_below(source: Source, bound: int, count: int) -> I64:
    """Return `count` uniform whole numbers from 0 to below `bound`, which is at most 2^63."""
    numbers = np.zeros(count, np.int64)
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    missing = np.arange(count)
    while len(missing):
        # Rejection: the highest bits are a uniform number below the next power of two, redrawn from the bound on.
        draws = (source.words(len(missing)) >> shift).astype(np.int64)
        numbers[missing] = draws
        missing = missing[draws >= bound]
    return numbers
