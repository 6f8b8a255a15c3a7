"""Checks of reports that are added up in a cluster, beside this machine's own sums: `suite.py` runs them."""

# internals: this module lowers the limit of a file of reports, and signs as a collector.
from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import discreet
from discreet import registry
from discreet.collector import (
    RoundTotals,
    Signer,
    StudyCollector,
    StudyPlan,
    Upload,
    _report_files as report_files,
    hash_token,
)
from discreet.collector.storage import SQLiteStore
from discreet.local import MeanOracle, SimulatedAnswers
from discreet.local.oracle_steps import means, oracles
from discreet.local.study import Ask, CandidateList, CandidateQuestion, FoldedProjection, PeopleGroup
from discreet.local.study._collect import Collected, collect
from discreet.spark import _reports as reports

EVERYBODY = PeopleGroup(0, 2**32)
NUMBER = FoldedProjection(items=4, left=(1, 1), right=(1, 1), low=-4, high=4)


def error_text(call: Callable[[], object]) -> str:
    try:
        call()
    except discreet.DiscreetError as error:
        return str(error)
    raise AssertionError("nothing was said")


def answers(ask: Ask, report_count: int, seed: int = 5) -> list[bytes]:
    """Return what devices send to a round."""
    mean = isinstance(ask.oracle, MeanOracle)
    values_held = np.arange(report_count, dtype=np.int32) % (ask.oracle.span if mean else ask.oracle.size)
    answered = SimulatedAnswers(offsets=np.arange(report_count + 1), values=values_held, people=np.arange(report_count))
    columns = ask.oracle.reports(answered, seed)
    reports = (ask.oracle.codec.make_report(columns, row) for row in range(report_count))
    return [json.dumps(report, separators=(",", ":")).encode() for report in reports]


def asks() -> list[Ask]:
    """Return a round through every oracle, and those with published seeds."""
    question = CandidateQuestion(CandidateList(30))
    made_asks = [Ask.of(name, EVERYBODY, question, name, Fraction(1), pad=2) for name in oracles()]
    made_asks += [Ask.mean(name, EVERYBODY, NUMBER, name, Fraction(1)) for name in means()]
    assert {ask.oracle.name for ask in made_asks} == {*registry.oracles()}
    hashing = [oracles()[name].make(Fraction(1), 30, pad=2) for name in ("olh", "wheel")]
    numbered_oracles = [ask.numbered(64) for ask in hashing]  # type: ignore[attr-defined]
    return made_asks + [
        Ask(name="published", group=EVERYBODY, question=question, oracle=ask) for ask in numbered_oracles
    ]


def compare_totals(totals: RoundTotals, expected: Collected) -> None:
    """Compare what was added up in a cluster with what was here."""
    assert totals.estimate.people == expected.estimate.people
    assert totals.estimate.supports.tolist() == expected.estimate.supports.tolist()
    assert totals.estimate.values.tolist() == expected.estimate.values.tolist()
    assert (totals.refused, totals.left_out) == (len(expected.refused), len(expected.left_out))
    assert totals.alarms == tuple(map(str, expected.alarms))


def test_reports_of_every_oracle(session: Any) -> None:
    every = asks()
    if type(session).__module__.startswith("pyspark.sql.connect"):
        every = [check for check in every if check.name in ("olh", "duchi")]

    def compare(ask: Ask) -> None:
        sent_reports = [b"nonsense", *answers(ask, 200), b'{"value":-1}', b""]
        frame = session.createDataFrame(pa.table({"report": sent_reports}))
        compare_totals(reports.add_up_reports(frame, ask.text(), screen=False), collect(ask, sent_reports))

    with ThreadPoolExecutor(4) as executor:
        assert len(list(executor.map(compare, every))) == len(every)


def test_reports_that_are_screened(session: Any) -> None:
    # Liars who name the same values are left out in the cluster as they are here, and a table that travels in pieces.
    question = CandidateQuestion(CandidateList(300))
    ask = Ask.of("which", EVERYBODY, question, "privset", Fraction(1), pad=3)
    lie = {"values": sorted([*range(100, 110), *range(ask.frequencies.many - 10)])}  # type: ignore[attr-defined]
    sent_reports = [*answers(ask, 1500), *[json.dumps(lie, separators=(",", ":")).encode()] * 100, b"nonsense"]
    expected = collect(ask, sent_reports, screen=True)
    assert len(expected.left_out) >= 100
    frame = session.createDataFrame(pa.table({"report": sent_reports})).repartition(9)
    compare_totals(reports.add_up_reports(frame, ask), expected)
    oracle = replace(oracles()["olh"].make(Fraction(1), 300, pad=2), seeds=1024)
    ask = Ask(name="published", group=EVERYBODY, question=question, oracle=oracle)
    sent_reports = answers(ask, 3_000)
    frame = session.createDataFrame(pa.table({"report": sent_reports})).repartition(3)
    with patch.object(reports, "_PIECE_NUMBERS", 2_000):
        compare_totals(reports.add_up_reports(frame, ask, screen=False), collect(ask, sent_reports))
    # Most partitions are empty, and then all of them.
    last_rows = frame.where("report > '{\"seed\":99'")
    kept_reports = [report for report in sent_reports if report > b'{"seed":99']
    assert 0 < len(kept_reports) < 60
    compare_totals(
        reports.add_up_reports(last_rows.repartition(7, "report"), ask), collect(ask, kept_reports, screen=True)
    )
    compare_totals(reports.add_up_reports(last_rows.where("false"), ask), collect(ask, [], screen=True))


