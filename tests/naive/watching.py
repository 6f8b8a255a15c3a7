"""Small data for a mechanism, a meter that can be looked into, and refusals of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from discreet import MisuseError
from discreet.baskets import Baskets, Vocabulary, starts
from discreet.curator import Problem
from discreet.exact import LocalEngine
from discreet.planning import trial
from discreet.privacy import Budget, Meter, Neighbours, SealedEngine
from discreet.privacy.sampling import Selection, SimulationSource


def engine(people, items: int) -> SealedEngine:
    """Return baskets of whole numbers, sealed as a mechanism gets them."""
    rows = [sorted(basket) for basket in people]
    codes = np.array([item for row in rows for item in row], np.int32)
    baskets = Baskets(starts([len(row) for row in rows]), codes, Vocabulary(range(items)))
    return SealedEngine(LocalEngine(baskets), items)


def make_problem(**changes) -> Problem:
    """Return a question about patterns of one item or more, and five people, unless told otherwise."""
    return Problem(**({"min_length": 1, "people": 5} | changes))


class Watched(Meter):
    """A meter that notes the candidates, rate, number and way of each choice, and chooses the first candidates."""

    choices_seen: list

    def _choose(self, purpose, candidates, picks, share, way):
        rate = self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step)
        super()._choose(purpose, candidates, picks, share, way)
        self.choices_seen.append((purpose, candidates, rate, picks, way))
        # The first candidates, whatever their scores, keep two runs on different data in step.
        return Selection(tuple(range(picks)))


def watched(neighbours=Neighbours.ADD_REMOVE, epsilon=2, delta=0) -> Watched:
    """Return a meter that notes its choices."""
    meter = Watched(Budget.of(epsilon, delta), neighbours, SimulationSource(1))
    meter.choices_seen = []
    return meter


def neighbours_of(relation, subsets, steps) -> list[tuple[list, list]]:
    """Return pairs of neighbours: some two people, and one more or one of two; `steps` thin out the three lists."""
    people_step, added_step, replaced_step = steps
    people_pairs = list(product(subsets, repeat=2))[::people_step]
    if relation is Neighbours.ADD_REMOVE:
        return [(list(people), [*people, basket]) for people in people_pairs for basket in subsets[::added_step]]
    basket_pairs = list(combinations(subsets[::replaced_step], 2))
    return [
        ([*people, basket], [*people, replacement]) for people in people_pairs for basket, replacement in basket_pairs
    ]


def choices(mechanism, problem, relation, subsets, steps) -> Iterator[tuple]:
    """Yield every choice of the two runs on each pair of neighbours.

    It has what it is for, the scores before and after, rate, picks, way and price. That scores move by no more than
    they are said to, and in the direction they are said to, is asserted on the way.
    """
    for pair in neighbours_of(relation, subsets, steps):
        before, after = (watched(relation) for _ in pair)
        for people, meter in zip(pair, (before, after), strict=True):
            mechanism.run(engine(people, problem.item_count), problem, meter)
        prices = [charge.epsilon for charge in before.charges]
        assert prices == [charge.epsilon for charge in after.charges]
        for (purpose, mine, rate, picks, way), (_, yours, *_), price in zip(
            before.choices_seen, after.choices_seen, prices, strict=False
        ):
            change = yours.scores - mine.scores
            adding = relation is Neighbours.ADD_REMOVE
            assert np.abs(change).max() <= (1 if adding or mine.monotone else 2), purpose
            if mine.monotone and adding:
                assert (change >= 0).all(), purpose
            yield purpose, mine.scores, yours.scores, rate, picks, way, price


def refusal(mechanism: str, settings, question) -> str:
    """Return the message of a question that is refused."""
    arguments = {"top": 1, "epsilon": 1, "items": 9} | question
    with pytest.raises(MisuseError) as caught:
        trial([{0, 1}], seed=1, mechanism=mechanism, settings=settings, **arguments)
    return str(caught.value)
