"""Telling whether baskets are those a ledger was kept for, without keeping them.

A row becomes one number by a hash under the ledger's secret key; it depends on the labels a person holds, not on
their codes nor on the order of people. Kept are a digest of all these numbers and the smallest 256 of them, a random
sample of the distinct rows. Both say something about the data to whoever has the key (`ledger.md` says what), so
nothing here is ever shown, logged or exported.

All of it is made of sums and of smallest numbers, so people may be looked at in any order and in any grouping: the
fingerprint of baskets in a cluster is that of the same baskets in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...baskets.core import AnyBaskets, Baskets, Vocabulary

Likeness: TypeAlias = Literal["same", "changed", "other"]
Words: TypeAlias = NDArray[np.uint64]

SKETCH = 256
# So many of the smallest hashes are looked at, in memory only: data that grew 256-fold are known by all of a sketch.
LOOKED_AT = 1 << 16
_SUMS = 4  # words that the hashes of rows are added up in, each time mixed anew
_FORM = b"\x02"  # the first byte of a digest; one of 32 bytes is of the sorted hashes, as the first ledgers kept it
_BLOCK = 1 << 16  # people whose rows are added up at a time
_STORED = np.dtype("<u8")


@dataclass(frozen=True, kw_only=True, repr=False)
class Fingerprint:
    """What a ledger keeps about its data: a digest of all rows, how many differ, and the smallest of their hashes."""

    digest: bytes
    distinct: int
    sketch: bytes

    def __repr__(self) -> str:
        return "Fingerprint(…)"


@dataclass(frozen=True, eq=False, repr=False)
class HashedRows:
    """What the hashes of a data set's rows come to under one key, in memory only.

    Parameters
    ----------
    smallest
        Those that differ, in rising order: the smallest `LOOKED_AT`.
    digest
        Of the hashes of all rows.
    """

    smallest: Words
    digest: bytes

    @classmethod
    def of(cls, baskets: AnyBaskets, key: bytes) -> HashedRows:
        """Hash every row: one call of BLAKE2 a label, then sums and shifts over whole arrays."""
        start = np.frombuffer(_keyed(key, b"row").digest(), _STORED).astype(np.uint64)
        part = partial(_summed_up, start=start, labels=_label_hashes(baskets.vocabulary, key))
        sums, smallest = baskets.reduce(part, _put_together)
        return cls(smallest, _FORM + _keyed(key, b"sums", sums.astype(_STORED, copy=False).tobytes(), size=32).digest())

    def __repr__(self) -> str:
        return "Rows(…)"

    @property
    def distinct(self) -> int:
        """How many rows differ; where there are more than were looked at, about so many."""
        if len(self.smallest) < LOOKED_AT:
            return len(self.smallest)
        # The smallest of m even numbers lie as far apart as m of them do (Bar-Yossef et al. 2002).
        return int((LOOKED_AT - 1) * 2**64 / (int(self.smallest[-1]) + 1))

    def fingerprint(self) -> Fingerprint:
        """Return what may be kept."""
        sketch = self.smallest[:SKETCH].astype(_STORED, copy=False).tobytes()
        return Fingerprint(digest=self.digest, distinct=self.distinct, sketch=sketch)

    def likeness(self, known: Fingerprint) -> Likeness:
        """Say whether these are the known rows, or at least half of the fewer of both are among the others.

        Up to the largest hash that was looked at on both sides, membership is known exactly, and the hashes up to there
        are a random sample of either side; the share is estimated within the sample. An empty data set is part of any
        other.
        """
        if self.digest == known.digest or self._as_kept_before(known):
            return "same"
        if known.distinct == 0 or self.distinct == 0:
            return "changed"
        theirs, ours = np.frombuffer(known.sketch, _STORED).astype(np.uint64), self.smallest
        if known.distinct > len(theirs):
            ours = ours[: np.searchsorted(ours, theirs[-1], side="right")]
        if len(self.smallest) == LOOKED_AT:
            theirs = theirs[: np.searchsorted(theirs, self.smallest[-1], side="right")]
        common = len(np.intersect1d(ours, theirs, assume_unique=True))
        fewer = len(theirs) if known.distinct <= self.distinct else len(ours)
        return "changed" if common and 2 * common >= fewer else "other"

    def _as_kept_before(self, known: Fingerprint) -> bool:
        """Say whether a fingerprint of the first form has the same sample of rows, and about as many of them."""
        if known.digest.startswith(_FORM) and len(known.digest) == 33:
            return False
        close = abs(known.distinct - self.distinct) <= (self.distinct // 50 if self.distinct >= LOOKED_AT else 0)
        return close and known.sketch == self.fingerprint().sketch


Summary: TypeAlias = tuple[Words, Words]


def _summed_up(baskets: Baskets, start: Words, labels: Words) -> Summary:
    """Return what some people's rows come to: sums of their hashes, with how many they are, and the smallest.

    A row is all that a person holds: the same people have the same fingerprint whether their baskets are kept apart or
    not, as they have one budget.
    """
    hashes = _mixed(_row_sums(baskets.merged_people(), labels) + start)
    sums = np.zeros(_SUMS + 1, np.uint64)
    for place in range(_SUMS):
        sums[place] = _mixed(hashes + np.uint64(place + 1)).sum(dtype=np.uint64)
    sums[_SUMS] = len(hashes)
    return sums, np.unique(hashes)[:LOOKED_AT]


def _put_together(one: Summary, other: Summary) -> Summary:
    return one[0] + other[0], np.union1d(one[1], other[1])[:LOOKED_AT]


def _keyed(key: bytes, purpose: bytes, text: bytes = b"", size: int = 8) -> blake2b:
    return blake2b(text, digest_size=size, key=key, person=purpose)


def _label_hashes(vocabulary: Vocabulary, key: bytes) -> Words:
    """Return a number for each code; the number 1 and the name "1" have the same, as a file may be read either way."""
    import pyarrow as pa

    started = _keyed(key, b"label")

    def hashed(label: bytes) -> bytes:
        each = started.copy()
        each.update(label)
        return each.digest()

    labels = vocabulary.labels.cast(pa.large_string()).cast(pa.large_binary()).to_pylist()
    return np.frombuffer(b"".join(map(hashed, labels)), _STORED).astype(np.uint64)


def _row_sums(baskets: Baskets, hashes: Words) -> Words:
    """Add up the hashes of each row's items modulo 2^64, so that their order is of no matter."""
    sums = np.empty(len(baskets), np.uint64)
    for first in range(0, len(baskets), _BLOCK):
        places = baskets.offsets[first : first + _BLOCK + 1] - baskets.offsets[first]
        codes = baskets.codes[baskets.offsets[first] : baskets.offsets[first] + places[-1]]
        running = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(hashes[codes], out=running[1:])
        sums[first : first + _BLOCK] = running[places[1:]] - running[places[:-1]]
    return sums


def _mixed(words: Words) -> Words:
    """Scatter sums of hashes, which are related to each other, over all words: the finaliser of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
