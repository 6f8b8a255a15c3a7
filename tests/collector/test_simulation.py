"""A whole study over the network follows the law of a simulation, for any draws."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import discreet
from discreet.baskets import Baskets, Hierarchy, Vocabulary, generalised, starts
from discreet.collector import (
    COUNTED,
    Reason,
    ReportBatch,
    RoundState,
    RoundTotals,
    StudyPlan,
    _crowd as crowd,
    collector_in,
    simulate_study,
)
from discreet.collector._crowd import SimulatedDevices
from discreet.collector._reasons import problem_fields
from discreet.errors import InputError, MisuseError
from discreet.local.device import client, parse_study
from discreet.local.oracle_steps import flatten_report
from discreet.local.study import SeededWords, SimulatedPeople, seed_of

ITEMS, PEOPLE, RUNS = tuple("abcdefgh"), 8_000, 30
SETTINGS = {"pairs": {"items": 4, "support": 8}}


def make_known_baskets(people: int) -> Baskets:
    """Return people who hold items of different frequencies, some items together."""
    generator = np.random.default_rng(2)
    rows = [
        sorted(
            {item for item in range(8) if generator.random() < 0.6 / (item + 1)}
            | ({0, 1} if generator.random() < 0.3 else set())
        )
        for _ in range(people)
    ]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(starts([len(row) for row in rows]), codes, Vocabulary(list(ITEMS)))


def counts(result: dict) -> dict[str, float]:
    """Return the estimated counts by their patterns."""
    rows = result.get("relations") or result.get("rules") or result["patterns"]
    return {json.dumps([row.get("items"), row.get("antecedent"), row.get("consequent")]): row["count"] for row in rows}


# Above the items stand Z and y, and above these x; on the level 1, h is what it is.
LEVELS = {**dict.fromkeys("abc", "Z"), **dict.fromkeys("def", "y"), "Z": "x", "y": "x"}


def plan_of(name: str, **levels) -> StudyPlan:
    return StudyPlan(
        name="agrees", title="A study", asks="What?", protocol=name, top=6, epsilon="4", items=ITEMS,
        settings=SETTINGS.get(name, {}), close="hand", minimum=0, **levels,
    )  # fmt: skip


def rows(result: dict) -> list[dict]:
    return result.get("relations") or result.get("rules") or result["patterns"]


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("svsm", {}), ("adept", {}), ("fp-tree", {}), ("pairs", {}), ("adept", {"hierarchy": LEVELS}),
        ("svsm", {"hierarchy": LEVELS}), ("pairs", {"hierarchy": LEVELS, "level": 1}),
    ],
)  # fmt: skip
def test_the_same_reports_give_the_same_study(name, levels, tmp_path):
    """Devices that draw what a simulation draws: each round adds up to the same, and the result is the same number."""
    baskets, seed = make_known_baskets(600), 3
    transcript = []
    simulated = discreet.simulate(
        baskets, name, top=6, epsilon=4, seed=seed, settings=SETTINGS.get(name, {}), transcript=transcript.append,
        **levels,
    )  # fmt: skip
    plan = plan_of(name, **{**levels, **({"hierarchy": Hierarchy.read(LEVELS)} if levels else {})})
    mapped = generalised(baskets, **levels)
    crowd = SimulatedPeople(baskets=mapped, seed=seed, speed="person", screen=True)
    numbers, collector = crowd.numbers(), collector_in(tmp_path)
    record = collector.open_study(plan)
    answer = {"study": record.text, "signature": record.signature, "key": record.key}
    study = parse_study(answer, "agrees", key=None, max_epsilon=4)
    assert study.fields["items"] == list(map(str, mapped.vocabulary))
    tokens = [bytes.fromhex(token) for token in collector.tokens("agrees", len(baskets))]
    heard_rounds = {}
    while collector.questions("agrees").state != "released":
        opened = [
            stored_round.number
            for stored_round in collector.store.rounds("agrees")
            if stored_round.state is RoundState.OPEN
        ]
        for number in opened:
            ask = collector.known_ask("agrees", number)
            people = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop)).tolist()
            stream = seed_of(seed, f"{ask.name}:{ask.group.start}")
            words = []
            for person in people:
                held_items = baskets.codes[baskets.offsets[person] : baskets.offsets[person + 1]].tolist()
                take = SeededWords(stream, person).take
                report = client(ask.form, study.recode(held_items), max_epsilon=4, take=take)
                words.append(flatten_report(json.loads(report)))
            mine = [tokens[person] for person in people]
            batch = ReportBatch.build(bytes.fromhex(record.id), number, mine, mine, np.array(words, np.uint32))
            codes = collector.take("agrees", ReportBatch.decode(batch.encode()).upload(ask))
            assert set(codes.tolist()) == {COUNTED}
            heard_rounds[number] = crowd.hear(ask, numbers)
        assert collector.close("agrees").rounds == len(opened)
    for stored_round in collector.store.rounds("agrees"):
        estimate = RoundTotals.parse(heard_rounds[stored_round.number].ask, stored_round.heard).estimate
        assert estimate.people == heard_rounds[stored_round.number].people
        assert estimate.supports.tolist() == heard_rounds[stored_round.number].supports.tolist()
    assert len(transcript) == len(heard_rounds)
    simulated.save(tmp_path / "simulated.json")
    live, simulated_result = (
        json.loads(collector.result("agrees")),
        json.loads((tmp_path / "simulated.json").read_text()),
    )
    assert rows(live)
    assert rows(live) == rows(simulated_result)
    assert (live["people"], live["guarantee"]) == (simulated_result["people"], simulated_result["guarantee"])
    assert live.get("hierarchy") == simulated_result.get("hierarchy")
    assert bool(levels) is ("hierarchy" in live)
    collector.store.close()


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name", ["svsm", *(pytest.param(protocol, marks=pytest.mark.slow) for protocol in ("adept", "fp-tree", "pairs"))]
)
def test_a_study_agrees_in_distribution_with_a_simulation(name, tmp_path):
    """Counts of the live study lie among those of thirty simulations; takes 15 seconds.

    Reports are made with the secure source, so each run differs. Of up to ten counts, each is compared with the mean of
    those simulations, 24 or more, that found it too: it is further than six standard deviations off with a probability
    below 10⁻⁵ (Student's t, 23 degrees), and so the false-alarm rate is below 10⁻⁴. With so many people a count that
    is half of what it should be is further off than that, as the last lines say.
    """
    baskets = make_known_baskets(PEOPLE)
    with simulate_study(plan_of(name), baskets, processes=1) as simulated_study:
        live, outcomes = counts(json.loads(simulated_study.result)), simulated_study.outcomes
    assert outcomes == {"counted": json.loads(simulated_study.result)["people"]}
    assert outcomes["counted"] == PEOPLE
    assert json.loads(simulated_study.result)["simulated"] is True
    simulated = []
    for seed in range(RUNS):
        outcome = discreet.simulate(baskets, name, top=6, epsilon=4, seed=seed, settings=SETTINGS.get(name, {}))
        path = Path(tmp_path) / f"{seed}.json"
        outcome.save(path)
        simulated.append(counts(json.loads(path.read_text())))
    compared = seen_patterns = 0
    for name_of_count, count in live.items():
        known_counts = [run_counts[name_of_count] for run_counts in simulated if name_of_count in run_counts]
        if len(known_counts) < 24:
            continue
        mean, deviation = np.mean(known_counts), max(float(np.std(known_counts, ddof=1)), 1.0)
        assert abs(count - mean) < 6 * deviation, name_of_count
        compared += 1
        seen_patterns += mean / 2 > 6 * deviation
    assert compared >= 2
    assert seen_patterns >= 2


def test_a_device_with_several_baskets_answers_for_one(tmp_path, monkeypatch):
    """Of 200 answers all are for one of the two baskets, and not all for the same: a false alarm once in 2^199."""
    all_baskets = Baskets(
        starts([1, 2, 1, 0]), np.array([5, 0, 1, 2], np.int32), Vocabulary(list(ITEMS)), owners=starts([1, 2, 1])
    )
    tokens = ["00" * 16, "11" * 16]
    crowd.save_people(tmp_path / "people.npz", all_baskets, np.array([1, 2]), tokens, "none")
    answered: list[tuple[int, ...]] = []

    def client(question, basket, **options):
        answered.append(tuple(basket))
        return b'{"value":0}'

    monkeypatch.setattr(crowd, "client", client)
    devices = crowd.SimulatedDevices("http://localhost:1", "one", tmp_path / "people.npz")
    study, recorded_study = SimpleNamespace(epsilon="1", delta="0", recode=list), SimpleNamespace(question={})
    for person, baskets in ((0, {(0, 1), (2,)}), (1, {()})):
        answered.clear()
        for _ in range(200):
            devices._report(study, recorded_study, person)
        assert set(answered) == baskets
    assert len(devices.numbers) == 2


def test_a_study_with_a_hierarchy_over_the_network(tmp_path):
    """Real devices map what they hold. Everybody holds a, so Z and x: counts below half have a chance under 10⁻⁹."""
    everybody = [{"a", "h"}] * 1500 + [{"a", "e"}] * 1500
    plan = plan_of("adept", hierarchy=Hierarchy.read(LEVELS))
    with simulate_study(plan, discreet.read(everybody), processes=1) as simulated_study:
        result = json.loads(simulated_study.result)
    singles = {pattern["items"][0]: pattern["count"] for pattern in result["patterns"] if len(pattern["items"]) == 1}
    assert simulated_study.outcomes == {"counted": 3000}
    assert all(singles[item] > 1500 for item in "aZx")
    assert not any(
        {"a", "x"} <= set(pattern["items"]) or {"x", "Z"} <= set(pattern["items"]) for pattern in result["patterns"]
    )
    assert any("stand above others" in fact for fact in result["guarantee"]["public"])


def test_what_the_data_do_not_have_is_told_before_anything_begins(tmp_path):
    plan = StudyPlan(
        name="after", title="A study", asks="What?", protocol="pairs", top=3, epsilon="4", items=ITEMS,
        settings={"how": "after", "items": 4, "support": 8},
    )  # fmt: skip
    with (
        pytest.raises(MisuseError, match="These data have no order"),
        simulate_study(plan, make_known_baskets(100), directory=tmp_path / "new"),
    ):
        pass
    assert not (tmp_path / "new").exists()


def test_devices_that_come_after_the_end_of_a_study_are_counted_as_refused(monkeypatch):
    """Another process of devices may fill the last round meanwhile: a study that has ended refuses a batch whole."""

    class Answering:
        def __init__(self, reason):
            self.status, self.read = reason.status, json.dumps(problem_fields(reason)).encode

        def request(self, *_):
            pass

        def getresponse(self):
            return self

    monkeypatch.setattr(SimulatedDevices, "_report", lambda *_: [1])
    devices = object.__new__(SimulatedDevices)
    devices.path, devices.people = "/v1/studies/study", {"tokens": np.zeros((3, 16), np.uint8)}
    study, question = SimpleNamespace(id="00" * 16), SimpleNamespace(round=0)
    devices.connection = Answering(Reason.ROUND_CLOSED)
    assert devices._send_batch(study, question, [0, 1, 2]) == {"round-closed": 3}
    devices.connection = Answering(Reason.WRONG_STUDY)
    with pytest.raises(InputError, match="answers /batches with status 409"):
        devices._send_batch(study, question, [0])
