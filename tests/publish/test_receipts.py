"""Releases about people with several baskets: what is counted, what is promised, and that it is kept."""

# internals: this module runs the coupled audit on capped baskets.
from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet import Baskets, InputError, MisuseError, Vocabulary
from discreet.auditing import _coupled as coupling
from discreet.auditing._coupled import coupled
from discreet.baskets import starts
from discreet.curator.mechanisms import ClippedCounting
from discreet.curator.mechanisms.count import Count
from discreet.curator.mechanisms.threshold import Threshold
from discreet.exact import BasketCount
from discreet.privacy import Budget, Meter, Neighbours, Noisy, SealedEngine
from discreet.privacy.ledger import HashedRows
from discreet.privacy.sampling import SimulationSource
from discreet.publish import carry_out
from discreet.publish._basket_cap import CAPS, choose_cap
from questions import cases

NAMES = ["bread", "milk", "rice", "tea"]


def receipts(people) -> Baskets:
    """Return people with several baskets each, of names."""
    place = {name: code for code, name in enumerate(NAMES)}
    rows = [sorted(place[name] for name in basket) for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    owners = starts([len(person) for person in people])
    return Baskets(starts([len(row) for row in rows]), codes, Vocabulary(NAMES), owners=owners)


def shop(people: int, seed: int = 7) -> Baskets:
    """Return people of whom a few have very many baskets, and buy other things than most do."""
    source = np.random.default_rng(seed)
    events = []
    for _ in range(people):
        receipt_count = 1 + min(int(source.pareto(1.2)), 60)
        probabilities = (0.7, 0.5, 0.1, 0.3) if receipt_count < 8 else (0.2, 0.9, 0.6, 0.3)
        events.append(
            [
                [name for name, share in zip(NAMES, probabilities, strict=True) if source.random() < share]
                for _ in range(receipt_count)
            ]
        )
    return receipts(events)


def weighed(baskets: Baskets, itemset, max_baskets: int) -> float:
    """Return the number of baskets that hold an itemset, where those of a person weigh `most` in all at most."""
    rows, total = list(baskets), 0.0
    for low, high in pairwise(baskets.owners.tolist()):
        total += sum(set(itemset) <= row for row in rows[low:high]) * min(1.0, max_baskets / (high - low))
    return total


def simulated(baskets, seed, **question):
    (job,) = cases(baskets, **{"items": NAMES, "epsilon": 1, **question}).values()
    return carry_out(job, SimulationSource(seed))


class TestReading:
    TABLE = pa.table(
        {
            "customer": ["bo", "bo", "al", "al", "al", "al"],
            "receipt": [1, 2, 1, 1, 5, 7],
            "product": ["tea", "milk", "tea", "rice", "milk", None],
            "region": ["south", "south", "north", "north", "north", "north"],
        }
    )

    def test_a_basket_for_each_person_and_receipt(self):
        baskets = discreet.read(self.TABLE, person="customer", basket="receipt", item="product", by="region")
        assert list(baskets) == [{"tea", "rice"}, {"milk"}, set(), {"tea"}, {"milk"}]
        assert baskets.owners.tolist() == [0, 3, 5]
        assert baskets.segments.of_people() == ["north"] * 3 + ["south"] * 2
        merged_baskets = discreet.read(self.TABLE, person="customer", item="product", by="region")
        assert baskets.merged_people() == merged_baskets

    @pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
    def test_from_files(self, tmp_path, suffix):
        import json

        from pyarrow import csv, parquet

        path = tmp_path / f"sales.{suffix}"
        if suffix == "csv":
            csv.write_csv(self.TABLE, path)
        elif suffix == "parquet":
            parquet.write_table(self.TABLE, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in self.TABLE.to_pylist()))
        columns = {"person": "customer", "basket": "receipt", "item": "product"}
        assert discreet.read(path, **columns) == discreet.read(self.TABLE, **columns)

    def test_rows_without_a_basket(self):
        table = pa.table({"who": [1, 1, 2], "bill": [4, None, 4], "what": ["tea", "milk", "tea"]})
        columns = {"person": "who", "basket": "bill", "item": "what"}
        with pytest.raises(InputError, match=r"1 of 3 rows has no basket \(column 'bill'\)"):
            discreet.read(table, **columns)
        assert list(discreet.read(table, **columns, nulls="drop")) == [{"tea"}, {"tea"}]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"basket": "receipt"}, "basket= needs person=, the column that says whose rows they are."),
            (
                {"basket": "receipt", "person": "customer", "item": "product", "time": "region"},
                "basket= keeps the baskets of a person apart, and time= is about all that a person holds: leave one of "
                "them out.",
            ),
            (
                {"basket": "customer", "person": "customer", "item": "product"},
                "basket= and person= are the same column: leave basket= out for one basket a person.",
            ),
        ],
    )
    def test_misuse(self, options, message):
        with pytest.raises(MisuseError) as caught:
            discreet.read(self.TABLE, **options)
        assert str(caught.value) == message

    def test_segments_are_the_persons(self):
        table = pa.table({"who": [1, 1], "bill": [4, 5], "what": ["tea", "milk"], "region": ["a", "b"]})
        with pytest.raises(InputError, match="everyone must have one value in the column 'region'"):
            discreet.read(table, person="who", basket="bill", item="what", by="region")


