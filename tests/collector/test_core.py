"""A study without a service: its steps from stored rounds, for every protocol, after a restart at any point."""

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
from discreet.local import SimulatedAnswers
from discreet.local.oracles import OLH
from discreet.local.study import Ask, CandidateList, CandidateQuestion, NumberQuestion, SimulatedPeople

LIVE = [
    name for name, protocol in registry.protocols().items() if protocol.kind.live and protocol.package == "discreet"
]
ITEMS = tuple("abcdefghij")


def plan_of(name: str = "adept", **changes: object) -> StudyPlan:
    settings = {"items": 4, "support": 6} if "support" in registry.protocols()[name].kind.__dataclass_fields__ else {}
    unlisted = registry.protocols()[name].kind.unlisted
    settings |= {"alphabet": "abcdefghij", "length": 2} if unlisted else {}
    fields = {
        "name": "study", "title": "A study", "asks": "What?", "protocol": name, "top": 3, "epsilon": "2",
        "items": () if unlisted else ITEMS, "settings": settings, "minimum": 0,
    }  # fmt: skip
    return StudyPlan(**{**fields, **changes})


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

    def move(self, number: int, state: RoundState, **changes: object) -> None:
        self.rounds[number] = replace(self.rounds[number], state=state, **changes)

    def close_all(self) -> None:
        for stored_round in self.stored():
            if stored_round.state is RoundState.OPEN:
                self.move(stored_round.number, RoundState.CLOSED)


def describe_steps(steps: list[object]) -> list[str]:
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
        next_steps = StudyCore(shell.plan).steps(shell.stored(), 0.0, concluded=False)
        assert describe_steps(next_steps) == describe_steps(steps)
        restarts += 1
        if not steps:
            shell.close_all()
        for step in steps:
            shell.do(step)
    assert restarts > 3
    assert {stored_round.state for stored_round in shell.stored()} <= {RoundState.RELEASED, RoundState.SCRUBBED}
    result = json.loads(shell.result)
    assert result["guarantee"]["model"] == "local"
    assert result["simulated"] is False
    assert result["protocol"] == name
    while steps := shell.steps():
        for step in steps:
            shell.do(step)
    assert {stored_round.state for stored_round in shell.stored()} == {RoundState.SCRUBBED}
    new_core = StudyCore(shell.plan)
    assert new_core.steps(shell.stored(), 0.0, concluded=True) == []
    plain, widened = new_core.outcome().found, new_core.outcome(Fraction(1, 50)).found
    assert (widened.low <= plain.low).all()
    assert (widened.high >= plain.high).all()
    assert render_outcome(new_core.outcome()) == shell.result


def rounded_otherwise(monkeypatch, *, fewer: bool = False) -> None:
    """Make singular vectors as a different processor might: a little off, and of opposite sign; or fewer that lead."""
    from discreet.local.estimation import _spectral as spectral
    from discreet.local.protocols import relations, relations_full, svd_fo

    def otherwise(matrix):
        left_vectors, singular, right_vectors = decomposed(matrix)
        error_factors = 1 + 1e-3 * np.sin(np.arange(left_vectors.size)).reshape(left_vectors.shape)
        return -left_vectors * error_factors, singular, -right_vectors * error_factors

    decomposed, rank_of = spectral.decomposed, spectral.rank_of
    for module in (relations, relations_full, svd_fo):
        monkeypatch.setattr(module, "decomposed", otherwise)
        if fewer and hasattr(module, "rank_of"):
            monkeypatch.setattr(module, "rank_of", lambda singular, theta: max(1, rank_of(singular, theta) - 1))


