"""Reports as Parquet files: written and read again, refused one by one, and a round from its text alone."""

# internals: this module needs the crowd of the audit at its full size.
from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet import registry
from discreet.auditing import _holdings as holdings
from discreet.cli import app
from discreet.collector import (
    RoundState,
    StudyCollector,
    StudyPlan,
    Upload,
    _report_files as report_files,
    add_up,
    add_up_files,
    collector_in,
    hash_token,
    read_round,
    save_reports,
    sum_blocks,
)
from discreet.collector._collector import NotAddedUpError
from discreet.errors import ClusterError, InputError, MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.device import WORD
from discreet.local.oracle_steps import oracles
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    PeopleGroup,
    SimulatedPeople,
    StudyGoal,
    converse,
    parse_round,
)

LIVE = [name for name, kind in oracles().items() if kind.live]
PROTOCOLS = [name for name, protocol in registry.protocols().items() if protocol.kind.live]


def round_through(name: str, size: int = 20) -> Ask:
    return Ask.of("which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(size)), name, Fraction(1), pad=2)


def words_of(ask: Ask, report_count: int):
    held_items = np.arange(report_count, dtype=np.int32) % ask.oracle.size
    answered = SimulatedAnswers(offsets=np.arange(report_count + 1), values=held_items, people=np.arange(report_count))
    return ask.oracle.codec.pack(ask.oracle.reports(answered, 3))


@pytest.mark.parametrize("screen", [True, False])
@pytest.mark.parametrize("name", LIVE)
def test_what_is_written_adds_up_to_the_same(name, screen, tmp_path, monkeypatch):
    monkeypatch.setattr(report_files, "_ROW_BYTES", 400)
    monkeypatch.setattr(report_files, "_ROWS_PER_READ", 3)
    monkeypatch.setattr(report_files, "_FILE_BYTES", 500)
    ask = round_through(name)
    words = words_of(ask, 500)
    assert save_reports(tmp_path / "r", ask, [words[:7], words[7:]]) == 500
    assert len(list((tmp_path / "r").glob("*.parquet"))) > 1
    assert all(path.stat().st_mode & 0o077 == 0 for path in [tmp_path / "r", *(tmp_path / "r").iterdir()])
    parsed_round = read_round(tmp_path / "r")
    assert parsed_round.text() == ask.text()
    totals, expected = (
        add_up_files(tmp_path / "r", parsed_round, screen=screen),
        add_up(ask, lambda: [words], screen=screen),
    )
    assert totals.text() == expected.text()
    assert totals.refused == 0


@pytest.mark.parametrize(("room", "aggregates"), [(64, 8), (2, 2), (1, 1), (0, 1)])
@pytest.mark.parametrize("name", ["olh", "geometry", "fresh olh"])
def test_aggregates_of_threads_have_a_room(name, room, aggregates, tmp_path, monkeypatch):
    monkeypatch.setattr(report_files, "_ROW_BYTES", 4)
    monkeypatch.setattr(report_files, "_ROWS_PER_READ", 10)
    monkeypatch.setattr(report_files, "_FILE_BYTES", 40)
    monkeypatch.setattr("discreet.collector._report_files.threads", lambda: 8)
    ask = round_through(name.split()[-1])
    if name == "olh":
        ask = replace(ask, oracle=ask.oracle.numbered(1 << 18))
    words, size = words_of(ask, 300), ask.oracle.adder.start().nbytes
    save_reports(tmp_path / "r", ask, [words])
    monkeypatch.setattr(report_files, "MAX_AGGREGATE_BYTES", int(room * size))
    began = []

    def part(blocks):
        began.append(1)
        return sum_blocks(blocks, ask.oracle)

    tracemalloc.start()
    (people, aggregate), refused = report_files.sum_files(tmp_path / "r", ask, part)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Where one aggregate is added to on all cores, there is one, or one for each thread.
    expected_aggregates = aggregates if room == 64 or name != "fresh olh" else 1
    assert len(began) == expected_aggregates
    assert (people[0], refused) == (300, 0)
    assert (aggregate == sum_blocks([ask.oracle.codec.unpack(words)], ask.oracle)[1]).all()
    if name == "olh":  # megabytes: little else shows beside it
        assert peak < (expected_aggregates + 0.5) * size


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_round_of_every_protocol_is_read_from_its_text(name):
    people = holdings.crowd(12, 200, seed=3)
    crowd = SimulatedPeople(baskets=holdings.build_baskets(people, 12), seed=7, speed="person")
    plan = registry.protocol(name)
    goal = StudyGoal(items=12, top=4, epsilon=Fraction(8))
    _, heard_rounds = converse(
        plan.ask_rounds(goal), lambda ask: crowd.hear(ask, crowd.numbers()), reports=plan.reports
    )
    for heard_round in heard_rounds:
        parsed_round = parse_round(heard_round.ask.text())
        assert (parsed_round.text(), parsed_round.oracle) == (heard_round.ask.text(), heard_round.ask.oracle)
        assert parse_round(json.dumps(heard_round.ask.form)).oracle == heard_round.ask.oracle


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "This is no question of a round"),
        ("[1]", "This is no question of a round"),
        ('{"name": "x", "who": [0, 5]}', "This is no question of a round"),
        (json.dumps({**round_through("grr").form, "oracle": {"oracle": "none"}}), "There is no oracle 'none' here"),
        (
            json.dumps({**round_through("olh").form, "oracle": {**round_through("olh").oracle.form, "buckets": 99}}),
            "The question has other numbers than olh makes here",
        ),
    ],
)
def test_a_text_that_is_no_round(text, message):
    with pytest.raises(InputError, match=message):
        parse_round(text)


