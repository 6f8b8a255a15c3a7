"""Every limit of format 1: the largest questions and reports that a device works on. Standard library only.

A device need not trust the collector, so that no question may keep it busy for long, fill its memory or make it send
much. `docs/wire.md` has the numbers in words; `tests/local/device/test_limits.py` compares them and tries a
question at each limit and beyond it. Together they bound the work: it grows with the length of the question and with
the number of held items, and beyond that takes at most about a million random words.

Each limit trades the largest study against the time and memory of the smallest device; larger serves larger studies.
"""

from __future__ import annotations

MOST_QUESTION = 1 << 23
"""Bytes of a question."""

MOST_NUMBERS = 1 << 20
"""Entries of all lists of a question together; a list within a list is one entry more."""

MOST_DEPTH = 3
"""Levels of nested lists and objects, the question itself included: objects of lists of lists."""

MOST_DIGITS = 100
"""Digits of epsilon and delta before the point or slash, and after it."""

MOST_EPSILON = 64
"""The epsilon of a question."""

MOST_ITEM = (1 << 31) - 1
"""The number of an item, a bin, and the length of a prefix: the largest 32-bit integer with a sign."""

MOST_SYMBOLS = 1 << 31
"""Candidates and dummies together, and the padding; the numbers that texts become."""

MOST_TEXT = 1 << 10
"""Symbols of a text, and of a beginning: a text is looked up once for every length of a beginning."""

MOST_CELLS = 16
"""Items of a question about cells: each item doubles the number of cells, here 65,536."""

MOST_WEIGHT = 1 << 20
"""The weights of a projection, with either sign: their sums take equal time for all baskets."""

MOST_RANGE = (1 << 53) - 1
"""The ends of a range, with either sign, and every integer of a question or report: exact in double precision."""

MOST_SHARE = 1 << 12
"""Values that may meet in a bucket: the probability of more is a power of this."""

MOST_SUBSET = 1 << 17
"""Candidates and dummies of an oracle that reports a subset: its loss is made of binomial coefficients."""

MOST_POINTS = 1 << 31
"""Points of the projective space of `geometry`, which reports one point."""

MOST_MET = 4
"""The expected number of own values of `privset` in a random subset, and of the attempts to draw a subset."""

MOST_REPORT = 1 << 16
"""Bytes of a report."""
