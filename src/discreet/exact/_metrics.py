"""The quality of released patterns, measured against the truth.

Every function takes *found* patterns and the *truth*, each a mapping from itemset (a frozenset of labels) to count or a
:class:`~discreet.results._patterns.Patterns`. Counts are numbers of people out of all people, never of a queried group
(erratum A9).

One rule holds throughout: **an itemset missing in the truth has count 0.** A truth mined at a support must therefore
reach low enough, and for errors it must also contain the true count of every found itemset.

Shares of an empty set are 1: no found itemset is wrong (precision), and no wanted itemset is missed (recall, cumulative
rank). Errors over an empty set are NaN.

===================  =====================  =========================================================
here                 papers                 where
===================  =====================  =========================================================
top                  k, K                   Wang, Li, Jha 2018; Bhaskar et al. 2010
cumulative_rank      NCR                    Wang, Li, Jha, section VI: true ranks (erratum B14)
squared_error        Var                    Wang, Li, Jha, section VI
precision, recall    P, R                   Zeng, Naughton, Cai 2012, definition 10
f_score              F-score, F1            Zeng, Naughton, Cai, definition 10; Dong et al. 2024
false_negative_rate  FNR                    Bhaskar et al.: share of the true top K missed
people               n                      all
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
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from ..baskets import Item
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


def rank_itemsets(patterns: CountsLike, top: int | None = None) -> list[Itemset]:
    """Return the itemsets by falling count, all or only the first `top`.

    Among equal counts the shorter itemset comes first, then the order of the labels decides, so that ranks are unique.
    Subsets thereby precede their supersets (erratum A10).

    Examples
    --------
    >>> rank_itemsets({frozenset("b"): 5, frozenset("ab"): 5, frozenset("a"): 5}, top=2) == [{"a"}, {"b"}]
    True
    """
    counts = counts_of(patterns)
    if top is not None and top < 1:
        raise MisuseError.format("{top} is {given}; it must be 1 or more.", given=top)
    return sorted(counts, key=lambda itemset: (-counts[itemset], len(itemset), _order_labels(itemset)))[:top]


def _order_labels(itemset: Itemset) -> list[tuple[bool, Item]]:
    # Numbers first: Python does not compare numbers with text.
    return sorted((isinstance(label, str), label) for label in itemset)


def precision(result: ItemsetsLike, target: ItemsetsLike) -> float:
    """Return the share of the found itemsets that were wanted.

    Examples
    --------
    >>> precision([frozenset("a"), frozenset("b")], [frozenset("a")])
    0.5
    """
    found_itemsets, wanted_itemsets = _collect_itemsets(result), _collect_itemsets(target)
    return _share(len(found_itemsets & wanted_itemsets), len(found_itemsets))


def recall(result: ItemsetsLike, target: ItemsetsLike) -> float:
    """Return the share of the wanted itemsets that were found."""
    return precision(target, result)


def f_score(result: ItemsetsLike, target: ItemsetsLike) -> float:
    """Return the harmonic mean of precision and recall; 0 where both are 0."""
    found_itemsets, wanted_itemsets = _collect_itemsets(result), _collect_itemsets(target)
    # 2PR / (P + R) with the common factor cancelled, which also settles every division by zero.
    return _share(2 * len(found_itemsets & wanted_itemsets), len(found_itemsets) + len(wanted_itemsets))


def false_negative_rate(result: ItemsetsLike, target: ItemsetsLike) -> float:
    """Return the share of the wanted itemsets that were missed."""
    return 1 - recall(result, target)


def cumulative_rank(result: CountsLike, truth: CountsLike, *, top: int) -> float:
    """Return the normalised cumulative rank: 1 if all true top itemsets were found, in any order.

    The itemset of true rank r is worth `top` + 1 - r points. Points are given for the `top` found itemsets with the
    highest released counts. If the truth has fewer than `top` itemsets, their number replaces `top`.

    Examples
    --------
    >>> truth = {frozenset("a"): 9, frozenset("b"): 5, frozenset("c"): 2}
    >>> cumulative_rank({frozenset("a"): 8, frozenset("d"): 4}, truth, top=2)
    0.6666666666666666
    """
    # Points go by true ranks (erratum B14): released ranks would reward noise.
    true_top = rank_itemsets(truth, top)
    points = {itemset: len(true_top) - rank for rank, itemset in enumerate(true_top)}
    points_reached = sum(points.get(itemset, 0) for itemset in rank_itemsets(result, top))
    return _share(points_reached, sum(points.values()))


def squared_error(result: CountsLike, truth: CountsLike, *, people: int | None = None) -> float:
    """Return the mean squared error of the counts of the itemsets in both found and truth.

    Give only the true top itemsets as the truth for the figure of the papers. With `people` it is the error of
    supports instead of counts.
    """
    estimates, true_counts = counts_of(result), counts_of(truth)
    # Only itemsets in both: an unlisted itemset has no released count to compare.
    errors = [(estimates[itemset] - true_counts[itemset]) ** 2 for itemset in estimates.keys() & true_counts.keys()]
    return fmean(errors) / (people**2 if people else 1) if errors else float("nan")


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


def score_relations(result: Rules, truth: Rules, *, ordered: bool = False) -> RelationScore:
    """Measure found relations against the true relations, which come by falling confidence.

    Parameters
    ----------
    result
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
    estimates, true_confidences = _confidences(result, ordered), _confidences(truth, ordered)
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


def _share(part: float, total: float) -> float:
    """Return part / total; 1 for a total of 0, as nothing is wrong in an empty set."""
    return part / total if total else 1.0