def test_reports_of_files(session: Any) -> None:
    ask = Ask.of("which", EVERYBODY, CandidateQuestion(CandidateList(50)), "wheel", Fraction(1), pad=2)
    sent_reports = answers(ask, 5_000)
    words = ask.oracle.codec.pack(ask.oracle.codec.read_reports(sent_reports).columns)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        with patch.multiple(report_files, _ROW_BYTES=6_000, _FILE_BYTES=1, _ROWS_PER_READ=3):
            assert report_files.save_reports(place, ask, [words[:4_000], words[4_000:]]) == 5_000
        assert len(list(place.glob("*.parquet"))) > 1
        expected = collect(ask, sent_reports, screen=True)
        compare_totals(reports.add_up_reports(place, (place / "round.json").read_text()), expected)
        compare_totals(report_files.add_up_files(place, ask), expected)
        other_ask = Ask.of("which", EVERYBODY, CandidateQuestion(CandidateList(50)), "grr", Fraction(1))
        wide_ask = Ask.of("which", EVERYBODY, CandidateQuestion(CandidateList(300)), "privset", Fraction(1), pad=3)
        assert 6_000 % (4 * wide_ask.oracle.codec.width)
        # Words of another round are refused one by one where they can be, and otherwise told at once.
        assert reports.add_up_reports(place, other_ask, screen=False).refused > 4_000
        assert "are no whole number of reports of" in error_text(lambda: reports.add_up_reports(place, wide_ask))
        strange = session.createDataFrame(pa.table({"words": ["a"]}))
        assert "The column 'words' of reports is binary" in error_text(lambda: reports.add_up_reports(strange, ask))
        nothing = session.createDataFrame(pa.table({"what": ["a"]}))
        assert "has the columns what; reports are in a column 'words'" in error_text(
            lambda: reports.add_up_reports(nothing, ask)
        )
        assert error_text(lambda: reports.add_up_reports(f"{folder}/no", ask)).startswith("Spark finds no file at")


def test_a_collector_hands_its_rounds_to_spark(session: Any) -> None:
    plan = StudyPlan(
        name="handed", title="Handed over", asks="Which?", protocol="svim", top=2, epsilon="4", items=tuple("abcdefgh"),
        minimum=0,
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        adder = reports.SparkAdder(folder=Path(folder) / "passing", session=session)
        signer = Signer.read(Path(folder))
        local_collector = StudyCollector(SQLiteStore(Path(folder) / "here.db"), signer)
        spread_collector = StudyCollector(
            SQLiteStore(Path(folder) / "there.db"), signer, adder=replace(adder, session=object())
        )
        for collector in (local_collector, spread_collector):
            collector.open_study(plan)
            ask = collector.ask("handed", 0)
            assert ask is not None
            words = ask.oracle.codec.pack(ask.oracle.codec.read_reports(answers(ask, 400)).columns)
            tokens = [hash_token(bytes.fromhex(token)) for token in collector.tokens("handed", len(words))]
            keys, codes = [bytes(15) + b"k"] * len(words), np.zeros(len(words), np.uint8)
            upload = Upload(round=0, tokens=tokens, keys=keys, words=words, codes=codes)
            assert not collector.take("handed", upload).any()
        local_collector.close("handed")
        # Where Spark fails nothing is released: the round waits, and is not tried again at once by itself.
        message = error_text(lambda: spread_collector.close("handed"))
        assert message.startswith("Round 1 of the study 'handed' is closed, and its reports are not added up yet: ")
        assert "not_added_up" in spread_collector.status("handed")
        with patch.object(spread_collector, "advance", side_effect=AssertionError):
            spread_collector.tick()
        assert spread_collector.progress("handed")["rounds"][0]["state"] == "closed"
        assert spread_collector.store.rounds("handed")[0].heard is None
        # Whoever asks for it tries again: then the round is released as it is here, and the next one is asked.
        spread_collector._adder = adder
        spread_collector.close("handed")
        assert "not_added_up" not in spread_collector.status("handed")
        assert not any((Path(folder) / "passing").iterdir())
        local_rounds, right = (collector.store.rounds("handed") for collector in (local_collector, spread_collector))
        assert [(collector.state, collector.ask, collector.heard) for collector in local_rounds] == [
            (collector.state, collector.ask, collector.heard) for collector in right
        ]
        assert [str(collector.state) for collector in right] == ["scrubbed", "open"]


CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    check.__name__: (check, kinds)
    for check, kinds in [
        (test_reports_of_every_oracle, ("cluster", "connect")),
        (test_reports_that_are_screened, ("cluster",)),
        (test_reports_of_files, ("cluster",)),
        (test_a_collector_hands_its_rounds_to_spark, ("cluster",)),
    ]
}
