"""What every reader makes and everything else starts from: one row of item codes a basket, mostly one a person.

Nothing here knows about files. A `Baskets` is immutable by convention: its arrays are marked read-only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LimitError, MisuseError
from ._arrow import as_arrow, as_numpy
from ._lineage import Lineage, recoded as recoded_lineage

if TYPE_CHECKING:
    import pyarrow as pa

    from ._hierarchy import Hierarchy
    from ._naming import Names

Item: TypeAlias = int | str
Codes: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Unit: TypeAlias = Literal["people", "baskets"]

T = TypeVar("T")

_BLOCK = 65_536  # rows that are copied at once, so that the index needed on the way stays small


class Vocabulary:
    """The items by code: code 0, 1, 2 … in the order of the labels (numbers by size, names by their text).

    Labels are all whole numbers or all names. The table from label to code is made on first use. `names` say what the
    codes of the data are called, where labels are such names.
    """

    def __init__(self, labels: pa.Array | Sequence[Item], names: Names | None = None) -> None:
        import pyarrow as pa

        self.names = names

        if not isinstance(labels, pa.Array):
            labels = label_array(labels)
        _check_different(labels)
        self.labels: pa.Array = labels
        self.numeric: bool = pa.types.is_integer(labels.type)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.labels.to_pylist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and bool(self.labels.equals(other.labels))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} {'numbers' if self.numeric else 'names'})"

    @cached_property
    def _codes(self) -> dict[Item, int]:
        return {label: code for code, label in enumerate(self.labels.to_pylist())}

    @cached_property
    def identities(self) -> NDArray[np.uint64]:
        """A number for each item that its label alone decides, where its code depends on all labels there are.

        A name that reads as a number has the number of it, as the same labels may come in as either.
        """
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
        """Return the code of a label; a `MisuseError` says which label is unknown."""
        try:
            return self._codes[label]
        except KeyError:
            if self.names is not None and (shown := self.names.resolve(label)) in self._codes:
                return self._codes[shown]
            raise MisuseError(f"{label!r} is not an item of this data{self._hint(label)}.") from None

    def codes(self, labels: Iterable[Item]) -> Codes:
        """Return the codes of several labels."""
        return np.array([self.code(label) for label in labels], dtype=np.int32)

    def take(self, codes: NDArray[Any]) -> pa.Array:
        """Return the labels of many codes as one Arrow array."""
        return self.labels.take(as_arrow(codes))

    def _hint(self, label: object) -> str:
        if self.numeric and isinstance(label, str):
            return ": its items are numbers, not names"
        if not self.numeric and isinstance(label, int):
            return ": its items are names, not numbers; put it in quotes"
        return ""


def _identity(name: str) -> int:
    if name.isascii() and name.isdigit() and len(name) < 20 and str(int(name)) == name and int(name) < 2**63:
        return int(name)
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest())


def label_array(labels: Sequence[Item]) -> pa.Array:
    """Return labels as an array of one type: all whole numbers or all names."""
    import pyarrow as pa

    labels = [label.item() if isinstance(label, np.integer) else label for label in labels]
    strange = [label for label in labels if isinstance(label, bool) or not isinstance(label, int | str)]
    if strange:
        kind = type(strange[0]).__name__
        raise InputError(f"Items are whole numbers or names, not {kind}: convert them to text first.")
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
    """Check that no label is there twice: its people would be counted under two codes."""
    import pyarrow.compute as pc

    # Labels that ascend, as those of all readers do, need no table of them.
    if len(labels) < 2 or pc.all(pc.less(labels[:-1], labels[1:])).as_py():
        return
    if pc.count_distinct(labels, mode="all").as_py() != len(labels):
        raise InputError("The vocabulary has a label twice: give every code a label of its own.")


@dataclass(frozen=True, eq=False)
class Sequences:
    """What each person did, in order and with repeats: `codes[offsets[i]:offsets[i + 1]]` for person i.

    Parameters
    ----------
    offsets, codes
        The rows, end to end.
    moments
        When each was done, as numbers that ascend within a row: equal ones are at the same time, and neither comes
        after the other. None where no two are at the same time.
    """

    offsets: Offsets
    codes: Codes
    moments: Codes | None = None

    def __post_init__(self) -> None:
        _freeze(self.offsets, self.codes, *([] if self.moments is None else [self.moments]))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Sequences) and _same(self, other, ("offsets", "codes"))
        return same and np.array_equal(self._tied(), other._tied())  # type: ignore[attr-defined]

    def _tied(self) -> NDArray[np.bool_]:
        """Whether each was done at the same time as the one before it: what the moments say, whatever their numbers."""
        tied = np.zeros(len(self.codes), np.bool_)
        if self.moments is not None:
            tied[1:] = self.moments[1:] == self.moments[:-1]
            tied[self.offsets[:-1][np.diff(self.offsets) > 0]] = False
        return tied


@dataclass(frozen=True, eq=False)
class Pairs:
    """The ordered pairs of items given for each person, sorted and unique: first[j] → second[j]."""

    offsets: Offsets
    first: Codes
    second: Codes

    def __post_init__(self) -> None:
        _freeze(self.offsets, self.first, self.second)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pairs) and _same(self, other, ("offsets", "first", "second"))


@dataclass(frozen=True, eq=False)
class Segments:
    """The one segment each person is in, such as a region: `vocabulary.label(codes[i])` for person i.

    `column` is what it was called in the data.
    """

    column: str
    codes: Codes
    vocabulary: Vocabulary

    def __post_init__(self) -> None:
        _freeze(self.codes)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Segments) and _same(self, other, ("column", "codes"))
        return same and self.vocabulary == other.vocabulary  # type: ignore[attr-defined]

    def take(self, people: NDArray[Any]) -> Segments:
        """Return the segments of some people, in the order given."""
        return Segments(self.column, self.codes[people], self.vocabulary)

    def of_people(self) -> list[Item]:
        """Return the segment of each person."""
        segments: list[Item] = self.vocabulary.take(self.codes).to_pylist()
        return segments


@dataclass(frozen=True, eq=False)
class ItemTable:
    """What each item becomes: item i ``codes[offsets[i]:offsets[i + 1]]``."""

    offsets: Offsets
    codes: Codes


class AnyBaskets(ABC):
    """Everyone's baskets, wherever they lie: on this machine (`Baskets`), or spread over a cluster.

    What is asked of them is the same, and so are the answers; a mechanism sees neither, only an engine.
    """

    vocabulary: Vocabulary

    # Which items stand above which, where the baskets hold those above too: `hierarchy.generalised` makes them so.
    lineage: Lineage | None = None
    # The hierarchy that they were made by, across levels or on one of them.
    hierarchy: Hierarchy | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def people(self) -> int:
        """How many people there are, those with empty baskets included."""
        return len(self)

    @property
    def several(self) -> bool:
        """Whether a person may have several baskets: counts are of these, and the unit of privacy is the person."""
        return False

    @property
    def unit(self) -> Unit:
        """What counts are of."""
        return "baskets" if self.several else "people"

    @abstractmethod
    def capped(self, most: int, key: int) -> AnyBaskets:
        """Return at most so many baskets of each person, any as likely as the others.

        The key is a secret. One more person is one more person in the result, and everybody else keeps the same when
        equal people are taken together; people draw independently of each other (`capping.py`).
        """

    @property
    def items(self) -> int:
        """How many items the vocabulary has."""
        return len(self.vocabulary)

    @property
    @abstractmethod
    def item_counts(self) -> NDArray[np.int64]:
        """How many baskets hold each item, by code."""

    @property
    @abstractmethod
    def segment_column(self) -> str | None:
        """The column of the segments that were read with the baskets, if any."""

    @property
    @abstractmethod
    def segment_labels(self) -> list[Item]:
        """The segments that people are in, by code."""

    @abstractmethod
    def check(self) -> None:
        """See that questions can be answered, before anything is paid for."""

    @abstractmethod
    def recoded(self, table: Codes, vocabulary: Vocabulary) -> AnyBaskets:
        """Return the baskets with a new code for each item, by the old one; those of -1 are dropped."""

    @abstractmethod
    def widened(
        self,
        table: ItemTable,
        vocabulary: Vocabulary,
        lineage: Lineage | None,
        hierarchy: Hierarchy | None = None,
    ) -> AnyBaskets:
        """Return the baskets with several codes for each item, or one that others have too: a set all the same."""

    @abstractmethod
    def holding(self, codes: Codes) -> AnyBaskets:
        """Return the baskets that hold all of these items."""

    @abstractmethod
    def within(self, segments: Codes) -> AnyBaskets:
        """Return the baskets of the people in these segments, by code."""

    @abstractmethod
    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return what `part` makes of some of the people, put together by `merge`, in any order and grouping."""


