"""Tests that every frequency oracle must pass: a new file in the room is covered by being there."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, log2, sqrt
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import Oracle, SimulatedAnswers, exp_rounded_down
from discreet.local.device import ANSWERS, LOSSES
from discreet.local.oracle_steps import _choice as choice, adaptive, make, means, oracles

ROOM = Path(choice.__file__).parents[1] / "oracles"
ORACLE_NAMES = list(oracles())
# Distance from the truth, in standard deviations, that tests allow: passed by chance once in 1.7 million.
TOLERANCE = 5.0


def people(rows, person_count):
    """Return `person_count` people who hold the given rows in turn."""
    chosen_rows = [rows[position % len(rows)] for position in range(person_count)]
    offsets = np.cumsum([0, *map(len, chosen_rows)]).astype(np.int64)
    held_values = np.array([value for row in chosen_rows for value in row], np.int32)
    return SimulatedAnswers(offsets=offsets, values=held_values, people=np.arange(person_count))


@pytest.mark.statistical
@pytest.mark.parametrize("name", ORACLE_NAMES)
@pytest.mark.parametrize(
    ("epsilon", "size", "pad", "single"),
    [("1", 12, 3, False), ("3", 40, 2, False), ("0.5", 1, 1, False), ("2", 6, 1, True)],
)
def test_supports_are_as_likely_as_stated(name, epsilon, size, pad, single):
    """Both speeds. About 120 numbers an oracle, so that all oracles together fail by chance once in 1,500 seeds."""
    oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad, single=single)
    person_count = 40_000
    answered = people([list(range(1 if single else min(size, pad)))], person_count)
    generator = np.random.default_rng(5)
    for counts in (oracle.supports(oracle.reports(answered, 3)), oracle.sample_supports(answered, 4, generator)):
        for value in range(size):
            chance = float(oracle.p_held if value in answered.values[:pad] else oracle.p_other)
            assert (
                abs(counts[value] - person_count * chance)
                <= TOLERANCE * sqrt(person_count * chance * (1 - chance)) + 1e-6
            )


@pytest.mark.statistical
@pytest.mark.parametrize("speed", ["person", "aggregated"])
@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_estimates_are_unbiased_and_as_exact_as_stated(name, speed):
    """Over 600 trials, the mean is within 5 deviations, and so is the variance: about 5 sqrt(2 / 600) of it."""
    oracle = oracles()[name].make(Fraction(1), 5, pad=2)
    answered, person_count, trials = people([[], [0], [0, 1], [0, 3]], 200), 200, 600
    truth = np.array([0.75, 0.25, 0, 0.25, 0])
    estimates = []
    for trial in range(trials):
        if speed == "person":
            counts = oracle.supports(oracle.reports(answered, trial))
        else:
            counts = oracle.sample_supports(answered, trial, np.random.default_rng(trial))
        estimates.append(oracle.estimate(counts, person_count))
    variance = oracle.variance(truth, person_count)
    assert (np.abs(np.mean(estimates, 0) - truth) < TOLERANCE * np.sqrt(variance / trials)).all()
    assert (np.abs(np.var(estimates, 0) / variance - 1) < TOLERANCE * sqrt(2 / trials)).all()


@pytest.mark.statistical
@pytest.mark.parametrize("name", [name for name, kind in oracles().items() if kind.joint])
def test_counts_drawn_together_vary_together_as_reports_do(name):
    """The covariance of two counts over 600 trials; its deviation is about that of their product over sqrt(600)."""
    oracle = oracles()[name].make(Fraction(2), 3, pad=1)
    answered, trials = people([[], [0], [1], [0]], 200), 600
    deviations = []
    for speed in ("person", "aggregated"):
        counts = [
            oracle.supports(oracle.reports(answered, trial))
            if speed == "person"
            else oracle.sample_supports(answered, trial, np.random.default_rng(trial))
            for trial in range(trials)
        ]
        deviations.append(np.cov(np.array(counts).T))
    scale = np.sqrt(np.outer(np.diag(deviations[0]), np.diag(deviations[0])))
    assert (np.abs(deviations[0] - deviations[1]) < TOLERANCE * sqrt(2) * sqrt(2 / trials) * scale).all()


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_reports_round_trip(name):
    for size, single in ((1, False), (33, False), (70, True)):
        oracle = oracles()[name].make(Fraction(1), size, pad=1, single=single)
        columns = oracle.reports(people([[0], [size - 1]] if single else [[], [0], [size - 1]], 30), 8)
        reports = [oracle.codec.make_report(columns, row) for row in range(30)]
        columns_again = oracle.codec.read_reports(
            [json.dumps(report, separators=(",", ":")).encode() for report in reports]
        ).columns
        assert {name: column.tolist() for name, column in columns_again.items()} == {
            name: column.tolist() for name, column in columns.items()
        }
        assert {name: column.dtype for name, column in columns_again.items()} == {
            name: column.dtype for name, column in columns.items()
        }
        assert oracle.supports(oracle.codec.read_reports([]).columns).tolist() == [0] * size


def spoilt(report):
    """Yield malformed reports made from a good one."""
    yield None
    yield []
    yield "report"
    yield {}
    yield {**report, "more": 1}
    for key, value in report.items():
        yield {other_key: other_value for other_key, other_value in report.items() if other_key != key}
        yield from ({**report, key: bad_value} for bad_value in (None, True, 0.5, "x", -1, 2**64, [], {}))
        if isinstance(value, list):
            for bad_value in (value[:-1], [*value, 10**6], [-1, *value[1:]], [*value[:-1], 2**70], [*value[:-1], True]):
                yield {**report, key: bad_value}
            yield {**report, key: [float(number) for number in value]}
        if isinstance(value, str):
            yield from (
                {**report, key: bad_value} for bad_value in (value[:-1], value + "0", "zz" + value[2:], " " + value[1:])
            )
            yield {**report, key: value[:-2] + "ff"}  # bits beyond the candidates


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_strange_reports_are_refused(name):
    oracle = oracles()[name].make(Fraction(1), 9, pad=2)
    answered = people([[0, 4]], 1)
    good_report = oracle.codec.make_report(oracle.reports(answered, 1), 0)
    bad_reports = list(spoilt(good_report))
    assert len(bad_reports) > 12
    batch = oracle.codec.read_reports([good_report, *bad_reports, good_report])
    assert batch.positions.tolist() == [0, len(bad_reports) + 1]
    assert len(batch) == 2
    assert all(len(column) == 2 for column in batch.columns.values())
    assert [refusal.place for refusal in batch.refused] == list(range(1, len(bad_reports) + 1))
    assert all(0 < len(refusal.reason) < 100 for refusal in batch.refused)
    # The same as bytes, as far as JSON has them.
    sent_reports = [
        json.dumps(report, separators=(",", ":")).encode() for report in (good_report, *bad_reports, good_report)
    ]
    assert [refusal.place for refusal in oracle.codec.read_reports(sent_reports).refused] == [
        refusal.place for refusal in batch.refused
    ]


HOSTILE = [
    b"",
    b"{",
    b"null",
    b'"' + b"x" * 70_000 + b'"',
    b"[" * 200,
    b"9" * 200,
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"NaN",
    b'{"value":1e400}',
    b'{"value":1,"value":1}',
]


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_a_bad_report_is_refused_alone(name):
    """Its neighbours are counted, its place is named, and the reason repeats nothing of it."""
    oracle = oracles()[name].make(Fraction(1), 9, pad=2)
    columns = oracle.reports(people([[0, 4], [], [1]], 50), 1)
    good_reports = [
        json.dumps(oracle.codec.make_report(columns, row), separators=(",", ":")).encode() for row in range(50)
    ]
    assert max(map(len, good_reports)) <= oracle.longest_report
    spaced = [good_reports[0] + b" ", good_reports[0].replace(b":", b": ", 1), good_reports[0][:-1] + b',"more":1}']
    bad_reports = [*HOSTILE, *spaced]
    sent_reports = [
        report_text
        for place, report in enumerate(good_reports)
        for report_text in (report, *bad_reports[place : place + 1])
    ]
    batch = oracle.codec.read_reports(sent_reports)
    assert [sent_reports[place] for place in batch.positions] == good_reports
    assert [sent_reports[refusal.place] for refusal in batch.refused] == bad_reports
    assert oracle.supports(batch.columns).tolist() == oracle.supports(columns).tolist()
    assert all(len(refusal.reason) < 100 and "xxx" not in refusal.reason for refusal in batch.refused)
    assert batch.refused[3].reason.startswith("it has 70,002 bytes, and no report to this question has over ")


def test_a_report_alone_is_no_list_of_reports():
    oracle = oracles()["olh"].make(Fraction(1), 9)
    for report in (b'{"seed":[1,2],"value":0}', '{"seed":[1,2],"value":0}', {"seed": [1, 2], "value": 0}):
        with pytest.raises(MisuseError) as refused:
            oracle.codec.read_reports(report)
        kind = type(report).__name__
        assert str(refused.value) == f"Reports are given in a list, also a single one; {kind} was given."


def test_reasons():
    oracle = oracles()["olh"].make(Fraction(1), 9)
    sent_reports = [
        b'{"seed":[1,2],"value":0}',
        b'{"seed":[2,2],"value":0}',
        b'{"seed":[1,2],"value":9}',
        b'{"seed":[1],"value":0}',
        b'{"value":0,"seed":[1,2]}',
        b'{"seed": [1,2],"value":0}',
        b"{",
        b" " * 257,
    ]
    assert [(refusal.place, refusal.reason) for refusal in oracle.codec.read_reports(sent_reports).refused] == [
        (1, "the first number of its seed is even"),
        (2, "its value is not a whole number below 4"),
        (3, "its seed is not two whole numbers of 32 bits"),
        (4, "it is not an object with seed and value, and nothing else"),
        (5, "it is not written as a device writes it"),
        (6, "it is not JSON"),
        (7, "it has 257 bytes, and no report to this question has over 256"),
    ]


@pytest.mark.parametrize("name", ["subset", "privset"])
def test_symbols_of_a_subset_ascend_and_differ(name):
    oracle = oracles()[name].make(Fraction(1, 10), 9, pad=2)
    values = list(range(oracle.many))
    assert oracle.many > 1
    assert not oracle.codec.read_reports([{"values": values}]).refused
    for bad_values in (values[::-1], [0, 0, *values[2:]], [*values[:-1], oracle.symbols_in_all]):
        assert len(oracle.codec.read_reports([{"values": bad_values}]).refused) == 1


@pytest.mark.parametrize("name", ["olh", "blh", "wheel"])
def test_seeds_are_odd_first(name):
    oracle = oracles()[name].make(Fraction(1), 9)
    good_report = oracle.codec.make_report(oracle.reports(people([[0]], 1), 1), 0)
    for seed in ([2, 0], [1, 2**32], [2**32 + 1, 0], [1], [1, 2, 3], (1, 2)):
        assert len(oracle.codec.read_reports([{**good_report, "seed": seed}]).refused) == 1


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_report_sizes(name):
    """As many bits as tell all reports apart: the largest of each number, and what is fixed is not sent."""
    for size, pad in ((1, 1), (9, 2), (1000, 3)):
        oracle = oracles()[name].make(Fraction(1), size, pad=pad)
        expected = {
            "grr": lambda oracle, size, symbols: ceil(log2(symbols)),
            "olh": lambda oracle, size, symbols: 63 + ceil(log2(oracle.buckets)),
            "blh": lambda oracle, size, symbols: 64,
            "oue": lambda oracle, size, symbols: size,
            "sue": lambda oracle, size, symbols: size,
            "hr": lambda oracle, size, symbols: ceil(log2(oracle.rows)) + 1,
            "subset": lambda oracle, size, symbols: oracle.many * ceil(log2(symbols)),
            "privset": lambda oracle, size, symbols: oracle.many * ceil(log2(symbols)),
            "wheel": lambda oracle, size, symbols: 63 + 32,
            "geometry": lambda oracle, size, symbols: ceil(log2(oracle.points)),
        }
        if name in expected:
            assert oracle.bits == expected[name](oracle, size, size + oracle.dummies)


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_at_the_limits(name):
    for epsilon in ("0.001", "20"):
        for size, pad, single in ((1, 1, False), (1, 4, False), (3, 5, False), (2, 1, True)):
            oracle = oracles()[name].make(Fraction(epsilon), size, pad=pad, single=single)
            assert 1 < oracle.ratio <= exp_rounded_down(Fraction(epsilon))
            assert 0 < oracle.p_other < oracle.p_held <= 1
            rows = [[0]] if single else [[], list(range(size))]
            for answered in (people(rows, 1), people(rows, 3), people([[0]], 0)):
                person_count = len(answered.people)
                for counts in (
                    oracle.supports(oracle.reports(answered, 2)),
                    oracle.sample_supports(answered, 2, np.random.default_rng(1)),
                ):
                    assert counts.shape == (size,)
                    assert counts.dtype == np.int64
                    assert (counts >= 0).all()
                    assert (counts <= person_count).all()
                    assert np.isfinite(oracle.estimate(counts, person_count)).all()
                    assert np.isfinite(oracle.spread(oracle.estimate(counts, person_count), person_count)).all()


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_what_cannot_be_made(name):
    kind = oracles()[name]
    for epsilon, epsilon_shown in (("0", "0"), ("0.0009", "0.0009"), ("20.1", "20.1"), ("-1", "-1")):
        with pytest.raises(MisuseError) as error:
            kind.make(Fraction(epsilon), 5)
        assert str(error.value) == f"epsilon of a report is from 0.001 to 20; {epsilon_shown} was given."
    for size, single, min_size in ((0, False, 1), (1, True, 2), (-3, False, 1), (2**28, False, 1)):
        with pytest.raises(MisuseError) as error:
            kind.make(Fraction(1), size, single=single)
        assert str(error.value) == f"An oracle needs {min_size} to 268,435,455 candidates; {size:,} were given."
    for pad, single in ((0, False), (-1, False), (2, True)):
        with pytest.raises(MisuseError) as error:
            kind.make(Fraction(1), 5, pad=pad, single=single)
        assert str(error.value) == (
            f"The padding is 1 to 268,435,455, and 1 where everyone holds one value; {pad} was given."
        )


@pytest.mark.parametrize("name", ORACLE_NAMES)
def test_one_device_by_itself(name):
    oracle = oracles()[name].make(Fraction(1), 9, pad=2)
    assert (name in ANSWERS) is oracle.live
    for values in ([], [3], [8, 0, 4, 2]):
        assert not oracle.codec.read_reports([oracle.randomise(values)]).refused
    assert oracle.randomise([4, 2], lambda count: bytes(count)) == oracle.randomise([2, 4], lambda count: bytes(count))


def test_devices_are_run_one_by_one_where_there_is_no_compiled_code():
    for name in ("grr", "privset", "wheel"):
        oracle = oracles()[name].make(Fraction(1), 9, pad=2)
        answered = people([[], [3], [0, 2, 4, 8]], 30)
        compiled, plain = oracle.reports(answered, 6), Oracle.reports(oracle, answered, 6)
        assert {key: column.tolist() for key, column in plain.items()} == {
            key: column.tolist() for key, column in compiled.items()
        }


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            {"name": "olh", "answer": ANSWERS["grr"], "loss": LOSSES["grr"]},
            "olh is an oracle that devices know already: call Mine otherwise.",
        ),
        (
            {"name": "oue", "answer": ANSWERS["grr"], "loss": LOSSES["grr"]},
            "oue is an oracle that devices know already: call Mine otherwise.",
        ),
        (
            {"name": "mine", "answer": ANSWERS["grr"]},
            "Mine declares how a device answers and not what that loses: declare loss.",
        ),
    ],
    ids=["ours", "of the comparison", "no loss"],
)
def test_what_cannot_be_declared(declared, message):
    with pytest.raises(MisuseError) as error:
        type("Mine", (oracles()["grr"],), declared)
    assert str(error.value) == message
    assert "mine" not in ANSWERS


def test_every_oracle_has_its_proof():
    for name in (*oracles(), *means()):
        text = (ROOM / f"{name}.md").read_text()
        assert text.splitlines()[0] == f"# {name}"
        heads = [line[3:] for line in text.splitlines() if line.startswith("## ")]
        assert heads == [
            "Claim",
            "Assumptions the code checks",
            "Assumptions the caller must keep",
            "Pseudocode",
            "Proof",
            "Numeric notes",
            "Tests that watch it",
        ]


def test_oracles_by_name():
    assert set(oracles()) >= {"grr", "olh", "blh", "oue", "sue", "hr", "subset", "privset", "wheel"}
    assert set(means()) == {"duchi", "pm", "hm"}
    assert make("wheel", Fraction(1), 5, pad=2) == oracles()["wheel"].make(Fraction(1), 5, pad=2)
    assert make("adaptive", Fraction(1), 5) == adaptive(Fraction(1), 5)
    with pytest.raises(MisuseError) as error:
        make("best", Fraction(1), 5)
    assert str(error.value) == (
        f"There is no oracle 'best'; there are adaptive, grr-or-olh, {', '.join(sorted(oracles()))}."
    )


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_adaptive_is_the_best_that_fits(epsilon):
    for size, pad, single in ((10, 1, True), (128, 5, False), (40_000, 8, False), (3000, 1, True)):
        best_oracle = adaptive(Fraction(epsilon), size, pad=pad, single=single)
        assert best_oracle.live
        for kind in oracles().values():
            if not kind.live or kind.by_name:
                continue
            try:
                other_oracle = kind.make(Fraction(epsilon), size, pad=pad, single=single)
            except MisuseError:
                continue
            assert (
                best_oracle.variance(0.0) <= other_oracle.variance(0.0) * (1 + 1e-6) or other_oracle.bits > choice.ROOM
            )
        assert best_oracle.bits <= choice.ROOM
    with pytest.raises(MisuseError) as error:
        adaptive(Fraction(1), 10**6, pad=2**30, room=10)
    assert (
        str(error.value) == "No oracle answers for 1,000,000 candidates padded to 1,073,741,824: use a smaller padding."
    )
