"""The public module of authors: every name is there, the tutorials need no other, and its checks find mistakes."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
import shipping
import strangers
from discreet import plugins
from discreet.faces import read_stub
from discreet.local.oracles.grr import GRR
from discreet.local.protocols import SVIM
from discreet.plugins import (
    Ask,
    CandidateList,
    CandidateQuestion,
    Partition,
    Protocol,
    ProtocolResult,
    WholeField,
    check_oracle,
    check_protocol,
)
from discreet.registry import oracles

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"


def test_every_name_is_there_and_no_other():
    homes = read_stub(Path(plugins.__file__).with_suffix(".pyi"))
    assert sorted([*homes, "documents"]) == sorted(plugins.__all__) == sorted(dir(plugins))
    for name, (home, original) in homes.items():
        assert getattr(plugins, name) is getattr(importlib.import_module(home, "discreet"), original)
    with pytest.raises(AttributeError, match="has no attribute 'Mechanisms'"):
        plugins.Mechanisms  # noqa: B018


def test_the_page_has_every_name():
    page = (ROOT / "docs" / "api.md").read_text().partition("## Writing one's own")[2]
    assert {name for name in plugins.__all__ if f"`{name}`" in page or f"plugins.{name}\n" in page} == {
        *plugins.__all__
    }


@pytest.mark.parametrize("name", ["mechanism", "oracle", "protocol"])
def test_the_tutorials_import_nothing_private(name):
    """`unsealed` is what a careless mechanism breaks the seal with: no author is to find it in the public module."""
    text = (TUTORIALS / f"{name}.md").read_text()
    modules = set(re.findall(r"^(?:>>> )?(?:from|import) (discreet[\w.]*)", text, re.MULTILINE))
    careless = {"discreet.privacy", "discreet.baskets"} if name == "mechanism" else set()
    assert modules - careless <= {"discreet", "discreet.plugins"}


def test_the_documents_are_there():
    assert plugins.documents() == ROOT / "docs"
    assert {f"{name}.md" for name in ("mechanism", "oracle", "protocol")} <= {
        path.name for path in (plugins.documents() / "tutorials").iterdir()
    }


@pytest.mark.slow  # a wheel is built: some seconds
def test_a_wheel_brings_the_documents_along(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert shipping.documents() <= set(archive.namelist())
        archive.extractall(tmp_path / "site")
    code = "from discreet.plugins import documents; print(documents() / 'tutorials' / 'oracle.md')"
    site = tmp_path / "site"
    completed = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True, check=True)
    assert Path(completed.stdout.strip()) == site / "discreet" / "documents" / "tutorials" / "oracle.md"


@pytest.fixture
def forgotten():
    """What an oracle declares is known by its name from then on: forget it again."""
    with strangers.oracle_tables_kept():
        yield


@pytest.mark.parametrize("name", [name for name, oracle in oracles().items() if "mean" not in oracle.answers])
def test_ours_stand_the_check(name):
    """By chance one of an oracle's eight estimates is off by six deviations about once in 60 million."""
    check_oracle(oracles()[name].kind)


class Backwards(WholeField):
    """A field that is read in the wrong order."""

    def make_columns(self, values):
        return super().make_columns(values[::-1])


FLAWS = {
    "makes the report": {"reports": lambda self, answered, seed: GRR.reports(self, answered, seed + 1)},
    "its own reports are refused": {"fields": property(lambda self: (WholeField("value", 2),))},
    "is not read as it was": {"fields": property(lambda self: (Backwards("value", 8),))},
    "estimates from its reports": {"supports": lambda self, columns: GRR.supports(self, columns)[::-1]},
    "estimates from `sample_supports`": {"sample_supports": lambda self, *more: GRR.sample_supports(self, *more) + 200},
    "its loss states at most": {"longest_report": property(lambda self: 3)},
}


@pytest.mark.parametrize("message", FLAWS)
def test_an_oracle_that_does_not_what_it_has_to_is_found(forgotten, message):
    parts = {"name": "grr", "__module__": __name__, **FLAWS[message]}
    kind = dataclass(frozen=True, kw_only=True)(type("Flawed", (GRR,), parts))
    with pytest.raises(AssertionError, match=message):
        check_oracle(kind)


@dataclass(frozen=True, kw_only=True)
class OneQuestionProtocol(Protocol):
    """Asks everybody once."""

    wrong: str = "nothing"

    name = "once"
    summary = citation = "none"

    def check(self, parameters):
        pass

    def ask_rounds(self, parameters):
        line, question_form = Partition(), CandidateQuestion(CandidateList(items=parameters.items))
        share = Fraction(1, 2)
        epsilon = parameters.epsilon * (2 if self.wrong == "epsilon" else 1)
        estimate = yield Ask.of("all", line.next(share), question_form, "grr", epsilon)
        if self.wrong == "twice":
            yield Ask.of("again", estimate.ask.group, question_form, "grr", parameters.epsilon)
        value_slice = slice(0, 2 if self.wrong == "lengths" else None)
        itemsets = tuple((item,) for item in range(parameters.items))
        return ProtocolResult(itemsets=itemsets, values=estimate.values[value_slice], variance=estimate.variance)


class TestProtocols:
    def test_one_that_is_right_learns_the_truth(self):
        outcome = check_protocol(OneQuestionProtocol(), items=4, supports=[0.5, 0.25, 0.125, 0])
        assert outcome.values == pytest.approx([0.5, 0.25, 0.125, 0], abs=1e-5)
        assert check_protocol(SVIM(), items=30).itemsets[:3] == ((0,), (1,), (2,))

    @pytest.mark.parametrize(
        ("wrong", "error", "message"),
        [
            ("epsilon", ValueError, "asks for epsilon 4, and this device gives at most 2"),
            ("twice", discreet.MisuseError, "."),
            ("lengths", AssertionError, "once learnt 20 itemsets, 2 values and 20 variances"),
        ],
    )
    def test_one_that_is_wrong_is_found(self, wrong, error, message):
        with pytest.raises(error, match=message):
            check_protocol(OneQuestionProtocol(wrong=wrong))
