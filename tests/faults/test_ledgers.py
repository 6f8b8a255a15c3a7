"""Ledgers with a bit turned over, bytes changed, or cut short: refused, or equal to the original."""

# internals: this module makes a write to the storage of a ledger fail.
from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import InputError
from discreet.privacy import Neighbours
from discreet.privacy.ledger import Ledger, _storage as storage
from faults.mutating import flips, mutants


@pytest.fixture
def path(tmp_path) -> Path:
    """A ledger with spends, one of them recorded, and a fingerprint."""
    place = tmp_path / "budget.db"
    ledger = Ledger.create(place, epsilon=1, name="wards")
    for epsilon in (Fraction(1, 10), Fraction(1, 3)):
        spend = ledger.spend(
            epsilon=epsilon, delta=Fraction(0), rho=epsilon**2 / 2, discovery_delta=Fraction(0),
            neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={"top": 10}, who="here",
            baskets=discreet.read([{1}, {2, 3}]),
        )  # fmt: skip
    ledger.record(spend, "digest")
    return place


def contents(path: Path) -> Any:
    ledger = Ledger.open(path)
    return ledger.state(), ledger.spends()


def read_mutants(path: Path, forms: Iterable[bytes]) -> tuple[Counter[str], list[str]]:
    """Return the number of mutants by outcome, and the messages of outcomes that are not allowed."""
    truth, outcomes, wrong = contents(path), Counter[str](), []
    for number, data in enumerate(forms):
        copy = path.with_name("copy.db")
        copy.write_bytes(data)
        try:
            is_unchanged = contents(copy) == truth
        except InputError as error:
            outcomes["refused" if str(copy) in str(error) else "refused by no name"] += 1
        except Exception as error:
            wrong.append(f"{number}: {error!r:.300}")
        else:
            outcomes["equal"] += 1
            if not is_unchanged:
                wrong.append(f"{number}: another account")
        copy.unlink()
    return outcomes, wrong


@pytest.fixture(params=[60, pytest.param(4000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def mutant_count(request) -> int:
    number: int = request.param
    return number


def test_a_bit_is_turned_over(path, mutant_count):
    outcomes, wrong = read_mutants(path, flips(path.read_bytes(), 16, mutant_count))
    assert wrong == []
    assert set(outcomes) == {"refused", "equal"}
    print(dict(outcomes))


@pytest.mark.parametrize("name", [b"text text", b"head text", b"changed integer", b"key blob", b"digest blob,"])
def test_a_letter_of_a_column(path, name):
    """SQLite reads the layout from the file, where the seal does not reach."""
    data = path.read_bytes()
    assert data.count(name) == 1
    form = data.replace(name, bytes([name[0] ^ 1]) + name[1:])
    assert read_mutants(path, [form]) == ({"refused": 1}, [])


def test_bytes_are_changed(path, mutant_count):
    outcomes, wrong = read_mutants(path, mutants(path.read_bytes(), 17, mutant_count // 2))
    assert wrong == []
    assert set(outcomes) <= {"refused", "equal"}
    print(dict(outcomes))


def test_a_bit_of_the_anchor(path, tmp_path):
    """An anchor is read whole or not at all: no change of it lets another account pass."""
    anchor = tmp_path / "head"
    Ledger.open(path).anchor(anchor)
    truth, sound_bytes = contents(path), anchor.read_bytes()
    for form in [*flips(sound_bytes, 18, 100), *mutants(sound_bytes, 19, 100)]:
        anchor.write_bytes(form)
        try:
            assert contents(path) == truth
            assert form.strip() == sound_bytes.strip() or form.strip().lower() == sound_bytes.strip()
        except InputError:
            assert form != sound_bytes


def test_who_cannot_record_a_release_is_not_told_that_nothing_was_spent(path, monkeypatch):
    spend = Ledger.open(path).spends()[0]
    monkeypatch.setattr(storage, "PATIENCE", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("begin exclusive")
        with pytest.raises(InputError) as raised:
            Ledger(path).record(spend, "digest")
    assert str(raised.value) == (
        f"{path} is locked: another process has been using it for 0.05 seconds. Spend 1 stands, without its release; "
        "try again when it is done."
    )
