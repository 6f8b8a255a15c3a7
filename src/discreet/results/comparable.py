"""Whether two results speak of the same: the same baskets of a person, the same hierarchy, the same question.

Where they do not, a change says nothing of the data, and is not called one. Which numbers changed is no matter here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..baskets.core import Item
from ..wording import number_of, printable
from .patterns import Patterns
from .promise import SIMULATED, line, rounded
from .untrusted import exact_number

# What a list is of: where these differ, a pattern may be on one of two lists for that alone.
_QUESTION = ("lengths", "contains", "excludes", "items", "itemsets", "hierarchy", "level")
_NAMED = 3  # items that a sentence names


@dataclass(frozen=True)
class Common:
    """What two results have in common, as far as it decides what may be compared.

    Parameters
    ----------
    alike
        Whether both were asked for the same patterns, so that a place on one list alone says something.
    capped
        Why nothing may be compared: other numbers of baskets of a person take part. Nothing where it may.
    apart
        Items of which the two hierarchies say something else, as text: patterns that hold one may not be compared.
    """

    alike: bool
    capped: str
    apart: frozenset[str]

    @classmethod
    def of(cls, first: Patterns, second: Patterns, names: tuple[str, str]) -> Common:
        """Look at two results, and at what they are called."""
        return cls(_asked_alike(first, second), _capped(first, second, names), _apart(first, second))

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


def cap_of(patterns: Patterns) -> int | None:
    """Return how many baskets of a person take part at most; None where all do."""
    about = patterns.about or {}
    for told, name in ((about.get("facts"), "most baskets of a person"), (about.get("asked"), "max_baskets")):
        cap = told.get(name) if isinstance(told, Mapping) else None
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
    asked = (patterns.about or {}).get("asked")
    if isinstance(asked, Mapping):
        return asked.get("level")
    return None if patterns.hierarchy is None else patterns.hierarchy.one_level


def _asked_alike(first: Patterns, second: Patterns) -> bool:
    one, other = ((patterns.about or {}).get("asked") for patterns in (first, second))
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        exact = first.about is None and second.about is None
        return (
            exact and (first.hierarchy is None) == (second.hierarchy is None) and _level_of(first) == _level_of(second)
        )
    return all(one.get(name) == other.get(name) for name in _QUESTION)


def notes_of(first: Patterns, second: Patterns, names: tuple[str, str], alike: bool) -> Iterator[str]:
    """Say what was promised of each, what the two give away together, and what being on one list alone means."""
    both = [patterns.about or {} for patterns in (first, second)]
    promised = [about.get("guarantee") for about in both]
    for name, one, about in zip(names, promised, both, strict=True):
        if isinstance(one, Mapping):
            yield f"{name}: {line(one)}{f' ({SIMULATED})' if about.get('simulated') else ''}."
        else:
            yield f"{name}: exact, and not private."
    if isinstance(promised[0], Mapping) and isinstance(promised[1], Mapping):
        yield from _together(promised[0], promised[1])
    if not alike:
        yield "The two were not asked for the same patterns: what is on one list alone may be there for that."
    elif first.about is not None:
        yield (
            "What is new or gone is on one list alone. It is called clear where it would have been on the other one "
            "too, had it counted as much there."
        )


def _together(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """Say what a person who is in both has given away."""
    try:
        epsilon, delta = (
            exact_number(one.get(name, 0)) + exact_number(other.get(name, 0)) for name in ("epsilon", "delta")
        )
    except (ValueError, ZeroDivisionError):
        return
    if one.get("neighbours") == other.get("neighbours"):
        plus = f", delta = {rounded(Fraction(delta))}" if delta else ""
        yield f"For a person who is in both, what they give away adds up: epsilon = {rounded(Fraction(epsilon))}{plus}."
