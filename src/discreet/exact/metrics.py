"""How good released patterns are, measured against the truth.

Every function takes what was *found* and the *truth*, each a mapping from itemset (a frozenset of labels)
to count or a :class:`~discreet.results.patterns.Patterns`. Counts are numbers of people out of all people,
never of a group that was asked (erratum A9).

One rule holds throughout: **an itemset that the truth does not mention has count 0.** So a truth that was
mined at a support must reach low enough, and for errors and soundness it must also hold the true count of
everything found.

Shares of nothing are 1: nothing found is all correct (precision, soundness), nothing to find is all found
(recall, completeness, cumulative rank). Errors over nothing are NaN.

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
true relation is the number of those wanted, less one for every rank by confidence, down to 1, as in Wang, Li, Jha. VAR
is the mean over the *true* relations of the squared error of confidence, where one that was not found counts as 0: two
methods of their table 3 find nothing at all and have the same VAR on each data set, as they must have under this
definition. The error over the relations that were found is given beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from ..baskets.core import Item
from ..checks import as_written
from ..errors import MisuseError, told

if TYPE_CHECKING:
    from ..results.rules import Rules

Itemset: TypeAlias = frozenset[Item]
Counts: TypeAlias = Mapping[Itemset, float]


@runtime_checkable
class HasCounts(Protocol):
    """Anything that gives its counts by itemset, such as `Patterns`."""

    def to_dict(self) -> Mapping[Itemset, float]:
        """Return the count of each itemset."""
        ...


Given: TypeAlias = Counts | HasCounts


def counts_of(patterns: Given) -> Counts:
    """Return patterns as a mapping from itemset to count."""
    return patterns.to_dict() if isinstance(patterns, HasCounts) else patterns


Several: TypeAlias = Iterable[Itemset] | HasCounts


def _itemsets(several: Several) -> set[Itemset]:
    return set(several.to_dict() if isinstance(several, HasCounts) else several)


def ranked(patterns: Given, top: int | None = None) -> list[Itemset]:
    """Return the itemsets from the most frequent down, all or the `top` first.

    Of equal counts the shorter itemset comes first, then the order of the labels decides, so that a rank is
    one number. Subsets thereby precede their supersets (erratum A10).

    Examples
    --------
    >>> ranked({frozenset("b"): 5, frozenset("ab"): 5, frozenset("a"): 5}, top=2) == [{"a"}, {"b"}]
    True
    """
    counts = counts_of(patterns)
    if top is not None and top < 1:
        raise MisuseError(told("{top} is {given}; it must be 1 or more.", given=top))
    return sorted(counts, key=lambda itemset: (-counts[itemset], len(itemset), _labels(itemset)))[:top]


def _labels(itemset: Itemset) -> list[tuple[bool, Item]]:
    return sorted((isinstance(label, str), label) for label in itemset)


def precision(found: Several, wanted: Several) -> float:
    """Return the share of the found itemsets that were wanted.

    Examples
    --------
    >>> precision([frozenset("a"), frozenset("b")], [frozenset("a")])
    0.5
    """
    held, right = _itemsets(found), _itemsets(wanted)
    return _share(len(held & right), len(held))


def recall(found: Several, wanted: Several) -> float:
    """Return the share of the wanted itemsets that were found."""
    return precision(wanted, found)


def f_score(found: Several, wanted: Several) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    held, right = _itemsets(found), _itemsets(wanted)
    # 2PR / (P + R) with the common factor cancelled, which also settles every division by zero.
    return _share(2 * len(held & right), len(held) + len(right))


def false_negative_rate(found: Several, wanted: Several) -> float:
    """Return the share of the wanted itemsets that were missed."""
    return 1 - recall(found, wanted)


def false_positive_rate(found: Several, wanted: Several, *, universe: int) -> float:
    """Return the share of the unwanted itemsets that were found, 0 where all itemsets are wanted.

    Parameters
    ----------
    found, wanted
        Itemsets.
    universe
        How many itemsets there could be: C(m, l) for itemsets of l out of m items.
    """
    held, right = _itemsets(found), _itemsets(wanted)
    if universe < len(held | right):
        raise MisuseError(
            f"universe is {universe:,}, but {len(held | right):,} different itemsets were given:"
            " give the number of all possible itemsets."
        )
    unwanted = universe - len(right)
    return len(held - right) / unwanted if unwanted else 0.0


def cumulative_rank(found: Given, truth: Given, *, top: int) -> float:
    """Return the normalised cumulative rank: 1 if the true top itemsets were all found, whatever their order.

    The most frequent itemset is worth `top` points, the next one less, down to 1; the rank is the true one.
    Points are given for the `top` itemsets found with the highest released counts. If the truth has fewer
    than `top` itemsets, its number takes the place of `top`.

    Examples
    --------
    >>> truth = {frozenset("a"): 9, frozenset("b"): 5, frozenset("c"): 2}
    >>> cumulative_rank({frozenset("a"): 8, frozenset("d"): 4}, truth, top=2)
    0.6666666666666666
    """
    wanted = ranked(truth, top)
    points = {itemset: len(wanted) - rank for rank, itemset in enumerate(wanted)}
    reached = sum(points.get(itemset, 0) for itemset in ranked(found, top))
    return _share(reached, sum(points.values()))


def squared_error(found: Given, truth: Given, *, people: int | None = None) -> float:
    """Return the mean squared error of the counts of the itemsets in both found and truth.

    Give the true top itemsets alone as the truth for the papers' figure. With `people` it is the error of
    supports instead of counts.
    """
    estimates, true = counts_of(found), counts_of(truth)
    errors = [(estimates[itemset] - true[itemset]) ** 2 for itemset in estimates.keys() & true.keys()]
    return fmean(errors) / (people**2 if people else 1) if errors else float("nan")


def relative_error(
    found: Given, truth: Given, *, floor: float = 1, summary: Literal["median", "mean"] = "median"
) -> float:
    """Return the median or mean over the found itemsets of the error over max(true count, floor).

    Parameters
    ----------
    found, truth
        Counts by itemset.
    floor
        The least denominator, a count above 0: it keeps rare itemsets from deciding everything.
    summary
        Which middle is meant.
    """
    if not floor > 0:
        raise MisuseError(f"floor is {floor:g}; it must be above 0: try floor=1.")
    estimates, true = counts_of(found), counts_of(truth)
    errors = [
        abs(count - true.get(itemset, 0)) / max(true.get(itemset, 0), floor) for itemset, count in estimates.items()
    ]
    if not errors:
        return float("nan")
    if summary not in ("median", "mean"):
        raise MisuseError(f"summary is 'median' or 'mean', not {summary!r}.")
    return float(median(errors) if summary == "median" else fmean(errors))


def completeness(found: Given, truth: Given, *, above: float | Fraction) -> float:
    """Return the share found of the itemsets whose true count exceeds `above`."""
    return recall(counts_of(found), (itemset for itemset, count in counts_of(truth).items() if count > above))


def soundness(found: Given, truth: Given, *, below: float | Fraction) -> float:
    """Return the share of the found itemsets whose true count is not under `below`."""
    true = counts_of(truth)
    estimates = counts_of(found)
    return _share(sum(true.get(itemset, 0) >= below for itemset in estimates), len(estimates))


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """Whether a result is δ-approximate: complete and sound, each as the share that was kept."""

    completeness: float
    soundness: float

    @property
    def holds(self) -> bool:
        """Whether both are kept entirely."""
        return self.completeness == 1 and self.soundness == 1


def approximation(found: Given, truth: Given, *, min_count: float, slack: float) -> Approximation:
    """Return how far a result is approximate in the sense of Zeng, Naughton and Cai, definition 5.

    Complete: every itemset with a true count over ``(1 + slack) * min_count`` was found. Sound: none with a
    true count under ``(1 - slack) * min_count`` was.
    """
    if not slack >= 0:
        raise MisuseError(f"slack is {slack:g}; it must be 0 or more: try slack=0.2.")
    return Approximation(
        completeness=completeness(found, truth, above=(1 + _exact(slack)) * _exact(min_count)),
        soundness=soundness(found, truth, below=(1 - _exact(slack)) * _exact(min_count)),
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


def usefulness(found: Given, truth: Given, *, top: int, people: int, margin: float, accuracy: float) -> Usefulness:
    """Return whether one run is useful in the sense of Bhaskar et al., definition 4.

    With c the count of the `top`-th itemset of the truth (0 if there are fewer, erratum E11): no itemset
    found has a true count under ``c - margin * people``, every one over ``c + margin * people`` was found,
    each released count is within ``accuracy * people`` of the true one, and exactly `top` itemsets were
    found. How large a margin a mechanism may claim, with ln(2K/ρ) (erratum E2), is the mechanism's
    business.
    """
    true, estimates = counts_of(truth), counts_of(found)
    wanted = ranked(true, top)
    last = true[wanted[-1]] if len(wanted) == top else 0
    return Usefulness(
        sound=soundness(found, truth, below=_exact(last) - _exact(margin) * people) == 1,
        complete=completeness(found, truth, above=_exact(last) + _exact(margin) * people) == 1,
        accurate=all(
            abs(count - true.get(itemset, 0)) <= _exact(accuracy) * people for itemset, count in estimates.items()
        ),
        full=len(estimates) == top,
    )


@dataclass(frozen=True, kw_only=True)
class Score:
    """Everything :func:`score` measured; None where a measure does not apply to what was given."""

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
    found: Given,
    truth: Given,
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

    What is wanted is the `top` most frequent itemsets of the truth or all with at least `min_count`: give
    one of the two. With `top`, only the `top` found with the highest released counts are scored.

    Parameters
    ----------
    found, truth
        Counts by itemset.
    top, min_count
        What was asked for. `top` adds the cumulative rank.
    lengths
        Score itemsets of this many items alone, or of so many to so many: papers differ (erratum A12).
    people
        How many people there are: adds the squared error of supports.
    slack
        With `min_count`: adds completeness and soundness.
    floor
        The least denominator of a relative error.
    universe
        How many itemsets there could be: adds the false positive rate.

    Examples
    --------
    >>> truth = {frozenset("a"): 9, frozenset("b"): 5, frozenset("c"): 2}
    >>> score({frozenset("a"): 8, frozenset("c"): 4}, truth, top=2).to_dict()["f_score"]
    0.5
    """
    if (top is None) == (min_count is None):
        raise MisuseError(told("Give what was asked for: {top=64} or {min_count=500}, one of the two."))
    if slack is not None and min_count is None:
        raise MisuseError(told("slack is measured around {min_count}: give {min_count} as well, or leave slack out."))
    true, estimates = _of_lengths(counts_of(truth), lengths), _of_lengths(counts_of(found), lengths)
    if top is not None:
        estimates = {itemset: estimates[itemset] for itemset in ranked(estimates, top)}
        wanted = {itemset: true[itemset] for itemset in ranked(true, top)}
    else:
        wanted = {itemset: count for itemset, count in true.items() if count >= (min_count or 0)}
    near = None
    if min_count is not None and slack is not None:
        near = approximation(estimates, true, min_count=min_count, slack=slack)
    return Score(
        found=len(estimates),
        wanted=len(wanted),
        precision=precision(estimates, wanted),
        recall=recall(estimates, wanted),
        f_score=f_score(estimates, wanted),
        false_negative_rate=false_negative_rate(estimates, wanted),
        false_positive_rate=(None if universe is None else false_positive_rate(estimates, wanted, universe=universe)),
        cumulative_rank=None if top is None else cumulative_rank(estimates, true, top=top),
        squared_error=squared_error(estimates, wanted),
        support_squared_error=None if people is None else squared_error(estimates, wanted, people=people),
        median_relative_error=relative_error(estimates, true, floor=floor),
        mean_relative_error=relative_error(estimates, true, floor=floor, summary="mean"),
        completeness=None if near is None else near.completeness,
        soundness=None if near is None else near.soundness,
    )


