from __future__ import annotations

import csv
import io
import json
import pickle
import stat
import tempfile
from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import discreet
from discreet import InputError, MisuseError
from discreet.errors import BudgetError
from discreet.privacy import Neighbours, epsilon_for, rho_for
from discreet.privacy.ledger import Ledger, Spend
from discreet.privacy.ledger._account import round_charge

ZERO = Fraction(0)
MILLIONTH = Fraction(1, 10**6)
SHORT_EPSILONS = [*map(Fraction, ("0.01", "0.05", "0.5", "1", "8")), Fraction(1, 3), Fraction(2, 7)]
EPSILONS = [*SHORT_EPSILONS, Fraction(10**13 + 1, 10**14)]  # the last is longer than the grid


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "budget.db"


def cost(epsilon, delta=ZERO, rho=None, discovery_delta=ZERO, neighbours=Neighbours.ADD_REMOVE) -> dict:
    epsilon = Fraction(epsilon)
    rho = epsilon**2 / 2 if rho is None else Fraction(rho)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "rho": rho,
        "discovery_delta": discovery_delta,
        "neighbours": neighbours,
    }


def spend(ledger: Ledger, epsilon, *, baskets=None, same_data=False, **options) -> Spend:
    return ledger.spend(
        **cost(epsilon, **options),
        what="laplace",
        parameters={"top": 10},
        who="user",
        baskets=baskets,
        same_data=same_data,
    )


def refused(ledger: Ledger, epsilon, **options) -> str:
    """Return what a spend is refused with, after seeing that nothing changed."""
    before = ledger.spends(), ledger.state()
    with pytest.raises((BudgetError, MisuseError)) as raised:
        spend(ledger, epsilon, **options)
    assert (ledger.spends(), ledger.state()) == before
    return str(raised.value)


class TestPure:
    def test_spend_by_spend(self, path):
        ledger = Ledger.create(path, epsilon=1, name="wards")
        first_spend = spend(ledger, "0.5")
        second = spend(ledger, "0.3")
        assert (first_spend.number, first_spend.state, first_spend.release, first_spend.changed) == (
            1,
            "spent",
            None,
            False,
        )
        assert Ledger.open(path).spends() == (first_spend, second)
        state = ledger.state()
        assert (state.spent, state.remaining) == (Fraction(4, 5), Fraction(1, 5))
        assert (state.epsilon_spent, state.epsilon_left, state.delta_left) == (Fraction(4, 5), Fraction(1, 5), 0)
        assert (state.name, state.accounting, state.spends, state.unrecorded) == ("wards", "pure", 2, 2)

    def test_thirds_are_a_third(self, path):
        ledger = Ledger.create(path, epsilon="1/3")
        for _ in range(3):
            spend(ledger, Fraction(1, 9))
        assert ledger.state().remaining == 0

    def test_over_the_budget(self, path):
        ledger = Ledger.create(path, epsilon=1)
        spend(ledger, "0.8")
        with pytest.raises(BudgetError) as raised:
            spend(ledger, "0.5")
        error = raised.value
        numbers = (error.requested, error.spent, error.remaining, error.difference)
        assert numbers == tuple(map(Fraction, ("0.5", "0.8", "0.2", "0.3")))
        assert error.unit == "epsilon"
        assert str(error) == (
            "The budget does not allow it: epsilon 0.5 requested, 0.8 of 1 spent, 0.2 remaining, 0.3 missing. "
            "Ask for epsilon 0.2 or less."
        )
        unpickled = pickle.loads(pickle.dumps(error))
        assert (str(unpickled), vars(unpickled)) == (str(error), vars(error))
        spend(ledger, "0.2")
        assert refused(ledger, Fraction(1, 10**11)) == (
            "The budget does not allow it: epsilon 1e-11 requested, 1 of 1 spent, 0 remaining, 1e-11 missing. "
            "Nothing more can be released from these data: a budget does not grow back."
        )

    def test_long_fractions_are_rounded_up_and_shown_short(self, path):
        ledger = Ledger.create(path, epsilon=1)
        long_epsilon = Fraction(10**20 + 1, 3 * 10**20)
        assert spend(ledger, long_epsilon).epsilon == Fraction(333333333334, 10**12)
        assert refused(ledger, Fraction(7 * 10**11 + 1, 10**12)) == (
            "The budget does not allow it: epsilon 0.700001 requested, 0.333334 of 1 spent, 0.666666 remaining, "
            "0.0333334 missing. Ask for epsilon 0.666666 or less."
        )

    def test_what_it_does_not_take(self, path):
        ledger = Ledger.create(path, epsilon=2, most="0.5")
        assert refused(ledger, "0.5", delta=MILLIONTH) == (
            "The ledger is kept in pure epsilon, and this release has a delta of 1e-06. Ask for one without delta."
        )
        assert refused(ledger, "0.5", neighbours=Neighbours.REPLACE) == (
            "The ledger is kept for neighbours who add or remove one person, and this release promises replace one "
            "person; the two are never added up. Ask for a release that promises the former."
        )
        assert refused(ledger, "0.51") == "epsilon is 0.51, but the ledger allows at most 0.5 per release."
        assert ledger.state().epsilon_left == Fraction(1, 2)
        spend(ledger, "0.5")

    @pytest.mark.parametrize("epsilon", SHORT_EPSILONS)
    def test_all_of_a_budget_can_be_spent_in_parts(self, epsilon, path):
        ledger = Ledger.create(path, epsilon=epsilon)
        for share in (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)):
            spend(ledger, epsilon * share)
        assert (ledger.state().spent, ledger.state().remaining) == (epsilon, 0)


