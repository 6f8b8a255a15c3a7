"""Both ends joined: what devices send as bytes is what the collector estimates from, for every oracle and protocol.

A simulation makes the same reports with compiled code. Here each device is `discreet.local.client` itself, with the
random words that the simulated person has, and the collector is `collect`: both must end with the same numbers.
"""

# internals: this module needs the crowds of the audit.
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import registry
from discreet.auditing import _holdings as holdings
from discreet.local import client
from discreet.local.device import WORD
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    PeopleGroup,
    SeededWords,
    SimulatedPeople,
    StudyGoal,
    _collect as collecting,
    converse,
    seed_of,
)
from discreet.local.study._collect import collect
from replaying import stored

ITEMS, PEOPLE, SEED = 12, 400, 7
LIVE = [
    oracle.name for oracle in registry.oracles().values() if oracle.kind.live and oracle.answers == ("frequencies",)
]
# Of few people short texts alone are found.
SETTINGS = {"prefixes": {"alphabet": "0123456789", "length": 2}}
PROTOCOLS = [protocol.name for protocol in registry.protocols().values() if protocol.kind.live]


@pytest.fixture(scope="module")
def people():
    return holdings.crowd(ITEMS, PEOPLE, seed=3)


@pytest.fixture(scope="module")
def crowd(people):
    return SimulatedPeople(baskets=holdings.build_baskets(people, ITEMS), seed=SEED, speed="person")


def send_reports(ask, people, numbers):
    """Return the bytes that the devices a round names send, each with the words of its simulated twin."""
    seed = seed_of(SEED, f"{ask.name}:{ask.group.start}")
    return [
        client(
            ask.form,
            person_data.items,
            texts=person_data.texts if "texts" in ask.form else None,
            max_epsilon=ask.oracle.epsilon,
            max_delta=ask.oracle.delta,
            given=person_data.given,
            after=person_data.after,
            take=SeededWords(seed, person).take,
        )
        for person, person_data in enumerate(people)
        if ask.group.start <= numbers[person] < ask.group.stop
    ]


@pytest.mark.parametrize("pad", [1, 3])
@pytest.mark.parametrize("name", LIVE)
def test_an_oracle(name, pad, people, crowd):
    ask = Ask.of("which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(ITEMS)), name, Fraction(2), pad=pad)
    collected = collect(ask, send_reports(ask, people, crowd.numbers()))
    expected = crowd.hear(ask, crowd.numbers())
    assert collected.refused == ()
    assert (collected.estimate.people, expected.people) == (PEOPLE, PEOPLE)
    assert collected.estimate.supports.tolist() == expected.supports.tolist()
    assert collected.estimate.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("screen", [False, True])
@pytest.mark.parametrize("name", ["olh", "wheel"])
def test_published_seeds(name, screen, people, crowd):
    """Bytes with the numbers of seeds, a table of them, and the same supports; both speeds and screening too."""
    ask = Ask.of("which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(ITEMS)), name, Fraction(2), pad=3)
    ask = replace(ask, oracle=ask.frequencies.numbered(64))
    collected = collect(ask, send_reports(ask, people, crowd.numbers()), screen=screen)
    assert (collected.refused, collected.left_out, collected.alarms) == ((), (), ())
    for speed in ("person", "aggregated"):
        expected = replace(crowd, speed=speed, screen=screen).hear(ask, crowd.numbers())
        assert collected.estimate.supports.tolist() == expected.supports.tolist()
    assert np.abs(collected.estimate.values).max() < 2


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol(name, people, crowd):
    """The conversation goes the same way, and ends with the same patterns, whoever makes the reports."""
    plan, numbers = registry.protocol(name, SETTINGS.get(name)), crowd.numbers()
    goal = StudyGoal(items=ITEMS, top=4, epsilon=Fraction(8))
    result, estimates = converse(
        plan.ask_rounds(goal),
        lambda ask: collect(ask, send_reports(ask, people, numbers)).estimate,
        reports=plan.reports,
    )
    expected, rounds = converse(plan.ask_rounds(goal), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)
    assert [stored(estimate) for estimate in estimates] == [stored(estimate) for estimate in rounds]
    assert (result.itemsets, result.values.tolist()) == (expected.itemsets, expected.values.tolist())
    assert sum(estimate.people for estimate in estimates) == PEOPLE


def test_bad_reports_are_refused_by_their_place_and_cost_no_other(monkeypatch):
    ask = Ask.of("", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(10)), "grr", Fraction(2))
    good_reports = [b'{"value":%d}' % (place % 11) for place in range(110)]
    mixed = [b'{"value":11}', *good_reports, b"x" * 1000]
    for block in (1 << 15, 50):
        monkeypatch.setattr(collecting, "_BLOCK", block)
        collected = collect(ask, iter(mixed))
        assert (collected.estimate.people, collected.estimate.supports.tolist()) == (110, [10] * 10)
        assert [refusal.place for refusal in collected.refused] == [0, 111]


def test_nobody_answered():
    ask = Ask.of("", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(4)), "olh", Fraction(1))
    collected = collect(ask, [])
    assert (collected.estimate.people, collected.estimate.values.tolist()) == (0, [0.0] * 4)