@dataclass(frozen=True, kw_only=True)
class RelationScore:
    """Everything :func:`score_relations` measured; the error of what was found is NaN where nothing was."""

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
    """Measure relations that were found against the true ones, which come by falling confidence.

    Parameters
    ----------
    found
        Relations with their confidences.
    truth
        All relations wanted and no others, the most reliable first, as :func:`discreet.exact.relations.relations` gives
        them.
    ordered
        Whether ((a, b), c) and ((b, a), c) are two relations, as they are where pairs are given or in time.

    Examples
    --------
    >>> import discreet
    >>> from discreet.exact.relations import relations
    >>> truth = relations(discreet.read([{"tea", "milk"}] * 3 + [{"milk"}]), top=2)
    >>> score_relations(truth[:1], truth).cumulative_rank
    0.6666666666666666
    """
    estimates, true = _confidences(found, ordered), _confidences(truth, ordered)
    both = [relation for relation in true if relation in estimates]
    points = {relation: len(true) - rank for rank, relation in enumerate(true)}
    errors = [(estimates.get(relation, 0.0) - confidence) ** 2 for relation, confidence in true.items()]
    found_errors = [(estimates[relation] - true[relation]) ** 2 for relation in both]
    return RelationScore(
        found=len(estimates),
        wanted=len(true),
        precision=_share(len(both), len(estimates)),
        recall=_share(len(both), len(true)),
        f_score=_share(2 * len(both), len(estimates) + len(true)),
        cumulative_rank=_share(sum(points[relation] for relation in both), sum(points.values())),
        confidence_error=fmean(errors) if errors else float("nan"),
        found_confidence_error=fmean(found_errors) if found_errors else float("nan"),
    )