class TestZcdp:
    HALF = MILLIONTH / 2

    def test_rho_adds_up(self, path):
        ledger = Ledger.create(path, epsilon=1, delta="1e-6")
        fresh = ledger.state()
        assert (fresh.accounting, fresh.remaining) == ("zcdp", rho_for(Fraction(1), MILLIONTH))
        assert (fresh.epsilon_spent, fresh.epsilon_left) == (0, 1)
        quarter = fresh.remaining / 4
        spend(ledger, "0.5", delta=MILLIONTH, rho=quarter)
        spend(ledger, "0.5", delta=MILLIONTH, rho=quarter)
        state = ledger.state()
        assert state.spent == 2 * round_charge(quarter)
        assert state.epsilon_spent == epsilon_for(state.spent, self.HALF)
        assert state.remaining == rho_for(Fraction(1), self.HALF) - state.spent
        assert state.epsilon_spent < 1 < 2 * state.epsilon_spent

    def test_pure_releases_cost_their_rho(self, path):
        ledger = Ledger.create(path, epsilon=1, delta="1e-6")
        assert spend(ledger, "0.1").rho == Fraction(1, 200)
        with pytest.raises(BudgetError) as raised:
            spend(ledger, "0.5")
        error = raised.value
        assert (error.unit, error.requested, error.spent) == ("rho", Fraction(1, 8), Fraction(1, 200))
        assert error.remaining == rho_for(Fraction(1), self.HALF) - Fraction(1, 200)
        assert error.difference == error.requested - error.remaining
        assert str(error) == (
            "The budget does not allow it: rho 0.125 requested, 0.005 of 0.0229375 spent, 0.0179374 remaining, "
            "0.107063 missing. Losses add up by zCDP here, as rho. Ask for epsilon 0.849073 or less with a delta."
        )

    def test_own_deltas_come_off_half_of_the_delta(self, path):
        ledger = Ledger.create(path, epsilon=1, delta="1e-6")
        assert ledger.state().delta_left == self.HALF
        part = MILLIONTH / 5
        for count in (1, 2):
            spend(ledger, "0.1", delta=2 * part, discovery_delta=part)
            assert ledger.state().delta_left == self.HALF - count * part
        with pytest.raises(BudgetError) as raised:
            spend(ledger, "0.1", delta=part, discovery_delta=part)
        error = raised.value
        assert (error.unit, error.requested, error.spent, error.remaining) == ("delta", part, 2 * part, part / 2)
        assert str(error) == (
            "The budget does not allow it: delta 2e-07 requested, 4e-07 of 5e-07 spent, 1e-07 remaining, 1e-07 "
            "missing. Ask for a smaller delta: half of the ledger's is for what releases bring of their own."
        )

    def test_a_first_release_may_take_everything(self, path, tmp_path):
        ledger = Ledger.create(path, epsilon=1, delta="1e-6")
        spend(ledger, 1, delta=MILLIONTH, rho=rho_for(Fraction(1), MILLIONTH))
        assert ledger.state().epsilon_spent <= 1
        assert refused(ledger, 1, rho=MILLIONTH).endswith(
            "Nothing more can be released from these data: a budget does not grow back."
        )
        assert refused(ledger, 1, rho=MILLIONTH, delta=MILLIONTH, discovery_delta=MILLIONTH) == (
            "The budget does not allow it: delta 1e-06 requested, 0 of 0 spent, 0 remaining, 1e-06 missing. "
            "Ask for a release that brings no delta of its own: say which items there are."
        )
        # With a delta of its own, what turns its rho into epsilon is the rest.
        discovery_ledger = Ledger.create(tmp_path / "finding.db", epsilon=1, delta="1e-6")
        cost = {"delta": MILLIONTH, "discovery_delta": self.HALF}
        assert "rho" in refused(discovery_ledger, 1, rho=rho_for(Fraction(1), MILLIONTH), **cost)
        spend(discovery_ledger, 1, rho=rho_for(Fraction(1), self.HALF), **cost)

    def test_what_delta_is_for_is_settled_by_the_first_spend(self, path):
        # Were it open, a later spend could choose by what was released: see ledger.md.
        ledger = Ledger.create(path, epsilon=1, delta="1e-6")
        spend(ledger, "0.1", rho=MILLIONTH)
        assert "rho" in refused(ledger, 1, delta=MILLIONTH, rho=rho_for(Fraction(1), MILLIONTH) - MILLIONTH)
        spend(ledger, 1, delta=MILLIONTH, rho=rho_for(Fraction(1), self.HALF) - MILLIONTH)

    def test_tiny_deltas_are_not_rounded_to_the_grid_of_epsilon(self, path):
        ledger = Ledger.create(path, epsilon=1, delta="1e-15")
        tiny = Fraction(1, 10**18)
        assert spend(ledger, "0.01", delta=tiny, discovery_delta=tiny).discovery_delta == tiny

    @settings(max_examples=15)
    @given(st.sampled_from(EPSILONS), st.integers(3, 12), st.fractions(0, Fraction(99, 100)))
    def test_what_is_left_can_be_asked_for_and_no_more(self, epsilon, digits, share):
        delta = Fraction(1, 10**digits)
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger.create(f"{folder}/budget.db", epsilon=epsilon, delta=delta)
            if share:
                part = epsilon * share
                spend(ledger, part, delta=delta, rho=max(rho_for(part, delta), Fraction(1, 10**12)))
            state = ledger.state()
            refused(ledger, epsilon, delta=delta, rho=state.remaining + max(state.remaining, MILLIONTH) / 1000)
            if state.epsilon_left:
                rho = rho_for(state.epsilon_left, delta)
                assert rho <= state.remaining
                spend(ledger, state.epsilon_left, delta=delta, rho=max(rho, Fraction(1, 10**12)))
            assert ledger.state().epsilon_spent <= epsilon


