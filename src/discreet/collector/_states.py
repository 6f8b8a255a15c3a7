"""What may follow what: the states of a round and the events between them, as data in one table.

A round goes one way only. Whoever stores it moves it by an event, on the condition that it is still where the event
begins; so two servers that do the same do it once.
"""

from __future__ import annotations

from enum import StrEnum

from ..errors import MisuseError


class RoundState(StrEnum):
    """Where a round is."""

    DRAFTED = "drafted"  # the protocol asks for it, and nobody has been asked yet
    OPEN = "open"  # its question is signed and published, and reports are taken
    CLOSED = "closed"  # no report is taken any more; those that were are still to be added up
    RELEASED = "released"  # what its reports add up to is stored for good
    SCRUBBED = "scrubbed"  # the reports themselves are gone


class RoundEvent(StrEnum):
    """What moves a round on."""

    OPEN = "open"
    CLOSE = "close"
    RELEASE = "release"
    SCRUB = "scrub"


TRANSITIONS: dict[tuple[RoundState, RoundEvent], RoundState] = {
    (RoundState.DRAFTED, RoundEvent.OPEN): RoundState.OPEN,
    (RoundState.OPEN, RoundEvent.CLOSE): RoundState.CLOSED,
    (RoundState.CLOSED, RoundEvent.RELEASE): RoundState.RELEASED,
    (RoundState.RELEASED, RoundEvent.SCRUB): RoundState.SCRUBBED,
}


def before(event: RoundEvent) -> RoundState:
    """Return the one state that an event begins in."""
    (state,) = (state for state, known in TRANSITIONS if known is event)
    return state


def after(state: RoundState, event: RoundEvent) -> RoundState:
    """Return the state that follows; an event that does not fit is refused."""
    if (state, event) not in TRANSITIONS:
        raise MisuseError(f"A round that is {state} cannot {event}: it has to be {before(event)}.")
    return TRANSITIONS[state, event]
