"""`discreet mechanisms`: the list of mechanisms, protocols and oracles."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import typer

from . import options
from ._groups import command
from ._terminal import console

EntryKind: TypeAlias = Literal["mechanism", "protocol", "oracle"]
app = typer.Typer()


@command(app)
def mechanisms(
    name: str | None = options.argument("NAME", "Tell everything about one.", default=None),
    kind: EntryKind | None = options.option("List only mechanisms, protocols or oracles."),
    form: options.PageFormat = options.VIEW,
) -> None:
    """List the mechanisms, protocols and oracles, with their questions, guarantees and sources."""
    from ..registry import Listing, describe_entry, entry, everything

    entries = [entry(name)] if name is not None else list(everything().values())
    entries = [each for each in entries if kind is None or name is not None or each.what == kind]
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "kind": each.what,
            "model": each.model,
            "answers": list(each.answers),
            "guarantee": each.guarantee,
            "summary": describe_entry(each),
            "settings": {setting: _encode_setting(value) for setting, value in each.settings.items()},
            "citation": each.citation,
            "proof": each.proof.name if each.proof is not None and not each.unproven else None,
            "package": each.package,
        }
        for each in entries
    ]
    if form == "json":
        typer.echo(json.dumps(rows, indent=2))
        return
    rich_console = console()
    if name is not None:
        for key, value in rows[0].items():
            rich_console.print(f"[bold]{key}[/bold]  ", end="")
            # Values of plugins may have brackets, which are no markup here.
            rich_console.print(_render_value(value), markup=False)
        return
    rich_console.print(Listing((each.name, each) for each in entries))
    rich_console.print("`discreet mechanisms NAME` shows the settings.")


def _render_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_render_setting(setting)}" for name, setting in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _render_setting(setting: Any) -> str:
    """Return a setting as the command line takes it: several numbers with spaces between them."""
    return " ".join(map(str, setting)) if isinstance(setting, list | tuple) else str(setting)


def _encode_setting(value: Any) -> Any:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value
