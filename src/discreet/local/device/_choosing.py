"""The basket that a device answers for, drawn at random from all its baskets. Standard library only.

A report is about one basket, which stands for all baskets of the device: over many devices, the estimated count of a
pattern adds up the shares of their baskets with the pattern. The device pads its baskets with empty ones to
`max_baskets` and samples one, as `client.sample_symbol` does with the values of a basket. The proof is in
`choosing.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import token_bytes
from typing import TypeVar

from ._answering import plain_texts, whole_numbers
from ._draws import Draws

T = TypeVar("T", int, str)

MOST_BASKETS = 1_000_000  # far above the baskets of any person; `Draws.below` is exact up to 2^32


def draw_basket(
    baskets: Iterable[Iterable[T]], *, max_baskets: int = 1, take: Callable[[int], bytes] = token_bytes
) -> list[T]:
    """Return the basket that this device answers for: one of its baskets, or an empty one if it has none.

    Privacy: a report about it is as private as a report about a fixed basket, and hides all baskets of the device. Make
    one report per study, about the drawn basket: the losses of reports about several baskets would add up.

    Parameters
    ----------
    baskets
        All baskets of the device: lists of items, or of texts in a study without a list of items.
    max_baskets
        The number of baskets up to which a person with several counts for more than a person with one, from 1 to
        1,000,000. It is a number of the study, equal on all devices. A device with fewer baskets may draw an empty
        one. With 1 all persons count equally.
    take
        The source of random bytes: the system's secure source, except in tests.
    """
    if not isinstance(max_baskets, int) or isinstance(max_baskets, bool) or not 1 <= max_baskets <= MOST_BASKETS:
        raise ValueError(f"max_baskets is a whole number from 1 to {MOST_BASKETS:,}; {max_baskets!r:.80} was given.")
    held_baskets = [list(basket) for basket in baskets]
    # Every basket is checked before the draw: a device that refused the drawn basket alone would reveal the draw.
    held_items = [item for basket in held_baskets for item in basket]
    if sum(isinstance(item, str) for item in held_items):
        plain_texts(held_items)
    else:
        whole_numbers(held_items)
    position = draw_position(len(held_baskets), max_baskets, Draws(take))
    return held_baskets[position] if position < len(held_baskets) else []


def draw_position(basket_count: int, max_baskets: int, draws: Draws) -> int:
    """Draw the position of a basket, from 0; `basket_count` stands for an empty basket."""
    return min(draws.below(max(basket_count, max_baskets)), basket_count)
