"""The registry: what it finds, what it refuses, and mechanisms of other packages."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import pytest

import discreet
import running
from discreet import MisuseError
from discreet.curator import mechanisms as ours
from discreet.curator.mechanisms.exponential import Exponential
from discreet.lab.run.trial import trial
from discreet.local import protocols as protocol_room
from discreet.local.device.client import ANSWERS
from discreet.local.device.loss import LOSSES
from discreet.local.oracle import EVERY_ANSWER, EVERY_LOSS
from discreet.local.oracle_steps import choice
from discreet.registry import entry, everything, mechanism, mechanisms, oracles, protocol, protocols

# A mechanism as somebody else would write it: everyone's count of each single item, with noise.
STRANGER = '''
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.curator.mechanism import Found, Mechanism
from discreet.exact.query import Supports
from discreet.results.itemsets import Itemsets


@dataclass(frozen=True, kw_only=True)
class Plain(Mechanism):
    """Settings of `plain`."""

    shift: int = 0

    name: ClassVar[str] = "plain"
    summary: ClassVar[str] = "Counts every item with noise."
    citation: ClassVar[str] = "Nobody. Nothing. Nowhere 2026."
    answers: ClassVar[tuple[str, ...]] = ("threshold",)
    proof: ClassVar[str] = "plain.md"

    def plan(self, asked):
        return [("counting the items", Fraction(1))]

    def run(self, engine, asked, meter):
        every = Itemsets.of([(item,) for item in range(asked.items)])
        noisy = meter.count("counting the items", engine, Supports(every), Fraction(1))
        kept = np.flatnonzero(noisy.values >= asked.count)
        values = noisy.values[kept] + float(self.shift)
        return Found(
            itemsets=every.take(kept), estimates=values, low=values - noisy.margin(), high=values + noisy.margin()
        )
'''


# Derived from one that has a page, which says nothing about this one.
HASTY = (
    STRANGER.replace("class Plain", "class Careful")
    + '''

@dataclass(frozen=True, kw_only=True)
class Plain(Careful):
    """Settings of `plain`."""
'''
)


# A protocol and an oracle of somebody else: ours under another name.
ASKING = """
from dataclasses import dataclass
from typing import ClassVar

from discreet.local.device.client import ANSWERS
from discreet.local.device.loss import LOSSES
from discreet.local.oracles.grr import GRR
from discreet.local.protocols.svim import SVIM


@dataclass(frozen=True, kw_only=True)
class Plain(SVIM):
    name: ClassVar[str] = "plain"
    proof: ClassVar[str] = "plain.md"


@dataclass(frozen=True, kw_only=True)
class PlainOracle(GRR):
    name: ClassVar[str] = "plain"
    proof: ClassVar[str] = "plain.md"
    answer = staticmethod(ANSWERS["grr"])
    loss = LOSSES["grr"]
"""

# An oracle of somebody else that has nothing of ours: two bits for at most two candidates, each told wrong at times.
TWO = """
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import MisuseError
from discreet.local.device.loss import Loss
from discreet.local.oracle import SetValued, chance, grown


def _answer(oracle, values, draws):
    mine = draws.some(oracle["pad"], values)
    return {"bits": [int(draws.chance(oracle["keep"]) == (value in mine)) for value in range(oracle["size"])]}


def _loss(oracle):
    return Fraction(oracle["keep"], 2**32 - oracle["keep"]) ** oracle["size"]


