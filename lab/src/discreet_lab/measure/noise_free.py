"""A conversation without noise: what a protocol would end with if everyone answered truthfully. For the lab alone.

It shows what noise costs a protocol, and what the protocol itself does (Dong et al. 2024, figure 7).
Nothing here is private. A study cannot reach it: devices randomise whatever they are asked. It returns what was learnt
and no outcome, since an outcome comes with a guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets
from discreet.local import MeanOracle, Protocol
from discreet.local.study import Ask, Estimate, Learnt, SimulatedPeople, Wanted, converse
from discreet.privacy import Budget
from discreet.registry import protocol as protocol_of

# Estimates without noise are as good as exact; protocols that divide by a variance need one.
_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class TrueEstimate(Estimate):
    """What a round's people hold, instead of what their reports say."""

    true: NDArray[np.float64]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Which fraction of the people answers with each value, or the mean of all."""
        return self.true

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """Next to nothing."""
        return np.full(len(self.true), _VARIANCE)


@dataclass(frozen=True, kw_only=True)
class Truthful(SimulatedPeople):
    """People who answer truthfully; of those who hold more than a padding, each value counts for its part."""

    def hear(self, ask: Ask, numbers: NDArray[np.uint32]) -> Estimate:
        """Ask those whose number it names."""
        people = np.flatnonzero((numbers >= ask.who.start) & (numbers < ask.who.stop))
        offsets, held = ask.question.answers(self.baskets, people)
        many, nothing = max(len(people), 1), np.zeros(ask.oracle.aggregate_size, np.int64)
        if isinstance(ask.oracle, MeanOracle):
            mean = np.clip(held, -ask.oracle.span, ask.oracle.span).sum() / (ask.oracle.span * many)
            return TrueEstimate(ask, len(people), nothing, np.array([mean]))
        sizes = np.diff(offsets)
        weights = np.repeat(np.minimum(1.0, ask.oracle.pad / np.maximum(sizes, 1)), sizes)
        return TrueEstimate(
            ask,
            len(people),
            nothing,
            np.bincount(held, weights=weights, minlength=ask.oracle.size)[: ask.oracle.size] / many,
        )


def learn_without_noise(
    baskets: Baskets,
    protocol: str | Protocol,
    *,
    top: int,
    epsilon: Any,
    seed: int,
    settings: dict[str, Any] | None = None,
) -> Learnt:
    """Return what a protocol learns if everyone answers truthfully. Privacy: none.

    Parameters
    ----------
    baskets
        The data.
    protocol, settings
        The name of a protocol with its settings, or a protocol.
    top, epsilon
        As in :func:`discreet.simulate`; epsilon still decides which paddings a protocol finds best.
    seed
        Who is asked what.
    """
    plan: Protocol = protocol_of(protocol, settings)
    wanted = Wanted(items=baskets.items, top=top, epsilon=Budget.of(epsilon).epsilon)
    plan.check(wanted)
    crowd = Truthful(baskets=baskets, seed=seed, speed="person")
    numbers = crowd.numbers()
    return converse(plan.talk(wanted), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)[0]
