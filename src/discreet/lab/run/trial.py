"""Trying a mechanism on known data with seeded noise: repeatable, and marked as simulated. Nothing is promised."""

from __future__ import annotations

from typing import Any

from ...privacy.sampling.sources import SimulationSource
from ...publish import carry_out, prepare
from ...publish.result import Release


def trial(baskets: Any, *, seed: int, **question: Any) -> Release:
    """Run what :func:`discreet.release` would run, with noise from a seed.

    Parameters
    ----------
    baskets
        The data.
    seed
        The same seed gives the same result.
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
    jobs = prepare(baskets, trying=True, **question | {"really": True})
    return carry_out(next(iter(jobs.values())), SimulationSource(seed))
