"""The house is as easily extended as CONTRIBUTING.md says: what it adds is added to a copy, and the tests run there.

The files and the changes are the blocks of code of CONTRIBUTING.md, so that its words are what is tried. The copy is
run in processes of its own, as it is another `discreet`. All of it takes half a minute of one core.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from additions import Step, copy_tree, run_there, steps_of

MECHANISMS, ORACLES = "src/discreet/curator/mechanisms", "src/discreet/local/oracles"
PROTOCOLS, PUBLISH = "src/discreet/local/protocols", "src/discreet/publish"
# What is added, by the heading under which it is told how: the files that are touched, and no other.
ADDITIONS = {
    "Adding a mechanism": {f"{MECHANISMS}/common_items.py", f"{MECHANISMS}/common-items.md"},
    "Adding an oracle": {
        f"{ORACLES}/keep_or_any.py",
        f"{ORACLES}/keep-or-any.md",
        "tests/vectors/declared/keep-or-any.json",
    },
    "Adding a protocol": {f"{PROTOCOLS}/ask_once.py", f"{PROTOCOLS}/ask-once.md"},
    "Adding a format of files": {"src/discreet/results/_formats.py"},
    "Adding an option of a release": {f"{PUBLISH}/_question.py", f"{PUBLISH}/_keywords.py", f"{PUBLISH}/_run.py"},
}
NAMES = ("common-items", "keep-or-any", "ask-once")
# Tests that hold for each mechanism, oracle, protocol and format, whichever there are: only those of the new ones.
ENTRY_TESTS = (
    "tests/curator/test_every_mechanism.py",
    "tests/auditing/test_registry.py",
    "tests/auditing/test_local.py",
    "tests/local/oracles",
    "tests/local/device/test_vectors.py",
    "tests/local/protocols/test_every_protocol.py",
    "tests/docs/test_proofs.py",
    "tests/lab/test_mechanisms.py",
    "tests/results/test_formats.py",
)
# Tests of all there is at once: lists, tables and pages that might leave something new out.
HOUSE_TESTS = (
    "tests/test_registry.py",
    "tests/test_errors.py::test_the_table_of_options_holds_what_there_is",
    "tests/test_errors.py::test_every_message_has_its_fields",
    "tests/test_errors.py::test_no_plain_message_names_an_option_of_python",
    "tests/test_house.py::test_what_the_registry_scans_has_a_page_for_every_file",
    "tests/test_house.py::test_a_room_uses_what_its_row_names",
    "tests/test_house.py::test_no_class_name_stands_for_two_things",
    "tests/test_house.py::test_queries_are_defined_where_their_sensitivity_is_read",
    "tests/docs/test_complete.py::test_every_entry_of_the_registry_is_on_its_page_with_its_proof",
    "tests/docs/test_complete.py::test_every_name_is_said_in_words_too",
    "tests/docs/test_complete.py::test_every_format_of_files_is_on_its_page",
    "tests/docs/test_complete.py::test_every_command_is_on_the_page_with_its_options[discreet release]",
    "tests/local/device/test_vectors.py::test_every_oracle_of_the_format_has_its_vectors",
    "tests/local/device/test_vectors.py::test_the_page_has_the_fields_of_every_oracle",
    "tests/local/oracles/test_packing.py::test_every_oracle_that_devices_answer_for_is_packed",
    "tests/local/device/test_limits.py::test_the_oracles_kept_for_comparison_are_not_answered_for",
    "tests/publish/test_api.py::TestKeywordsAreTheFieldsOfTheQuestion",
    "tests/publish/test_question.py::TestValue",
)


def contents(tree: Path) -> dict[str, bytes]:
    """Return the files of a tree by their paths, without what Python and pytest make."""
    files = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Return a copy of the house to which all is added, and what each addition touched."""
    tree, touched = tmp_path_factory.mktemp("house"), {}
    copy_tree(tree)
    (tree / ".venv" / "bin").mkdir(parents=True)
    (tree / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for heading in ADDITIONS:
        before = contents(tree)
        for step in steps_of(heading):
            step.carry_out(tree)
        if heading == "Adding an oracle":
            run_there(tree, "tests/vectors/make.py")
        after = contents(tree)
        touched[heading] = {path for path in before | after if before.get(path) != after.get(path)}
    return tree, touched


def run_tests(tree: Path, *arguments: str) -> int:
    """Run tests of the copy, and return how many passed: all that were chosen."""
    output = run_there(tree, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *arguments)
    (passed,) = re.findall(r"(\d+) passed", output) or re.findall(r"(\d+)%\]", output)
    return int(passed)


@pytest.mark.parametrize("heading", ADDITIONS)
def test_what_is_added_is_in_as_few_files_as_is_said(heading, house):
    _, touched = house
    assert touched[heading] == ADDITIONS[heading]


# Run where all is added: the command line, question files, help() and results name and take what is new.
USED_PROGRAM = """
import pydoc
from pathlib import Path
import discreet
from discreet.publish import Question
from running import run

Path("shop.jsonl").write_text('["milk", "tea"]\\n' * 60 + '["bread"]\\n' * 30)
Path("items.txt").write_text("bread\\nmilk\\ntea\\n")
listed = run("mechanisms", check=True).stdout
for name in ("common-items", "keep-or-any", "ask-once"):
    assert name in listed, name
    assert name in run("mechanisms", name, check=True).stdout, name

typed = ["--top", "1", "--epsilon", "5", "--items", "items.txt", "--mechanism", "common-items", "--note", "Of spring."]
Path("q.toml").write_text(run("release", *typed, "--print-question", check=True).stdout)
assert Question.from_file("q.toml").note == "Of spring."
run("release", "shop.jsonl", "--question", "q.toml", "-o", "found.tab", check=True)
assert Path("found.tab").read_text().startswith("items\\t")
assert discreet.load("found.tab").provenance.notes[-1] == "Of spring."
assert discreet.load("found.tab").provenance.mechanism == "common-items"
assert run("release", "shop.jsonl", *typed, "--format", "tab", check=True).stdout.startswith("items\\t")
assert "--note" in run("release", "--help", check=True).stdout
made = discreet.release([{"tea"}] * 90, top=1, epsilon=5, items=["tea", "ale"], note="Of spring.")
assert made.notes[-1] == "Of spring."
helped = " ".join(pydoc.plain(pydoc.render_doc(discreet.release)).split())
assert "note A sentence for the notes of the result." in helped

asked = {"top": 1, "epsilon": 4, "seed": 1, "settings": {"oracle": "keep-or-any"}}
assert discreet.simulate([{"tea"}] * 900, protocol="ask-once", **asked).patterns[0].items == {"tea"}
assert discreet.audit("common-items", epsilon=1, runs=20).stands
"""


def test_what_is_added_is_listed_and_can_be_used(house, tmp_path):
    tree, _ = house
    (tmp_path / "used.py").write_text(f"import os\nos.chdir({str(tmp_path)!r})\n{USED_PROGRAM}")
    run_there(tree, "-W", "error", str(tmp_path / "used.py"))


def test_what_holds_for_each_holds_for_what_is_added(house):
    tree, _ = house
    assert run_tests(tree, *ENTRY_TESTS, "-k", " or ".join((*NAMES, ".tab", "[tab"))) > 60


def test_what_is_added_is_left_out_nowhere(house):
    tree, _ = house
    assert run_tests(tree, *HOUSE_TESTS) > 60


def test_what_is_added_is_written_as_the_house_writes(house):
    tree, touched = house
    files = sorted(path for paths in touched.values() for path in paths if path.endswith(".py"))
    run_there(tree, "-m", "ruff", "check", "--quiet", "--no-cache", *files)
    run_there(tree, "-m", "ruff", "format", "--check", "--quiet", "--no-cache", *files)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_all_other_tests_pass_too(house):
    """Takes as long as `make test`, for which it stands: whatever else might list what there is by hand."""
    tree, _ = house
    run_tests(tree, "--ignore=tests/test_drill.py", "--ignore=tests/spark", "--ignore=tests/collector", "-n", "2")


def test_a_change_whose_place_is_gone_is_told(tmp_path):
    (tmp_path / "one.py").write_text("a = 1\nb = 2\n")
    Step("one.py", "diff", " a = 1\n+c = 3\n-b = 2\n").carry_out(tmp_path)
    assert (tmp_path / "one.py").read_text() == "a = 1\nc = 3\n"
    with pytest.raises(AssertionError, match=r"^one\.py has no such lines any more:\na = 1\nb = 2\n"):
        Step("one.py", "diff", " a = 1\n-b = 2\n").carry_out(tmp_path)
