"""What the papers claim, one by one, and what became of each: `claims.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from ..errors import InputError

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be tried"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of a paper.

    Parameters
    ----------
    paper
        The number of the paper.
    where
        The section, figure, table or theorem.
    says
        What is claimed, in our words.
    verdict
        Whether it holds.
    why
        What was seen, or what stands in the way.
    command
        What to type to see it.
    seed
        The seeds it was seen with: ``"0-9"``, or ``"none"`` where nothing is random.
    """

    paper: str
    where: str
    says: str
    verdict: Verdict
    why: str
    command: str
    seed: str


@cache
def claims() -> tuple[Claim, ...]:
    """Return every claim, in the order of the papers."""
    text = files(__package__).joinpath("claims.toml").read_text(encoding="utf-8")
    found = []
    for entry in tomllib.loads(text)["claim"]:
        try:
            one = Claim(**entry)
        except TypeError as error:
            raise InputError(f"A claim lacks something or has too much ({error}): {entry}") from error
        if one.verdict not in get_args(Verdict) or not all((one.why, one.command, one.seed)):
            raise InputError(f"The claim of {one.paper}, {one.where} lacks a verdict, a reason, a command or a seed.")
        found.append(one)
    return tuple(found)
