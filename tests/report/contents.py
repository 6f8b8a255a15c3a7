"""Something to tell, for the tests of the report."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.privacy import Budget, Charge, Guarantee
from discreet.report._contents import ReportContents
from naive.rules import make_patterns

PROMISE = Guarantee.of(
    Budget.of(1),
    [Charge.bounded_range("choosing 5 patterns", Fraction(1, 4)), Charge.pure("noise on 5 counts", Fraction(3, 4))],
    public=("the list of items",),
)
COUNTS = {
    frozenset({"tea"}): 80,
    frozenset({"milk"}): 60,
    frozenset({"jam"}): 50,
    frozenset({"tea", "milk"}): 55,
    frozenset({"tea", "milk", "jam"}): 20,
}


def bounded(counts, people, margin=10):
    """Return patterns with an interval of the same width around each count."""
    numbers = np.array(sorted(counts.values(), reverse=True), float)
    return make_patterns(counts, people, low=numbers - margin, high=numbers + margin)


def tell(**changes):
    """Return what a report tells, some of it changed."""
    fields = {
        "title": "What 100 people hold together",
        "patterns": bounded(COUNTS, 100),
        "guarantee": PROMISE,
        "question": {"Patterns": "the 5 most frequent", "Items": "3, declared public"},
        "mechanism": "exponential",
        "summary": "picks the most frequent patterns one by one",
        "settings": {"selecting": "1/2"},
        "citations": ["Bhaskar et al. 2010", "Someone else"],
        "facts": {"People, with noise": "100"},
        "notes": ["A note."],
        "simulated": False,
        "date": "2026-11-20",
        "version": "0.1",
    }
    return ReportContents(**(fields | changes))
