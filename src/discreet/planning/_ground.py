"""What mechanisms are tried on: the data, people drawn from them, or a crowd imagined from public numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..baskets import AnyBaskets, Baskets
from ..checks import is_whole, parse_positive
from ..errors import MisuseError, name_options
from ..exact import Engine, LocalEngine, engine_of
from ..privacy import exact
from ..results import TrialSource
from ..wording import number_of
from ._crowd import ScaledEngine, imagine
from ._known import MOST_PEOPLE, Known, at_most


@dataclass(frozen=True, kw_only=True, eq=False)
class Ground:
    """What is tried on: baskets that stand for `scale` people each, and what was given for `items` and `people`."""

    baskets: AnyBaskets
    on: TrialSource
    items: Any
    people: int | None
    scale: float = 1.0
    notes: tuple[str, ...] = ()

    def engine(self, baskets: Any) -> Engine:
        """Return who answers for these baskets."""
        inner = engine_of(baskets)
        if self.scale == 1 or not isinstance(inner, LocalEngine):
            return inner
        return ScaledEngine(inner, self.scale, [])


def ground_of(
    held: AnyBaskets, items: Any, people: int | None, delta: Any, crowd: int | None, seed: int, given: Mapping[str, Any]
) -> Ground:
    """Return the data as what is tried on, or people drawn from them."""
    for name, value in given.items():
        if value is not None:
            raise MisuseError.format(
                "{option} says what a made-up crowd is like: leave it out, or leave the data out.",
                option=name_options(name),
            )
    on: TrialSource = "data"
    notes: list[str] = []
    if crowd is not None:
        from ..baskets import resample

        if not isinstance(held, Baskets):
            raise MisuseError("People are drawn from baskets on this machine; these are in a cluster.")
        notes.append(f"{number_of(held.people, 'person', 'people')} were read, and {crowd:,} drawn from them.")
        held, on = resample(held, parse_positive("crowd", crowd), seed), "drawn"
    if items is None and not exact(delta, "delta"):
        items = "public"
        notes.append(
            "The items found in the data were taken for a public list of them, as none was given. A release has to be "
            "told which items there are."
        )
    return Ground(baskets=held, on=on, items=items, people=people, notes=tuple(notes))


def imagined_ground(people: Any, items: Any, sizes: Any, exponent: Any, frequencies: Any, seed: int) -> Ground:
    """Return a crowd of public numbers."""
    if people is None or not is_whole(items):
        raise MisuseError.format(
            "Give the data to try on; or say how many {people=} and {items=} there are, two numbers, and a crowd "
            "is made up."
        )
    known = Known.of(items, sizes, exponent, frequencies, None)
    made = imagine(known.supports, known.sizes, known.chances, at_most("people", people, MOST_PEOPLE), seed)
    return Ground(
        baskets=made.baskets, on="imagined", items="public", people=made.people, scale=made.scale, notes=known.notes
    )
