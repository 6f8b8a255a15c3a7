"""`discreet audit`: attempts to break the privacy claim of a mechanism, a protocol or an oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..results import Relation
from . import options
from ._groups import Writing, command
from ._parsing import parse_settings
from ._progress import ProgressBar

app = typer.Typer()


@command(app)
def audit(
    name: str | None = options.argument("NAME", "One of `discreet mechanisms`.", default=None),
    study: Path | None = options.option(
        "A live study instead: its protocol, and all that it would serve. It says its own epsilon.",
        metavar="STUDY.toml",
    ),
    epsilon: str = options.option("The claim to break.", default="1", metavar="NUMBER"),
    delta: str | None = options.option(
        "The delta of the claim.  \\[default: 0, or 0.001 where the mechanism needs one]", metavar="NUMBER"
    ),
    neighbours: Relation = options.NEIGHBOURS,
    settings: list[str] | None = options.SETTINGS,
    runs: int = options.number("Runs on each of two neighbours.", default=1000),
    seed: int = options.number("The same seed tries the same.", default=1),
    *,
    writing: Writing,
) -> None:
    """Try to break the claim of a mechanism, a protocol or an oracle, on made-up neighbours.

    Ends with status 0 if the claim stands, and with 1 if the claim was broken or no attempt was possible. No data are
    read, nothing is spent.

    Examples
    --------
    discreet audit exponential --epsilon 0.5

    discreet audit truncated --neighbours replace --set bound=binomial

    discreet audit count --delta 1e-6 --format json

    discreet audit svsm --epsilon 2

    discreet audit olh

    discreet audit --study study.toml
    """
    from ..auditing import audit as audit_claim

    if (name is None) == (study is None):
        raise typer.BadParameter("say what to audit: a NAME of `discreet mechanisms`, or --study with a file.")
    with ProgressBar("auditing"):
        if study is not None:
            from ..collector import audit_study, read_study

            verdict = audit_study(read_study(study), runs=runs, seed=seed)
        else:
            claim: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours}
            verdict = audit_claim(str(name), **claim, runs=runs, seed=seed, settings=parse_settings(settings))
    writing.write(verdict)
    if not verdict.stands:
        raise typer.Exit(1)
