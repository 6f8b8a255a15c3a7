"""The questions of the audit of `release_relations`, which is no mechanism of the registry.

Neighbours are people with ordered items: the reverse order makes a different person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias, get_args

import numpy as np

from ..baskets import Baskets, Pairs, Sequences, Vocabulary, starts
from ..curator import Mechanism
from ..exact import How
from ..privacy import Budget, Neighbours
from ..publish import RELATIONS_NAME, RelationCase, RelationQuestion, build_relation_case
from ._neighbours import Change, Database, NeighbourPair, list_pairs, list_planned_cases

# (items, keywords of the question): relations among all and some of the items, with private and public people.
_QUESTIONS: tuple[tuple[int, dict[str, Any]], ...] = (
    (2, {"top": 1, "among": 2}),
    (4, {"top": 3, "among": 3}),
    (5, {"top": 4, "among": 5, "people": 40}),
)
# Sizes of questions for made-up answers. 30 items have 870 ordered pairs, more than any top of the audit.
_ITEMS, _TOPS = (2, 4, 8, 30), (1, 2, 6, 25)


@dataclass(frozen=True, kw_only=True)
class RelationAuditQuestion:
    """A question about one kind of relations, over items that are numbered from 0."""

    items: int
    kind: How
    words: dict[str, Any] = field(hash=False)

    def case(self, _: object, budget: Budget, neighbours: Neighbours, database: Database) -> RelationCase:
        """Return the case of this question about a database; a refused question raises its error."""
        # Where a person is replaced, the number of people is public by itself.
        people = None if neighbours is Neighbours.REPLACE else self.words.get("people")
        question = RelationQuestion(
            **{**self.words, "people": people},
            how=self.kind,
            items=self.items,
            epsilon=budget.epsilon,
            delta=budget.delta,
            neighbours=neighbours,
        )
        return build_relation_case(question, build_ordered_people(database, self.items))

    def list_pairs(self, neighbours: Neighbours) -> Iterator[NeighbourPair]:
        """Yield the planned pairs of neighbours, with both orders of the differing basket."""
        return _list_ordered_pairs(self.items, neighbours)

    def __str__(self) -> str:
        words_text = ", ".join(f"{name}={value}" for name, value in self.words.items())
        return f"{self.kind}, {words_text} over {self.items} items"


@dataclass(frozen=True)
class RelationAudit:
    """The claim of `release_relations`, in the place of a mechanism."""

    name: str = RELATIONS_NAME

    def list_questions(self) -> list[RelationAuditQuestion]:
        """Return every kind of relation with every question."""
        return [
            RelationAuditQuestion(items=items, kind=kind, words=words)
            for kind in get_args(How)
            for items, words in _QUESTIONS
        ]

    def draw_question(self, generator: np.random.Generator) -> RelationAuditQuestion:
        """Return a random question of any size; one with too few items is refused, and skipped."""
        items, top = (int(generator.choice(sizes)) for sizes in (_ITEMS, _TOPS))
        words = {"top": top, "among": int(generator.integers(2, items + 1))}
        return RelationAuditQuestion(items=items, kind=str(generator.choice(get_args(How))), words=words)  # type: ignore[arg-type]

    def list_trials(self, is_replace: bool) -> list[tuple[RelationAuditQuestion, list[Change]]]:
        """Return a question of each kind, with the changes to one person: a relation, and its first item alone."""
        changes: list[Change] = [((0, 1), (2,))] if is_replace else [((0, 1), None), ((0,), None)]
        return [
            (RelationAuditQuestion(items=3, kind=kind, words={"top": 2, "among": 2}), changes) for kind in get_args(How)
        ]


# Either kind of claimant of the attacks on a curator's release.
AuditedMechanism: TypeAlias = Mechanism | RelationAudit


def _list_ordered_pairs(items: int, neighbours: Neighbours) -> Iterator[NeighbourPair]:
    cases = [
        (rows, list(dict.fromkeys([basket for change in changes for basket in (change, change[::-1])])))
        for rows, changes in list_planned_cases(items, [1, 2])
    ]
    return list_pairs(cases, neighbours)


@lru_cache(maxsize=4096)
def build_ordered_people(database: Database, items: int) -> Baskets:
    """Return people with events in the order of their tuples, and each adjacent pair as a given pair."""
    rows = [basket for basket, times in database for _ in range(times)]
    row_pairs = [sorted(pairwise(row)) for row in rows]
    offsets = starts([len(row) for row in rows])

    def join_codes(lists: list[Any]) -> Any:
        return np.array([code for row in lists for code in row], np.int32)

    return Baskets(
        offsets,
        join_codes([sorted(row) for row in rows]),
        Vocabulary(list(range(items))),
        Sequences(offsets.copy(), join_codes(rows)),
        Pairs(
            starts([len(row) for row in row_pairs]),
            join_codes([[left_item for left_item, _ in row] for row in row_pairs]),
            join_codes([[right_item for _, right_item in row] for row in row_pairs]),
        ),
    )
