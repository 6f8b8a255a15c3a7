"""Which baskets of a person take part where a cap says how many may: one more person is one more person after it.

As with cutting rows (`truncate`), what a person keeps is a function of that person's baskets and segment, of
public arguments, of a key, which is a secret drawn once per release, and of the *copy*: how many equal people come
before the person. Equal people have the same baskets in any order, and the same segment. Neither the baskets of others,
nor the order in which baskets or people come, nor how items are numbered has a part in it.

So m equal people keep f(0), ..., f(m - 1), in some order. One more of them adds f(m), one fewer takes f(m - 1) away,
and everybody else keeps the same: whatever the key, data that differ in one person still differ in one person, who then
has at most so many baskets (`publish/basket_cap.md`). Which of the equal people keeps f(0) depends on their order: so
this is for questions about people as a whole, not for people with something else beside their baskets and segment.

Each basket of a person has a *mark*, mixed from the key, from its own items and from how many equal ones the person has
before it; the *fate* of a person is mixed from all the marks, the segment and the copy. The baskets with the smallest
mixtures of mark and fate are kept. Any choice is about as likely as any other, and people choose independently of each
other, equal ones too: what is drawn averages out over people. Intervals rest on how well words are mixed; no promise of
privacy does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import parse_positive
from ..errors import MisuseError
from ..kernels import number_equal

if TYPE_CHECKING:
    from ._core import AnyBaskets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

MOST_BASKETS = 1_000_000


def checked_cap(max_baskets: Any, held: AnyBaskets) -> int | None:
    """Return how many baskets of each person take part, where that was said and there may be several."""
    if max_baskets is not None and not held.several:
        raise MisuseError.format(
            "{max_baskets} is for people with several baskets: read them with {basket=}, the column that tells "
            "the baskets of a person apart."
        )
    if max_baskets is None or not held.several:
        return None
    if parse_positive("max_baskets", max_baskets) > MOST_BASKETS:
        raise MisuseError.format(
            "{max_baskets} is at most {many:,}; {given} was given.", many=MOST_BASKETS, given=max_baskets
        )
    return int(max_baskets)


@dataclass(frozen=True, eq=False)
class SegmentOfPeople:
    """The code of each person's segment, and what each code is marked by: its numbering may depend on other people."""

    codes: I32
    names: U64


@dataclass(frozen=True, eq=False)
class PeopleOverCap:
    """The people with more baskets than may take part, and their baskets in an order that no input order decides.

    Parameters
    ----------
    people
        Their numbers, ascending.
    starts
        Person ``people[i]`` has the entries from ``starts[i]`` to before ``starts[i + 1]`` of the other two arrays.
    baskets
        The numbers of their baskets, in the order of the marks.
    marks
        The mark of each of these baskets; equal baskets of one person have different marks.
    """

    people: I64
    starts: I64
    baskets: I64
    marks: U64

    @classmethod
    def of(cls, owners: I64, offsets: I64, codes: I32, names: U64, most: int, key: int) -> PeopleOverCap:
        """Return the people with more than `most` baskets; the parameters are those of :func:`kept_baskets`."""
        counts = np.diff(owners)
        people = np.flatnonzero(counts > most)
        sizes = counts[people]
        starts = np.append(_starts(sizes), sizes.sum())
        person_of = np.repeat(np.arange(len(people)), sizes)
        places = np.arange(len(person_of))
        baskets = np.repeat(owners[people] - starts[:-1], sizes) + places
        marks = _basket_marks(offsets, codes, names, baskets, np.uint64(key))
        order = np.lexsort((marks, person_of))
        baskets, marks = baskets[order], marks[order]
        # Equal baskets have equal marks: each mark is mixed with the number of equal ones before it.
        is_new = np.diff(marks, prepend=~marks[:1]) != 0
        is_new |= np.diff(person_of, prepend=-1) != 0
        equal_before = places - np.maximum.accumulate(np.where(is_new, places, 0))
        return cls(people, starts, baskets, _mixed(marks ^ _mixed(equal_before.astype(np.uint64))))

    def rows(self, offsets: I64, codes: I32, segments: I32 | None) -> tuple[I64, I32]:
        """Return all that each of these people has as a row of numbers, as offsets and numbers.

        A row is the code of the segment, the number of baskets, the size of each basket, and their items end to end.
        Rows of equal people are equal, and rows of others differ. (Were two different baskets of one person marked
        alike, which 64 bits make unlikely, their order would be that of the data: then people who are equal might pass
        for different ones. What a person keeps would still be a function of the row and the copy.)
        """
        counts = np.diff(self.starts)
        basket_sizes = (offsets[1:] - offsets[:-1])[self.baskets]
        items_before = np.append(0, np.cumsum(basket_sizes))[self.starts]
        row_offsets = items_before + self.starts + 2 * np.arange(len(self.starts))
        numbers = np.empty(int(row_offsets[-1]), np.int32)
        numbers[row_offsets[:-1]] = 0 if segments is None else segments[self.people]
        numbers[row_offsets[:-1] + 1] = counts
        numbers[_places(row_offsets[:-1] + 2, counts)] = basket_sizes
        items = codes[_places(offsets[self.baskets], basket_sizes)]
        numbers[_places(row_offsets[:-1] + 2 + counts, np.diff(items_before))] = items
        return row_offsets, numbers

    def left_out(self, most: int, copies: I32, segments: SegmentOfPeople | None) -> I64:
        """Return the numbers of the baskets that do not take part, where so many equal people precede each person."""
        fates = _mixed(np.bitwise_xor.reduceat(self.marks, self.starts[:-1]))
        fates = _mixed(fates ^ _mixed(copies.astype(np.uint64)))
        if segments is not None:
            fates = _mixed(fates ^ _mixed(segments.names[segments.codes[self.people]]))
        counts = np.diff(self.starts)
        person_of = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((_mixed(self.marks ^ fates[person_of]), person_of))
        ranks = np.arange(len(order)) - np.repeat(self.starts[:-1], counts)
        return self.baskets[order[ranks >= most]]


