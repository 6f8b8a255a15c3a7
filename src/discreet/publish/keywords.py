"""The keywords of the curator's door, for type checkers and for the functions that hand them on.

What they mean, and their defaults, stand in the signatures of `release` and `count`, which help() and editors show. A
test holds this page and `prepare` to those signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Required, TypeAlias, TypedDict

from ..baskets.core import Item
from ..curator.mechanism import Mechanism
from ..privacy.budget import Relation
from ..wording import check_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ..privacy.ledger.ledger import Ledger

Progress: TypeAlias = Callable[[float], object]


class _Reading(TypedDict, total=False):
    person: str | None
    item: str | None
    basket: str | None


class _Paying(TypedDict, total=False):
    ledger: str | PathLike[str] | Ledger | None
    who: str
    same_data: bool


class _Telling(TypedDict, total=False):
    progress: Progress | None


class CountOptions(_Reading, _Paying, total=False):
    """The keywords of :func:`count`, for type checkers: :func:`count_by` takes them too."""

    epsilon: Required[Any]
    delta: Any
    items: Any
    people: int | None
    neighbours: Relation
    max_baskets: int | None
    hierarchy: Any
    level: int | str | None
    really: bool


class ReleaseOptions(CountOptions, _Telling, total=False):
    """The keywords of :func:`release`, for type checkers: :func:`release_by` takes them too."""

    top: int | None
    min_support: Any
    min_count: int | None
    mechanism: str | Mechanism
    settings: Mapping[str, Any] | None
    lengths: Any
    contains: Item | Iterable[Item]
    excludes: Item | Iterable[Item]
    counts: bool


class PreviewOptions(ReleaseOptions, total=False):
    """The keywords of :func:`preview`, for type checkers: those of a release, or of one per segment."""

    by: str | Sequence[Item] | NDArray[Any] | None
    segments: Iterable[Item] | Literal["public"] | None


_Options: TypeAlias = CountOptions | ReleaseOptions | PreviewOptions


def parted(
    caller: str, options: Mapping[str, Any], known: type[_Options]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return apart what reading takes, what paying takes, and what is asked; nothing but known keywords goes on."""
    names = known.__annotations__.keys()
    check_words(caller, options, names)
    for name in options:
        if name not in names:
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
    reading = _Reading.__annotations__.keys()
    paying = _Paying.__annotations__.keys() | _Telling.__annotations__.keys()
    return (
        {name: value for name, value in options.items() if name in reading},
        {name: value for name, value in options.items() if name in paying},
        {name: value for name, value in options.items() if name not in reading | paying},
    )
