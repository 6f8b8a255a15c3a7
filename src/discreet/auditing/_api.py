"""The entrance of the audit: a mechanism, protocol or oracle by name, its claim, and the attacks on it."""

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
from ..publish import RELATIONS_NAME
from ..registry import entry, proven
from ..wording import hint_keywords
from . import _local as local, _local_talk as local_talk
from ._coupled import coupled
from ._exact import exact
from ._relations import RelationAudit
from ._replayed import replayed
from ._statistical import statistical
from ._verdict import Attempt, Verdict
from ._whole import whole

# For a mechanism that needs a delta: a large one, so that the loss that it allows shows in few runs.
_DELTA = Fraction(1, 1000)
# The default of 1,000 runs gives 200 scripts. Measured by tests/auditing/test_replayed.py, which lets one decision of
# `auto` at a time depend on the parity of the number of people: 200 scripts find 30 of 33 such bugs, and 100 find 27.
_RUNS_PER_SCRIPT, _MIN_SCRIPTS = 5, 10


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

    No data are read, and nothing is spent. A claim that stands is not proved: the page about the audit states the
    limits of each way.

    Parameters
    ----------
    mechanism
        A name of the registry, ``"release-relations"``, or a mechanism or protocol itself; an oracle, or its class for
        several small questions.
    epsilon, delta
        The claim. Without a delta it is pure, or 0.001 where the mechanism needs one.
    neighbours
        ``"add-remove"`` or ``"replace"``. On the local side participation is hidden, so one person's basket is always
        replaced by any basket.
    runs
        The number of runs of the mechanism, or of a device, on each of two neighbours for the statistical bound. A
        fifth as many scripts of made-up answers are replayed.
    seed
        Makes the audit repeatable: equal seeds give equal verdicts.
    settings
        The mechanism's settings by name, for a mechanism given by name.

    Returns
    -------
    Verdict
        Its `stands` states whether an attack ran and the claim survived; `worst` names the neighbours that came
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
    relation = Neighbours.parse_typed(neighbours)
    target = RelationAudit() if mechanism == RELATIONS_NAME and not settings else _resolve_target(mechanism, settings)
    if not is_whole(seed) or seed < 0:
        raise MisuseError(f"A seed is a whole number, 0 or more; {seed!r} was given.")
    runs = parse_positive("runs", runs)
    if not isinstance(target, Mechanism | RelationAudit):
        return _local(target, Budget.of(epsilon, 0 if delta is None else delta), runs, seed)
    if delta is None:
        delta = _DELTA if isinstance(target, Mechanism) and target.delta is True else 0
    budget = Budget.of(epsilon, delta)
    scripts = max(_MIN_SCRIPTS, runs // _RUNS_PER_SCRIPT)
    attempts = [coupled(target, budget, relation, seed), replayed(target, budget, relation, seed, scripts=scripts)]
    # Files and small questions are of mechanisms alone.
    if isinstance(target, Mechanism):
        attempts += [whole(target, budget, relation, seed), exact(target, budget, relation)]
    attempts.append(statistical(target, budget, relation, runs, seed))
    return Verdict(
        name=target.name,
        settings=_list_settings(target) if isinstance(target, Mechanism) else (),
        neighbours=relation,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=tuple(attempts),
        seed=seed,
    )


def _resolve_target(target: Any, settings: Mapping[str, Any] | None) -> Any:
    """Return the object to audit: a mechanism, a protocol or an oracle, or a class of oracles."""
    if isinstance(target, str):
        registered_entry = entry(target)
        return (
            registered_entry.kind
            if registered_entry.category == "oracle" and not settings
            else registered_entry.make(settings)
        )
    if settings:
        kind_name = "protocol" if isinstance(target, Protocol) else "mechanism"
        raise MisuseError(f"Settings belong to a {kind_name} given by name: put them into the object instead.")
    kind = target if isinstance(target, type) else type(target)
    is_invalid = isinstance(target, type) and not (issubclass(kind, Oracle | MeanOracle) and hasattr(kind, "name"))
    if is_invalid or not issubclass(kind, Mechanism | Protocol | Oracle | MeanOracle):
        raise MisuseError(
            "A mechanism, protocol or class of oracles is audited, or the name of one, such as 'exponential'; "
            f"{target!r:.80} was given."
        )
    proven(kind)
    return target


def _list_settings(target: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, str(getattr(target, field.name))) for field in fields(target))


def _local(target: Any, budget: Budget, runs: int, seed: int) -> Verdict:
    """Return the verdict on a protocol or an oracle: on single reports, and for a protocol on the conversation."""
    if not budget.pure:
        raise MisuseError.format("{name} promises a pure epsilon: leave {delta} out.", name=target.name)
    attempts: tuple[Attempt, ...] = ()
    if isinstance(target, Protocol):
        conversation_attempt, cases = local_talk.coupled(target, budget.epsilon, seed)
        attempts = (conversation_attempt,)
    else:
        cases = local.build_cases(target, budget.epsilon)
    enumerated, losses = local.exact(cases)
    return Verdict(
        what="protocol" if isinstance(target, Protocol) else "oracle",
        name=target.name,
        settings=() if isinstance(target, type) else _list_settings(target),
        neighbours=Neighbours.REPLACE,
        epsilon=budget.epsilon,
        delta=budget.delta,
        attempts=(*attempts, enumerated, local.statistical(cases, losses, runs, seed)),
        seed=seed,
    )
