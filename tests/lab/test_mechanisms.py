"""Every mechanism runs on the data sets of the papers, from Python and from the command line."""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import discreet
from discreet.cli import main
from discreet.registry import mechanisms
from discreet_lab.data.datasets import DATA_SETS, load, path

NAMES = sorted(mechanisms())
DATA = ["retail", "mushroom", "T10I4D100K", "BMS-POS_275k", "kosarak_100k"]
# A threshold that a few dozen patterns pass on each, so that a run takes a second.
OFTEN = {"retail": 4_000, "mushroom": 6_000, "T10I4D100K": 4_000, "BMS-POS_275k": 30_000, "kosarak_100k": 8_000}


@cache
def baskets(name: str) -> discreet.Baskets:
    return load(name)


def need(name: str) -> str:
    """Skip where a data set is not at hand; in CI it must be."""
    try:
        return str(path(name))
    except discreet.InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


def question(mechanism: str, data: str) -> dict[str, Any]:
    kind = mechanisms()[mechanism].kind
    public = {"epsilon": 1, "delta": "1e-6" if kind.delta else 0}
    if "itemsets" in kind.answers:
        return public
    stop_rule = {"top": 10} if "top" in kind.answers else {"min_count": OFTEN[data]}
    return {**public, **stop_rule, "mechanism": mechanism, "items": "public", "people": DATA_SETS[data].people}


def check(patterns: discreet.Patterns, epsilon: Any, question: dict[str, Any], common: frozenset[Any]) -> None:
    """Assert that it is a release, and that it found what stands out.

    The item that most people hold lies over the tenth pattern, or over the threshold, by more than twenty times the
    scale of any noise here: it is missed less than once in a million runs.
    """
    assert epsilon == question["epsilon"]
    assert 0 < len(patterns) <= question.get("top", 10**4)
    assert common in patterns.to_dict()


@pytest.mark.parametrize("mechanism", NAMES)
@pytest.mark.parametrize("data", DATA)
def test_from_python(data, mechanism):
    need(data)
    data_baskets, release_question = baskets(data), question(mechanism, data)
    (first_pattern,) = discreet.mine(data_baskets, top=1, lengths=1)
    release = (
        discreet.release(data_baskets, **release_question)
        if "mechanism" in release_question
        else discreet.count(data_baskets, [first_pattern.items], **release_question)
    )
    check(release.patterns, release.guarantee.epsilon, release_question, first_pattern.items)


def turns():
    """Each mechanism on one of the data sets, in turn; `make soak` has all pairs."""
    for place, mechanism in enumerate(NAMES):
        for number, data in enumerate(DATA):
            yield pytest.param(data, mechanism, marks=[] if place % len(DATA) == number else pytest.mark.slow)


@pytest.mark.parametrize(("data", "mechanism"), [*turns()])
def test_from_the_command_line(data, mechanism, tmp_path, monkeypatch, capsys):
    file, release_question = need(data), question(mechanism, data)
    (first_pattern,) = discreet.mine(baskets(data), top=1, lengths=1)
    command = ["release"]
    if "mechanism" not in release_question:
        (tmp_path / "wanted.dat").write_text(" ".join(map(str, first_pattern.items)) + "\n")
        command = ["count", "--itemsets", str(tmp_path / "wanted.dat")]
    for word, value in release_question.items():
        command += [f"--{word.replace('_', '-')}", str(value)]
    output_path = tmp_path / "patterns.json"
    monkeypatch.setattr(sys, "argv", ["discreet", *command, file, "-o", str(output_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None), capsys.readouterr().err
    epsilon = Fraction(json.loads(output_path.read_text())["guarantee"]["epsilon"])
    check(discreet.load(output_path), epsilon, release_question, first_pattern.items)