@dataclass(frozen=True, eq=False, repr=False)
class Baskets(AnyBaskets):
    """Everyone's baskets: row i is the sorted set of item codes in basket i, that of person i where each has one.

    Parameters
    ----------
    offsets, codes
        The rows, end to end: basket i is ``codes[offsets[i]:offsets[i + 1]]``. Rows are sorted and unique; an empty
        row is a person who holds nothing, and counts.
    vocabulary
        The label of each code. Labels that nobody holds are allowed.
    sequences, pairs
        The order of events and the given relations, where the data have them.
    merged
        How many repeats of an item within a basket were merged when the data were read.
    segments
        The segment of each basket's person, where the data were read with ``by=``.
    owners
        Whose baskets they are, where the data were read with ``basket=``: person i has the baskets from ``owners[i]``
        to before ``owners[i + 1]``. None where every basket is a person's only one.
    lineage, hierarchy
        Which items stand above which, where baskets hold those above too; and the hierarchy that says so.
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
        # Kernels look at nothing: a code or an offset out of range would be memory of somebody else.
        _check_rows("Baskets", self.offsets, self.codes, len(self.vocabulary))
        _check_sets(self.offsets, self.codes)
        for what, held in (("The order", self.sequences), ("The pairs", self.pairs), ("The segments", self.segments)):
            if isinstance(held, Sequences):
                moments = [] if held.moments is None else [held.moments]
                _check_rows(what, held.offsets, held.codes, self.items, *moments, people=len(self))
                _check_moments(held.offsets, held.moments)
            elif isinstance(held, Pairs):
                _check_rows(what, held.offsets, held.first, self.items, held.second, people=len(self))
                _check_codes(what, held.second, self.items)
                _check_pairs(held)
            elif isinstance(held, Segments):
                _check_codes(what, held.codes, len(held.vocabulary))
                if len(held.codes) != len(self):
                    raise InputError(f"{what} are of {len(held.codes):,} people, and the baskets of {len(self):,}.")
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
        """Return baskets of arrays that were looked at before: as they left other baskets, and no others."""
        made = object.__new__(cls)
        vars(made).update(offsets=offsets, codes=codes, vocabulary=vocabulary, segments=segments, owners=owners)
        vars(made).update(sequences=None, pairs=None, merged=0, lineage=lineage, hierarchy=None)
        return made

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Baskets)
            and _same(self, other, ("offsets", "codes"))
            and self.vocabulary == other.vocabulary
            and self.sequences == other.sequences
            and self.pairs == other.pairs
            and self.segments == other.segments
            and _same_owners(self.owners, other.owners)
            and self.lineage == other.lineage
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
        mean = len(self.codes) / len(self) if len(self) else 0.0
        kinds = (("order", self.sequences), ("pairs", self.pairs), ("segments", self.segments))
        beside = [name for name, held in kinds if held is not None]
        kept = f", with {' and '.join(beside)}" if beside else ""
        whose = f"{len(self):,} baskets of {self.people:,} people" if self.several else f"{len(self):,} people"
        return f"Baskets({whose}, {len(self.vocabulary):,} items, {mean:.2f} per basket{kept})"

    @property
    def people(self) -> int:
        """How many people there are, those with empty baskets included."""
        return len(self) if self.owners is None else len(self.owners) - 1

    @property
    def several(self) -> bool:
        """Whether a person may have several baskets: counts are of these, and the unit of privacy is the person."""
        return self.owners is not None

    def _repr_html_(self) -> str:
        from ._view import html

        return html(self)

    @cached_property
    def item_counts(self) -> NDArray[np.int64]:
        """How many baskets hold each item, by code."""
        from ..kernels import count_codes

        tally = np.zeros(self.items, np.int64)
        count_codes(self.codes, tally)
        return tally

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many items each basket has."""
        return np.diff(self.offsets)

    def size_histogram(self) -> NDArray[np.int64]:
        """Return how many baskets have 0, 1, 2 … items."""
        return np.bincount(self.sizes).astype(np.int64, copy=False)

    @property
    def segment_column(self) -> str | None:
        """The column of the segments that were read with the baskets, if any."""
        return None if self.segments is None else self.segments.column

    @property
    def segment_labels(self) -> list[Item]:
        """The segments that people are in, by code."""
        return [] if self.segments is None else list(self.segments.vocabulary)

    def check(self) -> None:
        """See that questions can be answered, before anything is paid for."""
        if len(self.codes) + len(self) >= np.iinfo(np.int32).max:
            raise LimitError.format(
                "These baskets hold more items in all than can be mined at once: cap them with {max_items=}."
            )

    def recoded(self, table: Codes, vocabulary: Vocabulary) -> Baskets:
        """Return the baskets with a new code for each item, by the old one; those of -1 are dropped."""
        codes, offsets = table[self.codes], self.offsets
        kept = codes >= 0
        if not kept.all():
            before = np.concatenate(([0], np.cumsum(kept)))
            codes, offsets = codes[kept], before[offsets]
        if (np.diff(table[table >= 0]) < 0).any():  # names are in another order than the numbers they were
            from ..kernels import sort_rows

            sort_rows(offsets.copy(), codes, 0, len(self), np.empty(len(self), np.int32))
        return Baskets(
            offsets,
            codes,
            vocabulary,
            segments=self.segments,
            owners=self.owners,
            lineage=recoded_lineage(self.lineage, table, len(vocabulary)),
            hierarchy=self.hierarchy,
        )

    def widened(
        self,
        table: ItemTable,
        vocabulary: Vocabulary,
        lineage: Lineage | None,
        hierarchy: Hierarchy | None = None,
    ) -> Baskets:
        """Return the baskets with several codes for each item, or one that others have too: a set all the same."""
        from ..kernels import close_gaps, sort_rows

        before = starts(np.diff(table.offsets)[self.codes])
        offsets = before[self.offsets]
        (_, codes) = take_rows(table.offsets, self.codes.astype(np.int64), table.codes)
        sizes = np.empty(len(self), np.int32)
        sort_rows(offsets, codes, 0, len(self), sizes)
        close_gaps(offsets, codes, sizes)
        codes = codes[: offsets[-1]].copy()
        return Baskets(
            offsets,
            codes,
            vocabulary,
            segments=self.segments,
            owners=self.owners,
            lineage=lineage,
            hierarchy=hierarchy,
        )

    def holding(self, codes: Codes) -> Baskets:
        """Return the baskets that hold all of these items."""
        from ..kernels import rows_holding

        return self.rows(np.flatnonzero(rows_holding(self.offsets, self.codes, codes)))

    def within(self, segments: Codes) -> Baskets:
        """Return the baskets of the people in these segments, by code."""
        if self.segments is None:
            raise MisuseError("These baskets were read without segments.")
        return self.rows(np.flatnonzero(np.isin(self.segments.codes, segments)))

    def rows(self, kept: NDArray[np.int64]) -> Baskets:
        """Return some of the baskets; where a person has several, in the order they have. Nobody else stays."""
        offsets, codes = take_rows(self.offsets, kept, self.codes)
        segments = None if self.segments is None else self.segments.take(kept)
        owners = None
        if self.owners is not None:
            whose = np.searchsorted(self.owners, kept, side="right") - 1
            owners = np.append(np.flatnonzero(np.diff(whose, prepend=-1)), len(whose))
        return Baskets(
            offsets,
            codes,
            self.vocabulary,
            segments=segments,
            owners=owners,
            lineage=self.lineage,
            hierarchy=self.hierarchy,
        )

    def capped(self, most: int, key: int) -> Baskets:
        """Return at most so many baskets of each person, any as likely as the others."""
        if self.owners is None:
            return self
        from ._capping import SegmentOfPeople, kept_baskets

        segments = None
        if self.segments is not None:
            segments = SegmentOfPeople(self.segments.codes[self.owners[:-1]], self.segments.vocabulary.identities)
        names = self.vocabulary.identities
        kept = kept_baskets(self.owners, self.offsets, self.codes, names, most, key, segments)
        return self if len(kept) == len(self) else self.rows(kept)

    def merged_people(self) -> Baskets:
        """Return one basket a person, with all that is in any of them: as reading without ``basket=`` does."""
        if self.owners is None:
            return self
        from ..kernels import close_gaps, sort_rows

        offsets, codes = self.offsets[self.owners], self.codes.copy()
        sizes = np.empty(self.people, np.int32)
        sort_rows(offsets, codes, 0, self.people, sizes)
        close_gaps(offsets, codes, sizes)
        segments = None if self.segments is None else self.segments.take(self.owners[:-1])
        codes = codes[: offsets[-1]].copy()
        return Baskets(
            offsets, codes, self.vocabulary, segments=segments, lineage=self.lineage, hierarchy=self.hierarchy
        )

    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return what `part` makes of everyone: here they are all together."""
        return part(self)


def on_this_machine(baskets: AnyBaskets, what: str) -> Baskets:
    """Return baskets that lie on this machine; others are refused for `what` looks at them one by one."""
    if not isinstance(baskets, Baskets):
        raise MisuseError(f"{what} looks at baskets one by one, and these lie in a cluster: give a sample as a file.")
    return baskets


def nobody(
    *,
    basket: object = None,
    time: object = None,
    pair: object = None,
    ordered: bool = False,
    names: object = None,
    same_names: str | None = None,
    **_: object,
) -> Baskets:
    """Return the baskets of nobody, over no items, as these options of reading would have read them.

    That there is nobody is private: so what is asked of them, counted and told is what it would be of somebody.
    """
    from ._naming import Names

    ends, codes = np.zeros(1, np.int64), np.empty(0, np.int32)
    known = None if names is None else Names.read(names, same_names or "apart")
    return Baskets(
        ends,
        codes,
        Vocabulary([], known),
        sequences=Sequences(ends, codes) if time is not None or ordered else None,
        pairs=None if pair is None else Pairs(ends, codes, codes),
        owners=None if basket is None else ends,
    )


def _check_rows(
    what: str, offsets: Offsets, codes: Codes, items: int, *beside: NDArray[Any], people: int | None = None
) -> None:
    """See that rows lie end to end, over codes that are there; `beside` has a value for each code."""
    for array in (offsets, *beside):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(f"{what}: offsets and codes are numpy arrays of whole numbers, in one dimension.")
    _check_codes(what, codes, items)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(codes) or bool(np.any(offsets[1:] < offsets[:-1])):
        raise InputError(
            f"{what}: the offsets begin with 0, never descend and end with the number of codes, {len(codes):,}; "
            "those given do not."
        )
    if any(len(array) != len(codes) for array in beside):
        raise InputError(f"{what}: there is one value for each of the {len(codes):,} codes; another number was given.")
    if people is not None and len(offsets) != people + 1:
        raise InputError(f"{what} have rows of {len(offsets) - 1:,} people, and the baskets of {people:,}.")


def _check_codes(what: str, codes: Codes, items: int) -> None:
    """See that each code is that of a label."""
    if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InputError(f"{what}: codes are a numpy array of whole numbers, in one dimension.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < items):
        raise InputError(f"{what}: codes are numbers from 0 on, below the {items:,} labels; some are out of range.")


def _check_sets(offsets: Offsets, codes: Codes) -> None:
    """See that each row ascends: an item held twice would count its person twice."""
    if not _rises_within_rows(offsets, codes, strictly=True):
        raise InputError("Baskets: the codes of each row ascend, and none is there twice; discreet.read() sorts them.")


def _check_owners(owners: Offsets, baskets: int) -> None:
    """See that people's baskets lie end to end, and that everybody has one."""
    good = isinstance(owners, np.ndarray) and owners.ndim == 1 and owners.dtype == np.int64 and len(owners) > 0
    if not good or owners[0] != 0 or owners[-1] != baskets or bool(np.any(owners[1:] <= owners[:-1])):
        raise InputError(f"Baskets: owners rise from 0 to the number of baskets, {baskets:,}; those given do not.")


