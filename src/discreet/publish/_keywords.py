"""The keywords of the curator's functions: their types, their signatures and their help.

Type checkers run no code, and need the classes below. The meaning of a keyword and its default stand at the field of
its question; a test holds the classes to the fields. `with_keywords` gives a function the signature and the
docstring that help() and editors show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar

from ..baskets import Item
from ..curator import Mechanism
from ..privacy import Relation
from ..wording import check_keywords
from ._door import Observer, Payer
from ._fields import field_texts, question_fields, render_parameters
from ._question import PrivacyQuestion, Question

if TYPE_CHECKING:
    from os import PathLike

    from ..privacy.ledger import Ledger

P = ParamSpec("P")
R = TypeVar("R")


# The keywords by their purpose: to read data, to pay, to observe the run. All further ones are fields of the question.
_OTHER_NAMES = (("person", "item", "basket", "time", "pair"), ("ledger", "who", "same_data"), ("progress",))


class PrivacyOptions(TypedDict, total=False):
    """The keywords of all functions that spend a budget, for type checkers."""

    ledger: str | PathLike[str] | Ledger | None
    who: str
    epsilon: Any
    delta: Any
    neighbours: Relation
    really: bool


class BasketOptions(PrivacyOptions, total=False):
    """The keywords of all functions that spend a budget on baskets, for type checkers."""

    same_data: bool
    person: str | None
    item: str | None
    items: Any
    people: int | None


class CountOptions(BasketOptions, total=False):
    """The keywords of :func:`count` and :func:`count_by`, for type checkers."""

    progress: Callable[[float], object] | None
    basket: str | None
    max_baskets: int | None
    hierarchy: Any
    level: int | str | None


class PatternOptions(TypedDict, total=False):
    """The keywords that select patterns, for type checkers."""

    top: int | None
    min_support: Any
    min_count: int | None
    lengths: Any
    contains: Item | Iterable[Item]
    excludes: Item | Iterable[Item]


class ReleaseOptions(CountOptions, PatternOptions, total=False):
    """The keywords of :func:`release` and :func:`release_by`, for type checkers."""

    mechanism: str | Mechanism
    settings: Mapping[str, Any] | None
    counts: bool


# The help of keywords that are no fields of a question.
_OTHER_TEXTS = {
    "person": "The column of the person, in a table with one row per item, as for :func:`discreet.read`.",
    "item": "The column with the item.",
    "basket": "The column of the basket, if a person may have several: counts are then of baskets, and the unit of "
    "privacy remains the person.",
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
    """The keywords of a call by their purpose: to read data, to pay, to observe, and to ask."""

    reading_options: dict[str, Any]
    payer: Payer
    observer: Observer
    question: dict[str, Any]

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> Keywords:
        """Return the keywords of a call, sorted by purpose."""
        groups = [{name: options[name] for name in names if name in options} for names in _OTHER_NAMES]
        question = {name: value for name, value in options.items() if not any(name in group for group in groups)}
        return cls(groups[0], Payer(**groups[1]), Observer(**groups[2]), question)


def with_keywords(question: type[PrivacyQuestion], options: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a function that takes `options`: fields of a question, reading, paying and observing.

    The function gets the signature that help() and editors show, and a docstring with an entry for each keyword in the
    place of FIELDS. A keyword of a foreign library is refused with a hint to ours.
    """
    texts = field_texts(question) | _OTHER_TEXTS
    defaults = {field.name: field.default for holder in (question, Payer, Observer) for field in fields(holder)}
    order = {field.name: place for place, (field, _) in enumerate(question_fields(question))}
    names = sorted(options.__annotations__, key=lambda name: order.get(name, len(order)))

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own_signature = signature(function)
        own_parameters = {
            name: parameter
            for name, parameter in own_signature.parameters.items()
            if parameter.kind is not Parameter.VAR_KEYWORD
        }
        keywords = [_build_parameter(name, options, defaults.get(name)) for name in names if name not in own_parameters]
        # Python would take any keyword, as the function has **options.
        allowed_names = {*own_parameters, *(keyword.name for keyword in keywords)}

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            check_keywords(function.__name__, kwargs, allowed_names)
            for name in kwargs:
                if name not in allowed_names:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*args, **kwargs)

        entries = {keyword.name: texts[keyword.name] for keyword in keywords if keyword.name in texts}
        call.__doc__ = (function.__doc__ or "").replace("FIELDS", render_parameters(entries, "    ").strip())
        parameters = [*own_parameters.values(), *keywords]
        call.__signature__ = own_signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return decorate


def _build_parameter(name: str, options: type, default: Any) -> Parameter:
    """Return a keyword-only parameter with its annotation from the class of options."""
    # As text: evaluating it would import packages that the signature alone does not need.
    annotation = options.__annotations__[name]
    text = str(getattr(annotation, "__forward_arg__", annotation))
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=text)


def build_question(question: Question | None, values: Mapping[str, Any]) -> Question:
    """Return a question of keywords, or the given question with keywords in place of its fields."""
    return Question(**values) if question is None else question.changed(**values)
