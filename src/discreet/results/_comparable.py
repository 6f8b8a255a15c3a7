"""The comparability of two results: equal caps on baskets, consistent hierarchies, and equal questions.

Where two results differ in these, a difference of supports is no change of the data, and is not called one. The numbers
themselves are compared in `differences`.
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

# The parts of a question that select patterns: if they differ, a pattern may be on one list alone for this reason.
_SCOPE = (
    "top", "min_support", "min_count", "lengths", "least", "contains", "excludes", "items", "itemsets", "hierarchy",
    "level",
)  # fmt: skip
_MAX_NAMES = 3  # items that a sentence names


@dataclass(frozen=True)
class Common:
    """The obstacles to a comparison of two results.

    Parameters
    ----------
    scope
        The names of the parts that differ between the two questions: the lists were selected differently.
    cap_conflict
        The reason why no pattern may be compared, as the caps on the baskets of a person differ; "" for equal caps.
    conflicting
        The items that the two hierarchies place differently, as text: patterns with such an item may not be compared.
    """

    scope: tuple[str, ...]
    cap_conflict: str
    conflicting: frozenset[str]

    @classmethod
    def find(cls, before: Patterns, after: Patterns, names: tuple[str, str]) -> Common:
        """Return the obstacles to a comparison of two results with these names."""
        return cls(
            _scope_differences(before, after), _cap_conflict(before, after, names), _conflicting_items(before, after)
        )

    def covers(self, items: frozenset[Item]) -> bool:
        """Return whether the supports of an itemset may be compared."""
        return not self.cap_conflict and not (self.conflicting and any(str(item) in self.conflicting for item in items))

    def warnings(self, itemsets: Iterable[frozenset[Item]]) -> Iterator[str]:
        """Yield the reasons why some of these itemsets are not compared."""
        if self.cap_conflict:
            yield self.cap_conflict
            return
        skipped = [items for items in itemsets if not self.covers(items)]
        if skipped:
            items_named = sorted({str(item) for items in skipped for item in items} & self.conflicting)
            names = ", ".join(printable(item) for item in items_named[:_MAX_NAMES])
            remainder = f" and {len(items_named) - _MAX_NAMES:,} more" if len(items_named) > _MAX_NAMES else ""
            yield (
                f"{number_of(len(skipped), 'pattern')} cannot be compared, as the hierarchies of the two differ in "
                f"{names}{remainder}."
            )


def _cap_conflict(before: Patterns, after: Patterns, names: tuple[str, str]) -> str:
    """Return the reason why different caps on baskets forbid a comparison; "" for equal caps."""
    # A cap changes the baskets that are counted, so equal data would show different supports under two caps.
    first_cap, second_cap = cap_of(before), cap_of(after)
    if first_cap == second_cap:
        return ""
    if first_cap is None or second_cap is None:
        (uncapped, _), (capped_name, cap) = sorted(
            zip(names, (first_cap, second_cap), strict=True), key=lambda pair: pair[1] is not None
        )
        caps = f"in {uncapped} all baskets of a person take part, and in {capped_name} {cap:,} of each person at most"
    else:
        caps = (
            f"in {names[0]} {number_of(first_cap, 'basket')} of each person at most, and in {names[1]} {second_cap:,}"
        )
    return (
        f"Nothing can be compared: {caps}. These are supports over other baskets. Make both with the same most baskets "
        "of a person (max_baskets)."
    )


def provenance_of(patterns: Patterns) -> Provenance:
    """Return the provenance of patterns, an empty one for exact patterns."""
    return patterns.provenance or Provenance()


def cap_of(patterns: Patterns) -> int | None:
    """Return the cap on the baskets of a person; None without a cap."""
    provenance = provenance_of(patterns)
    for values, name in ((provenance.facts, "most baskets of a person"), (provenance.question, "max_baskets")):
        cap = (values or {}).get(name)
        if isinstance(cap, int) and not isinstance(cap, bool):
            return cap
    return None


def _conflicting_items(before: Patterns, after: Patterns) -> frozenset[str]:
    """Return the items of both results that their hierarchies place differently, with the items above in one alone.

    An item that one hierarchy does not have is no contradiction: a list of products grows.
    """
    earlier, later = before.hierarchy, after.hierarchy
    if earlier is None or later is None:
        # Without a hierarchy an item stands for itself alone, with one it includes the items below it.
        hierarchy, flat = (later, before) if earlier is None else (earlier, after)
        return frozenset(() if hierarchy is None else {*hierarchy.parents.values()} & {*map(str, flat.vocabulary)})
    # On a single level, an item on a different level is a different item, even below the same parents.
    on_level = any(_level_of(patterns) is not None for patterns in (before, after))
    labels = {*map(str, before.vocabulary), *earlier.heights} & {
        *map(str, after.vocabulary),
        *later.heights,
    }
    conflicts: set[str] = set()
    for label in labels:
        above, later_above = earlier.above(label), later.above(label)
        moved = on_level and any(
            earlier.heights.get(label_above, 0) != later.heights.get(label_above, 0) for label_above in (label, *above)
        )
        if above != later_above or moved:
            conflicts |= {label} | ({*above} ^ {*later_above})
    return frozenset(conflicts)


def _level_of(patterns: Patterns) -> Any:
    """Return the single level of a result; None for several levels, and without a hierarchy."""
    # The question states the level in full; a hierarchy alone shows it only if all items are on one level.
    question = provenance_of(patterns).question
    if question is not None:
        return question.get("level")
    return None if patterns.hierarchy is None else patterns.hierarchy.one_level


def _scope_differences(before: Patterns, after: Patterns) -> tuple[str, ...]:
    """Return the names of the parts that differ between two questions, as far as the results state them."""
    earlier, later = provenance_of(before), provenance_of(after)
    if earlier.question is not None and later.question is not None:
        names = [name for name in _SCOPE if earlier.question.get(name) != later.question.get(name)]
        # A mechanism may consider single items alone, or cut baskets, and so list different patterns.
        differs = (earlier.chosen_mechanism or earlier.method) != (later.chosen_mechanism or later.method)
        return (*names, *(["mechanism"] if differs else []))
    names = ["hierarchy"] if (before.hierarchy is None) != (after.hierarchy is None) else []
    return (*names, *(["level"] if _level_of(before) != _level_of(after) else []))


def notes_of(
    before: Patterns, after: Patterns, names: tuple[str, str], common: Common, unlisted: bool
) -> Iterator[str]:
    """Yield the guarantee of each result, the loss of both together, and the meaning of an unlisted pattern."""
    promised = [provenance_of(patterns).guarantee for patterns in (before, after)]
    for name, guarantee, patterns in zip(names, promised, (before, after), strict=True):
        if guarantee is not None:
            yield f"{name}: {line(guarantee)}{f' ({SIMULATED})' if provenance_of(patterns).simulated else ''}."
        else:
            yield f"{name}: exact, and not private."
        bias = (provenance_of(patterns).facts or {}).get(BIAS_FACT)
        if bias is not None:
            yield f"{name}: no change is called clear, as its intervals hold noise alone: {printable(str(bias))}."
    if promised[0] is not None and promised[1] is not None:
        yield from _combined_loss(promised[0], promised[1])
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


def _combined_loss(before: StatedGuarantee, after: StatedGuarantee) -> Iterator[str]:
    """Yield the sentence on the privacy loss of a person in both data sets."""
    # Losses under different neighbour relations are different promises, and their sum would promise nothing.
    if before.neighbours == after.neighbours:
        epsilon = (before.epsilon or Fraction(0)) + (after.epsilon or Fraction(0))
        delta = (before.delta or Fraction(0)) + (after.delta or Fraction(0))
        plus = f", delta = {rounded(delta)}" if delta else ""
        yield f"For a person who is in both, what they give away adds up: epsilon = {rounded(epsilon)}{plus}."
