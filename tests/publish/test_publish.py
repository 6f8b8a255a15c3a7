"""The curator's door: the law about items and people, segments, must-haves, refusals, and the order of things."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import discreet
from discreet import MisuseError
from discreet.baskets import recode_baskets, restrict_items
from discreet.exact import lengths_for
from discreet.planning import trial
from discreet.privacy import Budget, Neighbours, rho_for
from discreet.privacy.sampling import SystemSource
from discreet.publish._door import price_budget
from discreet.results import NOTHING
from questions import case, cases

SHOP = [{"tea", "milk"}] * 60 + [{"tea", "milk", "bread"}] * 30 + [{"bread"}] * 20 + [set()] * 10


def shop(seed=1, **question):
    return trial(SHOP, seed=seed, **({"epsilon": 10**6, "items": "public", "mechanism": "exponential"} | question))


class TestItems:
    def test_undeclared_items_are_dropped_and_absent_ones_stay(self):
        release = shop(top=3, lengths=1, items=["tea", "coffee", "milk"])
        assert release.patterns.to_dict() == {frozenset({"tea"}): 90, frozenset({"milk"}): 90, frozenset({"coffee"}): 0}
        assert release.guarantee.public == ("which 3 items there are, as declared",)

    def test_public_items_are_said_to_be_public(self):
        assert shop(top=1).guarantee.public == ("which 3 items there are, as found in the data",)

    def test_a_file(self, tmp_path):
        (tmp_path / "items.txt").write_text("tea\n\nmilk \n")
        assert len(shop(top=3, items=tmp_path / "items.txt").patterns) == 3

    def test_a_number(self):
        release = trial([{1, 2}, {7}], seed=1, epsilon=10**6, top=3, lengths=1, items=3, mechanism="exponential")
        assert release.patterns.to_dict() == {frozenset({0}): 0, frozenset({1}): 1, frozenset({2}): 1}

    def test_without_a_list_a_pure_release_is_refused_with_three_choices(self):
        with pytest.raises(MisuseError) as caught:
            discreet.release(SHOP, top=3, epsilon=1)
        assert str(caught.value) == (
            "A release with epsilon alone needs a public list of items. Say which items there are, in one of three "
            "ways: give the list, items= a file with one item per line, a list, or a number N for the items 0 to N - "
            "1; or declare with items='public' that the items found in the data are public knowledge; or allow a delta "
            "(such as delta=1e-6), and the items are found privately."
        )

    def test_with_a_delta_they_are_found_and_rare_ones_are_not(self):
        people = [*SHOP * 20, {"my secret"}]
        release = trial(people, seed=3, top=3, epsilon=2, delta="1e-6", lengths=1, mechanism="exponential")
        assert {item for pattern in release.patterns for item in pattern.items} == {"tea", "milk", "bread"}
        assert release.guarantee.delta == Fraction("1e-6")
        assert release.guarantee.epsilon <= 2
        assert "3 items were found with noise" in release.notes[0]

    @pytest.mark.parametrize(
        ("mechanism", "question", "message"),
        [
            ("exponential", {"min_count": 3}, "exponential finds the top patterns"),
            ("truncated", {"top": 3}, "truncated finds patterns over a threshold"),
            ("count", {"top": 3}, "count counts itemsets that are named, and finds none: use discreet.count"),
        ],
    )
    def test_what_a_mechanism_cannot_do_is_refused_before_they_are_found(self, mechanism, question, message):
        with pytest.raises(MisuseError, match=message):
            trial(SHOP, seed=3, epsilon=1, delta="1e-6", mechanism=mechanism, **question)

    def test_finding_nothing_is_a_release_without_patterns(self):
        release = trial([{"a"}], seed=3, top=3, epsilon=1, delta="1e-6", mechanism="exponential")
        assert len(release.patterns) == 0
        empty = trial([], seed=3, top=3, epsilon=1, delta="1e-6", mechanism="exponential")
        assert len(empty.patterns) == 0

    @pytest.mark.parametrize(
        ("items", "message"),
        [
            ([], "The list of items is empty: there is nothing to find."),
            (0, "items is how many items there are, from 1 to 10,000,000; 0 was given."),
            (
                "nowhere.txt",
                "There is no file nowhere.txt with a list of items. For the items found in the data write "
                "items='public'.",
            ),
        ],
    )
    def test_bad_lists(self, items, message):
        with pytest.raises((MisuseError, discreet.InputError)) as caught:
            shop(top=1, items=items)
        assert str(caught.value) == message


@pytest.mark.parametrize(("list_kind", "items"), [("tea\nmilk\n", {"tea", "milk"}), ("3\n4\n", {3, 4})])
def test_an_empty_file_is_released_with_noise(list_kind, items, tmp_path):
    # Refusing it would tell that nobody is there.
    (tmp_path / "nobody.dat").write_text("")
    (tmp_path / "items.txt").write_text(list_kind)
    release = discreet.release(tmp_path / "nobody.dat", top=2, lengths=1, epsilon=1, items=tmp_path / "items.txt")
    assert {item for pattern in release.patterns for item in pattern.items} == items
    with pytest.raises(discreet.EmptyDataError):
        discreet.mine(tmp_path / "nobody.dat", top=1)


@pytest.mark.parametrize("name", ["auto", "clipped", "bases", "peeling", "exponential"])
def test_counts_and_intervals_are_whole_people_and_counts_lie_within(name):
    baskets = [{person % 7, 7 + person % 11, 18 + person % 13} for person in range(600)]
    patterns = trial(baskets, seed=4, top=60, epsilon=3, items="public", mechanism=name).patterns
    assert (patterns.low <= patterns.counts).all()
    assert (patterns.counts <= patterns.high).all()
    assert (patterns.low == np.rint(patterns.low)).all()
    assert (patterns.high == np.rint(patterns.high)).all()


def test_an_empty_release_says_first_that_it_may_be_the_noise():
    release = trial([{1}] * 50, seed=1, min_count=40_000, epsilon=1, items="public")
    assert not len(release.patterns)
    assert release.notes[0] == NOTHING
    assert NOTHING not in trial([{1}] * 50, seed=1, top=1, epsilon=1, items="public").notes


def test_nobody_with_public_items_is_a_release_without_patterns():
    release = discreet.release([], top=3, epsilon=1, items="public")
    assert len(release.patterns) == 0


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"top": 10**30}, f"top is at most 100,000 in a release; {10**30} was given."),
        (
            {"top": 1, "epsilon": "1e-6", "delta": "1e-50"},
            "With a delta of 1e-50, an epsilon of 1e-6 leaves nothing to spend: raise either.",
        ),
        ({"top": 1, "epsilon": "1e-7"}, "An epsilon below 0.000001 leaves nothing but noise; 1e-7 was given."),
    ],
)
def test_what_could_only_fail_later_is_refused_before_paying(question, message):
    with pytest.raises(MisuseError) as caught:
        shop(**question)
    assert str(caught.value) == message


def test_an_epsilon_beyond_all_reason_still_has_a_report():
    assert "e^5000" in shop(top=1, epsilon=5000, really=True).report()


class TestPeople:
    def test_they_are_counted_with_noise_and_charged(self):
        release = shop(top=1, epsilon=1)
        assert release.guarantee.charges[0].what == "counting the people"
        assert release.guarantee.charges[0].epsilon == Fraction(1, 50)
        assert release.guarantee.epsilon == 1

    def test_a_public_number_costs_nothing(self):
        release = shop(top=1, epsilon=1, people=120)
        assert release.people == 120
        assert "counting the people" not in [charge.what for charge in release.guarantee.charges]
        assert "that there are 120 people, as declared" in release.guarantee.public

    def test_under_replace_it_is_public(self):
        release = shop(top=1, epsilon=1, neighbours="replace")
        assert release.people == 120
        assert "that there are 120 people" in release.guarantee.public
        with pytest.raises(MisuseError, match="leave people out"):
            shop(top=1, neighbours="replace", people=7)

    def test_a_fraction_is_of_the_released_number(self):
        jobs = cases(SHOP, min_support="0.3", epsilon=1, items="public", mechanism="privbasis", people=100)
        assert jobs[""].problem(3, 100).threshold == 30
        assert jobs[""].problem(3, 33).threshold == 10
        assert jobs[""].problem(3, 0).threshold == 1


class TestMustHaves:
    @pytest.mark.parametrize("top", [1, 2, 4])
    def test_contains(self, top):
        release = shop(top=top, contains="milk")
        exact = discreet.mine(SHOP, top=top, contains="milk")
        assert sorted(release.patterns.counts.tolist()) == sorted(exact.counts.tolist())
        assert all("milk" in pattern.items for pattern in release.patterns)

    def test_contains_with_lengths(self):
        release = shop(top=1, contains=["milk"], lengths=3)
        assert release.patterns.to_dict() == {frozenset({"bread", "milk", "tea"}): 30}

    def test_excludes(self):
        release = shop(top=3, excludes="tea")
        assert release.patterns.to_dict() == discreet.mine(SHOP, top=3, excludes="tea").to_dict()

    def test_contains_without_counts(self):
        release = shop(top=2, contains="milk", counts=False)
        assert len(release.patterns) == 2
        assert frozenset({"milk"}) in {pattern.items for pattern in release.patterns}
        assert "counting the items every pattern has" not in [charge.what for charge in release.guarantee.charges]

    def test_what_was_typed_is_public_and_may_be_missing(self):
        release = trial(SHOP * 30, seed=1, top=2, epsilon=3, delta="1e-6", contains="gold", mechanism="exponential")
        assert all("gold" in pattern.items for pattern in release.patterns)

    @pytest.mark.parametrize(
        ("question", "message"),
        [
            (
                {"contains": "tea", "excludes": "tea"},
                "'tea' is in both contains and excludes: no pattern can have it and not have it.",
            ),
            ({"contains": ["tea", "milk"], "lengths": 1}, "Patterns of at most 1 item cannot contain 2 items."),
            (
                {"excludes": ["tea", "milk", "bread"]},
                "No item is left that a pattern could have: the list of items is used up.",
            ),
            ({"contains": "gold"}, "'gold' is not an item of this data."),
        ],
    )
    def test_refusals(self, question, message):
        with pytest.raises(MisuseError) as caught:
            shop(top=1, **question)
        assert str(caught.value) == message


class TestSegments:
    segment_names = ["north"] * 60 + ["south"] * 60

    def released(self, **question):
        return discreet.release_by(
            SHOP,
            **({"top": 2, "epsilon": 50, "really": True, "items": "public", "mechanism": "exponential"} | question),
        )

    def test_each_segment_has_its_release_for_the_price_of_one(self):
        releases = self.released(by=self.segment_names, segments="public")
        assert list(releases) == ["north", "south"]
        for segment in releases.values():
            assert segment.guarantee.epsilon == 50
            assert "which 2 segments there are, as found in the data" in segment.guarantee.public
        assert releases["north"].patterns.counts.max() > 50

    @pytest.mark.parametrize("segments", [["a", "a\0"], [2**53 + 1, 2.0**53]])
    def test_nobody_is_in_two_segments(self, segments):
        jobs = cases(SHOP, top=1, epsilon=1, items="public", by=[segments[0]] * 119 + [segments[1]], segments=segments)
        assert [len(job.baskets) for job in jobs.values()] == [119, 1]

    def test_a_generator_is_read_once(self, tmp_path):
        ledger = discreet.Ledger.create(tmp_path / "b.db", epsilon=9)
        question = {"top": 1, "epsilon": 1, "items": ["a", "b"], "ledger": ledger}
        discreet.release((basket for basket in [{"a"}] * 90), **question)
        with pytest.raises(MisuseError, match="other data"):
            discreet.release((basket for basket in [{"b"}] * 90), **question)

    def test_declared_segments_may_be_empty_and_others_are_dropped(self):
        releases = self.released(by=self.segment_names, segments=["south", "west"])
        assert list(releases) == ["south", "west"]
        assert len(releases["west"].patterns) == 2

    @pytest.mark.parametrize(
        ("question", "message"),
        [
            (
                {"by": ["north"]},
                "by is a segment for each person: as many as there are people, in their order.",
            ),
            (
                {"by": segment_names, "people": 120},
                "Segments are for neighbours='add-remove' without people=: who is replaced may change the segment.",
            ),
        ],
    )
    def test_refusals(self, question, message):
        with pytest.raises(MisuseError) as caught:
            self.released(**question)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"top": 1, "epsilon": 0}, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        ({"top": 1, "epsilon": -1}, "epsilon must be over 0, such as 0.5 or 1; -1 was given."),
        ({"top": 1, "epsilon": float("nan")}, "epsilon is a number such as 1, 0.5 or 1/3; nan was given."),
        (
            {"top": 1, "delta": 1},
            "delta must be 0 or more and below 1, such as 1e-6, far below one over the number of people; 1 was given.",
        ),
        (
            {},
            "Say which patterns are wanted by exactly one of top (how many patterns), min_support (a fraction of "
            "people) or min_count (a number of people); none of them was given.",
        ),
        ({"top": 1, "mechanism": "exponental"}, None),
        ({"top": 0}, "top is 0, but it must be a whole number, 1 or more."),
        ({"top": 1, "neighbours": "next door"}, "neighbours is 'add-remove' or 'replace'; 'next door' was given."),
    ],
)
def test_refusals(question, message):
    with pytest.raises(MisuseError) as caught:
        shop(**question)
    if message is None:
        assert str(caught.value).endswith("Did you mean 'exponential'?")
    else:
        assert str(caught.value) == message


def test_a_release_draws_from_the_system_and_a_trial_says_that_it_is_one(monkeypatch):
    sources = []
    words = SystemSource.words
    monkeypatch.setattr(SystemSource, "words", lambda self, count: sources.append(count) or words(self, count))
    real_release = discreet.release(SHOP, top=1, epsilon=1, items="public", mechanism="exponential")
    assert sources
    assert not real_release.simulated
    assert real_release.patterns.about["simulated"] is False
    sources.clear()
    trial_release = shop(top=1)
    assert not sources
    assert trial_release.simulated
    assert trial_release.patterns.about["simulated"] is True


def test_progress_tells_of_stages_only():
    stages = []
    discreet.release(SHOP, top=1, epsilon=1, items="public", mechanism="exponential", progress=stages.append)
    assert stages == [0, 0.02, 0.02 + 0.98 / 2, 1]


@pytest.mark.parametrize(
    ("top", "min_size", "longest"), [(1, 1, 1), (2, 1, 1), (3, 1, 2), (63, 1, 6), (64, 1, 6), (10, 2, 3)]
)
def test_the_longest_pattern_a_top_can_hold(top, min_size, longest):
    assert lengths_for(top, min_size) == longest
    size = longest + 1
    assert sum(1 for length in range(min_size, size + 1) for _ in combinations(range(size), length)) > top


def test_baskets_over_another_list():
    baskets = discreet.read([{"b", "d"}, {"a", "c"}, set()])
    recoded = recode_baskets(baskets, discreet.Vocabulary(["a", "b", "z"]))
    assert list(recoded) == [{"b"}, {"a"}, set()]
    assert list(restrict_items(baskets, np.array([1, 3]))) == [{"b", "d"}, set(), set()]


def test_rules_come_with_intervals():
    release = shop(top=7, epsilon=20)
    rules = release.rules(min_confidence=0.5)
    assert len(rules)
    assert (rules.low <= rules.high).all()


def test_release_files(tmp_path):
    release = shop(top=4, epsilon=1)
    for name in ("r.json", "r.parquet"):
        release.save(tmp_path / name)
        back = discreet.load(tmp_path / name)
        assert back == release.patterns
        assert back.about["guarantee"]["epsilon"] == "1"
    release.save(tmp_path / "r.html")
    assert "SIMULATED" in (tmp_path / "r.html").read_text().upper()
    assert len(release.digest()) == 64
    assert release.digest() != shop(top=4, epsilon=1, seed=2).digest()


def test_half_of_delta_finds_the_items_and_half_turns_rho_into_epsilon():
    job = case([{"tea"}] * 9, top=1, epsilon=1, delta="1e-6")
    assert job.discovery_delta == job.budget.delta / 2
    assert case([{"tea"}] * 9, top=1, epsilon=1, delta="1e-6", items="public").discovery_delta == 0
    # A mechanism that finds patterns by itself takes all of it.
    whole_case = case([{"tea"}] * 9, top=1, epsilon=1, delta="1e-6", mechanism="threshold")
    assert whole_case.discovery_delta == whole_case.budget.delta


def test_what_a_release_takes_from_a_ledger():
    price = price_budget(Budget.of("1/2"), Neighbours.ADD_REMOVE)
    assert (price.epsilon, price.rho, price.discovery_delta) == (Fraction(1, 2), Fraction(1, 8), 0)
    half = Fraction(1, 2 * 10**6)
    loose = price_budget(Budget.of(1, "1e-6"), Neighbours.ADD_REMOVE, half)
    assert loose.rho == rho_for(Fraction(1), half)
    assert loose.discovery_delta == half


def test_no_number_of_people_is_negative():
    pattern_lists = [trial([], seed=seed, top=1, epsilon="0.05", items=["tea"]).patterns for seed in range(9)]
    assert all(patterns.people >= 0 for patterns in pattern_lists)
    assert any(patterns.people == 0 for patterns in pattern_lists)  # of nine fair signs, none is negative once in 500


def test_the_interval_of_what_every_pattern_has_reaches_both_ways():
    patterns = trial(SHOP, seed=3, top=3, lengths=(1, 2), contains=["milk"], epsilon=8, items="public").patterns
    places = [place for place, pattern in enumerate(patterns) if pattern.items == frozenset({"milk"})]
    assert places
    low, count, high = patterns.low[places[0]], patterns.counts[places[0]], patterns.high[places[0]]
    assert count - low == high - count > 0