class TestReleases:
    def test_counts_are_of_baskets_and_the_cap_is_told(self):
        simulation = simulated(shop(3_000), 7, top=3, epsilon=8, max_baskets=4)
        assert simulation.patterns.unit == "baskets"
        assert simulation.question["max_baskets"] == simulation.facts["most baskets of a person"] == 4
        assert simulation.notes[0] == (
            "Counts are of baskets, and the unit of privacy is the person. As was asked: of each person 4 baskets take "
            "part at most, and where there are more, so many of them drawn at random. So each basket of a person with "
            "n baskets weighs 4 / n on average where n is larger than 4, and 1 otherwise. Intervals are for the sum of "
            "these weights: they cover the noise and the draw."
        )
        assert repr(simulation).startswith("3 patterns of about ")
        assert " baskets (" in repr(simulation).splitlines()[0]
        assert simulation.guarantee.charges[0].what == "counting the baskets"

    def test_a_cap_is_chosen_and_paid_for(self):
        simulation = simulated(shop(3_000), 7, top=3)
        first_charge = simulation.guarantee.charges[0]
        assert (first_charge.what, first_charge.epsilon) == ("counting how many baskets people have", Fraction(1, 25))
        assert simulation.facts["most baskets of a person"] in CAPS
        assert "A number chosen with noise" in simulation.notes[0]

    @pytest.mark.parametrize("delta", [0, "1e-6"])
    @pytest.mark.parametrize("mechanism", ["auto", "clipped", "exponential", "bases", "peeling", "count"])
    def test_intervals_hold_the_weighed_counts(self, mechanism, delta):
        # 40 releases of 4 patterns: 95 % intervals, and fewer than 135 of 160 hold in one of 10,000 such tests if each
        # held with exactly that chance, by itself; seeds are fixed.
        covered_count = total = 0
        baskets = shop(800)
        for seed in range(40):
            question = {"top": 4, "lengths": 1, "mechanism": mechanism}
            if mechanism == "count":
                question = {"itemsets": [["bread"], ["milk"], ["rice", "milk"], ["tea"]], "mechanism": "count"}
            simulation = simulated(baskets, seed, delta=delta, max_baskets=3, **question)
            for pattern in simulation.patterns:
                total += 1
                covered_count += pattern.low <= weighed(baskets, pattern.items, 3) <= pattern.high
        assert total == 160
        assert covered_count >= 135

    @pytest.mark.parametrize("epsilon", [1, 10])
    @pytest.mark.parametrize(
        "people",
        [
            [[{"tea"}, {"milk"}]] * 1_000,  # all of them equal: half of the baskets
            [[{"tea"}, {"milk"}]] * 20 + [[{"milk"}]] * 980,  # few with a draw
            [[{"tea"}] + [{"milk"}] * 9] * 200,  # rare in each
            [[{"tea"}] * 9 + [{"milk"}]] * 200,
            [[{"tea"}, {"milk"}]] * 4,
        ],
        ids=["half", "few", "rare", "most", "hardly anybody"],
    )
    def test_intervals_hold_the_draw_of_baskets_too(self, people, epsilon):
        # 200 releases: fewer than 177 of 200 intervals hold in one of 10,000 such tests at just 95 in 100. Seeds are
        # fixed.
        baskets = receipts(people)
        true_count = weighed(baskets, {"tea"}, 1)
        simulations = [
            simulated(baskets, seed, itemsets=[["tea"]], mechanism="count", epsilon=epsilon, max_baskets=1)
            for seed in range(200)
        ]
        assert (
            sum(simulation.patterns.low[0] <= true_count <= simulation.patterns.high[0] for simulation in simulations)
            >= 177
        )

    def test_noise_grows_with_the_cap(self):
        # With so little budget the noise is far larger than the draw of baskets, which intervals cover too.
        question = {"itemsets": [["tea"]], "mechanism": "count", "epsilon": "0.05"}
        simulations = [simulated(shop(1_000), 7, max_baskets=cap, **question) for cap in (1, 10)]
        margin_of_one, ten = (
            float(simulation.patterns.high[0] - simulation.patterns.counts[0]) for simulation in simulations
        )
        assert 8 * margin_of_one < ten < 12 * margin_of_one

    def test_everyone_is_public_where_one_is_replaced_and_baskets_are_not(self):
        simulation = simulated(shop(50), 7, top=2, neighbours="replace", max_baskets=2)
        assert "that there are 50 people" in simulation.guarantee.public
        assert simulation.patterns.people_within is not None

    def test_by_segment(self):
        baskets = receipts([[{"tea"}, {"tea"}]] * 40 + [[{"milk"}]] * 40)
        regions = ["north"] * 40 + ["south"] * 40
        releases = discreet.release_by(
            baskets, regions, segments=["north", "south"], top=1, epsilon=8, items=NAMES, max_baskets=2
        )
        assert [next(iter(releases[name].patterns)).items for name in ("north", "south")] == [{"tea"}, {"milk"}]

    def test_empty_data(self):
        assert len(simulated(receipts([]), 7, top=2)) == 2

    def test_a_table_of_nobody_and_one_of_one_person_differ_in_noise_alone(self):
        """Whether anybody is there is private: what is counted, charged, told and refused is the same."""

        def table(**rows):
            schema = pa.schema([("customer", pa.string()), ("receipt", pa.string()), ("product", pa.string())])
            return pa.table({name: rows.get(name, []) for name in schema.names}, schema=schema)

        def read_facts(data, **question):
            columns = {"person": "customer", "basket": "receipt", "item": "product"}
            options = {"top": 2, "epsilon": 1, "items": NAMES, **question}
            try:
                release = discreet.release(data, **columns, **options)
            except MisuseError as error:
                return str(error)
            public = (release.guarantee.public, [charge.what for charge in release.guarantee.charges], release.question)
            return (
                *public,
                release.patterns.unit,
                list(release.facts)[:1],
                release.notes[:1] if "max_baskets" in question else "",
            )

        single_row = table(customer=["al"], receipt=["1"], product=["tea"])
        # A mechanism whose steps are fixed: those of `auto` follow the noise.
        fixed = {"mechanism": "exponential", "lengths": 1}
        for question_change in ({"max_baskets": 2, **fixed}, {"people": 5}, {"mechanism": "laplace", "lengths": 1}):
            assert read_facts(table(), **question_change) == read_facts(single_row, **question_change)
        for data in (table(), single_row):
            with pytest.raises(MisuseError, match="for people with several baskets"):
                discreet.release(data, person="customer", item="product", top=2, epsilon=1, items=NAMES, max_baskets=2)

    def test_files_say_what_is_counted(self, tmp_path):
        simulation = simulated(shop(300), 7, top=4, max_baskets=2)
        for result in (simulation.patterns, simulation.patterns.rules(0.1), discreet.mine(shop(300), top=4)):
            for suffix in ("csv", "json", "parquet"):
                path = tmp_path / f"result.{suffix}"
                result.save(path)
                assert discreet.load(path) == result
                assert discreet.load(path).unit == "baskets"
        text = (tmp_path / "result.json").read_text()
        assert '"baskets": ' in text
        assert '"people"' not in text

    def test_a_file_that_counts_something_else(self, tmp_path):
        path = tmp_path / "result.json"
        path.write_text('{"discreet": "patterns/1", "people": 3, "unit": "shops", "patterns": []}')
        with pytest.raises(InputError, match="it counts 'shops', and must count people or baskets"):
            discreet.load(path)

    @pytest.mark.parametrize(
        ("baskets", "question", "message"),
        [
            (
                Baskets(np.array([0, 1]), np.array([0], np.int32), Vocabulary(NAMES)),
                {"max_baskets": 3},
                "max_baskets is for people with several baskets: read them with basket=, the column that tells the "
                "baskets of a person apart.",
            ),
            (
                receipts([[{"tea"}]]),
                {"people": 1},
                "people declares how many people there are, and here baskets are counted: how many take part is found "
                "with noise. Leave people out.",
            ),
            (receipts([[{"tea"}]]), {"max_baskets": 0}, "max_baskets is 0, but it must be a whole number, 1 or more."),
            (receipts([[{"tea"}]]), {"max_baskets": 10**7}, "max_baskets is at most 1,000,000; 10000000 was given."),
        ],
    )
    def test_misuse(self, baskets, question, message):
        with pytest.raises(MisuseError) as caught:
            discreet.release(baskets, top=1, epsilon=1, items=NAMES, **question)
        assert str(caught.value) == message

    def test_a_ledger_takes_the_same_people_for_the_same_data(self):
        shop_baskets = shop(50)
        fingerprint, merged_fingerprint = (
            HashedRows.hash_baskets(baskets, b"key").fingerprint()
            for baskets in (shop_baskets, shop_baskets.merged_people())
        )
        assert fingerprint == merged_fingerprint


