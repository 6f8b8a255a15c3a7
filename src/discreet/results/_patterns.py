"""The result of mining: itemsets with their counts, in columns.

Millions of patterns are three arrays and a vocabulary; Python objects are made only for displayed patterns. Mining and
file formats belong elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Item, Offsets, Unit, Vocabulary
from ..checks import parse_fraction, parse_lengths, parse_positive
from ..errors import MisuseError
from ..wording import hint_keywords
from ._itemset_table import ItemsetTable, same_bounds
from ._itemsets import Index, Itemsets, Mask, Positions, codes_of, frames
from ._measures import shares
from ._provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..baskets import Hierarchy
    from ._rules import Rules


@dataclass(frozen=True, slots=True)
class Pattern:
    """One itemset with the number and the share of people who hold it; None for unknown counts."""

    items: frozenset[Item]
    count: int | None
    support: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Patterns(ItemsetTable[Pattern]):
    """Itemsets with their counts.

    A sequence of :class:`Pattern`: it has a length, can be indexed, sliced and iterated over, and
    ``{"milk", "tea"} in patterns`` looks up an itemset.

    Parameters
    ----------
    offsets, codes
        The itemsets, end to end: pattern i is ``codes[offsets[i]:offsets[i + 1]]``, its codes ascending.
    counts
        The number of holders of each itemset.
    vocabulary
        The label of each code.
    people, people_within
        The number of people; and, if this number is private, an interval that holds the true number in 95 of 100
        releases. None for a known number.
    low, high
        An interval for each true count of private counts; None for exact counts.
    provenance
        The origin of a private result: its guarantee, whether it was simulated, the mechanism, the question and more.
        None for an exact result. `about` has it as plain values.
    counted
        Whether the counts are known. A release of patterns only has zeros as `counts`, which are never shown.
    unit
        The unit of counts: ``"people"``, or ``"baskets"`` if a person may have several. `people` and `people_within`
        are then the number of baskets.
    hierarchy
        The hierarchy of the items, if they were mined with one. `levels` then has the level of each pattern.

    Examples
    --------
    >>> from discreet import Vocabulary
    >>> patterns = Patterns(
    ...     offsets=np.array([0, 1, 2, 4]),
    ...     codes=np.array([0, 1, 0, 1], dtype=np.int32),
    ...     counts=np.array([6, 5, 4]),
    ...     vocabulary=Vocabulary(["milk", "tea"]),
    ...     people=10,
    ... )
    >>> patterns.count_of({"tea", "milk"})
    4
    >>> patterns[1]
    Pattern(items=frozenset({'tea'}), count=5, support=0.5, low=None, high=None)
    >>> len(patterns.where(contains="tea", min_support=0.5))
    1
    """

    NOUN: ClassVar[str] = "patterns"

    offsets: Offsets
    codes: Codes
    counts: NDArray[np.int64]
    vocabulary: Vocabulary
    people: int
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    provenance: Provenance | None = None
    counted: bool = True
    people_within: tuple[int, int] | None = None
    unit: Unit = "people"
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        # A count that slips into a release of patterns only would be a leak, so it is refused and not just hidden.
        if not self.counted and (self.low is not None or self.high is not None or self.counts.any()):
            raise MisuseError("Patterns without counts have zeros for counts, and neither low nor high.")
        # Slices share this memory, so a write to one would change all.
        for array in (self.offsets, self.codes, self.counts, self.low, self.high):
            if array is not None:
                array.flags.writeable = False

    def __iter__(self) -> Iterator[Pattern]:
        # Zeros of a release of patterns only are no counts, so they are not shown as counts.
        numbers = (self.counts, self.supports) if self.counted else (None, None)
        columns = (
            [None] * len(self) if column is None else column.tolist() for column in (*numbers, self.low, self.high)
        )
        rows = zip(*columns, strict=True)
        for items, (count, support, low, high) in zip(self.itemsets.sets(self.vocabulary), rows, strict=True):
            yield Pattern(items, count, support, low, high)

    def _slice_rows(self, start: int, stop: int) -> Patterns:
        return self._select_rows(self.itemsets.cut(start, stop), slice(start, stop))

    def __contains__(self, itemset: object) -> bool:
        return isinstance(itemset, Iterable) and self._place(itemset) >= 0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Patterns)
            and self._has_equal_rows(other)
            and self.counted == other.counted
            and np.array_equal(self.counts, other.counts)
            and same_bounds(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def itemsets(self) -> Itemsets:
        """Return the itemsets without counts."""
        return Itemsets(self.offsets, self.codes)

    @property
    def sides(self) -> tuple[Itemsets, ...]:
        """Return the itemsets as the only column of itemsets."""
        return (self.itemsets,)

    @cached_property
    def supports(self) -> NDArray[np.float64]:
        """Return each count as a share of the people; nan for unknown counts."""
        if not self.counted:
            return np.full(len(self), np.nan)
        # With noise a count may exceed the number of people; a share never exceeds 1.
        return np.minimum(self.counts / max(self.people, 1), 1.0)

    @cached_property
    def support_bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return an interval for each true support of private counts, with the noise of the number of people.

        For a known number of people, it holds as often as the interval of the count. For a private number, both of
        the intervals of 95 % hold together in 90 of 100 releases (union bound). A support is never below 0 nor over 1.
        """
        if self.low is None or self.high is None:
            return None
        return shares(self.people_within or (self.people, self.people), (self.low, self.high))

    @property
    def cut_supports(self) -> Mask:
        """Return for each support whether it was cut to 1 above an interval that reaches below 1."""
        if self.support_bounds is None:
            return np.zeros(len(self), np.bool_)
        return (self.supports >= 1) & (self.support_bounds[0] < 1)

    @property
    def may_be_noise(self) -> Mask:
        """Return for each pattern whether it may have no holder: its interval reaches down to 0."""
        return np.zeros(len(self), np.bool_) if self.low is None or not self.counted else self.low <= 0

    @property
    def noise_from(self) -> int | None:
        """Return the row, from 0 on, of the first pattern that may have no holder; None without one."""
        places = np.flatnonzero(self.may_be_noise)
        return int(places[0]) if len(places) else None

    @property
    def written_name(self) -> str:
        """Return the number of patterns in words."""
        return f"{len(self):,} patterns"

    @property
    def caution(self) -> str:
        """Return the number of patterns that may have no holder, in words."""
        from ._show import noise_text

        return noise_text(self)

    @property
    def sizes(self) -> Positions:
        """Return the number of items of each pattern."""
        return self.itemsets.sizes

    @cached_property
    def index(self) -> Index:
        """Return the table from itemset to position, built on first use."""
        return Index(self.itemsets, len(self.vocabulary))

    def count_of(self, itemset: Iterable[Item]) -> int | None:
        """Return the count of an itemset; None for an itemset that is not listed, and for unknown counts.

        None does not mean a count of 0: mining stops at a support, and the itemset may lie below.
        """
        place = self._place(itemset)
        return int(self.counts[place]) if place >= 0 and self.counted else None

    def _place(self, itemset: Iterable[Item]) -> int:
        """Return the position of an itemset, -1 for an itemset that is not listed."""
        # A text is iterable: its letters would be looked up as items.
        if isinstance(itemset, str):
            raise MisuseError(f"An itemset is a set of items, not one text: type {{{itemset!r}}}.")
        labels = set(itemset)
        vocabulary = self.vocabulary
        # A label of a wrong type raises in the vocabulary, with a message; an unknown label is merely not listed.
        kind = (int, np.integer) if vocabulary.numeric else str
        if any(label not in vocabulary for label in labels if isinstance(label, kind)):
            return -1
        codes = np.sort(vocabulary.codes(labels))
        return int(self.index.find(Itemsets(np.array([0, len(codes)]), codes))[0])

    def where(
        self,
        *,
        lengths: int | tuple[int, int | None] | None = None,
        contains: Item | Iterable[Item] = (),
        excludes: Item | Iterable[Item] = (),
        min_count: int | None = None,
        min_support: float | None = None,
        level: int | str | None = None,
    ) -> Patterns:
        """Return the patterns that meet all conditions, in the same order.

        Parameters
        ----------
        lengths
            The number of items: one number, or the smallest and the largest (None for no bound) as a pair.
        contains
            An item, or several that must all be in the pattern.
        excludes
            An item, or several that must not be in the pattern.
        min_count, min_support
            The smallest count, or the smallest fraction of the people.
        level
            A level of the hierarchy by its name or number: patterns of items that stand for themselves on this level.
            ``"mixed"`` for patterns on no level.
        """
        codes = codes_of(contains, self.vocabulary, "contains")
        keep: Mask = self.itemsets.holding(codes) == len(codes)
        keep &= self.itemsets.holding(codes_of(excludes, self.vocabulary, "excludes")) == 0
        if lengths is not None:
            min_length, max_length = parse_lengths(lengths)
            keep &= (self.sizes >= min_length) & (self.sizes <= max_length)
        if min_count is not None:
            need_counts(self, "where(min_count=...)")
            keep &= self.counts >= min_count
        if min_support is not None:
            need_counts(self, "where(min_support=...)")
            keep &= self.supports >= parse_fraction("min_support", min_support)
        if level is not None:
            keep &= self._is_on_level(level)
        return self if bool(keep.all()) else self.take(np.flatnonzero(keep))

    def sort(self, by: Literal["count", "size"] = "count", descending: bool = True) -> Patterns:
        """Return the patterns by count or by size; equal patterns keep their order."""
        if by not in ("count", "size"):
            raise MisuseError(f"Patterns are sorted by 'count' or 'size', not by {by!r}.")
        if by == "count":
            need_counts(self, 'sort("count")')
        # Stable, so that patterns with equal counts keep the order in which they were found.
        column = self.counts if by == "count" else self.sizes
        return self.take(np.argsort(-column if descending else column, kind="stable"))

    def top(self, top: int) -> Patterns:
        """Return the `top` patterns with the largest counts."""
        need_counts(self, "top()")
        return self.sort()[: parse_positive("top", top)]

    @hint_keywords
    def rules(
        self,
        min_confidence: float = 0.5,
        *,
        min_lift: float = 0.0,
        consequents: Literal["any", "one"] = "any",
        significance: float | None = None,
        redundant: bool = True,
        limit: int = 10_000_000,
    ) -> Rules:
        """Return the association rules among these patterns: see :func:`discreet.results._rule_search.rules`."""
        from ._rule_search import rules

        return rules(
            self,
            min_confidence,
            min_lift=min_lift,
            consequents=consequents,
            significance=significance,
            redundant=redundant,
            limit=limit,
        )

    def to_dict(self) -> dict[frozenset[Item], int]:
        """Return a dictionary from itemset to count."""
        need_counts(self, "to_dict()")
        return dict(zip(self.itemsets.sets(self.vocabulary), self.counts.tolist(), strict=True))

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `items` (lists), `count`, `support`.

        Private counts add `low`, `high`, `support_low` and `support_high`; a hierarchy adds `level`.
        """
        import pyarrow as pa

        numbers: dict[str, Any] = self._numbers()
        if not self.counted:
            numbers = {"count": pa.nulls(len(self), pa.int64()), "support": pa.nulls(len(self), pa.float64())}
        return pa.table({"items": self.itemsets.to_arrow(self.vocabulary)} | numbers)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame as mlxtend makes them: `support`, `itemsets` (frozensets), and `count`."""
        pandas = frames("pandas")
        numbers = self._numbers()
        count, support = numbers.pop("count"), numbers.pop("support")
        sets = pandas.Series(list(self.itemsets.sets(self.vocabulary)), dtype=object)
        frame: pd.DataFrame = pandas.DataFrame({"support": support, "itemsets": sets, "count": count} | numbers)
        return frame

    def _numbers(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {
            "count": self.counts if self.counted else np.full(len(self), np.nan),
            "support": self.supports,
        }
        for name, bound in (("low", self.low), ("high", self.high)):
            if bound is not None:
                columns[name] = bound
        if self.support_bounds is not None:
            columns["support_low"], columns["support_high"] = self.support_bounds
        return columns | self._level_column()

    def take(self, positions: Positions) -> Patterns:
        """Return the patterns at some positions, in this order."""
        return self._select_rows(self.itemsets.take(positions), positions)

    def _select_rows(self, itemsets: Itemsets, rows: Positions | slice) -> Patterns:
        """Return some rows of these patterns, given their itemsets."""
        columns = self._columns_at(("counts", "low", "high"), rows)
        return replace(self, offsets=itemsets.offsets, codes=itemsets.codes, **columns)


def margins_of(patterns: Patterns) -> list[float]:
    """Return the margin of each count: the reach of its interval, downwards no further than to 0."""
    if patterns.low is None or patterns.high is None:
        return []
    # Below 0 there are no counts, so the lower reach is not part of the margin at an end of 0.
    above, below = patterns.high - patterns.counts, patterns.counts - patterns.low
    reach: list[float] = np.where(patterns.low > 0, np.maximum(above, below), above).tolist()
    return reach


def need_counts(patterns: Patterns, call: str) -> None:
    """Check that patterns have counts, which a `call` needs."""
    if not patterns.counted:
        raise MisuseError(
            f"{call} needs counts, and these are patterns only: release them with counts. "
            "The itemsets are {pattern.items for pattern in patterns}."
        )
