"""Trying a mechanism on known data with seeded noise: repeatable, and marked as simulated. Nothing is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..exact import Engine, engine_of
from ..privacy import Meter
from ..privacy.sampling import SimulationSource
from ..publish import Question, Release, build_cases, read_data, run_case


def trial(baskets: Any, *, seed: int, engine: Callable[[Any], Engine] = engine_of, **question: Any) -> Release:
    """Run what :func:`discreet.release` would run, with noise from a seed.

    Parameters
    ----------
    baskets
        The data.
    seed
        The same seed gives the same result.
    engine
        Who answers exact questions about the baskets: one that is kept over many trials spares its preparations.
    question
        As for :func:`discreet.release`, without ledger and segments.

    Examples
    --------
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> one = trial(baskets, seed=7, top=2, epsilon=1, items="public", mechanism="exponential")
    >>> one.simulated, len(one.patterns)
    (True, 2)
    """
    # Nothing is promised, so nothing can be promised in vain.
    case = build_cases(Question(**question | {"really": True}), read_data(baskets), trying=True)[""]
    meter = Meter(case.budget, case.neighbours, SimulationSource(seed), discovery_delta=case.discovery_delta)
    return run_case(case, meter, engine)
