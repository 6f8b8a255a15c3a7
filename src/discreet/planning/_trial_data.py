"""The data of trials: given baskets, people drawn from them, or a crowd imagined from public numbers."""

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
from ._public_facts import MAX_PEOPLE, PublicFacts, parse_count


@dataclass(frozen=True, kw_only=True, eq=False)
class TrialData:
    """The baskets of trials, and the public numbers of their question.

    Parameters
    ----------
    baskets
        The baskets.
    source
        The origin of the baskets: ``"data"``, ``"drawn"`` or ``"imagined"``.
    items, people
        The keywords of the question.
    scale
        The number of people that a person in the baskets represents.
    notes
        Sentences about the origin of the baskets.
    """

    baskets: AnyBaskets
    source: TrialSource
    items: Any
    people: int | None
    scale: float = 1.0
    notes: tuple[str, ...] = ()

    def engine(self, baskets: Any) -> Engine:
        """Return an engine for exact queries over baskets, with counts scaled up to the represented people."""
        inner = engine_of(baskets)
        if self.scale == 1 or not isinstance(inner, LocalEngine):
            return inner
        return ScaledEngine(inner, self.scale, [])


def build_trial_data(
    baskets: AnyBaskets,
    items: Any,
    people: int | None,
    delta: Any,
    crowd: int | None,
    seed: int,
    crowd_options: Mapping[str, Any],
) -> TrialData:
    """Return given baskets as the data of trials, or people drawn from them.

    Parameters
    ----------
    baskets
        The given baskets.
    items, people, delta
        The keywords of the question.
    crowd
        The number of people to draw with replacement; None for the baskets themselves.
    seed
        The seed of the draw.
    crowd_options
        The keywords of an imagined crowd, all of which have to be None.
    """
    for name, value in crowd_options.items():
        if value is not None:
            raise MisuseError.format(
                "{option} says what a made-up crowd is like: leave it out, or leave the data out.",
                option=name_options(name),
            )
    source: TrialSource = "data"
    notes: list[str] = []
    if crowd is not None:
        from ..baskets import resample

        if not isinstance(baskets, Baskets):
            raise MisuseError("People are drawn from baskets on this machine; these are in a cluster.")
        notes.append(f"{number_of(baskets.people, 'person', 'people')} were read, and {crowd:,} drawn from them.")
        baskets, source = resample(baskets, parse_positive("crowd", crowd), seed), "drawn"
    if items is None and not exact(delta, "delta"):
        # Mechanisms of pure epsilon need a public list. A trial has no guarantee, so that the data may give the list.
        items = "public"
        notes.append(
            "The items found in the data were taken for a public list of them, as none was given. A release has to be "
            "told which items there are."
        )
    return TrialData(baskets=baskets, source=source, items=items, people=people, notes=tuple(notes))


def imagine_trial_data(people: Any, items: Any, sizes: Any, exponent: Any, frequencies: Any, seed: int) -> TrialData:
    """Return a crowd that is drawn from public numbers, the keywords of :func:`discreet.plan`."""
    if people is None or not is_whole(items):
        raise MisuseError.format(
            "Give the data to try on; or say how many {people=} and {items=} there are, two numbers, and a crowd "
            "is made up."
        )
    facts = PublicFacts.of(items, sizes, exponent, frequencies, None)
    people_count = parse_count("people", people, MAX_PEOPLE)
    crowd = imagine(facts.supports, facts.sizes, facts.size_chances, people_count, seed)
    return TrialData(
        baskets=crowd.baskets,
        source="imagined",
        items="public",  # the numbers of the items are the public list
        people=crowd.people,
        scale=crowd.scale,
        notes=facts.notes,
    )
