"""Replaying answers of every size to a mechanism on different data: each decision must come out the same.

The coupled audit looks at how far one person moves an answer, on small data with small answers. Decisions that a
mechanism takes about large data are not reached by these: a test of an `if` that is never evaluated may read anything.
Here the answers are made up, from none to millions, and so are the questions. A mechanism learns about the data through
the answers of its meter alone, so runs that hear the same answers must do the same on *any* data:

1. Draw a question and data sets: two neighbours, and others that have nothing in common with them.
2. Run the mechanism on the first data set, with answers drawn from laws that span six orders of magnitude.
3. Run it on each other data set with the same answers. Each step, share, query, note and count must be the same. For
   the neighbours the exact answers are compared as well, as in the coupled audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from ..curator import Mechanism
from ..errors import MisuseError
from ..privacy import Budget, Neighbours
from ..privacy.sampling import SimulationSource
from ..publish import Case, build_meter
from ..wording import number_of
from ._coupled import compare_results, ended, labels, lost
from ._engines import NAME, Engines
from ._neighbours import AuditQuestion, Basket, Database, NeighbourPair
from ._steps import Differs, Step
from ._tape import Recorder, Replayer, Unlikely
from ._verdict import Attempt

# Questions of all sizes: what a mechanism decides by public numbers is to come out in all ways.
_ITEMS = (1, 2, 3, 8, 30, 120)
_TOPS = (1, 2, 6, 25, 80, 300)
_COUNTS = (1, 20, 1_000, 50_000)
_LENGTHS: tuple[Any, ...] = (None, 1, (1, 2), (2, 3), (1, 4), (5, 6))
# A basket of twelve items has 4,095 subsets: enough to have some unlisted, and listed in no time.
_LONGEST = 12
_PEOPLE = 9


def replayed(mechanism: Mechanism, budget: Budget, neighbours: Neighbours, seed: int, *, scripts: int) -> Attempt:
    """Return what came of replaying so many scripts of answers on different data, until a decision differs."""
    begun = perf_counter()
    generator = np.random.default_rng(seed)
    trial = _ReplayTrial(mechanism, budget, neighbours, SimulationSource(seed), generator)
    broken: dict[str, Any] = {}
    for _ in range(scripts):
        question = _drawn_question(mechanism, budget, generator)
        pair, others = _drawn_data(question.items, neighbours, generator)
        try:
            trial.run(question, pair, others)
        except MisuseError:
            continue  # a question that is refused is not asked
        except Differs as difference:
            broken = {"pair": trial.data, "question": str(question), "why": str(difference)}
            break
    worst = broken or {"pair": trial.worst[1], "question": trial.worst[2]}
    ways = len(trial.ways)
    return Attempt(
        means="replayed",
        stands=not broken,
        loss=trial.worst[0],
        tried=(
            f"{number_of(trial.scripts, 'script')}, {number_of(ways, 'sequence')} of steps, "
            f"{number_of(trial.runs, 'run')}"
            if trial.runs
            else "nothing: every question was refused"
        ),
        engine=NAME if trial.runs else "",
        pairs=trial.runs,
        paths=("made-up answers",) if trial.runs else (),
        seconds=perf_counter() - begun,
        **worst,
    )


class _ReplayTrial:
    """The state of going through the scripts."""

    def __init__(
        self,
        mechanism: Mechanism,
        budget: Budget,
        neighbours: Neighbours,
        source: SimulationSource,
        generator: np.random.Generator,
    ) -> None:
        self.mechanism, self.budget, self.neighbours = mechanism, budget, neighbours
        self.source, self.generator = source, generator
        self.scripts = self.runs = 0
        self.ways: set[tuple[str, ...]] = set()
        self.worst = (0.0, "", "")
        self.data = ""

    def run(self, question: AuditQuestion, pair: NeighbourPair, others: list[Database]) -> None:
        """Run the mechanism on all data sets with the answers of the first run; `Differs` says what is not the same."""
        first, second = pair.databases
        engines = Engines()
        case = self._case(question, first)
        recorder = build_meter(case, self.source, kind=Recorder)
        recorder.record("wide", self.generator, labels(case))
        self.scripts += 1
        self.data = str(pair)
        result = ended(case, recorder, engines)
        self.ways.add(tuple(step.what for step in recorder.tape))
        loss = self._replay(self._case(question, second), recorder.tape, result, engines, far=False)
        if loss is not None and loss >= self.worst[0]:
            self.worst = loss, str(pair), str(question)
        for other in others:
            self.data = f"{_words(first)}; or {_words(other)}"
            self._replay(self._case(question, other), recorder.tape, result, engines, far=True)

    def _replay(
        self, case: Case, tape: list[Step], result: dict[str, Any], engines: Engines, *, far: bool
    ) -> float | None:
        """Return the loss that the exact answers of neighbours amount to; None where there is nothing to compare."""
        meter = build_meter(case, self.source, kind=Replayer)
        meter.replay(tape, self.generator, labels(case), far=far)
        try:
            again = ended(case, meter, engines)
        except Unlikely:
            return None
        self.runs += 1
        meter.done()
        compare_results(result, again)
        return lost(meter)

    def _case(self, question: AuditQuestion, database: Database) -> Case:
        return question.case(self.mechanism, self.budget, self.neighbours, database)


def _drawn_question(mechanism: Mechanism, budget: Budget, generator: np.random.Generator) -> AuditQuestion:
    """Return a question that this kind of mechanism answers, over few or many items, for few or many patterns."""

    def drawn(values: tuple[Any, ...]) -> Any:
        return values[int(generator.integers(len(values)))]

    items, answers = drawn(_ITEMS), drawn(mechanism.answers)
    if answers == "itemsets":
        sizes = generator.integers(1, min(items, 3) + 1, 3).tolist()
        itemsets = [sorted(generator.choice(items, size, replace=False).tolist()) for size in sizes]
        return AuditQuestion(items=items, words={"itemsets": itemsets})
    lengths = drawn(_LENGTHS)
    words = {"top": drawn(_TOPS)} if answers == "top" else {"min_count": drawn(_COUNTS)}
    words |= {} if lengths is None else {"lengths": lengths}
    words |= {"counts": False} if drawn((True, False, False)) else {}
    words |= {"contains": [0]} if items > 2 and drawn((True, False, False, False)) else {}
    several = drawn((True, False, False))
    listed = budget.pure or drawn((True, True, False))
    return AuditQuestion(items=items, words=words, several=several, listed=listed)


def _drawn_data(
    items: int, neighbours: Neighbours, generator: np.random.Generator
) -> tuple[NeighbourPair, list[Database]]:
    """Return two neighbours and other data sets; where a person is replaced, all are of as many people."""

    def basket() -> Basket:
        held = np.flatnonzero(generator.random(items) < generator.choice([0.1, 0.5, 1.0]))
        return tuple(generator.permutation(held)[:_LONGEST].tolist()) if len(held) else ()

    def rows(people: int) -> Database:
        return tuple((tuple(sorted(basket())), 1) for _ in range(people))

    replacing = neighbours is Neighbours.REPLACE
    people = int(generator.integers(0, _PEOPLE))
    pair = NeighbourPair(
        rows=rows(people), more=tuple(sorted(basket())), instead=tuple(sorted(basket())) if replacing else None
    )
    # Data of another kind: nobody, or people who hold nothing; many people, or people who hold all they can.
    many = people + 1 if replacing else 3 * _PEOPLE + 1
    nothing: Database = (((), people + 1),) if replacing else ()
    whole: Database = ((tuple(range(min(items, _LONGEST))), people + 1 if replacing else people + 2),)
    return pair, [nothing, whole, rows(many)]


def _words(database: Database) -> str:
    """Return a data set in words."""
    people: Iterator[Basket] = chain.from_iterable([basket] * times for basket, times in database)
    sizes = sorted(len(basket) for basket in people)
    return f"{len(sizes)} people with baskets of {sizes[0]} to {sizes[-1]} items" if sizes else "nobody"
