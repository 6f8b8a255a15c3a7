"""Ledgers that are spent from, here and by processes of their own: what tests of a ledger's file share."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import InputError
from discreet.privacy import Neighbours
from discreet.privacy.ledger import Ledger

# What every child begins with.
BEGIN = """
import json, os, signal, sys, time
from fractions import Fraction
from pathlib import Path
from discreet.errors import BudgetError, InputError
from discreet.privacy.ledger import _entries as entries, _storage as storage
from discreet.privacy._budget import Neighbours
from discreet.privacy.ledger._ledger import Ledger

def spend(path, epsilon, who="child"):
    epsilon = Fraction(epsilon)
    return Ledger(Path(path)).spend(
        epsilon=epsilon, delta=Fraction(0), rho=epsilon**2 / 2, discovery_delta=Fraction(0),
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who=who, baskets=None,
    )
"""

# Dies when the journal of a spend and pages of it are on the disk.
DYING = """
written = entries.insert
def dying(connection, *given):
    connection.execute("pragma cache_size = 1")
    written(connection, *given)
    connection.execute("update entry set text = ?", ("x" * 100_000,))
    os.kill(os.getpid(), signal.SIGKILL)
entries.insert = dying
spend(sys.argv[1], "0.2")
"""


def child(code: str, *arguments: object, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def spend(path: Path, epsilon="0.1", spender="here", baskets=None):
    epsilon = Fraction(epsilon)
    return Ledger(path).spend(
        epsilon=epsilon, delta=Fraction(0), rho=epsilon**2 / 2, discovery_delta=Fraction(0),
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who=spender, baskets=baskets,
    )  # fmt: skip


def contents(path: Path):
    ledger = Ledger.open(path)
    return ledger.state(), ledger.spends()


def told_by(path: Path) -> str:
    """Return what reading and spending are refused with; the file is left as it was."""
    before = path.read_bytes()
    with pytest.raises(InputError) as error:
        Ledger.open(path)
    with pytest.raises(InputError) as spending:
        spend(path)
    assert str(error.value) == str(spending.value)
    assert path.read_bytes() == before
    return str(error.value)
