"""The registry with packages of other people: what it finds in them, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

import discreet
from discreet import MisuseError
from discreet.curator.mechanisms.exponential import Exponential
from discreet.planning import trial
from discreet.registry import protocol
from strangers import ASKING_CODE, HASTY, STRANGER, TWO_BITS_CODE, install, program, run


class TestOtherPackages:
    def test_are_listed_and_used_like_ours(self, tmp_path):
        install(tmp_path)
        document = json.loads(run(tmp_path, "mechanisms", "--format", "json").stdout)
        (entry,) = (record for record in document if record["name"] == "plain")
        assert entry["package"] == "stranger-mechanisms"
        assert entry["answers"] == ["threshold"]
        assert entry["settings"] == {"shift": 0}
        (tmp_path / "b.dat").write_text("1 2\n1\n3\n" * 50)
        completed = run(
            tmp_path, "release", "b.dat", "--min-count", 70, "--epsilon", 1000, "--really",
            "--items", "public",
            "--mechanism", "plain", "--set", "shift=5", "--format", "json",
        )  # fmt: skip
        assert completed.returncode == 0, completed.stderr
        release = json.loads(completed.stdout)
        assert [(record["items"], record["count"]) for record in release["patterns"]] == [([1], 105)]
        assert release["guarantee"]["epsilon"] == "1000"
        code = (
            "import discreet; print(discreet.mechanisms()['plain'].proof.name, discreet.mechanisms()['auto'].package)"
        )
        assert program(tmp_path, code).stdout == "plain.md discreet\n"

    def test_stand_the_audit(self, tmp_path):
        completed = run(install(tmp_path), "audit", "plain", "--epsilon", 1, "--runs", 20)
        assert completed.returncode == 0, completed.stderr

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"proof": False},
                "The mechanism plain of the package stranger-mechanisms has no proof page: plain.md has to lie beside "
                "it.",
            ),
            (
                {"code": STRANGER.replace('    proof: ClassVar[str] = "plain.md"\n', "")},
                "The mechanism plain of the package stranger-mechanisms has no proof page: say which one in its "
                "attribute proof.",
            ),
            (
                {"proof": False, "code": ASKING_CODE, "group": "discreet.protocols"},
                "The protocol plain of the package stranger-mechanisms has no proof page: plain.md has to lie beside "
                "it.",
            ),
            (
                {"code": HASTY},
                "The mechanism plain of the package stranger-mechanisms has no proof page: say which one in its "
                "attribute proof; the one it inherits is about another.",
            ),
        ],
        ids=["no page", "none named", "a protocol", "an inherited page"],
    )
    def test_one_without_its_page_stands_in_the_way_of_no_other(self, tmp_path, change, message):
        install(tmp_path, **change)
        for command in (["audit", "plain"], ["mechanisms", "plain"]):
            completed = run(tmp_path, *command)
            assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")
        document = json.loads(run(tmp_path, "mechanisms", "--format", "json").stdout)
        (plain_record,) = (record for record in document if record["name"] == "plain")
        assert (plain_record["proof"], plain_record["summary"]) == (None, f"{message} It is not run.")
        assert run(tmp_path, "audit", "olh", "--runs", 5).returncode == 0

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"code": STRANGER.replace('= "plain"', '= "count"')},
                "There are two mechanisms called count, one of the package discreet and one of stranger-mechanisms: "
                "rename one, or uninstall its package.",
            ),
            (
                {"code": ASKING_CODE.replace('"plain"\n', '"svsm"\n', 1), "group": "discreet.protocols"},
                "There are two protocols called svsm, one of the package discreet and one of stranger-mechanisms: "
                "rename one, or uninstall its package.",
            ),
            (
                {
                    "code": TWO_BITS_CODE.replace('= "plain"', '= "adaptive"'),
                    "value": "stranger:Two",
                    "group": "discreet.oracles",
                },
                "There are two oracles called adaptive, one of the package discreet and one of stranger-mechanisms: "
                "rename one, or uninstall its package.",
            ),
            (
                {"value": "nowhere:Plain"},
                "The mechanism plain of the package stranger-mechanisms cannot be loaded (ModuleNotFoundError: No "
                "module named 'nowhere'): mend or uninstall that package.",
            ),
            (
                {"code": "import sys\nsys.exit(0)\n"},
                "The mechanism plain of the package stranger-mechanisms cannot be loaded (SystemExit: 0): mend or "
                "uninstall that package.",
            ),
            (
                {"code": "class Odd(BaseException):\n    def __str__(self): return 1 / 0\nraise Odd\n"},
                "The mechanism plain of the package stranger-mechanisms cannot be loaded (Odd): mend or uninstall that "
                "package.",
            ),
            (
                {"code": STRANGER + "    def __post_init__(self): raise SystemExit(0)\n"},
                "The mechanism plain of the package stranger-mechanisms cannot be used (SystemExit: 0): mend or "
                "uninstall that package.",
            ),
            (
                {"code": STRANGER.replace('name: ClassVar[str] = "plain"', "name: ClassVar[int] = 7")},
                "The mechanism plain of the package stranger-mechanisms cannot be used (TypeError: its name is not a "
                "text): mend or uninstall that package.",
            ),
            (
                {"value": "stranger:Supports"},
                "stranger:Supports of the package stranger-mechanisms is no mechanism: discreet.mechanisms takes "
                "subclasses of Mechanism with a name. Mend or uninstall that package.",
            ),
        ],
        ids=[
            "duplicate",
            "a protocol of ours",
            "a word of ours",
            "broken",
            "exits",
            "any error",
            "exits when made",
            "no text as name",
            "no mechanism",
        ],
    )
    def test_are_refused_with_their_name(self, tmp_path, change, message):
        completed = run(install(tmp_path, **change), "mechanisms")
        assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")

    def test_one_that_exits_does_not_end_a_release_as_if_it_were_done(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
        release = ("release", "b.dat", "--top", 1, "--epsilon", 1, "--items", "public", "-o", "r.json")
        install(tmp_path, "raise SystemExit(0)\n")
        completed = run(tmp_path, *release)
        assert (completed.returncode, completed.stdout) == (1, "")
        assert (
            "The mechanism plain of the package stranger-mechanisms cannot be loaded (SystemExit: 0)"
            in completed.stderr
        )
        assert not (tmp_path / "r.json").exists()

    def test_one_that_exits_while_it_runs_does_not_hide_what_was_paid(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
        install(
            tmp_path, STRANGER.replace("def run(self, engine, problem, meter):", "def run(self, *_):\n        exit(0)")
        )
        assert run(tmp_path, "ledger", "create", "l.db", "--epsilon", 5).returncode == 0
        completed = run(
            tmp_path, "release", "b.dat", "--min-count", 70, "--epsilon", 1, "--items", "public",
            "--mechanism", "plain", "--ledger", "l.db", "-o", "r.json",
        )  # fmt: skip
        assert completed.returncode == 1
        last_line = completed.stderr.splitlines()[-1]
        begins = "discreet: Code of another package exited with 0 in the middle of this command. There is no result. "
        assert last_line.startswith(begins)
        assert "l.db" in last_line.removeprefix(begins)  # the receipt

    def test_one_whose_registration_cannot_be_read_is_named(self, tmp_path):
        install(tmp_path, value="stranger:Plain\n=\nplain")
        completed = run(tmp_path, "mechanisms")
        assert (completed.returncode, completed.stdout) == (1, "")
        assert completed.stderr.startswith(
            "discreet: What the package stranger-mechanisms registers cannot be read (TypeError: "
        )


class TestOtherPackagesOnTheLocalSide:
    def test_a_protocol_is_listed_and_used_like_ours(self, tmp_path):
        install(tmp_path, ASKING_CODE, group="discreet.protocols")
        document = json.loads(run(tmp_path, "mechanisms", "plain", "--format", "json").stdout)
        assert [(record["kind"], record["model"], record["package"]) for record in document] == [
            ("protocol", "local", "stranger-mechanisms")
        ]
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 500)
        completed = run(
            tmp_path, "simulate", "b.dat", "--protocol", "plain", "--top", 1, "--epsilon", 8, "--seed", 1,
            "--format", "json", "--set", "candidates=3",
        )  # fmt: skip
        assert completed.returncode == 0, completed.stderr
        outcome = json.loads(completed.stdout)
        assert (outcome["protocol"], outcome["patterns"][0]["items"]) == ("plain", [1])
        assert outcome["settings"]["candidates"] == 3
        assert run(tmp_path, "audit", "plain", "--runs", 20).returncode == 0

    def test_an_oracle_is_listed_and_audited_like_ours(self, tmp_path):
        install(tmp_path, ASKING_CODE, value="stranger:PlainOracle", group="discreet.oracles")
        document = json.loads(run(tmp_path, "mechanisms", "--kind", "oracle", "--format", "json").stdout)
        assert "plain" in [record["name"] for record in document]
        completed = run(tmp_path, "audit", "plain", "--runs", 20)
        assert completed.returncode == 0, completed.stderr

    def test_an_oracle_is_one_file_and_one_page(self, tmp_path):
        install(tmp_path, TWO_BITS_CODE, value="stranger:Two", group="discreet.oracles")
        completed = run(tmp_path, "audit", "plain", "--runs", 200, "--format", "json")
        assert completed.returncode == 0, completed.stderr
        enumerated, _ = json.loads(completed.stdout)["attempts"]
        assert (enumerated["means"], enumerated["loss"]) == ("exact", pytest.approx(1))
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 500)
        completed = run(
            tmp_path, "simulate", "b.dat", "--protocol", "svim", "--top", 1, "--epsilon", 8, "--seed", 1,
            "--format", "json", "--set", "oracle=plain", "--set", "candidates=2",
        )  # fmt: skip
        assert completed.returncode == 0, completed.stderr
        document = json.loads(completed.stdout)
        assert "plain" in {round_record["oracle"] for round_record in document["rounds"]}
        assert document["patterns"][0]["items"] == [1]
        code = (
            "from fractions import Fraction; from discreet.local import client; "
            "from discreet.local.study._conversation import Ask, PeopleGroup; "
            "from discreet.local.study._questions import CandidateList, CandidateQuestion; "
            "ask = Ask.of('', PeopleGroup(0, 2**32), CandidateQuestion(CandidateList(2)), 'plain', Fraction(1)); "
            "print(client(ask.form, [1], max_epsilon=1))"
        )
        completed = program(tmp_path, code)
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout.startswith('b\'{"bits":[')

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"value": "stranger:Plain", "group": "discreet.oracles"},
                "stranger:Plain of the package stranger-mechanisms is no oracle: discreet.oracles takes subclasses of "
                "Oracle or MeanOracle with a name. Mend or uninstall that package.",
            ),
            (
                {"value": "nowhere:Plain", "group": "discreet.protocols"},
                "The protocol plain of the package stranger-mechanisms cannot be loaded (ModuleNotFoundError: No "
                "module named 'nowhere'): mend or uninstall that package.",
            ),
            (
                {"code": ASKING_CODE.replace('"plain"\n', '"count"\n', 1), "group": "discreet.protocols"},
                "There are a mechanism and a protocol called count, one of the package discreet and one of "
                "stranger-mechanisms: rename one, or uninstall its package.",
            ),
        ],
        ids=["no oracle", "broken", "duplicate"],
    )
    def test_are_refused_with_their_name(self, tmp_path, change, message):
        completed = run(install(tmp_path, **{"code": ASKING_CODE, **change}), "mechanisms")
        assert (completed.returncode, completed.stdout, completed.stderr) == (1, "", f"discreet: {message}\n")


class TestNothingUnprovenIsRun:
    """By no route: not by name, and not as an object."""

    def test_a_protocol_or_its_oracle_by_name(self, tmp_path):
        # Each of these ran what the list of mechanisms says is not run.
        oracle = TWO_BITS_CODE.replace('= "plain"', '= "bare"').replace("class Two", "class Bare")
        install(tmp_path, ASKING_CODE + oracle, group="discreet.protocols", proof=False)
        with (tmp_path / "stranger_mechanisms-1.0.dist-info" / "entry_points.txt").open("a") as points:
            points.write("[discreet.oracles]\nbare = stranger:Bare\n")
        code = """
