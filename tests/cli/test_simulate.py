"""`discreet simulate` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import discreet
import running
from discreet.cli import _simulate as simulate
from discreet.local.study import Round

ROUNDS = ["which items", "how many candidates", "which candidates", "how many itemsets", "which itemsets"]


def run(*arguments: object, **options) -> running.CompletedRun:
    return running.run("simulate", *arguments, **options)


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    path = tmp_path_factory.mktemp("simulate") / "sales.csv"
    lines = ["customer,product"]
    for person in range(4000):
        lines += [f"{person},{product}" for product in ("tea", "milk", "bread")[: 1 + person % 3]]
        lines.append(f"{person},rare {person % 9}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def simulate_command(sales):
    return [sales, "--person", "customer", "--item", "product", "--epsilon", "6", "--top", 3, "--protocol", "svsm"]


@pytest.mark.parametrize(
    ("words", "note"), [((), "so everybody weighs the same"), (("--max-baskets", 2), "2 times a count")]
)
def test_several_baskets_of_a_person(sales, tmp_path, words, note):
    """Every customer comes twice, and buys the rare things on a day of their own."""
    rows = sales.read_text().splitlines()[1:]
    lines = [f"{row},{'monday' if 'rare' in row else 'friday'}" for row in rows]
    (tmp_path / "days.csv").write_text("\n".join(["customer,product,day", *lines]))
    command = [
        "--person",
        "customer",
        "--item",
        "product",
        "--basket",
        "day",
        "--protocol",
        "svim",
        "--top",
        3,
        "--score",
    ]
    completed = run(tmp_path / "days.csv", *command, "--epsilon", 6, "--seed", 1, *words)
    assert completed.returncode == 0, completed.stderr
    assert note in completed.stdout
    assert "The unit of privacy is the person, with all their baskets." in completed.stdout
    assert "Against the truth: normalised cumulative rank" in completed.stdout


class TestWhatIsShown:
    def test_rounds_patterns_and_the_promise(self, simulate_command):
        completed = run(*simulate_command, "--seed", 7, "--score")
        assert (completed.returncode, completed.stderr) == (0, "")
        rounds, table, *sections = completed.stdout.rstrip().split("\n\n")
        biased, promised, shares, score = sections
        assert biased.startswith("Intervals hold noise alone, and may miss the true count: large sizes are lost in")
        assert [line[:24].strip() for line in rounds.splitlines()] == ROUNDS
        for line in rounds.splitlines():
            words = line[24:].split()
            assert (words[1], words[4], words[5], words[8:]) == (
                "people",
                "values",
                "padding",
                ["bits", "per", "report"],
            )
        assert sum(int(line[24:].split()[0].replace(",", "")) for line in rounds.splitlines()) == 4000
        head = table.splitlines()
        assert head[:3] == [
            "3 patterns of 4,000 people",
            "local differential privacy, replace one person, epsilon = 6",
            "SIMULATED: not a private release",
        ]
        assert head[3].split() == ["items", "count", "support", "low", "high"]
        assert head[5].split()[0] == "tea"
        assert promised.startswith("This result protects nobody. A study that went like it promises: whatever anyone ")
        assert shares == "Each person answers one round, so what the rounds lose does not add up."
        assert promised.endswith("Taken for public knowledge, and not protected: the items.")
        assert score.startswith("Against the truth: normalised cumulative rank ")

    def test_json_is_one_object(self, simulate_command):
        completed = run(*simulate_command, "--seed", 7, "--score", "--format", "json")
        assert completed.stderr == ""
        document = json.loads(completed.stdout)
        assert set(document) >= {"patterns", "guarantee", "simulated", "marginal", "rounds", "scores"}
        assert (document["simulated"], document["marginal"]) == (True, False)
        assert [round_record["name"] for round_record in document["rounds"]] == ROUNDS
        fields = {"name", "people", "values", "oracle", "pad", "bits", "epsilon", "left_out", "alarms"}
        assert set(document["rounds"][0]) == fields
        assert set(document["scores"]) >= {"normalised cumulative rank", "F-score", "squared error"}
        assert document["reports"] == 1
        assert document["guarantee"]["model"] == "local"

    def test_drawing_what_reports_add_up_to_is_said(self, simulate_command):
        completed = run(*simulate_command, "--seed", 7, "--speed", "aggregated")
        assert "Marginal: each count was drawn by itself" in completed.stdout
        document = json.loads(run(*simulate_command, "--seed", 7, "--speed", "aggregated", "--format", "json").stdout)
        assert document["marginal"] is True

    def test_a_bar_a_round_and_a_line_when_it_is_over(self, monkeypatch, capsys):
        progress_calls: list[object] = []

        class Bar:
            def __init__(self, title):
                progress_calls.append(title)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                progress_calls.append("gone")

            def stage(self, name):
                progress_calls.append(name)

            def __call__(self, share):
                progress_calls.append(share)

        monkeypatch.setattr(simulate, "ProgressBar", Bar)
        line = Round(name="which items", people=4785, values=188, oracle="olh", pad=1, bits=66.0, epsilon="2")
        with simulate.Transcript(lines=True, err=False) as lines:
            lines.progress("which items", 0.5)
            lines.finish_round(line)
        assert progress_calls == ["simulating", "which items", 0.5, "gone", "simulating", "gone"]
        assert capsys.readouterr() == (
            "which items                   4,785 people  olh         188 values  padding 1    66 bits per report\n",
            "",
        )
        with simulate.Transcript(lines=False, err=False) as lines:
            lines.finish_round(line)
        assert capsys.readouterr() == ("", "")


class TestSeeds:
    def test_the_same_seed_gives_the_same(self, simulate_command):
        assert run(*simulate_command, "--seed", 7).stdout == run(*simulate_command, "--seed", 7).stdout
        assert run(*simulate_command, "--seed", 7).stdout != run(*simulate_command, "--seed", 8).stdout

    def test_one_that_is_not_given_is_drawn_and_shown(self, simulate_command):
        first_run = run(*simulate_command)
        *above, last_section = first_run.stdout.rstrip().split("\n\n")
        seed = last_section.split()[2]
        assert last_section == f"The seed {seed} was drawn: --seed {seed} gives the same again."
        assert run(*simulate_command, "--seed", seed).stdout.rstrip().split("\n\n") == above
        second_run = run(*simulate_command, "--format", "json")
        drawn_seed = json.loads(second_run.stdout)["asked"]["seed"]
        assert second_run.stderr == f"The seed {drawn_seed} was drawn: --seed {drawn_seed} gives the same again.\n"

    def test_it_is_for_cutting_baskets_too(self, simulate_command):
        words = [*simulate_command, "--max-items", 2, "--seed", 7, "--format", "json"]
        assert run(*words).stdout == run(*words).stdout


class TestFiles:
    @pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
    def test_what_it_wrote_is_read_back(self, simulate_command, tmp_path, suffix):
        place = tmp_path / f"found.{suffix}"
        completed = run(*simulate_command, "--seed", 7, "-o", place)
        assert (completed.returncode, completed.stdout) == (0, "")
        assert completed.stderr.splitlines()[0].startswith("which items")
        assert f"3 patterns written to {place}" in completed.stderr
        back = discreet.load(place)
        assert len(back) == 3
        assert back.low is not None
        if suffix != "csv":
            assert [round_record["name"] for round_record in back.about["rounds"]] == ROUNDS
        repeated_result = discreet.simulate(
            discreet.read(simulate_command[0], person="customer", item="product"), "svsm", top=3, epsilon=6, seed=7
        )
        assert back.counts.tolist() == repeated_result.patterns.counts.tolist()

    def test_a_table_in_a_text_file(self, simulate_command, tmp_path):
        assert run(*simulate_command, "--seed", 7, "-o", tmp_path / "found.txt").returncode == 0
        assert (tmp_path / "found.txt").read_text().startswith("3 patterns of 4,000 people\n")


class TestSettings:
    def test_adept_unless_something_else_is_said(self, sales):
        completed = run(
            sales, "--person", "customer", "--item", "product", "--epsilon", 6, "--top", 3, "--format", "json"
        )
        assert completed.returncode == 0, completed.stderr
        document = json.loads(completed.stdout)
        assert document["protocol"] == "adept"
        assert [round_record["name"] for round_record in document["rounds"]][:2] == ["how many items", "which items"]

    def test_they_reach_the_protocol(self, simulate_command):
        words = ["--protocol", "svim", "--set", "candidates=3", "--set", "shares=0 1/4 1/4 1/2"]
        completed = run(*simulate_command, "--seed", 7, *words, "--format", "json")
        assert completed.returncode == 0, completed.stderr
        document = json.loads(completed.stdout)
        assert document["settings"]["candidates"] == 3
        assert document["settings"]["shares"] == ["0", "1/4", "1/4", "1/2"]
        assert [round_record["name"] for round_record in document["rounds"]] == ROUNDS[:3]

    def test_single_items_can_be_left_out(self, simulate_command):
        document = json.loads(run(*simulate_command, "--seed", 7, "--least", 2, "--format", "json").stdout)
        assert all(len(pattern["items"]) >= 2 for pattern in document["patterns"])
        assert len(document["patterns"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--top", 0], "--top is 0, but it must be a whole number, 1 or more."),
        (["--least", 3], "--least is 1, or 2 to leave single items out; 3 was given."),
        (["--epsilon", 50], "epsilon of a report is from 0.001 to 20; 50 was given."),
        (["--epsilon", "much"], None),
        (["--seed", -3], "--seed is a whole number from 0 on; -3 was given."),
        (["--set", "candidates=many"], "the setting candidates of svsm is a whole number; 'many' was given."),
        (
            ["--protocol", "svim", "--least", 2],
            "svim finds single items: use svsm for patterns of two items or more.",
        ),
    ],
    ids=["top", "least", "epsilon", "no number", "seed", "setting", "single"],
)
def test_what_is_refused(simulate_command, words, message):
    completed = run(*simulate_command, *words)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert len(completed.stderr.splitlines()) == 1
    if message is not None:
        assert completed.stderr == f"discreet: {message}\n"


def test_what_has_to_be_said(sales):
    assert run(sales, "--epsilon", 1).stderr == "discreet: Say how many patterns are wanted: --top 64.\n"
    assert run(sales, "--top", 3).stderr == (
        "discreet: Say how much one report may give away: --epsilon 1 is usual, less protects more.\n"
    )


def test_names_there_are_not(simulate_command):
    completed = run(*simulate_command, "--protocol", "svms")
    assert completed.returncode == 1
    assert completed.stderr.startswith("discreet: There is no protocol 'svms'; there are ")
    assert completed.stderr.endswith("Did you mean 'svsm'?\n")
    completed = run(*simulate_command, "--set", "candidate=3")
    assert completed.stderr.startswith("discreet: svsm has no setting 'candidate': it has shares, ")


def test_data_that_cannot_be(simulate_command, tmp_path):
    run(*simulate_command, "--seed", 7, "-o", tmp_path / "found.json", check=True)
    completed = run(tmp_path / "found.json", "--top", 3, "--epsilon", 1)
    assert completed.stderr == (
        f"discreet: {tmp_path / 'found.json'} holds patterns or rules that were found already: give the data they came "
        "from.\n"
    )
    assert run(tmp_path / "none.dat", "--top", 3, "--epsilon", 1).returncode == 1
    (tmp_path / "blank.dat").write_text("\n\n")
    completed = run(tmp_path / "blank.dat", "--top", 3, "--epsilon", 1)
    assert (
        completed.stderr == "discreet: Nobody holds anything and no items are listed: there is nothing to ask about.\n"
    )


def test_very_few_people_are_told(tmp_path):
    (tmp_path / "few.dat").write_text("1 2\n1\n")
    completed = run(tmp_path / "few.dat", "--top", 2, "--epsilon", 1, "--seed", 1)
    assert completed.returncode == 0
    assert (
        "There are too few people for this protocol: nobody was asked 'how many items', 'which items'"
        in completed.stdout
    )
    assert "bits per report, but nobody was asked" in completed.stdout


def test_what_cannot_be_parsed(simulate_command):
    assert run("--top", 3, "--epsilon", 1).returncode == 2
    assert run(*simulate_command, "--speed", "fast").returncode == 2
    assert run(*simulate_command, "--set", "candidates").returncode == 2


def test_the_device_side_needs_the_standard_library_alone():
    code = "import sys, discreet.local.device._client; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "numba", "pyarrow", "duckdb", "rich", "typer"} & set(loaded)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Three in four people read the guide after the start page, and have it as a pair of their own."""
    path = tmp_path_factory.mktemp("relations") / "clicks.csv"
    lines = ["user,at,page,from,to"]
    for user in range(4000):
        pages = ("start", "guide", "price") if user % 4 else ("start", "price")
        lines += [
            f"{user},{page_index},{page},{page},{pages[(page_index + 1) % len(pages)]}"
            for page_index, page in enumerate(pages)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


class TestRelations:
    def relations(self, *words):
        completed = run(*words, "--protocol", "pairs", "--top", 4, "--epsilon", 8, "--seed", 7, "--format", "json")
        assert completed.returncode == 0, completed.stderr
        document = json.loads(completed.stdout)
        assert document["discreet"] == "relations/1"
        return [(*relation["antecedent"], *relation["consequent"]) for relation in document["relations"]]

    def test_in_time(self, rows):
        relations = self.relations(rows, "--person", "user", "--item", "page", "--time", "at", "--set", "how=after")
        assert set(relations[:3]) == {("start", "price"), ("guide", "price"), ("start", "guide")}

    def test_given(self, rows):
        relations = self.relations(rows, "--person", "user", "--pair", "from", "to", "--set", "how=given")
        assert set(relations[:3]) == {("price", "start"), ("guide", "price"), ("start", "guide")}

    def test_in_order(self, tmp_path):
        (tmp_path / "clicks.dat").write_text("1 2 3\n1 2 3\n1 2 3\n1 3\n" * 1000)
        relations = self.relations(tmp_path / "clicks.dat", "--ordered", "--set", "how=after")
        assert set(relations[:3]) == {(1, 3), (2, 3), (1, 2)}

    def test_a_table(self, rows):
        words = [rows, "--person", "user", "--item", "page", "--protocol", "pairs", "--top", 4, "--epsilon", 8]
        completed = run(*words, "--seed", 7, "--score")
        assert (completed.returncode, completed.stderr) == (0, "")
        _, table, *_, score = completed.stdout.rstrip().split("\n\n")
        assert table.splitlines()[0] == "4 relations of 4,000 people"
        assert score.startswith("Against the truth: normalised cumulative rank ")

    def test_what_the_data_do_not_have(self, rows):
        words = [rows, "--person", "user", "--item", "page", "--protocol", "pairs", "--top", 4, "--epsilon", 8]
        assert run(*words, "--set", "how=after").stderr == (
            "discreet: These data have no order: read them with --time, a column of times, or --ordered; or use "
            "'together'.\n"
        )
        assert run(*words, "--set", "how=given").stderr == (
            "discreet: These data have no pairs: read them with --pair, two columns of items; or use 'together'.\n"
        )
