"""A mechanism that looks at the data fails to run: nothing of what it saw gets out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from auditing import planted
from discreet.auditing._coupled import coupled
from discreet.exact import Kth, Supports
from discreet.planning import trial
from discreet.privacy import Budget, Neighbours

UNIT_BUDGET, ADD_REMOVE = Budget.of(1), Neighbours.ADD_REMOVE


class Peeking(planted.Planted):
    """Adds what it sees to the facts of a release that is right in all else."""

    def run(self, engine, problem, meter):
        private_value = self.peek(engine, problem, meter)
        return replace(super().run(engine, problem, meter), facts={"seen": private_value})


@dataclass(frozen=True, kw_only=True)
class CountOfAnItem(Peeking):
    def peek(self, engine, problem, meter):
        return int(engine.answer(Supports(planted.every_item(problem.item_count)))[0])


@dataclass(frozen=True, kw_only=True)
class LastOfTheTop(Peeking):
    def peek(self, engine, problem, meter):
        return int(engine.answer(Kth(1, 1, 1)))


@dataclass(frozen=True, kw_only=True)
class WhetherThereIsAnything(Peeking):
    def peek(self, engine, problem, meter):
        return bool(engine.answer(Supports(planted.every_item(problem.item_count))))


@dataclass(frozen=True, kw_only=True)
class HowManyAreListed(Peeking):
    def peek(self, engine, problem, meter):
        return len(engine.above(1, 1, 2))


@dataclass(frozen=True, kw_only=True)
class WhichAreListed(Peeking):
    def peek(self, engine, problem, meter):
        return engine.above(1, 1, 2).itemsets.tuples()


@dataclass(frozen=True, kw_only=True)
class TheBaskets(Peeking):
    def peek(self, engine, problem, meter):
        return engine.baskets.item_counts.tolist()


@dataclass(frozen=True, kw_only=True)
class AThresholdByTheData(Peeking):
    def peek(self, engine, problem, meter):
        return engine.answer(Kth(1, 1, 1)) > 3


@dataclass(frozen=True, kw_only=True)
class ScoresOfItsOwn(Peeking):
    def peek(self, engine, problem, meter):
        counts = np.asarray(engine.answer(Supports(planted.every_item(problem.item_count))))
        return meter.choose("choosing", counts**2, 1, planted.WHOLE_SHARE)


@dataclass(frozen=True, kw_only=True)
class NoiseOfItsOwn(Peeking):
    def peek(self, engine, problem, meter):
        return float(engine.answer(Kth(1, 1, 1)) + np.random.default_rng(1).laplace())


EVERY = Peeking.__subclasses__()


@pytest.mark.parametrize("kind", EVERY)
def test_it_fails_to_run(kind):
    with pytest.raises((TypeError, AttributeError)) as caught:
        trial([{0, 1}] * 41, seed=1, min_count=2, epsilon=1, items=3, mechanism=kind())
    assert "41" not in str(caught.value)


@pytest.mark.parametrize("kind", EVERY[:2])
def test_the_audit_says_so(kind):
    attempt = coupled(kind(), UNIT_BUDGET, ADD_REMOVE, 1)
    assert not attempt.stands
    assert "After spending began, TypeError was raised" in attempt.why
