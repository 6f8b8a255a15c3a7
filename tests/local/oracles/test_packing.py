"""Reports as words: the golden vectors, and back and forth for all that devices send."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import MisuseError
from discreet.local import SimulatedAnswers
from discreet.local.oracle_steps import flatten_report, means, oracles
from naive import wire
from vectors.make import LIVE
from vectors.make_studies import packed_oracles
from vectors.reading import cases

BY_FORM = {json.dumps(oracle.form): oracle for oracle in packed_oracles()}


def test_every_oracle_that_devices_answer_for_is_packed():
    assert {oracle.name for oracle in packed_oracles()} == {*LIVE, *means()}
    for name in ("oue", "hr"):
        with pytest.raises(MisuseError, match=f"No device answers through {name}"):
            _ = oracles()[name].make(Fraction(1), 10).codec.width


@pytest.mark.parametrize("case", cases("packed"), ids=lambda case: case["oracle"]["oracle"])
def test_vectors(case):
    oracle = BY_FORM[json.dumps(case["oracle"])]
    words = np.array([case["words"]], np.uint32)
    assert words.shape[1] == oracle.codec.width
    assert oracle.codec.find_good_rows(words).tolist() == ["refused" not in case]
    columns = oracle.codec.unpack(words)
    if "refused" in case:
        # What is no report as words is none as JSON either; a third kind beside points and signs cannot be written.
        assert oracle.codec.find_flaw(oracle.codec.make_report(columns, 0)) or case["words"] == [2, 0]
        return
    assert json.dumps(oracle.codec.make_report(columns, 0), separators=(",", ":")) == case["report"]
    assert oracle.codec.pack(oracle.codec.read_reports([case["report"].encode()]).columns).tolist() == [case["words"]]
    assert flatten_report(json.loads(case["report"])) == case["words"]


@pytest.mark.parametrize("case", cases("packed"), ids=lambda case: case["oracle"]["oracle"])
def test_words_written_from_the_page_are_the_same(case):
    report = wire.of_words(case["oracle"], case["words"])
    assert (report is None) is ("refused" in case)
    if report is not None:
        assert wire.render_report(report) == case["report"]
        assert wire.in_words(case["oracle"], json.loads(case["report"])) == case["words"]


def test_the_page_has_the_words_of_every_oracle():
    page = (Path(__file__).parents[3] / "docs" / "wire.md").read_text()
    table = page.split("| oracle | words |")[1].split("\n\n")[0].splitlines()[2:]
    documented_words = {name.strip(" `"): words for name, words in (row.split("|")[1:3] for row in table)}
    for oracle in packed_oracles():
        name = oracle.name if getattr(oracle, "seeds", None) is None else f"{oracle.name}` with `seeds"
        word_text = next(words for names, words in documented_words.items() if name in names.split("`, `"))
        if oracle.name in ("subset", "privset"):
            assert "`many` words" in word_text
        elif oracle.name == "hm":
            assert "0 and the sign, or 1 and the point" in word_text
        else:
            assert len(word_text.split(",")) == oracle.codec.width, name


@pytest.mark.parametrize("oracle", packed_oracles(), ids=lambda oracle: oracle.name)
def test_what_is_packed_adds_up_to_the_same(oracle):
    people = 50
    answered = SimulatedAnswers(
        offsets=np.arange(people + 1), values=np.arange(people, dtype=np.int32) % oracle.size, people=np.arange(people)
    )
    columns = oracle.reports(answered, 7)
    words = oracle.codec.pack(columns)
    assert (words.dtype, words.shape) == (np.uint32, (people, oracle.codec.width))
    assert oracle.codec.find_good_rows(words).all()
    columns_again = oracle.codec.unpack(words)
    assert {name: column.dtype for name, column in columns_again.items()} == {
        name: column.dtype for name, column in columns.items()
    }
    assert oracle.supports(columns_again).tolist() == oracle.supports(columns).tolist()
    assert oracle.codec.pack(columns_again).tolist() == words.tolist()


def test_another_width_is_another_oracle_s():
    oracle = oracles()["olh"].make(Fraction(1), 10)
    with pytest.raises(MisuseError) as error:
        oracle.codec.find_good_rows(np.zeros((4, 2), np.uint32))
    assert str(error.value) == "A report of olh has 3 words; (4, 2) were given."