@dataclass(frozen=True, kw_only=True)
class Two(SetValued):
    keep: int

    name: ClassVar[str] = "plain"
    summary: ClassVar[str] = "two bits"
    citation: ClassVar[str] = "Nobody."
    proof: ClassVar[str] = "plain.md"
    answer = staticmethod(_answer)
    loss = Loss(_loss, "size pad dummies keep", largest=3)

    @classmethod
    def make(cls, epsilon, size, *, pad=1, single=False):
        if size > 2:
            raise MisuseError("plain is for two candidates.")
        growth = grown(epsilon / 2)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=chance(growth / (growth + 1)))

    @property
    def numbers(self):
        return {"keep": self.keep}

    @property
    def dummies(self):
        return 0 if self.single else 1

    @property
    def p_held(self):
        return Fraction(self.keep, 2**32)

    @property
    def p_other(self):
        return 1 - self.p_held

    @property
    def bits(self):
        return self.size

    def supports(self, columns):
        return columns["bits"].sum(0)

    def written(self, columns, row):
        return {"bits": columns["bits"][row].tolist()}

    def flaw(self, report):
        bits = report.get("bits") if isinstance(report, dict) else None
        good = isinstance(bits, list) and len(bits) == self.size and all(bit in (0, 1) for bit in bits)
        return "" if good else "it has no bit for each candidate"

    def columns(self, reports):
        return {"bits": np.array([report["bits"] for report in reports], np.int64).reshape(-1, self.size)}
"""


def install(
    folder: Path,
    code: str = STRANGER,
    *,
    value: str = "stranger:Plain",
    proof: bool = True,
    group: str = "discreet.mechanisms",
) -> Path:
    """Put a distribution into a folder as an installer would: a module, a page, and what the package registers."""
    (folder / "stranger.py").write_text(code)
    if proof:
        (folder / "plain.md").write_text("# plain\n")
    about = folder / "stranger_mechanisms-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger-mechanisms\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\nplain = {value}\n")
    return folder


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Let this process find the distribution of a folder, and forget all of it afterwards."""
    tables = (ANSWERS, LOSSES, EVERY_ANSWER.maps[1], EVERY_LOSS.maps[1])
    before = [dict(table) for table in tables]
    forget()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for table, kept in zip(tables, before, strict=True):
            table.clear()
            table.update(kept)
        forget()


def forget() -> None:
    """Drop what the registry and the interpreter know of a package."""
    sys.modules.pop("stranger", None)
    for known in (mechanisms, protocols, oracles, choice.oracles, choice.means):
        known.cache_clear()


def run(folder: Path, *command: object) -> running.Done:
    """Run the command line where the distribution of a folder is installed."""
    with installed(folder):
        return running.run(*command, cwd=folder)


