"""Plain values from files become typed ones again, as the fields of a dataclass say: each value is checked on the way.

A file may come from anybody. A value that is not of the type of its field is a `ValueError` that says so, and what it
may be; who reads a file makes an `InputError` of it. What bounds numbers and nesting is in `untrusted`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ._untrusted import exact_number

Made = TypeVar("Made")

_WORDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    str: ("a text", (str,)), int: ("a whole number", (int,)), float: ("a number", (int, float)),
}  # fmt: skip


def one_of(value: Any, allowed: Sequence[Any]) -> Any:
    """Return a value that is one of a few texts, or of a range of whole numbers; a `ValueError` where it is none.

    Examples
    --------
    >>> one_of("people", ("people", "baskets"))
    'people'
    """
    if isinstance(value, bool) or not isinstance(value, int | str) or value not in allowed:
        named = f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(allowed)
        raise ValueError(f"{value!r:.40} is none of {named}")
    return value


def read_fields(kind: type[Made], values: Mapping[str, Any], **given: Any) -> Made:
    """Return a dataclass whose fields have the plain values of their names, but for those that are given."""
    hints = get_type_hints(kind)
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name in given:
            continue
        if one.name in values:
            given[one.name] = read_value(hints[one.name], values[one.name])
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"it has no {one.name!r}")
    return kind(**given)


def read_value(kind: Any, value: Any) -> Any:
    """Return a plain value as one of a type: a number, a text, a list, an object or a dataclass of such."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return one_of(value, parts)
    if origin in (Union, UnionType):
        inner = [part for part in parts if part is not NoneType]
        return None if value is None and len(inner) < len(parts) else read_value(inner[0], value)
    if origin is tuple:
        if parts[-1] is Ellipsis:
            return tuple(read_value(parts[0], one) for one in value)
        return tuple(read_value(part, one) for part, one in zip(parts, value, strict=True))
    if origin is Mapping:
        return {str(name): read_value(parts[1], one) for name, one in value.items()}
    if kind is Fraction:
        return exact_number(value)
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if is_dataclass(kind):
        return read_fields(kind, value)  # type: ignore[arg-type]
    if kind is bool and value not in (True, False):
        raise ValueError(f"{value!r:.40} is not true or false")
    name, types = _WORDS.get(kind, ("", (object,)))
    if not isinstance(value, types) or (name and isinstance(value, bool)):
        raise ValueError(f"{value!r:.40} is not {name}")
    return value
