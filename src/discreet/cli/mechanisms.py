"""`discreet mechanisms`: what there is to choose from, on either side."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from . import options as given

app = typer.Typer()

_HEADS = {
    "mechanism": "Mechanisms: a curator holds everyone's baskets",
    "protocol": "Protocols: devices keep their baskets, and a collector asks",
    "oracle": "Oracles: how one report is randomised",
}


class What(StrEnum):
    """What is listed."""

    mechanism = "mechanism"
    protocol = "protocol"
    oracle = "oracle"


@app.command()
def mechanisms(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Tell everything about one.", show_default=False)
    ] = None,
    kind: Annotated[
        What | None, typer.Option("--kind", help="List only mechanisms, protocols or oracles.", show_default=False)
    ] = None,
    form: given.ViewOption = given.View.table,
) -> None:
    """List the mechanisms, protocols and oracles: what they answer, what they promise, where they come from."""
    from ..registry import entry, everything

    entries = [entry(name)] if name is not None else list(everything().values())
    told: list[dict[str, Any]] = [
        {
            "name": one.name,
            "kind": one.what,
            "model": one.model,
            "answers": list(one.answers),
            "guarantee": one.guarantee,
            "summary": f"{one.unproven} It is not run." if one.unproven else one.summary,
            "settings": {setting: _plain(value) for setting, value in one.settings.items()},
            "citation": one.citation,
            "proof": one.proof.name if one.proof is not None and not one.unproven else None,
            "package": one.package,
        }
        for one in entries
        if kind is None or name is not None or one.what == kind.value
    ]
    if form is given.View.json:
        typer.echo(json.dumps(told, indent=2))
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    if name is not None:
        for word, value in told[0].items():
            console.print(f"[bold]{word}[/bold]  ", end="")
            console.print(_listed(value), markup=False)
        return
    above = ""
    for row in told:
        if row["kind"] != above:
            above = row["kind"]
            console.print(Text(f"{_HEADS[above]}\n", "bold underline"))
        console.print(Text.assemble((row["name"], "bold"), f"  answers {_listed(row['answers'])}; {row['guarantee']}"))
        for text, style in ((row["summary"], ""), (row["citation"], "dim")):
            console.print(Padding(Text(text, style), (0, 0, 0, 2)))
        console.print()
    console.print("`discreet mechanisms NAME` shows the settings.")


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_shown(setting)}" for name, setting in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _shown(setting: Any) -> str:
    """Return a setting as it is typed: several numbers one after the other."""
    return " ".join(map(str, setting)) if isinstance(setting, list | tuple) else str(setting)


def _plain(value: Any) -> Any:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value