def program(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own there."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)


class TestOtherPackages:
    def test_are_listed_and_used_like_ours(self, tmp_path):
        install(tmp_path)
        told = json.loads(run(tmp_path, "mechanisms", "--format", "json").stdout)
        (entry,) = (one for one in told if one["name"] == "plain")
        assert entry["package"] == "stranger-mechanisms"
        assert entry["answers"] == ["threshold"]
        assert entry["settings"] == {"shift": 0}
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
        done = run(
            tmp_path, "release", "b.dat", "--min-count", 70, "--epsilon", 1000, "--really",
            "--items", "public",
            "--mechanism", "plain", "--set", "shift=5", "--format", "json",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert [(one["items"], one["count"]) for one in found["patterns"]] == [([1], 105)]
        assert found["guarantee"]["epsilon"] == "1000"
        code = (
            "import discreet; print(discreet.mechanisms()['plain'].proof.name, discreet.mechanisms()['auto'].package)"
        )
        assert program(tmp_path, code).stdout == "plain.md discreet\n"

    def test_stand_the_audit(self, tmp_path):
        done = run(install(tmp_path), "audit", "plain", "--epsilon", 1)
        assert done.returncode == 0, done.stderr

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
                {"proof": False, "code": ASKING, "group": "discreet.protocols"},
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
            done = run(tmp_path, *command)
            assert (done.returncode, done.stdout, done.stderr) == (1, "", f"discreet: {message}\n")
        told = json.loads(run(tmp_path, "mechanisms", "--format", "json").stdout)
        (listed,) = (one for one in told if one["name"] == "plain")
        assert (listed["proof"], listed["summary"]) == (None, f"{message} It is not run.")
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
                {"code": ASKING.replace('"plain"\n', '"svsm"\n', 1), "group": "discreet.protocols"},
                "There are two protocols called svsm, one of the package discreet and one of stranger-mechanisms: "
                "rename one, or uninstall its package.",
            ),
            (
                {
                    "code": TWO.replace('= "plain"', '= "adaptive"'),
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
        done = run(install(tmp_path, **change), "mechanisms")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"discreet: {message}\n")

    def test_one_that_exits_does_not_end_a_release_as_if_it_were_done(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
        release = ("release", "b.dat", "--top", 1, "--epsilon", 1, "--items", "public", "-o", "r.json")
        install(tmp_path, "raise SystemExit(0)\n")
        done = run(tmp_path, *release)
        assert (done.returncode, done.stdout) == (1, "")
        assert "The mechanism plain of the package stranger-mechanisms cannot be loaded (SystemExit: 0)" in done.stderr
        assert not (tmp_path / "r.json").exists()

    def test_one_that_exits_while_it_runs_does_not_hide_what_was_paid(self, tmp_path):
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 50)
        install(
            tmp_path, STRANGER.replace("def run(self, engine, asked, meter):", "def run(self, *_):\n        exit(0)")
        )
        assert run(tmp_path, "ledger", "create", "l.db", "--epsilon", 5).returncode == 0
        done = run(
            tmp_path, "release", "b.dat", "--min-count", 70, "--epsilon", 1, "--items", "public",
            "--mechanism", "plain", "--ledger", "l.db", "-o", "r.json",
        )  # fmt: skip
        assert done.returncode == 1
        told = done.stderr.splitlines()[-1]
        begins = "discreet: Code of another package exited with 0 in the middle of this command. There is no result. "
        assert told.startswith(begins)
        assert "l.db" in told.removeprefix(begins)  # the receipt

    def test_one_whose_registration_cannot_be_read_is_named(self, tmp_path):
        install(tmp_path, value="stranger:Plain\n=\nplain")
        done = run(tmp_path, "mechanisms")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(
            "discreet: What the package stranger-mechanisms registers cannot be read (TypeError: "
        )


class TestOtherPackagesOnTheLocalSide:
    def test_a_protocol_is_listed_and_used_like_ours(self, tmp_path):
        install(tmp_path, ASKING, group="discreet.protocols")
        told = json.loads(run(tmp_path, "mechanisms", "plain", "--format", "json").stdout)
        assert [(one["kind"], one["model"], one["package"]) for one in told] == [
            ("protocol", "local", "stranger-mechanisms")
        ]
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 500)
        done = run(
            tmp_path, "simulate", "b.dat", "--protocol", "plain", "--top", 1, "--epsilon", 8, "--seed", 1,
            "--format", "json", "--set", "candidates=3",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["protocol"], found["patterns"][0]["items"]) == ("plain", [1])
        assert found["settings"]["candidates"] == 3
        assert run(tmp_path, "audit", "plain", "--runs", 20).returncode == 0

    def test_an_oracle_is_listed_and_audited_like_ours(self, tmp_path):
        install(tmp_path, ASKING, value="stranger:PlainOracle", group="discreet.oracles")
        told = json.loads(run(tmp_path, "mechanisms", "--kind", "oracle", "--format", "json").stdout)
        assert "plain" in [one["name"] for one in told]
        done = run(tmp_path, "audit", "plain", "--runs", 20)
        assert done.returncode == 0, done.stderr

    def test_an_oracle_is_one_file_and_one_page(self, tmp_path):
        install(tmp_path, TWO, value="stranger:Two", group="discreet.oracles")
        done = run(tmp_path, "audit", "plain", "--runs", 200, "--format", "json")
        assert done.returncode == 0, done.stderr
        enumerated, _ = json.loads(done.stdout)["attempts"]
        assert (enumerated["means"], enumerated["loss"]) == ("exact", pytest.approx(1))
        (tmp_path / "b.dat").write_text("1 2\n1\n" * 500)
        done = run(
            tmp_path, "simulate", "b.dat", "--protocol", "svim", "--top", 1, "--epsilon", 8, "--seed", 1,
            "--format", "json", "--set", "oracle=plain", "--set", "candidates=2",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert "plain" in {one["oracle"] for one in found["rounds"]}
        assert found["patterns"][0]["items"] == [1]
        code = (
            "from fractions import Fraction; from discreet.local import client; "
            "from discreet.local.study.conversation import Ask, Who; "
            "from discreet.local.study.questions import CandidateList, Which; "
            "ask = Ask.of('', Who(0, 2**32), Which(CandidateList(2)), 'plain', Fraction(1)); "
            "print(client(ask.form, [1], max_epsilon=1))"
        )
        done = program(tmp_path, code)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith('b\'{"bits":[')

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
                {"code": ASKING.replace('"plain"\n', '"count"\n', 1), "group": "discreet.protocols"},
                "There are a mechanism and a protocol called count, one of the package discreet and one of "
                "stranger-mechanisms: rename one, or uninstall its package.",
            ),
        ],
        ids=["no oracle", "broken", "duplicate"],
    )
    def test_are_refused_with_their_name(self, tmp_path, change, message):
        done = run(install(tmp_path, **{"code": ASKING, **change}), "mechanisms")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"discreet: {message}\n")