class TestWhyDeltaIsDivided:
    """Someone who may still choose what delta is for can choose by what was released, and break the promise.

    Gaussian noise up to a rho of t has a privacy loss L of mean t and variance 2 t. Whoever has spent t1 of a whole rho
    knows L, and either spends the rest, or brings own deltas as far as `allowed` lets them. The delta that results at
    epsilon is the mean, over L, of the worse of the two.
    """

    EPSILON, DELTA = 1.0, 1e-6

    def reached(self, first_rho: float, total_rho: float, allowed_loss: float) -> float:
        from scipy.integrate import quad
        from scipy.stats import norm

        def after(loss, time):
            """The mean of (1 - e^(epsilon - L))+ when this much time is still to come."""
            deviation, above = sqrt(2 * time), self.EPSILON - loss - time
            return norm.sf(above / deviation) - exp(above + time) * norm.sf((above + 2 * time) / deviation)

        def excess_loss(loss):
            stopped = allowed_loss + max(0.0, 1 - exp(self.EPSILON - loss))
            return max(after(loss, total_rho - first_rho), stopped) * norm.pdf(loss, first_rho, sqrt(2 * first_rho))

        reach = sqrt(2 * first_rho)
        return quad(excess_loss, first_rho - 8 * reach, first_rho + 12 * reach, points=[self.EPSILON], limit=1000)[0]

    def test_a_delta_shared_freely_breaks_the_promise(self):
        total_rho = float(rho_for(Fraction(1), MILLIONTH))
        unused = [MILLIONTH * tenth / 100 for tenth in range(1, 100)]
        first_rho = Fraction(3, 5) * rho_for(Fraction(1), MILLIONTH)
        needed_delta = min(delta for delta in unused if epsilon_for(first_rho, delta) <= 1)
        assert self.reached(0.6 * total_rho, total_rho, self.DELTA - float(needed_delta)) > 1.15 * self.DELTA

    @pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8, 0.9])
    def test_a_delta_divided_beforehand_keeps_it(self, share):
        total_rho = float(rho_for(Fraction(1), MILLIONTH / 2))
        assert self.reached(share * total_rho, total_rho, self.DELTA / 2) < self.DELTA


