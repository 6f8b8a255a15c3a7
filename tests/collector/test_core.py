"""A study without a service: what follows from stored rounds, for every protocol, after a restart at any point."""

# internals: this module makes the decomposition of a matrix fail.
from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet import registry
from discreet.baskets import Baskets, Vocabulary, starts
from discreet.collector import RoundEvent, RoundState, RoundTotals, StoredRound, StudyCore, StudyPlan, add_up
from discreet.collector._core import Conclude, DraftRound, MoveRound, render_outcome
from discreet.errors import InputError, MisuseError
from discreet.local import Answered
from discreet.local.oracles import OLH
from discreet.local.study import Ask, CandidateList, NumberQuestion, SimulatedPeople, Which

LIVE = [name for name, one in registry.protocols().items() if one.kind.live and one.package == "discreet"]
ITEMS = tuple("abcdefghij")


def plan_of(name: str = "adept", **more: object) -> StudyPlan:
    settings = {"items": 4, "support": 6} if "support" in registry.protocols()[name].kind.__dataclass_fields__ else {}
    unlisted = registry.protocols()[name].kind.unlisted
    settings |= {"alphabet": "abcdefghij", "length": 2} if unlisted else {}
    given = {
        "name": "study", "title": "A study", "asks": "What?", "protocol": name, "top": 3, "epsilon": "2",
        "items": () if unlisted else ITEMS, "settings": settings, "minimum": 0,
    }  # fmt: skip
    return StudyPlan(**{**given, **more})


def crowd(people: int = 1500) -> SimulatedPeople:
    generator = np.random.default_rng(3)
    rows = [sorted(generator.choice(len(ITEMS), generator.integers(0, 5), replace=False)) for _ in range(people)]
    codes = np.array([item for row in rows for item in row], np.int32)
    baskets = Baskets(starts([len(row) for row in rows]), codes, Vocabulary(list(ITEMS)))
    return SimulatedPeople(baskets=baskets, seed=5, speed="aggregated")


def step_moves(step: object, event: RoundEvent) -> bool:
    return isinstance(step, MoveRound) and step.event is event


class Shell:
    """Carries steps out in memory, as a service would in a store."""

    def __init__(self, plan: StudyPlan, people: SimulatedPeople) -> None:
        self.plan, self.core, self.people, self.numbers = plan, StudyCore(plan), people, people.numbers()
        self.rounds: dict[int, StoredRound] = {}
        self.result: str | None = None
        self.texts: list[str] = []

    def stored(self) -> list[StoredRound]:
        return [self.rounds[number] for number in sorted(self.rounds)]

    def steps(self) -> list[object]:
        return self.core.steps(self.stored(), 0.0, concluded=self.result is not None)

    def do(self, step: object) -> None:
        if isinstance(step, DraftRound):
            self.rounds[step.number] = StoredRound(number=step.number, state=RoundState.DRAFTED, ask=step.ask.text())
        elif step_moves(step, RoundEvent.OPEN):
            self.move(step.number, RoundState.OPEN)
        elif step_moves(step, RoundEvent.RELEASE):
            estimate = self.people.hear(step.ask, self.numbers)
            self.move(step.number, RoundState.RELEASED, heard=RoundTotals(estimate=estimate).text())
        elif step_moves(step, RoundEvent.SCRUB):
            self.move(step.number, RoundState.SCRUBBED)
        elif isinstance(step, Conclude):
            assert self.result is None
            self.result = step.result
        else:
            self.move(step.number, RoundState.CLOSED)

    def move(self, number: int, state: RoundState, **more: object) -> None:
        self.rounds[number] = replace(self.rounds[number], state=state, **more)

    def close_all(self) -> None:
        for one in self.stored():
            if one.state is RoundState.OPEN:
                self.move(one.number, RoundState.CLOSED)


def said(steps: list[object]) -> list[str]:
    return [
        f"{type(step).__name__} {getattr(step, 'event', '')} {getattr(step, 'number', '')} "
        f"{step.ask.text() if hasattr(step, 'ask') else getattr(step, 'result', '')}"
        for step in steps
    ]


