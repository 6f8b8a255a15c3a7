"""The command line as a user meets it."""

from __future__ import annotations

import inspect
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import get_args

import numpy as np
import pytest

import discreet
from discreet.cli import _plan as plan, _simulate as simulate, app, options
from discreet.cli._app import PANELS
from running import DISCREET, plain, run


@pytest.fixture
def basket_file(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text("1 2 3\n1 2\n1\n\n2 3 1\n")
    return path


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("customer,product\n1,tea\n1,milk\n2,tea\n2,milk\n3,bread\n3,tea\n4,\n")
    return path


class TestMine:
    def test_table(self, basket_file):
        done = run("mine", basket_file, "--min-count", 3)
        assert done.returncode == 0
        assert done.stderr == ""
        assert [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()] == [
            ["3", "patterns", "of", "5", "people"],
            ["1", "4", "0.8000"],
            ["2", "3", "0.6000"],
            ["1,", "2", "3", "0.6000"],
        ]

    def test_json_is_one_object(self, basket_file):
        told = json.loads(run("mine", basket_file, "--top", 1, "--format", "json").stdout)
        assert told["patterns"] == [{"items": [1], "count": 4, "support": 0.8}]
        assert told["people"] == 5
        assert told["guarantee"] is None
        assert told["simulated"] is False

    @pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
    def test_what_was_written_is_read_back(self, sales, tmp_path, suffix):
        out = tmp_path / f"patterns.{suffix}"
        done = run("mine", sales, "--person", "customer", "--item", "product", "--min-count", 1, "-o", out)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"5 patterns written to {out}\n"
        baskets = discreet.read(sales, person="customer", item="product")
        assert len(baskets) == 4
        assert discreet.load(out) == discreet.mine(baskets, min_count=1)
        rules = run("rules", out, "--min-confidence", 1, "--format", "csv")
        assert rules.returncode == 0
        assert '"milk"' in rules.stdout

    def test_the_table_can_be_kept_as_text(self, basket_file, tmp_path):
        run("mine", basket_file, "--top", 2, "-o", tmp_path / "found.txt", check=True)
        assert "2 patterns of 5 people" in (tmp_path / "found.txt").read_text()

    def test_lengths_contains_excludes_kind(self, basket_file):
        def found(*options):
            told = json.loads(run("mine", basket_file, "--min-count", 1, "--format", "json", *options).stdout)
            return [tuple(p["items"]) for p in told["patterns"]]

        assert found("--lengths", "3") == [(1, 2, 3)]
        assert found("--lengths", "2-") == [(1, 2), (1, 3), (2, 3), (1, 2, 3)]
        assert found("--lengths", "1-1", "--excludes", 1, "--excludes", 3) == [(2,)]
        assert found("--contains", 3, "--lengths", "2-2") == [(1, 3), (2, 3)]
        assert found("--kind", "maximal") == [(1, 2, 3)]

    def test_itemsets_from_a_file(self, basket_file, tmp_path):
        (tmp_path / "wanted.dat").write_text("1 3\n2\n")
        done = run("mine", basket_file, "--itemsets", tmp_path / "wanted.dat", "--format", "csv")
        assert [line.split(",")[-3] for line in done.stdout.splitlines()[1:]] == ["2", "3"]

    def test_sql_over_files(self, sales):
        query = f"select customer, product from '{sales}' where product <> 'bread'"
        done = run("mine", "--query", query, "--person", "customer", "--item", "product", "--top", 1)
        assert done.returncode == 0
        assert "tea" in done.stdout

    def test_repeats_are_told_when_asked(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 1 2\n2 2 2\n")
        done = run("-v", "mine", tmp_path / "b.dat", "--top", 1)
        assert "3" in done.stderr
        assert "merged" in done.stderr


class TestRelations:
    def test_in_time_given_and_together(self, tmp_path):
        table = tmp_path / "events.csv"
        rows = [f"{person},{item},{at}" for person in range(8) for at, item in enumerate(("pram", "toys"))]
        rows += [f"{person},{item},{at}" for person in (8, 9) for at, item in enumerate(("toys", "pram"))]
        table.write_text("\n".join(["who,what,when", *rows]) + "\n")
        asked = ("relations", table, "--person", "who", "--item", "what", "--format", "json")

        def found(*more):
            told = json.loads(run(*asked, *more).stdout)
            assert told["discreet"] == "relations/1"
            return [(*rule["antecedent"], *rule["consequent"], rule["count"]) for rule in told["relations"]]

        assert found("--time", "when") == [("pram", "toys", 8), ("toys", "pram", 2)]
        assert sorted(found()) == [("pram", "toys", 10), ("toys", "pram", 10)]
        assert sorted(found("--time", "when", "--how", "together")) == sorted(found())
        assert found("--time", "when", "--consequent", "pram") == [("toys", "pram", 2)]
        assert found("--time", "when", "--top", 1) == [("pram", "toys", 8)]
        pairs = tmp_path / "pairs.csv"
        pairs.write_text("who,first,second\n" + "".join(f"{person},a,b\n" for person in range(3)))
        done = run("relations", pairs, "--person", "who", "--pair", "first", "second", "--format", "json")
        assert [rule["count"] for rule in json.loads(done.stdout)["relations"]] == [3]
        assert run(*asked, "--how", "after").stderr == (
            "discreet: These data have no order: read them with --time, a column of times, or --ordered; or use "
            "'together'.\n"
        )


class TestReleasedRelations:
    def test_from_a_table_to_files(self, tmp_path):
        table = tmp_path / "events.csv"
        rows = [f"{person},{item},{at}" for person in range(900) for at, item in enumerate(("pram", "toys"))]
        table.write_text("\n".join(["who,what,when", *rows]) + "\n")
        (tmp_path / "items.txt").write_text("pram\ntoys\n")
        run("ledger", "create", tmp_path / "budget.db", "--epsilon", 2, check=True)
        asked = ("release-relations", table, "--person", "who", "--item", "what", "--time", "when", "--epsilon", 1)
        listed = (*asked, "--items", tmp_path / "items.txt", "--top", 1)
        paid = ("--ledger", tmp_path / "budget.db", "--report", tmp_path / "page.html")
        run(*listed, *paid, "-o", tmp_path / "found.json", check=True)
        found = discreet.load(tmp_path / "found.json")
        assert (found.kind, len(found), found.about["mechanism"]) == ("relations", 1, "release-relations")
        assert '<h2 id="rules">Relations' in (tmp_path / "page.html").read_text()
        assert "release-relations" in run("ledger", "show", tmp_path / "budget.db").stdout
        assert run(*asked, "--items", "public").stderr == "discreet: Say how many relations are wanted: --top 20.\n"
        assert run(*listed[:-2], "--top", 9).stderr == (
            "discreet: --top is 9, but 2 items have only 2 ordered pairs: ask for fewer, or raise --among.\n"
        )
        assert "--items public" in run(*asked, "--top", 1).stderr
        assert run(*asked, "--items", 5, "--top", 1).stderr == (
            "discreet: Nobody holds any of the items on the list. Nothing was spent. If it is really meant, say so "
            "with --really.\n"
        )


class TestRules:
    def test_sides_significance_and_redundancy(self, tmp_path):
        sales = tmp_path / "sales.dat"
        sales.write_text("1 2 3\n" * 20 + "1 2\n" * 20 + "3\n" * 20 + "4\n" * 40)
        asked = ("--min-count", 5, "--min-confidence", 0, "--format", "json")

        def found(*more, file=sales):
            rules = json.loads(run("rules", file, *asked, *more).stdout)["rules"]
            return {(tuple(rule["antecedent"]), tuple(rule["consequent"])) for rule in rules}

        assert len(found()) == 12
        assert found("--antecedent", 1, "--antecedent", 3) == {((1, 3), (2,))}
        assert found("--consequent", 2, "--lengths", 2) == {((1,), (2,)), ((3,), (2,))}
        assert found("--consequent", 2) - found("--consequent", 2, "--no-redundant") == {((1, 3), (2,))}
        assert ((3,), (2,)) not in found("--significance", "1e-9")
        run("mine", sales, "--min-count", 5, "-o", tmp_path / "patterns.json", check=True)
        for more in (("--significance", "1e-9"), ("--no-redundant",), ("--consequent", 2, "--sort", "p", "--top", 1)):
            assert found(*more) == found(*more, file=tmp_path / "patterns.json")
        assert run("rules", sales, *asked, "--significance", 5).stderr == (
            "discreet: --significance is 5.0, but it must lie between 0 and 1. For 5 % type --significance 0.05.\n"
        )

    def test_from_data(self, sales):
        done = run(
            "rules", sales, "--person", "customer", "--item", "product", "--min-support", "0.25",
            "--sort", "lift", "--top", 1, "--format", "json",
        )  # fmt: skip
        (rule,) = json.loads(done.stdout)["rules"]
        assert (rule["antecedent"], rule["consequent"], rule["count"]) == (["milk"], ["tea"], 2)

    def test_neither_threshold(self, basket_file):
        done = run("rules", basket_file)
        assert done.returncode == 1
        assert done.stderr == (
            "discreet: Say how many people must hold the items of a rule by one of --min-support (a fraction of "
            "people) or --min-count (a number of people).\n"
        )

    def test_patterns_that_were_kept(self, sales, tmp_path):
        kept = tmp_path / "patterns.json"
        run("mine", sales, "--person", "customer", "--item", "product", "--min-count", 1, "-o", kept, check=True)
        done = run("rules", kept, "--min-support", "0.5", "--min-confidence", "0", "--format", "json")
        assert {rule["count"] for rule in json.loads(done.stdout)["rules"]} == {2}
        assert run("rules", kept, "--person", "customer").stderr == (
            f"discreet: {kept} holds patterns, which need no options to be read: leave those out.\n"
        )
        assert run("mine", kept, "--top", 1).stderr == (
            f"discreet: {kept} holds patterns or rules that were found already; `discreet rules` reads patterns.\n"
        )
        run("rules", kept, "-o", tmp_path / "rules.json", check=True)
        done = run("rules", tmp_path / "rules.json")
        assert (done.returncode, done.stderr) == (
            1,
            f"discreet: {tmp_path / 'rules.json'} holds rules already; give the patterns or the data they came from.\n",
        )


class TestMistakes:
    """Status 1 and one line that says what to do; never a traceback."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--top", 0), "--top is 0, but it must be a whole number, 1 or more."),
            (
                ("--min-count", 99),
                "--min-count is 99, but there are only 5 people: no pattern can reach it. Give at most 5.",
            ),
            (
                ("--min-support", "nan"),
                "--min-support is a fraction of people, over 0 and at most 1, such as 0.01; 'nan' was given.",
            ),
            (
                ("--min-support", "-0.5"),
                "--min-support is a fraction of people, over 0 and at most 1; -0.5 was given. "
                "For every pattern that occurs at all use --min-count 1.",
            ),
            (
                ("--min-count", 1, "--limit", 3),
                "There are more than 3 patterns. Raise --min-count or --min-support, ask for shorter ones (--lengths), "
                "or raise --limit if memory allows.",
            ),
            (("--top", 1, "--contains", "9"), "9 is not an item of this data."),
            (
                ("--top", 1, "-o", "found.doc"),
                "found.doc ends in .doc, but results are kept in .json, .csv, .tsv, .parquet, .arrow, .feather or "
                ".xlsx files.",
            ),
        ],
    )
    def test_values(self, basket_file, arguments, message):
        done = run("mine", basket_file, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"discreet: {message}\n")

    def test_places_that_cannot_be_written_are_told_before_the_work(self, basket_file, tmp_path):
        def told(output, *more):
            done = run("mine", basket_file, "--top", 1, "-o", output, *more)
            assert (done.returncode, done.stdout) == (1, "")
            return done.stderr.removeprefix("discreet: ").rstrip()

        missing = tmp_path / "no" / "x.csv"
        assert told(missing) == (
            f"Cannot write {missing}: there is no directory {missing.parent}; make it first, or write elsewhere."
        )
        assert told(tmp_path / ("x" * 300 + ".csv")).endswith(": File name too long.")
        assert told(tmp_path / "x.csv", "--format", "json") == (
            f"{tmp_path / 'x.csv'} would hold json, not csv: leave --format out, or use .json."
        )
        assert told("/dev/full", "--format", "csv") == (
            "Cannot write /dev/full: No space left on device. Nothing was changed."
        )

    def test_odd_streams(self, basket_file):
        command = f"{DISCREET} mine {basket_file} --min-count 1 --format csv"

        def shell(line):
            return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=plain())

        assert shell(f"{command} -o /dev/stdout | cat").stdout.startswith("items,count")
        done = shell(f"{command} | head -c 5; echo; echo ${{PIPESTATUS[0]}}")
        assert (done.stdout.splitlines()[-1], done.stderr) == ("0", "")
        done = shell(f"{command} > /dev/full")
        assert (done.returncode, done.stderr) == (1, "discreet: No space left on device.\n")
        assert shell(f"{command} >&-").stderr == "discreet: There is no standard output to write to: add -o FILE.\n"
        assert shell(f"{command} 2>&-").returncode == 0

    @pytest.mark.parametrize("typed", ["²", "2-x", "-", "2–3"])
    def test_lengths_that_are_not_numbers(self, basket_file, typed):
        done = run("mine", basket_file, "--top", 1, "--lengths", typed)
        assert (done.returncode, "--lengths is how many items a pattern has" in done.stderr) == (1, True)

    def test_missing_file(self, tmp_path):
        done = run("mine", tmp_path / "none.dat", "--top", 1)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("discreet: ")
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("arguments", [("mine", "--topp", 3), ("mien",), ("mine", "x.dat", "--min-count", "many")])
    def test_a_command_line_that_cannot_be_parsed(self, arguments):
        done = run(*arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr

    def test_nothing_to_read(self):
        assert run("mine", "--top", 3).returncode == 2

    def test_an_unexpected_error_is_one_line(self, basket_file, monkeypatch):
        def broken(*_, **__):
            raise ZeroDivisionError("secret")

        monkeypatch.setattr("discreet.exact.mine", broken)
        done = run("mine", basket_file, "--top", 1)
        assert done.returncode == 1
        assert done.stderr == (
            "discreet: an error that should not happen: ZeroDivisionError. Set DISCREET_DEBUG=1 to see where, "
            "and please report it.\n"
        )


def test_interrupt_leaves_no_half_written_file(tmp_path):
    # Twenty items that everyone holds: a million patterns, whose table takes seconds to write.
    data = tmp_path / "wide.dat"
    data.write_text((" ".join(map(str, range(20))) + "\n") * 3)
    out = tmp_path / "patterns.json"
    earlier = '{"discreet": "patterns/1"}'
    out.write_text(earlier)
    process = subprocess.Popen(
        [DISCREET, "mine", str(data), "--min-count", "1", "-o", str(out)], stderr=subprocess.PIPE, text=True
    )
    begun = time.monotonic()
    while process.poll() is None and len(list(tmp_path.iterdir())) == 2 and time.monotonic() - begun < 60:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == "discreet: interrupted; no result was written.\n"
    assert out.read_text() == earlier
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patterns.json", "wide.dat"]


def test_interrupt_is_heard_while_compiled_code_runs(tmp_path):
    # The top 30 million of random data takes minutes, all of them inside one compiled call.
    rng = np.random.default_rng(1)
    data = tmp_path / "wide.dat"
    rows = (" ".join(map(str, rng.choice(150, 60, replace=False))) for _ in range(3_000))
    data.write_text("\n".join(rows))
    command = [DISCREET, "mine", str(data), "--top", "30000000", "--limit", "500000000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, "discreet: interrupted; no result was written.\n")


def test_progress_only_on_a_terminal(tmp_path):
    slow = (
        "import sys, time\n"
        "from discreet.cli._progress import ProgressBar\n"
        "with ProgressBar('counting') as bar:\n"
        "    for step in range(30):\n        time.sleep(0.06)\n        bar((step + 1) / 30)\n"
    )
    quiet = subprocess.run([sys.executable, "-c", slow], capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    master, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", slow], stderr=terminal, env=os.environ | {"TERM": "xterm"})
    os.close(terminal)
    shown = b""
    while select.select([master], [], [], 30)[0]:
        try:
            shown += os.read(master, 4096)
        except OSError:
            break
    process.wait(timeout=30)
    os.close(master)
    assert b"counting" in shown


def test_demo_and_what_it_keeps(tmp_path, monkeypatch):
    done = run("demo", "--people", 2000, "--keep", tmp_path / "kept")
    assert done.returncode == 0
    assert "whole milk" in done.stdout
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "sales.csv", "products.txt", "patterns.json", "rules.csv", "report.html",
    }  # fmt: skip
    assert isinstance(discreet.load(tmp_path / "kept" / "rules.csv"), discreet.Rules)
    # What it prints as commands can be typed, from the first to the last.
    typed = [line for line in done.stdout.splitlines() if re.match(r"  (import \w|\w+ = |\w+\.save\()", line)]
    assert len(typed) == 8
    monkeypatch.chdir(tmp_path / "kept")
    exec("\n".join(line.strip() for line in typed), {})
    assert run("demo", "--people", 5).stderr == (
        "discreet: A demo needs at least 100 people to have patterns; 5 was given.\n"
    )


def test_warmup_compiles_all_that_commands_use(tmp_path):
    # In one process: what warming up left uncompiled, and what commands would compile after it. The cache that is
    # shared with everything else does no harm, as a kernel knows the types it was called with, kept already or not.
    (tmp_path / "b.dat").write_text("1 2\n1 2 3\n")
    code = (
        "import sys\n"
        "from discreet.cli import main\n"
        "from discreet.kernels._tiers import Kernel, recording\n"
        "def run(*words):\n"
        "    sys.argv = ['discreet', *words]\n"
        "    try:\n        main()\n    except SystemExit as end:\n        assert not end.code, words\n"
        "run('warmup')\n"
        "print([kernel.__name__ for kernel in Kernel.registry if not kernel.signatures])\n"
        "before = {kernel: list(kernel.signatures) for kernel in Kernel.registry}\n"
        "recording.on = True\n"
        "run('mine', 'b.dat', '--min-count', '1', '-o', 'm.json')\n"
        "run('rules', 'm.json', '-o', 'r.json')\n"
        "run('release', 'b.dat', '--top', '2', '--epsilon', '1', '--items', 'public', '-o', 'p.json')\n"
        # As where data are too large for the layouts of small ones.
        "from discreet.exact import _rows as rows, _search as search\n"
        "search._MAX_BITMAP_BYTES, rows._MAX_MEMORY_FACTOR, rows._FREE_BYTES = -1, 0, -1\n"
        "run('mine', 'b.dat', '--min-count', '1', '--kind', 'closed', '-o', 'm.json')\n"
        "run('release', 'b.dat', '--top', '2', '--epsilon', '1', '--items', 'public', '--mechanism', 'bases',"
        " '-o', 'p.json')\n"
        "print([kernel.__name__ for kernel in Kernel.registry if before.get(kernel) != list(kernel.signatures)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    told, unused, late = done.stdout.splitlines()
    assert told.startswith("Compiled in ")
    assert (unused, late) == ("[]", "[]")


def test_help_teaches_with_examples():
    for command in ("mine", "rules"):
        done = run(command, "--help")
        assert done.returncode == 0
        assert "Examples" in done.stdout
        assert f"discreet {command} retail.dat" in done.stdout
    assert "--install-completion" in run("--help").stdout
    assert run("--version").stdout == f"discreet {discreet.__version__}\n"


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("discreet.cli._signals", "its own code cannot be loaded (ModuleNotFoundError)"),
        ("discreet.exact._mine", "a package cannot be loaded: import of discreet.exact._mine halted; "),
    ],
)
def test_code_that_cannot_be_loaded(basket_file, module, told):
    code = f"import sys; sys.modules[{module!r}] = None; sys.argv[0] = 'discreet'; import discreet.cli as c; c.main()"
    command = [sys.executable, "-c", code, "mine", str(basket_file), "--top", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"discreet: {told}")
    assert done.stderr.endswith("the disk may be failing, or install it anew.\n")


def test_every_command_is_in_the_panel_of_what_people_come_for():
    made = [one.name or one.callback.__name__.replace("_", "-") for one in app.registered_commands]
    for group in app.registered_groups:
        inner = [
            one.name or one.callback.__name__.replace("_", "-") for one in group.typer_instance.registered_commands
        ]
        made += [group.name] if group.name else inner
    assert sorted(name for names in PANELS.values() for name in names) == sorted(made)
    shown = run("--help").stdout
    places = [shown.index(title) for title in PANELS]
    assert places == sorted(places)
    assert shown.index("Publish privately") < shown.index(" release ") < shown.index("Ask devices")


@pytest.mark.parametrize(
    ("typed", "function", "parameter"),
    [
        (options.PatternKind, discreet.mine, "kind"),
        (options.Nulls, discreet.read, "nulls"),
        (simulate.Speed, discreet.simulate, "speed"),
        (plan.Side, discreet.plan, "side"),
    ],
)
def test_what_may_be_typed_is_what_the_function_takes(typed, function, parameter):
    """The command line starts without the modules that say so, and has lists of its own."""
    taken = inspect.signature(function).parameters[parameter]
    assert get_args(typed) == get_args(eval(taken.annotation, vars(sys.modules[function.__module__])))
