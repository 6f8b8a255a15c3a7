"""`discreet mechanisms`: what there is to choose from, on either side."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

import typer

from . import options
from ._terminal import console

EntryKind: TypeAlias = Literal["mechanism", "protocol", "oracle"]
app = typer.Typer()


@app.command()
def mechanisms(
    name: Annotated[str | None, options.argument("NAME", "Tell everything about one.")] = None,
    kind: Annotated[
        EntryKind | None, options.option("List only mechanisms, protocols or oracles.", None, "--kind")
    ] = None,
    form: options.ViewOption = "table",
) -> None:
    """List the mechanisms, protocols and oracles: what they answer, what they promise, where they come from."""
    from ..registry import Listing, describe_entry, entry, everything

    entries = [entry(name)] if name is not None else list(everything().values())
    entries = [one for one in entries if kind is None or name is not None or one.what == kind]
    told: list[dict[str, Any]] = [
        {
            "name": one.name,
            "kind": one.what,
            "model": one.model,
            "answers": list(one.answers),
            "guarantee": one.guarantee,
            "summary": describe_entry(one),
            "settings": {setting: _plain(value) for setting, value in one.settings.items()},
            "citation": one.citation,
            "proof": one.proof.name if one.proof is not None and not one.unproven else None,
            "package": one.package,
        }
        for one in entries
    ]
    if form == "json":
        typer.echo(json.dumps(told, indent=2))
        return
    shown = console()
    if name is not None:
        for word, value in told[0].items():
            shown.print(f"[bold]{word}[/bold]  ", end="")
            shown.print(_listed(value), markup=False)
        return
    shown.print(Listing((one.name, one) for one in entries))
    shown.print("`discreet mechanisms NAME` shows the settings.")


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
