"""Which baskets of a person are kept where only so many may be: a choice that is local to the person.

As with cutting rows (`kernels/truncate.py`), what is kept is a function of that person's baskets, of public arguments
and of a key, a secret drawn once per release: not of other people, nor of the order in which baskets or people come.
So whatever the key, data that differ in one person still differ in at most one person, who then has at most so many
baskets.

Each basket of a person has a *mark*, mixed from the key, from all the person's baskets, from its own items and from how
many equal ones the person has before it; those with the smallest marks are kept. Marks only have to be even, so that
any choice is about as likely as any other: no promise rests on how well they are mixed. People whose baskets are all
the same keep the same ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import positive
from ..errors import MisuseError, told

if TYPE_CHECKING:
    from .core import AnyBaskets

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]

MOST_BASKETS = 1_000_000


def checked_cap(max_baskets: Any, held: AnyBaskets) -> int | None:
    """Return how many baskets of each person take part, where that was said and there may be several."""
    if max_baskets is not None and not held.several:
        raise MisuseError(
            told(
                "{max_baskets} is for people with several baskets: read them with {basket=}, the column that tells "
                "the baskets of a person apart."
            )
        )
    if max_baskets is None or not held.several:
        return None
    if positive("max_baskets", max_baskets) > MOST_BASKETS:
        raise MisuseError(
            told("{max_baskets} is at most {many:,}; {given} was given.", many=MOST_BASKETS, given=max_baskets)
        )
    return int(max_baskets)


def kept_baskets(owners: I64, offsets: I64, codes: I32, names: U64, most: int, key: int) -> I64:
    """Return which baskets are kept, in their order: at most `most` of each person.

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

    Examples
    --------
    >>> baskets = np.array([0, 1, 2, 3, 4]), np.array([4, 5, 4, 5], np.int32)
    >>> kept = kept_baskets(np.array([0, 3, 4]), *baskets, np.arange(6, dtype=np.uint64), most=2, key=7)
    >>> len(kept), int(kept[-1])
    (3, 3)
    """
    many = np.diff(owners)
    over = np.flatnonzero(many > most)
    if not len(over):
        return np.arange(len(offsets) - 1)
    sizes = many[over]
    whose = np.repeat(np.arange(len(over)), sizes)
    baskets = np.repeat(owners[over] - _starts(sizes), sizes) + np.arange(len(whose))
    marks = _marks(offsets, codes, names, baskets, np.uint64(key))
    together = _mixed(np.bitwise_xor.reduceat(marks, _starts(sizes)))
    # Those that are equal have equal marks: each is told how many come before it.
    order = np.lexsort((marks, whose))
    new = np.diff(marks[order], prepend=~marks[order[:1]]) != 0
    new |= np.diff(whose[order], prepend=-1) != 0
    places = np.arange(len(order))
    before = places - np.maximum.accumulate(np.where(new, places, 0))
    marks[order] ^= _mixed(before.astype(np.uint64))
    order = np.lexsort((_mixed(marks ^ together[whose]), whose))
    rank = places - np.repeat(_starts(sizes), sizes)
    kept = np.ones(len(offsets) - 1, np.bool_)
    kept[baskets[order[rank >= most]]] = False
    return np.flatnonzero(kept)


def _marks(offsets: I64, codes: I32, names: U64, baskets: I64, key: np.uint64) -> U64:
    """Return a mark of each of these baskets that its items decide, whatever their order."""
    sizes = offsets[baskets + 1] - offsets[baskets]
    held = np.repeat(offsets[baskets] - _starts(sizes), sizes) + np.arange(int(sizes.sum()))
    marks = sizes.astype(np.uint64)
    filled = np.flatnonzero(sizes)
    if len(filled):
        marks[filled] ^= np.bitwise_xor.reduceat(_mixed(names[codes[held]] ^ key), _starts(sizes)[filled])
    return _mixed(marks ^ key)


def _mixed(words: U64) -> U64:
    """Return words of which every bit depends on every bit of the given ones, one to one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _starts(sizes: I64) -> I64:
    return np.cumsum(sizes) - sizes
