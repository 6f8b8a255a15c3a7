"""Association rules: which items come with which others, with their counts and measures, in columns.

The formulas of the measures are in :mod:`discreet.results._measures`, p-values in
:mod:`discreet.results._significance`, and what finds rules among patterns in :mod:`discreet.results._rule_search`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import NDArray

from ..baskets import Item, Unit, Vocabulary
from ..checks import parse_fraction, parse_lengths, parse_positive, parse_switch
from ..errors import MisuseError, name_options
from ._itemset_table import ItemsetTable
from ._itemsets import Itemsets, Mask, Positions, chosen, frames, same_labels
from ._levels import on_level, told_hierarchy
from ._measures import MEASURES, Ends, measure, within
from ._patterns import same_bounds
from ._provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..baskets import Hierarchy

# Measures whose formulas make sense whatever noise did to the counts.
_UNBOUNDED = ("lift", "leverage")


# What makes a relation: b came after a, both are in the basket, or the data say so.
How: TypeAlias = Literal["given", "after", "together"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True, slots=True)
class Rule:
    """People who hold the antecedent often hold the consequent too; `low` and `high` bound a private confidence."""

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
class Rules(ItemsetTable):
    """Association rules with their counts, in columns; measures are computed when asked for.

    A sequence of :class:`Rule`: it has a length, can be indexed, sliced and iterated over.

    Parameters
    ----------
    antecedents, consequents
        The two sides of each rule.
    counts, antecedent_counts, consequent_counts
        How many people hold both sides, and each side.
    vocabulary
        The label of each code.
    people, people_within
        How many people there are; and an interval for that number, where it is private as well. The number of baskets
        where these are the `unit` that is counted.
    omitted
        How many possible rules were left out because a side was not among the patterns.
    low, high
        An interval for each true confidence, where the counts are private; None where they are exact. Say the interval
        of each of the two counts covers the truth with a probability of 95 %. Then this one covers the true confidence
        of a given rule with at least 90 % (union bound).
    ends
        The intervals of the counts, where they are private and known: of the antecedent, the consequent and both.
        :meth:`bounds` makes an interval of them for any measure.
    about
        What travels with a private result, as in :class:`Patterns`.
    kind
        What they are called: ``"relations"`` where they were found as such, and not among patterns.
    how
        What makes a relation, where that is known: ``"after"``, ``"together"`` or ``"given"``.
    p, p_adjusted
        The p-value of each rule by Fisher's exact test, and what is left of it among all rules that were tested
        (Benjamini and Hochberg). Where the counts are private, it is the largest that their intervals allow. Where
        baskets are counted, it is found in one basket of each person. None where nothing was tested: relations, rules
        among patterns whose counts are of baskets, and rules of files of earlier versions.
    tested
        How many rules were tested, at most: those that could have been found, whatever their confidence. None where
        they have p-values from a file that does not say it, as CSV of exact rules does not.
    hierarchy
        Which items stand below which, as in :class:`Patterns`.
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

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Rule]:
        numbers = (self.measure(name).tolist() for name in ("support", "confidence", "lift"))
        sides = (side.sets(self.vocabulary) for side in (self.antecedents, self.consequents))
        optional = (self.low, self.high, self.p, self.p_adjusted)
        rest = ([None] * len(self) if column is None else column.tolist() for column in optional)
        for row in zip(*sides, self.counts.tolist(), *numbers, *rest, strict=True):
            yield Rule(*row)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Rules: ...
    def __getitem__(self, index: int | slice) -> Rule | Rules:
        if isinstance(index, slice):
            return self._take(np.arange(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"There are {len(self):,} {self.kind}, numbered from 0; {index} is none of them.")
        index = int(index) % len(self)
        return next(iter(self[index : index + 1]))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Rules)
            and (self.unit, self.people, self.people_within) == (other.unit, other.people, other.people_within)
            and (self.provenance, self.how) == (other.provenance, other.how)
            and same_bounds(self.low, other.low)
            and same_bounds(self.high, other.high)
            and same_bounds(self.p, other.p)
            and same_bounds(self.p_adjusted, other.p_adjusted)
            and all(same_bounds(*both) for both in zip(self._ends(), other._ends(), strict=True))
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in COUNTS.values())
            and same_labels(self.antecedents, self.vocabulary, other.antecedents, other.vocabulary)
            and same_labels(self.consequents, self.vocabulary, other.consequents, other.vocabulary)
            and told_hierarchy(self) == told_hierarchy(other)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def written_name(self) -> str:
        """How many rules or relations there are."""
        return f"{len(self):,} {self.kind}"

    @property
    def sides(self) -> tuple[Itemsets, ...]:
        """The itemsets that each row has: antecedent and consequent."""
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
        if name not in self._measures:
            self._measures[name] = measure(name, self.people, *self._counts_for(name))
        return self._measures[name]

    def _counts_for(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts of the antecedent, the consequent and both that a measure is computed from.

        With noise, more people may hold both sides than one of them, or one side than there are. A measure that such
        counts would take out of its range gets the nearest ones that could be true.
        """
        left, right, both = self.antecedent_counts, self.consequent_counts, self.counts
        if not self.noisy or name in _UNBOUNDED:
            return left, right, both
        if name == "confidence":
            return left, right, np.minimum(both, left)
        left, right = (np.minimum(side, max(self.people, 1)) for side in (left, right))
        return left, right, np.minimum(both, np.minimum(left, right))

    def bounds(self, name: str) -> Ends | None:
        """Return an interval for the true value of a measure, where the counts are private: its low and its high end.

        It carries the noise of every count the measure is made of, and of the number of people: see
        :func:`discreet.results._measures.within` for how often it holds. None where the counts are exact.
        """
        if name == "confidence" and self.low is not None and self.high is not None:
            return self.low, self.high
        if name not in MEASURES:
            raise MisuseError(f"{name!r} is not a measure of rules; there are {', '.join(MEASURES)}.")
        return None if self.ends is None else within(name, self.people_within or (self.people,) * 2, *self.ends)

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
            The smallest number of people who hold both sides.
        significance
            The level, such as 0.05: rules with an adjusted p-value of at most this.
        redundant
            False leaves out rules that are no better than a more general one among these, or than the share of all
            people who hold the consequent. More general is one with a part of the antecedent, or with items in it that
            stand above. Where the counts are private, those of which the intervals say so.
        level
            A level of the hierarchy that they were found with: rules of items that stand for themselves there.
            ``"mixed"`` for those that are on no one level.
        minimums
            The smallest value of any measure: ``min_lift=1.2``, ``min_zhang=0.5`` and so on.
        """
        keep: Mask = self.counts >= min_count
        if significance is not None:
            keep &= self._tested("where(significance=...)")[1] <= parse_fraction("significance", significance)
        if not parse_switch("redundant", redundant):
            keep &= ~self._redundant()
        sides = (("antecedent", self.antecedents, antecedent), ("consequent", self.consequents, consequent))
        for what, side, items in sides:
            wanted = chosen(items, self.vocabulary, what)
            keep &= side.holding(wanted) == len(wanted)
        if lengths is not None:
            least, most = parse_lengths(lengths)
            sizes = self.antecedents.sizes + self.consequents.sizes
            keep &= (sizes >= least) & (sizes <= most)
        if level is not None:
            keep &= on_level(self, level)
        for name, minimum in minimums.items():
            if name.removeprefix("min_") not in MEASURES or not name.startswith("min_"):
                known = ", ".join(f"min_{known}" for known in MEASURES)
                raise MisuseError.format(
                    "where() has no condition {name!r}; there are {antecedent}, {consequent}, {lengths}, "
                    "{min_count}, {significance}, {redundant}, {level}, {known}.",
                    name=name,
                    known=known,
                )
            keep &= self.measure(name.removeprefix("min_")) >= number(name, minimum)
        return self if bool(keep.all()) else self._take(np.flatnonzero(keep))

    def _tested(self, call: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two columns of p-values; without them, refuse what needs them."""
        if self.p is None or self.p_adjusted is None:
            why = "find them anew among their patterns"
            if self.kind == "relations":
                why = "relations are not tested"
            elif self.unit == "baskets":
                why = (
                    "baskets of one person are not independent. Find them with discreet.rules in the baskets themselves"
                )
            raise MisuseError(f"{call} needs p-values, which these {self.kind} do not have: {why}.")
        return self.p, self.p_adjusted

    def _redundant(self) -> Mask:
        from ._redundancy import redundant

        if self.kind == "relations":
            raise MisuseError.format("{redundant=False} is for rules: no relation is more general than another.")
        bounds, lifts = self.bounds("confidence"), self.bounds("lift")
        exact = self.measure("confidence")
        sure, reached = (exact, exact) if bounds is None else bounds
        lift = self.measure("lift") if lifts is None else lifts[1]
        if self.noisy and (bounds is None or lifts is None):
            raise MisuseError.format("{redundant=False} needs intervals, which these rules do not have.")
        lineage = None if self.hierarchy is None else self.hierarchy.lineage(self.vocabulary)
        return redundant(self.antecedents, self.consequents, len(self.vocabulary), reached, sure, lift <= 1, lineage)

    def sort(self, by: str = "confidence", descending: bool = True) -> Rules:
        """Return the rules by `count` or a measure; equal ones keep their order, undefined ones come last.

        Where the counts are private, the ends of an interval are measures too, such as `confidence_low`. Sorted by it,
        no rule is on top by noise alone. By `p` or `p_adjusted`, the smallest come first.
        """
        measured, _, end = by.rpartition("_")
        bounds = self.bounds(measured) if measured in MEASURES and end in ("low", "high") else None
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
        return self._take(np.argsort(-column if descending else column, kind="stable"))

    def top(self, top: int, by: str = "confidence") -> Rules:
        """Return the `top` rules with the largest counts or values of a measure, or the smallest p-values."""
        return self.sort(by)[: parse_positive("top", top)]

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `antecedent`, `consequent` (lists), three counts, the ten measures, p-values.

        Where private, the ends of intervals follow: of the confidence, the support, the lift and the counts. With a
        hierarchy, `level` is last.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {
            "antecedent": self.antecedents.to_arrow(self.vocabulary),
            "consequent": self.consequents.to_arrow(self.vocabulary),
        }
        columns |= {name: getattr(self, attribute) for name, attribute in COUNTS.items()}
        columns |= {name: self.measure(name) for name in MEASURES}
        return pa.table(columns | self._p_values() | self._bounds() | self._levels())

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with the columns of mlxtend's rules, then `cosine`, `count` and the p-values.

        Where private, the ends of intervals follow: of the confidence, the support, the lift and the counts.
        """
        pandas = frames("pandas")
        sides = [
            pandas.Series(list(side.sets(self.vocabulary)), dtype=object)
            for side in (self.antecedents, self.consequents)
        ]
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "antecedents": sides[0],
                "consequents": sides[1],
                # With noise a count may be more than the number of people; a fraction of them never is.
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
            | self._levels()
        )
        return frame

    def _levels(self) -> dict[str, NDArray[Any]]:
        return {} if self.hierarchy is None else {"level": np.array(self.levels, object)}

    def _p_values(self) -> dict[str, NDArray[np.float64]]:
        columns = zip(P_VALUES, (self.p, self.p_adjusted), strict=True)
        return {name: column for name, column in columns if column is not None}

    def _bounds(self) -> dict[str, NDArray[np.float64]]:
        columns: dict[str, NDArray[np.float64]] = {}
        for name in ("confidence", "support", "lift"):
            found = self.bounds(name)
            if found is not None:
                columns |= {f"{name}_low": found[0], f"{name}_high": found[1]}
        return columns | {name: end for name, end in zip(ENDS, self._ends(), strict=True) if end is not None}

    def _ends(self) -> list[NDArray[np.float64] | None]:
        """Return the ends of the intervals of the counts, in the order of `ENDS`."""
        return [None] * len(ENDS) if self.ends is None else [end for pair in self.ends for end in pair]

    def _take(self, positions: Positions) -> Rules:
        return Rules(
            antecedents=self.antecedents.take(positions),
            consequents=self.consequents.take(positions),
            vocabulary=self.vocabulary,
            people=self.people,
            omitted=self.omitted,
            low=None if self.low is None else self.low[positions],
            high=None if self.high is None else self.high[positions],
            provenance=self.provenance,
            kind=self.kind,
            how=self.how,
            people_within=self.people_within,
            unit=self.unit,
            ends=ends_at(self.ends, positions),
            p=None if self.p is None else self.p[positions],
            p_adjusted=None if self.p_adjusted is None else self.p_adjusted[positions],
            tested=self.tested,
            hierarchy=self.hierarchy,
            **{name: getattr(self, name)[positions] for name in COUNTS.values()},
        )


# The count columns of tables and files, and where Rules keeps them.
COUNTS = {
    "count": "counts",
    "antecedent_count": "antecedent_counts",
    "consequent_count": "consequent_counts",
}
P_VALUES = ("p", "p_adjusted")
BOUNDS = {"confidence_low": "low", "confidence_high": "high"}
ENDS = tuple(f"{side}_{end}" for side in ("antecedent", "consequent", "count") for end in ("low", "high"))


def ends_at(ends: tuple[Ends, Ends, Ends] | None, *positions: Positions) -> tuple[Ends, Ends, Ends] | None:
    """Return the ends at some places; three of them take each pair at its own."""
    if ends is None:
        return None
    places = positions if len(positions) == len(ends) else positions * len(ends)
    one, other, both = ((low[place], high[place]) for (low, high), place in zip(ends, places, strict=True))
    return one, other, both


def number(name: str, value: float) -> float:
    """Return the least value of a measure that was given, which is a number."""
    if isinstance(value, int | float | np.number) and not math.isnan(value):
        return float(value)
    raise MisuseError.format("{option} is {value!r}, but it must be a number.", option=name_options(name), value=value)
