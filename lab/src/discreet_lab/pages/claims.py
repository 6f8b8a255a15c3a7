"""The claims of the papers with a verdict on each, from `claims.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from discreet.errors import InputError

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be tried", "not run here"]
# The verdicts of the file: the last verdict is only for pages whose runs do not show the claim.
_FILE_VERDICTS = get_args(Verdict)[:-1]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a paper.

    Parameters
    ----------
    paper
        The number of the paper.
    where
        The section, figure, table or theorem.
    says
        The claim, in our words.
    verdict
        Whether it holds.
    why
        The observation, or the obstacle.
    command
        The command that shows it.
    seed
        The seeds of the observation: ``"0-9"``, or ``"none"`` without randomness.
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
        """The experiments of the lab that show the claim; none if a test or program does."""
        words = self.command.split()
        return tuple(words[3:]) if words[:3] == ["discreet", "lab", "run"] else ()


def restrict_verdicts(claims: Iterable[Claim], run_names: Collection[str]) -> list[Claim]:
    """Return the claims, without the verdicts of experiments that did not run in full.

    Claims that a test or program shows keep their verdicts.
    """
    return [
        claim if set(claim.experiments) <= set(run_names) else replace(claim, verdict="not run here")
        for claim in claims
    ]


@cache
def read_claims() -> tuple[Claim, ...]:
    """Return all claims, in the order of the papers."""
    text = files(__package__).joinpath("claims.toml").read_text(encoding="utf-8")
    claims = []
    for entry in tomllib.loads(text)["claim"]:
        try:
            claim = Claim(**entry)
        except TypeError as error:
            raise InputError(f"A claim lacks something or has too much ({error}): {entry}") from error
        if claim.verdict not in _FILE_VERDICTS or not all((claim.why, claim.command, claim.seed)):
            raise InputError(
                f"The claim of {claim.paper}, {claim.where} lacks a verdict, a reason, a command or a seed."
            )
        claims.append(claim)
    return tuple(claims)