def _confidences(rules: Rules, ordered: bool) -> dict[tuple[Any, Any], float]:
    """Return the confidence of each relation; where items of a side have an order, it is that of their codes."""
    keys: list[tuple[Any, Any]] = [(rule.antecedent, rule.consequent) for rule in rules]
    if ordered:
        sides = (side.to_arrow(rules.vocabulary).to_pylist() for side in (rules.antecedents, rules.consequents))
        keys = [(tuple(one), tuple(other)) for one, other in zip(*sides, strict=True)]
    return dict(zip(keys, rules.measure("confidence").tolist(), strict=True))


def _of_lengths(counts: Counts, lengths: int | tuple[int, int] | None) -> Counts:
    if lengths is None:
        return counts
    least, most = (lengths, lengths) if isinstance(lengths, int) else lengths
    if not 1 <= least <= most:
        raise MisuseError(
            told(
                "{lengths} is {given!r}; give one number such as 2, or the smallest and the largest: (2, 5).",
                given=lengths,
            )
        )
    return {itemset: count for itemset, count in counts.items() if least <= len(itemset) <= most}


def _exact(value: float) -> Fraction:
    # As typed: 1.15 times 100 must be 115, or a count that equals a bound falls on the wrong side of it.
    number = as_written(value)
    if number is None:
        raise MisuseError(f"{value!r} is not a number that counts can be compared with.")
    return Fraction(number)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
