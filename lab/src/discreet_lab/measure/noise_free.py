"""A protocol without noise: its answer if all people answered truthfully. For the lab alone.

It separates the cost of noise from the loss by the protocol itself (Dong et al. 2024, figure 7). Nothing here is
private. A study cannot run it: devices randomise each answer. The result is no outcome of a study, since an outcome has
a guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets
from discreet.local import MeanOracle, Protocol
from discreet.local.study import Ask, Estimate, ProtocolResult, SimulatedPeople, StudyGoal, converse
from discreet.privacy import Budget
from discreet.registry import protocol as protocol_of

# A variance next to zero: protocols divide by it.
_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class TrueEstimate(Estimate):
    """The true answers of the people of a round, instead of an estimate from reports."""

    true: NDArray[np.float64]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The true share of people with each value, or the mean of all numbers."""
        return self.true

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """A variance next to zero for each value."""
        return np.full(len(self.true), _VARIANCE)


@dataclass(frozen=True, kw_only=True)
class Truthful(SimulatedPeople):
    """Truthful people; for a person with more values than the padding, each value has a weight below 1."""

    def hear(self, ask: Ask, numbers: NDArray[np.uint32]) -> Estimate:
        """Return the true answers of the people of a round."""
        people = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop))
        offsets, answers = ask.question.answers(self.baskets, people)
        people_count, no_supports = max(len(people), 1), np.zeros(ask.oracle.aggregate_size, np.int64)
        if isinstance(ask.oracle, MeanOracle):
            mean = np.clip(answers, -ask.oracle.span, ask.oracle.span).sum() / (ask.oracle.span * people_count)
            return TrueEstimate(ask, len(people), no_supports, np.array([mean]))
        sizes = np.diff(offsets)
        weights = np.repeat(np.minimum(1.0, ask.oracle.pad / np.maximum(sizes, 1)), sizes)
        return TrueEstimate(
            ask,
            len(people),
            no_supports,
            np.bincount(answers, weights=weights, minlength=ask.oracle.size)[: ask.oracle.size] / people_count,
        )


def learn_without_noise(
    baskets: Baskets,
    protocol: str | Protocol,
    *,
    top: int,
    epsilon: Any,
    seed: int,
    settings: dict[str, Any] | None = None,
) -> ProtocolResult:
    """Return the answer of a protocol if all people answered truthfully. Privacy: none.

    Parameters
    ----------
    baskets
        The data.
    protocol, settings
        The name of a protocol and its settings, or a protocol.
    top, epsilon
        As in :func:`discreet.simulate`; the best paddings still depend on epsilon.
    seed
        The seed of the assignment of people to rounds.
    """
    plan: Protocol = protocol_of(protocol, settings)
    wanted_patterns = StudyGoal(items=baskets.items, top=top, epsilon=Budget.of(epsilon).epsilon)
    plan.check(wanted_patterns)
    crowd = Truthful(baskets=baskets, seed=seed, speed="person")
    numbers = crowd.numbers()
    return converse(plan.ask_rounds(wanted_patterns), lambda ask: crowd.hear(ask, numbers), reports=plan.reports)[0]
