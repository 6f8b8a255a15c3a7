"""What the people of an audit hold: items, what they did in order, and given pairs, in all kinds of ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, permutations
from typing import Any, TypeAlias

import numpy as np

from ..baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from ..local.device import OWN, find_values
from ._local_laws import subsets

Pair: TypeAlias = tuple[int, int]

_SMALL = 5  # of so many items, all baskets are made
_UNLISTED = 10**6  # an item that is on no list
_GIVEN = 0.4  # how likely somebody in a crowd has each pair of what they hold


@dataclass(frozen=True)
class Holding:
    """What one person has: a basket, the same and more as events in order, and given pairs, of anything.

    Where there are `others`, the person has several baskets, and the device draws the one that it answers for.
    """

    items: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    given: tuple[Pair, ...] = ()
    others: tuple[tuple[int, ...], ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The items as texts, for questions that no list of items stands behind."""
        return tuple(map(str, self.items))

    @cached_property
    def after(self) -> tuple[Pair, ...]:
        """The pairs (a, b) of different items where some b came later than some a."""
        later = ((one, other) for at, one in enumerate(self.events) for other in self.events[at + 1 :])
        return tuple(sorted({pair for pair in later if pair[0] != pair[1]}))

    def own(self, form: Mapping[str, Any]) -> tuple[Pair, ...]:
        """Return the pairs that a question is about, where it is about any but those of the basket."""
        return {"after": self.after, "given": self.given}.get(form.get("pairs", ""), ())

    def values(self, form: Mapping[str, Any]) -> list[int]:
        """Return what a device with this answers a question with."""
        return find_values(form, self.texts if "texts" in form else self.items, self.own(form))

    def shown(self, form: Mapping[str, Any]) -> str:
        """Return in words what of it a question is about."""
        pairs = ", ".join(f"{one} → {other}" for one, other in self.own(form))
        beside = f" and {pairs or 'no pairs'}" if form.get("pairs") in OWN else ""
        return shown(self.items) + beside


def shown(basket: Sequence[int]) -> str:
    """Return a basket in words."""
    return f"{{{', '.join(map(str, basket))}}}" if basket else "nothing"


def small(items: int) -> list[Holding]:
    """Return all baskets of a few items, each with no pairs, with some and with all, and pairs without a basket."""
    found = []
    for basket in subsets(range(items)):
        back, every = basket[::-1], tuple(permutations(basket, 2))
        found += [
            Holding(basket),
            Holding(basket, basket, tuple(pairwise(basket))),
            Holding(basket, back, tuple(pair for pair in every if pair[0] > pair[1])),
            Holding(basket, basket + back, every),
        ]
    found += [Holding((), pair, (pair,)) for pair in permutations(range(items), 2)]
    beyond = ((_UNLISTED, 0), (0, _UNLISTED))
    return [*found, Holding((_UNLISTED,), (_UNLISTED, 0, _UNLISTED), beyond)]


def crowd(items: int, people: int, seed: int) -> list[Holding]:
    """Return people with all kinds of baskets, short ones more often; the first has nothing, and the last the most."""
    kinds = [*subsets(range(min(items, _SMALL))), *(tuple(range(item)) for item in range(_SMALL + 1, items))]
    generator = np.random.default_rng(seed)
    common = np.minimum(generator.geometric(0.08, people) - 1, len(kinds) - 1)
    rows = [Holding()]
    for place in common[1:-1]:
        basket = kinds[place]
        repeated = basket + basket[: len(basket) // 2]
        # Pairs are given as they are: also of an item that the basket does not list.
        listed = permutations(sorted({*basket, int(generator.integers(items))}), 2)
        given = tuple(pair for pair in listed if generator.random() < _GIVEN)
        rows.append(Holding(basket, tuple(generator.permutation(repeated).tolist()), given))
    last = kinds[-1]
    return [*rows, Holding(last, last + last, tuple(permutations(last, 2)))]


def as_baskets(rows: Sequence[Holding], items: int) -> Baskets:
    """Return what these people hold as data."""
    return Baskets(
        offsets=starts([len(row.items) for row in rows]),
        codes=_codes(row.items for row in rows),
        vocabulary=Vocabulary(range(items)),
        sequences=Sequences(starts([len(row.events) for row in rows]), _codes(row.events for row in rows)),
        pairs=Pairs(
            starts([len(row.given) for row in rows]),
            _codes((one for one, _ in row.given) for row in rows),
            _codes((other for _, other in row.given) for row in rows),
        ),
    )


def _codes(rows: Iterable[Iterable[int]]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array([*chain.from_iterable(rows)], np.int32)
