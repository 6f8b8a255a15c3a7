"""Measures of papers for released patterns against the truth, and :func:`score`, all measures of one result.

The shared measures, and the conventions for itemsets missing in the truth, are in :mod:`discreet.exact`. Completeness
and soundness are of Zeng, Naughton, Cai 2012; usefulness is of Bhaskar et al. 2010; the relative error with a floor
under the truth is of Li et al. 2012.

===================  =====================  =========================================================
here                 papers                 where
===================  =====================  =========================================================
false_positive_rate  FPR                    Bhaskar et al.: share of all other itemsets
min_count, slack     λ, δ                   Zeng, Naughton, Cai, definition 5
margin, accuracy     γ, η                   Bhaskar et al., definition 4: fractions of people
(over many runs)     ρ                      Bhaskar et al., definition 4: share of runs that may fail
relative_error       median relative error  Li et al. 2012 (PrivBasis); a floor under the truth
===================  =====================  =========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import fmean, median
from typing import Literal

from discreet.baskets import Item
from discreet.checks import parse_number
from discreet.errors import MisuseError
from discreet.exact import (
    CountsLike,
    HasCounts,
    ItemsetsLike,
    counts_of,
    cumulative_rank,
    f_score,
    false_negative_rate,
    precision,
    rank_itemsets,
    recall,
    squared_error,
)


def false_positive_rate(found: ItemsetsLike, wanted: ItemsetsLike, *, universe: int) -> float:
    """Return the share of the unwanted itemsets that were found, 0 where all itemsets are wanted.

    Parameters
    ----------
    found, wanted
        Itemsets.
    universe
        The number of possible itemsets: C(m, l) for itemsets of l out of m items.
    """
    found_itemsets, wanted_itemsets = (
        set(itemsets.to_dict() if isinstance(itemsets, HasCounts) else itemsets) for itemsets in (found, wanted)
    )
    if universe < len(found_itemsets | wanted_itemsets):
        raise MisuseError(
            f"universe is {universe:,}, but {len(found_itemsets | wanted_itemsets):,} different itemsets were given:"
            " give the number of all possible itemsets."
        )
    # Without an unwanted itemset, no false positive is possible: the rate is then 0.
    unwanted = universe - len(wanted_itemsets)
    return len(found_itemsets - wanted_itemsets) / unwanted if unwanted else 0.0


def relative_error(
    found: CountsLike, truth: CountsLike, *, floor: float = 1, summary: Literal["median", "mean"] = "median"
) -> float:
    """Return the median or mean over the found itemsets of the error over max(true count, floor).

    Parameters
    ----------
    found, truth
        Counts by itemset.
    floor
        The least denominator, a count above 0: it keeps rare itemsets from deciding everything.
    summary
        The kind of average.
    """
    if not floor > 0:
        raise MisuseError(f"floor is {floor:g}; it must be above 0: try floor=1.")
    estimates, true_counts = counts_of(found), counts_of(truth)
    errors = [
        abs(count - true_counts.get(itemset, 0)) / max(true_counts.get(itemset, 0), floor)
        for itemset, count in estimates.items()
    ]
    if not errors:
        return float("nan")
    if summary not in ("median", "mean"):
        raise MisuseError(f"summary is 'median' or 'mean', not {summary!r}.")
    return float(median(errors) if summary == "median" else fmean(errors))


def completeness(found: CountsLike, truth: CountsLike, *, above: float | Fraction) -> float:
    """Return the found share of the itemsets with a true count over `above`."""
    return recall(counts_of(found), (itemset for itemset, count in counts_of(truth).items() if count > above))


def soundness(found: CountsLike, truth: CountsLike, *, below: float | Fraction) -> float:
    """Return the share of the found itemsets with a true count of at least `below`."""
    true_counts = counts_of(truth)
    estimates = counts_of(found)
    # No listed itemset is wrong in an empty list.
    return sum(true_counts.get(itemset, 0) >= below for itemset in estimates) / len(estimates) if estimates else 1.0


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """The completeness and soundness of a result; both are 1 for a δ-approximate result."""

    completeness: float
    soundness: float

    @property
    def holds(self) -> bool:
        """Whether the result is δ-approximate."""
        return self.completeness == 1 and self.soundness == 1


def approximation(found: CountsLike, truth: CountsLike, *, min_count: float, slack: float) -> Approximation:
    """Return the completeness and soundness of a result (Zeng, Naughton, Cai, definition 5).

    Complete: every itemset with a true count over ``(1 + slack) * min_count`` was found. Sound: no itemset with a true
    count under ``(1 - slack) * min_count`` was found.
    """
    if not slack >= 0:
        raise MisuseError(f"slack is {slack:g}; it must be 0 or more: try slack=0.2.")
    return Approximation(
        completeness=completeness(found, truth, above=(1 + _to_fraction(slack)) * _to_fraction(min_count)),
        soundness=soundness(found, truth, below=(1 - _to_fraction(slack)) * _to_fraction(min_count)),
    )


@dataclass(frozen=True, kw_only=True)
class Usefulness:
    """One run by the conditions of Bhaskar et al., definition 4: all four must hold."""

    sound: bool
    complete: bool
    accurate: bool
    full: bool

    @property
    def holds(self) -> bool:
        """Whether this run is useful; a mechanism is (ρ, γ, η)-useful if all but a share ρ are."""
        return self.sound and self.complete and self.accurate and self.full


def usefulness(
    found: CountsLike, truth: CountsLike, *, top: int, people: int, margin: float, accuracy: float
) -> Usefulness:
    """Return whether one run is useful in the sense of Bhaskar et al., definition 4.

    With c the count of the `top`-th itemset of the truth (0 for a shorter truth, erratum E11): no itemset
    found has a true count under ``c - margin * people``, every one over ``c + margin * people`` was found,
    each released count is within ``accuracy * people`` of the true one, and exactly `top` itemsets were
    found. The margin that a mechanism may claim, with ln(2K/ρ) (erratum E2), is derived at the mechanism.
    """
    true_counts, estimates = counts_of(truth), counts_of(found)
    true_top = rank_itemsets(true_counts, top)
    # The empty itemsets of E11 have count 0: a top may be larger than the number of patterns with a holder.
    last_count = true_counts[true_top[-1]] if len(true_top) == top else 0
    return Usefulness(
        sound=soundness(found, truth, below=_to_fraction(last_count) - _to_fraction(margin) * people) == 1,
        complete=completeness(found, truth, above=_to_fraction(last_count) + _to_fraction(margin) * people) == 1,
        accurate=all(
            abs(count - true_counts.get(itemset, 0)) <= _to_fraction(accuracy) * people
            for itemset, count in estimates.items()
        ),
        full=len(estimates) == top,
    )


@dataclass(frozen=True, kw_only=True)
class Score:
    """The measures of :func:`score`; None for a measure that does not apply to the arguments."""

    found: int
    wanted: int
    precision: float
    recall: float
    f_score: float
    false_negative_rate: float
    false_positive_rate: float | None
    cumulative_rank: float | None
    squared_error: float
    support_squared_error: float | None
    median_relative_error: float
    mean_relative_error: float
    completeness: float | None
    soundness: float | None

    def to_dict(self) -> dict[str, float]:
        """Return the measures that apply, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def score(
    found: CountsLike,
    truth: CountsLike,
    *,
    top: int | None = None,
    min_count: float | None = None,
    lengths: int | tuple[int, int] | None = None,
    people: int | None = None,
    slack: float | None = None,
    floor: float = 1,
    universe: int | None = None,
) -> Score:
    """Measure a result in every way that applies.

    The wanted itemsets are the `top` most frequent itemsets of the truth, or all itemsets with at least `min_count`:
    give one of the two. With `top`, only the `top` found itemsets with the highest released counts are scored.

    Parameters
    ----------
    found, truth
        Counts by itemset.
    top, min_count
        The selection of wanted itemsets. `top` adds the cumulative rank.
    lengths
        The scored lengths, a number or a range: papers differ (erratum A12).
    people
        The number of people: adds the squared error of supports.
    slack
        With `min_count`: adds completeness and soundness.
    floor
        The least denominator of a relative error.
    universe
        The number of possible itemsets: adds the false positive rate.

    Examples
    --------
    >>> truth = {frozenset("a"): 9, frozenset("b"): 5, frozenset("c"): 2}
    >>> score({frozenset("a"): 8, frozenset("c"): 4}, truth, top=2).to_dict()["f_score"]
    0.5
    """
    if (top is None) == (min_count is None):
        raise MisuseError.format("Give what was asked for: {top=64} or {min_count=500}, one of the two.")
    if slack is not None and min_count is None:
        raise MisuseError.format("slack is measured around {min_count}: give {min_count} as well, or leave slack out.")
    true_counts, estimates = _select_lengths(counts_of(truth), lengths), _select_lengths(counts_of(found), lengths)
    if top is not None:
        # Only as many as wanted: a longer list would improve the recall.
        estimates = {itemset: estimates[itemset] for itemset in rank_itemsets(estimates, top)}
        wanted_counts = {itemset: true_counts[itemset] for itemset in rank_itemsets(true_counts, top)}
    else:
        wanted_counts = {itemset: count for itemset, count in true_counts.items() if count >= (min_count or 0)}
    approximate = None
    if min_count is not None and slack is not None:
        approximate = approximation(estimates, true_counts, min_count=min_count, slack=slack)
    return Score(
        found=len(estimates),
        wanted=len(wanted_counts),
        precision=precision(estimates, wanted_counts),
        recall=recall(estimates, wanted_counts),
        f_score=f_score(estimates, wanted_counts),
        false_negative_rate=false_negative_rate(estimates, wanted_counts),
        false_positive_rate=(
            None if universe is None else false_positive_rate(estimates, wanted_counts, universe=universe)
        ),
        cumulative_rank=None if top is None else cumulative_rank(estimates, true_counts, top=top),
        squared_error=squared_error(estimates, wanted_counts),
        support_squared_error=None if people is None else squared_error(estimates, wanted_counts, people=people),
        median_relative_error=relative_error(estimates, true_counts, floor=floor),
        mean_relative_error=relative_error(estimates, true_counts, floor=floor, summary="mean"),
        completeness=None if approximate is None else approximate.completeness,
        soundness=None if approximate is None else approximate.soundness,
    )


def _select_lengths(
    counts: Mapping[frozenset[Item], float], lengths: int | tuple[int, int] | None
) -> Mapping[frozenset[Item], float]:
    if lengths is None:
        return counts
    min_length, max_length = (lengths, lengths) if isinstance(lengths, int) else lengths
    if not 1 <= min_length <= max_length:
        raise MisuseError.format(
            "{lengths} is {given!r}; give one number such as 2, or the smallest and the largest: (2, 5).", given=lengths
        )
    return {itemset: count for itemset, count in counts.items() if min_length <= len(itemset) <= max_length}


def _to_fraction(value: float) -> Fraction:
    # The decimal as written: 1.15 * 100 must be 115, or a count equal to a bound falls on the wrong side of the bound.
    number = parse_number(value)
    if number is None:
        raise MisuseError(f"{value!r} is not a number that counts can be compared with.")
    return Fraction(number)
