"""Why one interval of a result is wide and the next narrow: what its numbers show of that, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..results import Patterns, Provenance, margins_of
from ._contents import asked_in
from ._text import named, number_of, whole

_UNEQUAL = 1.3  # times as wide as another an interval is before anybody asks why
_FEW, _MANY = 5, 1_000  # counts that are compared in pairs
_NEARLY = 0.8  # by how much more often the larger one is the wider one, before it is said


def widths(patterns: Patterns) -> str:
    """Say which intervals are wide and which narrow, where they differ, as far as this result shows it."""
    margins = margins_of(patterns)
    known = [at for at, margin in enumerate(margins) if math.isfinite(margin) and margin > 0]
    if not known:
        return ""
    wide, narrow = max(known, key=margins.__getitem__), min(known, key=margins.__getitem__)
    if margins[wide] < _UNEQUAL * margins[narrow]:
        return ""
    one, other = (f"{_plus_minus(margins[at])} for {named(patterns[at : at + 1])}" for at in (wide, narrow))
    told = [
        f"Why is one interval wide and the next narrow? They go from {other} to {one}.",
        _by_size(patterns, margins, known) or _by_count(patterns, margins, known),
        _lopsided(patterns),
        _from_answers(patterns),
        "A narrow interval is no weaker promise: one promise covers all counts.",
    ]
    return f'<p class="quiet">{" ".join(part for part in told if part)}</p>\n'


def _plus_minus(margin: float) -> str:
    return f"± {whole(math.ceil(margin))}"


def _by_size(patterns: Patterns, margins: Sequence[float], known: Sequence[int]) -> str:
    """Say that patterns of more items have wider intervals, or narrower ones, where that holds for all of them."""
    of: dict[int, list[float]] = {}
    for at in known:
        of.setdefault(int(patterns.sizes[at]), []).append(margins[at])
    ranges = [(size, min(of[size]), max(of[size])) for size in sorted(of)]
    if len(ranges) < 2:
        return ""
    both = list(pairwise(ranges))
    wider = all(before[2] < after[1] for before, after in both)
    if not wider and not all(before[1] > after[2] for before, after in both):
        return ""
    told = "; ".join(
        f"{_plus_minus(low)}{f' to {_plus_minus(high)}' if math.ceil(low) < math.ceil(high) else ''} with "
        f"{number_of(size, 'item')}"
        for size, low, high in ranges
    )
    return f"The more items a pattern has, the {'wider' if wider else 'narrower'} is its interval here: {told}."


def _by_count(patterns: Patterns, margins: Sequence[float], known: Sequence[int]) -> str:
    """Say that larger counts have wider intervals, or narrower ones, where that holds for nearly all pairs of them."""
    if not _FEW <= len(known) <= _MANY:
        return ""
    counts, wide = patterns.counts[known], np.array(margins)[known]
    unequal = np.sign(counts[:, None] - counts[None, :]) * np.sign(np.round(wide[:, None] - wide[None, :]))
    told = unequal[unequal != 0]
    if len(told) < len(unequal) * (len(unequal) - 1) / 2 or abs(told.mean()) < _NEARLY:
        return ""
    return f"The larger a count, the {'wider' if told.mean() > 0 else 'narrower'} is its interval here."


def _lopsided(patterns: Patterns) -> str:
    """Say how many intervals reach further to one side: a margin does not tell their ends."""
    if patterns.low is None or patterns.high is None:
        return ""
    up, down = patterns.high - patterns.counts, patterns.counts - patterns.low
    most, least = np.maximum(up, down), np.minimum(up, down)
    many = int(((patterns.low > 0) & np.isfinite(most) & (most > _UNEQUAL * least + 1)).sum())
    if not many:
        return ""
    reach = "reaches" if many == 1 else "reach"
    return f"{many:,} of the {len(patterns):,} {reach} further to one side than to the other: read the ends of these."


def _from_answers(patterns: Patterns) -> str:
    """Say of whose answers estimates are made, where devices answered in several rounds."""
    asked = [people for people in asked_in(patterns.provenance or Provenance()).values() if people]
    if len(asked) < 2 or max(asked) < _UNEQUAL * min(asked):
        return ""
    return (
        f"Rounds asked from {whole(min(asked))} to {whole(max(asked))} people, and fewer answers make a wider interval."
    )
