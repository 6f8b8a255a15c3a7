"""Every protocol by name: those of this room, and those other packages bring along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from ...errors import MisuseError
from .protocol import Protocol

GROUP = "discreet.protocols"


@cache
def protocols() -> dict[str, type[Protocol]]:
    """Return every protocol by name."""
    found: dict[str, type[Protocol]] = {}
    here = __package__ or ""
    for module in iter_modules(import_module(here).__path__):
        home = import_module(f"{here}.{module.name}")
        for value in vars(home).values():
            ours = isinstance(value, type) and issubclass(value, Protocol) and value.__module__ == home.__name__
            if ours and hasattr(value, "name"):
                found[value.name] = value
    for point in entry_points(group=GROUP):
        found[point.name] = point.load()
    return dict(sorted(found.items()))


def protocol(given: str | Protocol, settings: Mapping[str, Any] | None = None) -> Protocol:
    """Return the protocol of that name with these settings; an unknown name is answered with those there are."""
    if isinstance(given, Protocol):
        if settings:
            raise MisuseError("Settings go into the protocol that is given, not beside it.")
        return given
    known = protocols()
    if not isinstance(given, str) or given not in known:
        from difflib import get_close_matches

        near = get_close_matches(str(given), known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise MisuseError(f"There is no protocol {given!r}; there are {', '.join(known)}.{hint}")
    kind = known[given]
    allowed = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    strange = [name for name in settings or {} if name not in allowed]
    if strange:
        raise MisuseError(f"{given} has no setting {strange[0]!r}; it has {', '.join(allowed)}.")
    return kind(**(settings or {}))
