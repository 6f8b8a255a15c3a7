"""Conversations: who is asked, how often, what that promises, and how one is taken up again."""

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
    Estimate,
    HowMany,
    Learnt,
    Partition,
    Wanted,
    Which,
    Who,
    compute_guarantee,
    converse,
)
from discreet.local.study._conversation import most_reports
from discreet.registry import protocol
from replaying import replay, stored

ONE = Fraction(1)
ITEMS = Which(CandidateList(items=4))


def ask(name: str, who: Who, epsilon: Fraction = ONE, oracle: str = "grr") -> Ask:
    return Ask.of(name, who, ITEMS, oracle, epsilon)


def heard(asked: Ask, seed: int = 0) -> Estimate:
    """Some answer, the same for the same round."""
    drawn = np.random.default_rng([seed, asked.who.start]).integers(0, 900, asked.question.values)
    return Estimate(asked, 1000, drawn)


def talk_of(*rounds):
    """Ask these in turn and say how often each first candidate was supported."""
    told = []
    for one in rounds:
        answer = yield one
        told += [int(each.supports[0]) for each in (answer if isinstance(answer, tuple) else (answer,))]
    return Learnt(itemsets=((0,),), values=np.zeros(1), variance=np.ones(1), facts={"told": told})


HALF, REST = Who(0, WORD // 2), Who(WORD // 2, WORD)


class TestWhoIsAsked:
    def test_shares_follow_each_other(self):
        line = Partition()
        parts = [line.next(Fraction(share)) for share in ("0.25", "0.05", "1/3")]
        assert all(one.stop == other.start for one, other in pairwise(parts))
        assert (parts[0].start, parts[0].stop, parts[2].stop) == (0, WORD // 4, int(Fraction("19/30") * WORD))

    @pytest.mark.parametrize(("start", "stop"), [(0, 0), (5, 4), (-1, 3), (0, WORD + 1)])
    def test_shares_of_nobody_and_of_more_than_all(self, start, stop):
        with pytest.raises(MisuseError) as error:
            Who(start, stop)
        assert (
            str(error.value) == "A round asks some of the people: its share must be over 0, and all shares 1 at most."
        )

    def test_an_oracle_for_another_question(self):
        with pytest.raises(MisuseError) as error:
            Ask(name="sizes", who=HALF, question=HowMany.up_to(ITEMS.of, 4), oracle=ask("x", HALF).oracle)
        assert str(error.value) == "The oracle of the round 'sizes' is made for another question."

    @pytest.mark.parametrize("at_once", [False, True])
    def test_a_second_report_is_caught(self, at_once):
        rounds = (ask("first", HALF), ask("second", Who(WORD // 4, WORD)))
        with pytest.raises(MisuseError) as error:
            converse(talk_of(rounds) if at_once else talk_of(*rounds), heard)
        late = "first" if at_once else "second"
        assert str(error.value) == f"The round '{late}' asks people again who have answered already."

    def test_nobody_hears_the_round_that_is_caught(self):
        told = []

        def hear(asked):
            told.append(asked.name)
            return heard(asked)

        with pytest.raises(MisuseError):
            converse(talk_of(ask("first", HALF), ask("second", HALF)), hear)
        assert told == ["first"]

    def test_nobody_is_asked_through_an_oracle_without_a_page(self, monkeypatch):
        """Also where a protocol that has one makes it by itself."""
        told = []

        @dataclass(frozen=True, kw_only=True)
        class Bare(GRR):
            name: ClassVar[str] = "bare"

        monkeypatch.setitem(EVERY_LOSS.maps[0], "bare", EVERY_LOSS["grr"])
        bare = Ask(name="bare", who=REST, question=ITEMS, oracle=Bare.make(ONE, 4))
        with pytest.raises(MisuseError, match=r"The oracle bare of the package .* has no proof page"):
            converse(talk_of((ask("first", HALF), bare)), told.append)
        assert told == []

    def test_forms_for_comparison_say_how_often(self):
        learnt, _ = converse(talk_of(ask("first", HALF), ask("second", HALF)), heard, reports=2)
        assert len(learnt.facts["told"]) == 2

    def test_most_reports(self):
        assert most_reports([]) == 0
        assert most_reports([ask("a", HALF), ask("b", REST)]) == 1
        assert most_reports([ask("a", Who(0, 9)), ask("b", Who(3, 5)), ask("c", Who(4, 9))]) == 3

    def test_several_at_once(self):
        learnt, estimates = converse(talk_of((ask("a", HALF), ask("b", REST))), heard)
        assert [one.ask.name for one in estimates] == ["a", "b"]
        assert learnt.facts["told"] == [int(one.supports[0]) for one in estimates]


class TestPromised:
    def test_disjoint_rounds_do_not_add_up(self):
        guarantee = compute_guarantee([ask("a", HALF), ask("b", REST, Fraction(2))])
        assert (guarantee.epsilon, guarantee.delta, guarantee.model) == (2, 0, "local")
        assert [charge.what for charge in guarantee.charges] == ["a", "b"]

    def test_rounds_of_the_same_people_do(self):
        guarantee = compute_guarantee([ask("a", HALF), ask("b", Who(5, 9), Fraction(1, 3)), ask("c", REST)])
        assert guarantee.epsilon == Fraction(4, 3)

    def test_what_is_public(self):
        assert compute_guarantee([ask("a", HALF)]).public == ("the items",)
        assert "been anything else" in compute_guarantee([ask("a", HALF)]).in_words()


def answered(name: str, wanted: Wanted, rounds: int | None = None):
    _, estimates = converse(protocol(name).talk(wanted), heard)
    return [stored(one) for one in estimates[:rounds]]


WANTED = Wanted(items=40, top=3, epsilon=ONE)


class TestReplay:
    @pytest.mark.parametrize("name", ["svim", "svsm", "svim-better", "svsm-better", "ldpminer"])
    def test_goes_on_where_it_stopped(self, name):
        whole, estimates = converse(protocol(name).talk(WANTED), heard)
        everything = answered(name, WANTED)
        for many in range(len(everything)):
            standing = replay(protocol(name).talk(WANTED), everything[:many])
            assert standing.learnt is None
            assert [one.ask.text() for one in standing.estimates] == [one.ask.text() for one in estimates[:many]]
            assert [one.text() for one in standing.open_rounds] == [estimates[many].ask.text()]
        ended = replay(protocol(name).talk(WANTED), reversed(everything))
        assert ended.open_rounds == ()
        assert ended.learnt is not None
        assert ended.learnt.itemsets == whole.itemsets
        assert ended.learnt.values.tobytes() == whole.values.tobytes()

    def test_other_answers_make_other_asks_and_stop(self):
        everything = answered("svim", WANTED)
        everything[0]["supports"] = everything[0]["supports"][::-1]
        with pytest.raises(AssertionError, match=r"not asked: .*'how many candidates'"):
            replay(protocol("svim").talk(WANTED), everything)

    def test_other_settings_stop(self):
        with pytest.raises(AssertionError, match=r"not asked: .'which items'"):
            replay(protocol("svim", {"shares": "0 0.6 0.1 0.3"}).talk(WANTED), answered("svim", WANTED, 1))

    def test_answers_beyond_the_end_stop(self):
        with pytest.raises(AssertionError, match=r"not asked: .'b'"):
            replay(talk_of(ask("a", HALF)), [stored(heard(ask("a", HALF))), stored(heard(ask("b", REST)))])

    def test_some_of_several_at_once(self):
        both = (ask("a", HALF), ask("b", REST))
        standing = replay(talk_of(both), [stored(heard(both[1]))])
        assert ([one.ask.name for one in standing.estimates], [one.name for one in standing.open_rounds]) == (
            ["b"],
            ["a"],
        )
        ended = replay(talk_of(both), [stored(heard(one)) for one in reversed(both)])
        assert ended.learnt is not None
        assert ended.learnt.facts["told"] == [int(heard(one).supports[0]) for one in both]

    def test_a_second_report_is_caught(self):
        with pytest.raises(MisuseError, match="asks people again"):
            replay(talk_of((ask("a", HALF), ask("b", HALF))), [])


def test_a_round_is_known_by_one_line():
    one = ask("a", HALF)
    assert json.loads(one.text()) == {"name": "a", "who": [0, WORD // 2], "question": one.form}
    assert (one.form["of"], one.form["epsilon"], one.form.get("delta")) == (4, "1", None)


def test_too_many_patterns():
    with pytest.raises(MisuseError) as error:
        Wanted(items=5, top=100_001, epsilon=ONE)
    assert str(error.value) == "A local protocol finds up to 100,000 patterns; 100,001 were wanted."


def test_where_nobody_was_asked_anything_may_be():
    asked = Ask.of("items", Who(0, 1), ITEMS, "grr", Fraction(1))
    assert Estimate(asked, 0, np.zeros(ITEMS.values, np.int64)).variance.tolist() == [1.0] * ITEMS.values


class TestHowManyAreExpected:
    """Rounds to many people are asked with published seeds; nothing else changes, and few are asked as ever."""

    ROUNDS: ClassVar = (ask("half", HALF, oracle="olh"), (ask("rest", REST, oracle="olh"),))

    def asked(self, people):
        _, rounds = converse(talk_of(*self.ROUNDS), heard, people=people)
        return [one.ask.form["oracle"].get("seeds") for one in rounds]

    def test_seeds_go_by_the_share_of_a_round(self):
        assert self.asked(None) == self.asked(10_000) == [None, None]
        assert self.asked(10**6) == [1024, 1024]
        many = Ask.of("", HALF, Which(CandidateList(10**5)), "olh", ONE)
        assert many.expecting(10**9).form["oracle"]["seeds"] == 1 << 18
        assert ask("", HALF).expecting(10**9) == ask("", HALF)

    def test_it_goes_on_where_it_stopped(self):
        _, rounds = converse(talk_of(*self.ROUNDS), heard, people=10**6)
        answers = [stored(one) for one in rounds]
        assert replay(talk_of(*self.ROUNDS), answers, people=10**6).learnt is not None

    @pytest.mark.parametrize("before", [None, 10**9])
    def test_what_was_asked_before_is_asked_on_with_the_seeds_it_had(self, before):
        """A study that began with fresh seeds, or with others, is gone on with."""
        _, rounds = converse(talk_of(*self.ROUNDS), heard, people=before)
        answers = [stored(one) for one in rounds]
        if before:
            for one in answers:
                one["ask"] = one["ask"].replace('"seeds":1024', '"seeds":8192')
        led = replay(talk_of(*self.ROUNDS), answers, people=10**6)
        assert led.learnt is not None
        assert [one.ask.form["oracle"].get("seeds") for one in led.estimates] == [8192 if before else None] * 2
