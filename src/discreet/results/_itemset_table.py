"""The parts that patterns and rules share: rows of itemsets with a vocabulary, their levels, their tables and pages.

An item stands for itself from its own level up to the level below its parent's: a product without a category is an item
among categories too. A row is on every level on which all its items stand for themselves, so the rows of a level are
exactly the rows that mining on that level finds. Tables for a terminal and a notebook are made in `show`, pictures and
pages in `report`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast, overload

import numpy as np

from ..baskets import MIXED_LEVELS
from ..errors import MisuseError
from ._itemsets import Itemsets, Mask, Positions, same_labels
from ._result import Result, draw_with

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Group

    from ..baskets import Hierarchy, Unit, Vocabulary
    from ._patterns import Patterns
    from ._picture import Picture
    from ._provenance import Provenance
    from ._rules import Rules


# The address of a page, and its title.
Link: TypeAlias = tuple[str, str]
Row = TypeVar("Row")


class ItemsetTable(Result, Generic[Row]):
    """A table of rows with one itemset or two; its rows are counted and cut as those of a sequence."""

    SHOWN_ROWS: ClassVar[int] = 10

    counts: NDArray[np.int64]
    people: int
    people_within: tuple[int, int] | None
    unit: Unit
    low: NDArray[np.float64] | None
    provenance: Provenance | None
    vocabulary: Vocabulary
    hierarchy: Hierarchy | None

    def __len__(self) -> int:
        return len(self.counts)

    @abstractmethod
    def __iter__(self) -> Iterator[Row]:
        """Yield the rows."""

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Row | Self:
        # A slice without steps keeps the memory of the table: no itemset is copied.
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._slice_rows(start, max(start, stop)) if step == 1 else self.take(np.arange(start, stop, step))
        if not -len(self) <= index < len(self):
            noun = getattr(self, "kind", self.NOUN)
            raise IndexError(f"There are {len(self):,} {noun}, numbered from 0; {index} is none of them.")
        index = int(index) % len(self)
        return next(iter(self[index : index + 1]))

    @abstractmethod
    def take(self, positions: Positions) -> Self:
        """Return the rows at some positions, in this order."""

    def _slice_rows(self, start: int, stop: int) -> Self:
        """Return the rows from `start` to before `stop`."""
        return self.take(np.arange(start, stop))

    def _has_equal_rows(self, other: ItemsetTable[Row]) -> bool:
        """Return whether a second table has equal itemsets, people, provenance and lower ends."""
        return (
            (self.unit, self.people, self.people_within) == (other.unit, other.people, other.people_within)
            and self.provenance == other.provenance
            and same_bounds(self.low, other.low)
            and all(
                same_labels(side, self.vocabulary, other_side, other.vocabulary)
                for side, other_side in zip(self.sides, other.sides, strict=True)
            )
            and self.hierarchy_values == other.hierarchy_values
        )

    @property
    @abstractmethod
    def sides(self) -> tuple[Itemsets, ...]:
        """Return the columns of itemsets: one for patterns, two for rules."""

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Return the lowest level of each row, ``"mixed"`` for a row on no level; nothing without a hierarchy."""
        if self.hierarchy is None:
            return ()
        low, high = self._level_ranges(self.hierarchy)
        names = (*self.hierarchy.names, MIXED_LEVELS)
        return tuple(names[level] for level in np.where(low > high, -1, low).tolist())

    def _level_ranges(self, hierarchy: Hierarchy) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the lowest and the highest level of each row; the lowest is the larger for a row on no level."""
        # Levels are looked up once per item, and not once per place: items repeat in thousands of rows.
        used_codes = np.unique(np.concatenate([side.codes for side in self.sides]))
        ends = np.array(
            [hierarchy.span(str(label)) for label in self.vocabulary.take(used_codes).to_pylist()], np.int64
        )
        # A row without items stands for itself on every level.
        low, high = np.zeros(len(self.sides[0]), np.int64), np.full(len(self.sides[0]), hierarchy.height, np.int64)
        for side in self.sides:
            rows, places = np.repeat(np.arange(len(side)), side.sizes), np.searchsorted(used_codes, side.codes)
            if len(rows):
                np.maximum.at(low, rows, ends[places, 0])
                np.minimum.at(high, rows, ends[places, 1])
        return low, high

    def _is_on_level(self, level: object) -> Mask:
        """Return for each row whether it is on a level, given by name or number; ``"mixed"`` asks for no level."""
        if self.hierarchy is None:
            raise MisuseError.format(
                "{level} is a level of a hierarchy, and these were found without one: give {hierarchy=} there."
            )
        low, high = self._level_ranges(self.hierarchy)
        # A hierarchy may have a level with this name, which then means that level.
        if level == MIXED_LEVELS and level not in self.hierarchy.names:
            mixed: Mask = low > high
            return mixed
        number = self.hierarchy.level(level)
        on_level: Mask = (low <= number) & (number <= high)
        return on_level

    @property
    def hierarchy_values(self) -> dict[str, Any] | None:
        """Return the hierarchy as files state it: the items that occur, and the items above them; None without one."""
        if self.hierarchy is None:
            return None
        # Only occurring items are written: the whole hierarchy of a shop may be larger than its patterns.
        used_codes = np.unique(np.concatenate([side.codes for side in self.sides]))
        return self.hierarchy.only(self.vocabulary.take(used_codes).to_pylist()).to_dict()

    def _level_column(self) -> dict[str, Any]:
        """Return the column of levels by its name; nothing without a hierarchy."""
        return {} if self.hierarchy is None else {"level": np.array(self.levels, object)}

    def _columns_at(self, names: Sequence[str], rows: Any) -> dict[str, Any]:
        """Return columns of this table by name, at rows alone; a column that is None stays None."""
        columns = {name: getattr(self, name) for name in names}
        return {name: None if column is None else column[rows] for name, column in columns.items()}

    @property
    def about(self) -> dict[str, Any] | None:
        """Return the provenance as plain values, as in files; None without provenance."""
        return None if self.provenance is None else self.provenance.to_dict()

    @property
    def noisy(self) -> bool:
        """Return whether counts are private, so that a pattern may count more than a part of it."""
        return self.low is not None or self.provenance is not None

    def to_dict(self) -> dict[Any, Any]:
        """Return all values as plain values, as in a JSON file."""
        # By way of the text, so that a file and this dictionary cannot differ.
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    def report(
        self, *, title: str | None = None, summary: str = "", citations: Sequence[str] = (), up: Link | None = None
    ) -> str:
        """Return a report as one HTML page, complete in itself; an exact result is marked as not private.

        Parameters
        ----------
        title
            The title of the page: the name of the data, for example.
        summary, citations
            One sentence on the mechanism and its publications, if the result does not state them.
        up
            The address and the title of the page above, for a segment.
        """
        contents = draw_with("contents_of", self, title, summary=summary, citations=citations, parent=up)
        page: str = draw_with("page", contents)
        return page

    def plot(self, kind: str | None = None, rows: int = 30, *, level: int | str | None = None) -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes.

        Parameters
        ----------
        kind
            For patterns ``"bars"`` (with whiskers for private counts), ``"graph"`` of items found together,
            ``"matrix"`` of pairs, or ``"sizes"``. For rules ``"scatter"`` by support, confidence and lift, ``"bars"``
            or ``"matrix"``. The first by default; for relations the matrix.
        rows
            The number of bars.
        level
            A level of the hierarchy: only its rows are drawn, as by ``where(level=)``.

        Examples
        --------
        >>> import discreet
        >>> picture = discreet.mine([{"tea", "milk"}] * 3, min_count=1).plot("graph")
        >>> picture.title
        'Items that were found together'
        """
        picture: Picture = draw_with("plot", self, kind, rows, level)
        return picture

    def _rich(self, rows: int | None) -> Group:
        from ._show import table

        return table(cast("Patterns | Rules", self), len(self) if rows is None else rows)

    def _html(self, rows: int | None) -> str:
        from ._show import html

        return html(cast("Patterns | Rules", self), len(self) if rows is None else rows)


def same_bounds(bounds: NDArray[np.float64] | None, second_bounds: NDArray[np.float64] | None) -> bool:
    """Return whether two columns of bounds are equal; without rows, a missing column equals an empty one."""
    if bounds is None or second_bounds is None:
        return bounds is second_bounds or not len(bounds if bounds is not None else second_bounds)  # type: ignore[arg-type]
    return np.array_equal(bounds, second_bounds, equal_nan=True)