@pytest.mark.parametrize("name", LIVE)
def test_a_restart_at_any_point_goes_on_with_the_same_bytes(name):
    shell = Shell(plan_of(name), crowd())
    restarts = 0
    while shell.result is None:
        steps = shell.steps()
        again = StudyCore(shell.plan).steps(shell.stored(), 0.0, concluded=False)
        assert said(again) == said(steps)
        restarts += 1
        if not steps:
            shell.close_all()
        for step in steps:
            shell.do(step)
    assert restarts > 3
    assert {one.state for one in shell.stored()} <= {RoundState.RELEASED, RoundState.SCRUBBED}
    told = json.loads(shell.result)
    assert told["guarantee"]["model"] == "local"
    assert told["simulated"] is False
    assert told["protocol"] == name
    while steps := shell.steps():
        for step in steps:
            shell.do(step)
    assert {one.state for one in shell.stored()} == {RoundState.SCRUBBED}
    again = StudyCore(shell.plan)
    assert again.steps(shell.stored(), 0.0, concluded=True) == []
    plain, widened = again.outcome().found, again.outcome(Fraction(1, 50)).found
    assert (widened.low <= plain.low).all()
    assert (widened.high >= plain.high).all()
    assert render_outcome(again.outcome()) == shell.result


def rounded_otherwise(monkeypatch, *, fewer: bool = False) -> None:
    """Make singular vectors as another processor might: a little off, and of opposite sign; or fewer that lead."""
    from discreet.local.estimation import _spectral as spectral
    from discreet.local.protocols import relations, relations_full, svd_fo

    def otherwise(matrix):
        left, singular, right = decomposed(matrix)
        off = 1 + 1e-3 * np.sin(np.arange(left.size)).reshape(left.shape)
        return -left * off, singular, -right * off

    decomposed, rank_of = spectral.decomposed, spectral.rank_of
    for one in (relations, relations_full, svd_fo):
        monkeypatch.setattr(one, "decomposed", otherwise)
        if fewer and hasattr(one, "rank_of"):
            monkeypatch.setattr(one, "rank_of", lambda singular, theta: max(1, rank_of(singular, theta) - 1))


@pytest.mark.parametrize("fewer", [False, True])
@pytest.mark.parametrize(
    ("name", "more"),
    [("relations", {}), ("relations", {"form": "printed"}), ("relations-full", {}), ("svd-fo", {})],
)  # fmt: skip
def test_a_study_goes_on_where_floating_point_is_another(name, more, fewer, monkeypatch):
    """From every point on, with what is stored; what was asked stays as it was, and the study comes to its end."""
    plan = plan_of(name)
    shorter = {} if name == "relations-full" else {"rounds": 2, "fresh": 3}
    plan, people = replace(plan, settings={**plan.settings, **more, **shorter}), crowd(400)
    shell, kept = Shell(plan, people), []
    while shell.result is None:
        steps = shell.steps()
        if not steps:
            shell.close_all()
            kept.append(dict(shell.rounds))
        for step in steps:
            shell.do(step)
    assert len(kept) > 3
    with monkeypatch.context() as patched:
        rounded_otherwise(patched, fewer=fewer)
        strange = 0
        for rounds in kept:
            again = Shell(plan, people)
            again.rounds = dict(rounds)
            while again.result is None:
                for step in again.steps():
                    again.do(step)
                again.close_all()
            strange += [one.ask for one in again.stored()] != [one.ask for one in shell.stored()]
            assert {number: one.ask for number, one in again.rounds.items()}.items() >= {
                number: one.ask for number, one in rounds.items()
            }.items()
        # What is not stored yet is computed here: those that went on early asked in other directions.
        assert 0 < strange < len(kept)
    # And what has ended there is read here with the same result.
    end = Shell(plan, people)
    end.rounds = dict(again.rounds)
    (step,) = [one for one in end.steps() if isinstance(one, Conclude)]
    assert json.loads(step.result)["rounds"] == json.loads(again.result)["rounds"]


