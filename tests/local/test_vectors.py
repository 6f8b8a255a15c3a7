"""Wire format 1 is frozen: the golden vectors, against the device, the simulator and the collector's reading."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.local.client import ANSWERS, client
from discreet.local.draws import Draws
from discreet.local.holding import held
from discreet.local.oracles.known import means, oracles
from discreet.local.oracles.olh import OLH
from discreet.local.oracles.oracle import Answered
from discreet.local.stream import seed_of
from naive import wire
from vectors import make

FOLDER = Path(make.__file__).parent / "v1"
PAGE = Path(make.__file__).parents[2] / "docs" / "wire.md"
FREQUENCIES = [name for name in oracles() if (FOLDER / f"{name}.json").exists()]


def cases(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


class Bytes:
    """Given bytes, all of which must be used."""

    def __init__(self, text):
        self.left = bytes.fromhex(text)

    def take(self, count):
        assert count <= len(self.left)
        taken, self.left = self.left[:count], self.left[count:]
        return taken


def test_every_oracle_has_its_vectors():
    assert {path.stem for path in FOLDER.iterdir()} == {*oracles(), *means(), "further", "related", "refused"}


def test_the_script_writes_what_is_there():
    assert make.files() == {path.name: path.read_text() for path in FOLDER.iterdir()}


@pytest.mark.parametrize("name", FREQUENCIES)
def test_devices_send_these_bytes(name):
    for case in cases(name):
        source = Bytes(case["random"])
        assert client(case["question"], case["basket"], fail=0.01, take=source.take) == case["report"].encode()
        assert source.left == b""


@pytest.mark.parametrize("name", FREQUENCIES)
def test_the_simulator_makes_the_same_reports_and_the_collector_reads_them(name):
    asks = [ask.oracle for ask in make.questions(name)]
    if name == "olh":
        asks.append(OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100)))
    found = iter(cases(name))
    for number, oracle in enumerate(asks):
        for basket in make.BASKETS:
            case = next(found)
            assert case["question"]["oracle"] == oracle.form
            values = np.array(held(case["question"], basket), np.int32)
            answered = Answered(offsets=np.array([0, len(values)]), held=values, people=np.zeros(1, np.int64))
            columns = oracle.reports(answered, seed_of(1, f"{name} {number} {basket}"))
            report = oracle.written(columns, 0)
            assert json.dumps(report, separators=(",", ":")) == case["report"]
            read = oracle.read([json.loads(case["report"])])
            assert {key: column.tolist() for key, column in read.items()} == {
                key: column.tolist() for key, column in columns.items()
            }
    assert next(found, None) is None


@pytest.mark.parametrize("name", ["further", "related"])
def test_further_questions(name):
    """Cells, relations as keys with values or one by one, one number: the device, and the one written from the page."""
    for case in cases(name):
        source = Bytes(case["random"])
        given, after = ([tuple(pair) for pair in case[name]] for name in ("given", "after"))
        report = client(case["question"], case["basket"], given=given, after=after, take=source.take)
        assert report == case["report"].encode()
        assert source.left == b""
        words = wire.Words(bytes.fromhex(case["random"]))
        values = wire.values_of(case["question"], case["basket"], case.get(case["question"].get("pairs"), []))
        oracle = case["question"]["oracle"]
        one = case["question"]["ask"] == "projection"
        report = wire.number(oracle, values[0], words) if one else wire.answer(oracle, values, words)
        assert wire.written(report) == case["report"]
        assert words.data == b""


@pytest.mark.parametrize("name", means())
def test_numbers(name):
    for case in cases(name):
        source = Bytes(case["random"])
        report = ANSWERS[name](case["oracle"], [case["number"]], Draws(source.take))
        assert json.dumps(report, separators=(",", ":")) == case["report"]
        assert source.left == b""


@pytest.mark.parametrize("name", [*FREQUENCIES, *means()])
def test_a_device_written_from_the_page_sends_the_same(name):
    for case in cases(name):
        words = wire.Words(bytes.fromhex(case["random"]))
        if "number" in case:
            report = wire.number(case["oracle"], case["number"], words)
        else:
            report = wire.answer(case["question"]["oracle"], wire.values_of(case["question"], case["basket"]), words)
        assert wire.written(report) == case["report"]
        assert words.data == b""


def test_the_page_names_every_oracle_and_its_example_is_a_question():
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in (*oracles(), *means()))
    client(json.loads(text.split("```json")[1].split("```")[0]), [1])


@pytest.mark.parametrize("case", cases("refused"), ids=lambda case: case["what"])
def test_bad_questions_are_refused(case):
    for basket in ([], [1], list(range(80))):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            client(case["question"], basket)
        assert str(error.value) == case["refused"]
