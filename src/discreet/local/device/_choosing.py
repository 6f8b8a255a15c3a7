"""Which of its baskets a device answers for, where it holds several: one, drawn at random. Standard library only.

A report is about one basket. One that is drawn stands for all of them: over many devices, a pattern is estimated to be
held by the share of their baskets that hold it. The device pads its baskets with empty ones to `max_baskets` and
samples one, as `client.sampled` does with what a basket holds. The proof is in `choosing.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import token_bytes
from typing import TypeVar

from ._answering import plain_texts, whole_numbers
from ._draws import Draws

T = TypeVar("T", int, str)

MOST_BASKETS = 1_000_000


def chosen(
    baskets: Iterable[Iterable[T]], *, max_baskets: int = 1, take: Callable[[int], bytes] = token_bytes
) -> list[T]:
    """Return the basket that this device answers for: one of those it holds, or an empty one where it holds none.

    Privacy: a report about it is as private as one about a basket that nobody drew, and hides all of them. Make one
    report per study, whichever was drawn: reports about several would add up.

    Parameters
    ----------
    baskets
        All baskets of the device: lists of items, or of texts where the study has no list.
    max_baskets
        Up to how many baskets a person counts for more than who has one: a number of the study, the same on every
        device. With fewer than that, what is drawn may be an empty basket. 1 has everybody count the same.
    take
        Where random bytes come from: the system's secure source. Anything else is for tests.
    """
    if not isinstance(max_baskets, int) or isinstance(max_baskets, bool) or not 1 <= max_baskets <= MOST_BASKETS:
        raise ValueError(f"max_baskets is a whole number from 1 to {MOST_BASKETS:,}; {max_baskets!r:.80} was given.")
    held = [list(basket) for basket in baskets]
    # All are looked at, whichever is drawn: a device that stops at one of them alone would tell.
    everything = [item for basket in held for item in basket]
    if sum(isinstance(item, str) for item in everything):
        plain_texts(everything)
    else:
        whole_numbers(everything)
    at = place(len(held), max_baskets, Draws(take))
    return held[at] if at < len(held) else []


def place(many: int, max_baskets: int, draws: Draws) -> int:
    """Return which of so many baskets is drawn, from 0; the number that no basket has stands for an empty one."""
    return min(draws.below(max(many, max_baskets)), many)
