"""Hierarchies of items: products below categories below departments. A hierarchy is always public.

A holder of milk is a holder of dairy. `generalised` adds the items above to each basket, or replaces items by the items
above. Each new basket depends on one basket and on the hierarchy, so a guarantee for baskets holds for generalised
baskets too (`hierarchy.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..checks import is_whole
from ..errors import InputError, MisuseError
from ._core import AnyBaskets, Baskets, Codes, Item, ItemTable, Vocabulary, starts
from ._lineage import MAX_LEVELS, Lineage
from ._list_files import HIERARCHY_SHAPE, find_clash, read_label, read_table_rows
from ._recoding import describe_public_list, parse_items, resolve_items

if TYPE_CHECKING:
    from ._naming import Names

BasketsT = TypeVar("BasketsT", bound=AnyBaskets)

# The level name of a pattern with items of several levels.
MIXED_LEVELS = "mixed"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A forest of items, with a level for each item.

    Parameters
    ----------
    parents
        The label right above each label; a root has no entry.
    heights
        The level of each label: 0 for a leaf.
    levels
        The names of the levels from the lowest to the highest; empty if levels have no names.
    one_level
        The name of the level of generalised baskets; None if baskets hold items of all levels.
    """

    parents: Mapping[str, str]
    heights: Mapping[str, int] = field(repr=False)
    levels: tuple[str, ...] = ()
    one_level: str | None = None

    @classmethod
    def read(cls, source: Any) -> Hierarchy:
        """Return the hierarchy of a file, a data frame, a dictionary, a list of pairs, or a `Hierarchy` unchanged."""
        if isinstance(source, Hierarchy):
            return source
        if isinstance(source, Mapping) and not any(_is_column(value) for value in source.values()):
            return cls.from_rows((), ((item, above) for item, above in source.items()))
        return cls.from_rows(*read_table_rows(source))

    @classmethod
    def from_rows(cls, names: Iterable[str], rows: Iterable[Iterable[Any]]) -> Hierarchy:
        """Return the hierarchy of a table with the column names `names`; each row is an item and the items above it."""
        levels = tuple(str(name) for name in names)
        texts = [[read_label(value, "hierarchy") for value in row] for row in rows]
        width = max(map(len, texts), default=len(levels))
        if levels:
            _check_names(levels, texts)
        if width < 2 or (levels and width > len(levels)):
            raise InputError.format("This has {width} columns. {shape}", width=width, shape=HIERARCHY_SHAPE)
        if not texts:
            raise InputError.format("The hierarchy has no rows. {shape}", shape=HIERARCHY_SHAPE)
        if width > MAX_LEVELS:
            raise InputError(f"A hierarchy has at most {MAX_LEVELS} levels; this has {width} columns.")
        parents: dict[str, str] = {}
        heights: dict[str, int] = {}
        for row in texts:
            # An empty cell skips a level: the item above stands further up.
            path = [(label, level) for level, label in enumerate(row) if label]
            if row and not row[0]:
                raise InputError("The hierarchy has a row without an item: the first column is never empty.")
            # With level columns, the column of a label is its level.
            if width > 2:
                _record_levels(path, heights, levels)
            for (label, _), (above, _) in pairwise(path):
                if parents.setdefault(label, above) != above:
                    raise InputError(
                        f"In the hierarchy {label!r} stands below {parents[label]!r} and below {above!r}. An item has "
                        "one item right above it: leave one out, or tell the two apart by their names."
                    )
            for label, _ in path:
                heights.setdefault(label, 0)
        _check_roots(parents)
        if width == 2:
            heights = _compute_heights(parents, heights)
        if max(heights.values()) >= MAX_LEVELS:
            raise InputError(f"A hierarchy has at most {MAX_LEVELS} levels; this has {max(heights.values()) + 1}.")
        # The header of a table with two columns names two levels only if there are two.
        has_level_names = width > 2 or len(levels) == max(heights.values()) + 1
        return cls(parents, heights, levels if has_level_names else ())

    @classmethod
    def from_dict(cls, values: Any) -> Hierarchy:
        """Return the hierarchy of the plain values of :meth:`to_dict`, which may come from an untrusted file."""
        try:
            # A saved file may come from anywhere: a cycle of parents would never end.
            levels, heights, parents = (values[name] for name in ("levels", "heights", "parents"))
            one_level = values.get("one_level")
            is_valid = (
                isinstance(levels, list)
                and 0 < len(levels) <= MAX_LEVELS
                and len(set(levels)) == len(levels)
                and all(isinstance(level, str) for level in levels)
                and all(is_whole(height) and 0 <= height < len(levels) for height in heights.values())
                # A parent is on a higher level, so no item is above itself.
                and all(heights[label] < heights[above] for label, above in parents.items())
                and (one_level is None or one_level in levels)
            )
        except (TypeError, KeyError, AttributeError):
            is_valid = False
        if not is_valid:
            raise InputError("Its hierarchy does not say on which level each item is, and what stands above it.")
        return cls(dict(parents), dict(heights), tuple(levels), one_level)

    def to_dict(self) -> dict[str, Any]:
        """Return the hierarchy as plain values, for a file."""
        values = {"levels": list(self.names), "heights": dict(self.heights), "parents": dict(self.parents)}
        return values if self.one_level is None else values | {"one_level": self.one_level}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.heights)

    def __repr__(self) -> str:
        level_names = f": {', '.join(self.levels)}" if self.levels else ""
        return f"Hierarchy({len(self):,} items on {self.height + 1} levels{level_names})"

    @property
    def height(self) -> int:
        """The highest level."""
        return max(len(self.levels) - 1, max(self.heights.values(), default=0))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the levels, from the lowest to the highest."""
        return self.levels or tuple(f"level {level}" for level in range(self.height + 1))

    @cached_property
    def labels(self) -> list[Item]:
        """The items of all levels: as numbers if all labels are numbers."""
        return parse_items(list(self.heights))

    def renamed(self, names: Names | None) -> Hierarchy:
        """Return the hierarchy with codes replaced by their names."""
        if names is None:
            return self
        new_labels = {label: str(names.resolve(label)) for label in self.heights}
        if clash := find_clash(new_labels):
            first, second = clash
            raise InputError(
                f"In the hierarchy {first!r} and {second!r} are both called {new_labels[first]!r}: give one of "
                "them another name."
            )
        parents = {new_labels[label]: new_labels[above] for label, above in self.parents.items()}
        heights = {new_labels[label]: height for label, height in self.heights.items()}
        return replace(self, parents=parents, heights=heights)

    def above(self, label: str) -> list[str]:
        """Return the labels above a label, the nearest first."""
        labels = []
        while (label := self.parents.get(label, "")) != "":
            labels.append(label)
        return labels

    def at(self, label: str, level: int) -> str | None:
        """Return the label on a level: the highest label at or above `label` whose level is at most `level`.

        None if the label itself is on a higher level: the items below it are unknown.
        """
        if self.heights.get(label, 0) > level:
            return None
        for above in self.above(label):
            if self.heights[above] > level:
                break
            label = above
        return label

    def span(self, label: str) -> tuple[int, int]:
        """Return the lowest and the highest level on which :meth:`at` leaves a label unchanged."""
        above = self.parents.get(label)
        return self.heights.get(label, 0), self.height if above is None else self.heights[above] - 1

    def only(self, labels: Iterable[Item]) -> Hierarchy:
        """Return the part of the hierarchy with `labels` and the items above them, and with all levels."""
        branches = ((label, *self.above(label)) for label in map(str, labels))
        kept_labels = sorted({label for branch in branches for label in branch if label in self.heights})
        parents = {label: self.parents[label] for label in kept_labels if label in self.parents}
        return Hierarchy(parents, {label: self.heights[label] for label in kept_labels}, self.names, self.one_level)

    def lineage(self, vocabulary: Vocabulary) -> Lineage | None:
        """Return the forest of the items of a vocabulary, by code; None if no two items are related."""
        texts = [str(label) for label in vocabulary]
        codes = {text: code for code, text in enumerate(texts)}
        nearest = (next((codes[above] for above in self.above(text) if above in codes), -1) for text in texts)
        lineage = Lineage(np.fromiter(nearest, np.int32, len(texts)))
        return None if lineage.plain else lineage

    def level(self, level: object) -> int:
        """Return the number of a level, which is a number, a numeral or a name."""
        if isinstance(level, str) and level in self.names:
            return self.names.index(level)
        number: Any = int(level) if isinstance(level, str) and level.isdecimal() and level.isascii() else level
        if is_whole(number) and 0 <= number <= self.height:
            return int(number)
        called = f" ({', '.join(self.levels)})" if self.levels else ""
        raise MisuseError.format(
            "{level} is one of the levels of the hierarchy, 0 to {highest}{called}; {given!r} was given.",
            highest=self.height,
            called=called,
            given=level,
        )

    def fact(self) -> str:
        """Return the public fact that a guarantee names for this hierarchy."""
        return f"which of {len(self):,} items stand above others, as declared"

    def recorded(self, level: Any) -> dict[str, Any]:
        """Return the fields of a saved question with this hierarchy and this level."""
        fields: dict[str, Any] = {"hierarchy": len(self)}
        if level is not None:
            fields["level"] = self.level_name(self.level(level))
        return fields

    def level_name(self, level: int) -> str:
        """Return the name of a level."""
        return self.names[level]


def generalised(baskets: BasketsT, hierarchy: Any = None, level: Any = None) -> BasketsT:
    """Return baskets with the items above their items added; with `level`, each item replaced by its item on the level.

    Items that are not in the hierarchy stay unchanged. With `level`, items of higher levels are dropped.
    """
    if hierarchy is None:
        if level is not None:
            raise MisuseError.format("{level} is a level of a hierarchy: give {hierarchy=} too.")
        return baskets
    # The order of items says nothing about the items above them.
    if isinstance(baskets, Baskets) and (baskets.sequences is not None or baskets.pairs is not None):
        raise MisuseError.format("{hierarchy} is for sets of items: read the baskets without their order and pairs.")
    named_hierarchy = Hierarchy.read(hierarchy).renamed(baskets.vocabulary.names)
    table = map_items(named_hierarchy, level, baskets.vocabulary)
    table.vocabulary.names = baskets.vocabulary.names
    one_level = None if level is None else named_hierarchy.level_name(named_hierarchy.level(level))
    return cast(BasketsT, baskets.widened(replace(table, hierarchy=replace(named_hierarchy, one_level=one_level))))


def map_items(hierarchy: Hierarchy, level: Any, vocabulary: Vocabulary) -> ItemTable:
    """Return the new codes of each item, with the vocabulary of the new codes and their forest.

    Without `level`, an item becomes itself and all items above it, and the forest says which items are related.
    With `level`, an item becomes its item on the level, and no forest is needed.
    """
    number = None if level is None else hierarchy.level(level)
    new_labels = []
    for text in map(str, vocabulary):
        labels = [text, *hierarchy.above(text)] if number is None else [hierarchy.at(text, number)]
        new_labels.append([label for label in labels if label is not None])
    # The order of first occurrence is replaced by the order of labels below: codes follow labels in all rooms.
    texts = list(dict.fromkeys(label for labels in new_labels for label in labels))
    items = parse_items(texts) if vocabulary.numeric else list(texts)
    # A vocabulary is sorted by label, numbers by size.
    order = sorted(range(len(texts)), key=lambda position: items[position])
    codes = {texts[position]: code for code, position in enumerate(order)}
    new_vocabulary = Vocabulary([items[position] for position in order])
    return ItemTable(
        offsets=starts([len(labels) for labels in new_labels]),
        codes=np.array([codes[label] for labels in new_labels for label in labels], np.int32),
        vocabulary=new_vocabulary,
        lineage=hierarchy.lineage(new_vocabulary) if number is None else None,
    )


def check_unrelated(lineage: Lineage, codes: Codes, vocabulary: Vocabulary) -> None:
    """Check that no item that every pattern must have is above a second required item."""
    for position, code in enumerate(codes.tolist()):
        related = codes[:position][lineage.related_to(codes[position : position + 1])[codes[:position]]]
        if len(related):
            pair = sorted((code, int(related[0])), key=lambda item: int(lineage.depths[item]))
            above, below = (vocabulary.label(item) for item in pair)
            raise MisuseError.format(
                "{contains} has {below!r} and {above!r}, which stands above it: no pattern has both. Leave "
                "{above!r} out.",
                below=below,
                above=above,
            )


def resolve_public_items(hierarchy: Hierarchy, items: Any, baskets: AnyBaskets) -> tuple[Vocabulary, str]:
    """Return the public list of items of a release with a hierarchy, and the public fact for its guarantee."""
    vocabulary, fact = (None, "") if items is None else resolve_items(items, baskets)
    if vocabulary is None:
        return _sort_items(hierarchy.labels), describe_public_list(len(hierarchy), "item", "as declared")
    if isinstance(items, str) and items == "public":
        return _sort_items([*vocabulary, *hierarchy.labels]), f"{fact}, and the {len(hierarchy):,} of the hierarchy"
    return vocabulary, fact


def _sort_items(labels: Iterable[Item]) -> Vocabulary:
    """Return the vocabulary of labels, which may repeat: as text, unless all labels are numbers."""
    different = set(labels)
    if not all(is_whole(label) for label in different):
        different = {str(label) for label in different}
    return Vocabulary(sorted(different))


def _is_column(value: Any) -> bool:
    """Return whether a value of a dictionary is a column of a table and not a label."""
    return not isinstance(value, str | bytes | set | frozenset | Mapping) and hasattr(value, "__len__")


def _check_names(levels: tuple[str, ...], rows: list[list[str]]) -> None:
    """Check that the first line of a table has column names: a row there would be lost."""
    if len(set(levels)) < len(levels) or not all(level.strip() for level in levels):
        raise InputError.format("The columns of the hierarchy need different names. {shape}", shape=HIERARCHY_SHAPE)
    if MIXED_LEVELS in levels:
        raise InputError(f"A level cannot be called {MIXED_LEVELS!r}: that stands for patterns on no one level.")
    above = {label for row in rows for label in row[1:]}
    lost = next((name for name in levels[1:] if name.strip() in above), None)
    if lost is not None:
        raise InputError.format(
            "The first line of the hierarchy names a column {lost!r}, and {lost!r} stands above items too: it "
            "looks like a row. {shape}",
            lost=lost,
            shape=HIERARCHY_SHAPE,
        )


def _record_levels(path: list[tuple[str, int]], heights: dict[str, int], levels: tuple[str, ...]) -> None:
    """Add the level of each label of a row to `heights`; a label has one level in all rows."""
    for label, level in path:
        if heights.setdefault(label, level) != level:
            levels_of_label = sorted((heights[label], level))
            lower, higher = (levels[number] if levels else f"column {number + 1}" for number in levels_of_label)
            raise InputError(
                f"In the hierarchy {label!r} stands under {lower!r} and under {higher!r}: an item is on one level. "
                "Tell the two apart by their names."
            )


def _check_roots(parents: Mapping[str, str]) -> None:
    """Check that every branch ends in a root, within the limit of levels: no label is above itself."""
    # Each label is visited about once: branches share their upper parts.
    checked: set[str] = set()
    for label in parents:
        path, above = [label], label
        while above in parents and above not in checked:
            above = parents[above]
            if above in path[-1:] or (len(path) > MAX_LEVELS and above in path):
                raise InputError(f"In the hierarchy {above!r} stands above itself: correct that row.")
            if len(path) > 2 * MAX_LEVELS:
                raise InputError(f"A hierarchy has at most {MAX_LEVELS} levels; {label!r} has more above it.")
            path.append(above)
        checked.update(path)


def _compute_heights(parents: Mapping[str, str], labels: Iterable[str]) -> dict[str, int]:
    """Return the number of levels below each label, along its longest branch."""
    heights = dict.fromkeys(labels, 0)
    for label in parents:
        height, above = 0, label
        while above in parents:
            above, height = parents[above], height + 1
            if heights[above] >= height:
                break
            heights[above] = height
    return heights
