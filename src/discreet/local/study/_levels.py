"""Hierarchies on devices: each device maps its basket before it answers, and protocols ask about what comes out.

The device draws one of its baskets first, where it has several, and maps that; as each basket is mapped by itself,
mapping all of them first gives the same. Sizes, paddings and estimates are then of mapped baskets, and no report gives
away more than it did: the proof is in `baskets/hierarchy.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...baskets import Baskets, Hierarchy, generalised, onto, public_items
from ...errors import MisuseError

if TYPE_CHECKING:
    from .. import Protocol


def on_levels(baskets: Baskets, hierarchy: Hierarchy | None, level: Any, plan: Protocol) -> Baskets:
    """Return baskets as devices answer for them: with what stands above their items, or as they are on one level.

    The list that a protocol asks about has all labels of the hierarchy too, or those of the level, whether or not
    anybody holds them: it is public, as the hierarchy is.
    """
    if hierarchy is not None:
        check_levels(plan, level)
        hierarchy = hierarchy.renamed(baskets.vocabulary.names)
        baskets = onto(baskets, public_items(hierarchy, "public", baskets)[0])
    return generalised(baskets, hierarchy, level)


def check_levels(plan: Protocol, level: Any) -> None:
    """Refuse a protocol that does not know what to make of a hierarchy."""
    if plan.unlisted:
        raise MisuseError.format(
            "{name} finds out what the items are, so nothing is known of what stands above them: leave "
            "{hierarchy} out.",
            name=plan.name,
        )
    if level is None and not plan.across:
        raise MisuseError.format(
            "{name} would relate items to those that stand above them: ask for one level with {level=}, or use "
            "another protocol, such as adept.",
            name=plan.name,
        )