def _check_one_segment(segments: Codes, owners: Offsets) -> None:
    """Check that all baskets of a person are in one segment: a release by segment is charged once for all segments."""
    if not np.array_equal(np.repeat(segments[owners[:-1]], np.diff(owners)), segments):
        raise InputError(
            "The segments: all baskets of a person are in one segment, and those of some people are in several. Give "
            "each basket the segment of its person."
        )


def _check_pairs(pairs: Pairs) -> None:
    """Check that the pairs of each person ascend: a relation that is given twice would count its person twice."""
    if not _rises_within_rows(pairs.offsets, pairs.first.astype(np.int64) << 32 | pairs.second, strictly=True):
        raise InputError("The pairs: those of each person ascend, and none is there twice; discreet.read() sorts them.")


def _check_moments(offsets: Offsets, moments: Codes | None) -> None:
    """Check that the moments of each person never descend: the order of events is read off them."""
    if moments is not None and not _rises_within_rows(offsets, moments, strictly=False):
        raise InputError("The order: the moments of each person never descend; those given do.")


def _rises_within_rows(offsets: Offsets, values: NDArray[Any], *, strictly: bool) -> bool:
    """Return whether the values of each row ascend; from one row to the next they may do anything."""
    rises = values[1:] > values[:-1] if strictly else values[1:] >= values[:-1]
    edges = offsets[1:-1]
    rises[edges[(edges > 0) & (edges < len(values))] - 1] = True
    return bool(rises.all())


def _same_owners(one: Offsets | None, other: Offsets | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _freeze(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only, and the arrays that they are views of: writing there would change them after all."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner.flags.writeable = False
            owner = owner.base


def starts(sizes: NDArray[Any] | Sequence[int]) -> Offsets:
    """Return where rows of these sizes begin when they lie end to end, and where the last one ends."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_rows(offsets: Offsets, positions: NDArray[np.int64], *columns: NDArray[Any]) -> tuple[Any, ...]:
    """Return some rows in the order of their positions: the offsets they have then, and each of the columns."""
    taken = starts(np.diff(offsets)[positions])
    results = [np.empty(taken[-1], column.dtype) for column in columns]
    for start in range(0, len(positions), _BLOCK):
        block = positions[start : start + _BLOCK]
        here = taken[start : start + len(block) + 1]
        places = np.repeat(offsets[block] - here[:-1], np.diff(here))
        places += np.arange(here[0], here[-1])
        for result, column in zip(results, columns, strict=True):
            result[here[0] : here[-1]] = column[places]
    return taken, *results


def _same(one: object, other: object, names: tuple[str, ...]) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
