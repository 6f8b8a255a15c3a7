"""The draw of at most `max_baskets` baskets of each person, as a function of the person alone.

The draw of a person depends on the person's baskets and segment, on public arguments, on a secret key that is drawn
once per release, and on the *copy*: the number of equal people before the person. Equal people have equal baskets, in
any order, and equal segments. The draw depends neither on the baskets of different people, nor on the order of
baskets or people, nor on the codes of items.

So m equal people keep f(0), ..., f(m - 1) in some order. One more equal person adds f(m), one fewer removes f(m - 1),
and all remaining people keep their draws: for every key, data that differ in one person still differ in one person,
with at most `max_baskets` baskets (`publish/basket_cap.md`). The order of equal people decides the assignment of
f(0), ..., f(m - 1), so this draw is only for queries that sum over people.

Each basket of a person has a *mark*, mixed from the key, its items and the number of equal baskets of the person before
it. The *fate* of a person is mixed from all marks, the segment and the copy. The person keeps the baskets with the
smallest mixtures of mark and fate. All choices are about equally likely, and people, also equal people, choose
independently. Intervals rest on the quality of this mixing; the privacy guarantee does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import is_whole, parse_positive
from ..errors import MisuseError
from ..kernels import number_equal
from ._core import Baskets, Offsets, take_rows

if TYPE_CHECKING:
    from ._core import AnyBaskets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

MOST_BASKETS = 1_000_000  # above any real number of baskets per person: a larger cap is a typing error


def resolve_basket_cap(max_baskets: Any, baskets: AnyBaskets) -> int | None:
    """Return `max_baskets` as an int, checked; None if no cap is set or each person has one basket."""
    if max_baskets is not None and not baskets.has_receipts:
        raise MisuseError.format(
            "{max_baskets} is for people with several baskets: read them with {basket=}, the column that tells "
            "the baskets of a person apart."
        )
    # Without several baskets per person there is nothing to cap.
    if max_baskets is None or not baskets.has_receipts:
        return None
    if parse_positive("max_baskets", max_baskets) > MOST_BASKETS:
        raise MisuseError.format(
            "{max_baskets} is at most {many:,}; {given} was given.", many=MOST_BASKETS, given=max_baskets
        )
    return int(max_baskets)


@dataclass(frozen=True, eq=False)
class SegmentOfPeople:
    """The segment code of each person, and a 64-bit identity of each segment, as codes may depend on other people."""

    codes: I32
    names: U64


@dataclass(frozen=True, eq=False)
class PeopleOverCap:
    """The people with more than the allowed number of baskets, and their baskets in an order independent of the input.

    Parameters
    ----------
    people
        The numbers of the people, ascending.
    starts
        Person ``people[i]`` has the entries from ``starts[i]`` to before ``starts[i + 1]`` of `baskets` and `marks`.
    baskets
        The numbers of the baskets of the people, in the order of the marks.
    marks
        The mark of each basket; equal baskets of one person have different marks.
    """

    people: I64
    starts: I64
    baskets: I64
    marks: U64

    @classmethod
    def find(cls, owners: I64, offsets: I64, codes: I32, names: U64, most: int, key: int) -> PeopleOverCap:
        """Return the people with more than `most` baskets; parameters are as in :func:`select_baskets`."""
        counts = np.diff(owners)
        people = np.flatnonzero(counts > most)
        sizes = counts[people]
        starts = np.append(_starts(sizes), sizes.sum())
        person_of = np.repeat(np.arange(len(people)), sizes)
        positions = np.arange(len(person_of))
        baskets = np.repeat(owners[people] - starts[:-1], sizes) + positions
        marks = _basket_marks(offsets, codes, names, baskets, np.uint64(key))
        # Marks, not positions, order the baskets: the input order has no influence.
        order = np.lexsort((marks, person_of))
        baskets, marks = baskets[order], marks[order]
        # Equal baskets have equal marks, so each mark is mixed with the number of equal baskets before it.
        is_new = np.diff(marks, prepend=~marks[:1]) != 0
        is_new |= np.diff(person_of, prepend=-1) != 0
        equal_before = positions - np.maximum.accumulate(np.where(is_new, positions, 0))
        return cls(people, starts, baskets, _mix(marks ^ _mix(equal_before.astype(np.uint64))))

    def rows(self, offsets: I64, codes: I32, segments: I32 | None) -> tuple[I64, I32]:
        """Return the baskets and segment of each person as a row of numbers: offsets, and the rows end to end.

        A row is the code of the segment, the number of baskets, the size of each basket, and the items of all baskets.
        Rows of equal people are equal, rows of different people differ. (If two different baskets of a person had
        equal marks, with a probability of about 2**-64, their order would be the input order, and equal people might
        have different rows. The draw would still be a function of the row and the copy.)
        """
        counts = np.diff(self.starts)
        basket_sizes = (offsets[1:] - offsets[:-1])[self.baskets]
        items_before = np.append(0, np.cumsum(basket_sizes))[self.starts]
        row_offsets = items_before + self.starts + 2 * np.arange(len(self.starts))
        numbers = np.empty(int(row_offsets[-1]), np.int32)
        numbers[row_offsets[:-1]] = 0 if segments is None else segments[self.people]
        numbers[row_offsets[:-1] + 1] = counts
        numbers[_list_positions(row_offsets[:-1] + 2, counts)] = basket_sizes
        items = codes[_list_positions(offsets[self.baskets], basket_sizes)]
        numbers[_list_positions(row_offsets[:-1] + 2 + counts, np.diff(items_before))] = items
        return row_offsets, numbers

    def select_excluded(self, most: int, copies: I32, segments: SegmentOfPeople | None) -> I64:
        """Return the numbers of the baskets that a person does not keep; `copies` is the copy of each person."""
        # An XOR is independent of the order of the marks.
        fates = _mix(np.bitwise_xor.reduceat(self.marks, self.starts[:-1]))
        fates = _mix(fates ^ _mix(copies.astype(np.uint64)))
        if segments is not None:
            fates = _mix(fates ^ _mix(segments.names[segments.codes[self.people]]))
        counts = np.diff(self.starts)
        person_of = np.repeat(np.arange(len(counts)), counts)
        # The person keeps the baskets with the smallest mixtures.
        order = np.lexsort((_mix(self.marks ^ fates[person_of]), person_of))
        ranks = np.arange(len(order)) - np.repeat(self.starts[:-1], counts)
        return self.baskets[order[ranks >= most]]


def select_baskets(
    owners: I64,
    offsets: I64,
    codes: I32,
    names: U64,
    most: int,
    key: int,
    segments: SegmentOfPeople | None = None,
    copies: I32 | None = None,
) -> I64:
    """Return the numbers of the baskets that people keep, ascending: at most `most` of each person.

    Parameters
    ----------
    owners
        Person i has the baskets from ``owners[i]`` to before ``owners[i + 1]``.
    offsets, codes
        The baskets.
    names
        A 64-bit identity of each item, by code; the codes themselves may depend on other people.
    most
        The largest number of baskets that a person keeps, 1 or more.
    key
        64 secret bits, drawn once per release.
    segments
        The segment of each person, if baskets have segments.
    copies
        The number of equal people before each person, if the arrays have only a part of the people; None to count.

    Examples
    --------
    >>> baskets = np.array([0, 1, 2, 3, 4]), np.array([4, 5, 4, 5], np.int32)
    >>> kept = select_baskets(np.array([0, 3, 4]), *baskets, np.arange(6, dtype=np.uint64), most=2, key=7)
    >>> len(kept), int(kept[-1])
    (3, 3)
    """
    over_cap = PeopleOverCap.find(owners, offsets, codes, names, most, key)
    is_kept = np.ones(len(offsets) - 1, np.bool_)
    if len(over_cap.people):
        if copies is None:
            rows = over_cap.rows(offsets, codes, None if segments is None else segments.codes)
            copies_over_cap = number_equal(*rows, key)
        else:
            copies_over_cap = copies[over_cap.people]
        is_kept[over_cap.select_excluded(most, copies_over_cap, segments)] = False
    return np.flatnonzero(is_kept)


def _basket_marks(offsets: I64, codes: I32, names: U64, baskets: I64, key: np.uint64) -> U64:
    """Return a mark of each basket, which depends on the set of its items and on the key."""
    sizes = offsets[baskets + 1] - offsets[baskets]
    items = codes[_list_positions(offsets[baskets], sizes)]
    marks = sizes.astype(np.uint64)
    nonempty = np.flatnonzero(sizes)
    if len(nonempty):
        marks[nonempty] ^= np.bitwise_xor.reduceat(_mix(names[items] ^ key), _starts(sizes)[nonempty])
    return _mix(marks ^ key)


def _mix(words: U64) -> U64:
    """Return a bijective mixture of 64-bit words, in which every bit depends on every bit of the input."""
    # The finaliser of SplitMix64: Steele, Lea, Flood 2014, with the constants of Stafford's variant 13.
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _list_positions(firsts: I64, sizes: I64) -> I64:
    """Return the positions ``firsts[i], firsts[i] + 1, ...`` of runs of `sizes`, end to end."""
    return np.repeat(firsts - _starts(sizes), sizes) + np.arange(int(sizes.sum()))


def _starts(sizes: I64) -> I64:
    """Return the start of each of several runs that lie end to end."""
    return np.cumsum(sizes) - sizes


def spawn_seeds(seed: int, streams: int) -> list[np.random.SeedSequence]:
    """Return the seeds of independent streams, derived from a seed of the user."""
    if not is_whole(seed) or seed < 0:
        raise MisuseError.format("{seed} is {given!r}; it must be a whole number, 0 or more: try {seed=0}.", given=seed)
    return np.random.SeedSequence(int(seed)).spawn(streams)


def resample(baskets: Baskets, people: int, seed: int = 0) -> Baskets:
    """Return baskets of people drawn uniformly, with replacement.

    A person is drawn with all baskets, order, pairs and segment. The vocabulary stays unchanged, so an item may be in
    no basket.

    Parameters
    ----------
    baskets
        The baskets of the people to draw from: at least one person.
    people
        The number of draws, 0 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> from discreet.baskets._generate import quest
    >>> resample(quest(100, 50, mean_size=4, mean_pattern=2), 1_000, seed=7).people
    1000
    """
    if not is_whole(people) or people < 0:
        raise MisuseError.format("{people} is {given!r}; it must be a whole number, 0 or more.", given=people)
    if people > 0 and baskets.people == 0:
        raise MisuseError(f"There is nobody to draw {people:,} people from: give baskets of at least one person.")
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    # All draws are made at once: equal seeds give equal samples for any layout of the data.
    rows = source.integers(baskets.people, size=people) if people else np.zeros(0, dtype=np.int64)
    owners = None
    if baskets.owners is not None:
        # People are drawn, and then all baskets of each drawn person.
        owners, rows = take_rows(baskets.owners, rows, np.arange(len(baskets)))
    return _take_baskets(baskets, rows, owners)


def draw_one_basket_each(baskets: Baskets, seed: int = 0) -> Baskets:
    """Return one basket of each person, drawn uniformly.

    Draws of different people are independent, so the drawn baskets are as independent as the people are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import read
    >>> table = pa.table({"who": [1, 1, 2], "bill": [1, 2, 1], "what": ["tea", "milk", "jam"]})
    >>> sample = draw_one_basket_each(read(table, person="who", basket="bill", item="what"), seed=7)
    >>> sample.people, sample.has_receipts
    (2, False)
    """
    if baskets.owners is None:
        return baskets
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    rows = baskets.owners[:-1] + source.integers(np.diff(baskets.owners))
    return _take_baskets(baskets, rows, None)


def _take_baskets(baskets: Baskets, rows: NDArray[np.int64], owners: Offsets | None) -> Baskets:
    """Return the baskets at `rows`, which may repeat, with their order, pairs and segments."""
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    parts: dict[str, Any] = {name: getattr(baskets, name) for name in ("sequences", "pairs", "segments")}
    parts = {name: None if part is None else part.take(rows) for name, part in parts.items()}
    return replace(baskets, offsets=offsets, codes=codes, owners=owners, merged=0, **parts)
