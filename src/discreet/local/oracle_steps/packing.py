"""Reports as words of 32 bits: how they travel in batches and lie in a store, between columns and rows of words.

A report of one question always has the same number of words, so many of them are one array. The table in
`docs/wire.md` says which words an oracle has; here it stands once for both directions. Words come from anybody: what is
no report of this oracle for this question is found by looking at whole columns, and costs no other report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import MisuseError
from .reading import Report, ReportColumns

Words: TypeAlias = NDArray[np.uint32]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """How the reports of an oracle are words.

    `names` are the columns in the order of the words; where there is one, it may be of several words (`wide`). `good`
    says which rows are reports of the oracle. Columns `narrow` are counted with in 32 bits, and all others in 64.
    """

    names: tuple[str, ...]
    good: Callable[[Any, Words], Mask]
    wide: bool = False
    narrow: frozenset[str] = frozenset()


def _hashed(bound: str | None) -> Callable[[Any, Words], Mask]:
    """Return the check of a seed, whose first number is odd, and a number below what the oracle calls `bound`."""

    def good(oracle: Any, words: Words) -> Mask:
        odd: Mask = (words[:, 0] & 1) == 1
        return odd if bound is None else np.logical_and(odd, words[:, 2] < getattr(oracle, bound))

    return good


def _below(bound: str) -> Callable[[Any, Words], Mask]:
    return lambda oracle, words: words[:, 0] < getattr(oracle, bound)


def _ascending(oracle: Any, words: Words) -> Mask:
    rises: Mask = np.logical_and.reduce(words[:, 1:] > words[:, :-1], axis=1)
    below: Mask = words[:, -1] < oracle.symbols_in_all
    return rises & below


def _either(oracle: Any, words: Words) -> Mask:
    # A point is a report only where the coin may fall for it.
    bound = np.where(words[:, 0] == 1, oracle.pm.points, 2)
    return np.logical_and(words[:, 0] <= bool(oracle.choose), words[:, 1] < bound)


_SUBSETS = _Layout(names=("values",), good=_ascending, wide=True)
_SEED = frozenset({"first", "second"})
_LAYOUTS = {
    "grr": _Layout(names=("value",), good=_below("symbols_in_all")),
    "olh": _Layout(names=("first", "second", "value"), good=_hashed("buckets"), narrow=_SEED),
    "subset": _SUBSETS,
    "privset": _SUBSETS,
    "wheel": _Layout(names=("first", "second", "point"), good=_hashed(None), narrow=_SEED | {"point"}),
    "geometry": _Layout(names=("point",), good=_below("points")),
    "duchi": _Layout(names=("sign",), good=lambda oracle, words: words[:, 0] < 2),
    "pm": _Layout(names=("point",), good=_below("points")),
    "hm": _Layout(names=("kind", "value"), good=_either),
}


def _numbered(place: str) -> _Layout:
    """Return the layout of reports with published seeds: a number of one and a place."""
    return _Layout(
        names=("seed", place),
        good=lambda oracle, words: np.logical_and(words[:, 0] < oracle.seeds, words[:, 1] < oracle.places),
        narrow=frozenset({"seed"}),
    )


_NUMBERED = {"olh": _numbered("value"), "wheel": _numbered("point")}


def _layout(oracle: Any) -> _Layout:
    layouts = _LAYOUTS if getattr(oracle, "seeds", None) is None else _NUMBERED
    if oracle.name not in layouts:
        raise MisuseError(f"No device answers through {oracle.name}, so its reports are not packed.")
    return layouts[oracle.name]


def width(oracle: Any) -> int:
    """Return how many words a report of this oracle has."""
    layout = _layout(oracle)
    return int(oracle.many) if layout.wide else len(layout.names)


def pack(oracle: Any, columns: ReportColumns) -> Words:
    """Return reports as rows of words, from the columns that the oracle reads or makes.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.local.oracle_steps.choice import make
    >>> oracle = make("olh", Fraction(1), 10)
    >>> pack(oracle, oracle.read([b'{"seed":[7,9],"value":1}']).columns).tolist()
    [[7, 9, 1]]
    """
    layout = _layout(oracle)
    if layout.wide:
        return columns[layout.names[0]].astype(np.uint32).reshape(-1, width(oracle))
    return np.stack([columns[name].astype(np.uint32) for name in layout.names], axis=1)


def flat(report: Report) -> list[int]:
    """Return one report as it travels as its words: for whoever has the question and no oracle.

    Examples
    --------
    >>> flat({"seed": [7, 9], "value": 1}), flat({"pm": {"point": 5}}), flat({"duchi": {"sign": 0}})
    ([7, 9, 1], [1, 5], [0, 0])
    """
    words: list[int] = []
    for name, value in report.items():
        if isinstance(value, dict):
            words += [int(name == "pm"), *flat(value)]
        else:
            words += value if isinstance(value, list) else [value]
    return words


def good(oracle: Any, words: Words) -> Mask:
    """Return which rows of words are reports of this oracle for its question."""
    if words.ndim != 2 or words.shape[1] != width(oracle):
        raise MisuseError(f"A report of {oracle.name} has {width(oracle):,} words; {words.shape} were given.")
    return _layout(oracle).good(oracle, words)


def unpack(oracle: Any, words: Words) -> ReportColumns:
    """Return rows of words, all of them good, as the columns that the oracle adds up."""
    layout = _layout(oracle)
    if layout.wide:
        return {layout.names[0]: words.astype(np.int32)}
    return {
        name: np.ascontiguousarray(words[:, at]) if name in layout.narrow else words[:, at].astype(np.int64)
        for at, name in enumerate(layout.names)
    }
