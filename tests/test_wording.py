"""What is put before people: printable texts, tables in notebooks, and the words of other libraries."""

# internals: this module reads the table of hints itself.
from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
import discreet_lab
from discreet.wording import _HINTS, find_hint, printable, render_html
from running import run, unknown_options

SOURCE = Path(discreet.__file__).parent
LAB = Path(discreet_lab.__file__).parent
RED = "\x1b[31mred\x1b]0;owned\x07"
BASKETS = [{"tea", "milk"}] * 30 + [{"bread"}] * 20


def test_what_a_terminal_would_obey_is_shown():
    assert printable("tea") == "tea"
    assert printable(RED) == r"\x1b[31mred\x1b]0;owned\x07"
    assert printable("a\u202eb\nc") == r"a\u202eb\nc"
    assert printable("a\nb\r", keep="\n") == "a\nb\\r"
    assert printable("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"  # Persian needs its joiner


def test_the_command_line_speaks_through_one_place():
    for path in (*(SOURCE / "cli").glob("*.py"), LAB / "command.py"):
        text = path.read_text()
        direct = re.findall(r"typer\.echo\((?!json|text\b|text\.getvalue|verdict\.to_json|f\"discreet \{)", text)
        assert path.name == "_terminal.py" or not direct, f"{path.name}: write say(…), which shows control characters"
        assert path.name in ("_terminal.py", "_progress.py") or "Console(" not in text, (
            f"{path.name}: take console() of _terminal.py"
        )


def test_no_file_name_reaches_the_terminal_as_it_is(tmp_path):
    completed = run("mine", f"{RED}.dat", "--top", "3", cwd=tmp_path)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr == "discreet: There is no file \\x1b[31mred\\x1b]0;owned\\x07.dat.\n"
    (tmp_path / "b.csv").write_text(f"who,what,{RED}\n" + "".join(f"{n},tea,{RED}\n" for n in range(9)))
    completed = run("mine", "b.csv", "--person", "nobody", "--item", "what", "--top", "3", cwd=tmp_path)
    assert "\x1b" not in completed.stderr
    assert "\\x1b[31mred" in completed.stderr
    (tmp_path / f"{RED}.csv").write_text("who,what\n1,tea\n2,tea\n")
    command = ["--person", "who", "--item", "what", "--top", "1", "-o", f"{RED}.json"]
    completed = run("mine", f"{RED}.csv", *command, cwd=tmp_path)
    assert completed.returncode == 0
    assert "\x1b" not in completed.stderr + completed.stdout


def test_notebooks_show_what_a_terminal_shows_and_escape_it():
    patterns = discreet.mine([{"<b>tea</b>", RED}] * 5, min_count=1)
    for page in (patterns._repr_html_(), patterns.show(2)._repr_html_()):
        assert "&lt;b&gt;tea&lt;/b&gt;" in page
        assert "<b>" not in page
        assert "\x1b" not in page
    ranking = discreet.rank({"<i>north</i>": 5, RED: 3}, top=2, epsilon=1, sensitivity=1, labels="public")
    assert "&lt;i&gt;north" in ranking._repr_html_()
    assert "\x1b" not in ranking._repr_html_()
    listing = discreet.mechanisms()
    assert "exponential" in listing
    assert listing["exponential"].name == "exponential"
    assert "answers top" in listing._repr_html_()
    assert "[bold]" in render_html("[bold]x")


def test_forecasts_and_verdicts_show_themselves():
    forecast = discreet.plan(people=5_000, items=20, epsilon=2, top=3, names=["exponential"])
    assert "exponential" in forecast._repr_html_()
    assert "exponential" in str(forecast)
    assert forecast.plot()._repr_svg_().startswith("<svg")
    verdict = discreet.audit("count", runs=20)
    assert "claims epsilon" in verdict._repr_html_()


def test_a_ledger_shows_where_it_stands(tmp_path):
    state = discreet.Ledger.create(tmp_path / "budget.db", epsilon=2, name="<b>shop</b>").state()
    page = state._repr_html_()
    assert "&lt;b&gt;shop" in page
    assert "remaining  epsilon 2" in page
    assert run("ledger", "show", "budget.db", cwd=tmp_path).stdout.splitlines()[1:] == state.lines()


def test_show_has_as_many_rows_as_wanted():
    patterns = discreet.mine([{f"item {n}" for n in range(6)}] * 4, min_count=1)
    assert "… and 33 more" in repr(patterns.show(30))
    assert "… and 53 more" in repr(patterns)
    assert patterns.show(30)._repr_html_().count("<tr>") == 31
    assert "more" not in repr(patterns.show(100))
    assert "… and" in repr(discreet.rules([{f"i{n}" for n in range(5)}] * 4, min_count=1).show(30))
    with pytest.raises(discreet.MisuseError, match="rows is 0, but it must be a whole number, 1 or more"):
        patterns.show(0)


def test_a_release_shows_rows_and_a_picture():
    release = discreet.release(BASKETS, top=3, epsilon=1, items="public")
    assert "… and 2 more" in repr(release.show(1))
    assert "differential privacy" in repr(release.show(1))
    svg = release.plot(rows=2)._repr_svg_()
    assert svg.startswith("<svg")
    assert svg.count('height="8"') <= 2
    assert "central differential privacy, add or remove one person, epsilon = 1" in svg
    outcome = discreet.simulate(BASKETS, "adept", top=2, epsilon=4, seed=1)
    assert "SIMULATED: not a private release" in outcome.plot()._repr_svg_()
    assert outcome.show(1).rows == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: discreet.mine(BASKETS, min_support=0.1, max_len=3),
            "There is no max_len: the most items of a pattern are lengths=(1, 3) here.",
        ),
        (
            lambda: discreet.mine(BASKETS, supp=10),
            "There is no supp: the least support is min_support=0.01 here, a fraction of people and no percentage, or "
            "min_count=500, a number of people.",
        ),
        (
            lambda: discreet.mine(BASKETS, min_count=1).rules(metric="lift"),
            "There is no metric: rules have min_confidence=0.5 and min_lift=1.2 here, and are put in order by sort.",
        ),
        (
            lambda: discreet.release(BASKETS, top=3, eps=1),
            "There is no eps: what may be lost is epsilon=1 here.",
        ),
        (
            lambda: discreet.audit("svsm", eps=1),
            "There is no eps: what may be lost is epsilon=1 here.",
        ),
    ],
)
def test_words_of_other_libraries_are_answered_with_ours(call, message):
    with pytest.raises(discreet.MisuseError) as caught:
        call()
    assert str(caught.value) == message