def test_two_services_that_round_differently_ask_one_thing(monkeypatch):
    """The other one was quicker: its rounds are stored, some of a step or all."""
    plan = plan_of("relations")
    shell, people = Shell(plan, crowd(400)), crowd(400)
    while not any(isinstance(one.ask.question, NumberQuestion) for one in shell.steps() if isinstance(one, DraftRound)):
        for step in shell.steps():
            shell.do(step)
        if not shell.steps():
            shell.close_all()
    mine = [one for one in shell.steps() if isinstance(one, DraftRound)]
    with monkeypatch.context() as patched:
        rounded_otherwise(patched)
        other = Shell(plan, people)
        other.rounds = dict(shell.rounds)
        theirs = [one for one in other.steps() if isinstance(one, DraftRound)]
    assert [one.ask.text() for one in mine] != [one.ask.text() for one in theirs]
    for many in (3, len(theirs)):
        for step in theirs[:many]:
            shell.do(step)
        left = [one for one in shell.steps() if isinstance(one, DraftRound)]
        assert len(left) == len(theirs) - many
    assert [shell.core.asks[one.number].text() for one in theirs] == [one.ask.text() for one in theirs]


def test_rounds_that_the_protocol_does_not_ask_for_stop_it():
    shell = Shell(plan_of(), crowd())
    for step in shell.steps():
        shell.do(step)
    strange = replace(shell.rounds[0], ask=shell.rounds[0].ask.replace('"name"', '"Name"'))
    with pytest.raises(InputError) as error:
        StudyCore(shell.plan).steps([strange], 0.0, concluded=False)
    assert str(error.value) == (
        "Round 1 of the study 'study' is not what its protocol asks for after the answers that are stored: go on with "
        "the settings and the version of discreet that it was begun with."
    )
    with pytest.raises(InputError):
        StudyCore(plan_of(top=2, epsilon="1")).steps(shell.stored(), 0.0, concluded=False)
    heard = replace(shell.rounds[0], heard='{"people":3,"supports":[1],"left_out":0,"alarms":[]}')
    with pytest.raises(InputError, match="is not what such a round adds up to"):
        StudyCore(shell.plan).steps([heard], 0.0, concluded=False)