import discreet
from discreet import registry

shop = discreet.read([{"tea"}] * 50)
for route in (
    lambda: discreet.simulate(shop, "plain", top=1, epsilon=1, seed=1),
    lambda: discreet.simulate(shop, "svim", top=1, epsilon=1, seed=1, settings={"oracle": "bare"}),
    lambda: discreet.plan(people=50, items=2, top=1, epsilon=1, names=["plain"]),
    lambda: discreet.audit("plain"),
    lambda: discreet.audit("bare"),
    lambda: discreet.audit(registry.oracles()["bare"].kind),
    lambda: discreet.simulate(shop, registry.protocols()["plain"].kind(), top=1, epsilon=1, seed=1),
):
    try:
        print(route())
    except discreet.MisuseError as refused:
        print(str(refused).split(":")[0])
"""
        completed = program(tmp_path, code)
        assert completed.returncode == 0, completed.stderr
        plain, bare = (
            f"The {entry_kind} of the package {{}} has no proof page"
            for entry_kind in ("protocol plain", "oracle bare")
        )
        theirs, its_module = "stranger-mechanisms", "stranger"
        assert completed.stdout.splitlines() == [
            plain.format(theirs),
            bare.format(theirs),
            plain.format(theirs),
            plain.format(theirs),
            bare.format(theirs),
            bare.format(its_module),
            plain.format(its_module),
        ]

    def test_an_object(self):
        @dataclass(frozen=True, kw_only=True)
        class Hasty(Exponential):
            name: ClassVar[str] = "hasty"

        shop, question = [{"tea"}] * 50, {"top": 1, "epsilon": 1, "items": ["tea"]}
        message = (
            f"The mechanism hasty of the package {__name__.partition('.')[0]} has no proof page: say which one in its "
            "attribute proof. To try it on known data, with seeded noise and marked as simulated: "
            "discreet.planning._trial.trial."
        )
        for route in (lambda: discreet.release(shop, mechanism=Hasty(), **question), lambda: discreet.audit(Hasty())):
            with pytest.raises(MisuseError) as caught:
                route()
            assert str(caught.value) == message
        assert trial(shop, seed=1, mechanism=Hasty(), **question).simulated

    def test_a_page_of_the_parent_says_nothing(self):
        @dataclass(frozen=True, kw_only=True)
        class Proven(Exponential):
            name: ClassVar[str] = "proven"
            proof: ClassVar[str] = "proven.md"

        class Derived(Proven):
            pass

        with pytest.raises(MisuseError, match="say which one in its attribute proof; the one it inherits is about"):
            discreet.release([{"tea"}], top=1, epsilon=1, items=["tea"], mechanism=Derived())
        with pytest.raises(MisuseError, match=r"has no proof page: proven\.md has to lie beside it"):
            discreet.release([{"tea"}], top=1, epsilon=1, items=["tea"], mechanism=Proven())

    def test_what_is_no_mechanism_at_all(self):
        with pytest.raises(MisuseError) as caught:
            discreet.audit(3)
        assert str(caught.value) == (
            "A mechanism, protocol or class of oracles is audited, or the name of one, such as 'exponential'; 3 was "
            "given."
        )
        with pytest.raises(MisuseError) as caught:
            protocol(3)
        assert str(caught.value) == (
            "protocol is one of the names that discreet.registry.protocols() lists, such as 'adept'; 3 was given."
        )