class TestNothingUnprovenIsRun:
    """By no route: not by name, and not as an object."""

    def test_a_protocol_or_its_oracle_by_name(self, tmp_path):
        # Each of these ran what the list of mechanisms says is not run.
        oracle = TWO.replace('= "plain"', '= "bare"').replace("class Two", "class Bare")
        install(tmp_path, ASKING + oracle, group="discreet.protocols", proof=False)
        with (tmp_path / "stranger_mechanisms-1.0.dist-info" / "entry_points.txt").open("a") as points:
            points.write("[discreet.oracles]\nbare = stranger:Bare\n")
        code = """
import discreet
from discreet import registry
from discreet.lab.measure.noise_free import learn_without_noise

shop = discreet.read([{"tea"}] * 50)
for route in (
    lambda: discreet.simulate(shop, "plain", top=1, epsilon=1, seed=1),
    lambda: discreet.simulate(shop, "svim", top=1, epsilon=1, seed=1, settings={"oracle": "bare"}),
    lambda: learn_without_noise(shop, "plain", top=1, epsilon=1, seed=1),
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
        done = program(tmp_path, code)
        assert done.returncode == 0, done.stderr
        plain, bare = (
            f"The {what} of the package {{}} has no proof page" for what in ("protocol plain", "oracle bare")
        )
        theirs, its_module = "stranger-mechanisms", "stranger"
        assert done.stdout.splitlines() == [
            plain.format(theirs),
            bare.format(theirs),
            plain.format(theirs),
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

        shop, asked = [{"tea"}] * 50, {"top": 1, "epsilon": 1, "items": ["tea"]}
        message = (
            f"The mechanism hasty of the package {__name__.partition('.')[0]} has no proof page: say which one in its "
            "attribute proof. To try it on known data, with seeded noise and marked as simulated: "
            "discreet.lab.run.trial.trial."
        )
        for route in (lambda: discreet.release(shop, mechanism=Hasty(), **asked), lambda: discreet.audit(Hasty())):
            with pytest.raises(MisuseError) as caught:
                route()
            assert str(caught.value) == message
        assert trial(shop, seed=1, mechanism=Hasty(), **asked).simulated

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


def test_a_protocol_of_ours_is_refused_without_its_page(tmp_path, monkeypatch):
    (tmp_path / "plain_one.py").write_text(ASKING)
    monkeypatch.setattr(protocol_room, "__path__", [*protocol_room.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "discreet.local.protocols.plain_one", raising=False)
    with pytest.raises(MisuseError) as caught:
        protocols.__wrapped__()["plain"].make()
    assert str(caught.value) == (
        "The protocol plain of the package discreet has no proof page: plain-one.md has to lie beside it."
    )
    # A variant may share the page of its file, and may have its own.
    (tmp_path / "plain-one.md").write_text("# plain one\n")
    assert protocols.__wrapped__()["plain"].proof == tmp_path / "plain-one.md"
    (tmp_path / "plain.md").write_text("# plain\n")
    assert protocols.__wrapped__()["plain"].proof == tmp_path / "plain.md"
    monkeypatch.delattr(protocol_room, "plain_one", raising=False)
    monkeypatch.delitem(sys.modules, "discreet.local.protocols.plain_one", raising=False)
    ANSWERS.pop("plain", None)
    LOSSES.pop("plain", None)


def test_everything_has_one_name():
    assert set(everything()) == {*mechanisms(), *protocols(), *oracles()}
    assert {entry(name).what for name in ("auto", "svsm", "olh")} == {"mechanism", "protocol", "oracle"}
    for one in [*protocols().values(), *oracles().values()]:
        assert one.model == "local"
        assert one.guarantee == ("epsilon" if one.kind.live else "epsilon, simulated only")
        assert one.summary
        assert one.citation
        assert one.proof.is_file()
    assert entry("svsm").settings["shares"] == ("0.5", "0.1", "0.4")
    assert entry("olh").settings == {}
    assert [entry(name).answers for name in ("svsm", "olh", "pm")] == [("top",), ("frequencies",), ("mean",)]
    assert protocol("svim", {"candidates": "3"}).candidates == 3
    with pytest.raises(MisuseError) as caught:
        entry("olh").make()
    assert str(caught.value) == "olh is an oracle: it is made for one question, by its class."
    with pytest.raises(MisuseError) as caught:
        protocol("svims")
    assert str(caught.value) == (
        f"There is no protocol 'svims'; there are {', '.join(protocols())}. Did you mean 'svim'?"
    )


def test_one_of_ours_is_refused_without_its_page(tmp_path, monkeypatch):
    # As if a file had been added to the room of mechanisms.
    (tmp_path / "plain.py").write_text(STRANGER)
    monkeypatch.setattr(ours, "__path__", [*ours.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)
    with pytest.raises(MisuseError) as caught:
        mechanisms.__wrapped__()["plain"].make()
    assert str(caught.value) == (
        "The mechanism plain of the package discreet has no proof page: plain.md has to lie beside it."
    )
    (tmp_path / "plain.md").write_text("# plain\n")
    assert mechanisms.__wrapped__()["plain"].proof == tmp_path / "plain.md"
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)
    (tmp_path / "plain.py").write_text(STRANGER.replace('= "plain"', '= "rank-by-hand"'))
    (tmp_path / "rank-by-hand.md").write_text("# rank-by-hand\n")
    assert "rank-by-hand" in mechanisms.__wrapped__()
    monkeypatch.delattr(ours, "plain", raising=False)
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)


def test_every_entry_says_what_it_is():
    assert list(mechanisms()) == sorted(mechanisms())
    for name, one in mechanisms().items():
        assert one.name == name == one.make().name
        assert one.proof.name == f"{name}.md"
        assert not one.unproven
        assert one.model == "central"
        assert one.package == "discreet"
        assert set(one.answers) <= {"top", "threshold", "itemsets"}
        assert one.guarantee in ("epsilon", "(epsilon, delta)", "epsilon, delta optional")
        assert one.summary.endswith(".")
        assert one.citation.endswith(".")


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(MisuseError) as caught:
        mechanism("privbases")
    assert str(caught.value) == (
        f"There is no mechanism 'privbases'; there are {', '.join(mechanisms())}. Did you mean 'privbasis'?"
    )


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("exponential", {"floor": "0.25"}, Fraction(1, 4)),
        ("exponential", {"way": "gumbel"}, "gumbel"),
        ("truncated", {"smart": "off"}, False),
        ("truncated", {"longest": "3"}, 3),
        ("truncated", {"longest": "none"}, None),
        ("threshold", {"kept": 7}, 7),
    ],
)
def test_settings_may_be_typed(name, typed, value):
    (setting,) = typed
    assert getattr(mechanism(name, typed), setting) == value


@pytest.mark.parametrize(
    ("name", "typed", "message"),
    [
        ("count", {"kept": 1}, "count has no setting 'kept': it has none."),
        ("threshold", {"kept": "many"}, "the setting kept of threshold is a whole number; 'many' was given."),
        ("threshold", {"kept": True}, "the setting kept of threshold is a whole number; True was given."),
        ("truncated", {"smart": 2}, "the setting smart of truncated is on or off; 2 was given."),
    ],
)
def test_settings_that_cannot_be(name, typed, message):
    with pytest.raises(MisuseError) as caught:
        mechanism(name, typed)
    assert str(caught.value) == message
