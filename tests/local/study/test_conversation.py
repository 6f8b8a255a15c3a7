"""Conversations: the people asked, the number of questions, the promise, and taking one up again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import EVERY_LOSS
from discreet.local.device import WORD
from discreet.local.oracles.grr import GRR
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Estimate,
    Partition,
    PeopleGroup,
    ProtocolResult,
    SizeQuestion,
    StudyGoal,
    compute_guarantee,
    converse,
)
from discreet.local.study._conversation import most_reports
from discreet.registry import protocol
from replaying import replay, stored

ONE_EPSILON = Fraction(1)
ITEMS = CandidateQuestion(CandidateList(items=4))


def ask(name: str, audience: PeopleGroup, epsilon: Fraction = ONE_EPSILON, oracle: str = "grr") -> Ask:
    return Ask.of(name, audience, ITEMS, oracle, epsilon)


def make_estimate(asked_round: Ask, seed: int = 0) -> Estimate:
    """Some answer, the same for the same round."""
    counts = np.random.default_rng([seed, asked_round.group.start]).integers(0, 900, asked_round.question.values)
    return Estimate(asked_round, 1000, counts)


def talk_of(*rounds):
    """Ask these in turn and say how often each first candidate was supported."""
    supports_heard = []
    for round_of_talk in rounds:
        answer = yield round_of_talk
        supports_heard += [
            int(estimate.supports[0]) for estimate in (answer if isinstance(answer, tuple) else (answer,))
        ]
    return ProtocolResult(itemsets=((0,),), values=np.zeros(1), variance=np.ones(1), facts={"told": supports_heard})


HALF, OTHER_HALF = PeopleGroup(0, WORD // 2), PeopleGroup(WORD // 2, WORD)


class TestWhoIsAsked:
    def test_shares_follow_each_other(self):
        line = Partition()
        parts = [line.next(Fraction(share)) for share in ("0.25", "0.05", "1/3")]
        assert all(part.stop == next_part.start for part, next_part in pairwise(parts))
        assert (parts[0].start, parts[0].stop, parts[2].stop) == (0, WORD // 4, int(Fraction("19/30") * WORD))

    @pytest.mark.parametrize(("start", "stop"), [(0, 0), (5, 4), (-1, 3), (0, WORD + 1)])
    def test_shares_of_nobody_and_of_more_than_all(self, start, stop):
        with pytest.raises(MisuseError) as error:
            PeopleGroup(start, stop)
        assert (
            str(error.value) == "A round asks some of the people: its share must be over 0, and all shares 1 at most."
        )

    def test_an_oracle_for_another_question(self):
        with pytest.raises(MisuseError) as error:
            Ask(
                name="sizes", group=HALF, question=SizeQuestion.up_to(ITEMS.candidates, 4), oracle=ask("x", HALF).oracle
            )
        assert str(error.value) == "The oracle of the round 'sizes' is made for another question."

    @pytest.mark.parametrize("at_once", [False, True])
    def test_a_second_report_is_caught(self, at_once):
        rounds = (ask("first", HALF), ask("second", PeopleGroup(WORD // 4, WORD)))
        with pytest.raises(MisuseError) as error:
            converse(talk_of(rounds) if at_once else talk_of(*rounds), make_estimate)
        late = "first" if at_once else "second"
        assert str(error.value) == f"The round '{late}' asks people again who have answered already."

    def test_nobody_hears_the_round_that_is_caught(self):
        heard_names = []

        def hear(asked_round):
            heard_names.append(asked_round.name)
            return make_estimate(asked_round)

        with pytest.raises(MisuseError):
            converse(talk_of(ask("first", HALF), ask("second", HALF)), hear)
        assert heard_names == ["first"]

    def test_nobody_is_asked_through_an_oracle_without_a_page(self, monkeypatch):
        """Also where a protocol that has one makes it by itself."""
        heard_names = []

        @dataclass(frozen=True, kw_only=True)
        class Bare(GRR):
            name: ClassVar[str] = "bare"

        monkeypatch.setitem(EVERY_LOSS.maps[0], "bare", EVERY_LOSS["grr"])
        bare = Ask(name="bare", group=OTHER_HALF, question=ITEMS, oracle=Bare.make(ONE_EPSILON, 4))
        with pytest.raises(MisuseError, match=r"The oracle bare of the package .* has no proof page"):
            converse(talk_of((ask("first", HALF), bare)), heard_names.append)
        assert heard_names == []

    def test_forms_for_comparison_say_how_often(self):
        result, _ = converse(talk_of(ask("first", HALF), ask("second", HALF)), make_estimate, reports=2)
        assert len(result.facts["told"]) == 2

    def test_most_reports(self):
        assert most_reports([]) == 0
        assert most_reports([ask("a", HALF), ask("b", OTHER_HALF)]) == 1
        assert (
            most_reports([ask("a", PeopleGroup(0, 9)), ask("b", PeopleGroup(3, 5)), ask("c", PeopleGroup(4, 9))]) == 3
        )

    def test_several_at_once(self):
        result, estimates = converse(talk_of((ask("a", HALF), ask("b", OTHER_HALF))), make_estimate)
        assert [estimate.ask.name for estimate in estimates] == ["a", "b"]
        assert result.facts["told"] == [int(estimate.supports[0]) for estimate in estimates]


class TestPromised:
    def test_disjoint_rounds_do_not_add_up(self):
        guarantee = compute_guarantee([ask("a", HALF), ask("b", OTHER_HALF, Fraction(2))])
        assert (guarantee.epsilon, guarantee.delta, guarantee.model) == (2, 0, "local")
        assert [charge.what for charge in guarantee.charges] == ["a", "b"]

    def test_rounds_of_the_same_people_do(self):
        guarantee = compute_guarantee(
            [ask("a", HALF), ask("b", PeopleGroup(5, 9), Fraction(1, 3)), ask("c", OTHER_HALF)]
        )
        assert guarantee.epsilon == Fraction(4, 3)

    def test_what_is_public(self):
        assert compute_guarantee([ask("a", HALF)]).public == ("the items",)
        assert "been anything else" in compute_guarantee([ask("a", HALF)]).in_words()


def answered(name: str, goal: StudyGoal, rounds: int | None = None):
    _, estimates = converse(protocol(name).ask_rounds(goal), make_estimate)
    return [stored(estimate) for estimate in estimates[:rounds]]


GOAL = StudyGoal(items=40, top=3, epsilon=ONE_EPSILON)


class TestReplay:
    @pytest.mark.parametrize("name", ["svim", "svsm", "svim-better", "svsm-better", "ldpminer"])
    def test_goes_on_where_it_stopped(self, name):
        whole_result, estimates = converse(protocol(name).ask_rounds(GOAL), make_estimate)
        everything = answered(name, GOAL)
        for round_count in range(len(everything)):
            replayed = replay(protocol(name).ask_rounds(GOAL), everything[:round_count])
            assert replayed.result is None
            assert [estimate.ask.text() for estimate in replayed.estimates] == [
                estimate.ask.text() for estimate in estimates[:round_count]
            ]
            assert [open_round.text() for open_round in replayed.open_rounds] == [estimates[round_count].ask.text()]
        ended = replay(protocol(name).ask_rounds(GOAL), reversed(everything))
        assert ended.open_rounds == ()
        assert ended.result is not None
        assert ended.result.itemsets == whole_result.itemsets
        assert ended.result.values.tobytes() == whole_result.values.tobytes()

    def test_other_answers_make_other_asks_and_stop(self):
        everything = answered("svim", GOAL)
        everything[0]["supports"] = everything[0]["supports"][::-1]
        with pytest.raises(AssertionError, match=r"not asked: .*'how many candidates'"):
            replay(protocol("svim").ask_rounds(GOAL), everything)

    def test_other_settings_stop(self):
        with pytest.raises(AssertionError, match=r"not asked: .'which items'"):
            replay(protocol("svim", {"shares": "0 0.6 0.1 0.3"}).ask_rounds(GOAL), answered("svim", GOAL, 1))

    def test_answers_beyond_the_end_stop(self):
        with pytest.raises(AssertionError, match=r"not asked: .'b'"):
            replay(
                talk_of(ask("a", HALF)),
                [stored(make_estimate(ask("a", HALF))), stored(make_estimate(ask("b", OTHER_HALF)))],
            )

    def test_some_of_several_at_once(self):
        both_rounds = (ask("a", HALF), ask("b", OTHER_HALF))
        replayed = replay(talk_of(both_rounds), [stored(make_estimate(both_rounds[1]))])
        assert (
            [estimate.ask.name for estimate in replayed.estimates],
            [open_round.name for open_round in replayed.open_rounds],
        ) == (
            ["b"],
            ["a"],
        )
        ended = replay(
            talk_of(both_rounds), [stored(make_estimate(asked_round)) for asked_round in reversed(both_rounds)]
        )
        assert ended.result is not None
        assert ended.result.facts["told"] == [
            int(make_estimate(asked_round).supports[0]) for asked_round in both_rounds
        ]

    def test_a_second_report_is_caught(self):
        with pytest.raises(MisuseError, match="asks people again"):
            replay(talk_of((ask("a", HALF), ask("b", HALF))), [])


def test_a_round_is_known_by_one_line():
    first_round = ask("a", HALF)
    assert json.loads(first_round.text()) == {"name": "a", "who": [0, WORD // 2], "question": first_round.form}
    assert (first_round.form["of"], first_round.form["epsilon"], first_round.form.get("delta")) == (4, "1", None)


def test_too_many_patterns():
    with pytest.raises(MisuseError) as error:
        StudyGoal(items=5, top=100_001, epsilon=ONE_EPSILON)
    assert str(error.value) == "A local protocol finds up to 100,000 patterns; 100,001 were wanted."


def test_where_nobody_was_asked_anything_may_be():
    question_round = Ask.of("items", PeopleGroup(0, 1), ITEMS, "grr", Fraction(1))
    assert Estimate(question_round, 0, np.zeros(ITEMS.values, np.int64)).variance.tolist() == [1.0] * ITEMS.values


class TestHowManyAreExpected:
    """Rounds to many people are asked with published seeds; nothing else changes, and few are asked as ever."""

    ROUNDS: ClassVar = (ask("half", HALF, oracle="olh"), (ask("rest", OTHER_HALF, oracle="olh"),))

    def list_seeds(self, people):
        _, rounds = converse(talk_of(*self.ROUNDS), make_estimate, people=people)
        return [estimate.ask.form["oracle"].get("seeds") for estimate in rounds]

    def test_seeds_go_by_the_share_of_a_round(self):
        assert self.list_seeds(None) == self.list_seeds(10_000) == [None, None]
        assert self.list_seeds(10**6) == [1024, 1024]
        round_of_many = Ask.of("", HALF, CandidateQuestion(CandidateList(10**5)), "olh", ONE_EPSILON)
        assert round_of_many.expecting(10**9).form["oracle"]["seeds"] == 1 << 18
        assert ask("", HALF).expecting(10**9) == ask("", HALF)

    def test_it_goes_on_where_it_stopped(self):
        _, rounds = converse(talk_of(*self.ROUNDS), make_estimate, people=10**6)
        answers = [stored(estimate) for estimate in rounds]
        assert replay(talk_of(*self.ROUNDS), answers, people=10**6).result is not None

    @pytest.mark.parametrize("before", [None, 10**9])
    def test_what_was_asked_before_is_asked_on_with_the_seeds_it_had(self, before):
        """A study that began with fresh seeds, or with others, is gone on with."""
        _, rounds = converse(talk_of(*self.ROUNDS), make_estimate, people=before)
        answers = [stored(estimate) for estimate in rounds]
        if before:
            for stored_round in answers:
                stored_round["ask"] = stored_round["ask"].replace('"seeds":1024', '"seeds":8192')
        led = replay(talk_of(*self.ROUNDS), answers, people=10**6)
        assert led.result is not None
        assert [estimate.ask.form["oracle"].get("seeds") for estimate in led.estimates] == [
            8192 if before else None
        ] * 2
