"""Replays of answers of every size on different data: each decision of a mechanism must be equal in all runs.

The coupled audit compares answers on small data. A decision about large data is out of its reach: the condition of an
`if` that never runs may read private data. Here the answers are made up, from 0 to millions, and so are the questions.
A mechanism learns about the data through the answers of its meter alone, so runs with equal answers must be equal on
*any* data:

1. Draw a question and data sets: two neighbours, and unrelated ones.
2. Run the mechanism on the first data set, with answers drawn from laws that span six orders of magnitude.
3. Run it on each further data set with equal answers. Each step, share, query, note and count must be equal. For the
   neighbours the exact answers are compared too, as in the coupled audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ..privacy import Budget, Neighbours
from ..wording import number_of
from ._attack import Attack, PairTrial
from ._engines import Engines
from ._neighbours import AuditQuestion, Basket, Database, NeighbourPair
from ._relations import AuditedMechanism, RelationAudit, RelationAuditQuestion
from ._runs import Coupling, Script, run_to_values
from ._verdict import Attempt

# Questions of all sizes, so that each decision by public numbers takes each of its values.
_ITEMS = (1, 2, 3, 8, 30, 120)
_TOPS = (1, 2, 6, 25, 80, 300)
_COUNTS = (1, 20, 1_000, 50_000)
_LENGTHS: tuple[Any, ...] = (None, 1, (1, 2), (2, 3), (1, 4), (5, 6))
# A basket of twelve items has 4,095 subsets: enough to have some unlisted, and listed in no time. Named itemsets are
# counted without a list of subsets, so there a basket may hold every item.
_MAX_BASKET = 12
_MAX_PEOPLE = 9
# A decision by the exact number of people differs between the first data set, of fewer than _MAX_PEOPLE people, and one
# of more people than its limit. The limits of the product that people are compared with are at most some hundreds;
# larger: build time grows. The people hold _MAX_KINDS different baskets, so that listing their subsets takes no longer.
_MANY_PEOPLE, _MAX_KINDS = 2_000, 28


def replayed(
    mechanism: AuditedMechanism, budget: Budget, neighbours: Neighbours, seed: int, *, scripts: int
) -> Attempt:
    """Return the attempt that replays scripts of answers on different data, until a decision differs."""
    attack, coupling = Attack("replayed", paths=("made-up answers",)), Coupling(seed)
    tried_scripts: list[Script] = []

    def list_trials() -> Iterator[PairTrial]:
        for _ in range(scripts):
            question: Any = _draw_question(mechanism, budget, coupling.generator)
            pair, unrelated_databases = _draw_data(question, neighbours, coupling.generator)
            first_database, second_database = pair.databases
            resolve = partial(question.case, mechanism, budget, neighbours)
            script = Script(coupling, resolve, partial(run_to_values, engine=Engines()), "wide", first_database)
            tried_scripts.append(script)
            yield PairTrial(pair=pair, question=question, compare=partial(script.compare, second_database))
            for database in unrelated_databases:
                pair_text = f"{_describe_database(first_database)}; or {_describe_database(database)}"
                compare = partial(script.compare, database, is_unrelated=True)
                yield PairTrial(pair=pair_text, question=question, compare=compare)

    attack.try_pairs(list_trials())
    # A script is recorded on its first use; a refused question has no recording.
    recordings = [script.recording for script in tried_scripts if "recording" in vars(script)]
    sequences = {tuple(step.purpose for step in recording.steps) for recording in recordings}
    return attack.attempt(
        f"{number_of(len(recordings), 'script')}, {number_of(len(sequences), 'sequence')} of steps, "
        f"{number_of(attack.pairs, 'run')}"
    )


def _draw_question(
    mechanism: AuditedMechanism, budget: Budget, generator: np.random.Generator
) -> AuditQuestion | RelationAuditQuestion:
    """Return a random question that a mechanism answers, of any size."""
    if isinstance(mechanism, RelationAudit):
        return mechanism.draw_question(generator)

    def draw_value(values: tuple[Any, ...]) -> Any:
        return values[int(generator.integers(len(values)))]

    items, answers = draw_value(_ITEMS), draw_value(mechanism.answers)
    if answers == "itemsets":
        sizes = generator.integers(1, min(items, 3) + 1, 3).tolist()
        itemsets = [sorted(generator.choice(items, size, replace=False).tolist()) for size in sizes]
        return AuditQuestion(items=items, words={"itemsets": itemsets})
    lengths = draw_value(_LENGTHS)
    words = {"top": draw_value(_TOPS)} if answers == "top" else {"min_count": draw_value(_COUNTS)}
    words |= {} if lengths is None else {"lengths": lengths}
    words |= {"counts": False} if draw_value((True, False, False)) else {}
    words |= {"contains": [0]} if items > 2 and draw_value((True, False, False, False)) else {}
    has_several = draw_value((True, False, False))
    has_list = budget.pure or draw_value((True, True, False))
    return AuditQuestion(items=items, words=words, several=has_several, listed=has_list)


def _draw_data(
    question: AuditQuestion | RelationAuditQuestion, neighbours: Neighbours, generator: np.random.Generator
) -> tuple[NeighbourPair, list[Database]]:
    """Return two neighbours and unrelated data sets; if a person is replaced, all have equally many people."""
    items = question.items
    max_basket = items if "itemsets" in question.words else _MAX_BASKET

    def basket() -> Basket:
        basket_items = np.flatnonzero(generator.random(items) < generator.choice([0.1, 0.5, 1.0]))
        return tuple(sorted(generator.permutation(basket_items)[:max_basket].tolist()))

    def rows(people: int) -> Database:
        kinds = min(people, _MAX_KINDS)
        return tuple((basket(), people // kinds + (place < people % kinds)) for place in range(kinds))

    is_replace = neighbours is Neighbours.REPLACE
    people = int(generator.integers(0, _MAX_PEOPLE))
    pair = NeighbourPair(rows=rows(people), more=basket(), instead=basket() if is_replace else None)
    total = people + 1  # with the differing person
    full_basket = tuple(range(min(items, max_basket)))
    if is_replace:
        return pair, [(((), total),), ((full_basket, total),), rows(total)]
    # A number between the two ends too: some decisions hold for a range of numbers alone.
    medium_count = int(10 ** generator.uniform(1, np.log10(_MANY_PEOPLE)))
    return pair, [(), ((full_basket, people + 2),), rows(medium_count), rows(_MANY_PEOPLE)]


def _describe_database(database: Database) -> str:
    """Return a data set in words."""
    sizes = sorted(len(basket) for basket, _ in database)
    people = sum(times for _, times in database)
    return f"{people:,} people with baskets of {sizes[0]} to {sizes[-1]} items" if sizes else "nobody"
