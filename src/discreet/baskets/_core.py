"""`Baskets`, the data type that readers build and all other rooms use: one row of item codes per basket.

This module reads no files. The arrays of `Baskets` are marked read-only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LimitError, MisuseError
from ..heavy import pa, pc
from ._arrow import as_arrow, as_numpy
from ._lineage import Lineage, recode_lineage

if TYPE_CHECKING:
    from ._hierarchy import Hierarchy
    from ._naming import Names

Item: TypeAlias = int | str
Codes: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Unit: TypeAlias = Literal["people", "baskets"]

T = TypeVar("T")

# Rows that are copied at once: more rows need a larger temporary index, fewer rows need more steps.
_BLOCK = 65_536


class Vocabulary:
    """The labels of the items, by code: 0, 1, 2 … in the order of the labels (numbers by size, names by their text).

    Parameters
    ----------
    labels
        Different labels, all whole numbers or all names.
    names
        The table of names that turned the codes of the data into labels, if any.
    """

    def __init__(self, labels: pa.Array | Sequence[Item], names: Names | None = None) -> None:
        self.names = names
        # Readers pass Arrow arrays, which need no conversion of each label.
        if not isinstance(labels, pa.Array):
            labels = build_label_array(labels)
        _check_different(labels)
        self.labels: pa.Array = labels
        self.numeric: bool = pa.types.is_integer(labels.type)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.labels.to_pylist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and bool(self.labels.equals(other.labels))

    # Arrow arrays have no hash: vocabularies are compared, and are no keys of a dictionary.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} {'numbers' if self.numeric else 'names'})"

    @cached_property
    def _codes(self) -> dict[Item, int]:
        # Built on first use: most releases never look up a label.
        return {label: code for code, label in enumerate(self.labels.to_pylist())}

    @cached_property
    def identities(self) -> NDArray[np.uint64]:
        """A 64-bit number per item that depends on its label alone, while its code depends on all labels.

        The name "7" has the same identity as the number 7, because one file may be read as either type.
        """
        # A number is its own identity.
        if self.numeric:
            return as_numpy(self.labels).astype(np.int64, copy=False).view(np.uint64)
        return np.fromiter(map(_identity, self.labels.to_pylist()), np.uint64, len(self))

    def __contains__(self, label: object) -> bool:
        return label in self._codes

    def label(self, code: int) -> Item:
        """Return the label of a code."""
        label: Item = self.labels[int(code)].as_py()
        return label

    def code(self, label: Item) -> int:
        """Return the code of a label, or raise a `MisuseError` that names the unknown label."""
        try:
            return self._codes[label]
        except KeyError:
            if self.names is not None and (name := self.names.resolve(label)) in self._codes:
                return self._codes[name]
            raise MisuseError(f"{label!r} is not an item of this data{self._hint(label)}.") from None

    def codes(self, labels: Iterable[Item]) -> Codes:
        """Return the codes of labels, in the order of `labels`."""
        return np.array([self.code(label) for label in labels], dtype=np.int32)

    def take(self, codes: NDArray[Any]) -> pa.Array:
        """Return the labels of codes as an Arrow array."""
        return self.labels.take(as_arrow(codes))

    def _hint(self, label: object) -> str:
        if self.numeric and isinstance(label, str):
            return ": its items are numbers, not names"
        if not self.numeric and isinstance(label, int):
            return ": its items are names, not numbers; put it in quotes"
        return ""


def _identity(name: str) -> int:
    # Only canonical numerals: "07" is a name, and "7" is the number 7.
    if name.isascii() and name.isdigit() and len(name) < 20 and str(int(name)) == name and int(name) < 2**63:
        return int(name)
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest())


def build_label_array(labels: Sequence[Item]) -> pa.Array:
    """Return labels as an Arrow array of one type: all 64-bit whole numbers, or all names."""
    labels = [label.item() if isinstance(label, np.integer) else label for label in labels]
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, int | str):
            type_name = type(label).__name__
            raise InputError(f"Items are whole numbers or names, not {type_name}: convert them to text first.")
    try:
        if all(isinstance(label, int) for label in labels):
            return pa.array(labels, pa.int64())
        if all(isinstance(label, str) for label in labels):
            return pa.array(labels, pa.large_string())
    except OverflowError:
        raise InputError("Items are numbers that do not fit 64 bits: convert them to text first.") from None
    except UnicodeEncodeError:
        raise InputError("Items are names that are not text (a lone surrogate): correct them first.") from None
    raise InputError("Items are a mixture of numbers and names: convert the numbers to text first.")


def _check_different(labels: pa.Array) -> None:
    """Check that labels differ: the people of a repeated label would be counted under two codes."""
    # All readers build ascending labels; comparing neighbours is faster than counting distinct labels.
    if len(labels) < 2 or pc.all(pc.less(labels[:-1], labels[1:])).as_py():
        return
    if pc.count_distinct(labels, mode="all").as_py() != len(labels):
        raise InputError("The vocabulary has a label twice: give every code a label of its own.")


class _Arrays:
    """Arrays that belong together: read-only, and equal if all arrays are equal."""

    def __post_init__(self) -> None:
        _freeze(*(value for value in vars(self).values() if isinstance(value, np.ndarray)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            np.array_equal(value, vars(other)[name]) if isinstance(value, np.ndarray) else value == vars(other)[name]
            for name, value in vars(self).items()
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Sequences(_Arrays):
    """The events of each person in order, with repeats: `codes[offsets[i]:offsets[i + 1]]` for person i.

    Parameters
    ----------
    offsets, codes
        The rows, end to end.
    moments
        The time of each event, as a number that never descends within a row: events with equal numbers are
        simultaneous. None if no two events of a person are simultaneous.
    """

    offsets: Offsets
    codes: Codes
    moments: Codes | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequences)
            and all(np.array_equal(*pair) for pair in ((self.offsets, other.offsets), (self.codes, other.codes)))
            and np.array_equal(self._tied(), other._tied())
        )

    def take(self, positions: NDArray[np.int64]) -> Sequences:
        """Return the events of the rows at `positions`, in that order."""
        moments = () if self.moments is None else (self.moments,)
        return Sequences(*take_rows(self.offsets, positions, self.codes, *moments))

    def _tied(self) -> NDArray[np.bool_]:
        """Return whether each event is simultaneous with the previous event of the person."""
        # Equal numbers within a row mean equal times; across rows they mean nothing.
        tied = np.zeros(len(self.codes), np.bool_)
        if self.moments is not None:
            tied[1:] = self.moments[1:] == self.moments[:-1]
            tied[self.offsets[:-1][np.diff(self.offsets) > 0]] = False
        return tied


@dataclass(frozen=True, eq=False)
class Pairs(_Arrays):
    """The ordered pairs of items of each person, sorted and unique: first[j] → second[j]."""

    offsets: Offsets
    first: Codes
    second: Codes

    def take(self, positions: NDArray[np.int64]) -> Pairs:
        """Return the pairs of the rows at `positions`, in that order."""
        return Pairs(*take_rows(self.offsets, positions, self.first, self.second))


@dataclass(frozen=True, eq=False)
class Segments(_Arrays):
    """The segment of each basket's person, for example a region: `vocabulary.label(codes[i])` for row i.

    `column` is the name of the segment column in the data.
    """

    column: str
    codes: Codes
    vocabulary: Vocabulary

    def take(self, positions: NDArray[Any]) -> Segments:
        """Return the segments of the rows at `positions`, in that order."""
        return Segments(self.column, self.codes[positions], self.vocabulary)

    def of_people(self) -> list[Item]:
        """Return the label of the segment of each row."""
        segments: list[Item] = self.vocabulary.take(self.codes).to_pylist()
        return segments


@dataclass(frozen=True, eq=False)
class ItemTable:
    """The new codes of each old item: ``codes[offsets[i]:offsets[i + 1]]`` for item i.

    `lineage` is the forest of the new codes, None if no two items are related; `hierarchy` is its public source.
    """

    offsets: Offsets
    codes: Codes
    vocabulary: Vocabulary
    lineage: Lineage | None
    hierarchy: Hierarchy | None = None


class AnyBaskets(ABC):
    """The baskets of a data set, on this machine (`Baskets`) or in a cluster (`discreet.spark`).

    Both kinds answer the same queries with equal results. Mechanisms see neither, only an engine.
    """

    vocabulary: Vocabulary

    # The forest of the items, if baskets also contain the items above their own (`hierarchy.generalised`).
    lineage: Lineage | None = None
    # The hierarchy by which `hierarchy.generalised` built the baskets.
    hierarchy: Hierarchy | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def people(self) -> int:
        """The number of people, including people with empty baskets."""
        return len(self)

    @property
    def has_receipts(self) -> bool:
        """Whether a person may have several baskets. Counts are then of baskets, privacy is of people."""
        return False

    @property
    def unit(self) -> Unit:
        """The unit of all counts."""
        return "baskets" if self.has_receipts else "people"

    @abstractmethod
    def capped(self, most: int, key: int) -> AnyBaskets:
        """Return at most `most` baskets of each person, drawn uniformly and independently per person.

        `key` is 64 secret bits. Data that differ in one person still differ in one person after the draw, if equal
        people are taken together (`_capping.py`).
        """

    @property
    def items(self) -> int:
        """The number of items of the vocabulary."""
        return len(self.vocabulary)

    @property
    @abstractmethod
    def item_counts(self) -> NDArray[np.int64]:
        """The number of baskets that hold each item, by code."""

    @property
    @abstractmethod
    def segment_column(self) -> str | None:
        """The name of the segment column, or None if baskets were read without segments."""

    @property
    @abstractmethod
    def segment_labels(self) -> list[Item]:
        """The labels of the segments, by code."""

    @abstractmethod
    def check(self) -> None:
        """Check that the baskets are small enough to be queried, before any budget is spent."""

    @abstractmethod
    def recoded(self, table: Codes, vocabulary: Vocabulary) -> AnyBaskets:
        """Return the baskets with the item codes `table[old_code]`; items with the new code -1 are dropped."""

    @abstractmethod
    def widened(self, table: ItemTable) -> AnyBaskets:
        """Return the baskets with each item replaced by its new codes; repeats within a basket are merged."""

    @abstractmethod
    def select_containing(self, codes: Codes) -> AnyBaskets:
        """Return the baskets that hold all items of `codes`."""

    @abstractmethod
    def select_segments(self, segments: Codes) -> AnyBaskets:
        """Return the baskets of the people in the segments with codes in `segments`."""

    @abstractmethod
    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return the results of `part` on disjoint groups of people, combined by `merge` in any order and grouping."""