def kept_baskets(
    owners: I64,
    offsets: I64,
    codes: I32,
    names: U64,
    most: int,
    key: int,
    segments: SegmentOfPeople | None = None,
    copies: I32 | None = None,
) -> I64:
    """Return the numbers of the baskets that take part, ascending: at most `most` of each person.

    Parameters
    ----------
    owners
        Person i has the baskets from ``owners[i]`` to before ``owners[i + 1]``.
    offsets, codes
        The baskets.
    names
        What each code is marked by: its numbering may depend on other people.
    most
        How many baskets a person may keep, 1 or more.
    key
        64 secret bits, drawn once per release.
    segments
        The segment of each person, where people have one.
    copies
        How many equal people come before each person, where not all of these are here; otherwise they are counted.

    Examples
    --------
    >>> baskets = np.array([0, 1, 2, 3, 4]), np.array([4, 5, 4, 5], np.int32)
    >>> kept = kept_baskets(np.array([0, 3, 4]), *baskets, np.arange(6, dtype=np.uint64), most=2, key=7)
    >>> len(kept), int(kept[-1])
    (3, 3)
    """
    over = PeopleOverCap.of(owners, offsets, codes, names, most, key)
    takes_part = np.ones(len(offsets) - 1, np.bool_)
    if len(over.people):
        if copies is None:
            rows = over.rows(offsets, codes, None if segments is None else segments.codes)
            copies_over = number_equal(*rows, key)
        else:
            copies_over = copies[over.people]
        takes_part[over.left_out(most, copies_over, segments)] = False
    return np.flatnonzero(takes_part)


def _basket_marks(offsets: I64, codes: I32, names: U64, baskets: I64, key: np.uint64) -> U64:
    """Return a mark of each of these baskets that its items decide, whatever their order."""
    sizes = offsets[baskets + 1] - offsets[baskets]
    items = codes[_places(offsets[baskets], sizes)]
    marks = sizes.astype(np.uint64)
    filled = np.flatnonzero(sizes)
    if len(filled):
        marks[filled] ^= np.bitwise_xor.reduceat(_mixed(names[items] ^ key), _starts(sizes)[filled])
    return _mixed(marks ^ key)


def _mixed(words: U64) -> U64:
    """Return words of which every bit depends on every bit of the given ones, one to one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _places(firsts: I64, sizes: I64) -> I64:
    """Return the places ``firsts[i], firsts[i] + 1, ...`` of runs of these sizes, end to end."""
    return np.repeat(firsts - _starts(sizes), sizes) + np.arange(int(sizes.sum()))


def _starts(sizes: I64) -> I64:
    return np.cumsum(sizes) - sizes
