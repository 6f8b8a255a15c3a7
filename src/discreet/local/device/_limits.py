"""Every limit of format 1: the largest questions and reports that a device works on. Standard library only.

A device need not trust the collector, so that no question may keep it busy for long, fill its memory or make it send
much. `docs/wire.md` has the numbers in words; `tests/local/device/test_limits.py` compares them and tries a
question at each limit and beyond it. Together they bound the work: it grows with the length of the question and with
the number of held items, and beyond that takes at most about a million random words.

Each limit trades the largest study against the time and memory of the smallest device; larger serves larger studies.
"""

from __future__ import annotations

# Bytes of a question: 8 MiB hold the numbers of `MOST_NUMBERS`, of up to 7 digits and a comma each. Half of it would
# refuse lists that the entries allow; double of it would only allow longer numbers.
MOST_QUESTION = 1 << 23

# Entries of all lists of a question together; a list within a list is one entry more. Chosen: the
# time and the memory of an answer are linear in it, as is the longest list of candidates.
MOST_NUMBERS = 1 << 20

# Levels of nested lists and objects, the question itself included: objects of lists of lists. It is exactly the depth
# of the deepest question of the format.
MOST_DEPTH = 3

# Digits of epsilon and delta before the point or slash, and after it. Chosen: any number between 60, the digits of the
# finest grid of a ledger, and some thousands keeps exact fractions short.
MOST_DIGITS = 100

# The epsilon of a question. Chosen above 20, the largest epsilon of an oracle. Any larger value does too, as
# the limit of the owner protects.
MOST_EPSILON = 64

# The number of an item, a bin, and the length of a prefix: the largest 32-bit integer with a sign.
MOST_ITEM = (1 << 31) - 1

# Candidates and dummies together, and the padding; the numbers that texts become.
MOST_SYMBOLS = 1 << 31

# Symbols of a text, and of a beginning: a text is looked up once for every length of a beginning. Chosen: addresses and
# queries are shorter; double of it doubles the look-ups of a text.
MOST_TEXT = 1 << 10

# Items of a question about cells: each item doubles the number of cells, here 65,536.
MOST_CELLS = 16

# The weights of a projection, with either sign: a product of two sums of `MOST_HELD` weights is below 2^70, so sums
# take about equal time for all baskets. Directions need 4096; larger weights gain nothing.
MOST_WEIGHT = 1 << 20

# The ends of a range, with either sign, and every integer of a question or report: exact in double precision.
MOST_RANGE = (1 << 53) - 1

# Values that may meet in a bucket: the probability of more is a power of this. Chosen: the limit
# only keeps the power short.
MOST_SHARE = 1 << 12

# Candidates and dummies of an oracle that reports a subset: its loss is made of binomial coefficients, of up to 2^17
# bits here. Chosen: the bits double with it.
MOST_SUBSET = 1 << 17

# Points of the projective space of `geometry`, which reports one point.
MOST_POINTS = 1 << 31

# The expected number of own values of `privset` in a random subset, and of the attempts to draw a subset. Chosen: the
# time of an answer is linear in it.
MOST_MET = 4

# Bytes of a report: 64 KiB, sixteen times the longest report that `adaptive` chooses. Double of it doubles the
# traffic that a collector can ask for; a sixteenth would refuse chosen oracles.
MOST_REPORT = 1 << 16
