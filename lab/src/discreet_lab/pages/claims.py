"""What the papers claim, one by one, and what became of each: `claims.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from discreet.errors import InputError

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be tried", "not run here"]
# What a claim of the file may have: the last one is for pages whose runs do not show it.
_JUDGED = get_args(Verdict)[:-1]


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

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments of the lab that show it; none where a test or another program does."""
        words = self.command.split()
        return tuple(words[3:]) if words[:3] == ["discreet", "lab", "run"] else ()


def judged(every: Iterable[Claim], ran: Collection[str]) -> list[Claim]:
    """Return the claims without the verdicts that the experiments which were run in full do not show.

    Claims that a test or another program shows keep theirs: no run of the lab has to do with them.
    """
    return [one if set(one.experiments) <= set(ran) else replace(one, verdict="not run here") for one in every]


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
        if one.verdict not in _JUDGED or not all((one.why, one.command, one.seed)):
            raise InputError(f"The claim of {one.paper}, {one.where} lacks a verdict, a reason, a command or a seed.")
        found.append(one)
    return tuple(found)
