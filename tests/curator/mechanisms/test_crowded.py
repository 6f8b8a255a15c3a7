"""Baskets with more subsets than any memory holds, tied by the thousand million, and one person more or less.

What a release does must not depend on whether the ties could be listed: it ends, and in the same way. Each of these
would fill all memory, or take days, if what is tied were listed.
"""

from __future__ import annotations

import pytest

import discreet
from discreet import MisuseError
from discreet.planning import trial

CROWDS = {
    "one person": [range(40)],
    "two alike": [range(40)] * 2,
    "hundreds alike": [range(400)] * 300,
    "nearly alike": [*[range(400)] * 300, range(399)],
    "a thousand items": [range(1_000)],
    "two of thousands": [range(5_000), range(2_500, 7_500)],
    "twenty thousand items": [range(20_000)],
}
QUESTIONS = [
    *(
        (mechanism, {"top": 20, "lengths": lengths})
        for mechanism in ("exponential", "laplace", "privbasis", "bases", "auto")
        for lengths in ((1, 6), 12)
    ),
    *((mechanism, {"min_count": 20, "lengths": 12}) for mechanism in ("privbasis", "bases", "auto")),
    *(("peeling", {"top": 20, "lengths": (1, 6), "delta": delta}) for delta in (0, "1e-6")),
    *((mechanism, {"min_count": 20, "lengths": (1, 3)}) for mechanism in ("truncated", "truncated-naive")),
    ("threshold", {"top": 10, "lengths": 12, "delta": "1e-6"}),
]


def thirds():
    """Each crowd with every third question, the next crowd from the next question on; `make soak` has all of them."""
    for place, crowd in enumerate(CROWDS):
        for turn in range(3):
            yield pytest.param(crowd, turn, marks=[] if (place + turn) % 3 == 0 else pytest.mark.slow)


@pytest.mark.parametrize(("crowd", "turn"), [*thirds()])
def test_everything_ends(crowd, turn):
    baskets = discreet.read([set(basket) for basket in CROWDS[crowd]])
    for seed, (mechanism, question) in list(enumerate(QUESTIONS))[turn::3]:
        release = trial(baskets, seed=seed, mechanism=mechanism, epsilon=1, items="public", **question)
        if mechanism in ("exponential", "laplace", "peeling"):
            assert len(release.patterns) == 20


@pytest.mark.parametrize(
    ("question", "kept_items", "longest"),
    [
        ({"lengths": 30}, "30", "30"),
        ({"lengths": (1, 20), "settings": {"kept": 1_000}}, "1,000", "20"),
        ({"lengths": 10**9}, "1,000,000,000", "1,000,000,000"),
    ],
)
def test_what_can_only_be_bounded_by_a_refusal_is_refused_before_paying(question, kept_items, longest):
    for people in ([], [set(range(35))]):
        with pytest.raises(MisuseError) as caught:
            discreet.release(people, top=10, mechanism="threshold", epsilon=1, delta="1e-6", **question)
        assert str(caught.value) == (
            f"A basket cut to {kept_items} items has more than 4,000,000 subsets of up to {longest} items, too many to "
            "look at: ask for shorter patterns (lengths=), or set kept lower."
        )