def test_other_unknown_keywords_are_refused_by_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'tpo'"):
        discreet.mine(BASKETS, tpo=3)
    assert find_hint("tpo", ["top"]) is None


def test_nobody_is_told_to_write_what_there_is_not():
    """A word of another library is answered with ours where ours is there."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_len'"):
        discreet.audit("count", max_len=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'minsup'"):
        discreet.rank({"a": 3}, top=1, epsilon=1, sensitivity=1, minsup=3)
    with pytest.raises(discreet.MisuseError) as caught:
        discreet.plan(items=9, epsilon=1, top=3, minsup=3)
    assert "min_count" not in str(caught.value)
    for function in (discreet.mine, discreet.rules, discreet.release, discreet.rank, discreet.audit, discreet.plan):
        names = inspect.signature(function).parameters.keys()
        answers = {word: find_hint(word, names) for word in _HINTS}
        assert all(answer is None or answer.options <= names for answer in answers.values())
        assert answers["verbose"] is not None


@pytest.mark.parametrize("command", ["mine", "rules", "release", "count", "rank", "simulate", "plan", "audit"])
def test_nor_is_anybody_on_the_command_line(command, tmp_path):
    # `run` refuses a message that names an option its command does not have.
    for word in ("--max-len", "--supp", "--conf", "--metric", "--target", "--itemsCol", "--k", "--eps"):
        assert run(command, word, "3", cwd=tmp_path).returncode == 2


def test_who_runs_out_of_memory_is_told_what_there_is(monkeypatch, tmp_path):
    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("discreet.auditing.audit", full)
    monkeypatch.setattr("discreet.baskets.read", full)
    assert run("audit", "count").stderr == "discreet: out of memory. Ask for less.\n"
    assert run("mine", "b.dat", "--top", "3", cwd=tmp_path).stderr == (
        "discreet: out of memory. Ask for fewer or shorter patterns, or cap baskets with --max-items.\n"
    )


def test_the_check_of_messages_sees_an_option_that_is_not_there():
    assert unknown_options(("audit", "count"), "use --lengths 2, see `discreet mine --top 3`") == {"--lengths"}
    assert unknown_options(("ledger", "create", "--nmae=x"), "No such option: --nmae; --name?") == set()


def test_signatures_are_not_hidden():
    for function in (discreet.mine, discreet.rules, discreet.read, discreet.release, discreet.count, discreet.rank):
        parameters = inspect.signature(function).parameters
        assert not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()), function
        assert not _HINTS.keys() & parameters.keys(), "a hint for a word that we have"
        assert function.__doc__


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--max-len", "--lengths 1-3"),
        ("--supp", "--min-support 0.01"),
        ("--minSupport", "--min-support 0.01"),
        ("--conf", "--min-confidence 0.5"),
    ],
)
def test_options_of_other_libraries_are_answered_with_ours(option, message, tmp_path):
    completed = run("rules", "x.dat", option, "3", cwd=tmp_path)
    assert completed.returncode == 2
    assert message in re.sub(r"[\s│]+", " ", completed.stderr)


def test_the_module_is_the_command_line(tmp_path):
    command = [sys.executable, "-m", "discreet", "mine", "--help"]
    completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert completed.returncode == 0
    assert "Usage: python -m discreet mine" in completed.stdout
