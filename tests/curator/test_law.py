"""The law of a release: once a budget is spent, adding one person changes nothing but charged results.

For every mechanism of the catalogue, with the same seed on both sides: the same exception or none, the same warnings
and log lines, the same columns, the same guarantee. Numbers and patterns may differ, as they carry the noise, and so
may what the budget was spent on, where a mechanism decides that by what it released before.
"""

from __future__ import annotations

import csv
import io
import logging
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from discreet.baskets.core import Baskets, Vocabulary, starts
from discreet.catalogue import mechanisms
from discreet.cli import main
from discreet.privacy.source import SimulationSource
from discreet.publish import carry_out, prepare

NAMES = sorted(mechanisms())
ITEMS = 4
DATABASES = 200


def databases() -> list[tuple[list[tuple[int, ...]], tuple[int, ...]]]:
    """Return tiny databases and one person more for each; the first one is empty, and so is that person's basket."""
    generator = np.random.default_rng(7)

    def basket() -> tuple[int, ...]:
        return tuple(np.flatnonzero(generator.random(ITEMS) < generator.choice([0.1, 0.5, 0.9])).tolist())

    drawn = [([basket() for _ in range(generator.integers(0, 7))], basket()) for _ in range(DATABASES - 4)]
    return [([], ()), ([], (0, 1, 2, 3)), ([()], (3,)), ([(0,)] * 60, (1, 2)), *drawn]


PAIRS = databases()


def as_baskets(rows: list[tuple[int, ...]]) -> Baskets:
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(starts([len(row) for row in rows]), codes, Vocabulary(list(range(ITEMS))))


def questions(name: str) -> list[dict[str, Any]]:
    """Return the questions a mechanism answers, each in a few forms."""
    kind = mechanisms()[name].kind
    public = {"items": ITEMS, "epsilon": 1, "delta": "1e-3" if kind.delta else 0}
    asked: list[dict[str, Any]] = []
    if "top" in kind.answers:
        asked += [{"top": 3}, {"top": 2, "counts": False, "lengths": (1, 2)}]
    if "threshold" in kind.answers:
        asked += [{"min_count": 2}, {"min_support": "0.3", "lengths": (1, 2)}]
    if "itemsets" in kind.answers:
        asked += [{"itemsets": [[0], [1, 2]]}]
    return [{**public, "mechanism": name, **one} for one in asked]


def seen(rows, seed, question, caplog) -> dict[str, Any]:
    """Return all that a trial shows beside its numbers and patterns."""
    job = next(iter(prepare(as_baskets(rows), **question).values()))
    caplog.clear()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            release = carry_out(job, SimulationSource(seed))
        except Exception as error:
            return {"exception": repr(error)}
    table = release.patterns.to_arrow()
    return {
        "exception": None,
        "warnings": [str(one.message) for one in heard],
        "log": [record.getMessage() for record in caplog.records if not record.name.startswith("numba")],
        "columns": str(table.schema.remove_metadata()),
        "rows": len(table) if "top" in question or "itemsets" in question else None,
        "told": sorted(release.to_dict()),
        "guarantee": str(release.guarantee),
        "asked": dict(release.asked),
        "settings": dict(release.settings),
        "public": release.guarantee.public,
    }


@pytest.mark.parametrize("name", NAMES)
def test_adding_a_person_changes_nothing_but_results(name, caplog):
    caplog.set_level(logging.DEBUG)
    asked = questions(name)
    for place, (rows, more) in enumerate(PAIRS):
        question = asked[place % len(asked)]
        before = seen(rows, place, question, caplog)
        after = seen([*rows, more], place, question, caplog)
        assert before == after, (question, rows, more)
        assert before["exception"] is None, (question, rows)
        assert before["warnings"] == [], (question, rows)


def test_the_databases_are_what_they_should_be():
    assert len(PAIRS) == DATABASES == 200
    assert PAIRS[0] == ([], ())
    assert len({(tuple(rows), more) for rows, more in PAIRS}) > 150


def test_the_law_can_be_broken(monkeypatch, caplog):
    from discreet.curator.count import Count

    right = Count.run

    def talkative(self, engine, asked, meter):
        if engine.baskets.people > 3:
            logging.getLogger("discreet").debug("many people")
        return right(self, engine, asked, meter)

    monkeypatch.setattr(Count, "run", talkative)
    with pytest.raises(AssertionError):
        test_adding_a_person_changes_nothing_but_results("count", caplog)


def typed(name: str, folder, rows, capsys, monkeypatch) -> dict[str, Any]:
    """Return what the command line shows: its exit status, the header of its table, what it says beside."""
    data = folder / "baskets.dat"
    data.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    kind = mechanisms()[name].kind
    command = ["discreet", "release", str(data), "--mechanism", name, "--epsilon", "1", "--items", str(ITEMS)]
    command += ["--labels", "numbers", "--format", "csv"]
    command += ["--top", "3"] if "top" in kind.answers else ["--min-count", "2"]
    if kind.delta:
        command += ["--delta", "1e-3"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    return {"status": end.value.code, "header": next(csv.reader(io.StringIO(out)), None), "error": err}


@pytest.mark.parametrize("name", [name for name in NAMES if "itemsets" not in mechanisms()[name].kind.answers])
def test_nor_on_the_command_line(name, tmp_path, capsys, monkeypatch):
    # The first of them is empty: a file without a single line.
    assert not PAIRS[0][0]
    for rows, more in PAIRS[:4]:
        before = typed(name, tmp_path, rows, capsys, monkeypatch)
        after = typed(name, tmp_path, [*rows, more], capsys, monkeypatch)
        assert before == after, (rows, more)
        assert before["status"] in (0, None), before["error"]
