"""The quality of released patterns, measured against the truth.

Every function takes *found* patterns and the *truth*, each a mapping from itemset (a frozenset of labels) to count or a
:class:`~discreet.results._patterns.Patterns`. Counts are numbers of people out of all people, never of a queried group
(erratum A9).

One rule holds throughout: **an itemset missing in the truth has count 0.** A truth mined at a support must therefore
reach low enough, and for errors and soundness it must also contain the true count of every found itemset.

Shares of an empty set are 1: no found itemset is wrong (precision, soundness), and no wanted itemset is missed (recall,
completeness, cumulative rank). Errors over an empty set are NaN.

===================  =====================  =========================================================
here                 papers                 where
===================  =====================  =========================================================
top                  k, K                   Wang, Li, Jha 2018; Bhaskar et al. 2010
cumulative_rank      NCR                    Wang, Li, Jha, section VI: true ranks (erratum B14)
squared_error        Var                    Wang, Li, Jha, section VI
precision, recall    P, R                   Zeng, Naughton, Cai 2012, definition 10
f_score              F-score, F1            Zeng, Naughton, Cai, definition 10; Dong et al. 2024
false_negative_rate  FNR                    Bhaskar et al.: share of the true top K missed
false_positive_rate  FPR                    Bhaskar et al.: share of all other itemsets
min_count, slack     λ, δ                   Zeng, Naughton, Cai, definition 5
people               n                      all
margin, accuracy     γ, η                   Bhaskar et al., definition 4: fractions of people
(over many runs)     ρ                      Bhaskar et al., definition 4: share of runs that may fail
relative_error       median relative error  Li et al. 2012 (PrivBasis); a floor under the truth
score_relations      F1, NCR, VAR           Dong et al. 2024, section 7.1: relations, by confidence
===================  =====================  =========================================================

Of Dong et al. only a text without the quality q of NCR and without the formula of VAR is at hand. Here the quality of a
true relation is the number of wanted relations, less one for every rank by confidence, down to 1, as in Wang, Li, Jha.
VAR is the mean over the *true* relations of the squared error of confidence, with 0 for a relation that was not found:
two methods of their table 3 find no relation and have equal VAR on each data set, as this definition implies.
The error over the found relations is given beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from ..baskets import Item
from ..checks import parse_number
from ..errors import MisuseError

if TYPE_CHECKING:
    from ..results import Rules

Itemset: TypeAlias = frozenset[Item]
Counts: TypeAlias = Mapping[Itemset, float]


@runtime_checkable
class HasCounts(Protocol):
    """A result with counts by itemset, for example `Patterns`."""

    def to_dict(self) -> Mapping[Itemset, float]:
        """Return the count of each itemset."""
        ...


CountsLike: TypeAlias = Counts | HasCounts


def counts_of(patterns: CountsLike) -> Counts:
    """Return patterns as a mapping from itemset to count."""
    return patterns.to_dict() if isinstance(patterns, HasCounts) else patterns


ItemsetsLike: TypeAlias = Iterable[Itemset] | HasCounts


def _collect_itemsets(itemsets: ItemsetsLike) -> set[Itemset]:
    return set(itemsets.to_dict() if isinstance(itemsets, HasCounts) else itemsets)


def ranked(patterns: CountsLike, top: int | None = None) -> list[Itemset]:
    """Return the itemsets by falling count, all or only the first `top`.

    Among equal counts the shorter itemset comes first, then the order of the labels decides, so that ranks are unique.
    Subsets thereby precede their supersets (erratum A10).

    Examples
    --------
    >>> ranked({frozenset("b"): 5, frozenset("ab"): 5, frozenset("a"): 5}, top=2) == [{"a"}, {"b"}]
    True
    """
    counts = counts_of(patterns)
    if top is not None and top < 1:
        raise MisuseError.format("{top} is {given}; it must be 1 or more.", given=top)
    return sorted(counts, key=lambda itemset: (-counts[itemset], len(itemset), _order_labels(itemset)))[:top]


def _order_labels(itemset: Itemset) -> list[tuple[bool, Item]]:
    # Numbers first: Python does not compare numbers with text.
    return sorted((isinstance(label, str), label) for label in itemset)


def precision(found: ItemsetsLike, wanted: ItemsetsLike) -> float:
    """Return the share of the found itemsets that were wanted.

    Examples
    --------
    >>> precision([frozenset("a"), frozenset("b")], [frozenset("a")])
    0.5
    """
    found_itemsets, wanted_itemsets = _collect_itemsets(found), _collect_itemsets(wanted)
    return _share(len(found_itemsets & wanted_itemsets), len(found_itemsets))


def recall(found: ItemsetsLike, wanted: ItemsetsLike) -> float:
    """Return the share of the wanted itemsets that were found."""
    return precision(wanted, found)


def f_score(found: ItemsetsLike, wanted: ItemsetsLike) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    found_itemsets, wanted_itemsets = _collect_itemsets(found), _collect_itemsets(wanted)
    # 2PR / (P + R) with the common factor cancelled, which also settles every division by zero.
    return _share(2 * len(found_itemsets & wanted_itemsets), len(found_itemsets) + len(wanted_itemsets))


def false_negative_rate(found: ItemsetsLike, wanted: ItemsetsLike) -> float:
    """Return the share of the wanted itemsets that were missed."""
    return 1 - recall(found, wanted)


def false_positive_rate(found: ItemsetsLike, wanted: ItemsetsLike, *, universe: int) -> float:
    """Return the share of the unwanted itemsets that were found, 0 where all itemsets are wanted.

    Parameters
    ----------
    found, wanted
        Itemsets.
    universe
        The number of possible itemsets: C(m, l) for itemsets of l out of m items.
    """
    found_itemsets, wanted_itemsets = _collect_itemsets(found), _collect_itemsets(wanted)
    if universe < len(found_itemsets | wanted_itemsets):
        raise MisuseError(
            f"universe is {universe:,}, but {len(found_itemsets | wanted_itemsets):,} different itemsets were given:"
            " give the number of all possible itemsets."
        )
    # Without an unwanted itemset, no false positive is possible: the rate is then 0.
    unwanted = universe - len(wanted_itemsets)
    return len(found_itemsets - wanted_itemsets) / unwanted if unwanted else 0.0


def cumulative_rank(found: CountsLike, truth: CountsLike, *, top: int) -> float:
    """Return the normalised cumulative rank: 1 if all true top itemsets were found, in any order.

    The itemset of true rank r is worth `top` + 1 - r points. Points are given for the `top` found itemsets with the
    highest released counts. If the truth has fewer than `top` itemsets, their number replaces `top`.

    Examples
    --------
    >>> truth = {frozenset("a"): 9, frozenset("b"): 5, frozenset("c"): 2}
    >>> cumulative_rank({frozenset("a"): 8, frozenset("d"): 4}, truth, top=2)
    0.6666666666666666
    """
    true_top = ranked(truth, top)
    points = {itemset: len(true_top) - rank for rank, itemset in enumerate(true_top)}
    points_reached = sum(points.get(itemset, 0) for itemset in ranked(found, top))
    return _share(points_reached, sum(points.values()))


def squared_error(found: CountsLike, truth: CountsLike, *, people: int | None = None) -> float:
    """Return the mean squared error of the counts of the itemsets in both found and truth.

    Give only the true top itemsets as the truth for the figure of the papers. With `people` it is the error of
    supports instead of counts.
    """
    estimates, true_counts = counts_of(found), counts_of(truth)
    # Only itemsets in both: an unlisted itemset has no released count to compare.
    errors = [(estimates[itemset] - true_counts[itemset]) ** 2 for itemset in estimates.keys() & true_counts.keys()]
    return fmean(errors) / (people**2 if people else 1) if errors else float("nan")


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
    return _share(sum(true_counts.get(itemset, 0) >= below for itemset in estimates), len(estimates))


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
    true_top = ranked(true_counts, top)
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
        estimates = {itemset: estimates[itemset] for itemset in ranked(estimates, top)}
        wanted_counts = {itemset: true_counts[itemset] for itemset in ranked(true_counts, top)}
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


@dataclass(frozen=True, kw_only=True)
class RelationScore:
    """The measures of :func:`score_relations`; the error of found relations is NaN if none was found."""

    found: int
    wanted: int
    precision: float
    recall: float
    f_score: float
    cumulative_rank: float
    confidence_error: float
    found_confidence_error: float

    def to_dict(self) -> dict[str, float]:
        """Return the measures by name."""
        return asdict(self)


def score_relations(found: Rules, truth: Rules, *, ordered: bool = False) -> RelationScore:
    """Measure found relations against the true relations, which come by falling confidence.

    Parameters
    ----------
    found
        Relations with their confidences.
    truth
        Exactly the wanted relations, the most reliable first, as returned by
        :func:`discreet.exact._relations.relations`.
    ordered
        Whether ((a, b), c) and ((b, a), c) are two relations, as for `given` and `after`.

    Examples
    --------
    >>> import discreet
    >>> from discreet.exact._relations import relations
    >>> truth = relations(discreet.read([{"tea", "milk"}] * 3 + [{"milk"}]), top=2)
    >>> score_relations(truth[:1], truth).cumulative_rank
    0.6666666666666666
    """
    estimates, true_confidences = _confidences(found, ordered), _confidences(truth, ordered)
    common_relations = [relation for relation in true_confidences if relation in estimates]
    points = {relation: len(true_confidences) - rank for rank, relation in enumerate(true_confidences)}
    errors = [(estimates.get(relation, 0.0) - confidence) ** 2 for relation, confidence in true_confidences.items()]
    found_errors = [(estimates[relation] - true_confidences[relation]) ** 2 for relation in common_relations]
    return RelationScore(
        found=len(estimates),
        wanted=len(true_confidences),
        precision=_share(len(common_relations), len(estimates)),
        recall=_share(len(common_relations), len(true_confidences)),
        f_score=_share(2 * len(common_relations), len(estimates) + len(true_confidences)),
        cumulative_rank=_share(sum(points[relation] for relation in common_relations), sum(points.values())),
        confidence_error=fmean(errors) if errors else float("nan"),
        found_confidence_error=fmean(found_errors) if found_errors else float("nan"),
    )


def _confidences(rules: Rules, ordered: bool) -> dict[tuple[Any, Any], float]:
    """Return the confidence of each relation; ordered sides are tuples in the order of their codes."""
    keys: list[tuple[Any, Any]] = [(rule.antecedent, rule.consequent) for rule in rules]
    if ordered:
        sides = (side.to_arrow(rules.vocabulary).to_pylist() for side in (rules.antecedents, rules.consequents))
        keys = [(tuple(left_side), tuple(right_side)) for left_side, right_side in zip(*sides, strict=True)]
    return dict(zip(keys, rules.measure("confidence").tolist(), strict=True))


def _select_lengths(counts: Counts, lengths: int | tuple[int, int] | None) -> Counts:
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


def _share(part: float, total: float) -> float:
    """Return part / total; 1 for a total of 0, as nothing is wrong in an empty set."""
    return part / total if total else 1.0
