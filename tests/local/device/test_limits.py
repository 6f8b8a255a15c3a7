"""Limits of a device: its owner's limits, which must be stated, and limits of the format, which the page states."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import EVERY_LOSS
from discreet.local.device import _limits as limits, check, client
from discreet.local.oracle_steps import means, oracles
from discreet.local.protocols.svsm import guess_itemsets
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    FoldedProjection,
    KeyQuestion,
    PeopleGroup,
    PrefixQuestion,
    Projection,
    RelationItems,
    Relations,
    SizeQuestion,
    StudyGoal,
    converse,
)
from discreet.registry import protocols as registered
from vectors import make
from vectors.reading import cases

PROTOCOLS = {name: protocol.kind for name, protocol in registered().items()}
PAGE = Path(make.__file__).parents[2] / "docs" / "wire.md"
EVERYONE = PeopleGroup(0, 1 << 32)
QUESTION = Ask.of("", EVERYONE, CandidateQuestion(CandidateList(10)), "olh", Fraction(1)).form


def refused(question=QUESTION, **limits_allowed):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        client(question, [1], **limits_allowed)
    return str(error.value)


class TestTheOwnersLimits:
    def test_epsilon_has_to_be_stated(self):
        with pytest.raises(TypeError, match="max_epsilon"):
            client(QUESTION, [1])
        with pytest.raises(TypeError, match="max_epsilon"):
            check(QUESTION)

    @pytest.mark.parametrize(
        "max_epsilon",
        [None, nan, inf, -inf, 0, -1, True, "", "many", "nan", "inf", "1_0", "1/0", "1e999", Decimal("NaN"), [1], 0.0],
    )
    def test_epsilon_is_a_finite_number_over_0(self, max_epsilon):
        assert refused(max_epsilon=max_epsilon) == (
            "max_epsilon is the largest epsilon this device gives away, a finite number over 0 such as 1 or '0.5'; "
            f"{max_epsilon!r} was given."
        )

    @pytest.mark.parametrize("max_delta", [None, nan, inf, -1, 1, 1.5, True, "nan", "1"])
    def test_delta_is_from_0_to_below_1(self, max_delta):
        assert refused(max_epsilon=1, max_delta=max_delta) == (
            "max_delta is the largest delta this device accepts, a number from 0 to below 1 such as 0 or '1e-6'; "
            f"{max_delta!r} was given."
        )

    @pytest.mark.parametrize(
        "max_epsilon", [1, 1.0, "1", "1.0", "2/2", Fraction(1), Decimal(1), np.int64(1), np.float64(1)]
    )
    def test_numbers_are_taken_as_they_are_written(self, max_epsilon):
        assert client(QUESTION, [1], max_epsilon=max_epsilon)

    def test_a_tenth_is_a_tenth(self):
        """0.3 as a float is a little less than three tenths, and 0.1 a little more than one."""
        for epsilon_text in ("0.1", "0.3", "0.7"):
            form = Ask.of("", EVERYONE, CandidateQuestion(CandidateList(10)), "olh", Fraction(epsilon_text)).form
            assert client(form, [1], max_epsilon=float(epsilon_text), max_delta=0.1)
            assert "gives at most" in refused(form, max_epsilon=float(epsilon_text) - 1e-9)

    def test_nothing_stands_in_for_it(self):
        """A question at an epsilon of 64 returned what was held, whoever asked."""
        form = {"oracle": "grr", "size": 10, "pad": 1, "dummies": 1, "inside": str((1 << 64) - (1 << 30))}
        question = {"format": 1, "ask": "which", "of": 10, "epsilon": "64", "oracle": form}
        assert refused(question, max_epsilon=1) == "The question asks for epsilon 64, and this device gives at most 1."

    def test_a_long_value_is_not_repeated(self):
        assert len(refused(max_epsilon="9" * 10_000)) < 200


def test_the_page_has_every_limit():
    """What the code enforces the page states, and the other way round."""
    limits_by_name = {name: value for name, value in vars(limits).items() if name.startswith("MOST_")}
    rows = re.findall(r"^\| .* \| ([0-9,]+) \| `(MOST_\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    assert {name: int(value.replace(",", "")) for value, name in rows} == limits_by_name
    for name in limits_by_name:
        users = [path for path in Path(limits.__file__).parent.glob("*.py") if name in path.read_text()]
        assert {path.name for path in users} & {"_trust.py", "_loss.py"}, name


def test_every_limit_has_a_question_at_it_and_one_beyond():
    limits_tested = {case["what"].partition(":")[0] for case in cases("limits")}
    assert len(cases("limits")) == 2 * len(limits_tested)
    # Some are limits of the owner or of a sign, and those of symbols and of texts are met in several ways.
    assert len(limits_tested) == len([name for name in vars(limits) if name.startswith("MOST_")]) + 11
    for answered_case, refused_case in zip(cases("limits")[::2], cases("limits")[1::2], strict=True):
        assert "refused" not in answered_case
        assert "refused" in refused_case


def test_what_is_refused_is_refused_at_once_and_in_few_words():
    """No message repeats what a hostile question says at length."""
    long_text, deep = "x" * (1 << 20), []
    for _ in range(100_000):
        deep = [deep]
    for question in (
        {**QUESTION, "ask": long_text},
        {**QUESTION, "format": long_text},
        {**QUESTION, "epsilon": long_text},
        {**QUESTION, "oracle": {**QUESTION["oracle"], "oracle": long_text}},
        {**QUESTION, "oracle": {**QUESTION["oracle"], "more": long_text}},
        {**QUESTION, "more": deep},
        {**QUESTION, "oracle": deep},
        {**QUESTION, "format": deep},
        {**QUESTION, "of": 10**5000},
        {**QUESTION, "of": 10**5000, "oracle": {**QUESTION["oracle"], "size": 10**5000}},
        {**QUESTION, "of": [[]] * (1 << 21)},
    ):
        assert len(refused(question, max_epsilon=1)) < 150


def live(kind):
    return [name for name, entry in kind.items() if entry.live]


def test_the_oracles_kept_for_comparison_are_not_answered_for():
    compared = [name for name in oracles() if name not in live(oracles())]
    assert {"blh", "hr", "oue", "pckv-ue", "sue"} <= {*compared}
    for name in compared:
        ask = Ask.of("", EVERYONE, CandidateQuestion(CandidateList(10)), name, Fraction(1))
        assert (
            refused(ask.form, max_epsilon=1)
            == f"This device does not know the oracle {name!r}: it is no part of format 1."
        )
        assert ask.oracle.randomise([3])


def test_reports_are_never_longer_than_was_computed():
    for size in (1, 9, 10, 100, 1000, 5000):
        for name in oracles():
            oracle = oracles()[name].make(Fraction(1, 10), size, pad=min(size, 3))
            longest_known = EVERY_LOSS[name].longest
            report_length = len(json.dumps(oracle.randomise(range(size)), separators=(",", ":")))
            assert report_length <= (200 if longest_known is None else longest_known(oracle.form))


def test_oracles_whose_reports_are_too_long_are_not_made():
    with pytest.raises(MisuseError) as error:
        oracles()["subset"].make(Fraction(1), 100_000)
    assert str(error.value) == (
        "A report of subset about 100,000 candidates may have 188,270 bytes, and devices send up to 65,536: use wheel "
        "or olh."
    )
    with pytest.raises(MisuseError) as error:
        oracles()["subset"].make(Fraction(20), 1 << 17)
    assert str(error.value) == ("subset answers for up to 131,071 candidates, and there are 131,072: use wheel or olh.")
    with pytest.raises(MisuseError, match="A report of oue about 1,000,000 candidates may have 250,011 bytes"):
        oracles()["oue"].make(Fraction(1), 1_000_000)


ITEMS = tuple(range(256))
PAIRS = tuple((a, b) for a in ITEMS for b in ITEMS if a != b)
LARGE_QUESTIONS = {
    "millions of items": (CandidateQuestion(CandidateList((1 << 28) - 1)), ("grr", "olh", "wheel"), 40),
    "a hundred thousand itemsets": (
        CandidateQuestion(CandidateList(itemsets=tuple((a, a + 1, a + 2, a + 3) for a in range(100_000)))),
        ("grr", "olh", "wheel"),
        20,
    ),
    "how many of a hundred thousand": (
        SizeQuestion(CandidateList(itemsets=tuple((a,) for a in range(100_000))), tuple(range(100_001))),
        ("grr", "olh"),
        1,
    ),
    "a level of a tree": (
        PrefixQuestion(order=tuple(range(50_000)), prefixes=tuple((a, a + 1) for a in range(49_999)), length=2),
        ("grr", "olh"),
        1,
    ),
    "all pairs of the most items": (
        CandidateQuestion(Relations(RelationItems(ITEMS, "given"), PAIRS)),
        ("grr", "olh", "wheel"),
        9,
    ),
    "how many of all pairs": (
        SizeQuestion(Relations(RelationItems(ITEMS, "after"), PAIRS), (0, 1, 2, 5)),
        ("subset", "grr"),
        1,
    ),
    "keys with values": (
        KeyQuestion(Relations(RelationItems(ITEMS, "together"), PAIRS), absent=True),
        ("grr", "wheel"),
        9,
    ),
    "thousands of candidates": (CandidateQuestion(CandidateList(5000)), ("subset", "privset"), 5),
}


def realistic():
    """Each question with one of its oracles; `make soak` has them all."""
    for place, (question_name, (_, names, _)) in enumerate(LARGE_QUESTIONS.items()):
        for number, name in enumerate(names):
            yield pytest.param(question_name, name, marks=[] if place % len(names) == number else pytest.mark.slow)


@pytest.mark.parametrize(("question_name", "name"), [*realistic()])
def test_devices_answer_questions_of_realistic_sizes(question_name, name):
    question, _, pad = LARGE_QUESTIONS[question_name]
    form = Ask.of("", EVERYONE, question, name, Fraction(1), pad=pad).form
    assert len(client(form, [1, 2, 3, 4], max_epsilon=1, given=[(1, 2)])) <= limits.MOST_REPORT


@pytest.mark.parametrize("name", means())
def test_devices_answer_long_projections(name):
    items = RelationItems(tuple(range(30_000)), "given", tuple((a, a + 1) for a in range(20_000)))
    weights = {"left": (1, -1) * 25_000, "right": (3, 2) * 25_000, "low": -9, "high": 9}
    for question in (
        Projection(items=items, **weights),
        FoldedProjection(items=10**8, left=(1,) * 10_000, right=(2,) * 10_000, low=-9, high=9),
    ):
        form = Ask.mean("", EVERYONE, question, name, Fraction(1)).form
        assert client(form, range(1000), max_epsilon=1, given=[(a, a + 1) for a in range(1000)])


def test_guesses_fit_into_one_question():
    """However many are wanted: sets of many items leave room for fewer."""
    few_itemsets = guess_itemsets(np.linspace(0.9, 0.8, 40), 10**6, 16)
    assert sum(len(itemset) + 2 for itemset in few_itemsets) + 1 <= limits.MOST_NUMBERS
    assert len(few_itemsets) > 50_000


@pytest.mark.parametrize("name", ["svim", "svsm", "svim-better", "svsm-better", "ldpminer"])
def test_more_candidates_than_fit_are_refused_before_anyone_is_asked(name):
    with pytest.raises(MisuseError) as error:
        PROTOCOLS[name](candidates=30).check(StudyGoal(items=10**7, top=50_000, epsilon=Fraction(1)))
    assert "A question to a device has room for 1,048,576 numbers, and " in str(error.value)
    PROTOCOLS[name]().check(StudyGoal(items=10**7, top=100_000, epsilon=Fraction(1)))


@pytest.mark.parametrize("name", live(PROTOCOLS))
def test_live_protocols_ask_what_devices_answer(name):
    """Those simulated only say so in the catalogue."""
    kind = PROTOCOLS[name]
    settings = {"items": 8, "support": 12} if "support" in kind.__dataclass_fields__ else {}
    goal = StudyGoal(items=300, top=8, epsilon=Fraction(2))
    asked_forms = []

    def hear(ask):
        from discreet.local.study import Estimate

        asked_forms.append(ask)
        supports = np.linspace(900, 100, ask.oracle.aggregate_size).astype(np.int64)
        return Estimate(ask, 1000, supports)

    plan = kind(**settings)
    plan.check(goal)
    converse(plan.ask_rounds(goal), hear, reports=plan.reports)
    assert asked_forms
    for ask in asked_forms:
        assert ask.oracle.live
        texts = ["tea", "milk"] if kind.unlisted else None
        client(json.dumps(ask.form).encode(), [1, 2, 3], texts=texts, max_epsilon=2)
