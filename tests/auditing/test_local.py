"""The audit of oracles and protocols: what we have stands, and what is wrong with what others have is found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, inf, log
from typing import ClassVar

import numpy as np
import pytest

from discreet import MisuseError
from discreet.auditing import _local as local, _local_laws as local_laws, audit
from discreet.auditing._local import build_cases, exact, hard
from discreet.auditing._local_laws import ReportLaw, largest, law, subsets
from discreet.local import Protocol, SimulatedAnswers, compute_weight
from discreet.local.device import ANSWERS, WEIGHT_SCALE, WORD
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles import OLH
from discreet.local.oracles.grr import GRR
from discreet.local.oracles.privset import PrivSet
from discreet.local.study import Ask, CandidateList, CandidateQuestion, Partition, PeopleGroup, ProtocolResult
from discreet.registry import protocols
from naive import enumerating

UNIT_EPSILON = Fraction(1)
NOTHING = ProtocolResult(itemsets=(), values=np.empty(0), variance=np.empty(0))


@pytest.mark.parametrize("name", [*oracles(), *means()])
def test_every_oracle_stands(name):
    verdict = audit(name, epsilon=1, runs=200)
    assert verdict.stands, verdict
    assert [attempt.means for attempt in verdict.attempts] == ["exact", "statistical"]
    assert 0.99 < verdict.attempts[0].loss <= 1  # nothing of the budget is left lying
    assert (verdict.what, verdict.neighbours.value) == ("oracle", "replace")


# These ask so many questions that all of them would take minutes.
SMALLER = {
    "pairs": {"items": 3},
    "relations": {"items": 3, "rounds": 2, "fresh": 2},
    "relations-full": {"items": 3},
    "svd-fo": {"rounds": 2, "fresh": 2},
}


def audited():
    """Each protocol at a small epsilon and at a large one: one of them here, the other one in `make soak`."""
    for place, name in enumerate(protocols()):
        for turn, epsilon in enumerate(("1/2", 4)):
            yield pytest.param(name, epsilon, marks=[pytest.mark.slow] if (place + turn) % 2 else [])


@pytest.mark.parametrize(("name", "epsilon"), [*audited()])
def test_every_protocol_stands(name, epsilon):
    verdict = audit(name, epsilon=epsilon, runs=100, settings=SMALLER.get(name))
    assert verdict.stands, verdict
    assert [attempt.means for attempt in verdict.attempts] == ["coupled", "exact", "statistical"]
    assert verdict.attempts[1].loss == pytest.approx(float(Fraction(epsilon)))


@dataclass(frozen=True, kw_only=True)
class SharedDummy(GRR):
    """A3: one dummy for all of the padding. Right: as many as the padding."""

    proof: ClassVar[str] = "planted.md"

    @classmethod
    def make(cls, epsilon, size, *, pad=1, single=False):
        inside = compute_weight(pad * (Fraction(exp(epsilon)) - 1) + 1, 1, size - single)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, inside=inside)

    @property
    def dummies(self):
        return 0 if self.single else 1


@pytest.mark.parametrize(("pad", "loss"), [(2, 1.49), (5, 2.26), (10, 2.90), (20, 3.57)])
def test_a_shared_dummy_is_found(pad, loss):
    verdict = audit(SharedDummy.make(UNIT_EPSILON, pad + 1, pad=pad), epsilon=1, runs=2000)
    assert not verdict.stands
    assert verdict.attempts[0].loss == pytest.approx(loss, abs=0.005)
    assert verdict.worst.question == f"which of {pad + 1} candidates by grr, padded to {pad}"
    if pad > 2:
        assert not verdict.attempts[1].stands


def test_a_shared_dummy_is_found_in_sets_too():
    class SharedDummy(PrivSet):
        @property
        def dummies(self):
            return 1

    def answer(oracle, values, draws):
        own_values = {*draws.some(oracle["pad"], values)} or {oracle["size"]}
        hit = draws.chance(oracle["hit"])
        reports = [{value} for value in range(oracle["size"] + 1)]
        fitting = [report for report in reports if bool(report & own_values) == hit]
        return {"values": sorted(fitting[draws.below(len(fitting))])}

    right = ANSWERS["privset"]
    ANSWERS["privset"] = answer
    try:
        verdict, losses = exact(build_cases(SharedDummy.make(UNIT_EPSILON, 3, pad=2), UNIT_EPSILON))
    finally:
        ANSWERS["privset"] = right
    assert not verdict.stands
    assert losses[0].epsilon == verdict.loss > 1.2


@dataclass(frozen=True, kw_only=True)
class HalfOLH(OLH):
    """A4: g = ceil(e^epsilon + 1) buckets with the own one by a fair coin. Right: its weight follows from g."""

    proof: ClassVar[str] = "planted.md"

    @classmethod
    def make(cls, epsilon, size, *, pad=1, single=False):
        buckets = ceil(exp(epsilon) + 1)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, buckets=buckets, inside=WEIGHT_SCALE // 2)


def test_a_fair_coin_for_the_own_bucket_is_found():
    verdict = audit(HalfOLH, epsilon=1, runs=200)
    assert not verdict.stands
    assert verdict.worst.loss == pytest.approx(log(3))
    assert str(verdict) == (
        "olh: the claim is broken (epsilon = 1, replace one person). The report "
        '{"seed": [1401181143, 2842855745], "value": 3} is 3 times likelier for one of them. Neighbours: one person '
        "who holds {0}, or {1} instead."
    )


def test_silence_of_the_empty_handed_is_found_on_the_device(monkeypatch):
    right = ANSWERS["olh"]
    monkeypatch.setitem(ANSWERS, "olh", lambda oracle, held, draws: right(oracle, held, draws) if held else None)
    verdict = audit(OLH, epsilon=1, runs=100)
    assert not verdict.stands
    assert verdict.worst.loss == inf
    assert verdict.worst.why == "Only one of them makes the report nothing."
    assert not verdict.attempts[1].stands
    # And in a protocol, where the simulation answers all the same.
    attempt = audit(PlainProtocol(oracle=OLH), epsilon=1, runs=100).attempts[0]
    assert attempt.why == (
        "In the round 'first', a device that holds nothing sends nothing: silence tells what it holds (A7, X3)."
    )


@dataclass(frozen=True, kw_only=True)
class PlainProtocol(Protocol):
    """Ask everyone which items they hold; subclasses do it wrongly."""

    oracle: object = GRR

    name: ClassVar[str] = "asking"
    summary: ClassVar[str] = "Asks."
    citation: ClassVar[str] = "Nobody."
    proof: ClassVar[str] = "planted.md"

    def __init_subclass__(cls):
        cls.proof = "planted.md"

    def __post_init__(self):
        pass

    def check(self, parameters):
        pass

    def ask(self, name, asked_people, parameters, epsilon=None):
        question_oracle = self.oracle.make(epsilon or parameters.epsilon, parameters.items)
        return Ask(
            name=name,
            group=asked_people,
            question=CandidateQuestion(CandidateList(items=parameters.items)),
            oracle=question_oracle,
        )

    def ask_rounds(self, parameters):
        yield self.ask("first", Partition().next(UNIT_EPSILON), parameters)
        return NOTHING


@dataclass(frozen=True, kw_only=True)
class SilentGRR(GRR):
    """A7: who holds nothing sends nothing. Right: a dummy."""

    def reports(self, answered, seed):
        holders = np.flatnonzero(np.diff(answered.offsets) > 0)
        sizes = np.diff(answered.offsets)[holders]
        holders_answers = SimulatedAnswers(
            offsets=np.concatenate(([0], np.cumsum(sizes))), values=answered.values, people=answered.people[holders]
        )
        return super().reports(holders_answers, seed)


class Twice(PlainProtocol):
    """X4: somebody is asked again. Right: the next share of the line."""

    def ask_rounds(self, parameters):
        yield self.ask("first", PeopleGroup(0, WORD // 2), parameters)
        yield self.ask("second", PeopleGroup(WORD // 4, WORD), parameters)
        return NOTHING


class AtOnce(PlainProtocol):
    """X4 again, where both rounds are open at the same time."""

    def ask_rounds(self, parameters):
        yield self.ask("first", PeopleGroup(0, WORD), parameters), self.ask("second", PeopleGroup(0, WORD), parameters)
        return NOTHING


class Greedy(PlainProtocol):
    def ask_rounds(self, parameters):
        yield self.ask("first", PeopleGroup(0, WORD), parameters, epsilon=2 * parameters.epsilon)
        return NOTHING


class Stopping(PlainProtocol):
    """Stops where nobody seems to hold anything, after people were asked."""

    def ask_rounds(self, parameters):
        estimate = yield self.ask("first", PeopleGroup(0, WORD), parameters)
        if estimate.values.max() <= 0:
            raise MisuseError("Nobody holds anything.")
        return NOTHING


class Remembering(PlainProtocol):
    """Asks by what happened before, and not by what it hears."""

    asked_rounds: ClassVar[list[str]] = []

    def ask_rounds(self, parameters):
        self.asked_rounds.append("again")
        yield self.ask(f"round {len(self.asked_rounds)}", PeopleGroup(0, WORD), parameters)
        return NOTHING


def test_a_protocol_that_does_nothing_wrong_stands():
    assert audit(PlainProtocol(), runs=100).stands


@pytest.mark.parametrize(
    ("planted", "reason"),
    [
        (
            Twice(),
            "The rounds 'first' and 'second' ask the same people: their reports lose 2 together (X4).",
        ),
        (AtOnce(), "The rounds 'first' and 'second' ask the same people: their reports lose 2 together (X4)."),
        (Greedy(), "The round 'first' asks for epsilon 2."),
        (Stopping(), "After 1 rounds the protocol stops with MisuseError: Nobody holds anything."),
        (
            Remembering(),
            "The same answers were followed by other questions: something else than answers decides what is asked.",
        ),
        (
            PlainProtocol(oracle=HalfOLH),
            "After 0 rounds the protocol stops with MisuseError: No device would answer the round 'first': The "
            "question's probabilities give away more than the epsilon it states.",
        ),
    ],
    ids=["twice", "at once", "greedy", "stopping", "remembering", "half"],
)
def test_what_is_wrong_around_the_reports_is_found(planted, reason):
    verdict = audit(planted, epsilon=1, runs=100)
    assert not verdict.stands
    assert verdict.attempts[0].why == reason


def test_silence_of_the_empty_handed_is_found_in_the_crowd():
    attempt = audit(PlainProtocol(oracle=SilentGRR), epsilon=1, runs=100).attempts[0]
    assert not attempt.stands
    assert attempt.why.startswith("The round 'first' asks 600 people and hears ")
    assert attempt.why.endswith(": silence tells that somebody holds nothing (A7, X3).")


def test_the_verdict_names_what_it_is_about():
    plain = audit(PlainProtocol(), runs=50).to_dict()
    assert plain["protocol"] == "asking"
    assert plain["claim"] == {"epsilon": "1", "delta": "0", "neighbours": "replace"}
    assert audit(GRR, runs=50).to_dict()["oracle"] == "grr"


@pytest.mark.parametrize(
    ("audited", "options", "message"),
    [
        ("olh", {"delta": "1e-6"}, "olh promises a pure epsilon: leave delta out."),
        ("olh", {"epsilon": 50}, "olh refused every question of the audit."),
        ("olh", {"settings": {"pad": 2}}, "olh has no setting 'pad': it has none."),
        (
            oracles()["oue"].make(UNIT_EPSILON, 13),
            {},
            "One bit for each of 13 candidates cannot be enumerated: audit a question about 12 or fewer.",
        ),
        (GRR.make(UNIT_EPSILON, 3), {"epsilon": 2}, "This grr claims epsilon=1: audit it with that."),
        (
            OLH.sampled(UNIT_EPSILON, 9, pad=4, delta=Fraction(1, 100)),
            {},
            "This olh has a delta, and the audit of oracles is for pure epsilon.",
        ),
        (
            PlainProtocol(),
            {"settings": {"oracle": "grr"}},
            "Settings belong to a protocol given by name: put them into the object instead.",
        ),
    ],
    ids=["delta", "epsilon", "setting", "bits", "another epsilon", "sampled", "settings"],
)
def test_what_is_refused(audited, options, message):
    with pytest.raises(MisuseError) as caught:
        audit(audited, **options)
    assert str(caught.value) == message


def test_an_oracle_whose_devices_are_not_known():
    class UnknownOracle(GRR):
        name: ClassVar[str] = "other"
        proof: ClassVar[str] = "planted.md"

    with pytest.raises(MisuseError) as caught:
        audit(UnknownOracle)
    assert str(caught.value) == (
        "What a device of other does is not known: declare answer and loss in the class UnknownOracle."
    )


@pytest.mark.parametrize(("name", "size", "pad"), [("subset", 4, 2), ("privset", 3, 3), ("privset", 4, 2)])
@pytest.mark.parametrize("excess_factor", ["1.05", "1.2"])
def test_a_little_more_than_a_small_epsilon_is_found_in_subsets(name, size, pad, excess_factor):
    claimed = Fraction(1, 10)
    right, excess_oracle = (
        oracles()[name].make(claimed * times, size, pad=pad) for times in (1, Fraction(excess_factor))
    )
    planted = replace(right, hit=excess_oracle.hit)
    verdict, losses = exact(build_cases(planted, claimed))
    assert not verdict.stands
    assert verdict.means == "exact"
    assert losses[0].ratio == planted.ratio


def test_a_device_that_tells_how_many_baskets_it_has_is_found(monkeypatch):
    """Any way to draw one keeps the promise; to answer for one alone does not."""
    assert audit("grr", epsilon=1, runs=200).stands

    def only_one(basket_count, max_baskets, draws):
        if basket_count > 2:
            raise ValueError("too many")
        return 0

    monkeypatch.setattr(local.CHOOSING, "draw_position", only_one)
    verdict = audit("grr", epsilon=1, runs=200)
    assert not verdict.stands
    assert "for one of several baskets" in verdict.attempts[0].question


def test_what_is_enumerated_in_part_is_not_called_exact(monkeypatch):
    def answer(oracle, values, draws):
        while draws.chance(WORD // 10 * 9):  # a loop that the audit does not know of
            pass
        return {"value": 0}

    monkeypatch.setitem(ANSWERS, "grr", answer)
    monkeypatch.setattr(local_laws, "_PATHS", 41)
    verdict, _ = exact(build_cases(GRR.make(UNIT_EPSILON, 2), UNIT_EPSILON))
    assert verdict.means == "partial"
    assert verdict.tried == "1 questions, 4 baskets; up to 0.35 of what a device may do was left out"
    assert verdict.stands


class TestLaws:
    def test_choices_have_their_law(self):
        def device(draws):
            return {"a": draws.below(3), "b": int(draws.chance(WORD // 4)), "c": draws.bits(2, WORD // 2)}

        report_law = law(device)
        assert len(report_law.single) == 24
        assert sum(report_law.single.values()) == 1
        assert report_law.single['{"a": 0, "b": 1, "c": 3}'] == Fraction(1, 48)

    def test_places_and_sets(self):
        weight = WEIGHT_SCALE // 10
        report_law = law(lambda draws: {"value": draws.place(weight, 2, 3)})
        remaining_weight = WEIGHT_SCALE - 2 * weight
        assert report_law.single['{"value": 1}'] == Fraction(weight, WEIGHT_SCALE)
        assert report_law.single['{"value": 2}'] == Fraction(
            remaining_weight // 3 + (remaining_weight % 3 > 0), WEIGHT_SCALE
        )
        assert sum(report_law.single.values()) == 1
        assert set(law(lambda draws: draws.some(2, [5, 6, 7])).single.values()) == {Fraction(1, 3)}

    def test_very_many_places_are_followed_by_stretches(self):
        def device(draws):
            place = draws.place(WEIGHT_SCALE // 10**5, 30_000, 70_000)
            return {"seed": 1, "point": (place + 500) % 100_000}

        report_law = law(device)
        (parts,) = report_law.stretched.values()
        assert sum((stop - start) * chance_of_value for start, stop, chance_of_value in parts) == 1
        edges = sorted((start, stop) for start, stop, _ in parts)
        assert edges[0][0] == 0
        assert [stop for _, stop in edges] == [*(start for start, _ in edges[1:]), 100_000]

    def test_a_device_that_tries_again_is_followed_in_closed_form(self):
        def device(draws):
            def attempt():
                # An attempt within an attempt, and one that begins where another does.
                inner = draws.until(lambda: {draw} if (draw := draws.below(3)) else None)
                return inner if draws.below(2) < max(inner) else None

            return {"value": max(draws.until(attempt))}

        report_law = law(device)
        assert report_law.left_out == 0
        assert report_law.single == {'{"value": 1}': Fraction(1, 3), '{"value": 2}': Fraction(2, 3)}

    def test_sets_that_are_filled_up(self):
        report_law = law(lambda draws: sorted(draws.filled({1}, 3, 6, {5})))
        assert set(report_law.single.values()) == {Fraction(1, 6)}
        assert set(report_law.single) == {"[0, 1, 2]", "[0, 1, 3]", "[0, 1, 4]", "[1, 2, 3]", "[1, 2, 4]", "[1, 3, 4]"}

    @pytest.mark.parametrize("name", ["subset", "privset"])
    def test_the_law_is_that_of_another_enumeration(self, name):
        oracle = oracles()[name].make(Fraction(1, 10), 4, pad=2)
        for values in ([], [1], [0, 3], [0, 1, 2, 3]):
            report_law = law(lambda draws, values=values: ANSWERS[name](oracle.form, list(values), draws))
            assert report_law.left_out == 0
            assert report_law.single == enumerating.law(oracle.form, values)

    def test_a_loop_of_a_devices_own_is_followed_until_little_is_left(self):
        def device(draws):
            while True:
                if (draw := draws.below(3)) < 2:
                    return {"value": draw}

        report_law = law(device)
        assert report_law.left_out < Fraction(1, 10**9)
        assert report_law.single['{"value": 0}'] + report_law.left_out / 2 == Fraction(1, 2)

    def test_what_was_left_out_is_no_loss(self):
        whole_law = ReportLaw(single={"a": Fraction(1, 2), "b": Fraction(1, 2)})
        part = ReportLaw(single={"a": Fraction(1, 2)}, left_out=Fraction(1, 2))
        assert largest({"one": whole_law, "other": part}).ratio == 1
        assert largest({"one": whole_law, "other": ReportLaw(single={"a": Fraction(1)})}).ratio is None

    def test_subsets_and_hard_ones(self):
        assert subsets(range(2)) == [(), (0,), (1,), (0, 1)]
        hard_sets = hard(subsets(range(8)), 4)
        assert len(hard_sets) == 16
        assert {(), (0, 1, 2, 3), (4, 5, 6, 7), tuple(range(8))} <= set(hard_sets)


def test_relations_are_audited_among_fewer_items():
    """What a protocol asks grows with the square of its items, and not in kind; other settings stay as they are."""
    from discreet.auditing._local_talk import _shrink_protocol
    from discreet.local.protocols import SVIM, RelationMiner

    wide_protocol = RelationMiner(items=60, cascade=30, rounds=3, form="corrected")
    assert _shrink_protocol(wide_protocol) == RelationMiner(items=24, cascade=24, rounds=3, form="corrected")
    for plan in (RelationMiner(items=8, cascade=2), SVIM()):
        assert _shrink_protocol(plan) is plan
