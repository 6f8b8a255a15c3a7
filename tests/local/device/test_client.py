"""The device's side by itself: small, of the standard library, and an answer for every basket."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet.local
from discreet.local.device import ANSWERS, WORD, Draws, _answering as answering, client, find_values
from discreet.local.oracle_steps import means, oracles
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from naive import wire

FOLDER = Path(discreet.local.__file__).parent / "device"


def test_the_device_needs_the_standard_library_alone():
    """Its six files work where nothing else of the package is."""
    code = "import sys; before = set(sys.modules)\nimport device._client\nprint(*(set(sys.modules) - before))"
    completed = subprocess.run(
        [sys.executable, "-c", "import sys, types; package = types.ModuleType('device'); "
         f"package.__path__ = [{str(FOLDER)!r}]; sys.modules['device'] = package\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.partition(".")[0] for name in completed.stdout.split()}
    assert loaded - {"device"} <= sys.stdlib_module_names


def test_the_device_is_short():
    assert len((FOLDER / "_client.py").read_text().splitlines()) < 220


def test_reports_come_from_the_system_s_source():
    oracle = oracles()["olh"].make(Fraction(1), 10)
    ask = Ask(name="", group=PeopleGroup(0, 1), question=CandidateQuestion(CandidateList(10)), oracle=oracle)
    seeds = {tuple(json.loads(client(ask.form, [1], max_epsilon=1))["seed"]) for _ in range(5)}
    assert len(seeds) == 5


@pytest.mark.parametrize("name", [name for name, kind in oracles().items() if kind.live])
@settings(max_examples=15)
@given(st.lists(st.integers(-5, 2**70), max_size=12), st.integers(1, 20), st.integers(1, 4))
def test_every_basket_is_answered(name, basket, size, pad):
    oracle = oracles()[name].make(Fraction(1), size, pad=pad)
    ask = Ask(name="", group=PeopleGroup(0, 1), question=CandidateQuestion(CandidateList(size)), oracle=oracle)
    batch = oracle.codec.read_reports([client(ask.form, basket, max_epsilon=1)])
    assert not batch.refused
    assert oracle.supports(batch.columns).shape == (size,)


def test_what_baskets_answer_with():
    which_question = {"ask": "which", "of": 5}
    assert find_values(which_question, [7, 4, 0, 4, -1]) == [0, 4]
    assert find_values(which_question, []) == []
    itemset_question = {"ask": "which", "of": [3, [1, 2], [3, 9], 8]}
    assert find_values(itemset_question, [1, 2, 3]) == [0, 1]
    assert find_values({**itemset_question, "ask": "how-many", "bins": [0, 1, 3]}, [1, 2, 3]) == [1]
    assert find_values({**which_question, "ask": "how-many", "bins": [0, 1, 3]}, range(9)) == [2]
    assert find_values({**which_question, "ask": "how-many", "bins": [0, 1, 3]}, []) == [0]
    prefix = {"ask": "prefix", "order": [4, 2, 7], "of": [[4, 2], [2, 7]], "length": 2}
    assert [find_values(prefix, basket) for basket in ([7, 2, 4], [2, 7], [4, 7], [4], [])] == [[0], [1], [2], [2], [2]]


PAIRS = [[a, b] for a in range(12) for b in range(12) if a != b]
WEIGHTS = {"left": [1] * 23, "right": [2] * 23, "low": 0, "high": 9, "oracle": {"span": 8}}
ITEMS_AND_BONDS = [*range(12), *([a, a + 1] for a in range(11))]


@pytest.mark.parametrize(
    "question",
    [
        {"ask": "which", "of": PAIRS},
        {"ask": "which", "of": PAIRS, "pairs": "given"},
        {"ask": "how-many", "of": PAIRS, "pairs": "after", "bins": [0, 1, 5]},
        {"ask": "valued", "of": PAIRS, "pairs": "given", "absent": True},
        {"ask": "prefix", "order": list(range(12)), "of": [[a, b] for a, b in PAIRS if a < b], "length": 2},
        {"ask": "projection", "of": ITEMS_AND_BONDS, "pairs": "together", **WEIGHTS},
        {"ask": "projection", "of": ITEMS_AND_BONDS, "pairs": "given", **WEIGHTS},
    ],
    ids=["itemsets", "which", "how-many", "valued", "prefix", "together", "own"],
)
def test_a_device_works_as_long_whatever_it_holds(question):
    """Counted in steps of the interpreter, which makes sets of the basket and the pairs in one.

    The pairs of a projection are added up, so there it takes as long for as many pairs, whichever they are.
    """
    few_holdings = [([], []), ([0], [[0, 1]])]
    other_holdings = [(range(100, 112), [[a + 100, b + 100] for a, b in PAIRS])]
    adds_pairs = question["ask"] == "projection" and question["pairs"] == "given"
    step_counts = [
        steps(question, *person_holdings)
        for person_holdings in ((range(12), PAIRS), *(other_holdings if adds_pairs else few_holdings + other_holdings))
    ]
    assert max(step_counts) < 1.5 * min(step_counts)


def steps(question, basket, pairs):
    """Return the number of steps of the interpreter that the answer takes."""
    steps = 0

    def count(frame, event, _):
        nonlocal steps
        ours = frame.f_code.co_filename == answering.__file__
        frame.f_trace_opcodes = ours
        steps += event == "opcode"
        return count if ours else None

    before = sys.gettrace()
    sys.settrace(count)
    try:
        find_values(question, basket, pairs)
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("pair_kind", ["together", "given"])
def test_the_work_is_linear_in_the_question_and_in_what_is_held(pair_kind):
    """Twice as long a question, or twice as many pairs, is at most about twice as many steps."""

    def ask_projection(item_count):
        candidates = [*range(item_count), *([a, a + 1] for a in range(item_count - 1))]
        return {
            "ask": "projection",
            "pairs": pair_kind,
            **WEIGHTS,
            "of": candidates,
            "left": [1] * len(candidates),
            "right": [2] * len(candidates),
        }

    def chain(length):
        return range(length), [[a, a + 1] for a in range(length - 1)]

    short_steps, longer, more_pairs_steps = (
        steps(ask_projection(40), *chain(40)),
        steps(ask_projection(160), *chain(40)),
        steps(ask_projection(40), *chain(160)),
    )
    assert longer < 4.4 * short_steps
    assert more_pairs_steps < 4.4 * short_steps


@pytest.mark.parametrize("pair_kind", ["given", "after"])
def test_a_projection_is_that_of_the_page(pair_kind):
    """Against the device written from the page, pairs of an item with itself and of others among them."""
    generator = Random(3)
    for _ in range(200):
        items = generator.sample(range(8), generator.randint(1, 6))
        bonds = [bond for size in (2, 3) for bond in map(list, permutations(items, size))]
        candidates = [*items, *generator.sample(bonds, min(len(bonds), 5))]
        generator.shuffle(candidates)
        left_weights, right_weights = ([generator.randint(-9, 9) for _ in candidates] for _ in range(2))
        question = {
            "ask": "projection",
            "of": candidates,
            "pairs": pair_kind,
            "left": left_weights,
            "right": right_weights,
            "low": -99,
            "high": 99,
        }
        question["oracle"] = {"span": 1 << 20}
        basket = generator.sample(range(9), generator.randint(0, 9))
        pairs = [[generator.randrange(9), generator.randrange(9)] for _ in range(generator.randint(0, 40))]
        pairs = [pair for number, pair in enumerate(pairs) if pair not in pairs[:number]]
        assert find_values(question, basket, pairs) == wire.values_of(question, basket, pairs)


@pytest.mark.parametrize("oracle", ["grr", "olh", "subset", "privset", "wheel"])
def test_what_kind_of_whole_numbers_a_basket_has_does_not_show(oracle):
    ask = Ask.of("x", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(items=10)), oracle, Fraction(4), pad=2)
    for basket in (np.array([1, 2, 3]), [np.int32(1), 2, np.uint8(3)]):
        numpy_source, plain = (seeded(7) for _ in range(2))
        assert client(ask.form, basket, max_epsilon=4, take=numpy_source) == client(
            ask.form, [1, 2, 3], max_epsilon=4, take=plain
        )
    for basket in ([3.0], [3.5], [True], ["tea"], [None], [[1]]):
        for _ in range(3):
            with pytest.raises(ValueError, match="A basket holds whole numbers"):
                client(ask.form, basket, max_epsilon=4)
    with pytest.raises(ValueError, match="A basket holds whole numbers"):
        client(ask.form, [1], given=[(1.0, 2)], max_epsilon=4)


def seeded(seed):
    return Random(seed).randbytes


@pytest.mark.parametrize("name", ["duchi", "pm"])
def test_a_number_beyond_the_range_is_taken_for_its_end(name):
    form = means()[name].make(Fraction(1)).form
    span = form["span"]
    for seed in range(5):
        ends = (ANSWERS[name](form, [value], Draws(Random(seed).randbytes)) for value in (span, span + 1, 3 * span))
        assert len({json.dumps(report) for report in ends}) == 1
        ends = (ANSWERS[name](form, [value], Draws(Random(seed).randbytes)) for value in (-span, -span - 1, -3 * span))
        assert len({json.dumps(report) for report in ends}) == 1


def words(*numbers: int) -> Draws:
    """Return draws of given words."""
    words_left = iter(numbers)
    return Draws(lambda byte_count: next(words_left).to_bytes(byte_count, "little"))


def test_what_is_drawn_is_even_and_as_likely_as_it_says():
    # 2^32 leaves a rest of 1 by 3: the last word would make 0 likelier, and another is taken.
    assert words(WORD - 1, 5).below(3) == 2
    assert words(WORD - 2).below(3) == (WORD - 2) % 3
    assert words(6).chance(7)
    assert not words(7).chance(7)
    assert not words(0).chance(0)
