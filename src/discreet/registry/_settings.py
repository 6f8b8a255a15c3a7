"""The parser of settings of mechanisms and protocols: the fields of their classes, from typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import MisuseError


def parse_settings(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a class in the types of its fields, from text or numbers."""
    hints = _setting_hints(kind)
    return {
        name: parse_value(value, hints[name], f"the setting {name} of {kind.name}") for name, value in values.items()
    }


def settle(target: Any) -> None:
    """Parse the settings of an object in its `__post_init__`, for frozen dataclasses."""
    kind: Any = type(target)
    for name, value in parse_settings(kind, {name: getattr(target, name) for name in _setting_hints(kind)}).items():
        object.__setattr__(target, name, value)


@cache
def _setting_hints(kind: Any) -> dict[str, Any]:
    # Cached, as resolving the hints evaluates the text of each annotation.
    hints_of_class = get_type_hints(kind)
    return {setting.name: hints_of_class[setting.name] for setting in fields(kind)}


def parse_value(value: Any, hint: Any, name: str) -> Any:
    """Return a setting in its type; a foreign type is returned unchanged, for its own package to parse."""
    from ..checks import is_whole, parse_number
    from ..privacy import exact

    if get_origin(hint) is tuple:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        part_count = len(get_args(hint))
        if not isinstance(parts, list | tuple) or len(parts) != part_count:
            raise MisuseError(
                f"{name} is {part_count} numbers with spaces or commas between them; {_describe_value(value)}."
            )
        return tuple(parse_value(part, hint_part, name) for part, hint_part in zip(parts, get_args(hint), strict=True))
    if hint is bool:
        # Words that people type for switches; bool() would take "no" for true.
        if str(value).lower() in ("true", "yes", "on", "false", "no", "off"):
            return str(value).lower() in ("true", "yes", "on")
        raise MisuseError(f"{name} is on or off; {_describe_value(value)}.")
    if hint is str:
        if isinstance(value, str) and value:
            return value
        if parse_number(value) is not None:
            return str(exact(value, name)) if isinstance(value, Fraction) else str(value)
        raise MisuseError(f"{name} is text or a number; {_describe_value(value)}.")
    if hint is Fraction:
        return exact(value, name)
    types = [hint] if hint is int or get_origin(hint) is Literal else list(get_args(hint))
    if NoneType in types and (value is None or value == "none"):
        return None
    if not types or any(
        hint_part not in (int, NoneType) and get_origin(hint_part) is not Literal for hint_part in types
    ):
        return value
    # The words of all literals of the type, for the test and for the message.
    words = [word for hint_part in types if get_origin(hint_part) is Literal for word in get_args(hint_part)]
    if isinstance(value, str) and value in words:
        return value
    if int in types:
        if is_whole(value):
            return int(value)
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) < 10:
            return int(value)
    choices = [*(["a whole number"] if int in types else []), *words]
    choices_text = f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    raise MisuseError(f"{name} is {choices_text}; {_describe_value(value)}.")


def _describe_value(value: Any) -> str:
    return f"{value!r:.60} was given"
