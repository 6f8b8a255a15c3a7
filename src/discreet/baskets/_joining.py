"""Rows of several files, one after another, under one vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels import translate
from ._allowance import Allowance
from ._build import Rows, mixture, sort_labels
from ._core import Codes, Offsets, Pairs

_A_ROW = 8  # bytes


def joined(name: str, several: Sequence[Rows], allowed: Allowance) -> Rows:
    """Put rows without people after one another; what they hold must be numbers in all of them, or names."""
    import pyarrow as pa

    allowed.check(name, sum(rows.codes.nbytes + _A_ROW * len(rows.offsets) for rows in several))
    labels = [rows.vocabulary.labels for rows in several if len(rows.vocabulary)]
    if len({rows.vocabulary.numeric for rows in several if len(rows.vocabulary)}) > 1:
        raise mixture(name)
    every = pa.concat_arrays(labels).unique() if labels else pa.array([], pa.int64())
    vocabulary, table = sort_labels(every, None, name)
    place = dict(zip(every.to_pylist(), table.tolist(), strict=True))
    parts = []
    for rows in several:
        codes = np.array([place[label] for label in rows.vocabulary], np.int32)
        parts.append((_recoded(rows.codes, codes), rows.offsets, _pairs(rows, codes)))
    pairs = [pair for *_, pair in parts]
    return Rows(
        offsets=_ends([offsets for _, offsets, _ in parts]),
        codes=np.concatenate([codes for codes, *_ in parts]),
        vocabulary=vocabulary,
        pairs=_joined_pairs(pairs) if any(rows.pairs is not None for rows in several) else None,
        repeated_pairs=sum(rows.repeated_pairs for rows in several),
    )


def _recoded(codes: Codes, table: Codes) -> Codes:
    made = np.empty(len(codes), np.int32)
    translate(codes, table, made)
    return made


def _pairs(rows: Rows, table: Codes) -> Pairs:
    """Return the pairs of rows under new codes, sorted within a row as before: the order of labels is the same."""
    if rows.pairs is None:
        nobody: NDArray[np.int32] = np.empty(0, np.int32)
        return Pairs(np.zeros(len(rows.offsets), np.int64), nobody, nobody)
    return Pairs(rows.pairs.offsets, _recoded(rows.pairs.first, table), _recoded(rows.pairs.second, table))


def _joined_pairs(several: Sequence[Pairs]) -> Pairs:
    return Pairs(
        _ends([pairs.offsets for pairs in several]),
        np.concatenate([pairs.first for pairs in several]),
        np.concatenate([pairs.second for pairs in several]),
    )


def _ends(several: Sequence[Offsets]) -> Offsets:
    """Return where rows end when they follow one another."""
    sizes = np.concatenate([np.diff(offsets) for offsets in several])
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    return ends