class Machine(RuleBasedStateMachine):
    """Any sequence of spends, checks and records: the file agrees with a list, and the budget holds."""

    @initialize(epsilon=st.sampled_from(EPSILONS), delta=st.sampled_from([ZERO, MILLIONTH]))
    def make(self, epsilon, delta):
        self.folder = tempfile.TemporaryDirectory()
        self.epsilon, self.delta = epsilon, delta
        self.ledger = Ledger.create(f"{self.folder.name}/budget.db", epsilon=epsilon, delta=delta)
        self.spends: list[Spend] = []

    def loss(self, further_costs=()):
        amounts = [spend_record.rho if self.delta else spend_record.epsilon for spend_record in self.spends]
        return sum([*amounts, *further_costs], ZERO)

    def affordable(self, epsilon, rho):
        if not self.delta:
            return self.loss([epsilon]) <= self.epsilon
        first_rho = self.spends[0].rho if self.spends else rho
        delta = self.delta if epsilon_for(first_rho, self.delta / 2) > self.epsilon else self.delta / 2
        return epsilon_for(self.loss([rho]), delta) <= self.epsilon

    @rule(epsilon=st.sampled_from(EPSILONS), share=st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 100)]))
    def pay(self, epsilon, share):
        epsilon = round_charge(epsilon * share)
        rho = round_charge(epsilon**2 / 8)
        if self.affordable(epsilon, rho):
            after = self.ledger.check(**cost(epsilon, rho=rho), baskets=None)
            self.spends.append(spend(self.ledger, epsilon, rho=rho))
            assert after == replace(self.ledger.state(), head=after.head)  # whose hash has the time in it
            return
        with pytest.raises(BudgetError) as raised:
            self.ledger.check(**cost(epsilon, rho=rho), baskets=None)
        with pytest.raises(BudgetError) as repeated_error:
            spend(self.ledger, epsilon, rho=rho)
        error = raised.value
        assert str(repeated_error.value) == str(error)
        assert error.requested == (rho if self.delta else epsilon)
        assert error.spent == self.loss()
        assert 0 <= error.remaining < error.requested
        assert error.difference == error.requested - error.remaining

    @precondition(lambda self: getattr(self, "spends", None))
    @rule(data=st.data())
    def record(self, data):
        place = data.draw(st.integers(0, len(self.spends) - 1))
        self.ledger.record(self.spends[place], f"digest {place}")
        self.spends[place] = self.ledger.spends()[place]
        assert (self.spends[place].state, self.spends[place].release) == ("released", f"digest {place}")

    @invariant()
    def the_sum_of_spends_is_what_is_spent(self):
        if hasattr(self, "ledger"):
            state = self.ledger.state()
            assert list(self.ledger.spends()) == self.spends
            assert state.spent == self.loss()
            assert state.epsilon_spent <= self.epsilon
            assert state.remaining >= 0
            assert self.delta or state.spent + state.remaining == self.epsilon
            assert state.unrecorded == sum(spend_record.release is None for spend_record in self.spends)

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=12, stateful_step_count=12)


