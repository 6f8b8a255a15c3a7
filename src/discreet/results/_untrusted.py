"""Values from files that anyone may have written: JSON with bounds, and fields that are what they should be.

A result travels: it is sent, kept, edited by hand and damaged on the way. So nothing of it is believed. JSON is
bounded in bytes, in nesting and in its numbers (a few bytes such as 1e999999999 stand for a number of a gigabyte),
each field that anything depends on has its type and range, and whatever goes wrong all the same is an `InputError` that
names the file.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from ..errors import DiscreetError, InputError

# Over 2^53 floating point takes several whole numbers for one; no count of people is near it.
MOST = 1 << 53
_DEEPEST = 32  # lists and objects within each other
_DIGITS = 100  # of a whole number that only travels along
_ABOUT = 1 << 26  # bytes of what is told about a result
# What numbers written exactly may look like: budgets are fractions of two long numbers, or decimal.
_LONGEST = 4_000
_EXACT = re.compile(r"[+-]?\d+(?:/\d+|(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)", re.ASCII)


def exact_number(value: object) -> Fraction:
    """Return the number that a text or a number stands for; a `ValueError` where it is none, or a monstrous one.

    Examples
    --------
    >>> exact_number("1/3"), exact_number("1e-6")
    (Fraction(1, 3), Fraction(1, 1000000))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("it is no number")
    text = value if isinstance(value, str) else repr(value)
    if len(text) > _LONGEST or not _EXACT.fullmatch(text):
        raise ValueError("it is no number that discreet wrote")
    return Fraction(text)


def parse(path: Path, text: bytes | str) -> Any:
    """Return the value of a JSON text; an `InputError` says why there is none."""
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
    """Return the object that a result has beside its table, at a `place` that messages name."""
    told = None
    if len(text) <= _ABOUT:
        with suppress(InputError):
            told = parse(path, text)
    if not isinstance(told, dict):
        raise InputError(f"{path}: {place} does not hold what discreet wrote there.")
    return told


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def check_header(path: Path, about: Mapping[str, Any]) -> None:
    """Check what a file says of its rows: all of it is bounded, and each field we know of is what it should be."""
    check_values(path, about)
    for name in ("people", "people_low", "people_high", "omitted", "tested"):
        value = about.get(name)
        if value is None and name != "people":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
            raise InputError(f"{path}: {name!r} is {brief_text(value)}, but it must be a whole number from 0 to 2^53.")
    if not isinstance(about.get("counted", False), bool):
        raise InputError(f"{path}: 'counted' is {brief_text(about['counted'])}, but it must be true or false.")
    few, many = about.get("people_low"), about.get("people_high")
    if (few is None) != (many is None) or (few is not None and many is not None and few > many):
        raise InputError(
            f"{path}: 'people_low' and 'people_high' are {brief_text(few)} and {brief_text(many)}, but must be an "
            "interval."
        )


def check_values(path: Path | str, about: Mapping[str, Any]) -> None:
    """Check that values are bounded: how deeply lists and objects are nested, and how large numbers are."""
    left: list[tuple[Any, int]] = [(value, 1) for value in about.values()]
    while left:
        value, depth = left.pop()
        if isinstance(value, dict | list):
            if depth >= _DEEPEST:
                raise InputError(f"{path} cannot be read: its brackets are nested too deeply.")
            left += [(inner, depth + 1) for inner in (value.values() if isinstance(value, dict) else value)]
        elif isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{path} has a number that is too large.")
        elif isinstance(value, int) and abs(value) >= 10**_DIGITS:
            raise InputError(f"{path} has a number of over {_DIGITS} digits.")


def brief_text(value: object) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


@contextmanager
def translated(path: Path, form: str) -> Iterator[None]:
    """Say in one way that a file is damaged, whichever library found it out, and however."""
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
