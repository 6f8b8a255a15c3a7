"""Values from untrusted files: JSON within limits, fields of the right type and range, and typed values of dataclasses.

A result travels: it is sent, stored, edited by hand and damaged on the way. So no value of a file is trusted. JSON is
limited in bytes, in nesting and in the size of its numbers (a few bytes, 1e999999999, stand for a number of a
gigabyte), each used field is checked for type and range, and any remaining failure is an `InputError` with the path.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from ..errors import DiscreetError, InputError

# Above 2^53 floating point does not distinguish all whole numbers; no count of people is near.
MAX_WHOLE = 1 << 53
_MAX_DEPTH = 32  # of nested lists and objects: far below the recursion limit of Python, far above any header of ours
_MAX_DIGITS = 100  # of a whole number that no code uses
_MAX_HEADER_BYTES = 1 << 26  # larger: a damaged file takes more memory; smaller: a large hierarchy is refused
# The form of exact numbers: budgets are fractions of two long numbers, or decimal.
_MAX_NUMBER_LENGTH = 4_000
_EXACT = re.compile(r"[+-]?\d+(?:/\d+|(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)", re.ASCII)


def exact_number(value: object) -> Fraction:
    """Return the number of a text or a number; a `ValueError` for any other value, and for an oversized one.

    Examples
    --------
    >>> exact_number("1/3"), exact_number("1e-6")
    (Fraction(1, 3), Fraction(1, 1000000))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("it is no number")
    # The text of a float has its shortest digits: its binary value would have fifty.
    text = value if isinstance(value, str) else repr(value)
    if len(text) > _MAX_NUMBER_LENGTH or not _EXACT.fullmatch(text):
        raise ValueError("it is no number that discreet wrote")
    return Fraction(text)


def parse_json(path: Path, text: bytes | str) -> Any:
    """Return the value of a JSON text; an `InputError` with the reason if it has none."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise InputError(f"{path} cannot be read: its brackets are nested too deeply.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text.") from None
    except ValueError as error:
        problem = error if isinstance(error, json.JSONDecodeError) else "a number in it is none, or too long"
        raise InputError(f"{path} cannot be read as JSON: {problem}.") from None


def parse_about(path: Path, text: bytes | str, place: str) -> dict[str, Any]:
    """Return the header of a result, an object, from a `place` that messages name."""
    header = None
    if len(text) <= _MAX_HEADER_BYTES:
        with suppress(InputError):
            header = parse_json(path, text)
    if not isinstance(header, dict):
        raise InputError(f"{path}: {place} does not hold what discreet wrote there.")
    return header


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise ValueError(name)


def check_header(path: Path, header: Mapping[str, Any]) -> None:
    """Check the header of a table: all values are bounded, and each known field has its type and range."""
    check_values(path, header)
    for name in ("people", "people_low", "people_high", "omitted", "tested"):
        value = header.get(name)
        if value is None and name != "people":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_WHOLE:
            raise InputError(f"{path}: {name!r} is {brief_text(value)}, but it must be a whole number from 0 to 2^53.")
    if not isinstance(header.get("counted", False), bool):
        raise InputError(f"{path}: 'counted' is {brief_text(header['counted'])}, but it must be true or false.")
    people_low, people_high = header.get("people_low"), header.get("people_high")
    if (people_low is None) != (people_high is None) or (
        people_low is not None and people_high is not None and people_low > people_high
    ):
        raise InputError(
            f"{path}: 'people_low' and 'people_high' are {brief_text(people_low)} and {brief_text(people_high)}, but "
            "must be an interval."
        )


def check_values(path: Path | str, values: Mapping[str, Any]) -> None:
    """Check that values are bounded: the nesting of lists and objects, and the size of numbers."""
    # A stack of its own: recursion would end at the limit that this check prevents.
    remaining: list[tuple[Any, int]] = [(value, 1) for value in values.values()]
    while remaining:
        value, depth = remaining.pop()
        if isinstance(value, dict | list):
            if depth >= _MAX_DEPTH:
                raise InputError(f"{path} cannot be read: its brackets are nested too deeply.")
            remaining += [(inner, depth + 1) for inner in (value.values() if isinstance(value, dict) else value)]
        elif isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{path} has a number that is too large.")
        elif isinstance(value, int) and abs(value) >= 10**_MAX_DIGITS:
            raise InputError(f"{path} has a number of over {_MAX_DIGITS} digits.")


def brief_text(value: object) -> str:
    """Return a value as a message shows it, in 40 characters."""
    # The content of a list may be long or private, so a message has its kind alone.
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


@contextmanager
def translated(path: Path, form: str) -> Iterator[None]:
    """Raise one `InputError` for any failure of a library on a damaged file."""
    import pyarrow as pa

    try:
        yield
    except DiscreetError:
        raise
    except MemoryError:
        raise InputError(f"{path} is damaged, or needs more memory than there is.") from None
    except (
        ArithmeticError,
        LookupError,
        OSError,
        RuntimeError,
        struct.error,
        TypeError,
        ValueError,
        pa.ArrowException,
    ) as error:
        reason = str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read as {form}: {reason}.") from None


Target = TypeVar("Target")

_WORDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    str: ("a text", (str,)), int: ("a whole number", (int,)), float: ("a number", (int, float)),
}  # fmt: skip


def parse_choice(value: Any, choices: Sequence[Any]) -> Any:
    """Return a value that is one of some texts, or of a range of whole numbers; a `ValueError` for any other value.

    Examples
    --------
    >>> parse_choice("people", ("people", "baskets"))
    'people'
    """
    if isinstance(value, bool) or not isinstance(value, int | str) or value not in choices:
        shown_choices = f"{choices[0]} to {choices[-1]}" if isinstance(choices, range) else ", ".join(choices)
        raise ValueError(f"{value!r:.40} is none of {shown_choices}")
    return value


def read_fields(kind: type[Target], values: Mapping[str, Any], **typed_fields: Any) -> Target:
    """Return a dataclass from plain values by the names of its fields; `typed_fields` need no parsing."""
    # The types of a class are the form of its files: no second table can differ from them.
    hints = get_type_hints(kind)
    for entry in fields(kind):  # type: ignore[arg-type]
        if entry.name in typed_fields:
            continue
        if entry.name in values:
            typed_fields[entry.name] = read_value(hints[entry.name], values[entry.name])
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise ValueError(f"it has no {entry.name!r}")
    return kind(**typed_fields)


def read_value(kind: Any, value: Any) -> Any:
    """Return a plain value as a value of a type: a number, a text, a list, an object, an enum or a dataclass."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return parse_choice(value, parts)
    # Optional values are the only unions in files.
    if origin in (Union, UnionType):
        inner = [part for part in parts if part is not NoneType]
        return None if value is None and len(inner) < len(parts) else read_value(inner[0], value)
    if origin is tuple:
        if parts[-1] is Ellipsis:
            return tuple(read_value(parts[0], part) for part in value)
        return tuple(read_value(part, element) for part, element in zip(parts, value, strict=True))
    if origin is Mapping:
        return {str(name): read_value(parts[1], part) for name, part in value.items()}
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
