"""A run of a mechanism over data with seeded noise: repeatable, marked as simulated, and without a guarantee."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..exact import Engine, engine_of
from ..privacy.sampling import SimulationSource
from ..publish import Question, Release, build_cases, carry_out, read_data


def trial(baskets: Any, *, seed: int, engine: Callable[[Any], Engine] = engine_of, **question: Any) -> Release:
    """Return the release of a question, with noise from a seed instead of the system source.

    Parameters
    ----------
    baskets
        The data.
    seed
        The seed of the noise: equal seeds give equal releases.
    engine
        The function that builds the engine for exact queries; an engine kept over many trials is prepared once.
    question
        The keywords of :func:`discreet.release`, without ledger and segments.

    Examples
    --------
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> release = trial(baskets, seed=7, top=2, epsilon=1, items="public", mechanism="exponential")
    >>> release.simulated, len(release.patterns)
    (True, 2)
    """
    # A trial has no guarantee, so that an epsilon too large for a release does no harm.
    case = build_cases(Question(**question | {"really": True}), read_data(baskets), trying=True)[""]
    return carry_out(case, SimulationSource(seed), engine)
