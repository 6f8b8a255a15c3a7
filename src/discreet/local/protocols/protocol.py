"""What a protocol is: a frozen value with its settings, which leads a conversation about what is wanted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from ...errors import MisuseError
from ...exact.checks import as_written, is_whole
from ...privacy.budget import exact
from ..asking import Talk, Wanted


class Protocol(ABC):
    """A plan of questions. Subclasses are frozen dataclasses; their fields are the settings.

    A setting may be given as text, as it is typed on a command line. Fractions are kept as the text they were
    written as, so that a protocol says the same about itself wherever it is written down.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    citation: ClassVar[str]
    # How many questions one person is asked; more than one is for comparison only (X4).
    reports: ClassVar[int] = 1
    # What the promise takes for public knowledge.
    public: ClassVar[tuple[str, ...]] = ("the items",)

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)).items():
            read = typed(getattr(self, name), hint, f"the setting {name} of {self.name}")
            object.__setattr__(self, name, read)

    @abstractmethod
    def check(self, wanted: Wanted) -> None:
        """Refuse what cannot be asked, before anyone is."""

    @abstractmethod
    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""


@cache
def _hints(kind: type[Protocol]) -> dict[str, Any]:
    known = get_type_hints(kind)
    return {one.name: known[one.name] for one in fields(kind)}  # type: ignore[arg-type]


def typed(value: Any, hint: Any, name: str) -> Any:
    """Return a setting as its type wants it, from text or from a number."""
    if get_origin(hint) is tuple:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        many = len(get_args(hint))
        if not isinstance(parts, list | tuple) or len(parts) != many:
            raise MisuseError(f"{name} is {many} numbers with spaces or commas between them; {_given(value)}.")
        return tuple(typed(part, kind, name) for part, kind in zip(parts, get_args(hint), strict=True))
    if hint is bool:
        if str(value).lower() in ("true", "yes", "on", "false", "no", "off"):
            return str(value).lower() in ("true", "yes", "on")
        raise MisuseError(f"{name} is on or off; {_given(value)}.")
    if hint is str:
        if isinstance(value, str) and value:
            return value
        if as_written(value) is not None:
            return str(exact(value, name)) if isinstance(value, Fraction) else str(value)
        raise MisuseError(f"{name} is text or a number; {_given(value)}.")
    kinds = [hint] if hint is int or get_origin(hint) is Literal else list(get_args(hint))
    if type(None) in kinds and (value is None or value == "none"):
        return None
    if not kinds or any(kind not in (int, type(None)) and get_origin(kind) is not Literal for kind in kinds):
        return value  # a type of another package's own, which reads its settings itself
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if value in words:
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
