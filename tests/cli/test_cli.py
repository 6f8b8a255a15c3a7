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
from discreet.cli import _choosing as choosing, _simulate as simulate, app, options
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
        completed = run("mine", basket_file, "--min-count", 3)
        assert completed.returncode == 0
        assert completed.stderr == ""
        assert [line.split() for line in completed.stdout.splitlines() if line[:1].isdigit()] == [
            ["3", "patterns", "of", "5", "people"],
            ["1", "4", "0.8000"],
            ["2", "3", "0.6000"],
            ["1,", "2", "3", "0.6000"],
        ]

    def test_json_is_one_object(self, basket_file):
        document = json.loads(run("mine", basket_file, "--top", 1, "--format", "json").stdout)
        assert document["patterns"] == [{"items": [1], "count": 4, "support": 0.8}]
        assert document["people"] == 5
        assert document["guarantee"] is None
        assert document["simulated"] is False

    @pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
    def test_what_was_written_is_read_back(self, sales, tmp_path, suffix):
        path = tmp_path / f"patterns.{suffix}"
        completed = run("mine", sales, "--person", "customer", "--item", "product", "--min-count", 1, "-o", path)
        assert (completed.returncode, completed.stdout) == (0, "")
        assert completed.stderr == f"5 patterns written to {path}\n"
        baskets = discreet.read(sales, person="customer", item="product")
        assert len(baskets) == 4
        assert discreet.load(path) == discreet.mine(baskets, min_count=1)
        rules = run("rules", path, "--min-confidence", 1, "--format", "csv")
        assert rules.returncode == 0
        assert '"milk"' in rules.stdout

    def test_the_table_can_be_kept_as_text(self, basket_file, tmp_path):
        run("mine", basket_file, "--top", 2, "-o", tmp_path / "found.txt", check=True)
        assert "2 patterns of 5 people" in (tmp_path / "found.txt").read_text()

    def test_lengths_contains_excludes_kind(self, basket_file):
        def found_itemsets(*options):
            document = json.loads(run("mine", basket_file, "--min-count", 1, "--format", "json", *options).stdout)
            return [tuple(p["items"]) for p in document["patterns"]]

        assert found_itemsets("--lengths", "3") == [(1, 2, 3)]
        assert found_itemsets("--lengths", "2-") == [(1, 2), (1, 3), (2, 3), (1, 2, 3)]
        assert found_itemsets("--lengths", "1-1", "--excludes", 1, "--excludes", 3) == [(2,)]
        assert found_itemsets("--contains", 3, "--lengths", "2-2") == [(1, 3), (2, 3)]
        assert found_itemsets("--kind", "maximal") == [(1, 2, 3)]

    def test_itemsets_from_a_file(self, basket_file, tmp_path):
        (tmp_path / "wanted.dat").write_text("1 3\n2\n")
        completed = run("mine", basket_file, "--itemsets", tmp_path / "wanted.dat", "--format", "csv")
        assert [line.split(",")[-3] for line in completed.stdout.splitlines()[1:]] == ["2", "3"]

    def test_sql_over_files(self, sales):
        query = f"select customer, product from '{sales}' where product <> 'bread'"
        completed = run("mine", "--query", query, "--person", "customer", "--item", "product", "--top", 1)
        assert completed.returncode == 0
        assert "tea" in completed.stdout

    def test_repeats_are_told_when_asked(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 1 2\n2 2 2\n")
        completed = run("-v", "mine", tmp_path / "b.dat", "--top", 1)
        assert "3" in completed.stderr
        assert "merged" in completed.stderr


class TestRelations:
    def test_in_time_given_and_together(self, tmp_path):
        table = tmp_path / "events.csv"
        rows = [f"{person},{item},{position}" for person in range(8) for position, item in enumerate(("pram", "toys"))]
        rows += [f"{person},{item},{position}" for person in (8, 9) for position, item in enumerate(("toys", "pram"))]
        table.write_text("\n".join(["who,what,when", *rows]) + "\n")
        command = ("relations", table, "--person", "who", "--item", "what", "--format", "json")

        def relations(*options):
            document = json.loads(run(*command, *options).stdout)
            assert document["discreet"] == "relations/1"
            return [(*rule["antecedent"], *rule["consequent"], rule["count"]) for rule in document["relations"]]

        assert relations("--time", "when") == [("pram", "toys", 8), ("toys", "pram", 2)]
        assert sorted(relations()) == [("pram", "toys", 10), ("toys", "pram", 10)]
        assert sorted(relations("--time", "when", "--how", "together")) == sorted(relations())
        assert relations("--time", "when", "--consequent", "pram") == [("toys", "pram", 2)]
        assert relations("--time", "when", "--top", 1) == [("pram", "toys", 8)]
        pairs = tmp_path / "pairs.csv"
        pairs.write_text("who,first,second\n" + "".join(f"{person},a,b\n" for person in range(3)))
        completed = run("relations", pairs, "--person", "who", "--pair", "first", "second", "--format", "json")
        assert [rule["count"] for rule in json.loads(completed.stdout)["relations"]] == [3]
        assert run(*command, "--how", "after").stderr == (
            "discreet: These data have no order: read them with --time, a column of times, or --ordered; or use "
            "'together'.\n"
        )


class TestReleasedRelations:
    def test_from_a_table_to_files(self, tmp_path):
        table = tmp_path / "events.csv"
        rows = [
            f"{person},{item},{position}" for person in range(900) for position, item in enumerate(("pram", "toys"))
        ]
        table.write_text("\n".join(["who,what,when", *rows]) + "\n")
        (tmp_path / "items.txt").write_text("pram\ntoys\n")
        run("ledger", "create", tmp_path / "budget.db", "--epsilon", 2, check=True)
        command = ("release-relations", table, "--person", "who", "--item", "what", "--time", "when", "--epsilon", 1)
        listed_command = (*command, "--items", tmp_path / "items.txt", "--top", 1)
        release_options = ("--ledger", tmp_path / "budget.db", "--report", tmp_path / "page.html")
        run(*listed_command, *release_options, "-o", tmp_path / "found.json", check=True)
        relations = discreet.load(tmp_path / "found.json")
        assert (relations.kind, len(relations), relations.about["mechanism"]) == ("relations", 1, "release-relations")
        assert '<h2 id="rules">Relations' in (tmp_path / "page.html").read_text()
        assert "release-relations" in run("ledger", "show", tmp_path / "budget.db").stdout
        assert run(*command, "--items", "public").stderr == "discreet: Say how many relations are wanted: --top 20.\n"
        assert run(*listed_command[:-2], "--top", 9).stderr == (
            "discreet: --top is 9, but 2 items have only 2 ordered pairs: ask for fewer, or raise --among.\n"
        )
        assert "--items public" in run(*command, "--top", 1).stderr
        assert run(*command, "--items", 5, "--top", 1).stderr == (
            "discreet: Nobody holds any of the items on the list. Nothing was spent. If it is really meant, say so "
            "with --really.\n"
        )


class TestRules:
    def test_sides_significance_and_redundancy(self, tmp_path):
        sales = tmp_path / "sales.dat"
        sales.write_text("1 2 3\n" * 20 + "1 2\n" * 20 + "3\n" * 20 + "4\n" * 40)
        thresholds = ("--min-count", 5, "--min-confidence", 0, "--format", "json")

        def rule_sides(*options, file=sales):
            rules = json.loads(run("rules", file, *thresholds, *options).stdout)["rules"]
            return {(tuple(rule["antecedent"]), tuple(rule["consequent"])) for rule in rules}

        assert len(rule_sides()) == 12
        assert rule_sides("--antecedent", 1, "--antecedent", 3) == {((1, 3), (2,))}
        assert rule_sides("--consequent", 2, "--lengths", 2) == {((1,), (2,)), ((3,), (2,))}
        assert rule_sides("--consequent", 2) - rule_sides("--consequent", 2, "--no-redundant") == {((1, 3), (2,))}
        assert ((3,), (2,)) not in rule_sides("--significance", "1e-9")
        run("mine", sales, "--min-count", 5, "-o", tmp_path / "patterns.json", check=True)
        for further_options in (
            ("--significance", "1e-9"),
            ("--no-redundant",),
            ("--consequent", 2, "--sort", "p", "--top", 1),
        ):
            assert rule_sides(*further_options) == rule_sides(*further_options, file=tmp_path / "patterns.json")
        assert run("rules", sales, *thresholds, "--significance", 5).stderr == (
            "discreet: --significance is 5.0, but it must lie between 0 and 1. For 5 % type --significance 0.05.\n"
        )

    def test_from_data(self, sales):
        completed = run(
            "rules", sales, "--person", "customer", "--item", "product", "--min-support", "0.25",
            "--sort", "lift", "--top", 1, "--format", "json",
        )  # fmt: skip
        (rule,) = json.loads(completed.stdout)["rules"]
        assert (rule["antecedent"], rule["consequent"], rule["count"]) == (["milk"], ["tea"], 2)

    def test_neither_threshold(self, basket_file):
        completed = run("rules", basket_file)
        assert completed.returncode == 1
        assert completed.stderr == (
            "discreet: Say how many people must hold the items of a rule by one of --min-support (a fraction of "
            "people) or --min-count (a number of people).\n"
        )

    def test_patterns_that_were_kept(self, sales, tmp_path):
        saved = tmp_path / "patterns.json"
        run("mine", sales, "--person", "customer", "--item", "product", "--min-count", 1, "-o", saved, check=True)
        completed = run("rules", saved, "--min-support", "0.5", "--min-confidence", "0", "--format", "json")
        assert {rule["count"] for rule in json.loads(completed.stdout)["rules"]} == {2}
        assert run("rules", saved, "--person", "customer").stderr == (
            f"discreet: {saved} holds patterns, which need no options to be read: leave those out.\n"
        )
        assert run("mine", saved, "--top", 1).stderr == (
            f"discreet: {saved} holds patterns or rules that were found already; `discreet rules` reads patterns.\n"
        )
        run("rules", saved, "-o", tmp_path / "rules.json", check=True)
        completed = run("rules", tmp_path / "rules.json")
        assert (completed.returncode, completed.stderr) == (
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
        completed = run("mine", basket_file, *arguments)
        assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")

    def test_places_that_cannot_be_written_are_told_before_the_work(self, basket_file, tmp_path):
        def message(output, *options):
            completed = run("mine", basket_file, "--top", 1, "-o", output, *options)
            assert (completed.returncode, completed.stdout) == (1, "")
            return completed.stderr.removeprefix("discreet: ").rstrip()

        missing = tmp_path / "no" / "x.csv"
        assert message(missing) == (
            f"Cannot write {missing}: there is no directory {missing.parent}; make it first, or write elsewhere."
        )
        assert message(tmp_path / ("x" * 300 + ".csv")).endswith(": File name too long.")
        assert message(tmp_path / "x.csv", "--format", "json") == (
            f"{tmp_path / 'x.csv'} would hold json, not csv: leave --format out, or use .json."
        )
        assert message("/dev/full", "--format", "csv") == (
            "Cannot write /dev/full: No space left on device. Nothing was changed."
        )

    def test_odd_streams(self, basket_file):
        command = f"{DISCREET} mine {basket_file} --min-count 1 --format csv"

        def shell(line):
            return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=plain())

        assert shell(f"{command} -o /dev/stdout | cat").stdout.startswith("items,count")
        completed = shell(f"{command} | head -c 5; echo; echo ${{PIPESTATUS[0]}}")
        assert (completed.stdout.splitlines()[-1], completed.stderr) == ("0", "")
        completed = shell(f"{command} > /dev/full")
        assert (completed.returncode, completed.stderr) == (1, "discreet: No space left on device.\n")
        assert shell(f"{command} >&-").stderr == "discreet: There is no standard output to write to: add -o FILE.\n"
        assert shell(f"{command} 2>&-").returncode == 0

    @pytest.mark.parametrize("length_range", ["²", "2-x", "-", "2–3"])
    def test_lengths_that_are_not_numbers(self, basket_file, length_range):
        completed = run("mine", basket_file, "--top", 1, "--lengths", length_range)
        assert (completed.returncode, "--lengths is how many items a pattern has" in completed.stderr) == (1, True)

    def test_missing_file(self, tmp_path):
        completed = run("mine", tmp_path / "none.dat", "--top", 1)
        assert (completed.returncode, completed.stdout) == (1, "")
        assert completed.stderr.startswith("discreet: ")
        assert "Traceback" not in completed.stderr

    @pytest.mark.parametrize("arguments", [("mine", "--topp", 3), ("mien",), ("mine", "x.dat", "--min-count", "many")])
    def test_a_command_line_that_cannot_be_parsed(self, arguments):
        completed = run(*arguments)
        assert completed.returncode == 2
        assert "Traceback" not in completed.stderr

    def test_nothing_to_read(self):
        assert run("mine", "--top", 3).returncode == 2

    def test_an_unexpected_error_is_one_line(self, basket_file, monkeypatch):
        def broken(*_, **__):
            raise ZeroDivisionError("secret")

        monkeypatch.setattr("discreet.exact.mine", broken)
        completed = run("mine", basket_file, "--top", 1)
        assert completed.returncode == 1
        assert completed.stderr == (
            "discreet: an error that should not happen: ZeroDivisionError. Set DISCREET_DEBUG=1 to see where, "
            "and please report it.\n"
        )


def test_interrupt_leaves_no_half_written_file(tmp_path):
    # Twenty items that everyone holds: a million patterns, whose table takes seconds to write.
    data = tmp_path / "wide.dat"
    data.write_text((" ".join(map(str, range(20))) + "\n") * 3)
    output_path = tmp_path / "patterns.json"
    earlier = '{"discreet": "patterns/1"}'
    output_path.write_text(earlier)
    process = subprocess.Popen(
        [DISCREET, "mine", str(data), "--min-count", "1", "-o", str(output_path)], stderr=subprocess.PIPE, text=True
    )
    begun = time.monotonic()
    while process.poll() is None and len(list(tmp_path.iterdir())) == 2 and time.monotonic() - begun < 60:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "discreet: interrupted; no result was written.\n"
    assert output_path.read_text() == earlier
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
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "discreet: interrupted; no result was written.\n")


