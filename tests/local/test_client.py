"""The device's side by itself: small, of the standard library, and an answer whatever the basket."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet.local
from discreet.local import holding
from discreet.local.asking import Ask, Who
from discreet.local.client import client
from discreet.local.holding import held
from discreet.local.oracles.known import oracles
from discreet.local.questions import Candidates, Which

FOLDER = Path(discreet.local.__file__).parent


def test_the_device_needs_the_standard_library_alone():
    """Its five files work where nothing else of the package is."""
    code = "import sys; before = set(sys.modules)\nimport device.client\nprint(*(set(sys.modules) - before))"
    told = subprocess.run(
        [sys.executable, "-c", "import sys, types; package = types.ModuleType('device'); "
         f"package.__path__ = [{str(FOLDER)!r}]; sys.modules['device'] = package\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = {name.partition(".")[0] for name in told.stdout.split()}
    assert loaded - {"device"} <= sys.stdlib_module_names


def test_the_device_is_short():
    assert len((FOLDER / "client.py").read_text().splitlines()) < 200


def test_reports_come_from_the_system_s_source():
    oracle = oracles()["olh"].make(Fraction(1), 10)
    ask = Ask(name="", who=Who(0, 1), question=Which(Candidates(10)), oracle=oracle)
    seeds = {tuple(json.loads(client(ask.form, [1]))["seed"]) for _ in range(5)}
    assert len(seeds) == 5


@pytest.mark.parametrize("name", oracles())
@settings(max_examples=15, derandomize=True, deadline=None)
@given(st.lists(st.integers(-5, 2**70), max_size=12), st.integers(1, 20), st.integers(1, 4))
def test_every_basket_is_answered(name, basket, size, pad):
    oracle = oracles()[name].make(Fraction(1), size, pad=pad)
    ask = Ask(name="", who=Who(0, 1), question=Which(Candidates(size)), oracle=oracle)
    report = json.loads(client(ask.form, basket))
    assert oracle.supports(oracle.read([report])).shape == (size,)


def test_what_baskets_answer_with():
    which = {"ask": "which", "of": 5}
    assert held(which, [7, 4, 0, 4, -1]) == [0, 4]
    assert held(which, []) == []
    some = {"ask": "which", "of": [3, [1, 2], [3, 9], 8]}
    assert held(some, [1, 2, 3]) == [0, 1]
    assert held({**some, "ask": "how-many", "bins": [0, 1, 3]}, [1, 2, 3]) == [1]
    assert held({**which, "ask": "how-many", "bins": [0, 1, 3]}, range(9)) == [2]
    assert held({**which, "ask": "how-many", "bins": [0, 1, 3]}, []) == [0]
    prefix = {"ask": "prefix", "order": [4, 2, 7], "of": [[4, 2], [2, 7]], "length": 2}
    assert [held(prefix, basket) for basket in ([7, 2, 4], [2, 7], [4, 7], [4], [])] == [[0], [1], [2], [2], [2]]


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
    """Counted in steps of the interpreter, which makes sets of the basket and the pairs in one."""
    taken = []
    for basket, pairs in (([], []), ([0], [[0, 1]]), (range(12), PAIRS)):
        steps = 0

        def count(frame, event, _):
            nonlocal steps
            ours = frame.f_code.co_filename == holding.__file__
            frame.f_trace_opcodes = ours
            steps += event == "opcode"
            return count if ours else None

        before = sys.gettrace()
        sys.settrace(count)
        try:
            held(question, basket, pairs)
        finally:
            sys.settrace(before)
        taken.append(steps)
    assert max(taken) < 1.5 * min(taken)