class TestData:
    @pytest.fixture
    def ledger(self, path):
        return Ledger.create(path, epsilon=10)

    def test_same_grown_and_other_data(self, ledger, path):
        rows = [{"tea", "milk"}, {"tea"}, {"bread"}]
        assert not spend(ledger, 1, baskets=discreet.read(rows)).changed
        assert not spend(ledger, 1, baskets=discreet.read(rows[::-1])).changed
        assert spend(ledger, 1, baskets=discreet.read([*rows, {"gin"}, {"tonic"}])).changed
        assert not spend(ledger, 1, baskets=discreet.read([*rows, {"gin"}, {"tonic"}])).changed
        other_baskets = discreet.read([{"nails"}, {"screws"}])
        message = (
            f"{path} is the ledger of other data: most of these baskets are not among them. Nothing was spent. Use the "
            "ledger of these data. A part of the same people's data looks like other data too: one month, one shop, "
            "some of the products. So do data that have much changed. Say so with same_data=True: the same people have "
            "one budget, and a part of their data costs as much as all of it."
        )
        assert refused(ledger, 1, baskets=other_baskets) == message
        with pytest.raises(MisuseError, match="is the ledger of other data"):
            ledger.check(**cost(1), baskets=other_baskets)
        assert spend(ledger, 1, baskets=other_baskets, same_data=True).changed
        assert not spend(ledger, 1, baskets=other_baskets).changed
        assert refused(ledger, 1, baskets=discreet.read(rows)) == message

    def test_parts_of_the_same_data(self, ledger):
        """Some of the people are known again; a part of what each of them holds is not, and says that it may be one."""
        year = [{"milk", "tea", f"gift {person}"} for person in range(40)]
        spend(ledger, 1, baskets=discreet.read(year))
        assert spend(ledger, 1, baskets=discreet.read(year[:5])).changed
        assert spend(ledger, 1, baskets=discreet.read(year)).changed
        month = discreet.read([basket - {"tea"} for basket in year])
        assert "A part of the same people's data looks like other data too" in refused(ledger, 1, baskets=month)
        spend(ledger, 1, baskets=month, same_data=True)
        assert ledger.state().spent == 4  # each at its full price

    def test_nobody_keeps_the_ledger_but_does_not_open_it_to_everyone(self, ledger):
        nobody = discreet.read([])
        assert not spend(ledger, 1, baskets=nobody).changed
        assert not spend(ledger, 1, baskets=nobody).changed
        assert spend(ledger, 1, baskets=discreet.read([{1}])).changed
        assert spend(ledger, 1, baskets=nobody).changed
        assert not spend(ledger, 1, baskets=discreet.read([{1}])).changed
        assert "other data" in refused(ledger, 1, baskets=discreet.read([{2}]))

    def test_data_that_are_not_at_hand_are_not_compared(self, ledger):
        spend(ledger, 1, baskets=discreet.read([{1}]))
        assert not spend(ledger, 1).changed
        assert "other data" in refused(ledger, 1, baskets=discreet.read([{2}]))

    def test_the_budget_is_looked_at_first(self, ledger):
        spend(ledger, 10, baskets=discreet.read([{1}]))
        assert refused(ledger, 1, baskets=discreet.read([{2}])).startswith("The budget does not allow it")