class TestCaps:
    def test_few_people_few_baskets_and_many_people_many(self):
        def chosen_cap(times: int, epsilon: int) -> int:
            people = np.array([4_000, 2_000, 1_000, 900, 800, 500, 300, 200, 100, 50, 20, 10, 5, 2, 1, 0]) * times
            meter = Meter(Budget.of(epsilon), Neighbours.ADD_REMOVE, SimulationSource(7))
            return choose_cap(Noisy(people, Fraction(25), 2 * Fraction(25) ** 2), meter)

        assert chosen_cap(1, 1) < chosen_cap(10, 1) < chosen_cap(1000, 1)
        assert chosen_cap(1, 1) < chosen_cap(1, 20)

    def test_nobody(self):
        meter = Meter(Budget.of(1), Neighbours.ADD_REMOVE, SimulationSource(7))
        assert choose_cap(Noisy(np.full(len(CAPS), -30), Fraction(25), Fraction(1250)), meter) == 1

    def test_before_it_is_chosen_only_people_can_be_counted(self):
        # What counts baskets would get noise as if one person had all there are.
        meter = Meter(Budget.of(1), Neighbours.ADD_REMOVE, SimulationSource(7))
        with pytest.raises(AssertionError, match="differ in the largest number of baskets of a person"):
            meter.count("x", SealedEngine(None, max_baskets=2), BasketCount(), Fraction(1))  # type: ignore[arg-type]


