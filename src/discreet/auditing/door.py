"""The door to the audit: a mechanism by name, its claim, and the three ways of trying to break it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from ..catalogue import mechanism as entry_of
from ..curator.mechanism import Mechanism
from ..errors import MisuseError
from ..exact.checks import is_whole, positive
from ..privacy.budget import Budget, Neighbours
from ..publish import Relation
from .coupled import coupled
from .exact import exact
from .statistical import statistical
from .verdict import Verdict

# Where a mechanism cannot do without a delta: a large one, so that what it allows shows in few runs.
_DELTA = Fraction(1, 1000)


def audit(
    mechanism: str | Mechanism,
    *,
    epsilon: Any = 1,
    delta: Any = None,
    neighbours: Relation = "add-remove",
    runs: int = 1000,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> Verdict:
    """Try to break the claim of a mechanism, on made-up neighbours, in three ways.

    Nothing of anyone's data is looked at, and nothing is spent. A claim that stands is not proved: see the page about
    the audit for what each way can and cannot show.

    Parameters
    ----------
    mechanism
        A name of the catalogue, or a mechanism itself.
    epsilon, delta
        The claim. Without a delta it is pure, or 0.001 where the mechanism needs one.
    neighbours
        ``"add-remove"`` or ``"replace"``.
    runs
        How often the mechanism is run on each of two neighbours for the statistical bound.
    seed
        The same seed tries the same.
    settings
        The mechanism's settings by name, where it is given by name.

    Returns
    -------
    Verdict
        Its `stands` says whether the claim survived; `worst` names the neighbours that came closest to breaking it.

    Examples
    --------
    >>> from discreet.auditing import audit
    >>> verdict = audit("count", epsilon="1/2", runs=50)
    >>> verdict.stands
    True
    >>> [attempt.means for attempt in verdict.attempts]
    ['coupled', 'exact', 'statistical']
    """
    if isinstance(mechanism, Mechanism):
        if settings:
            raise MisuseError("Settings belong to a mechanism given by name: put them into the object instead.")
        how = mechanism
    else:
        how = entry_of(mechanism).make(settings)
    relation = Neighbours.typed(neighbours)
    if not is_whole(seed) or seed < 0:
        raise MisuseError(f"A seed is a whole number, 0 or more; {seed!r} was given.")
    runs = positive("runs", runs)
    if delta is None:
        delta = _DELTA if how.delta is True else 0
    budget = Budget.of(epsilon, delta)
    attempts = (
        coupled(how, budget, relation, seed),
        exact(how, budget, relation),
        statistical(how, budget, relation, runs, seed),
    )
    return Verdict(
        name=how.name,
        settings=tuple((field.name, str(getattr(how, field.name))) for field in fields(how)),  # type: ignore[arg-type]
        neighbours=relation,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=attempts,
        seed=seed,
    )
