"""`discreet audit`: attempts to break the privacy claim of a mechanism, a protocol or an oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import options
from ._groups import Writing, expand_groups
from ._parsing import parse_settings
from ._progress import ProgressBar

app = typer.Typer()


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet audit exponential --epsilon 0.5\n\n"
    "discreet audit truncated --neighbours replace --set bound=binomial\n\n"
    "discreet audit count --delta 1e-6 --format json\n\n"
    "discreet audit svsm --epsilon 2\n\n"
    "discreet audit olh\n\n"
    "discreet audit --study study.toml"
)
@expand_groups
def audit(
    name: Annotated[str | None, options.argument("NAME", "One of `discreet mechanisms`.")] = None,
    study: Annotated[
        Path | None,
        options.option(
            "A live study instead: its protocol, and all that it would serve. It says its own epsilon.",
            None,
            "--study",
            metavar="STUDY.toml",
        ),
    ] = None,
    epsilon: Annotated[str, options.option("The claim to break.", metavar="NUMBER", show_default=True)] = "1",
    delta: Annotated[
        str | None,
        options.option(
            "The delta of the claim.  \\[default: 0, or 0.001 where the mechanism needs one]", metavar="NUMBER"
        ),
    ] = None,
    neighbours: options.RelationOption = "add-remove",
    settings: options.Settings = None,
    runs: Annotated[int, options.number("Runs on each of two neighbours.", show_default=True)] = 1000,
    seed: Annotated[int, options.number("The same seed tries the same.", show_default=True)] = 1,
    *,
    writing: Writing,
) -> None:
    """Try to break the claim of a mechanism, a protocol or an oracle, on made-up neighbours.

    Ends with status 0 if the claim stands, and with 1 if the claim was broken or no attempt was possible. No data are
    read, nothing is spent.
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
