"""Telling whether baskets are those a ledger was kept for, without keeping them.

A row becomes one number by a hash under the ledger's secret key; it depends on the labels a person holds, not on
their codes nor on the order of people. Kept are a digest of all these numbers and the smallest 256 of them, a random
sample of the distinct rows. Both say something about the data to whoever has the key (`ledger.md` says what), so
nothing here is ever shown, logged or exported.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...baskets.core import Baskets, Vocabulary

Likeness: TypeAlias = Literal["same", "changed", "other"]
Words: TypeAlias = NDArray[np.uint64]

SKETCH = 256
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
    """The hashes of a data set's rows under one key, in memory only: those that differ, and the digest of all."""

    distinct: Words
    digest: bytes

    @classmethod
    def of(cls, baskets: Baskets, key: bytes) -> HashedRows:
        """Hash every row: one call of BLAKE2 a label, then sums and shifts over whole arrays."""
        start = np.frombuffer(_keyed(key, b"row").digest(), _STORED).astype(np.uint64)
        hashes = _mixed(_row_sums(baskets, _label_hashes(baskets.vocabulary, key)) + start)
        hashes.sort()
        first = np.ones(len(hashes), np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
        return cls(hashes[first], _keyed(key, b"rows", hashes.astype(_STORED, copy=False).tobytes(), size=32).digest())

    def __repr__(self) -> str:
        return "Rows(…)"

    def fingerprint(self) -> Fingerprint:
        """Return what may be kept."""
        sketch = self.distinct[:SKETCH].astype(_STORED, copy=False).tobytes()
        return Fingerprint(digest=self.digest, distinct=len(self.distinct), sketch=sketch)

    def likeness(self, known: Fingerprint) -> Likeness:
        """Say whether these are the known rows, or at least half of the fewer of both are among the others.

        Up to the largest hash of a full sketch, membership of the known rows is known exactly, and the hashes up to
        there are a random sample of either side; the share is estimated within the sample. An empty data set is part of
        any other.
        """
        if self.digest == known.digest:
            return "same"
        if known.distinct == 0 or len(self.distinct) == 0:
            return "changed"
        sketch = np.frombuffer(known.sketch, _STORED).astype(np.uint64)
        ours = self.distinct
        if known.distinct > len(sketch):
            ours = ours[: np.searchsorted(ours, sketch[-1], side="right")]
        common = len(np.intersect1d(ours, sketch, assume_unique=True))
        fewer = len(sketch) if known.distinct <= len(self.distinct) else len(ours)
        return "changed" if common and 2 * common >= fewer else "other"


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
