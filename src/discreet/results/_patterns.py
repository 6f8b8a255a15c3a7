"""What mining gives back: itemsets with their counts, in columns.

Millions of patterns are three arrays and a vocabulary; Python objects are made only for those that are
looked at. Mining and file formats stay out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..baskets import Codes, Item, Offsets, Unit, Vocabulary
from ..checks import parse_fraction, parse_lengths, parse_positive
from ..errors import MisuseError
from ..wording import hint_keywords
from ._itemset_table import ItemsetTable
from ._itemsets import Index, Itemsets, Mask, Positions, chosen, frames, same_labels
from ._levels import on_level, told_hierarchy
from ._measures import shares
from ._provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..baskets import Hierarchy
    from ._rules import Rules


@dataclass(frozen=True, slots=True)
class Pattern:
    """One itemset, how many people hold it, and which fraction of the people that is; None where nobody counted."""

    items: frozenset[Item]
    count: int | None
    support: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Patterns(ItemsetTable):
    """Itemsets with their counts.

    A sequence of :class:`Pattern`: it has a length, can be indexed, sliced and iterated over, and
    ``{"milk", "tea"} in patterns`` asks whether an itemset is among them.

    Parameters
    ----------
    offsets, codes
        The itemsets, end to end: pattern i is ``codes[offsets[i]:offsets[i + 1]]``, its codes ascending.
    counts
        How many people hold each.
    vocabulary
        The label of each code.
    people, people_within
        How many people there are; and where that number is private as well, an interval that holds the true one in 95
        of 100 releases. None where it is known.
    low, high
        An interval for each true count, where the counts are private; None where they are exact.
    provenance
        Where a private result comes from: its guarantee, whether it was simulated, the mechanism, the question and so
        on. None where the result is exact. `about` has the same as plain values.
    counted
        Whether the counts are known. A release of patterns only has none: its `counts` are zeros that nothing shows.
    unit
        What counts are of: ``"people"``, or ``"baskets"`` where a person may have several. `people` and
        `people_within` are then the number of baskets.
    hierarchy
        Which items stand below which, where they were found with one. `levels` then has the level of each pattern.

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
        for array in (self.offsets, self.codes, self.counts, self.low, self.high):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Pattern]:
        numbers = (self.counts, self.supports) if self.counted else (None, None)
        columns = (
            [None] * len(self) if column is None else column.tolist() for column in (*numbers, self.low, self.high)
        )
        rest = zip(*columns, strict=True)
        for items, (count, support, least, most) in zip(self.itemsets.sets(self.vocabulary), rest, strict=True):
            yield Pattern(items, count, support, least, most)

    @overload
    def __getitem__(self, index: int) -> Pattern: ...
    @overload
    def __getitem__(self, index: slice) -> Patterns: ...
    def __getitem__(self, index: int | slice) -> Pattern | Patterns:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(start, stop, step))
            stop = max(start, stop)
            return self._with(self.itemsets.cut(start, stop), slice(start, stop))
        if not -len(self) <= index < len(self):
            raise IndexError(f"There are {len(self):,} patterns, numbered from 0; {index} is none of them.")
        index = int(index) % len(self)
        return next(iter(self[index : index + 1]))

    def __contains__(self, itemset: object) -> bool:
        return isinstance(itemset, Iterable) and self._place(itemset) >= 0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Patterns)
            and (self.unit, self.people, self.people_within) == (other.unit, other.people, other.people_within)
            and self.counted == other.counted
            and self.provenance == other.provenance
            and np.array_equal(self.counts, other.counts)
            and same_bounds(self.low, other.low)
            and same_bounds(self.high, other.high)
            and same_labels(self.itemsets, self.vocabulary, other.itemsets, other.vocabulary)
            and told_hierarchy(self) == told_hierarchy(other)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def itemsets(self) -> Itemsets:
        """The itemsets alone."""
        return Itemsets(self.offsets, self.codes)

    @property
    def sides(self) -> tuple[Itemsets, ...]:
        """The itemsets that each row has: one."""
        return (self.itemsets,)

    @cached_property
    def supports(self) -> NDArray[np.float64]:
        """Each count as a fraction of the people; nan where the counts are not known."""
        if not self.counted:
            return np.full(len(self), np.nan)
        # With noise a count may be more than the number of people; a fraction of them never is.
        return np.minimum(self.counts / max(self.people, 1), 1.0)

    @cached_property
    def support_bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """An interval for each true support, where the counts are private: it carries the noise of the people too.

        Where the number of people is known, it holds as often as that of the count. Where both have an interval of 95
        %, it holds in 90 of 100 releases. A support is never below 0 nor over 1.
        """
        if self.low is None or self.high is None:
            return None
        return shares(self.people_within or (self.people, self.people), (self.low, self.high))

    @property
    def cut_supports(self) -> Mask:
        """Which supports were cut to 1, with an interval that goes further down: its low end says more."""
        if self.support_bounds is None:
            return np.zeros(len(self), np.bool_)
        return (self.supports >= 1) & (self.support_bounds[0] < 1)

    @property
    def may_be_noise(self) -> Mask:
        """Which patterns may be held by nobody: those whose interval reaches down to 0."""
        return np.zeros(len(self), np.bool_) if self.low is None or not self.counted else self.low <= 0

    @property
    def noise_from(self) -> int | None:
        """The place, from 0 on, of the first pattern that may be held by nobody; None where there is none."""
        places = np.flatnonzero(self.may_be_noise)
        return int(places[0]) if len(places) else None

    @property
    def written_name(self) -> str:
        """How many patterns there are."""
        return f"{len(self):,} patterns"

    @property
    def caution(self) -> str:
        """How many of the patterns may be held by nobody."""
        from ._show import noise_words

        return noise_words(self)

    @property
    def sizes(self) -> Positions:
        """How many items each pattern has."""
        return self.itemsets.sizes

    @cached_property
    def index(self) -> Index:
        """The table from itemset to position, made on first use."""
        return Index(self.itemsets, len(self.vocabulary))

    def count_of(self, itemset: Iterable[Item]) -> int | None:
        """Return the count of an itemset, or None where it is not among the patterns or the counts are not known.

        None does not mean that nobody holds it: mining stops at a support, and the itemset may lie below.
        """
        place = self._place(itemset)
        return int(self.counts[place]) if place >= 0 and self.counted else None

    def _place(self, itemset: Iterable[Item]) -> int:
        """Return the position of an itemset, -1 where it is not among the patterns."""
        if isinstance(itemset, str):
            raise MisuseError(f"An itemset is a set of items, not one text: type {{{itemset!r}}}.")
        labels = set(itemset)
        known = self.vocabulary
        kind = (int, np.integer) if known.numeric else str
        if any(label not in known for label in labels if isinstance(label, kind)):
            return -1
        codes = np.sort(known.codes(labels))
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
            An item, or several of which none may be in the pattern.
        min_count, min_support
            The smallest count, or the smallest fraction of the people.
        level
            A level of the hierarchy that they were found with, by its name or number: patterns of items that stand for
            themselves there. ``"mixed"`` for those that are on no one level.
        """
        wanted = chosen(contains, self.vocabulary, "contains")
        keep: Mask = self.itemsets.holding(wanted) == len(wanted)
        keep &= self.itemsets.holding(chosen(excludes, self.vocabulary, "excludes")) == 0
        if lengths is not None:
            least, most = parse_lengths(lengths)
            keep &= (self.sizes >= least) & (self.sizes <= most)
        if min_count is not None:
            need_counts(self, "where(min_count=...)")
            keep &= self.counts >= min_count
        if min_support is not None:
            need_counts(self, "where(min_support=...)")
            keep &= self.supports >= parse_fraction("min_support", min_support)
        if level is not None:
            keep &= on_level(self, level)
        return self if bool(keep.all()) else self.take(np.flatnonzero(keep))

    def sort(self, by: Literal["count", "size"] = "count", descending: bool = True) -> Patterns:
        """Return the patterns by count or by size; equal ones keep their order."""
        if by not in ("count", "size"):
            raise MisuseError(f"Patterns are sorted by 'count' or 'size', not by {by!r}.")
        if by == "count":
            need_counts(self, 'sort("count")')
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

        Where private, `low` and `high` follow, and `support_low`, `support_high`. With a hierarchy, `level` is last.
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
        if self.hierarchy is not None:
            columns["level"] = np.array(self.levels, object)
        return columns

    def take(self, positions: Positions) -> Patterns:
        """Return the patterns at some positions, in that order."""
        return self._with(self.itemsets.take(positions), positions)

    def _with(self, itemsets: Itemsets, kept: Positions | slice) -> Patterns:
        return Patterns(
            offsets=itemsets.offsets,
            codes=itemsets.codes,
            counts=self.counts[kept],
            vocabulary=self.vocabulary,
            people=self.people,
            low=None if self.low is None else self.low[kept],
            high=None if self.high is None else self.high[kept],
            provenance=self.provenance,
            counted=self.counted,
            people_within=self.people_within,
            unit=self.unit,
            hierarchy=self.hierarchy,
        )


def margins_of(patterns: Patterns) -> list[float]:
    """Return how far each true count may lie from the one shown; downwards only as far as a count can."""
    if patterns.low is None or patterns.high is None:
        return []
    up, down = patterns.high - patterns.counts, patterns.counts - patterns.low
    reach: list[float] = np.where(patterns.low > 0, np.maximum(up, down), up).tolist()
    return reach


def need_counts(patterns: Patterns, call: str) -> None:
    """Refuse a `call` that makes no sense without counts."""
    if not patterns.counted:
        raise MisuseError(
            f"{call} needs counts, and these are patterns only: release them with counts. "
            "The itemsets are {pattern.items for pattern in patterns}."
        )


def same_bounds(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> bool:
    """Whether two columns of bounds are equal; without rows it makes no difference whether there are any."""
    if one is None or other is None:
        return one is other or not len(one if one is not None else other)  # type: ignore[arg-type]
    return np.array_equal(one, other, equal_nan=True)