@pytest.mark.parametrize("fewer", [False, True])
@pytest.mark.parametrize(
    ("name", "changes"),
    [("relations", {}), ("relations", {"form": "printed"}), ("relations-full", {}), ("svd-fo", {})],
)  # fmt: skip
def test_a_study_goes_on_where_floating_point_is_another(name, changes, fewer, monkeypatch):
    """From every point on, with what is stored; what was asked stays as it was, and the study comes to its end."""
    plan = plan_of(name)
    shorter = {} if name == "relations-full" else {"rounds": 2, "fresh": 3}
    plan, people = replace(plan, settings={**plan.settings, **changes, **shorter}), crowd(400)
    shell, stored_states = Shell(plan, people), []
    while shell.result is None:
        steps = shell.steps()
        if not steps:
            shell.close_all()
            stored_states.append(dict(shell.rounds))
        for step in steps:
            shell.do(step)
    assert len(stored_states) > 3
    with monkeypatch.context() as patched:
        rounded_otherwise(patched, fewer=fewer)
        strange = 0
        for rounds in stored_states:
            resumed_shell = Shell(plan, people)
            resumed_shell.rounds = dict(rounds)
            while resumed_shell.result is None:
                for step in resumed_shell.steps():
                    resumed_shell.do(step)
                resumed_shell.close_all()
            strange += [stored_round.ask for stored_round in resumed_shell.stored()] != [
                stored_round.ask for stored_round in shell.stored()
            ]
            assert {number: stored_round.ask for number, stored_round in resumed_shell.rounds.items()}.items() >= {
                number: stored_round.ask for number, stored_round in rounds.items()
            }.items()
        # What is not stored yet is computed here: those that went on early asked in other directions.
        assert 0 < strange < len(stored_states)
    # And what has ended there is read here with the same result.
    end = Shell(plan, people)
    end.rounds = dict(resumed_shell.rounds)
    (step,) = [step for step in end.steps() if isinstance(step, Conclude)]
    assert json.loads(step.result)["rounds"] == json.loads(resumed_shell.result)["rounds"]


def test_two_services_that_round_differently_ask_one_thing(monkeypatch):
    """The other one was quicker: its rounds are stored, some of a step or all."""
    plan = plan_of("relations")
    shell, people = Shell(plan, crowd(400)), crowd(400)
    while not any(
        isinstance(step.ask.question, NumberQuestion) for step in shell.steps() if isinstance(step, DraftRound)
    ):
        for step in shell.steps():
            shell.do(step)
        if not shell.steps():
            shell.close_all()
    mine = [step for step in shell.steps() if isinstance(step, DraftRound)]
    with monkeypatch.context() as patched:
        rounded_otherwise(patched)
        other_shell = Shell(plan, people)
        other_shell.rounds = dict(shell.rounds)
        theirs = [step for step in other_shell.steps() if isinstance(step, DraftRound)]
    assert [step.ask.text() for step in mine] != [step.ask.text() for step in theirs]
    for done_count in (3, len(theirs)):
        for step in theirs[:done_count]:
            shell.do(step)
        remaining_steps = [step for step in shell.steps() if isinstance(step, DraftRound)]
        assert len(remaining_steps) == len(theirs) - done_count
    assert [shell.core.asks[step.number].text() for step in theirs] == [step.ask.text() for step in theirs]


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
    changed_round = replace(shell.rounds[0], heard='{"people":3,"supports":[1],"left_out":0,"alarms":[]}')
    with pytest.raises(InputError, match="is not what such a round adds up to"):
        StudyCore(shell.plan).steps([changed_round], 0.0, concluded=False)


