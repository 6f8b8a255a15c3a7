"""`discreet release`, `count` and `mechanisms` as a user meets them."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import _delivery as delivery, _terminal as progress
from discreet.curator.mechanisms.exponential import Exponential
from discreet.exact import LocalEngine
from discreet.privacy.ledger import Ledger
from discreet.publish import Release
from discreet.registry import everything, mechanism, mechanisms
from discreet.results import Patterns
from running import DISCREET, plain, run, started

SEGMENT_OPTIONS = ("--by", "region", "--segments", "public")


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    lines = ["customer,product,region"]
    for person in range(400):
        region = "north" if person % 4 else "south"
        lines += [f"{person},{product},{region}" for product in ("tea", "milk", "bread")[: 1 + person % 3]]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def release_command(sales):
    return [
        "release", sales, "--person", "customer", "--item", "product", "--items", "public", "--epsilon", "50",
        "--really",
    ]  # fmt: skip


class TestRelease:
    def test_table(self, release_command):
        completed = run(*release_command, "--top", 3)
        assert completed.returncode == 0, completed.stderr
        head = completed.stdout.splitlines()
        assert "people" in head[0]
        assert head[1] == "central differential privacy, add or remove one person, epsilon = 50"
        assert head[2].split() == ["items", "count", "support", "low", "high"]

    def test_json_is_one_object_with_the_guarantee(self, release_command):
        document = json.loads(run(*release_command, "--top", 2, "--format", "json").stdout)
        assert document["guarantee"]["epsilon"] == "50"
        assert document["simulated"] is False
        assert set(document["patterns"][0]) == {
            "items",
            "count",
            "support",
            "low",
            "high",
            "support_low",
            "support_high",
        }

    @pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
    def test_what_it_wrote_is_read_back(self, release_command, tmp_path, suffix):
        completed = run(*release_command, "--top", 4, "-o", tmp_path / f"r.{suffix}")
        assert completed.returncode == 0, completed.stderr
        back = discreet.load(tmp_path / f"r.{suffix}")
        assert len(back) == 4
        assert back.low is not None
        rules = run("rules", tmp_path / f"r.{suffix}", "--min-confidence", 0.1)
        assert rules.returncode == 0, rules.stderr

    @pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
    def test_one_name_among_numbers_changes_no_label_where_items_are_found(self, tmp_path, suffix):
        numbers = "".join(f"{person},{item}\n" for person in range(2_000) for item in (1, 7))
        contents = []
        for further_rows in ("", "2001,tea\n"):
            data = tmp_path / "d.csv"
            data.write_text(f"who,what\n{numbers}{further_rows}")
            command = [
                "release",
                data,
                "--person",
                "who",
                "--item",
                "what",
                "--epsilon",
                50,
                "--really",
                "--delta",
                "1e-6",
            ]
            contents.append([])
            for question in (["--top", 3], ["--top", 2, "--contains", "007"], ["--top", 2, "--excludes", 7]):
                completed = run(*command, *question, "-o", tmp_path / f"r.{suffix}")
                assert completed.returncode == 0, completed.stderr
                release = discreet.load(tmp_path / f"r.{suffix}")
                contents[-1].append(
                    (set(release.to_dict()), (release.about or {}).get("asked"), str(release.vocabulary.labels.type))
                )
        assert contents[0] == contents[1]

    def test_report(self, release_command, tmp_path):
        completed = run(*release_command, "--min-support", 0.3, "--report", tmp_path / "r.html")
        assert completed.returncode == 0, completed.stderr
        page = (tmp_path / "r.html").read_text()
        assert page.startswith("<!")
        assert "held by at least 0.3 of the people" in page
        assert "SIMULATED" not in page.upper()

    def test_segments_write_a_file_each(self, release_command, tmp_path):
        completed = run(
            *release_command,
            "--top",
            2,
            "--by",
            "region",
            "--segments",
            "public",
            "-o",
            tmp_path / "r.json",
            "--report",
            tmp_path / "r.html",
        )
        assert completed.returncode == 0, completed.stderr
        north, south = (discreet.load(tmp_path / f"r-{region}.json") for region in ("north", "south"))
        assert north.counts.max() > 2 * south.counts.max()
        above, page = ((tmp_path / name).read_text() for name in ("r.html", "r-north.html"))
        assert '<a href="r-north.html">north</a>' in above
        assert '<a href="r-south.html">south</a>' in above
        assert "2 segments, one release each." in above
        assert '<p class="up"><a href="r.html">← Frequent patterns: sales.csv</a></p>' in page
        assert "which 2 segments there are, as found in the data" in north.about["guarantee"]["public"]

    def test_segments_on_standard_output_are_one_object(self, release_command):
        document = json.loads(run(*release_command, "--top", 1, *SEGMENT_OPTIONS, "--format", "json").stdout)
        assert list(document) == ["north", "south"]
        assert document["north"]["asked"]["segment"] == "north"
        completed = run(*release_command, "--top", 1, *SEGMENT_OPTIONS, "--format", "csv")
        assert (completed.returncode, completed.stdout, completed.stderr) == (
            1,
            "",
            "discreet: Tables of several segments cannot follow one another as csv: add -o FILE for a file each, or "
            "take --format json.\n",
        )

    def test_every_segment_has_a_file_whatever_it_is_called(self, release_command, sales, tmp_path):
        segment_names = {"north": "a/b", "south": "x" * 300}
        sales.write_text(re.sub("north|south", lambda match: segment_names[match[0]], sales.read_text()))
        place = tmp_path / "out"
        place.mkdir()
        completed = run(
            *release_command,
            "--top",
            1,
            "--by",
            "region",
            "--segments",
            "public",
            "-o",
            place / "r.json",
            "--report",
            place / "r.html",
        )
        assert completed.returncode == 0, completed.stderr
        segments = {discreet.load(path).about["asked"]["segment"] for path in place.glob("*.json")}
        assert segments == set(segment_names.values())
        assert len(list(place.glob("*.html"))) == 3  # one above them leads to both

    def test_notes_and_the_title(self, release_command, tmp_path):
        completed = run(*release_command, "--top", 3, "-o", tmp_path / "r.json", "--report", tmp_path / "r.html")
        assert completed.stdout == ""
        # Which one it is depends on the noise, and that is real.
        (name,) = re.findall(r"(\w+) was chosen", completed.stderr)
        mechanism_entry = mechanism(name)
        page = (tmp_path / "r.html").read_text()
        assert "<h1>Frequent patterns: sales.csv</h1>" in page
        assert f"mechanism auto, which chose {name}." in page
        assert "Its settings: " in page
        assert mechanism_entry.citation[1:] in unescape(page)
        run(*release_command, "--top", 1, "--report", tmp_path / "r.html", "--title", "Sales of 2026", check=True)
        assert "<h1>Sales of 2026</h1>" in (tmp_path / "r.html").read_text()

    def test_the_stages_are_shown_on_a_terminal(self, release_command, monkeypatch):
        answer = LocalEngine.answer
        monkeypatch.setattr(progress, "_DELAY_SECONDS", 0.01)
        monkeypatch.setattr(LocalEngine, "answer", lambda *given: (time.sleep(0.3), answer(*given))[1])
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
        terminal_text = run(
            *release_command, "--top", 1, "--mechanism", "exponential", env=environment, terminal=True
        ).stderr
        assert "releasing: counting the people" in terminal_text
        assert "releasing: counting the patterns" in terminal_text

    def test_settings_lengths_and_must_haves(self, release_command):
        completed = run(
            *release_command, "--top", 1, "--lengths", 2, "--contains", "tea", "--excludes", "bread",
            "--mechanism", "exponential", "--set", "selecting=0.3", "--format", "json",
        )  # fmt: skip
        assert completed.returncode == 0, completed.stderr
        document = json.loads(completed.stdout)
        assert document["patterns"][0]["items"] == ["milk", "tea"]
        assert document["settings"]["selecting"] == "3/10"

    def test_without_counts(self, release_command):
        document = json.loads(run(*release_command, "--top", 2, "--no-counts", "--format", "json").stdout)
        assert document["patterns"][0]["count"] is None

    def test_a_list_of_items(self, release_command, tmp_path):
        (tmp_path / "items.txt").write_text("tea\ncoffee\n")
        release_command[release_command.index("public")] = tmp_path / "items.txt"
        document = json.loads(run(*release_command, "--top", 2, "--lengths", 1, "--format", "json").stdout)
        assert sorted(pattern["items"][0] for pattern in document["patterns"]) == ["coffee", "tea"]


class TestMoney:
    @pytest.fixture
    def ledger(self, tmp_path):
        path = tmp_path / "budget.db"
        assert run("ledger", "create", path, "--epsilon", 100, "--really").returncode == 0
        return path

    def test_the_ledger_pays_until_it_is_empty(self, release_command, ledger):
        for _ in range(2):
            assert run(*release_command, "--top", 2, "--ledger", ledger, "--who", "me").returncode == 0
        completed = run(*release_command, "--top", 2, "--ledger", ledger)
        assert completed.returncode == 1
        assert completed.stdout == ""
        for number in ("50", "100", "0"):
            assert number in completed.stderr
        document = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
        assert [spend["state"] for spend in document["spends"]] == ["released", "released"]
        assert document["spends"][0]["who"] == "me"

    def test_dry_run_spends_nothing(self, release_command, ledger):
        completed = run(*release_command, "--top", 2, "--ledger", ledger, "--dry-run", "--mechanism", "exponential")
        assert completed.returncode == 0, completed.stderr
        assert "exponential would spend epsilon = 50:" in completed.stdout
        assert "allows it, and would have epsilon = 50 left." in completed.stdout
        assert "Nothing was spent." in completed.stdout
        assert json.loads(run("ledger", "show", ledger, "--format", "json").stdout)["spends"] == []

    def test_a_place_that_cannot_be_written_to_costs_nothing(self, release_command, ledger, tmp_path):
        for option in (["--report", tmp_path / "no" / "r.html"], ["-o", tmp_path / "no" / "r.json"]):
            assert run(*release_command, "--top", 2, "--ledger", ledger, *option).returncode == 1
        assert json.loads(run("ledger", "show", ledger, "--format", "json").stdout)["spends"] == []

    def test_the_ledger_and_the_data_are_not_written_over(self, release_command, ledger, sales, tmp_path):
        for place, reason in (
            (ledger, "a ledger, which is never replaced"),
            (sales, "is read or pays for this release"),
        ):
            content = place.read_bytes()
            completed = run(*release_command, "--top", 2, "--ledger", ledger, "--format", "csv", "-o", place, "--force")
            assert completed.returncode == 1
            assert reason in completed.stderr
            assert place.read_bytes() == content

    def spends(self, ledger):
        return json.loads(run("ledger", "show", ledger, "--format", "json").stdout)["spends"]

    def test_the_ledger_knows_all_segments(self, release_command, ledger):
        assert run(*release_command, "--top", 1, *SEGMENT_OPTIONS, "--ledger", ledger).returncode == 0
        assert self.spends(ledger)[0]["parameters"]["asked"] == {"top": 1, "items": 3, "segments": ["north", "south"]}

    def test_a_segment_whose_file_cannot_be_written_costs_nothing(self, release_command, ledger, tmp_path):
        (tmp_path / "r-south.json").mkdir()
        completed = run(*release_command, "--top", 1, *SEGMENT_OPTIONS, "-o", tmp_path / "r.json", "--ledger", ledger)
        assert completed.stderr == (
            f"discreet: Cannot write {tmp_path / 'r-south.json'}: it is a directory; add a file name.\n"
        )
        assert self.spends(ledger) == []
        (tmp_path / "r-south.json").rmdir()
        ledger.rename(tmp_path / "r-south.json")
        completed = run(
            *release_command,
            "--top",
            1,
            "--by",
            "region",
            "--segments",
            "public",
            "-o",
            tmp_path / "r.json",
            "--ledger",
            tmp_path / "r-south.json",
        )
        assert "is read or pays for this release" in completed.stderr

    def test_what_cannot_be_written_goes_to_standard_output(self, release_command, ledger):
        completed = run(*release_command, "--top", 2, "--ledger", ledger, "-o", "/dev/full", "--format", "csv")
        assert (completed.returncode, len(json.loads(completed.stdout)["patterns"])) == (1, 2)
        assert completed.stderr == (
            "discreet: Cannot write /dev/full: No space left on device. What was paid for went to standard output "
            f"instead, as JSON: keep it. What was paid stays paid: spend 1 of {ledger}, epsilon = 50.\n"
        )
        with Path("/dev/full").open("w") as full:
            command = [DISCREET, *map(str, release_command), "--top", "1", "--ledger", str(ledger), "--format", "json"]
            completed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=plain())
        assert (completed.returncode, completed.stderr) == (
            1,
            "discreet: No space left on device. The result is lost. What was paid stays paid: spend 2 of "
            f"{ledger}, epsilon = 50.\n",
        )

    @pytest.mark.parametrize("form", ["table", "json", "csv"])
    def test_letters_that_the_output_does_not_have_lose_nothing(self, sales, release_command, ledger, form):
        sales.write_text(sales.read_text().replace("tea", "café \U0001f375").replace("north", "ñ"))
        ascii_environment = plain(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        completed = started(
            *release_command, "--top", 3, "--ledger", ledger, "--format", form, env=ascii_environment, encoding="utf-8"
        )
        assert completed.returncode == 0, completed.stderr
        assert re.fullmatch(r"The head of .* is [0-9a-f]{64}\n", completed.stderr)
        assert ("caf\\u00e9" if form == "table" else "café") in completed.stdout
        if form == "json":
            document = json.loads(
                started(
                    *release_command, "--top", 3, *SEGMENT_OPTIONS, "--format", "json", env=ascii_environment
                ).stdout
            )
            assert "ñ" in document
            assert ["café \U0001f375"] in [pattern["items"] for pattern in document["ñ"]["patterns"]]

    @pytest.mark.parametrize(
        ("owner", "method_name"), [(Exponential, "run"), (Patterns, "to_arrow"), (delivery, "emit")]
    )
    def test_whatever_fails_after_paying_the_spend_is_named(
        self, release_command, ledger, owner, method_name, monkeypatch
    ):
        def fail(*_, **__):
            raise UnicodeError("tea")

        monkeypatch.setattr(owner, method_name, fail)
        completed = run(*release_command, "--top", 1, "--ledger", ledger, "--mechanism", "exponential")
        problem = "discreet: An error that should not happen: UnicodeError. Set DISCREET_DEBUG=1 to see where."
        spend_note = f"What was paid stays paid: spend 1 of {ledger}, epsilon = 50.\n"
        if owner is delivery:
            assert len(json.loads(completed.stdout)["patterns"]) == 1
            problem += " What was paid for went to standard output instead, as JSON: keep it."
        else:
            assert completed.stdout == ""
            problem += " There is no result."
        assert (completed.returncode, completed.stderr) == (1, f"{problem} {spend_note}")

    def test_a_report_that_cannot_be_written_does_not_take_the_result_along(self, release_command, tmp_path):
        (tmp_path / "r.html").symlink_to("/dev/full")
        release_command = [*release_command, "--top", 2, "--report", tmp_path / "r.html"]
        completed = run(*release_command, "-o", tmp_path / "r.json")
        assert (completed.returncode, completed.stdout) == (1, "")
        problem = f"discreet: Cannot write {tmp_path / 'r.html'}: No space left on device."
        assert completed.stderr.splitlines()[-1] == f"{problem} The result itself was written."
        assert len(discreet.load(tmp_path / "r.json")) == 2
        # A table for the eye is not all of a result.
        completed = run(*release_command)
        assert len(json.loads(completed.stdout[completed.stdout.index("{") :])["patterns"]) == 2
        assert completed.stderr == (f"{problem} What was paid for went to standard output instead, as JSON: keep it.\n")

    @pytest.mark.parametrize(("owner", "method_name"), [(Exponential, "run"), (Release, "save"), (Ledger, "spend")])
    def test_interrupted_after_paying_the_spend_is_named(
        self, release_command, ledger, tmp_path, owner, method_name, monkeypatch
    ):
        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(owner, method_name, stop)
        page = tmp_path / "r.html"
        completed = run(
            *release_command, "--top", 1, "--ledger", ledger, "--mechanism", "exponential", "--report", page
        )
        note = f"What was paid stays paid: spend 1 of {ledger}, epsilon = 50."
        if owner is Ledger:
            note = f"`discreet ledger show {ledger}` says what was paid."
        assert (completed.returncode, completed.stderr) == (
            130,
            f"discreet: interrupted; {'not everything' if owner is Release else 'no result'} was written. {note}\n",
        )

    def test_same_data(self, release_command, ledger, tmp_path):
        assert run(*release_command, "--top", 1, "--ledger", ledger).returncode == 0
        (tmp_path / "other.dat").write_text("\n".join(map(str, range(400))))
        other_command = [
            "release",
            tmp_path / "other.dat",
            "--top",
            1,
            "--items",
            400,
            "--epsilon",
            1,
            "--ledger",
            ledger,
        ]
        completed = run(*other_command)
        assert (completed.returncode, completed.stderr) == (
            1,
            f"discreet: {ledger} is the ledger of other data: most of these baskets are not among them. Nothing was "
            "spent. Use the ledger of these data. A part of the same people's data looks like other data too: one "
            "month, one shop, some of the products. So do data that have much changed. Say so with --same-data: the "
            "same people have one budget, and a part of their data costs as much as all of it.\n",
        )
        assert run(*other_command, "--dry-run").returncode == 1
        assert run(*other_command, "--same-data", "--dry-run").returncode == 0
        assert len(self.spends(ledger)) == 1
        assert run(*other_command, "--same-data").returncode == 0
        assert [spend["changed"] for spend in self.spends(ledger)] == [False, True]

    def test_killed_after_paying_the_spend_stands(self, release_command, ledger):
        # A mechanism that never comes back: the process is killed when the ledger shows the spend.
        code = (
            "import sys, time\n"
            "from discreet.curator.mechanisms.exponential import Exponential\n"
            "Exponential.run = lambda *a: time.sleep(600)\n"
            "from discreet.cli import main\n"
            "sys.argv = ['discreet', *sys.argv[1:]]\n"
            "main()\n"
        )
        arguments = [*release_command, "--top", 2, "--ledger", ledger, "--mechanism", "exponential"]
        child = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=plain())
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                document = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
                if document["spends"]:
                    break
                time.sleep(0.1)
            os.kill(child.pid, signal.SIGKILL)
        finally:
            child.kill()
            child.wait()
        document = json.loads(run("ledger", "show", ledger, "--format", "json").stdout)
        assert [spend["state"] for spend in document["spends"]] == ["spent"]
        assert "no release recorded" in run("ledger", "show", ledger).stdout


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        (["--epsilon", "0"], 1, "epsilon must be over 0, such as 0.5 or 1; 0 was given."),
        (["--epsilon", "nan"], 1, "epsilon is a number such as 1, 0.5 or 1/3; nan was given."),
        (["--delta", "1"], 1, "delta must be 0 or more and below 1"),
        (["--mechanism", "expnential"], 1, "Did you mean 'exponential'?"),
        (["--set", "floor"], 2, "a setting is written NAME=VALUE; 'floor' was given."),
        (["--report", "r.txt"], 1, "A report is a page: give a name that ends in .html instead of r.txt."),
        (["--segment", "north"], 1, "--segments lists the segments of --by: give that too."),
        (["--by", "product"], 1, "everyone must have one value in the column 'product' (--by)"),
        (["--lengths", "two"], 1, "--lengths is how many items a pattern has: a number such as 3"),
        (["--lengths", "0"], 1, "such as 2-4 or 2-, from 1 on; 0 was given."),
        (["--lengths", "3-2"], 1, "from 1 on; (3, 2) was given."),
        (["--people", "-5"], 1, "discreet: --people is -5, but it must be a whole number, 1 or more."),
        (["--items", "."], 1, "discreet: . is a directory: give a file with one per line as the list of items."),
        (
            ["--mechanism", "count"],
            1,
            "count counts itemsets that are named, and finds none: use discreet.count, on the command line `discreet "
            "count FILE --itemsets WANTED`; or leave --mechanism out.",
        ),
        (
            ["--contains", "tea", "--excludes", "tea"],
            1,
            "discreet: 'tea' is in both --contains and --excludes: no pattern can have it and not have it.",
        ),
        (["--top", "999"], 1, "ask for at most so many."),
        (["--ledger", "nowhere.db"], 1, "nowhere.db"),
        (
            ["--min-count", "3"],
            1,
            "Say which patterns are wanted by exactly one of --top (how many patterns), --min-support (a fraction of "
            "people) or --min-count (a number of people); --top and --min-count were given.",
        ),
        (["--by", "nothing"], 1, "has no column 'nothing' (--by); "),
        (["--lengths", "9"], 1, "discreet: --lengths asks for patterns of 9 items or more, but a pattern can have"),
    ],
)
def test_mistakes(release_command, change, status, message):
    completed = run(*release_command, *([] if "--top" in change else ["--top", 2]), *change)
    assert completed.returncode == status
    assert message in " ".join(completed.stderr.replace("│", " ").split())
    assert completed.stdout == ""


class TestWhoIsWho:
    """Rows that may repeat a person are not taken for people: the person is asked for."""

    ADVICE = (
        "Say which column holds the person (--person) and which the item (--item); or say --one-row-a-person, if every "
        "row is one person's whole basket.\n"
    )
    QUESTION = ("--top", 1, "--epsilon", 1, "--items", "public")

    @pytest.mark.parametrize("name", ["sales.csv", "sales.tsv", "sales.csv.gz", "sales.x"])
    def test_text(self, tmp_path, name):
        path = tmp_path / name
        text = b"customer,product\n1,tea\n1,milk\n"
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        options = ["--input-format", "csv"] if name.endswith(".x") else []
        completed = run("release", path, *self.QUESTION, *options)
        assert (completed.returncode, completed.stderr) == (
            1,
            f"discreet: {path}: which column is the person? A release protects people, and lines may repeat one. "
            + self.ADVICE,
        )
        # Neither word alone: one says who is who, the other that this is no table.
        if not name.endswith(".tsv"):
            completed = run("release", path, *self.QUESTION, *options, "--one-row-a-person")
            assert (completed.returncode, "looks like a table: its first lines have 2 fields" in completed.stderr) == (
                1,
                True,
            )
        lines = ["--input-format", "baskets"]
        assert run("release", path, *self.QUESTION, *lines).returncode == 1
        assert run("release", path, *self.QUESTION, *lines, "--one-row-a-person").returncode == 0

    @pytest.mark.parametrize(("delimiter", "separator_name"), [(",", "commas"), (";", "semicolons"), ("\t", "tabs")])
    def test_a_table_that_is_called_text(self, tmp_path, delimiter, separator_name):
        path = tmp_path / "sales.txt"
        path.write_text("customer,product\n1,tea\n1,whole milk\n".replace(",", delimiter) + "\n")
        completed = run("release", path, *self.QUESTION)
        assert (completed.returncode, completed.stderr) == (
            1,
            f"discreet: {path}: which column is the person? A release protects people, and lines that have as many "
            f"{separator_name} each, as in a table (--input-format csv reads one), may repeat one. {self.ADVICE}",
        )
        completed = run("release", path, *self.QUESTION, "--one-row-a-person")
        assert (completed.returncode, "looks like a table: its first lines have as many" in completed.stderr) == (
            1,
            True,
        )
        assert run("release", path, *self.QUESTION, "--one-row-a-person", "--input-format", "fimi").returncode == 0
        table = ["--input-format", "csv", "--person", "customer", "--item", "product"]
        assert run("release", path, *self.QUESTION, *table).returncode == 0

    @pytest.mark.parametrize("text", ["1 2\n3\n", "tea,milk\nbread\n", "a,b c\nd\n", "\n", "1\t2\n3\n", '"a,b\n'])
    def test_text_that_is_none_is_a_basket_a_line(self, tmp_path, text):
        path = tmp_path / "sales.txt"
        path.write_text(text)
        assert run("release", path, *self.QUESTION).returncode == 0

    @pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
    def test_tables_of_lists(self, tmp_path, suffix):
        path = tmp_path / f"sales.{suffix}"
        rows = [{"customer": 1, "items": ["tea"]}, {"customer": 1, "items": ["milk"]}]

        def write(rows):
            if suffix == "jsonl":
                path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            else:
                pq.write_table(pa.Table.from_pylist(rows), path)

        write(rows)
        row_kind = "records with fields" if suffix == "jsonl" else "rows with columns"
        completed = run("release", path, *self.QUESTION)
        assert (completed.returncode, completed.stderr) == (
            1,
            f"discreet: {path}: which column is the person? A release protects people, and {row_kind} beside the items "
            f"(customer) may repeat one. {self.ADVICE}",
        )
        assert run("release", path, *self.QUESTION, "--one-row-a-person").returncode == 0
        write([{"items": row["items"]} for row in rows])
        assert run("release", path, *self.QUESTION).returncode == 0


def test_no_epsilon(sales):
    completed = run("release", sales, "--one-row-a-person", "--top", 2)
    assert completed.returncode == 1
    assert completed.stderr == "discreet: Say how much may be lost: --epsilon 1 is usual, less protects more.\n"


def test_the_three_choices_are_in_the_words_of_the_command_line(release_command):
    completed = run(*(word for word in release_command if word not in ("--items", "public")), "--top", 2)
    assert completed.returncode == 1
    assert "declare with --items public" in completed.stderr


def test_count(sales, tmp_path):
    (tmp_path / "wanted.txt").write_text("tea,milk\nbread\n")
    completed = run(
        "count", sales, "--person", "customer", "--item", "product", "--itemsets", tmp_path / "wanted.txt",
        "--epsilon", 50, "--really", "--format", "json",
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    first_pattern, second = json.loads(completed.stdout)["patterns"]
    assert abs(first_pattern["count"] - 266) < 10
    assert abs(second["count"] - 133) < 10

    completed = run("count", sales, "--items", tmp_path / "wanted.txt", "--epsilon", 1)
    assert completed.stderr == (
        f"discreet: Say what to count: --itemsets FILE, with one itemset per line. {tmp_path / 'wanted.txt'} was given "
        "as --items, the list of all items.\n"
    )


def test_itemsets_are_in_a_file(sales, tmp_path):
    empty = tmp_path / "e.dat"
    empty.touch()
    release_command = ["count", sales, "--person", "customer", "--item", "product", "--epsilon", 1, "--itemsets"]
    for itemsets, problem in (("tea", "There is no file tea"), (empty, f"{empty} is empty")):
        for command in (release_command, ["mine", *release_command[1:6], "--itemsets"]):
            completed = run(*command, itemsets, cwd=tmp_path)
            assert (completed.returncode, completed.stdout, completed.stderr) == (
                1,
                "",
                f"discreet: {problem}: --itemsets is a file with one itemset per line.\n",
            )


def test_count_by_segment_and_beforehand(sales, tmp_path):
    (tmp_path / "wanted.txt").write_text("tea,milk\nbread\n")
    command = [
        "count", sales, "--person", "customer", "--item", "product", "--itemsets", tmp_path / "wanted.txt",
        "--epsilon", 50, "--really", *SEGMENT_OPTIONS,
    ]  # fmt: skip
    document = json.loads(run(*command, "--format", "json").stdout)
    sampled_people = [person for person in range(400) if person % 3]
    for region, true_count in (
        ("north", sum(bool(person % 4) for person in sampled_people)),
        ("south", sum(not p % 4 for p in sampled_people)),
    ):
        assert abs(document[region]["patterns"][0]["count"] - true_count) < 10
    completed = run(*command, "--dry-run")
    assert "count would spend epsilon = 50:" in completed.stdout
    assert "2 segments, for the price of one." in completed.stdout
    (tmp_path / "products.txt").write_text("tea\nbread\n")
    assert run(*command, "--items", tmp_path / "products.txt", "-q").stderr == (
        "discreet: 'milk' is not on the list of items that was given: add it there, or leave it out.\n"
    )


def test_mechanisms():
    document = json.loads(run("mechanisms", "--kind", "mechanism", "--format", "json").stdout)
    assert [entry["name"] for entry in document] == list(mechanisms())
    document = json.loads(run("mechanisms", "--format", "json").stdout)
    assert [entry["name"] for entry in document] == list(everything())
    table = run("mechanisms").stdout
    assert all(name in table for name in mechanisms())
    assert "Bhaskar" in table
    assert "Bhaskar" in run("mechanisms", "laplace").stdout
    assert run("mechanisms", "dice").returncode == 1
