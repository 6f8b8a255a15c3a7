"""Whether two results speak of the same: the same baskets of a person, the same hierarchy, the same question.

Where they do not, a change says nothing of the data, and is not called one. Which numbers changed is no matter here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..baskets import Item
from ..wording import number_of, printable
from ._patterns import Patterns
from ._promise import SIMULATED, line, rounded
from ._provenance import BIAS_FACT, Provenance, StatedGuarantee

# The scope of a list: where these parts of the question differ, a pattern may be on one of two lists for that alone.
_SCOPE = (
    "top", "min_support", "min_count", "lengths", "least", "contains", "excludes", "items", "itemsets", "hierarchy",
    "level",
)  # fmt: skip
_NAMED = 3  # items that a sentence names


@dataclass(frozen=True)
class Common:
    """What two results have in common, as far as it decides what may be compared.

    Parameters
    ----------
    scope
        The parts of the two questions that differ, by name: the lists are of other patterns.
    capped
        Why nothing may be compared: other numbers of baskets of a person take part. Nothing where it may.
    apart
        Items of which the two hierarchies say something else, as text: patterns that hold one may not be compared.
    """

    scope: tuple[str, ...]
    capped: str
    apart: frozenset[str]

    @classmethod
    def of(cls, first: Patterns, second: Patterns, names: tuple[str, str]) -> Common:
        """Look at two results, and at what they are called."""
        return cls(_differing_scope(first, second), _capped(first, second, names), _apart(first, second))

    def covers(self, items: frozenset[Item]) -> bool:
        """Whether the supports of an itemset are of the same thing in both."""
        return not self.capped and not (self.apart and any(str(item) in self.apart for item in items))

    def warnings(self, itemsets: Iterable[frozenset[Item]]) -> Iterator[str]:
        """Say why some of these itemsets are not compared."""
        if self.capped:
            yield self.capped
            return
        left = [items for items in itemsets if not self.covers(items)]
        if left:
            held = sorted({str(item) for items in left for item in items} & self.apart)
            named = ", ".join(printable(item) for item in held[:_NAMED])
            more = f" and {len(held) - _NAMED:,} more" if len(held) > _NAMED else ""
            yield (
                f"{number_of(len(left), 'pattern')} cannot be compared, as the hierarchies of the two differ in "
                f"{named}{more}."
            )


def _capped(first: Patterns, second: Patterns, names: tuple[str, str]) -> str:
    one, other = cap_of(first), cap_of(second)
    if one == other:
        return ""
    if one is None or other is None:
        (every, _), (part, cap) = sorted(zip(names, (one, other), strict=True), key=lambda pair: pair[1] is not None)
        told = f"in {every} all baskets of a person take part, and in {part} {cap:,} of each person at most"
    else:
        told = f"in {names[0]} {number_of(one, 'basket')} of each person at most, and in {names[1]} {other:,}"
    return (
        f"Nothing can be compared: {told}. These are supports over other baskets. Make both with the same most baskets "
        "of a person (max_baskets)."
    )


def provenance_of(patterns: Patterns) -> Provenance:
    """Return the provenance of patterns; that of exact ones says nothing."""
    return patterns.provenance or Provenance()


def cap_of(patterns: Patterns) -> int | None:
    """Return how many baskets of a person take part at most; None where all do."""
    provenance = provenance_of(patterns)
    for values, name in ((provenance.facts, "most baskets of a person"), (provenance.question, "max_baskets")):
        cap = (values or {}).get(name)
        if isinstance(cap, int) and not isinstance(cap, bool):
            return cap
    return None


def _apart(first: Patterns, second: Patterns) -> frozenset[str]:
    """Return the items of both of which the hierarchies say something else, with what stands above one of them alone.

    Items that one of the two has never heard of are no contradiction: a list of products grows.
    """
    one, other = first.hierarchy, second.hierarchy
    if one is None or other is None:
        # Without a hierarchy an item stands for itself, and what has something below it does not.
        known, plain = (other, first) if one is None else (one, second)
        return frozenset(() if known is None else {*known.parents.values()} & {*map(str, plain.vocabulary)})
    on_level = any(_level_of(patterns) is not None for patterns in (first, second))
    shared = {*map(str, first.vocabulary), *one.heights} & {*map(str, second.vocabulary), *other.heights}
    found: set[str] = set()
    for label in shared:
        above, over = one.above(label), other.above(label)
        moved = on_level and any(one.heights.get(up, 0) != other.heights.get(up, 0) for up in (label, *above))
        if above != over or moved:
            found |= {label} | ({*above} ^ {*over})
    return frozenset(found)


def _level_of(patterns: Patterns) -> Any:
    """Return the one level that a result is of; None where it is across levels, or knows of none."""
    question = provenance_of(patterns).question
    if question is not None:
        return question.get("level")
    return None if patterns.hierarchy is None else patterns.hierarchy.one_level


def _differing_scope(first: Patterns, second: Patterns) -> tuple[str, ...]:
    """Return the parts of the two questions that differ, by name, as far as the results tell."""
    one, other = provenance_of(first), provenance_of(second)
    if one.question is not None and other.question is not None:
        names = [name for name in _SCOPE if one.question.get(name) != other.question.get(name)]
        # A mechanism may look at single items alone, or cut baskets, and lists other patterns for that.
        differs = (one.chosen_mechanism or one.method) != (other.chosen_mechanism or other.method)
        return (*names, *(["mechanism"] if differs else []))
    names = ["hierarchy"] if (first.hierarchy is None) != (second.hierarchy is None) else []
    return (*names, *(["level"] if _level_of(first) != _level_of(second) else []))


def notes_of(
    first: Patterns, second: Patterns, names: tuple[str, str], common: Common, unlisted: bool
) -> Iterator[str]:
    """Return what was promised of each, what the two give away together, and what a place on one list alone means."""
    promised = [provenance_of(patterns).guarantee for patterns in (first, second)]
    for name, one, patterns in zip(names, promised, (first, second), strict=True):
        if one is not None:
            yield f"{name}: {line(one)}{f' ({SIMULATED})' if provenance_of(patterns).simulated else ''}."
        else:
            yield f"{name}: exact, and not private."
        bias = (provenance_of(patterns).facts or {}).get(BIAS_FACT)
        if bias is not None:
            yield f"{name}: no change is called clear, as its intervals hold noise alone: {printable(str(bias))}."
    if promised[0] is not None and promised[1] is not None:
        yield from _together(promised[0], promised[1])
    if common.scope:
        yield (
            f"The two were not asked for the same patterns ({', '.join(common.scope)}): what is on one list alone may "
            "be there for that."
        )
    if unlisted:
        yield (
            "That a pattern is not listed says nothing about how many people hold it there: a list ends somewhere. To "
            "compare it, count the patterns of both lists in both data sets (discreet count --itemsets)."
        )


def _together(one: StatedGuarantee, other: StatedGuarantee) -> Iterator[str]:
    """Return the sentence about what a person who is in both has given away."""
    if one.neighbours == other.neighbours:
        epsilon = (one.epsilon or Fraction(0)) + (other.epsilon or Fraction(0))
        delta = (one.delta or Fraction(0)) + (other.delta or Fraction(0))
        plus = f", delta = {rounded(delta)}" if delta else ""
        yield f"For a person who is in both, what they give away adds up: epsilon = {rounded(epsilon)}{plus}."