def test_progress_only_on_a_terminal(tmp_path):
    slow = (
        "import sys, time\n"
        "from discreet.cli._terminal import ProgressBar\n"
        "with ProgressBar('counting') as bar:\n"
        "    for step in range(30):\n        time.sleep(0.06)\n        bar((step + 1) / 30)\n"
    )
    quiet = subprocess.run([sys.executable, "-c", slow], capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    master, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", slow], stderr=terminal, env=os.environ | {"TERM": "xterm"})
    os.close(terminal)
    terminal_bytes = b""
    while select.select([master], [], [], 30)[0]:
        try:
            terminal_bytes += os.read(master, 4096)
        except OSError:
            break
    process.wait(timeout=30)
    os.close(master)
    assert b"counting" in terminal_bytes


def test_demo_and_what_it_keeps(tmp_path, monkeypatch):
    completed = run("demo", "--people", 2000, "--keep", tmp_path / "kept")
    assert completed.returncode == 0
    assert "whole milk" in completed.stdout
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {
        "sales.csv", "products.txt", "patterns.json", "rules.csv", "report.html",
    }  # fmt: skip
    assert isinstance(discreet.load(tmp_path / "kept" / "rules.csv"), discreet.Rules)
    # What it prints as commands can be typed, from the first to the last.
    code_lines = [line for line in completed.stdout.splitlines() if re.match(r"  (import \w|\w+ = |\w+\.save\()", line)]
    assert len(code_lines) == 8
    monkeypatch.chdir(tmp_path / "kept")
    exec("\n".join(line.strip() for line in code_lines), {})
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
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    output, unused, late = completed.stdout.splitlines()
    assert output.startswith("Compiled in ")
    assert (unused, late) == ("[]", "[]")


def test_help_teaches_with_examples():
    for command in ("mine", "rules"):
        completed = run(command, "--help")
        assert completed.returncode == 0
        assert "Examples" in completed.stdout
        assert f"discreet {command} retail.dat" in completed.stdout
    assert "--install-completion" in run("--help").stdout
    assert run("--version").stdout == f"discreet {discreet.__version__}\n"


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("discreet.cli._signals", "its own code cannot be loaded (ModuleNotFoundError)"),
        ("discreet.exact._mine", "a package cannot be loaded: import of discreet.exact._mine halted; "),
    ],
)
def test_code_that_cannot_be_loaded(basket_file, module, message):
    code = f"import sys; sys.modules[{module!r}] = None; sys.argv[0] = 'discreet'; import discreet.cli as c; c.main()"
    command = [sys.executable, "-c", code, "mine", str(basket_file), "--top", "1"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, env=plain())
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr.startswith(f"discreet: {message}")
    assert completed.stderr.endswith("the disk may be failing, or install it anew.\n")


def test_every_command_is_in_the_panel_of_what_people_come_for():
    command_names = [command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands]
    for group in app.registered_groups:
        inner = [
            command.name or command.callback.__name__.replace("_", "-")
            for command in group.typer_instance.registered_commands
        ]
        command_names += [group.name] if group.name else inner
    assert sorted(name for names in PANELS.values() for name in names) == sorted(command_names)
    help_text = run("--help").stdout
    places = [help_text.index(title) for title in PANELS]
    assert places == sorted(places)
    assert help_text.index("Publish privately") < help_text.index(" release ") < help_text.index("Ask devices")


@pytest.mark.parametrize(
    ("values", "function", "parameter"),
    [
        (options.PatternKind, discreet.mine, "kind"),
        (options.Nulls, discreet.read, "nulls"),
        (simulate.Speed, discreet.simulate, "speed"),
        (choosing.Side, discreet.plan, "side"),
    ],
)
def test_what_may_be_typed_is_what_the_function_takes(values, function, parameter):
    """The command line starts without the modules that say so, and has lists of its own."""
    parameter_signature = inspect.signature(function).parameters[parameter]
    assert get_args(values) == get_args(eval(parameter_signature.annotation, vars(sys.modules[function.__module__])))
