"""Mechanisms, protocols and oracles by name, ours and of plug-ins, and the parser of their settings."""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
