"""The audit finds bugs that were planted, and passes what has none."""

# internals: this module plants a wrong charge in the meter.
from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from auditing import planted
from discreet import Vocabulary
from discreet.auditing._coupled import coupled
from discreet.auditing._exact import exact
from discreet.auditing._statistical import statistical
from discreet.auditing._steps import ChoiceStep, Differs, compare
from discreet.curator.mechanisms.count import Count
from discreet.curator.mechanisms.exponential import Exponential
from discreet.privacy import Budget, Candidates, Charge, Meter, Neighbours, _meter as meter_module

ADD_REMOVE, REPLACED = Neighbours.ADD_REMOVE, Neighbours.REPLACE
UNIT_BUDGET = Budget.of(1)
LOOSE = Budget.of(1, "1/1000")


@pytest.mark.parametrize(
    ("mechanism", "budget", "neighbours"),
    [
        (planted.Right(), UNIT_BUDGET, ADD_REMOVE),
        (planted.Truncating(), UNIT_BUDGET, REPLACED),
    ],
)
def test_a_mechanism_without_a_bug_stands(mechanism, budget, neighbours):
    attempt = coupled(mechanism, budget, neighbours, 1)
    assert attempt.stands, attempt.why
    assert 0 < attempt.loss <= 1


BUGS = {
    "TooLittleSensitivity": (
        "nobody else; with and without one person who holds {0, 1}",
        "counting: one person moves the answer by a sum of 2; the query says 1.",
    ),
    "OccurringItems": (
        "nobody else; with and without one person who holds {1}",
        "The two results differ in their patterns: [[0]] and [[1]].",
    ),
    "TellingNote": (None, "The two results differ in their notes: "),
    "TellingException": (
        "nobody else; with and without one person who holds {}",
        "After spending began, ValueError was raised: nothing to find",
    ),
    "TellingWarning": (
        "nobody else; with and without one person who holds {0}",
        "The two results differ in their warnings: ['nothing to find'] and [].",
    ),
    "StepsByTheData": (
        "nobody else; with and without one person who holds {0}",
        "One run goes on with the step 'counting again', the other one has ended.",
    ),
    "ShareByTheData": (
        "nobody else; with and without one person who holds {0}",
        "counting: one run pays a share of 1/2 for it, the other 1.",
    ),
    "PicksByTheData": (
        "nobody else; with and without one person who holds {0, 1}",
        "choosing: the two runs choose in different ways (1 picks by exponential at a rate of 0.98; 2 picks by "
        "exponential at a rate of 0.49).",
    ),
    "ScoresTooSteep": (
        "1 × {0}; with and without one person who holds {0}",
        "choosing: one person moves a score by 3; the candidates say 1.",
    ),
    "NotMonotone": (
        "nobody else; with and without one person who holds {0}",
        "choosing: one person moves one score up and another down; the candidates say monotone.",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_the_coupled_audit_finds_it(bug):
    attempt = coupled(getattr(planted, bug)(), UNIT_BUDGET, ADD_REMOVE, 1)
    pair, reason = BUGS[bug]
    assert not attempt.stands
    assert attempt.why.startswith(reason), attempt.why
    if pair is not None:
        assert attempt.pair == pair


@pytest.mark.parametrize("bug", sorted(set(BUGS) - {"ScoresTooSteep", "NotMonotone"}))
def test_it_is_found_when_a_person_is_replaced_too(bug):
    assert not coupled(getattr(planted, bug)(), UNIT_BUDGET, REPLACED, 1).stands


class TestFinding:
    def test_what_was_kept_may_be_used(self):
        attempt = coupled(planted.KeptCounts(), LOOSE, ADD_REMOVE, 1)
        assert attempt.stands, attempt.why

    def test_what_was_not_kept_may_not(self):
        attempt = coupled(planted.UnkeptCounts(), LOOSE, ADD_REMOVE, 1)
        assert attempt.why.startswith("The two results differ in their facts: {'sum': ")

    def test_a_person_in_more_counts_than_was_said(self):
        attempt = coupled(planted.FindingTooMuch(), LOOSE, ADD_REMOVE, 1)
        assert attempt.why == "finding: one person moves the counts by 2 in all; 1 was said."

    def test_a_threshold_that_rare_things_pass(self, monkeypatch):
        right = Meter._find

        def low(self, *arguments, **options):
            kept_flags, noisy, threshold = right(self, *arguments, **options)
            return kept_flags, noisy, threshold - 200

        monkeypatch.setattr(Meter, "_find", low)
        attempt = coupled(planted.KeptCounts(), LOOSE, ADD_REMOVE, 1)
        assert attempt.why == (
            "finding: what only one person holds is found with a probability of 0.00168; a delta of 0.001 was charged."
        )


class TestHalfTheNoise:
    @pytest.mark.parametrize("budget", [UNIT_BUDGET, LOOSE], ids=["pure", "zCDP"])
    def test_a_scale_that_does_not_fit_its_charge(self, monkeypatch, budget):
        right = Meter.scale

        def halved(self, query, share):
            scale, variance = right(self, query, share)
            return None if scale is None else scale / 2, variance / 4

        monkeypatch.setattr(Meter, "scale", halved)
        attempt = coupled(Count(), budget, ADD_REMOVE, 1)
        reveals, charged_text = ("2", "1") if budget.pure else ("0.237561", "0.0593902")
        assert attempt.why.startswith(f"counting the itemsets: the noise that was added can reveal {reveals}")
        assert f"and {charged_text}" in attempt.why

    @pytest.mark.statistical
    def test_noise_that_is_not_what_is_said(self, monkeypatch):
        # The meter reports the right scale and draws with half of it: only the results can tell. The loss is 2; a bound
        # of at least 1 from 1,000 runs on each side fails with a probability far below 10^-6, and the seed is fixed.
        right = meter_module.discrete_laplace
        monkeypatch.setattr(
            meter_module, "discrete_laplace", lambda source, scale, many: right(source, scale / 2, many)
        )
        assert coupled(Count(), UNIT_BUDGET, ADD_REMOVE, 1).stands
        assert exact(Count(), UNIT_BUDGET, ADD_REMOVE).stands
        attempt = statistical(Count(), UNIT_BUDGET, ADD_REMOVE, 1000, 1)
        assert not attempt.stands
        assert 1 < attempt.loss < 2
        assert attempt.why.endswith(f"with 99 % confidence the loss is at least {attempt.loss:.4g}.")


class TestTheOrderOfPicks:
    """An order that puts listed itemsets first tells which were listed, and that depends on the data."""

    @pytest.fixture
    def listed_first(self, monkeypatch):
        def name_listed_first(self, choice, listed_itemsets, universe):
            places = [place for place in choice.candidates if place >= 0]
            unlisted_itemsets = (
                self._draw_unlisted(listed_itemsets, universe, choice.unlisted) if choice.unlisted else ()
            )
            return [*listed_itemsets.take(np.array(places, np.int64)).tuples(), *unlisted_itemsets]

        monkeypatch.setattr(Meter, "_name_itemsets", name_listed_first)

    @pytest.mark.usefixtures("listed_first")
    def test_coupled(self):
        attempt = coupled(Exponential(), UNIT_BUDGET, ADD_REMOVE, 1)
        assert attempt.why == "choosing the patterns: what is named is not what was chosen."

    @pytest.mark.usefixtures("listed_first")
    def test_exact(self):
        assert exact(Exponential(), UNIT_BUDGET, ADD_REMOVE).loss == inf


class TestLocality:
    """How one basket is cut must not depend on the others (C6 itself is planted in `test_mutations.py`)."""

    def test_what_is_kept_goes_by_the_code(self, monkeypatch):
        # Where the items are those of the data, a new one gives all others new codes. Right: by the label.
        by_code = property(lambda vocabulary: np.arange(len(vocabulary), dtype=np.uint64))
        monkeypatch.setattr(Vocabulary, "identities", by_code)
        attempt = coupled(planted.Right(), LOOSE, ADD_REMOVE, 1)
        assert attempt.question == "min_count=100, lengths=1 over 12 items that are not listed, the last one first"
        assert attempt.why.startswith("finding the items: one person moves ")


def test_too_much_charged_is_found(monkeypatch):
    # A meter that forgets what it has spent lets a mechanism spend twice.
    def forgetful(self, share, step=None):
        self._spent_share = Fraction(0)

    monkeypatch.setattr(Meter, "_spend_share", forgetful)

    class Twice(planted.Right):
        def run(self, engine, problem, meter):
            super().run(engine, problem, meter)
            return super().run(engine, problem, meter)

    attempt = coupled(Twice(), UNIT_BUDGET, ADD_REMOVE, 1)
    assert attempt.why.endswith("AssertionError was raised: a release has cost more than its budget")


def test_a_score_that_moves_by_one_step_too_many():
    charge = Charge.pure("choosing", Fraction(9))

    def chose(*scores: int) -> ChoiceStep:
        candidates = Candidates(np.array(scores))
        return ChoiceStep(
            purpose="choosing", share=Fraction(1), charge=charge, candidates=candidates, picks=1, way="exponential",
            rate=Fraction(1), chosen_names=[0],
        )  # fmt: skip

    assert compare(chose(3, 3), chose(4, 3), Neighbours.ADD_REMOVE).epsilon == 1
    with pytest.raises(Differs, match="one person moves a score by 2; the candidates say 1"):
        compare(chose(3, 3), chose(5, 3), Neighbours.ADD_REMOVE)
