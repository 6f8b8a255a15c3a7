"""The command line. Each command is a thin shell over the public API; nothing is computed here."""

from __future__ import annotations

from .run import main

__all__ = ["main"]