class TestRecords:
    def test_a_release_is_recorded_once(self, path, tmp_path):
        ledger = Ledger.create(path, epsilon=1)
        spend_record = spend(ledger, "0.5")
        ledger.record(spend_record, "ab" * 32)
        ledger.record(spend_record, "ab" * 32)
        assert (ledger.spends()[0].state, ledger.spends()[0].release) == ("released", "ab" * 32)
        assert ledger.state().unrecorded == 0
        with pytest.raises(MisuseError) as raised:
            ledger.record(spend_record, "cd" * 32)
        assert str(raised.value) == (
            f"Spend 1 of {path} has another release recorded already; each release needs a spend of its own."
        )
        other_ledger = Ledger.create(tmp_path / "other.db", epsilon=1)
        with pytest.raises(MisuseError) as raised:
            other_ledger.record(spend_record, "ab" * 32)
        assert str(raised.value) == f"Spend 1 is not one of {other_ledger.path}: record it where it was spent."

    def test_parameters_come_back(self, path):
        ledger = Ledger.create(path, epsilon=1)
        parameters = {
            "top": np.int64(3),
            "share": Fraction(1, 3),
            "contains": ("tea", "żur"),
            "exact": False,
            "none": None,
        }
        spend_record = ledger.spend(**cost("0.5"), what="laplace", parameters=parameters, who="", baskets=None)
        plain_parameters = {"top": 3, "share": "1/3", "contains": ["tea", "żur"], "exact": False, "none": None}
        assert spend_record.parameters == plain_parameters

    @pytest.mark.parametrize("invalid_value", [{"x": {1}}, {"x": float("nan")}, {"x": "\udc80"}, {"x": b"y"}])
    def test_parameters_that_are_not_json(self, path, invalid_value):
        ledger = Ledger.create(path, epsilon=1)
        with pytest.raises(MisuseError) as raised:
            ledger.spend(**cost("0.5"), what="laplace", parameters=invalid_value, who="user", baskets=None)
        assert str(raised.value) == (
            "Parameters are kept as JSON: texts, finite numbers, true, false, lists and objects of these."
        )

    def test_export_tells_the_spends_and_neither_the_key_nor_the_data(self, path):
        ledger = Ledger.create(path, epsilon=1, name="wards")
        rows = discreet.read([{1}, {2}])
        ledger.record(spend(ledger, "0.25", baskets=rows), "ab" * 32)
        spend(ledger, Fraction(1, 3), baskets=discreet.read([{1}, {2}, {3}]))
        stream = io.BytesIO()
        ledger.export(stream)
        document = json.loads(stream.getvalue())
        assert document["ledger"] == {
            "name": "wards",
            "created": ledger.state().created,
            "accounting": "pure",
            "neighbours": "add-remove",
            "budget": {"epsilon": "1", "delta": "0"},
            "most": None,
            "spent": "7/12",
            "remaining": "5/12",
            "epsilon_spent": "7/12",
            "epsilon_left": "5/12",
            "delta_left": "0",
            "spends": 2,
            "unrecorded": 1,
            "head": ledger.state().head,
            "anchor": None,
        }
        assert document["spends"][1] == {
            "number": 2,
            "at": ledger.spends()[1].at,
            "who": "user",
            "what": "laplace",
            "parameters": {"top": 10},
            "epsilon": "1/3",
            "delta": "0",
            "rho": "1/18",
            "own_delta": "0",
            "state": "spent",
            "release": None,
            "head": ledger.state().head,
        }
        lines = io.BytesIO()
        ledger.export(lines, "csv")
        first_row, second = csv.DictReader(io.StringIO(lines.getvalue().decode()))
        assert (first_row["number"], first_row["epsilon"], first_row["release"]) == ("1", "1/4", "ab" * 32)
        assert (second["epsilon"], second["parameters"], second["state"]) == ("1/3", '{"top": 10}', "spent")
        assert set(second) == set(document["spends"][1])
        with pytest.raises(MisuseError, match=r"A ledger is exported as json or csv; 'xml' was given\."):
            ledger.export(stream, "xml")

    def test_what_was_typed_is_no_formula_in_a_spreadsheet(self, path):
        ledger = Ledger.create(path, epsilon=9)
        texts = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", " =1+1", "＝1", "Anna", "a=b", "", " "]
        for text in texts:
            ledger.spend(**cost("0.1"), what="laplace", parameters={}, who=text, baskets=None)
        ledger.record(ledger.spends()[0], "=1")
        lines = io.BytesIO()
        ledger.export(lines, "csv")
        rows = list(csv.DictReader(io.StringIO(lines.getvalue().decode())))
        assert [row["who"] for row in rows] == [*(f"'{text}" for text in texts[:6]), *texts[6:]]
        assert rows[0]["release"] == "'=1"
        stream = io.BytesIO()
        ledger.export(stream)
        assert [spend_record["who"] for spend_record in json.loads(stream.getvalue())["spends"]] == texts


