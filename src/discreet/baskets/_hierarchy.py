"""Hierarchies: which item stands below which, as products below categories below departments. Always public.

A hierarchy says what a basket holds besides what is in it: who holds milk holds dairy. `generalised` adds that to every
basket, or puts it in the place of the items. Either is a function of one basket and of the hierarchy alone, so whatever
is promised for baskets is promised for those that come out; the proof page is `hierarchy.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..checks import is_whole
from ..errors import InputError, MisuseError, build_message
from ._core import AnyBaskets, Baskets, Codes, Item, ItemTable, Vocabulary, starts
from ._lineage import DEEPEST, Lineage
from ._recoding import as_items, item_list, public_fact

if TYPE_CHECKING:
    from ._naming import Names

Held = TypeVar("Held", bound=AnyBaskets)

# What is on no one level is called so, in the place of the level's name.
MIXED = "mixed"

SHAPE = build_message(
    "A hierarchy is a table of two columns, an item and what stands right above it; or of more, an item and what "
    "stands above it level by level. Its first line has the names of the columns."
)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Items and what stands right above each.

    Parameters
    ----------
    parents
        The label right above each label that has one.
    heights
        The level of each label: 0 for what has nothing below.
    levels
        The names of the levels from the lowest to the highest, where they have names.
    one_level
        The name of the one level that baskets were put on by it; None where they are across levels.
    """

    parents: Mapping[str, str]
    heights: Mapping[str, int] = field(repr=False)
    levels: tuple[str, ...] = ()
    one_level: str | None = None

    @classmethod
    def read(cls, source: Any) -> Hierarchy:
        """Return a hierarchy as it is given: one already, a file, a data frame, a dictionary, or pairs."""
        from ._hierarchy_tables import table_rows

        if isinstance(source, Hierarchy):
            return source
        if isinstance(source, Mapping) and not any(_is_column(value) for value in source.values()):
            return cls.of((), ((item, above) for item, above in source.items()))
        return cls.of(*table_rows(source))

    @classmethod
    def of(cls, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> Hierarchy:
        """Return the hierarchy of a table: the names of its columns, and its rows."""
        levels, given = tuple(str(name) for name in names), [[_text(value) for value in row] for row in rows]
        width = max(map(len, given), default=len(levels))
        if levels:
            _check_names(levels, given)
        if width < 2 or (levels and width > len(levels)):
            raise InputError.format("This has {width} columns. {shape}", width=width, shape=SHAPE)
        if not given:
            raise InputError.format("The hierarchy has no rows. {shape}", shape=SHAPE)
        if width > DEEPEST:
            raise InputError(f"A hierarchy has at most {DEEPEST} levels; this has {width} columns.")
        parents: dict[str, str] = {}
        placed: dict[str, int] = {}
        for row in given:
            path = [(label, level) for level, label in enumerate(row) if label]
            if row and not row[0]:
                raise InputError("The hierarchy has a row without an item: the first column is never empty.")
            if width > 2:
                _place(path, placed, levels)
            for (label, _), (above, _) in pairwise(path):
                if parents.setdefault(label, above) != above:
                    raise InputError(
                        f"In the hierarchy {label!r} stands below {parents[label]!r} and below {above!r}. An item has "
                        "one item right above it: leave one out, or tell the two apart by their names."
                    )
            for label, _ in path:
                placed.setdefault(label, 0)
        _check_ends(parents)
        heights = placed if width > 2 else _heights(parents, placed)
        if max(heights.values()) >= DEEPEST:
            raise InputError(f"A hierarchy has at most {DEEPEST} levels; this has {max(heights.values()) + 1}.")
        named = levels if width > 2 or len(levels) == max(heights.values()) + 1 else ()
        return cls(parents, heights, named)

    @classmethod
    def from_dict(cls, told: Any) -> Hierarchy:
        """Return a hierarchy from the plain values of :meth:`to_dict`, which anyone may have written."""
        try:
            levels, heights, parents = (told[name] for name in ("levels", "heights", "parents"))
            good = isinstance(levels, list) and 0 < len(levels) <= DEEPEST and len(set(levels)) == len(levels)
            good = good and all(isinstance(level, str) for level in levels)
            good = good and all(is_whole(height) and 0 <= height < len(levels) for height in heights.values())
            # What stands above is on a higher level: so nothing stands above itself.
            good = good and all(heights[label] < heights[above] for label, above in parents.items())
            one_level = told.get("one_level")
            good = good and (one_level is None or one_level in levels)
        except (TypeError, KeyError, AttributeError):
            good = False
        if not good:
            raise InputError("Its hierarchy does not say on which level each item is, and what stands above it.")
        return cls(dict(parents), dict(heights), tuple(levels), one_level)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as files have it."""
        told = {"levels": list(self.names), "heights": dict(self.heights), "parents": dict(self.parents)}
        return told if self.one_level is None else told | {"one_level": self.one_level}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.heights)

    def __repr__(self) -> str:
        named = f": {', '.join(self.levels)}" if self.levels else ""
        return f"Hierarchy({len(self):,} items on {self.height + 1} levels{named})"

    @property
    def height(self) -> int:
        """The highest level."""
        return max(len(self.levels) - 1, max(self.heights.values(), default=0))

    @property
    def names(self) -> tuple[str, ...]:
        """What its levels are called, from the lowest to the highest."""
        return self.levels or tuple(f"level {level}" for level in range(self.height + 1))

    @cached_property
    def labels(self) -> list[Item]:
        """All its items, on whatever level: numbers if all of them are."""
        return as_items(list(self.heights))

    def renamed(self, names: Names | None) -> Hierarchy:
        """Return the hierarchy with each item as it is shown, where it has codes or labels of these names."""
        if names is None:
            return self
        shown = {label: str(names.resolve(label)) for label in self.heights}
        if len(set(shown.values())) < len(shown):
            seen: dict[str, str] = {}
            twice = next(label for label, name in shown.items() if seen.setdefault(name, label) != label)
            raise InputError(
                f"In the hierarchy {seen[shown[twice]]!r} and {twice!r} are both called {shown[twice]!r}: give one of "
                "them another name."
            )
        parents = {shown[label]: shown[above] for label, above in self.parents.items()}
        return replace(self, parents=parents, heights={shown[label]: height for label, height in self.heights.items()})

    def above(self, label: str) -> list[str]:
        """Return what stands above a label, the nearest first."""
        found = []
        while (label := self.parents.get(label, "")) != "":
            found.append(label)
        return found

    def at(self, label: str, level: int) -> str | None:
        """Return what a label becomes on a level: the highest that stands above it and not above the level.

        None where the label itself is above the level: what it is there is not known.
        """
        if self.heights.get(label, 0) > level:
            return None
        for above in self.above(label):
            if self.heights[above] > level:
                break
            label = above
        return label

    def span(self, label: str) -> tuple[int, int]:
        """Return the lowest and the highest level on which a label is what it is, as :meth:`at` says."""
        above = self.parents.get(label)
        return self.heights.get(label, 0), self.height if above is None else self.heights[above] - 1

    def only(self, labels: Iterable[Item]) -> Hierarchy:
        """Return what it says of some items: of them and of what stands above them, with all its levels."""
        kept = sorted({one for label in map(str, labels) for one in (label, *self.above(label)) if one in self.heights})
        parents = {label: self.parents[label] for label in kept if label in self.parents}
        return Hierarchy(parents, {label: self.heights[label] for label in kept}, self.names, self.one_level)

    def lineage(self, vocabulary: Vocabulary) -> Lineage | None:
        """Return which of some items stand above which, by code; None where none does."""
        texts = [str(label) for label in vocabulary]
        codes = {text: code for code, text in enumerate(texts)}
        nearest = (next((codes[above] for above in self.above(text) if above in codes), -1) for text in texts)
        made = Lineage(np.fromiter(nearest, np.int32, len(texts)))
        return None if made.plain else made

    def level(self, given: object) -> int:
        """Return the number of a level that was given by its number or its name."""
        if isinstance(given, str) and given in self.names:
            return self.names.index(given)
        number: Any = int(given) if isinstance(given, str) and given.isdecimal() and given.isascii() else given
        if is_whole(number) and 0 <= number <= self.height:
            return int(number)
        called = f" ({', '.join(self.levels)})" if self.levels else ""
        raise MisuseError.format(
            "{level} is one of the levels of the hierarchy, 0 to {highest}{called}; {given!r} was given.",
            highest=self.height,
            called=called,
            given=given,
        )

    def fact(self) -> str:
        """Say that the hierarchy is public, for the guarantee."""
        return f"which of {len(self):,} items stand above others, as declared"

    def recorded(self, level: Any) -> dict[str, Any]:
        """Return what is written down with a result that was asked for with this hierarchy."""
        words: dict[str, Any] = {"hierarchy": len(self)}
        if level is not None:
            words["level"] = self.level_name(self.level(level))
        return words

    def level_name(self, level: int) -> str:
        """Return what a level is called."""
        return self.names[level]


def generalised(baskets: Held, hierarchy: Any = None, level: Any = None) -> Held:
    """Return baskets that hold what stands above their items too; with a level, what they are there and nothing else.

    Items that the hierarchy does not know stay as they are. On a level, those above it are left out.
    """
    if hierarchy is None:
        if level is not None:
            raise MisuseError.format("{level} is a level of a hierarchy: give {hierarchy=} too.")
        return baskets
    if isinstance(baskets, Baskets) and (baskets.sequences is not None or baskets.pairs is not None):
        raise MisuseError.format("{hierarchy} is for sets of items: read the baskets without their order and pairs.")
    known = Hierarchy.read(hierarchy).renamed(baskets.vocabulary.names)
    table, vocabulary, lineage = becoming(known, level, baskets.vocabulary)
    vocabulary.names = baskets.vocabulary.names
    one_level = None if level is None else known.level_name(known.level(level))
    return cast(Held, baskets.widened(table, vocabulary, lineage, replace(known, one_level=one_level)))


def becoming(hierarchy: Hierarchy, level: Any, vocabulary: Vocabulary) -> tuple[ItemTable, Vocabulary, Lineage | None]:
    """Return what each item of a list becomes across levels or on one, and the list of what they become.

    Across levels some stand above others: which ones comes with them.
    """
    at = None if level is None else hierarchy.level(level)
    texts = [str(label) for label in vocabulary]
    become = [[text, *hierarchy.above(text)] if at is None else _on_level(hierarchy, text, at) for text in texts]
    held = list(dict.fromkeys(label for labels in become for label in labels))
    labels = as_items(held) if vocabulary.numeric else list(held)
    by_label = sorted(range(len(held)), key=lambda place: labels[place])
    codes = {held[place]: code for code, place in enumerate(by_label)}
    table = ItemTable(
        starts([len(labels) for labels in become]),
        np.array([codes[label] for labels in become for label in labels], np.int32),
    )
    made = Vocabulary([labels[place] for place in by_label])
    return table, made, hierarchy.lineage(made) if at is None else None


def _on_level(hierarchy: Hierarchy, label: str, level: int) -> list[str]:
    there = hierarchy.at(label, level)
    return [] if there is None else [there]


def check_apart(lineage: Lineage, codes: Codes, vocabulary: Vocabulary) -> None:
    """See that items that every pattern has may be in one pattern."""
    for place, code in enumerate(codes.tolist()):
        mixed = codes[:place][lineage.related_to(codes[place : place + 1])[codes[:place]]]
        if len(mixed):
            pair = sorted((code, int(mixed[0])), key=lambda one: int(lineage.depths[one]))
            above, below = (vocabulary.label(one) for one in pair)
            raise MisuseError.format(
                "{contains} has {below!r} and {above!r}, which stands above it: no pattern has both. Leave "
                "{above!r} out.",
                below=below,
                above=above,
            )


def public_items(hierarchy: Hierarchy, items: Any, baskets: AnyBaskets) -> tuple[Vocabulary, str]:
    """Return the public list of items beside a hierarchy, which lists its own, and how it came to be public."""
    vocabulary, fact = (None, "") if items is None else item_list(items, baskets)
    if vocabulary is None:
        return _sorted(hierarchy.labels), public_fact(len(hierarchy), "item", "as declared")
    if isinstance(items, str) and items == "public":
        return _sorted([*vocabulary, *hierarchy.labels]), f"{fact}, and the {len(hierarchy):,} of the hierarchy"
    return vocabulary, fact


def _sorted(labels: Iterable[Item]) -> Vocabulary:
    """Return different labels in their order: as text, where not all of them are numbers."""
    different = set(labels)
    if not all(is_whole(label) for label in different):
        different = {str(label) for label in different}
    return Vocabulary(sorted(different))


def _text(value: Any) -> str:
    """Return a label of a table; nothing for a value that is missing."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not (isinstance(value, str) or is_whole(value)):
        raise InputError(
            f"The hierarchy holds {type(value).__name__}, where items are names or whole numbers: convert it to text."
        )
    return str(value)


def _is_column(value: Any) -> bool:
    """Return whether this is a column of a table, and no label."""
    return not isinstance(value, str | bytes | set | frozenset | Mapping) and hasattr(value, "__len__")


def _check_names(levels: tuple[str, ...], rows: list[list[str]]) -> None:
    """See that the first line has names of columns, and is no row that would be lost."""
    if len(set(levels)) < len(levels) or not all(level.strip() for level in levels):
        raise InputError.format("The columns of the hierarchy need different names. {shape}", shape=SHAPE)
    if MIXED in levels:
        raise InputError(f"A level cannot be called {MIXED!r}: that stands for patterns on no one level.")
    above = {label for row in rows for label in row[1:]}
    lost = next((name for name in levels[1:] if name.strip() in above), None)
    if lost is not None:
        raise InputError.format(
            "The first line of the hierarchy names a column {lost!r}, and {lost!r} stands above items too: it "
            "looks like a row. {shape}",
            lost=lost,
            shape=SHAPE,
        )


def _place(path: list[tuple[str, int]], placed: dict[str, int], levels: tuple[str, ...]) -> None:
    """Note on which level each label of a row stands; a label stands on one."""
    for label, level in path:
        if placed.setdefault(label, level) != level:
            one, other = (levels[at] if levels else f"column {at + 1}" for at in sorted((placed[label], level)))
            raise InputError(
                f"In the hierarchy {label!r} stands under {one!r} and under {other!r}: an item is on one level. Tell "
                "the two apart by their names."
            )


def _check_ends(parents: Mapping[str, str]) -> None:
    """See that nothing stands above itself, and that there are not too many levels."""
    ended: set[str] = set()
    for label in parents:
        path, here = [label], label
        while here in parents and here not in ended:
            here = parents[here]
            if here in path[-1:] or (len(path) > DEEPEST and here in path):
                raise InputError(f"In the hierarchy {here!r} stands above itself: correct that row.")
            if len(path) > 2 * DEEPEST:
                raise InputError(f"A hierarchy has at most {DEEPEST} levels; {label!r} has more above it.")
            path.append(here)
        ended.update(path)


def _heights(parents: Mapping[str, str], labels: Iterable[str]) -> dict[str, int]:
    """Return how many levels lie below each label, at most."""
    heights = dict.fromkeys(labels, 0)
    for label in parents:
        height, here = 0, label
        while here in parents:
            here, height = parents[here], height + 1
            if heights[here] >= height:
                break
            heights[here] = height
    return heights
