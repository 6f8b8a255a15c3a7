"""Numbers on the command line are written with digits: Python, and so the parser, would take 1_0 for ten."""

from __future__ import annotations

import re

import typer

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,400}\s*", re.ASCII)
_REAL = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*|\s*[+-]?inf\s*", re.ASCII)


def whole(text: str | int) -> int:
    """Return a whole number as everybody types it; a default is one already."""
    if isinstance(text, str) and not _WHOLE.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a whole number.")
    return int(text)


def real(text: str | float) -> float:
    """Return a decimal number as everybody types it; a default is one already."""
    if isinstance(text, str) and not _REAL.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a number.")
    return float(text)