class TestCreating:
    def test_only_the_owner_may_read_it(self, path):
        Ledger.create(path, epsilon=1)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_one_file_and_nothing_beside_it(self, path):
        spend(Ledger.create(path, epsilon=1), "0.5")
        assert list(path.parent.iterdir()) == [path]

    def test_two_ledgers_have_two_keys(self, path, tmp_path):
        from discreet.privacy.ledger import _storage as storage
        from discreet.privacy.ledger._entries import FORM, load

        keys = set()
        for name in ("a.db", "b.db"):
            Ledger.create(tmp_path / name, epsilon=1)
            with storage.open_ledger(tmp_path / name, FORM) as file:
                keys.add(load(file).account.key)
        assert {len(key) for key in keys} == {32}
        assert len(keys) == 2

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
            ({"epsilon": "nan"}, "epsilon is a number such as 1, 0.5 or 1/3; nan was given."),
            ({"epsilon": 10**10}, "epsilon is over 1,000,000,000, which promises nothing; give one such as 0.5 or 1."),
            (
                {"epsilon": 1, "delta": 1},
                "delta must be 0 or more and below 1, such as 1e-6, far below one over the number of people; 1 was "
                "given.",
            ),
            (
                {"epsilon": 1, "most": 2},
                "most is 2, but it must be over 0 and at most the whole budget, 1.",
            ),
            (
                {"epsilon": 1, "most": 0},
                "most is 0, but it must be over 0 and at most the whole budget, 1.",
            ),
            ({"epsilon": 1, "name": "a\nb"}, "name is a text of 0 to 200 letters on one line; 'a\\nb' was given."),
        ],
    )
    def test_values_that_make_no_sense(self, path, options, message):
        with pytest.raises(MisuseError) as raised:
            Ledger.create(path, **options)
        assert str(raised.value) == message
        assert not path.exists()

    def test_nothing_is_overwritten(self, path):
        path.write_text("precious")
        with pytest.raises(MisuseError) as raised:
            Ledger.create(path, epsilon=1)
        assert str(raised.value) == (
            f"Cannot create {path}: it exists already, and nothing is overwritten by a ledger. Give another name."
        )
        assert path.read_text() == "precious"

    def test_places_that_cannot_be(self, tmp_path):
        with pytest.raises(MisuseError) as raised:
            Ledger.create(tmp_path, epsilon=1)
        assert str(raised.value) == (
            f"Cannot create {tmp_path}: it is a directory, and nothing is overwritten by a ledger. Give another name."
        )
        with pytest.raises(MisuseError) as raised:
            Ledger.create(tmp_path / "no" / "b.db", epsilon=1)
        assert str(raised.value) == (
            f"Cannot create {tmp_path / 'no' / 'b.db'}: there is no directory {tmp_path / 'no'}; make it first, or "
            "give another place."
        )
        with pytest.raises(MisuseError, match=r"File name too long\. Give another place\."):
            Ledger.create(tmp_path / ("x" * 300), epsilon=1)
        with pytest.raises(MisuseError, match="a file name has no null character"):
            Ledger.create("a\0b", epsilon=1)

    def test_names_that_mean_something_to_sqlite(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("a?mode=memory", "b#c", "d%20e", ":memory:", "file:f", "ż ó"):
            ledger = Ledger.create(name, epsilon=1)
            spend(ledger, "0.5")
            assert Ledger.open(tmp_path / name).state().remaining == Fraction(1, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": 0}, "rho 0, discovery delta 0 and delta 0 were given."),
        ({"discovery_delta": MILLIONTH}, "rho 0.5, discovery delta 1e-06 and delta 0 were given."),
    ],
)
def test_costs_that_make_no_sense(path, options, message):
    complaint = refused(Ledger.create(path, epsilon=9), 1, **options)
    assert complaint == f"A release costs a rho over 0 and brings a discovery delta from 0 to its delta; {message}"


