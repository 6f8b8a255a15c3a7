"""Wire format 1 is frozen: the golden vectors, against the device, the simulator and the collector's reading."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.local import SimulatedAnswers
from discreet.local.device import ANSWERS, LOSSES, Draws, client, find_values
from discreet.local.oracle_steps import means
from discreet.local.oracles import OLH
from discreet.local.study import seed_of
from naive import wire
from vectors import make
from vectors.reading import DECLARED_FOLDER, FOLDER, Bytes, asked_in, cases, failures, held_in

PAGE = Path(make.__file__).parents[2] / "docs" / "wire.md"
QUESTIONS = [
    *make.LIVE,
    "further",
    "related",
    "edges",
    "limits",
    "refused",
    "published",
    "texts",
    "flawed",
    "held",
    "spaced",
]
STUDIES = [
    "packed",
    "batches",
    "studies",
    "answers",
    "becoming",
    "signatures",
    "asked",
    "enrol",
    "measured",
]  # of what travels around questions; see test_study_texts


def test_every_oracle_of_the_format_has_its_vectors():
    assert {path.stem for path in FOLDER.iterdir()} == {*QUESTIONS, *means(), "chosen", *STUDIES}
    assert {*make.LIVE, *make.DECLARED, *means()} == set(ANSWERS) == set(LOSSES)
    assert {*make.LIVE, *means()} == {"grr", "olh", "subset", "privset", "wheel", "geometry", "duchi", "pm", "hm"}


def test_the_script_writes_what_is_there():
    assert make.files() == {path.name: path.read_text() for path in FOLDER.iterdir() if path.stem not in STUDIES}
    assert make.declared() == {path.name: path.read_text() for path in DECLARED_FOLDER.glob("*")}


@pytest.mark.parametrize("name", [*QUESTIONS, *make.DECLARED])
def test_devices_do_as_every_case_says(name):
    assert list(failures(client, [name])) == []


@pytest.mark.parametrize("name", [*make.LIVE, *make.DECLARED, "published"])
def test_the_simulator_makes_the_same_reports_and_the_collector_reads_them(name):
    asks = [ask.oracle for ask in (make.numbered() if name == "published" else make.questions(name))]
    if name == "olh":
        asks.append(OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100)))
    numbered_cases = iter(cases(name))
    for number, oracle in enumerate(asks):
        for basket in make.BASKETS:
            case = next(numbered_cases)
            assert case["question"]["oracle"] == oracle.form
            values = np.array(find_values(case["question"], basket), np.int32)
            answered = SimulatedAnswers(offsets=np.array([0, len(values)]), values=values, people=np.zeros(1, np.int64))
            columns = oracle.reports(answered, seed_of(1, f"{name} {number} {basket}"))
            report = oracle.codec.make_report(columns, 0)
            assert json.dumps(report, separators=(",", ":")) == case["report"]
            batch = oracle.codec.read_reports([case["report"].encode()])
            assert (batch.positions.tolist(), batch.refused) == ([0], ())
            assert {key: column.tolist() for key, column in batch.columns.items()} == {
                key: column.tolist() for key, column in columns.items()
            }
    assert name == "published" or next(numbered_cases, None) is None


@pytest.mark.parametrize("name", means())
def test_numbers(name):
    for case in cases(name):
        source = Bytes(case["random"])
        report = ANSWERS[name](case["oracle"], [case["number"]], Draws(source.take))
        assert json.dumps(report, separators=(",", ":")) == case["report"]
        assert source.left == b""
        words = wire.Words(bytes.fromhex(case["random"]))
        assert wire.render_report(wire.number(case["oracle"], case["number"], words)) == case["report"]
        assert words.data == b""


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_device_written_from_the_page_does_the_same(name):
    for case in cases(name):
        question, held_by_kind = (
            wire.read_question(asked_in(case), case.get("max_epsilon", "64"), case.get("max_delta", "0")),
            held_in(case),
        )
        is_for_other_data = question is not None and ("texts" in question) is not (
            "texts" in held_by_kind
        )  # than the device holds
        assert (question is None or is_for_other_data) is ("refused" in case), case.get("what")
        if "report" not in case:
            continue
        words = wire.Words(bytes.fromhex(case["random"]))
        held_pairs = [list(pair) for pair in held_by_kind.get(question.get("pairs"), [])]
        basket = held_by_kind.get("texts", held_by_kind.get("basket", []))
        assert wire.render_report(wire.device(question, basket, held_pairs, words)) == case["report"]
        assert words.data == b""


def test_some_words_of_the_vectors_are_drawn_again():
    """Without that, a device that takes any word would pass: its small numbers are likelier."""

    class CountingDraws(Draws):
        redrawn_words = 0

        def below(self, bound):
            before = len(source.left)
            position = super().below(bound)
            CountingDraws.redrawn_words += (before - len(source.left)) // 4 - (bound > 1)
            return position

    redrawn_counts = {}
    for case in cases("edges"):
        oracle, source, CountingDraws.redrawn_words = case["question"]["oracle"], Bytes(case["random"]), 0
        values = find_values(case["question"], case["basket"], map(tuple, case.get("given", [])))
        ANSWERS[oracle["oracle"]](oracle, values, CountingDraws(source.take))
        redrawn_counts[oracle["oracle"]] = redrawn_counts.get(oracle["oracle"], 0) + CountingDraws.redrawn_words
    assert all(redrawn_counts[name] > 5 for name in ("grr", "olh", "subset", "privset", "wheel"))


def test_whole_numbers_are_short():
    """Every number of a question and of a report that is answered is read exactly by languages with 53 bits."""

    def largest(value):
        if isinstance(value, dict | list):
            return max(map(largest, value.values() if isinstance(value, dict) else value), default=0)
        return abs(value) if isinstance(value, int) else 0

    for name in QUESTIONS:
        for case in cases(name):
            if "report" in case:
                assert largest(case.get("question")) < 1 << 53
                assert largest(json.loads(case["report"])) <= 1 << 32


def test_the_page_names_every_oracle_and_its_example_is_a_question():
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in (*make.LIVE, *means()))
    client(json.loads(text.split("```json")[1].split("```")[0]), [1], max_epsilon="1/2")


def test_the_page_has_the_fields_of_every_oracle():
    """As the device checks them: exactly these, and some that may be there; and an example of the nested one."""
    section = PAGE.read_text().partition("### The fields of an oracle")[2].partition("## What a device refuses")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+?) \| (.*?) ?\|$", section, re.MULTILINE)
    fields = {
        name: tuple(frozenset(re.findall("`(.+?)`", column)) for column in columns)
        for names, *columns in rows
        for name in re.findall("`(.+?)`", names)
    }
    assert fields == {name: (LOSSES[name].numbers, LOSSES[name].optional) for name in (*make.LIVE, *means())}
    example = json.loads(section.split("```json")[1].split("```")[0])
    assert example == means()["hm"].make(Fraction(1), 8).form


@pytest.mark.parametrize("case", cases("refused"), ids=lambda case: case["what"])
def test_bad_questions_are_refused_whatever_is_held(case):
    for basket in ([], [1], list(range(80))):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            client(asked_in(case), basket, max_epsilon=case.get("max_epsilon", 64))
        assert str(error.value) == case["refused"]
