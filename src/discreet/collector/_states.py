"""The states of a round and the events between them, as one table.

A round moves in one direction. A store applies an event on the condition that the round is still in the state before
it; so two servers that apply one event move the round once.
"""

from __future__ import annotations

from enum import StrEnum


class RoundState(StrEnum):
    """The state of a round."""

    DRAFTED = "drafted"  # the protocol asks for the round, and no device has been asked yet
    OPEN = "open"  # the question is signed and published, and reports are taken
    CLOSED = "closed"  # no more reports are taken, and the reports are not added up yet
    RELEASED = "released"  # the sums of the reports are stored for good
    SCRUBBED = "scrubbed"  # the reports are deleted


class RoundEvent(StrEnum):
    """An event that moves a round to its next state."""

    OPEN = "open"
    CLOSE = "close"
    RELEASE = "release"
    SCRUB = "scrub"


# The state before each event, and the state after it.
TRANSITIONS: dict[RoundEvent, tuple[RoundState, RoundState]] = {
    RoundEvent.OPEN: (RoundState.DRAFTED, RoundState.OPEN),
    RoundEvent.CLOSE: (RoundState.OPEN, RoundState.CLOSED),
    RoundEvent.RELEASE: (RoundState.CLOSED, RoundState.RELEASED),
    RoundEvent.SCRUB: (RoundState.RELEASED, RoundState.SCRUBBED),
}