def test_epsilon_out_of_range(path):
    ledger = Ledger.create(path, epsilon=9)
    assert refused(ledger, 0, rho=1) == "epsilon must be over 0, such as 0.5 or 1; 0 was given."
    assert refused(ledger, -1) == "epsilon must be over 0, such as 0.5 or 1; -1 was given."
    assert refused(ledger, 10**400) == (
        "epsilon is over 1,000,000,000, which promises nothing; give one such as 0.5 or 1."
    )


def test_opening_what_is_not_there(tmp_path):
    with pytest.raises(InputError) as raised:
        Ledger.open(tmp_path / "none.db")
    assert str(raised.value) == (
        f"There is no ledger {tmp_path / 'none.db'}; make one with `discreet ledger create {tmp_path / 'none.db'} "
        "--epsilon 1`."
    )
    assert not (tmp_path / "none.db").exists()


class TestElsewhere:
    """What something else than discreet has spent on the same data."""

    def test_one_account_holds_all(self, path):
        ledger = Ledger.create(path, epsilon=1, most="0.2")
        entered = ledger.spend_elsewhere(epsilon="0.3", what="histogram of ages", who="ana")
        assert entered == ledger.spends()[0]
        assert (entered.epsilon, entered.delta, entered.what, entered.who) == (
            Fraction(3, 10),
            0,
            "histogram of ages",
            "ana",
        )
        assert entered.elsewhere
        spend(ledger, "0.2")
        state = ledger.state()
        assert (state.spent, state.remaining, state.unrecorded) == (Fraction(1, 2), Fraction(1, 2), 1)
        assert not ledger.spends()[1].elsewhere

    @given(epsilon=st.fractions(Fraction(1, 10**15), 3), delta=st.fractions(0, Fraction(1, 10**7)))
    @settings(max_examples=20)
    def test_amounts_are_exact_or_rounded_up(self, epsilon, delta):
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger.create(f"{folder}/budget.db", epsilon=100, delta="1e-6", really=True)
            entered = ledger.spend_elsewhere(epsilon=epsilon, delta=delta, what="means")
            # (epsilon, delta) promises epsilon**2 / 2 by zCDP, but for a probability of delta (ledger.md).
            assert entered.epsilon == round_charge(epsilon)
            assert entered.rho == round_charge(epsilon**2 / 2)
            assert delta <= entered.delta == entered.discovery_delta <= delta + Fraction(1, 10**60)

    def test_what_does_not_fit_is_said(self, path):
        ledger = Ledger.create(path, epsilon=1)
        spend(ledger, "0.9")
        with pytest.raises(BudgetError) as raised:
            ledger.spend_elsewhere(epsilon="0.3", what="histogram")
        assert str(raised.value) == (
            "The budget does not allow it: epsilon 0.3 requested, 0.9 of 1 spent, 0.1 remaining, 0.2 missing. Ask for "
            "epsilon 0.1 or less. It was not entered. If it was released already, release nothing more from these "
            "data: what holds for them is the sum of both."
        )
        assert raised.value.remaining == Fraction(1, 10)
        assert ledger.state().spends == 1

    def test_what_is_of_another_kind_is_refused(self, path):
        ledger = Ledger.create(path, epsilon=1)
        with pytest.raises(MisuseError, match="kept in pure epsilon"):
            ledger.spend_elsewhere(epsilon=1, delta="1e-9", what="means")
        with pytest.raises(MisuseError, match="never added up"):
            ledger.spend_elsewhere(epsilon=1, neighbours="replace", what="means")
        with pytest.raises(MisuseError, match="1 to 200 letters"):
            ledger.spend_elsewhere(epsilon=1, what="")
        assert ledger.state().spends == 0
