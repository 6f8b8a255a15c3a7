"""What `docs/compatibility.md` promises and a test can hold: the numbers on the page, and files of every number."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.main import get_command

import discreet
from discreet.cli import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "compatibility.md").read_text()

# Files as they were written, for good: a test that fails here breaks what is promised, and must not be adapted.
PATTERNS_1 = """{"discreet": "patterns/1", "people": 185, "people_low": 35, "people_high": 335,
"guarantee": {"model": "central", "unit": "person", "neighbours": "add-remove", "epsilon": "1/2", "delta": "0"},
"simulated": false, "mechanism": "clipped",
"patterns": [{"items": ["milk", "tea"], "count": 5, "support": 0.027, "low": 0, "high": 10}]}
"""
RULES_1 = """{"discreet": "rules/1", "people": 4, "omitted": 0, "guarantee": null, "simulated": false,
"rules": [{"antecedent": ["tea"], "consequent": ["milk"], "count": 3, "antecedent_count": 4, "consequent_count": 3}]}
"""
RELATIONS_1 = RULES_1.replace("rules", "relations")
PATTERNS_CSV = 'items,count,support,people\n"[""milk"", ""tea""]",3,0.75,4\n'
RULES_CSV = (
    "antecedent,consequent,count,antecedent_count,consequent_count,support,confidence,people\n"
    '"[""tea""]","[""milk""]",3,4,3,0.75,0.75,4\n'
)
NAMES = {
    "Baskets", "BudgetError", "DiscreetError", "Guarantee", "InputError", "Ledger", "LimitError",
    "MisuseError", "EmptyDataError", "Outcome", "Patterns", "Release", "Rules", "Vocabulary", "__version__",
    "audit", "count", "load", "mechanisms", "mine", "plan", "preview", "rank", "read", "release", "rules",
    "simulate",
}  # fmt: skip
COMMANDS = {
    "audit", "count", "demo", "lab", "ledger", "mechanisms", "mine", "plan", "rank", "release", "rules",
    "simulate", "warmup",
}  # fmt: skip


def number_of(row: str) -> str:
    """Return what the table of the page says is the number of something today."""
    (number,) = re.findall(rf"^\| {row} \| (.+?) \|", PAGE, re.MULTILINE)
    return str(number)


class TestFiles:
    def test_the_page_has_the_forms_that_are_written(self, tmp_path):
        patterns = discreet.mine([{"tea", "milk"}] * 3 + [{"tea"}], min_count=1)
        for result in (patterns, patterns.rules(min_confidence=0.1)):
            result.save(tmp_path / "result.json")
            assert f"`{json.loads((tmp_path / 'result.json').read_text())['discreet']}`" in number_of(
                "files of results"
            )

    def test_private_patterns_are_read_with_all_they_promise(self, tmp_path):
        (tmp_path / "old.json").write_text(PATTERNS_1)
        patterns = discreet.load(tmp_path / "old.json")
        (pattern,) = patterns
        assert (set(pattern.items), pattern.count, pattern.low, pattern.high) == ({"milk", "tea"}, 5, 0, 10)
        assert patterns.about["guarantee"] == json.loads(PATTERNS_1)["guarantee"]
        assert patterns.people_within == (35, 335)

    @pytest.mark.parametrize(
        ("name", "text"), [("a.json", RULES_1), ("b.json", RELATIONS_1), ("c.csv", RULES_CSV), ("d.csv", PATTERNS_CSV)]
    )
    def test_other_files_are_read(self, name, text, tmp_path):
        (tmp_path / name).write_text(text)
        result = discreet.load(tmp_path / name)
        (row,) = result
        assert (row.count, result.people) == (3, 4)

    def test_what_is_not_known_stays(self, tmp_path):
        document = json.loads(PATTERNS_1) | {"seen-later": [1, 2]}
        document["patterns"][0]["seen-later"] = 3
        (tmp_path / "new.json").write_text(json.dumps(document))
        patterns = discreet.load(tmp_path / "new.json")
        patterns.save(tmp_path / "again.json")
        assert discreet.load(tmp_path / "again.json").about["seen-later"] == [1, 2]

    def test_another_number_is_refused_by_name(self, tmp_path):
        (tmp_path / "new.json").write_text(PATTERNS_1.replace("patterns/1", "patterns/2"))
        with pytest.raises(discreet.InputError, match=r"its form is 'patterns/2'; known are 'patterns/1'"):
            discreet.load(tmp_path / "new.json")


def test_the_page_has_the_number_of_ledgers(tmp_path):
    discreet.Ledger.create(tmp_path / "budget.db", epsilon=1)
    with closing(sqlite3.connect(tmp_path / "budget.db")) as connection:
        (number,) = connection.execute("pragma user_version").fetchone()
    assert number_of("ledgers") == f"version {number}"


def test_the_page_has_the_number_of_the_wire_format():
    spoken = number_of("the wire format")
    assert f"This is {spoken}." in (ROOT / "docs" / "wire.md").read_text()
    assert (ROOT / "tests" / "vectors" / spoken.replace("format ", "v")).is_dir()


def test_no_public_name_has_gone():
    assert set(discreet.__all__) >= NAMES


def test_no_command_has_gone():
    assert set(get_command(app).commands) >= COMMANDS  # type: ignore[attr-defined]
