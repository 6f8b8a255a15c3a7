"""The most that a device computes with: every limit of format 1, in one place. Standard library only.

A device is asked by somebody it need not trust, so nothing that is asked may keep it busy for long, fill its memory or
make it send much. `docs/wire.md` has the same numbers in words; `tests/local/device/test_limits.py` holds the two
together and tries a question at each limit and one beyond it. Together they bound the work: it grows with the length of
the question and with what is held, and with nothing else but at most about a million random words.
"""

from __future__ import annotations

MOST_QUESTION = 1 << 23
"""Bytes of a question."""

MOST_NUMBERS = 1 << 20
"""Entries of all lists of a question together; a list within a list is one more."""

MOST_DEPTH = 3
"""Lists and objects within each other, the question itself among them."""

MOST_DIGITS = 100
"""Digits of epsilon and delta before the point or slash, and as many after it."""

MOST_EPSILON = 64
"""The epsilon of a question."""

MOST_ITEM = (1 << 31) - 1
"""An item, a bin, and the length of a prefix."""

MOST_SYMBOLS = 1 << 31
"""Candidates and dummies together, and the padding; the numbers that texts become."""

MOST_TEXT = 1 << 10
"""Symbols of a text, and of what one begins with: a text is looked at once for every length of a beginning."""

MOST_CELLS = 16
"""Items whose cells are asked for: each one more doubles them."""

MOST_WEIGHT = 1 << 20
"""The weights of a projection, with either sign: sums of them take the same time whatever is held."""

MOST_RANGE = (1 << 53) - 1
"""The ends of a range, with either sign: no whole number of a question or a report is larger."""

MOST_SHARE = 1 << 12
"""Values that may meet in a bucket: the probability of more is a power of this."""

MOST_SUBSET = 1 << 17
"""Candidates and dummies of an oracle that reports a subset: its loss is made of binomial coefficients."""

MOST_POINTS = 1 << 31
"""Points of the projective space of `geometry`, of which one is reported."""

MOST_MET = 4
"""Of the own values of `privset`, a subset drawn at random may meet so many: about as often it is drawn anew."""

MOST_REPORT = 1 << 16
"""Bytes of a report."""
