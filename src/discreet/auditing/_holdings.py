"""The baskets, events and given pairs of the made-up people of an audit, in all combinations."""

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

_MAX_ENUMERATED_ITEMS = 5  # items: all 32 baskets of 5 items are made; of more items, prefixes of the list alone
_UNLISTED_ITEM = 10**6  # an item outside every list
_PAIR_PROBABILITY = 0.4  # of each pair of a basket in a crowd; chosen, so that people state some pairs and lack some


@dataclass(frozen=True)
class Holding:
    """The holding of one person: a basket, events in order, and given pairs.

    Parameters
    ----------
    items
        The basket; the first basket of a person with several.
    events
        The items in order, with repeats.
    given
        Pairs that the person states, of any items.
    others
        Further baskets of the person: the device draws the basket that it answers for.
    """

    items: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    given: tuple[Pair, ...] = ()
    others: tuple[tuple[int, ...], ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The items as texts, for questions without a list of items."""
        return tuple(map(str, self.items))

    @cached_property
    def after(self) -> tuple[Pair, ...]:
        """The pairs (a, b) of different items with some b after some a."""
        later_pairs = (
            (event, later_event) for place, event in enumerate(self.events) for later_event in self.events[place + 1 :]
        )
        return tuple(sorted({pair for pair in later_pairs if pair[0] != pair[1]}))

    def question_pairs(self, form: Mapping[str, Any]) -> tuple[Pair, ...]:
        """Return the pairs that a question is about; no pairs for a question about the basket."""
        return {"after": self.after, "given": self.given}.get(form.get("pairs", ""), ())

    def values(self, form: Mapping[str, Any]) -> list[int]:
        """Return the values with which a device of this person answers a question."""
        return find_values(form, self.texts if "texts" in form else self.items, self.question_pairs(form))

    def render(self, form: Mapping[str, Any]) -> str:
        """Return the part of the holding that a question is about, in words."""
        pairs = ", ".join(f"{left_item} → {right_item}" for left_item, right_item in self.question_pairs(form))
        pair_text = f" and {pairs or 'no pairs'}" if form.get("pairs") in OWN else ""
        return render_basket(self.items) + pair_text


def render_basket(basket: Sequence[int]) -> str:
    """Return a basket in words."""
    return f"{{{', '.join(map(str, basket))}}}" if basket else "nothing"


def list_small_holdings(items: int) -> list[Holding]:
    """Return all baskets of a few items, with no pairs, some and all, and pairs without a basket."""
    holdings = []
    for basket in subsets(range(items)):
        reversed_basket, all_pairs = basket[::-1], tuple(permutations(basket, 2))
        holdings += [
            Holding(basket),
            Holding(basket, basket, tuple(pairwise(basket))),
            Holding(basket, reversed_basket, tuple(pair for pair in all_pairs if pair[0] > pair[1])),
            Holding(basket, basket + reversed_basket, all_pairs),
        ]
    holdings += [Holding((), pair, (pair,)) for pair in permutations(range(items), 2)]
    unlisted_pairs = ((_UNLISTED_ITEM, 0), (0, _UNLISTED_ITEM))
    return [*holdings, Holding((_UNLISTED_ITEM,), (_UNLISTED_ITEM, 0, _UNLISTED_ITEM), unlisted_pairs)]


def crowd(items: int, people: int, seed: int) -> list[Holding]:
    """Return random people, mostly with short baskets; the first has an empty basket, and the last the largest."""
    kinds = [
        *subsets(range(min(items, _MAX_ENUMERATED_ITEMS))),
        *(tuple(range(item)) for item in range(_MAX_ENUMERATED_ITEMS + 1, items)),
    ]
    generator = np.random.default_rng(seed)
    kind_places = np.minimum(generator.geometric(0.08, people) - 1, len(kinds) - 1)
    rows = [Holding()]
    for place in kind_places[1:-1]:
        basket = kinds[place]
        events = basket + basket[: len(basket) // 2]
        # Given pairs need not be of the basket: one item more is possible.
        candidate_pairs = permutations(sorted({*basket, int(generator.integers(items))}), 2)
        given_pairs = tuple(pair for pair in candidate_pairs if generator.random() < _PAIR_PROBABILITY)
        rows.append(Holding(basket, tuple(generator.permutation(events).tolist()), given_pairs))
    largest_basket = kinds[-1]
    return [*rows, Holding(largest_basket, largest_basket + largest_basket, tuple(permutations(largest_basket, 2)))]


def build_baskets(rows: Sequence[Holding], items: int) -> Baskets:
    """Return the baskets, sequences and pairs of people as data."""
    return Baskets(
        offsets=starts([len(row.items) for row in rows]),
        codes=_join_codes(row.items for row in rows),
        vocabulary=Vocabulary(range(items)),
        sequences=Sequences(starts([len(row.events) for row in rows]), _join_codes(row.events for row in rows)),
        pairs=Pairs(
            starts([len(row.given) for row in rows]),
            _join_codes((left_item for left_item, _ in row.given) for row in rows),
            _join_codes((right_item for _, right_item in row.given) for row in rows),
        ),
    )


def _join_codes(rows: Iterable[Iterable[int]]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array([*chain.from_iterable(rows)], np.int32)