def test_bad_rows_are_refused_one_by_one_and_torn_ones_at_once(tmp_path):
    ask = round_through("olh")
    words = words_of(ask, 100)
    bad_words = words.copy()
    bad_words[:9, 0] &= 0xFFFFFFFE  # an even seed
    pq.write_table(
        pa.table({"words": [bad_words[:50].tobytes(), bad_words[50:].tobytes(), b""]}), tmp_path / "a.parquet"
    )
    totals = add_up_files(tmp_path / "a.parquet", ask)
    assert (totals.estimate.people, totals.refused) == (91, 9)
    pq.write_table(pa.table({"words": [words.tobytes()[:-4], None]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="2 rows of the column 'words' are no whole number of reports of 12 bytes"):
        add_up_files(f"{tmp_path}/*.parquet", ask)
    pq.write_table(pa.table({"what": [1]}), tmp_path / "c.parquet")
    with pytest.raises(InputError, match="has the columns what; reports are in a column 'words'"):
        add_up_files(tmp_path / "c.parquet", ask)
    with pytest.raises(InputError, match="There are no Parquet files of reports at"):
        add_up_files(tmp_path / "nothing", ask)
    (tmp_path / "d.parquet").write_text("no")
    with pytest.raises(InputError, match="is no Parquet file"):
        add_up_files(tmp_path / "d.parquet", ask)
    with pytest.raises(MisuseError, match="There are reports in"):
        save_reports(tmp_path, ask, [])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
@pytest.mark.parametrize("encoded", [False, True])
def test_a_text_that_is_no_utf_8_is_one_report_that_is_refused(kind, encoded, tmp_path):
    ask = round_through("grr")
    rows = [b'{"value":3}', b"\xff\xfe", b'{"value":"\xc3"}', None, "{é}".encode(), b'{"value":5}']
    # Arrow takes bytes for a text without looking at them, and so does Parquet.
    as_bytes = pa.array(rows, pa.large_binary() if kind == pa.large_string() else pa.binary())
    column = pa.Array.from_buffers(kind, len(rows), as_bytes.buffers())
    pq.write_table(pa.table({"report": column.dictionary_encode() if encoded else column}), tmp_path / "a.parquet")
    totals = add_up_files(tmp_path / "a.parquet", ask)
    assert (totals.estimate.people, totals.refused) == (2, 4)


@pytest.mark.parametrize(
    ("name", "row", "kind"),
    [
        ("words", 1, "int64"),
        ("report", 1, "int64"),
        ("words", "a", "string"),
        ("report", [b"a"], "list<element: binary>"),
    ],
)
def test_a_column_of_another_kind_is_refused(name, row, kind, tmp_path):
    pq.write_table(pa.table({name: [row]}), tmp_path / "a.parquet")
    with pytest.raises(InputError) as error:
        add_up_files(tmp_path / "a.parquet", round_through("grr"))
    assert str(error.value) == (
        f"The column '{name}' of reports in {tmp_path / 'a.parquet'} is binary, and here it is {kind}."
    )


def study(folder: Path, **changes) -> StudyCollector:
    """Return a collector with a study with 60 reports in its first round."""
    collector = collector_in(folder, **changes)
    collector.open_study(
        StudyPlan(
            name="tea",
            title="Tea",
            asks="Which?",
            protocol="svim",
            top=2,
            epsilon="4",
            items=tuple("abcdef"),
            scrub="hand",
            minimum=0,
        )
    )
    ask = collector.ask("tea", 0)
    tokens = [hash_token(bytes.fromhex(token)) for token in collector.tokens("tea", 60)]
    upload = Upload(
        round=0, tokens=tokens, keys=[b"k" * 16] * 60, words=words_of(ask, 60), codes=np.zeros(60, np.uint8)
    )
    assert not collector.take("tea", upload).any()
    return collector


def test_a_closed_round_goes_from_the_command_line_to_files_and_is_added_up(tmp_path):
    collector = study(tmp_path / "studies")
    with pytest.raises(MisuseError, match="Round 1 of the study 'tea' is open: its reports can be written when"):
        collector.save_reports("tea", 0, tmp_path / "r")
    collector.close("tea")
    heard_totals = json.loads(collector.store.rounds("tea")[0].heard)
    collector.store.close()
    location = ["--at", str(tmp_path / "studies")]
    command = ["study", "reports", "tea", *location, "-o", str(tmp_path / "r")]
    outcome = CliRunner().invoke(app, command)
    assert outcome.stdout.split() == f"Wrote 60 reports of round 1 of tea into {tmp_path / 'r'}.".split()
    sums = json.loads(CliRunner().invoke(app, ["study", "add-up", str(tmp_path / "r")]).stdout)
    assert {name: sums[name] for name in heard_totals} == heard_totals
    assert (sums["round"], sums["refused"], len(sums["values"])) == ("which items", 0, len(heard_totals["supports"]))
    command = ["study", "add-up", str(tmp_path / "r"), "-o", str(tmp_path / "sums.json"), "--no-screen"]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert json.loads((tmp_path / "sums.json").read_text())["people"] == 60
    for wrong, message in {
        ("study", "add-up", str(tmp_path / "r"), "--master", "local"): "give --engine spark too",
        ("study", "close", "tea", *location, "--handover", "x"): "give --engine spark too",
        (
            "study",
            "close",
            "tea",
            *location,
            "--engine",
            "spark",
            "--master",
            "a",
            "--remote",
            "b",
        ): "Give one of --master",
        ("study", "add-up", str(tmp_path / "r"), "--engine", "spark", "--device", "gpu"): (
            "--device gpu adds up reports on a card of this machine: leave --engine spark out."
        ),
        ("study", "add-up", str(tmp_path)): "name its file with --question",
        ("study", "reports", "tea", "--at", "https://there", "-o", "x"): "hands out no reports",
        ("study", "reports", "tea", *location, "-o", "x", "--round", "9"): "The study has no such round",
    }.items():
        result = CliRunner().invoke(app, list(wrong))
        assert result.exit_code != 0
        assert message in str(result.exception), wrong
    collector = collector_in(tmp_path / "studies")
    collector.scrub("tea")
    with pytest.raises(MisuseError, match="is scrubbed: its reports are gone"):
        collector.save_reports("tea", 0, tmp_path / "again")
    collector.store.close()


def test_a_round_that_cannot_be_added_up_stays_closed_and_is_tried_again(tmp_path):
    clock, tries = [1000.0], []

    def adder(ask, blocks, *, screen):
        tries.append(screen)
        if len(tries) < 3:
            raise ClusterError("Spark's master cannot be reached.")
        return add_up(ask, blocks, screen=screen)

    collector = study(tmp_path, adder=adder)
    collector.now = lambda: clock[0]
    with pytest.raises(NotAddedUpError, match="its reports are not added up yet: Spark's master cannot be reached"):
        collector.close("tea")
    assert collector.status("tea")["not_added_up"] == "Spark's master cannot be reached."
    before = collector.store.rounds("tea")[0]
    assert (before.state, before.heard, before.people) == (RoundState.CLOSED, None, 60)
    collector.tick()
    assert len(tries) == 1  # not every half a second
    clock[0] += 61
    collector.tick()
    assert (len(tries), collector.store.rounds("tea")[0].state) == (2, RoundState.CLOSED)
    assert collector.close("tea").rounds == 0
    after = collector.store.rounds("tea")[0]
    assert (len(tries), after.state, json.loads(after.heard)["people"]) == (3, RoundState.RELEASED, 60)
    assert "not_added_up" not in collector.status("tea")
    collector.tick()
    assert len(tries) == 3  # what is released is not added up again
    collector.store.close()