class TestHowRoundsClose:
    def opened(self, **more: object) -> tuple[StudyCore, StoredRound, list[object]]:
        core = StudyCore(plan_of(**more))
        (draft, *_) = core.steps([], 100.0, concluded=False)
        one = StoredRound(number=0, state=RoundState.DRAFTED, ask=draft.ask.text())
        (step, *_) = [step for step in core.steps([one], 100.0, concluded=False) if step_moves(step, RoundEvent.OPEN)]
        return core, replace(one, state=RoundState.OPEN, closes=step.closes), step

    def closing(self, core: StudyCore, one: StoredRound, now: float = 100.0) -> bool:
        steps = core.steps([one], now, concluded=False)
        return any(step_moves(step, RoundEvent.CLOSE) for step in steps)

    def test_by_a_quota(self):
        core, one, step = self.opened(close="quota", people=1000)
        quota = core.quota(0)
        who = core.asks[0].who
        assert quota == -(-1000 * (who.stop - who.start) // 2**32)
        assert step.closes is None
        assert not self.closing(core, replace(one, people=quota - 1), 1e12)
        assert self.closing(core, replace(one, people=quota))

    def test_by_a_deadline(self):
        core, one, step = self.opened(close="deadline", hours=0.5)
        assert step.closes == 100 + 1800
        assert not self.closing(core, replace(one, people=10**6), 1899.9)
        assert self.closing(core, one, 1900.0)

    def test_by_a_deadline_only_with_enough_reports(self):
        core, one, _ = self.opened(close="deadline", hours=0.5, minimum=200)
        assert not self.closing(core, replace(one, people=199), 1e12)
        assert self.closing(core, replace(one, people=200), 1900.0)

    @pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
    def test_the_minimum_is_the_fewest_reports_that_say_anything(self, epsilon):
        """With as many, an interval around a half is shorter than the whole range; with one fewer it is not."""
        core, _, _ = self.opened(name="svim", epsilon=epsilon, minimum=None)
        for number, ask in enumerate(core.asks):
            fewest = core.minimum(number)
            half = [1.96 * float(np.sqrt(ask.oracle.spread(np.array([0.5]), 1)[0] / n)) for n in (fewest - 1, fewest)]
            assert half[1] <= 0.5 < half[0] * 1.001
        assert core.minimum(0) == StudyCore(plan_of("svim", epsilon=epsilon, minimum=None)).minimum(0)
        quota, _, _ = self.opened(name="svim", epsilon=epsilon, minimum=None, close="quota", people=3)
        assert quota.minimum(0) == quota.quota(0)  # whoever asks so few people has said so

    def test_by_hand(self):
        core, one, step = self.opened(close="hand", people=10)
        assert core.quota(0) is None
        assert step.closes is None
        assert not self.closing(core, replace(one, people=10**6), 1e12)


def test_reports_may_be_kept_until_an_operator_says_so():
    shell = Shell(plan_of(scrub="hand"), crowd())
    while shell.result is None:
        steps = shell.steps()
        for step in steps:
            shell.do(step)
        if not steps:
            shell.close_all()
    assert {one.state for one in shell.stored()} == {RoundState.RELEASED}
    assert shell.steps() == []


def test_adding_up_in_blocks_is_adding_up():
    ask = StudyCore(plan_of("svim")).asks[0]
    people = 1000
    answered = Answered(
        offsets=np.arange(people + 1), held=np.arange(people, dtype=np.int32) % 10, people=np.arange(people)
    )
    columns = ask.oracle.reports(answered, 3)
    words = ask.oracle.codec.pack(columns)
    for screen in (False, True):
        added = add_up(ask, lambda: (words[at : at + 7] for at in range(0, people, 7)), screen=screen)
        assert (added.estimate.people, added.left_out, added.alarms) == (people, 0, ())
        assert added.estimate.supports.tolist() == ask.oracle.supports(columns).tolist()
        assert add_up(ask, list, screen=screen).estimate.people == 0
        again = RoundTotals.parse(ask, added.text())
        assert again.text() == added.text()


class TestManyPeople:
    """A study that expects very many people publishes seeds; one that began without goes on as it was asked."""

    PLAN: ClassVar = plan_of("svim", settings={"first_oracle": "olh", "oracle": "olh", "size_oracle": "olh"})

    def test_seeds_are_in_the_question(self):
        few, many = (StudyCore(replace(self.PLAN, people=people)).asks[0] for people in (20_000, 10**7))
        assert "seeds" not in few.form["oracle"]
        assert many.form["oracle"] == {**few.form["oracle"], "seeds": 1024}

    def test_reports_fall_into_a_table(self):
        ask = StudyCore(replace(self.PLAN, people=10**7)).asks[0]
        people = 3000
        answered = Answered(
            offsets=np.arange(people + 1), held=np.arange(people, dtype=np.int32) % 10, people=np.arange(people)
        )
        columns = ask.oracle.reports(answered, 3)
        words, aggregate = ask.oracle.codec.pack(columns), ask.oracle.adder.start()
        assert words.shape == (people, 2)
        ask.oracle.adder.add(aggregate, columns)
        for screen in (False, True):
            added = add_up(ask, lambda: (words[at : at + 7] for at in range(0, people, 7)), screen=screen)
            assert (added.estimate.people, added.left_out, added.alarms) == (people, 0, ())
            assert added.estimate.supports.tolist() == ask.oracle.adder.decode(aggregate).tolist()
            assert RoundTotals.parse(ask, added.text()).text() == added.text()

    def test_a_study_that_began_with_fresh_seeds_goes_on(self):
        shell = Shell(self.PLAN, crowd())
        for step in shell.steps():
            shell.do(step)
        before = [one.ask for one in shell.stored()]
        shell.core = StudyCore(replace(self.PLAN, people=10**7))
        while shell.result is None:
            steps = shell.steps()
            for step in steps:
                shell.do(step)
            if not steps:
                shell.close_all()
        asked = [one.ask for one in shell.stored()]
        assert asked[: len(before)] == before
        assert "seeds" not in before[0]
        assert '"seeds":1024' in asked[-1]


def test_a_study_that_would_give_away_more_than_it_says_is_not_begun():
    core = StudyCore(plan_of())
    oracle = OLH.sampled(Fraction(2), 10, pad=3, delta=Fraction(1, 100))
    risky = Ask(name="which", who=core.asks[0].who, question=Which(CandidateList(10)), oracle=oracle)
    core.conversation.rounds = (risky,)
    with pytest.raises(MisuseError, match="and the study promises 2 and 0: raise delta, or use other settings"):
        core._number_asks()


def test_an_unfinished_study_has_no_outcome():
    with pytest.raises(MisuseError, match="has not ended: some of its rounds are not released"):
        StudyCore(plan_of()).outcome()
