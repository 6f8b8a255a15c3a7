"""Packages of other people that register a mechanism, a protocol or an oracle, and how they are installed."""

# internals: this module forgets the oracles that a test has registered.
from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import running
from discreet.local import EVERY_ANSWER, EVERY_LOSS
from discreet.local.device import ANSWERS, LOSSES
from discreet.local.oracle_steps import _choice as choice
from discreet.registry import mechanisms, oracles, protocols

# A mechanism as somebody else would write it: everyone's count of each single item, with noise.
STRANGER = '''
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.plugins import Found, Itemsets, Mechanism, Supports


@dataclass(frozen=True, kw_only=True)
class Plain(Mechanism):
    """Settings of `plain`."""

    shift: int = 0

    name: ClassVar[str] = "plain"
    summary: ClassVar[str] = "Counts every item with noise."
    citation: ClassVar[str] = "Nobody. Nothing. Nowhere 2026."
    answers: ClassVar[tuple[str, ...]] = ("threshold",)
    proof: ClassVar[str] = "plain.md"

    def plan(self, problem):
        return [("counting the items", Fraction(1))]

    def run(self, engine, problem, meter):
        every = Itemsets.of([(item,) for item in range(problem.item_count)])
        noisy = meter.count("counting the items", engine, Supports(every), Fraction(1))
        kept = np.flatnonzero(noisy.values >= problem.threshold)
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
ASKING_CODE = """
from dataclasses import dataclass
from typing import ClassVar

from discreet.local.device._client import ANSWERS
from discreet.local.device._loss import LOSSES
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
TWO_BITS_CODE = """
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet import MisuseError
from discreet.plugins import Loss, RowField, SetValued, compute_threshold, exp_rounded_down


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
        growth = exp_rounded_down(epsilon / 2)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, keep=compute_threshold(growth / (growth + 1)))

    @property
    def dummies(self):
        return 0 if self.single else 1

    @property
    def p_held(self):
        return Fraction(self.keep, 2**32)

    @property
    def p_other(self):
        return 1 - self.p_held

    def supports(self, columns):
        return columns["bits"].sum(0)

    @property
    def fields(self):
        return (RowField("bits", self.size, 2),)
"""


def install(
    folder: Path,
    code: str = STRANGER,
    *,
    value: str = "stranger:Plain",
    proof: bool = True,
    group: str = "discreet.mechanisms",
    name: str = "plain",
    summary: str = "",
) -> Path:
    """Put a distribution into a folder as an installer would: a module, a page, and what the package registers."""
    (folder / "stranger.py").write_text(code)
    if proof:
        (folder / "plain.md").write_text("# plain\n")
    metadata = folder / "stranger_mechanisms-1.0.dist-info"
    metadata.mkdir()
    summary_line = f"Summary: {summary}\n" if summary else ""
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: stranger-mechanisms\nVersion: 1.0\n{summary_line}"
    )
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    return folder


@contextmanager
def oracle_tables_kept() -> Iterator[None]:
    """Remove afterwards what oracles declared meanwhile: their answers and losses are known by name from then on."""
    tables = (ANSWERS, LOSSES, EVERY_ANSWER.maps[1], EVERY_LOSS.maps[1])
    before = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, saved_table in zip(tables, before, strict=True):
            table.clear()
            table.update(saved_table)


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Let this process find the distribution of a folder, and forget all of it afterwards."""
    forget()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        with oracle_tables_kept():
            yield
    finally:
        sys.path.remove(str(folder))
        forget()


def forget() -> None:
    """Drop what the registry and the interpreter know of a package."""
    sys.modules.pop("stranger", None)
    for cached_function in (mechanisms, protocols, oracles, choice.oracles, choice.means):
        cached_function.cache_clear()


def run(folder: Path, *command: object) -> running.CompletedRun:
    """Run the command line where the distribution of a folder is installed."""
    with installed(folder):
        return running.run(*command, cwd=folder)


def program(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own there."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
