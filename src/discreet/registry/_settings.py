"""Settings of mechanisms and protocols: the fields of their classes, read from what a user typed. The one parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import MisuseError


def parsed(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a class as their types want them, from text or from numbers."""
    hints = _hints(kind)
    return {name: typed(value, hints[name], f"the setting {name} of {kind.name}") for name, value in given.items()}


def settle(made: Any) -> None:
    """Read the settings of an object that is being made: for `__post_init__` of a frozen dataclass."""
    kind: Any = type(made)
    for name, value in parsed(kind, {name: getattr(made, name) for name in _hints(kind)}).items():
        object.__setattr__(made, name, value)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    known = get_type_hints(kind)
    return {one.name: known[one.name] for one in fields(kind)}


def typed(value: Any, hint: Any, name: str) -> Any:
    """Return a setting as its type wants it; one of a type of another package's own is read by that package."""
    from ..checks import is_whole, parse_number
    from ..privacy import exact

    if get_origin(hint) is tuple:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        many = len(get_args(hint))
        if not isinstance(parts, list | tuple) or len(parts) != many:
            raise MisuseError(f"{name} is {many} numbers with spaces or commas between them; {_given(value)}.")
        return tuple(typed(part, one, name) for part, one in zip(parts, get_args(hint), strict=True))
    if hint is bool:
        if str(value).lower() in ("true", "yes", "on", "false", "no", "off"):
            return str(value).lower() in ("true", "yes", "on")
        raise MisuseError(f"{name} is on or off; {_given(value)}.")
    if hint is str:
        if isinstance(value, str) and value:
            return value
        if parse_number(value) is not None:
            return str(exact(value, name)) if isinstance(value, Fraction) else str(value)
        raise MisuseError(f"{name} is text or a number; {_given(value)}.")
    if hint is Fraction:
        return exact(value, name)
    kinds = [hint] if hint is int or get_origin(hint) is Literal else list(get_args(hint))
    if NoneType in kinds and (value is None or value == "none"):
        return None
    if not kinds or any(one not in (int, NoneType) and get_origin(one) is not Literal for one in kinds):
        return value
    words = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    if isinstance(value, str) and value in words:
        return value
    if int in kinds:
        if is_whole(value):
            return int(value)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 10:
            return int(value)
    allowed = [*(["a whole number"] if int in kinds else []), *words]
    listed = f"{', '.join(allowed[:-1])} or {allowed[-1]}" if len(allowed) > 1 else allowed[0]
    raise MisuseError(f"{name} is {listed}; {_given(value)}.")


def _given(value: Any) -> str:
    return f"{value!r:.60} was given"
