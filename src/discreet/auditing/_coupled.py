"""The coupled audit: two runs on neighbours, in which the second run receives the released values of the first.

If every step asks equal queries in both runs, and the exact answers differ by no more than the query states, then each
step is as private as it is charged, and adaptive composition gives the claim from the charges. If any step, note,
column or exception differs, the data leaked past the noise. The page about the audit has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from ..errors import MisuseError
from ..privacy import Budget, Neighbours
from ._attack import Attack, PairTrial
from ._engines import Engines
from ._neighbours import Database, generate_pairs, list_questions
from ._relations import AuditedMechanism, RelationAudit, RelationAuditQuestion
from ._runs import Coupling, Script, run_to_values
from ._tape import MOODS
from ._verdict import Attempt


def coupled(mechanism: AuditedMechanism, budget: Budget, neighbours: Neighbours, seed: int) -> Attempt:
    """Return the attempt on each pair of the battery with each question, until one breaks the claim."""
    attack, coupling = Attack("coupled"), Coupling(seed)
    attack.try_pairs(_list_trials(mechanism, budget, neighbours, seed, coupling, attack))
    if not attack.pairs and attack.refusals:
        raise MisuseError.format(
            "{name} refused every question of the audit, the last one so: {why}",
            name=mechanism.name,
            why=attack.refusals[-1],
        )
    return attack.attempt(
        f"{attack.pairs:,} pairs of neighbours, {coupling.steps:,} steps",
        nothing="0 pairs of neighbours, 0 steps",
    )


def _list_trials(
    mechanism: AuditedMechanism, budget: Budget, neighbours: Neighbours, seed: int, coupling: Coupling, attack: Attack
) -> Iterator[PairTrial]:
    """Yield each pair of each question; a refused question is left at its first refusal."""
    run = partial(run_to_values, engine=Engines())
    questions: list[Any] = (
        [*mechanism.list_questions()] if isinstance(mechanism, RelationAudit) else [*list_questions(mechanism, budget)]
    )
    for question in questions:
        # Many pairs share a data set: each is resolved once, and recorded once, in the mood of its place.
        resolve = cache(partial(question.case, mechanism, budget, neighbours))
        scripts: dict[Database, Script] = {}
        refusal_count = len(attack.refusals)
        is_ordered = isinstance(question, RelationAuditQuestion)
        for pair in question.list_pairs(neighbours) if is_ordered else generate_pairs(question, neighbours, seed):
            first_database, second_database = pair.databases
            mood = MOODS[len(scripts) % len(MOODS)]
            script = scripts.setdefault(first_database, Script(coupling, resolve, run, mood, first_database))
            yield PairTrial(pair=pair, question=question, compare=partial(script.compare, second_database))
            if len(attack.refusals) > refusal_count:
                break