@dataclass(frozen=True, eq=False, repr=False)
class Baskets(AnyBaskets):
    """Baskets on this machine: row i is the sorted set of the item codes of basket i.

    Parameters
    ----------
    offsets, codes
        The rows, end to end: basket i is ``codes[offsets[i]:offsets[i + 1]]``. Rows are sorted and unique. A person
        with an empty row counts as a person.
    vocabulary
        The label of each code. Labels that are in no basket are allowed.
    sequences, pairs
        The order of events, and the ordered pairs of items, if the data have them.
    merged
        The number of repeats of an item within a basket that were merged when the data were read.
    segments
        The segment of each basket's person, if the data were read with ``by=``.
    owners
        The baskets of each person, if the data were read with ``basket=``: person i has the baskets ``owners[i]`` to
        ``owners[i + 1] - 1``. None if each person has one basket.
    lineage, hierarchy
        The forest of the items, if baskets also contain the items above their own; and its hierarchy.
    """

    offsets: Offsets
    codes: Codes
    vocabulary: Vocabulary
    sequences: Sequences | None = None
    pairs: Pairs | None = None
    merged: int = field(default=0, compare=False)
    segments: Segments | None = None
    owners: Offsets | None = None
    lineage: Lineage | None = None
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        # Kernels do not check bounds: a code or an offset out of range would read foreign memory.
        _check_rows("Baskets", self.offsets, self.codes, self.items)
        _check_sets(self.offsets, self.codes)
        if (order := self.sequences) is not None:
            moments = [] if order.moments is None else [order.moments]
            _check_rows("The order", order.offsets, order.codes, self.items, *moments, people=len(self))
            if moments and not _rises_within_rows(order.offsets, *moments, strictly=False):
                raise InputError("The order: the moments of each person never descend; those given do.")
        if self.pairs is not None:
            offsets, first, second = self.pairs.offsets, self.pairs.first, self.pairs.second
            _check_rows("The pairs", offsets, first, self.items, second, people=len(self))
            _check_codes("The pairs", second, self.items)
            # A repeated pair would count its person twice.
            if not _rises_within_rows(offsets, first.astype(np.int64) << 32 | second, strictly=True):
                raise InputError(
                    "The pairs: those of each person ascend, and none is there twice; discreet.read() sorts them."
                )
        if self.segments is not None:
            codes = self.segments.codes
            _check_codes("The segments", codes, len(self.segments.vocabulary))
            if len(codes) != len(self):
                raise InputError(f"The segments are of {len(codes):,} people, and the baskets of {len(self):,}.")
        # Arrays are shared between baskets, so a write would change several data sets.
        _freeze(self.offsets, self.codes)
        if self.owners is not None:
            if self.sequences is not None or self.pairs is not None:
                raise InputError("Baskets: several baskets of a person have no order and no pairs beside them.")
            _check_owners(self.owners, len(self))
            if self.segments is not None:
                _check_one_segment(self.segments.codes, self.owners)
            _freeze(self.owners)
        if self.lineage is not None and len(self.lineage) != self.items:
            raise InputError(f"Baskets: the lineage is of {len(self.lineage):,} items, and there are {self.items:,}.")

    @classmethod
    def trusted(
        cls,
        offsets: Offsets,
        codes: Codes,
        vocabulary: Vocabulary,
        segments: Segments | None = None,
        owners: Offsets | None = None,
        lineage: Lineage | None = None,
    ) -> Baskets:
        """Return baskets without checking their arrays, which must come unchanged from checked baskets."""
        # `__init__` would run the checks, which take longer than small queries on many groups.
        baskets = object.__new__(cls)
        vars(baskets).update(offsets=offsets, codes=codes, vocabulary=vocabulary, segments=segments, owners=owners)
        vars(baskets).update(sequences=None, pairs=None, merged=0, lineage=lineage, hierarchy=None)
        return baskets

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Baskets)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name)) for name in ("offsets", "codes", "owners")
            )
            and (self.vocabulary, self.lineage) == (other.vocabulary, other.lineage)
            and (self.sequences, self.pairs, self.segments) == (other.sequences, other.pairs, other.segments)
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> frozenset[Item]:
        if not -len(self) <= number < len(self):
            raise IndexError(f"There are {len(self):,} {self.unit}, numbered from 0; {number} is none of them.")
        number %= len(self)
        row = self.codes[self.offsets[number] : self.offsets[number + 1]]
        return frozenset(self.vocabulary.take(row).to_pylist())

    def __iter__(self) -> Iterator[frozenset[Item]]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        # The mean size reveals the data: a repr is for the owner of the data, never for a release.
        mean = len(self.codes) / len(self) if len(self) else 0.0
        parts = (("order", self.sequences), ("pairs", self.pairs), ("segments", self.segments))
        part_names = [name for name, part in parts if part is not None]
        extras = f", with {' and '.join(part_names)}" if part_names else ""
        owners = f"{len(self):,} baskets of {self.people:,} people" if self.has_receipts else f"{len(self):,} people"
        return f"Baskets({owners}, {len(self.vocabulary):,} items, {mean:.2f} per basket{extras})"

    @property
    def people(self) -> int:
        """The number of people, including people with empty baskets."""
        return len(self) if self.owners is None else len(self.owners) - 1

    @property
    def has_receipts(self) -> bool:
        """Whether a person may have several baskets. Counts are then of baskets, privacy is of people."""
        return self.owners is not None

    def _repr_html_(self) -> str:
        from ._view import render_html

        return render_html(self)

    @cached_property
    def item_counts(self) -> NDArray[np.int64]:
        """The number of baskets that hold each item, by code."""
        from ..kernels import count_codes

        counts = np.zeros(self.items, np.int64)
        count_codes(self.codes, counts)
        return counts

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of items of each basket."""
        return np.diff(self.offsets)

    def size_histogram(self) -> NDArray[np.int64]:
        """Return the numbers of baskets with 0, 1, 2 … items."""
        return np.bincount(self.sizes).astype(np.int64, copy=False)

    @property
    def segment_column(self) -> str | None:
        """The name of the segment column, or None if baskets were read without segments."""
        return None if self.segments is None else self.segments.column

    @property
    def segment_labels(self) -> list[Item]:
        """The labels of the segments, by code."""
        return [] if self.segments is None else list(self.segments.vocabulary)

    def check(self) -> None:
        """Check that the baskets are small enough to be queried, before any budget is spent."""
        # Miners address items and rows by 32-bit numbers.
        if len(self.codes) + len(self) >= np.iinfo(np.int32).max:
            raise LimitError.format(
                "These baskets hold more items in all than can be mined at once: cap them with {max_items=}."
            )

    def _derive(self, offsets: Offsets, codes: Codes, **changes: Any) -> Baskets:
        """Return baskets with other rows and without order and pairs, which describe the old rows."""
        return replace(self, offsets=offsets, codes=codes, sequences=None, pairs=None, merged=0, **changes)

    def recoded(self, table: Codes, vocabulary: Vocabulary) -> Baskets:
        """Return the baskets with the item codes `table[old_code]`; items with the new code -1 are dropped."""
        # One lookup per item of a basket.
        codes, offsets = table[self.codes], self.offsets
        is_kept = codes >= 0
        if not is_kept.all():
            codes, offsets = codes[is_kept], starts(is_kept)[offsets]
        # The order of the codes changes if items were numbers and become names: "10" is before "9".
        if (np.diff(table[table >= 0]) < 0).any():
            from ..kernels import sort_rows

            sort_rows(offsets.copy(), codes, 0, len(self), np.empty(len(self), np.int32))
        # Dropped items are replaced by their ancestors in the forest.
        lineage = recode_lineage(self.lineage, table, len(vocabulary))
        return self._derive(offsets, codes, vocabulary=vocabulary, lineage=lineage)

    def widened(self, table: ItemTable) -> Baskets:
        """Return the baskets with each item replaced by its new codes; repeats within a basket are merged."""
        # Offsets come first: they say how much memory the new codes take.
        # The size of a new row is the sum of the numbers of new codes of its items.
        offsets = starts(np.diff(table.offsets)[self.codes])[self.offsets]
        (_, codes) = take_rows(table.offsets, self.codes.astype(np.int64), table.codes)
        codes = _merge_repeats(offsets, codes)
        return self._derive(
            offsets, codes, vocabulary=table.vocabulary, lineage=table.lineage, hierarchy=table.hierarchy
        )

    def select_containing(self, codes: Codes) -> Baskets:
        """Return the baskets that hold all items of `codes`."""
        from ..kernels import rows_holding

        return self.rows(np.flatnonzero(rows_holding(self.offsets, self.codes, codes)))

    def select_segments(self, segments: Codes) -> Baskets:
        """Return the baskets of the people in the segments with codes in `segments`."""
        if self.segments is None:
            raise MisuseError("These baskets were read without segments.")
        return self.rows(np.flatnonzero(np.isin(self.segments.codes, segments)))

    def rows(self, positions: NDArray[np.int64]) -> Baskets:
        """Return the baskets at ascending `positions`; a person without baskets there is dropped."""
        offsets, codes = take_rows(self.offsets, positions, self.codes)
        segments = None if self.segments is None else self.segments.take(positions)
        owners = None
        if self.owners is not None:
            # The person of each kept basket; a new person begins where the number changes.
            people = np.searchsorted(self.owners, positions, side="right") - 1
            owners = np.append(np.flatnonzero(np.diff(people, prepend=-1)), len(people))
        return self._derive(offsets, codes, segments=segments, owners=owners)

    def capped(self, most: int, key: int) -> Baskets:
        """Return at most `most` baskets of each person, drawn uniformly and independently per person."""
        if self.owners is None:
            return self
        from ._capping import SegmentOfPeople, select_baskets

        segments = None
        if self.segments is not None:
            segments = SegmentOfPeople(self.segments.codes[self.owners[:-1]], self.segments.vocabulary.identities)
        names = self.vocabulary.identities
        positions = select_baskets(self.owners, self.offsets, self.codes, names, most, key, segments)
        return self if len(positions) == len(self) else self.rows(positions)

    def merged_people(self) -> Baskets:
        """Return one basket per person with the items of all of the person's baskets, as read without ``basket=``."""
        if self.owners is None:
            return self
        offsets = self.offsets[self.owners]
        codes = _merge_repeats(offsets, self.codes.copy())
        segments = None if self.segments is None else self.segments.take(self.owners[:-1])
        return self._derive(offsets, codes, segments=segments, owners=None)

    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return the result of `part` on all people, as one group."""
        return part(self)


def require_local_baskets(baskets: AnyBaskets, caller: str) -> Baskets:
    """Return baskets that are on this machine; refuse baskets in a cluster, with the name of the caller."""
    if not isinstance(baskets, Baskets):
        raise MisuseError(f"{caller} looks at baskets one by one, and these lie in a cluster: give a sample as a file.")
    return baskets


def build_empty_baskets(
    *,
    basket: object = None,
    time: object = None,
    pair: object = None,
    ordered: bool = False,
    names: object = None,
    same_names: str | None = None,
    **_: object,
) -> Baskets:
    """Return baskets without people and items, with the parts that the options of `read` ask for.

    That the data are empty is private: a release queries, counts and reports empty baskets as it does any baskets.
    """
    from ._naming import Names

    offsets, codes = np.zeros(1, np.int64), np.empty(0, np.int32)
    item_names = None if names is None else Names.read(names, same_names or "apart")
    return Baskets(
        offsets,
        codes,
        Vocabulary([], item_names),
        sequences=Sequences(offsets, codes) if time is not None or ordered else None,
        pairs=None if pair is None else Pairs(offsets, codes, codes),
        owners=None if basket is None else offsets,
    )


def _merge_repeats(offsets: Offsets, codes: Codes) -> Codes:
    """Return the codes with each row sorted and without repeats; `offsets` is updated in place."""
    from ..kernels import close_gaps, sort_rows

    sizes = np.empty(len(offsets) - 1, np.int32)
    sort_rows(offsets, codes, 0, len(sizes), sizes)
    close_gaps(offsets, codes, sizes)
    return codes[: offsets[-1]].copy()


def _check_rows(
    part: str, offsets: Offsets, codes: Codes, items: int, *columns: NDArray[Any], people: int | None = None
) -> None:
    """Check that rows lie end to end, that codes are below `items`, and that `columns` have a value per code."""
    for array in (offsets, *columns):
        if not _is_integer_array(array):
            raise InputError(f"{part}: offsets and codes are numpy arrays of whole numbers, in one dimension.")
    _check_codes(part, codes, items)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes) or bool(np.any(offsets[1:] < offsets[:-1])):
        raise InputError(
            f"{part}: the offsets begin with 0, never descend and end with the number of codes, {len(codes):,}; "
            "those given do not."
        )
    if any(len(array) != len(codes) for array in columns):
        raise InputError(f"{part}: there is one value for each of the {len(codes):,} codes; another number was given.")
    if people is not None and len(offsets) != people + 1:
        raise InputError(f"{part} have rows of {len(offsets) - 1:,} people, and the baskets of {people:,}.")


def _is_integer_array(array: object) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"


def _check_codes(part: str, codes: Codes, labels: int) -> None:
    """Check that each code is between 0 and the number of labels less 1."""
    if not _is_integer_array(codes):
        raise InputError(f"{part}: codes are a numpy array of whole numbers, in one dimension.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < labels):
        raise InputError(f"{part}: codes are numbers from 0 on, below the {labels:,} labels; some are out of range.")


def _check_sets(offsets: Offsets, codes: Codes) -> None:
    """Check that each row ascends: a repeated item would count its person twice."""
    if not _rises_within_rows(offsets, codes, strictly=True):
        raise InputError("Baskets: the codes of each row ascend, and none is there twice; discreet.read() sorts them.")


def _check_owners(owners: Offsets, baskets: int) -> None:
    """Check that the baskets of the people lie end to end, with at least one basket per person."""
    is_offsets = isinstance(owners, np.ndarray) and owners.ndim == 1 and owners.dtype == np.int64 and len(owners) > 0
    if not is_offsets or owners[0] != 0 or owners[-1] != baskets or bool(np.any(owners[1:] <= owners[:-1])):
        raise InputError(f"Baskets: owners rise from 0 to the number of baskets, {baskets:,}; those given do not.")


def _check_one_segment(segments: Codes, owners: Offsets) -> None:
    """Check that all baskets of a person are in one segment: a release by segment is charged once for all segments."""
    if not np.array_equal(np.repeat(segments[owners[:-1]], np.diff(owners)), segments):
        raise InputError(
            "The segments: all baskets of a person are in one segment, and those of some people are in several. Give "
            "each basket the segment of its person."
        )


def _rises_within_rows(offsets: Offsets, values: NDArray[Any], *, strictly: bool) -> bool:
    """Return whether values ascend within each row; the first value of a row may be smaller than the previous one."""
    rises = values[1:] > values[:-1] if strictly else values[1:] >= values[:-1]
    edges = offsets[1:-1]
    rises[edges[(edges > 0) & (edges < len(values))] - 1] = True
    return bool(rises.all())


def _freeze(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only, and the arrays that they are views of: a write to the base would change the view."""
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base.flags.writeable = False
            base = base.base


def starts(sizes: NDArray[Any] | Sequence[int]) -> Offsets:
    """Return the start of each row when rows of `sizes` lie end to end, and the end of the last row."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_rows(offsets: Offsets, positions: NDArray[np.int64], *columns: NDArray[Any]) -> tuple[Any, ...]:
    """Return the rows at `positions` of columns that share `offsets`: the new offsets, then each new column."""
    new_offsets = starts(np.diff(offsets)[positions])
    new_columns = [np.empty(new_offsets[-1], column.dtype) for column in columns]
    for start in range(0, len(positions), _BLOCK):
        block = positions[start : start + _BLOCK]
        block_offsets = new_offsets[start : start + len(block) + 1]
        sources = np.repeat(offsets[block] - block_offsets[:-1], np.diff(block_offsets))
        sources += np.arange(block_offsets[0], block_offsets[-1])
        for new_column, column in zip(new_columns, columns, strict=True):
            new_column[block_offsets[0] : block_offsets[-1]] = column[sources]
    return new_offsets, *new_columns
