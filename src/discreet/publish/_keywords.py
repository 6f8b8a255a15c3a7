"""The keywords of the curator's functions: their types for type checkers, and what makes signatures and help of them.

A type checker reads the classes below and nothing that runs. What each keyword means, and its default, stands at the
field of its question; a test holds the classes to the fields. `asks` gives a function the signature and the docstring
that help() and editors show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypedDict, TypeVar

from ..baskets import Item
from ..curator import Mechanism
from ..privacy import Relation
from ..wording import check_keywords
from ._door import Observer, Payer
from ._fields import field_entries, parameter_text, question_fields
from ._question import PrivacyQuestion, Question

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger import Ledger

P = ParamSpec("P")
R = TypeVar("R")
Progress: TypeAlias = Callable[[float], object]


class _Reading(TypedDict, total=False):
    person: str | None
    item: str | None
    basket: str | None
    time: str | None
    pair: tuple[str, str] | None


class _Paying(TypedDict, total=False):
    ledger: str | PathLike[str] | Ledger | None
    who: str
    same_data: bool


class _Watching(TypedDict, total=False):
    progress: Progress | None


class CountOptions(_Paying, _Watching, total=False):
    """The keywords of :func:`count`, for type checkers: :func:`count_by` takes them too."""

    person: str | None
    item: str | None
    basket: str | None
    epsilon: Any
    delta: Any
    items: Any
    people: int | None
    neighbours: Relation
    max_baskets: int | None
    hierarchy: Any
    level: int | str | None
    really: bool


class ReleaseOptions(CountOptions, total=False):
    """The keywords of :func:`release`, for type checkers: :func:`release_by` takes them too."""

    top: int | None
    min_support: Any
    min_count: int | None
    lengths: Any
    contains: Item | Iterable[Item]
    excludes: Item | Iterable[Item]
    mechanism: str | Mechanism
    settings: Mapping[str, Any] | None
    counts: bool


# What is said of keywords that are no fields of a question.
_OTHER_WORDS = {
    "person": "The column that says whose row it is, in a table with one row per item, as for :func:`discreet.read`.",
    "item": "The column with the item.",
    "basket": "The column that tells the baskets of a person apart: counts are then of baskets, and the unit of "
    "privacy is the person all the same.",
    "time": "The column that orders a person's rows.",
    "pair": "Two columns: each row gives its person a pair of items.",
    "ledger": "The account that pays: a path or an open ledger. It is written before anything is computed.",
    "who": "Who asks, for the ledger.",
    "same_data": "Asserts that the data are those of the ledger although they look different.",
    "progress": "Called at each step with the share of the budget that was planned for the steps before it: a public "
    "number.",
}


@dataclass(frozen=True)
class Keywords:
    """The keywords of a call by what they are for: to read data, to pay, to watch, and to ask."""

    reading: dict[str, Any]
    payer: Payer
    observer: Observer
    question: dict[str, Any]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Keywords:
        """Return the keywords of a call, told apart."""
        kinds: list[dict[str, Any]] = [
            {name: value for name, value in options.items() if name in kind.__annotations__}
            for kind in (_Reading, _Paying, _Watching)
        ]
        asked = {name: value for name, value in options.items() if not any(name in kind for kind in kinds)}
        return cls(kinds[0], Payer(**kinds[1]), Observer(**kinds[2]), asked)


def asks(question: type[PrivacyQuestion], options: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a function that takes `options`: fields of a question, and what reads, pays and watches.

    The function gets the signature that help() and editors show, and a docstring with an entry for each keyword in the
    place of FIELDS. A word of another library is answered with ours.
    """
    names = list(options.__annotations__)
    said = field_entries(question) | _OTHER_WORDS
    defaults = {one.name: one.default for holder in (question, Payer, Observer) for one in fields(holder)}
    order = {one.name: place for place, (one, _) in enumerate(question_fields(question))}
    names.sort(key=lambda name: order.get(name, len(order)))

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        shape = signature(function)
        own = [one for one in shape.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        taken = {one.name for one in own}
        keywords = [_parameter(name, options, defaults.get(name)) for name in names if name not in taken]
        known = {*taken, *(one.name for one in keywords)}

        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> R:
            check_keywords(function.__name__, given, known)
            for name in given:
                if name not in known:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*args, **given)

        entries = {one.name: said[one.name] for one in keywords if one.name in said}
        call.__doc__ = (function.__doc__ or "").replace("FIELDS", parameter_text(entries, "    ").strip())
        call.__signature__ = shape.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        return call

    return decorate


def _parameter(name: str, options: type, default: Any) -> Parameter:
    """Return a keyword with its type as the class of options has it."""
    kind = options.__annotations__[name]
    written = str(getattr(kind, "__forward_arg__", kind))
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=written)


def question_of(question: Question | None, values: Mapping[str, Any]) -> Question:
    """Return the question that a function is asked: of its keywords, or another one with these in place of its own."""
    return Question(**values) if question is None else question.changed(**values)
