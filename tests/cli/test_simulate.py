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


def run(*arguments: object, **options) -> running.Done:
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
def asked(sales):
    return [sales, "--person", "customer", "--item", "product", "--epsilon", "6", "--top", 3, "--protocol", "svsm"]


@pytest.mark.parametrize(
    ("words", "said"), [((), "so everybody weighs the same"), (("--max-baskets", 2), "2 times a count")]
)
def test_several_baskets_of_a_person(sales, tmp_path, words, said):
    """Every customer comes twice, and buys the rare things on a day of their own."""
    rows = sales.read_text().splitlines()[1:]
    lines = [f"{row},{'monday' if 'rare' in row else 'friday'}" for row in rows]
    (tmp_path / "days.csv").write_text("\n".join(["customer,product,day", *lines]))
    asked = [
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
    done = run(tmp_path / "days.csv", *asked, "--epsilon", 6, "--seed", 1, *words)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "The unit of privacy is the person, with all their baskets." in done.stdout
    assert "Against the truth: normalised cumulative rank" in done.stdout


class TestWhatIsShown:
    def test_rounds_patterns_and_the_promise(self, asked):
        done = run(*asked, "--seed", 7, "--score")
        assert (done.returncode, done.stderr) == (0, "")
        rounds, table, *rest = done.stdout.rstrip().split("\n\n")
        biased, promised, shares, score = rest
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

    def test_json_is_one_object(self, asked):
        done = run(*asked, "--seed", 7, "--score", "--format", "json")
        assert done.stderr == ""
        told = json.loads(done.stdout)
        assert set(told) >= {"patterns", "guarantee", "simulated", "marginal", "rounds", "scores"}
        assert (told["simulated"], told["marginal"]) == (True, False)
        assert [one["name"] for one in told["rounds"]] == ROUNDS
        fields = {"name", "people", "values", "oracle", "pad", "bits", "epsilon", "left_out", "alarms"}
        assert set(told["rounds"][0]) == fields
        assert set(told["scores"]) >= {"normalised cumulative rank", "F-score", "squared error"}
        assert told["reports"] == 1
        assert told["guarantee"]["model"] == "local"

    def test_drawing_what_reports_add_up_to_is_said(self, asked):
        done = run(*asked, "--seed", 7, "--speed", "aggregated")
        assert "Marginal: each count was drawn by itself" in done.stdout
        told = json.loads(run(*asked, "--seed", 7, "--speed", "aggregated", "--format", "json").stdout)
        assert told["marginal"] is True

    def test_a_bar_a_round_and_a_line_when_it_is_over(self, monkeypatch, capsys):
        seen: list[object] = []

        class Bar:
            def __init__(self, what):
                seen.append(what)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                seen.append("gone")

            def stage(self, name):
                seen.append(name)

            def __call__(self, share):
                seen.append(share)

        monkeypatch.setattr(simulate, "ProgressBar", Bar)
        line = Round(name="which items", people=4785, values=188, oracle="olh", pad=1, bits=66.0, epsilon="2")
        with simulate.Transcript(lines=True, err=False) as lines:
            lines.progress("which items", 0.5)
            lines.finish_round(line)
        assert seen == ["simulating", "which items", 0.5, "gone", "simulating", "gone"]
        assert capsys.readouterr() == (
            "which items                   4,785 people  olh         188 values  padding 1    66 bits per report\n",
            "",
        )
        with simulate.Transcript(lines=False, err=False) as lines:
            lines.finish_round(line)
        assert capsys.readouterr() == ("", "")


class TestSeeds:
    def test_the_same_seed_gives_the_same(self, asked):
        assert run(*asked, "--seed", 7).stdout == run(*asked, "--seed", 7).stdout
        assert run(*asked, "--seed", 7).stdout != run(*asked, "--seed", 8).stdout

    def test_one_that_is_not_given_is_drawn_and_shown(self, asked):
        first = run(*asked)
        *above, last = first.stdout.rstrip().split("\n\n")
        seed = last.split()[2]
        assert last == f"The seed {seed} was drawn: --seed {seed} gives the same again."
        assert run(*asked, "--seed", seed).stdout.rstrip().split("\n\n") == above
        told = run(*asked, "--format", "json")
        drawn = json.loads(told.stdout)["asked"]["seed"]
        assert told.stderr == f"The seed {drawn} was drawn: --seed {drawn} gives the same again.\n"

    def test_it_is_for_cutting_baskets_too(self, asked):
        words = [*asked, "--max-items", 2, "--seed", 7, "--format", "json"]
        assert run(*words).stdout == run(*words).stdout


class TestFiles:
    @pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
    def test_what_it_wrote_is_read_back(self, asked, tmp_path, suffix):
        place = tmp_path / f"found.{suffix}"
        done = run(*asked, "--seed", 7, "-o", place)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.splitlines()[0].startswith("which items")
        assert f"3 patterns written to {place}" in done.stderr
        back = discreet.load(place)
        assert len(back) == 3
        assert back.low is not None
        if suffix != "csv":
            assert [one["name"] for one in back.about["rounds"]] == ROUNDS
        again = discreet.simulate(
            discreet.read(asked[0], person="customer", item="product"), "svsm", top=3, epsilon=6, seed=7
        )
        assert back.counts.tolist() == again.patterns.counts.tolist()

    def test_a_table_in_a_text_file(self, asked, tmp_path):
        assert run(*asked, "--seed", 7, "-o", tmp_path / "found.txt").returncode == 0
        assert (tmp_path / "found.txt").read_text().startswith("3 patterns of 4,000 people\n")


class TestSettings:
    def test_adept_unless_something_else_is_said(self, sales):
        done = run(sales, "--person", "customer", "--item", "product", "--epsilon", 6, "--top", 3, "--format", "json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["protocol"] == "adept"
        assert [one["name"] for one in told["rounds"]][:2] == ["how many items", "which items"]

    def test_they_reach_the_protocol(self, asked):
        words = ["--protocol", "svim", "--set", "candidates=3", "--set", "shares=0 1/4 1/4 1/2"]
        done = run(*asked, "--seed", 7, *words, "--format", "json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["settings"]["candidates"] == 3
        assert told["settings"]["shares"] == ["0", "1/4", "1/4", "1/2"]
        assert [one["name"] for one in told["rounds"]] == ROUNDS[:3]

    def test_single_items_can_be_left_out(self, asked):
        told = json.loads(run(*asked, "--seed", 7, "--least", 2, "--format", "json").stdout)
        assert all(len(one["items"]) >= 2 for one in told["patterns"])
        assert len(told["patterns"]) == 3


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
def test_what_is_refused(asked, words, message):
    done = run(*asked, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    if message is not None:
        assert done.stderr == f"discreet: {message}\n"


def test_what_has_to_be_said(sales):
    assert run(sales, "--epsilon", 1).stderr == "discreet: Say how many patterns are wanted: --top 64.\n"
    assert run(sales, "--top", 3).stderr == (
        "discreet: Say how much one report may give away: --epsilon 1 is usual, less protects more.\n"
    )


def test_names_there_are_not(asked):
    done = run(*asked, "--protocol", "svms")
    assert done.returncode == 1
    assert done.stderr.startswith("discreet: There is no protocol 'svms'; there are ")
    assert done.stderr.endswith("Did you mean 'svsm'?\n")
    done = run(*asked, "--set", "candidate=3")
    assert done.stderr.startswith("discreet: svsm has no setting 'candidate': it has shares, ")


def test_data_that_cannot_be(asked, tmp_path):
    run(*asked, "--seed", 7, "-o", tmp_path / "found.json", check=True)
    done = run(tmp_path / "found.json", "--top", 3, "--epsilon", 1)
    assert done.stderr == (
        f"discreet: {tmp_path / 'found.json'} holds patterns or rules that were found already: give the data they came "
        "from.\n"
    )
    assert run(tmp_path / "none.dat", "--top", 3, "--epsilon", 1).returncode == 1
    (tmp_path / "blank.dat").write_text("\n\n")
    done = run(tmp_path / "blank.dat", "--top", 3, "--epsilon", 1)
    assert done.stderr == "discreet: Nobody holds anything and no items are listed: there is nothing to ask about.\n"


def test_very_few_people_are_told(tmp_path):
    (tmp_path / "few.dat").write_text("1 2\n1\n")
    done = run(tmp_path / "few.dat", "--top", 2, "--epsilon", 1, "--seed", 1)
    assert done.returncode == 0
    assert "There are too few people for this protocol: nobody was asked 'how many items', 'which items'" in done.stdout
    assert "bits per report, but nobody was asked" in done.stdout


def test_what_cannot_be_parsed(asked):
    assert run("--top", 3, "--epsilon", 1).returncode == 2
    assert run(*asked, "--speed", "fast").returncode == 2
    assert run(*asked, "--set", "candidates").returncode == 2


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
        lines += [f"{user},{at},{page},{page},{pages[(at + 1) % len(pages)]}" for at, page in enumerate(pages)]
    path.write_text("\n".join(lines) + "\n")
    return path


class TestRelations:
    def found(self, *words):
        done = run(*words, "--protocol", "pairs", "--top", 4, "--epsilon", 8, "--seed", 7, "--format", "json")
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["discreet"] == "relations/1"
        return [(*one["antecedent"], *one["consequent"]) for one in told["relations"]]

    def test_in_time(self, rows):
        found = self.found(rows, "--person", "user", "--item", "page", "--time", "at", "--set", "how=after")
        assert set(found[:3]) == {("start", "price"), ("guide", "price"), ("start", "guide")}

    def test_given(self, rows):
        found = self.found(rows, "--person", "user", "--pair", "from", "to", "--set", "how=given")
        assert set(found[:3]) == {("price", "start"), ("guide", "price"), ("start", "guide")}

    def test_in_order(self, tmp_path):
        (tmp_path / "clicks.dat").write_text("1 2 3\n1 2 3\n1 2 3\n1 3\n" * 1000)
        found = self.found(tmp_path / "clicks.dat", "--ordered", "--set", "how=after")
        assert set(found[:3]) == {(1, 3), (2, 3), (1, 2)}

    def test_a_table(self, rows):
        words = [rows, "--person", "user", "--item", "page", "--protocol", "pairs", "--top", 4, "--epsilon", 8]
        done = run(*words, "--seed", 7, "--score")
        assert (done.returncode, done.stderr) == (0, "")
        _, table, *_, score = done.stdout.rstrip().split("\n\n")
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
