"""The door to the audit: a mechanism, protocol or oracle by name, its claim, and the ways of trying to break it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from ..checks import is_whole, parse_positive
from ..curator import Mechanism
from ..errors import MisuseError
from ..local import MeanOracle, Oracle, Protocol
from ..privacy import Budget, Neighbours, Relation
from ..publish import RELATIONS_NAME as RELATIONS
from ..registry import entry, proven
from ..wording import hint_keywords
from . import _local as local, _local_talk as local_talk
from ._coupled import coupled
from ._exact import exact
from ._relations import audit_relations
from ._replayed import replayed
from ._statistical import statistical
from ._verdict import Attempt, Verdict
from ._whole import whole

# Where a mechanism cannot do without a delta: a large one, so that what it allows shows in few runs.
_DELTA = Fraction(1, 1000)
# At the usual 1,000 runs there are 200 scripts. Measured by tests/auditing/test_replayed.py: 200 find 30 of the 33
# decisions of `auto` where one of them is taken by the parity of the number of people, and 100 find 27.
_RUNS_PER_SCRIPT, _FEWEST_SCRIPTS = 5, 10


@hint_keywords
def audit(
    mechanism: str | Mechanism | Protocol | Oracle | MeanOracle | type[Oracle] | type[MeanOracle],
    *,
    epsilon: Any = 1,
    delta: Any = None,
    neighbours: Relation = "add-remove",
    runs: int = 1000,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
) -> Verdict:
    """Try to break the claim of a mechanism, a protocol or an oracle, on made-up neighbours, in up to five ways.

    Nothing of anyone's data is looked at, and nothing is spent. A claim that stands is not proved: see the page about
    the audit for what each way can and cannot show.

    Parameters
    ----------
    mechanism
        A name of the registry, ``"release-relations"``, or a mechanism or protocol itself; an oracle, or its class for
        several small questions.
    epsilon, delta
        The claim. Without a delta it is pure, or 0.001 where the mechanism needs one.
    neighbours
        ``"add-remove"`` or ``"replace"``. On the local side, where nobody sees who takes part, one person's basket is
        replaced by any other, whatever is given.
    runs
        How often the mechanism, or a device, is run on each of two neighbours for the statistical bound. A fifth as
        many scripts of made-up answers are replayed.
    seed
        The same seed tries the same.
    settings
        The mechanism's settings by name, where it is given by name.

    Returns
    -------
    Verdict
        Its `stands` says whether something was tried and the claim survived; `worst` names the neighbours that came
        closest to breaking it.

    Examples
    --------
    >>> from discreet.auditing import audit
    >>> verdict = audit("olh", epsilon="1/2", runs=50)
    >>> verdict.stands
    True
    >>> [attempt.means for attempt in verdict.attempts]
    ['exact', 'statistical']
    """
    relation = Neighbours.typed(neighbours)
    if mechanism == RELATIONS and not settings:
        return audit_relations(Budget.of(epsilon, 0 if delta is None else delta), relation, seed)
    how = _given(mechanism, settings)
    if not is_whole(seed) or seed < 0:
        raise MisuseError(f"A seed is a whole number, 0 or more; {seed!r} was given.")
    runs = parse_positive("runs", runs)
    if not isinstance(how, Mechanism):
        return _local(how, Budget.of(epsilon, 0 if delta is None else delta), runs, seed)
    if delta is None:
        delta = _DELTA if how.delta is True else 0
    budget = Budget.of(epsilon, delta)
    attempts = (
        coupled(how, budget, relation, seed),
        replayed(how, budget, relation, seed, scripts=max(_FEWEST_SCRIPTS, runs // _RUNS_PER_SCRIPT)),
        whole(how, budget, relation, seed),
        exact(how, budget, relation),
        statistical(how, budget, relation, runs, seed),
    )
    return Verdict(
        name=how.name,
        settings=_settings(how),
        neighbours=relation,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=attempts,
        seed=seed,
    )


def _given(named: Any, settings: Mapping[str, Any] | None) -> Any:
    """Return what is to be audited: an object, or a class of oracles."""
    if isinstance(named, str):
        known = entry(named)
        return known.kind if known.what == "oracle" and not settings else known.make(settings)
    if settings:
        what = "protocol" if isinstance(named, Protocol) else "mechanism"
        raise MisuseError(f"Settings belong to a {what} given by name: put them into the object instead.")
    kind = named if isinstance(named, type) else type(named)
    apart = isinstance(named, type) and not (issubclass(kind, Oracle | MeanOracle) and hasattr(kind, "name"))
    if apart or not issubclass(kind, Mechanism | Protocol | Oracle | MeanOracle):
        raise MisuseError(
            "A mechanism, protocol or class of oracles is audited, or the name of one, such as 'exponential'; "
            f"{named!r:.80} was given."
        )
    proven(kind)
    return named


def _settings(how: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, str(getattr(how, field.name))) for field in fields(how))


def _local(how: Any, budget: Budget, runs: int, seed: int) -> Verdict:
    """Audit a protocol or an oracle: reports by themselves, and for a protocol all that is around them."""
    if not budget.pure:
        raise MisuseError.format("{name} promises a pure epsilon: leave {delta} out.", name=how.name)
    attempts: tuple[Attempt, ...] = ()
    if isinstance(how, Protocol):
        around, cases = local_talk.coupled(how, budget.epsilon, seed)
        attempts = (around,)
    else:
        cases = local.build_cases(how, budget.epsilon)
    enumerated, losses = local.exact(cases)
    return Verdict(
        what="protocol" if isinstance(how, Protocol) else "oracle",
        name=how.name,
        settings=() if isinstance(how, type) else _settings(how),
        neighbours=Neighbours.REPLACE,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=(*attempts, enumerated, local.statistical(cases, losses, runs, seed)),
        seed=seed,
    )
