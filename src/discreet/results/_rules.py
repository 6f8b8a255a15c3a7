"""Association rules: antecedents and consequents with their counts and measures, in columns.

The formulas of the measures are in :mod:`discreet.results._measures`, p-values in
:mod:`discreet.results._significance`, and the search for rules in :mod:`discreet.results._rule_search`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..baskets import Item, Unit, Vocabulary
from ..checks import parse_fraction, parse_lengths, parse_positive, parse_switch
from ..errors import MisuseError, name_options
from ._itemset_table import ItemsetTable, same_bounds
from ._itemsets import Itemsets, Mask, Positions, codes_of, frames
from ._measures import MEASURES, Ends, measure, measure_bounds
from ._provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..baskets import Hierarchy

# Measures without a range: their formulas are defined for all noisy counts.
_UNBOUNDED = ("lift", "leverage")


# The kinds of relations: b came after a, both are in the basket, or the data name the pair.
How: TypeAlias = Literal["given", "after", "together"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: holders of the antecedent often hold the consequent; `low` and `high` bound a private confidence."""

    antecedent: frozenset[Item]
    consequent: frozenset[Item]
    count: int
    support: float
    confidence: float
    lift: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Rules(ItemsetTable[Rule]):
    """Association rules with their counts, in columns; measures are computed on use.

    A sequence of :class:`Rule`: it has a length, can be indexed, sliced and iterated over.

    Parameters
    ----------
    antecedents, consequents
        The two sides of each rule.
    counts, antecedent_counts, consequent_counts
        The number of holders of both sides, and of each side.
    vocabulary
        The label of each code.
    people, people_within
        The number of people, and an interval for a private number. The number of baskets if `unit` is baskets.
    omitted
        The number of possible rules without a count, because a side is not among the patterns.
    low, high
        An interval for each true confidence of private counts; None for exact counts. If the intervals of both counts
        cover the truth with probability 95 %, it covers the true confidence with at least 90 % (union bound).
    ends
        The intervals of private counts: of the antecedent, the consequent and both. :meth:`bounds` computes an
        interval for any measure from them.
    about
        The provenance as plain values, as in :class:`Patterns`.
    kind
        ``"relations"`` for pairs found by a mechanism for relations, ``"rules"`` for rules among patterns.
    how
        The kind of the relations: ``"after"``, ``"together"`` or ``"given"``; None if it is not known.
    p, p_adjusted
        The p-value of each rule by Fisher's exact test, and the p-value adjusted for all tested rules (Benjamini and
        Hochberg). For private counts, the largest p-value that the intervals allow; for counts of baskets, the p-value
        in one basket of each person. None without tests: relations, rules among saved patterns with counts of baskets,
        and rules of files of earlier versions.
    tested
        The largest possible number of tested rules, of any confidence. None for p-values from a file that does not
        state it, as CSV of exact rules.
    hierarchy
        The hierarchy of the items, as in :class:`Patterns`.
    """

    NOUN: ClassVar[str] = "rules or relations"

    antecedents: Itemsets
    consequents: Itemsets
    counts: NDArray[np.int64]
    antecedent_counts: NDArray[np.int64]
    consequent_counts: NDArray[np.int64]
    vocabulary: Vocabulary
    people: int
    omitted: int = 0
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    provenance: Provenance | None = None
    kind: Literal["rules", "relations"] = "rules"
    how: How | None = None
    people_within: tuple[int, int] | None = None
    unit: Unit = "people"
    ends: tuple[Ends, Ends, Ends] | None = None
    p: NDArray[np.float64] | None = None
    p_adjusted: NDArray[np.float64] | None = None
    tested: int | None = 0
    hierarchy: Hierarchy | None = None

    def __iter__(self) -> Iterator[Rule]:
        numbers = (self.measure(name).tolist() for name in ("support", "confidence", "lift"))
        sides = (side.sets(self.vocabulary) for side in (self.antecedents, self.consequents))
        optional = (self.low, self.high, self.p, self.p_adjusted)
        optional_columns = ([None] * len(self) if column is None else column.tolist() for column in optional)
        for row in zip(*sides, self.counts.tolist(), *numbers, *optional_columns, strict=True):
            yield Rule(*row)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Rules)
            and self._has_equal_rows(other)
            and self.how == other.how
            and all(same_bounds(getattr(self, name), getattr(other, name)) for name in P_VALUES)
            and all(same_bounds(*pair) for pair in zip(self._ends(), other._ends(), strict=True))
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in COUNTS.values())
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def written_name(self) -> str:
        """Return the number of rules or relations in words."""
        return f"{len(self):,} {self.kind}"

    @property
    def sides(self) -> tuple[Itemsets, ...]:
        """Return the two columns of itemsets: antecedents and consequents."""
        return self.antecedents, self.consequents

    @cached_property
    def _measures(self) -> dict[str, NDArray[np.float64]]:
        return {}

    def measure(self, name: str) -> NDArray[np.float64]:
        """Return one measure of all rules.

        Parameters
        ----------
        name
            `support`, `confidence`, `lift`, `leverage`, `conviction`, `cosine`, `jaccard`, `kulczynski`,
            `certainty` or `zhang`; :mod:`discreet.results._measures` has the formulas.
        """
        # Computed on first use: most callers need three of ten measures.
        if name not in self._measures:
            self._measures[name] = measure(name, self.people, *self._counts_for(name))
        return self._measures[name]

    def _counts_for(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts of the antecedent, the consequent and both, from which a measure is computed.

        Noisy counts may contradict each other: more holders of both sides than of one side, or more than all people.
        A measure with a range is computed from the nearest counts without a contradiction.
        """
        antecedent_counts, consequent_counts, counts = self.antecedent_counts, self.consequent_counts, self.counts
        if not self.noisy or name in _UNBOUNDED:
            return antecedent_counts, consequent_counts, counts
        if name == "confidence":
            return antecedent_counts, consequent_counts, np.minimum(counts, antecedent_counts)
        antecedent_counts, consequent_counts = (
            np.minimum(side, max(self.people, 1)) for side in (antecedent_counts, consequent_counts)
        )
        return (
            antecedent_counts,
            consequent_counts,
            np.minimum(counts, np.minimum(antecedent_counts, consequent_counts)),
        )

    def bounds(self, name: str) -> Ends | None:
        """Return an interval for the true value of a measure of private counts: its low and its high ends.

        It carries the noise of all counts of the measure, and of the number of people;
        :func:`discreet.results._measures.measure_bounds` states its coverage. None for exact counts.
        """
        if name == "confidence" and self.low is not None and self.high is not None:
            return self.low, self.high
        if name not in MEASURES:
            raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
        return None if self.ends is None else measure_bounds(name, self.people_within or (self.people,) * 2, *self.ends)

    def where(
        self,
        *,
        antecedent: Item | Iterable[Item] = (),
        consequent: Item | Iterable[Item] = (),
        lengths: int | tuple[int, int | None] | None = None,
        min_count: int = 0,
        significance: float | None = None,
        redundant: bool = True,
        level: int | str | None = None,
        **minimums: float,
    ) -> Rules:
        """Return the rules that meet all conditions, in the same order.

        Parameters
        ----------
        antecedent, consequent
            An item, or several that must all be on that side.
        lengths
            The number of items on both sides together: one number, or the smallest and the largest (None for no
            bound) as a pair.
        min_count
            The smallest number of holders of both sides.
        significance
            The level, such as 0.05: rules with an adjusted p-value of at most this.
        redundant
            False omits rules with no larger confidence than a more general rule of this table, or than the support of
            the consequent. A more general rule has a part of the antecedent, or items above its items. For private
            counts, a rule is omitted if the intervals show it.
        level
            A level of the hierarchy: rules of items that stand for themselves on this level. ``"mixed"`` for rules on
            no level.
        minimums
            The smallest value of any measure: ``min_lift=1.2``, ``min_zhang=0.5`` and so on.
        """
        # One mask for all conditions, so that columns are cut once.
        keep: Mask = self.counts >= min_count
        if significance is not None:
            keep &= self._tested("where(significance=...)")[1] <= parse_fraction("significance", significance)
        if not parse_switch("redundant", redundant):
            keep &= ~self._redundant()
        sides = (("antecedent", self.antecedents, antecedent), ("consequent", self.consequents, consequent))
        for side_name, side, items in sides:
            codes = codes_of(items, self.vocabulary, side_name)
            keep &= side.holding(codes) == len(codes)
        if lengths is not None:
            min_length, max_length = parse_lengths(lengths)
            sizes = self.antecedents.sizes + self.consequents.sizes
            keep &= (sizes >= min_length) & (sizes <= max_length)
        if level is not None:
            keep &= self._is_on_level(level)
        for name, minimum in minimums.items():
            if name.removeprefix("min_") not in MEASURES or not name.startswith("min_"):
                conditions = ", ".join(f"min_{conditions}" for conditions in MEASURES)
                raise MisuseError.format(
                    "where() has no condition {name!r}; there are {antecedent}, {consequent}, {lengths}, "
                    "{min_count}, {significance}, {redundant}, {level}, {known}.",
                    name=name,
                    known=conditions,
                )
            keep &= self.measure(name.removeprefix("min_")) >= parse_minimum(name, minimum)
        return self if bool(keep.all()) else self.take(np.flatnonzero(keep))

    def _tested(self, call: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two columns of p-values; an error for a `call` that needs them, if there are none."""
        if self.p is None or self.p_adjusted is None:
            reason = "find them anew among their patterns"
            if self.kind == "relations":
                reason = "relations are not tested"
            elif self.unit == "baskets":
                reason = (
                    "baskets of one person are not independent. Find them with discreet.rules in the baskets themselves"
                )
            raise MisuseError(f"{call} needs p-values, which these {self.kind} do not have: {reason}.")
        return self.p, self.p_adjusted

    def _redundant(self) -> Mask:
        """Return for each rule whether a more general rule is as good."""
        from ._redundancy import find_redundant

        if self.kind == "relations":
            raise MisuseError.format("{redundant=False} is for rules: no relation is more general than another.")
        # For noisy counts a rule is omitted only if the intervals leave no doubt.
        bounds, lifts = self.bounds("confidence"), self.bounds("lift")
        exact = self.measure("confidence")
        guaranteed, reachable = (exact, exact) if bounds is None else bounds
        lift = self.measure("lift") if lifts is None else lifts[1]
        if self.noisy and (bounds is None or lifts is None):
            raise MisuseError.format("{redundant=False} needs intervals, which these rules do not have.")
        lineage = None if self.hierarchy is None else self.hierarchy.lineage(self.vocabulary)
        return find_redundant(
            self.antecedents, self.consequents, len(self.vocabulary), reachable, guaranteed, lift <= 1, lineage
        )

    def sort(self, by: str = "confidence", descending: bool = True) -> Rules:
        """Return the rules by `count` or a measure; equal rules keep their order, undefined values come last.

        For private counts, the ends of intervals are measures too: sorted by `confidence_low`, no rule is on top by
        noise alone. By `p` or `p_adjusted`, the smallest come first.
        """
        # A name such as confidence_low is a measure with an end; p_adjusted is neither.
        measure_name, _, end = by.rpartition("_")
        bounds = self.bounds(measure_name) if measure_name in MEASURES and end in ("low", "high") else None
        if by == "count":
            column = self.counts.astype(np.float64)
        elif bounds is not None:
            column = bounds[end == "high"]
        elif by in P_VALUES:
            column = -self._tested(f'sort("{by}")')[by == "p_adjusted"]
        elif by in MEASURES:
            column = self.measure(by)
        else:
            ends = "" if self.ends is None and self.low is None else ", or an end of an interval such as confidence_low"
            raise MisuseError(
                f"Rules are not sorted by {by!r}: there are count, {', '.join((*MEASURES, *P_VALUES))}{ends}."
            )
        return self.take(np.argsort(-column if descending else column, kind="stable"))

    def top(self, top: int, by: str = "confidence") -> Rules:
        """Return the `top` rules with the largest counts or values of a measure, or the smallest p-values."""
        return self.sort(by)[: parse_positive("top", top)]

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `antecedent`, `consequent` (lists), three counts, the ten measures, p-values.

        Private counts add the ends of intervals of the confidence, the support, the lift and the counts; a hierarchy
        adds `level`.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {
            "antecedent": self.antecedents.to_arrow(self.vocabulary),
            "consequent": self.consequents.to_arrow(self.vocabulary),
        }
        columns |= {name: getattr(self, attribute) for name, attribute in COUNTS.items()}
        columns |= {name: self.measure(name) for name in MEASURES}
        return pa.table(columns | self._p_values() | self._bounds() | self._level_column())

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with the columns of mlxtend's rules, then `cosine`, `count` and the p-values.

        Private counts add the ends of intervals of the confidence, the support, the lift and the counts.
        """
        pandas = frames("pandas")
        # Frozen sets, as mlxtend makes them: code written for its rules goes on working.
        sides = [
            pandas.Series(list(side.sets(self.vocabulary)), dtype=object)
            for side in (self.antecedents, self.consequents)
        ]
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "antecedents": sides[0],
                "consequents": sides[1],
                # With noise a count may exceed the number of people; a share never exceeds 1.
                "antecedent support": np.minimum(self.antecedent_counts / max(self.people, 1), 1),
                "consequent support": np.minimum(self.consequent_counts / max(self.people, 1), 1),
                "support": self.measure("support"),
                "confidence": self.measure("confidence"),
                "lift": self.measure("lift"),
                # The share of people without missing values: baskets have none.
                "representativity": np.ones(len(self)),
                "leverage": self.measure("leverage"),
                "conviction": self.measure("conviction"),
                "zhangs_metric": self.measure("zhang"),
                "jaccard": self.measure("jaccard"),
                "certainty": self.measure("certainty"),
                "kulczynski": self.measure("kulczynski"),
                "cosine": self.measure("cosine"),
                "count": self.counts,
            }
            | self._p_values()
            | self._bounds()
            | self._level_column()
        )
        return frame

    def _p_values(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of p-values by name."""
        columns = zip(P_VALUES, (self.p, self.p_adjusted), strict=True)
        return {name: column for name, column in columns if column is not None}

    def _bounds(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of the ends of intervals by name."""
        columns: dict[str, NDArray[np.float64]] = {}
        for name in ("confidence", "support", "lift"):
            ends = self.bounds(name)
            if ends is not None:
                columns |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
        return columns | {name: end for name, end in zip(ENDS, self._ends(), strict=True) if end is not None}

    def _ends(self) -> list[NDArray[np.float64] | None]:
        """Return the ends of the intervals of the counts, in the order of `ENDS`."""
        return [None] * len(ENDS) if self.ends is None else [end for pair in self.ends for end in pair]

    def take(self, rows: Positions) -> Rules:
        """Return the rules at some rows, in that order."""
        return replace(
            self,
            antecedents=self.antecedents.take(rows),
            consequents=self.consequents.take(rows),
            ends=ends_at(self.ends, rows),
            **self._columns_at((*COUNTS.values(), "low", "high", *P_VALUES), rows),
        )


# The count columns of tables and files, and the attributes of Rules with their values.
COUNTS = {
    "count": "counts",
    "antecedent_count": "antecedent_counts",
    "consequent_count": "consequent_counts",
}
P_VALUES = ("p", "p_adjusted")
BOUNDS = {"confidence_low": "low", "confidence_high": "high"}
ENDS = tuple(f"{side}_{end}" for side in ("antecedent", "consequent", "count") for end in ("low", "high"))


def ends_at(ends: tuple[Ends, Ends, Ends] | None, *positions: Positions) -> tuple[Ends, Ends, Ends] | None:
    """Return the ends at some rows; three arrays of rows select from each pair separately."""
    if ends is None:
        return None
    places = positions if len(positions) == len(ends) else positions * len(ends)
    antecedent, consequent, joint = ((low[place], high[place]) for (low, high), place in zip(ends, places, strict=True))
    return antecedent, consequent, joint


def parse_minimum(name: str, value: float) -> float:
    """Return the smallest value of a measure as a number; an error for any other value."""
    if isinstance(value, int | float | np.number) and not math.isnan(value):
        return float(value)
    raise MisuseError.format("{option} is {value!r}, but it must be a number.", option=name_options(name), value=value)
