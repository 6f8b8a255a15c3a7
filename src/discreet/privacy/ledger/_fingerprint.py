"""Fingerprint of baskets: comparison of data with the data of earlier spends, without storing baskets.

A row becomes one number by a hash under the ledger's secret key; the number depends on the labels of a person's items,
and not on codes or on the order of people. The stored fingerprint is a digest of all numbers and the smallest 256
numbers, a random sample of the distinct rows. Both reveal facts about the data to a holder of the key (`ledger.md`), so
that no part of this module is ever shown, logged or exported.

All summaries are sums and smallest numbers, which are independent of order and grouping: baskets in a cluster and equal
baskets in a file have equal fingerprints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...baskets import AnyBaskets, Baskets, Vocabulary

Likeness: TypeAlias = Literal["same", "changed", "other"]
Words: TypeAlias = NDArray[np.uint64]

SKETCH = 256  # rows in the stored sample: the share errs by over 0.1 with probability below 0.012 (`ledger.md`)
# The number of smallest hashes in memory: 256 sketches, so that data that grew 256-fold cover the whole sketch.
MAX_HASHES = 1 << 16
_SUMS = 4  # independent sums of row hashes: other data agree in all with probability 2^-256
_FORM = b"\x02"  # the first byte of a digest; a digest of 32 bytes has the first form, a digest of sorted hashes
# People with rows that are added up at a time. Larger takes more memory, smaller more calls; the sums are equal.
_BLOCK = 1 << 16
_STORED = np.dtype("<u8")


@dataclass(frozen=True, kw_only=True, repr=False)
class Fingerprint:
    """The stored fingerprint: a digest of all rows, the number of distinct rows, and the smallest hashes."""

    digest: bytes
    distinct: int
    sketch: bytes

    def __repr__(self) -> str:
        return "Fingerprint(…)"


@dataclass(frozen=True, eq=False, repr=False)
class HashedRows:
    """The summary of the row hashes of a data set under one key, in memory only.

    Parameters
    ----------
    smallest
        The smallest `MAX_HASHES` distinct hashes, in rising order.
    digest
        The digest of the hashes of all rows.
    """

    smallest: Words
    digest: bytes

    @classmethod
    def hash_baskets(cls, baskets: AnyBaskets, key: bytes) -> HashedRows:
        """Hash every row: one call of BLAKE2 for each label, then sums and shifts over whole arrays."""
        start = np.frombuffer(_keyed_hash(key, b"row").digest(), _STORED).astype(np.uint64)
        summarise = partial(_summarise_rows, start=start, label_hashes=_label_hashes(baskets.vocabulary, key))
        sums, smallest = baskets.reduce(summarise, _merge_summaries)
        return cls(
            smallest, _FORM + _keyed_hash(key, b"sums", sums.astype(_STORED, copy=False).tobytes(), size=32).digest()
        )

    def __repr__(self) -> str:
        return "Rows(…)"

    @property
    def distinct(self) -> int:
        """The number of distinct rows; an estimate if there are `MAX_HASHES` or more."""
        if len(self.smallest) < MAX_HASHES:
            return len(self.smallest)
        # m = (k - 1) / (k-th smallest hash / 2^64), k = MAX_HASHES (Bar-Yossef et al. 2002)
        return int((MAX_HASHES - 1) * 2**64 / (int(self.smallest[-1]) + 1))

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint to store."""
        sketch = self.smallest[:SKETCH].astype(_STORED, copy=False).tobytes()
        return Fingerprint(digest=self.digest, distinct=self.distinct, sketch=sketch)

    def likeness(self, stored: Fingerprint) -> Likeness:
        """Return whether the rows are equal, changed (half of the smaller set is in the larger set), or of other data.

        Up to the largest hash present on both sides, membership is exact, and the hashes up to there are a random
        sample of either side; the share is estimated within the sample. An empty data set is part of any data set.
        """
        if self.digest == stored.digest or self._matches_first_form(stored):
            return "same"
        if stored.distinct == 0 or self.distinct == 0:
            return "changed"
        stored_hashes, row_hashes = np.frombuffer(stored.sketch, _STORED).astype(np.uint64), self.smallest
        if stored.distinct > len(stored_hashes):
            row_hashes = row_hashes[: np.searchsorted(row_hashes, stored_hashes[-1], side="right")]
        if len(self.smallest) == MAX_HASHES:
            stored_hashes = stored_hashes[: np.searchsorted(stored_hashes, self.smallest[-1], side="right")]
        common_count = len(np.intersect1d(row_hashes, stored_hashes, assume_unique=True))
        smaller_count = len(stored_hashes) if stored.distinct <= self.distinct else len(row_hashes)
        return "changed" if common_count and 2 * common_count >= smaller_count else "other"

    def _matches_first_form(self, stored: Fingerprint) -> bool:
        """Return whether a fingerprint of the first form has an equal sample, and a similar number of distinct rows."""
        if stored.digest.startswith(_FORM) and len(stored.digest) == 33:
            return False
        is_close = abs(stored.distinct - self.distinct) <= (self.distinct // 50 if self.distinct >= MAX_HASHES else 0)
        return is_close and stored.sketch == self.fingerprint().sketch


Summary: TypeAlias = tuple[Words, Words]


def _summarise_rows(baskets: Baskets, start: Words, label_hashes: Words) -> Summary:
    """Return the summary of some rows: sums of hashes, the number of rows, and the smallest hashes.

    A row is the union of a person's baskets, merged or not: a person has one budget, and so one row.
    """
    hashes = _mix_words(_row_sums(baskets.merged_people(), label_hashes) + start)
    sums = np.zeros(_SUMS + 1, np.uint64)
    for place in range(_SUMS):
        sums[place] = _mix_words(hashes + np.uint64(place + 1)).sum(dtype=np.uint64)
    sums[_SUMS] = len(hashes)
    return sums, np.unique(hashes)[:MAX_HASHES]


def _merge_summaries(left_summary: Summary, right_summary: Summary) -> Summary:
    return left_summary[0] + right_summary[0], np.union1d(left_summary[1], right_summary[1])[:MAX_HASHES]


def _keyed_hash(key: bytes, purpose: bytes, text: bytes = b"", size: int = 8) -> blake2b:
    return blake2b(text, digest_size=size, key=key, person=purpose)


def _label_hashes(vocabulary: Vocabulary, key: bytes) -> Words:
    """Return the hash of each label; the number 1 and the text "1" have one hash, as a file may be read either way."""
    import pyarrow as pa

    keyed_start = _keyed_hash(key, b"label")

    def hash_label(label: bytes) -> bytes:
        state = keyed_start.copy()
        state.update(label)
        return state.digest()

    texts = vocabulary.labels.cast(pa.large_string())
    if vocabulary.names is not None:
        # Names of codes are replaced by the original labels: equal data match with and without names.
        texts = pa.array(vocabulary.names.origins(texts.to_pylist()), pa.large_string())
    labels = texts.cast(pa.large_binary()).to_pylist()
    return np.frombuffer(b"".join(map(hash_label, labels)), _STORED).astype(np.uint64)


def _row_sums(baskets: Baskets, hashes: Words) -> Words:
    """Return the sum of item hashes of each row modulo 2^64, which is independent of item order."""
    sums = np.empty(len(baskets), np.uint64)
    for start in range(0, len(baskets), _BLOCK):
        places = baskets.offsets[start : start + _BLOCK + 1] - baskets.offsets[start]
        codes = baskets.codes[baskets.offsets[start] : baskets.offsets[start] + places[-1]]
        # Differences of running sums modulo 2^64 are exact, even after an overflow.
        running = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(hashes[codes], out=running[1:])
        sums[start : start + _BLOCK] = running[places[1:]] - running[places[:-1]]
    return sums


def _mix_words(words: Words) -> Words:
    """Return words scattered over all 64 bits, from related sums: the finaliser of SplitMix64."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