class TestPrivacy:
    @pytest.mark.parametrize("neighbours", Neighbours)
    @pytest.mark.parametrize(("mechanism", "delta"), [(Count(), 0), (ClippedCounting(), "1e-6"), (Threshold(), "1e-6")])
    def test_an_audit_sees_people_with_several_baskets(self, mechanism, delta, neighbours, monkeypatch):
        """All pairs of the questions about several baskets: those about one are in `auditing/test_registry.py`."""
        questions = coupling.list_questions
        monkeypatch.setattr(
            coupling,
            "list_questions",
            lambda *asked: [question for question in questions(*asked) if "several baskets" in str(question)],
        )
        verdict = coupled(mechanism, Budget.of(1, delta), neighbours, 7)
        assert verdict.stands
        assert verdict.pairs > 50
        # A meter that reckons with one basket of a person is found out.
        monkeypatch.setattr("discreet.privacy._meter.moves", lambda query, relation, _: _judge_query(query, relation))
        swap = 2 if neighbours is Neighbours.REPLACE else 1
        monkeypatch.setattr(Meter, "_max_changed_counts", lambda _, most: most * swap)
        broken = coupled(mechanism, Budget.of(1, delta), neighbours, 7)
        assert not broken.stands
        assert "in several baskets of each person" in broken.question

    @pytest.mark.parametrize("neighbours", Neighbours)
    @pytest.mark.parametrize("baskets", [1, 2, 7])
    @pytest.mark.parametrize("epsilon", [1, 8, 20])
    def test_the_threshold_of_finding_counts_all_baskets_of_a_person(self, neighbours, baskets, epsilon):
        """By the law of the noise: whatever one person alone has, in all their baskets, passes with delta at most."""
        delta, max_baskets = Fraction(1, 10**6), 3
        meter = Meter(Budget.of(epsilon, delta), neighbours, SimulationSource(7), discovery_delta=delta)
        meter.max_baskets = baskets
        touched = max_baskets * baskets * (2 if neighbours is Neighbours.REPLACE else 1)
        scale = touched / epsilon
        needed_noise = meter.threshold(max_baskets, Fraction(1)) - baskets  # what the noise has to be, or more
        passes = np.exp(-needed_noise / scale) / (1 + np.exp(-1 / scale))
        assert touched * passes <= delta
        assert touched * passes > delta / 10**4  # and it is no higher than it has to be

    def test_what_one_person_alone_holds_is_hardly_found(self):
        # The person has 30 baskets of what nobody else holds: a threshold for one basket would let it out often.
        baskets = receipts([[{"milk"}]] * 2_000 + [[{"rice"}] * 30])
        (job,) = cases(
            baskets, top=2, lengths=1, epsilon=8, delta="1e-6", mechanism="threshold", max_baskets=30
        ).values()
        pattern_lists = [carry_out(job, SimulationSource(seed)).patterns for seed in range(200)]
        assert not any({"rice"} in patterns for patterns in pattern_lists)  # a chance of 200 in a million
        assert all({"milk"} in patterns for patterns in pattern_lists)


def _judge_query(query, neighbours):
    stated_sensitivity = query.sensitivity(1)
    return (
        (stated_sensitivity.l1_replace, stated_sensitivity.squared_l2_replace)
        if neighbours is Neighbours.REPLACE
        else (stated_sensitivity.l1, stated_sensitivity.squared_l2)
    )