class TestHowRoundsClose:
    def opened(self, **changes: object) -> tuple[StudyCore, StoredRound, list[object]]:
        core = StudyCore(plan_of(**changes))
        (draft, *_) = core.steps([], 100.0, concluded=False)
        stored_round = StoredRound(number=0, state=RoundState.DRAFTED, ask=draft.ask.text())
        (step, *_) = [
            step for step in core.steps([stored_round], 100.0, concluded=False) if step_moves(step, RoundEvent.OPEN)
        ]
        return core, replace(stored_round, state=RoundState.OPEN, closes=step.closes), step

    def closing(self, core: StudyCore, stored_round: StoredRound, clock_seconds: float = 100.0) -> bool:
        steps = core.steps([stored_round], clock_seconds, concluded=False)
        return any(step_moves(step, RoundEvent.CLOSE) for step in steps)

    def test_by_a_quota(self):
        core, stored_round, step = self.opened(close="quota", people=1000)
        quota = core.quota(0)
        people_asked = core.asks[0].group
        assert quota == -(-1000 * (people_asked.stop - people_asked.start) // 2**32)
        assert step.closes is None
        assert not self.closing(core, replace(stored_round, people=quota - 1), 1e12)
        assert self.closing(core, replace(stored_round, people=quota))

    def test_by_a_deadline(self):
        core, stored_round, step = self.opened(close="deadline", hours=0.5)
        assert step.closes == 100 + 1800
        assert not self.closing(core, replace(stored_round, people=10**6), 1899.9)
        assert self.closing(core, stored_round, 1900.0)

    def test_by_a_deadline_only_with_enough_reports(self):
        core, stored_round, _ = self.opened(close="deadline", hours=0.5, minimum=200)
        assert not self.closing(core, replace(stored_round, people=199), 1e12)
        assert self.closing(core, replace(stored_round, people=200), 1900.0)

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
        core, stored_round, step = self.opened(close="hand", people=10)
        assert core.quota(0) is None
        assert step.closes is None
        assert not self.closing(core, replace(stored_round, people=10**6), 1e12)


def test_reports_may_be_kept_until_an_operator_says_so():
    shell = Shell(plan_of(scrub="hand"), crowd())
    while shell.result is None:
        steps = shell.steps()
        for step in steps:
            shell.do(step)
        if not steps:
            shell.close_all()
    assert {stored_round.state for stored_round in shell.stored()} == {RoundState.RELEASED}
    assert shell.steps() == []


def test_adding_up_in_blocks_is_adding_up():
    ask = StudyCore(plan_of("svim")).asks[0]
    people = 1000
    answered = SimulatedAnswers(
        offsets=np.arange(people + 1), values=np.arange(people, dtype=np.int32) % 10, people=np.arange(people)
    )
    columns = ask.oracle.reports(answered, 3)
    words = ask.oracle.codec.pack(columns)
    for screen in (False, True):
        totals = add_up(ask, lambda: (words[start : start + 7] for start in range(0, people, 7)), screen=screen)
        assert (totals.estimate.people, totals.left_out, totals.alarms) == (people, 0, ())
        assert totals.estimate.supports.tolist() == ask.oracle.supports(columns).tolist()
        assert add_up(ask, list, screen=screen).estimate.people == 0
        parsed_totals = RoundTotals.parse(ask, totals.text())
        assert parsed_totals.text() == totals.text()


class TestManyPeople:
    """A study that expects very many people publishes seeds; one that began without goes on as it was asked."""

    PLAN: ClassVar = plan_of("svim", settings={"first_oracle": "olh", "oracle": "olh", "size_oracle": "olh"})

    def test_seeds_are_in_the_question(self):
        small_ask, large_ask = (StudyCore(replace(self.PLAN, people=people)).asks[0] for people in (20_000, 10**7))
        assert "seeds" not in small_ask.form["oracle"]
        assert large_ask.form["oracle"] == {**small_ask.form["oracle"], "seeds": 1024}

    def test_reports_fall_into_a_table(self):
        ask = StudyCore(replace(self.PLAN, people=10**7)).asks[0]
        people = 3000
        answered = SimulatedAnswers(
            offsets=np.arange(people + 1), values=np.arange(people, dtype=np.int32) % 10, people=np.arange(people)
        )
        columns = ask.oracle.reports(answered, 3)
        words, aggregate = ask.oracle.codec.pack(columns), ask.oracle.adder.start()
        assert words.shape == (people, 2)
        ask.oracle.adder.add(aggregate, columns)
        for screen in (False, True):
            totals = add_up(ask, lambda: (words[start : start + 7] for start in range(0, people, 7)), screen=screen)
            assert (totals.estimate.people, totals.left_out, totals.alarms) == (people, 0, ())
            assert totals.estimate.supports.tolist() == ask.oracle.adder.decode(aggregate).tolist()
            assert RoundTotals.parse(ask, totals.text()).text() == totals.text()

    def test_a_study_that_began_with_fresh_seeds_goes_on(self):
        shell = Shell(self.PLAN, crowd())
        for step in shell.steps():
            shell.do(step)
        before = [stored_round.ask for stored_round in shell.stored()]
        shell.core = StudyCore(replace(self.PLAN, people=10**7))
        while shell.result is None:
            steps = shell.steps()
            for step in steps:
                shell.do(step)
            if not steps:
                shell.close_all()
        asks_after = [stored_round.ask for stored_round in shell.stored()]
        assert asks_after[: len(before)] == before
        assert "seeds" not in before[0]
        assert '"seeds":1024' in asks_after[-1]


def test_a_study_that_would_give_away_more_than_it_says_is_not_begun():
    core = StudyCore(plan_of())
    oracle = OLH.sampled(Fraction(2), 10, pad=3, delta=Fraction(1, 100))
    risky = Ask(name="which", group=core.asks[0].group, question=CandidateQuestion(CandidateList(10)), oracle=oracle)
    core.conversation.rounds = (risky,)
    with pytest.raises(MisuseError, match="and the study promises 2 and 0: raise delta, or use other settings"):
        core._number_asks()


def test_an_unfinished_study_has_no_outcome():
    with pytest.raises(MisuseError, match="has not ended: some of its rounds are not released"):
        StudyCore(plan_of()).outcome()
