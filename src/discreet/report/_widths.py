"""Sentences on why one interval of a result is wider than the next, from the numbers of the result alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from ..results import Patterns, Provenance, margins_of
from ._contents import people_by_round
from ._text import count_text, first_itemset, number_of

# The ratio of two widths that needs an explanation. Smaller: more sentences on small differences.
_UNEQUAL = 1.3
# Numbers of counts that are compared in pairs: fewer show no trend, more take a table of over a million pairs.
_MIN_COUNTS, _MAX_COUNTS = 5, 1_000
# The least Kendall correlation of counts and margins that is called a trend: nine of ten pairs agree.
_TREND = 0.8


def explain_widths(patterns: Patterns) -> list[str]:
    """Return sentences on wide and narrow intervals; nothing for about equal widths."""
    margins = margins_of(patterns)
    rows = [row for row, margin in enumerate(margins) if math.isfinite(margin) and margin > 0]
    if not rows:
        return []
    widest, narrowest = max(rows, key=margins.__getitem__), min(rows, key=margins.__getitem__)
    if margins[widest] < _UNEQUAL * margins[narrowest]:
        return []
    low, high = (
        Markup("{} for {}").format(_margin_text(margins[row]), first_itemset(patterns[row : row + 1]))
        for row in (narrowest, widest)
    )
    sentences = [
        Markup("Why is one interval wide and the next narrow? They go from {} to {}.").format(low, high),
        _trend_by_size(patterns, margins, rows) or _trend_by_count(patterns, margins, rows),
        _lopsided_intervals(patterns),
        _answers_by_round(patterns),
        "A narrow interval is no weaker promise: one promise covers all counts.",
    ]
    return list(filter(None, sentences))


def _margin_text(margin: float) -> str:
    return f"± {count_text(math.ceil(margin))}"


def _trend_by_size(patterns: Patterns, margins: Sequence[float], rows: Sequence[int]) -> str:
    """Return a sentence where all patterns of more items have wider intervals than shorter ones, or all narrower."""
    # Sizes are compared by ranges: means would call a trend where ranges overlap.
    by_size: dict[int, list[float]] = {}
    for row in rows:
        by_size.setdefault(int(patterns.sizes[row]), []).append(margins[row])
    ranges = [(size, min(by_size[size]), max(by_size[size])) for size in sorted(by_size)]
    if len(ranges) < 2:
        return ""
    neighbours = list(pairwise(ranges))
    wider = all(before[2] < after[1] for before, after in neighbours)
    if not wider and not all(before[1] > after[2] for before, after in neighbours):
        return ""
    listed = "; ".join(
        f"{_margin_text(low)}{f' to {_margin_text(high)}' if math.ceil(low) < math.ceil(high) else ''} with "
        f"{number_of(size, 'item')}"
        for size, low, high in ranges
    )
    return f"The more items a pattern has, the {'wider' if wider else 'narrower'} is its interval here: {listed}."


def _trend_by_count(patterns: Patterns, margins: Sequence[float], rows: Sequence[int]) -> str:
    """Return a sentence where larger counts have wider intervals, or narrower ones, in nearly all pairs."""
    if not _MIN_COUNTS <= len(rows) <= _MAX_COUNTS:
        return ""
    counts, widths = patterns.counts[rows], np.array(margins)[rows]
    signs = np.sign(counts[:, None] - counts[None, :]) * np.sign(np.round(widths[:, None] - widths[None, :]))
    agreements = signs[signs != 0]
    # Half of all pairs at least must differ in both numbers.
    if len(agreements) < len(signs) * (len(signs) - 1) / 2 or abs(agreements.mean()) < _TREND:
        return ""
    return f"The larger a count, the {'wider' if agreements.mean() > 0 else 'narrower'} is its interval here."


def _lopsided_intervals(patterns: Patterns) -> str:
    """Return a sentence on the number of intervals that reach further to one side, as a margin hides that."""
    if patterns.low is None or patterns.high is None:
        return ""
    above, below = patterns.high - patterns.counts, patterns.counts - patterns.low
    longer, shorter = np.maximum(above, below), np.minimum(above, below)
    lopsided_count = int(((patterns.low > 0) & np.isfinite(longer) & (longer > _UNEQUAL * shorter + 1)).sum())
    if not lopsided_count:
        return ""
    verb = "reaches" if lopsided_count == 1 else "reach"
    return (
        f"{lopsided_count:,} of the {len(patterns):,} {verb} further to one side than to the other: read the ends of "
        "these."
    )


def _answers_by_round(patterns: Patterns) -> str:
    """Return a sentence on the numbers of people asked in the rounds; "" for about equal numbers."""
    people = [count for count in people_by_round(patterns.provenance or Provenance()).values() if count]
    if len(people) < 2 or max(people) < _UNEQUAL * min(people):
        return ""
    return (
        f"Rounds asked from {count_text(min(people))} to {count_text(max(people))} people, and fewer answers make a "
        "wider interval."
    )
