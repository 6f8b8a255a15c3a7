"""What a mechanism is tried on: questions, and pairs of small data sets that differ in one person.

The data are made up to be hard: empty, with an item that only one person holds, with a basket far longer than the
others, with ties, more of them than could be listed, with counts around the numbers at which a mechanism decides
something. Hundreds of people cost no more than two, so counts may be large where the number of different baskets is
small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any, TypeAlias

import numpy as np

from ..baskets import Baskets, Vocabulary, starts
from ..curator import Mechanism
from ..privacy import Budget, Neighbours, Relation
from ..publish import Case, Question, build_cases

Basket: TypeAlias = tuple[int, ...]
Database: TypeAlias = tuple[tuple[Basket, int], ...]
# What everyone else holds, and what the person who differs may hold.
PlannedRows: TypeAlias = tuple[Database, list[Basket]]

# Up to so many people besides the one who differs, all databases over so many items are tried.
_ALL = {1: 4, 2: 3, 3: 2}
_MANY = 300
# So many databases are drawn at random for each question.
_DRAWN = 8
# What stands right above some items: below them in number, above them, and two levels of it.
_ABOVE = {1: 0, 2: 3, 0: 3}
# So many items have 5,586,853,480 subsets of twelve.
_CROWDED = 40

RELATIONS: dict[Relation, Neighbours] = {"add-remove": Neighbours.ADD_REMOVE, "replace": Neighbours.REPLACE}


@dataclass(frozen=True, kw_only=True)
class NeighbourPair:
    """Two data sets that differ in one person: the one who holds `more`, or held `instead` before.

    `rows` are the baskets of all others, each with how many people hold it.
    """

    rows: Database
    more: Basket
    instead: Basket | None = None

    @property
    def databases(self) -> tuple[Database, Database]:
        """Both data sets. The person who differs comes first, so that nothing may depend on who was seen before."""
        first = self.rows if self.instead is None else ((self.instead, 1), *self.rows)
        return first, ((self.more, 1), *self.rows)

    def __str__(self) -> str:
        others = ", ".join(f"{times:,} × {_shown(basket)}" for basket, times in self.rows) or "nobody else"
        if self.instead is None:
            return f"{others}; with and without one person who holds {_shown(self.more)}"
        return f"{others}; one person who holds {_shown(self.instead)}, or {_shown(self.more)} instead"


@dataclass(frozen=True, kw_only=True)
class AuditQuestion:
    """A question as a user would put it, over items that are numbered from 0.

    `listed` says that the list of items is public; otherwise it has to be found in the data, where the items carry
    their numbers or, `backwards`, those from the last to the first: so an item nobody else holds comes before all
    others and moves them. With `mixed` the last item is a name among numbers, so that all items are read as names
    where someone holds it. With `several` everyone has several baskets: see `apart`. `turn` says which part of all
    small databases it is asked about, as questions over as many items share them.
    """

    items: int
    words: dict[str, Any] = field(hash=False)
    listed: bool = True
    backwards: bool = False
    mixed: bool = False
    several: bool = False
    turn: tuple[int, int] = (0, 1)

    def case(self, mechanism: Mechanism, budget: Budget, neighbours: Neighbours, database: Database) -> Case:
        """Return the case that answers this question about a database; what is refused is refused by its error."""
        question = Question(
            mechanism=mechanism,
            epsilon=budget.epsilon,
            delta=budget.delta,
            neighbours=neighbours,
            items=self.items if self.listed else None,
            **self.words,
        )
        return build_cases(question, self._data(database), trying=True)[""]

    def _data(self, database: Database) -> Baskets:
        """Return a database as the baskets of the question; without a list, over the items up to the last one held."""
        if self.several:
            held = max((item for basket, _ in database for item in basket), default=-1) + 1
            return apart(database, self.items if self.listed else held)
        if self.listed:
            return baskets(database, self.items)
        held = max((item for basket, _ in database for item in basket), default=-1) + 1
        if self.mixed and held == self.items:
            return replace(baskets(database, held), vocabulary=Vocabulary([*map(str, range(held - 1)), "tea"]))
        if not self.backwards:
            return baskets(database, held)
        turned = tuple((tuple(held - 1 - item for item in basket[::-1]), times) for basket, times in database)
        return replace(baskets(turned, held), vocabulary=_vocabulary(self.items - held, self.items))

    @property
    def marks(self) -> list[int]:
        """Counts around which something may be decided: 1 and 2, a threshold and a twentieth of it (C1)."""
        threshold = self.words.get("min_count", 1)
        return sorted({1, 2, threshold, threshold // 20 or 1})

    def __str__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.words.items())
        order = ", the last one first" if self.backwards else ", the last one a name" if self.mixed else ""
        several = ", in several baskets of each person" if self.several else ""
        return f"{told} over {self.items} items{'' if self.listed else ' that are not listed' + order}{several}"


@lru_cache(maxsize=4096)
def baskets(database: Database, items: int) -> Baskets:
    """Return a database as baskets over items numbered from 0."""
    rows = [basket for basket, times in database for _ in range(times)]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(starts([len(row) for row in rows]), codes, _vocabulary(0, items))


@lru_cache(maxsize=4096)
def apart(database: Database, items: int) -> Baskets:
    """Return the same, where everyone has several baskets: what is held, twice, all but the first item, and each alone.

    What a person has is a function of what is held: databases that differ in one person still do.
    """
    people = [
        [basket, basket, basket[1:], *((item,) for item in basket)] for basket, times in database for _ in range(times)
    ]
    rows = [basket for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    owners = starts([len(person) for person in people])
    return Baskets(starts([len(row) for row in rows]), codes, _vocabulary(0, items), owners=owners)


@lru_cache(maxsize=64)
def _vocabulary(first: int, items: int) -> Vocabulary:
    return Vocabulary(list(range(first, items)))


def _shown(basket: Basket) -> str:
    if len(basket) > 4:
        return f"{{{basket[0]}, {basket[1]} … {basket[-1]}}} ({len(basket)} items)"
    return f"{{{', '.join(map(str, basket))}}}"


def questions(mechanism: Mechanism, budget: Budget) -> list[AuditQuestion]:
    """Return the questions this kind of mechanism answers, from the smallest on."""
    asked: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        asked += [
            (1, {"top": 1}),
            (2, {"top": 1, "counts": False}),
            (2, {"top": 2, "people": 5}),
            (3, {"top": 3, "lengths": (1, 2)}),
            (3, {"top": 2, "lengths": (2, 3), "counts": False}),
            (3, {"top": 2, "contains": [0]}),
            (8, {"top": 5, "lengths": (1, 3), "excludes": [3]}),
            (_CROWDED, {"top": 3, "lengths": 12}),
        ]
    if "threshold" in mechanism.answers:
        asked += [
            (1, {"min_count": 1}),
            (2, {"min_count": 2, "counts": False}),
            (2, {"min_support": "1/2", "people": 5}),
            (3, {"min_count": 100, "lengths": (1, 2)}),
            (3, {"min_count": 2, "lengths": (2, 3), "contains": [0]}),
            (8, {"min_count": 20, "lengths": (1, 3), "excludes": [3]}),
            (_CROWDED, {"min_count": 2, "lengths": 12}),
        ]
    if "itemsets" in mechanism.answers:
        asked += [
            (1, {"itemsets": [[0]], "people": 5}),
            (3, {"itemsets": [[0], [1, 2], [0, 1, 2]]}),
            (8, {"itemsets": [[item] for item in range(8)]}),
        ]
    found = [AuditQuestion(items=items, words=words) for items, words in asked]
    # People with several baskets: of the questions over as many items one with a cap that is given, and one with a
    # cap that is chosen.
    parts = [words for items, words in asked if items == 3]
    capped = [{**words, "max_baskets": 2} for words in parts[:1]] + parts[1:2]
    found += [AuditQuestion(items=3, words=words, several=True) for words in capped]
    # Items that stand above others: across levels, and in several baskets; and what they are on a level.
    found += [AuditQuestion(items=4, words={**words, "hierarchy": _ABOVE}) for words in parts[:1]]
    found += [AuditQuestion(items=4, words={**words, "hierarchy": _ABOVE}, several=True) for words in parts[1:2]]
    found += [AuditQuestion(items=8, words={**words, "hierarchy": _ABOVE, "level": 1}) for words in parts[:1]]
    if not budget.pure:
        hidden = [words for items, words in asked if items == 3 and "itemsets" not in words]
        found += [AuditQuestion(items=3, words=words, listed=False) for words in hidden]
        found += [AuditQuestion(items=3, words=words, listed=False, several=True) for words in hidden[:1]]
        # More items than a basket may bring in where they are found, so that baskets are cut there.
        short = [{**words, "lengths": 1} for words in hidden[:1]]
        found += [AuditQuestion(items=12, words=words, listed=False, backwards=True) for words in short]
        # A few items, so that their order as text is that of the numbers.
        found += [AuditQuestion(items=4, words=words, listed=False, mixed=True) for words in hidden[:1]]
    sizes = [question.items for question in found]
    return [
        replace(question, turn=(sizes[:place].count(question.items), sizes.count(question.items)))
        for place, question in enumerate(found)
    ]


def battery(question: AuditQuestion, neighbours: Neighbours, seed: int) -> Iterator[NeighbourPair]:
    """Yield pairs of neighbours for a question: small ones, then planned ones, then some drawn at random."""
    generator = np.random.default_rng(seed)
    if question.items == _CROWDED:
        return pairs(crowded(question.items), neighbours)
    turn, turns = question.turn
    cases = small(question.items, neighbours)[turn::turns]
    cases += planned(question.items, question.marks)
    cases += [_drawn(question.items, question.marks, generator) for _ in range(_DRAWN)]
    return pairs(cases, neighbours)


def pairs(cases: Sequence[PlannedRows], neighbours: Neighbours) -> Iterator[NeighbourPair]:
    """Yield all pairs that the cases stand for."""
    for rows, changes in cases:
        if neighbours is Neighbours.ADD_REMOVE:
            yield from (NeighbourPair(rows=rows, more=more) for more in changes)
        else:
            either = combinations(dict.fromkeys([(), *changes]), 2)
            yield from (NeighbourPair(rows=rows, more=more, instead=instead) for instead, more in either)


def small(items: int, neighbours: Neighbours) -> list[PlannedRows]:
    """Return every database of a few people, and every change to it, where there are few items."""
    if items not in _ALL:
        return []
    every = [basket for size in range(items + 1) for basket in combinations(range(items), size)]
    return [
        (tuple((basket, 1) for basket in rows), every)
        for people in range(_ALL[items] + (neighbours is Neighbours.ADD_REMOVE))
        for rows in combinations_with_replacement(every, people)
    ]


def planned(items: int, marks: Sequence[int]) -> list[PlannedRows]:
    """Return the hard cases."""
    whole = tuple(range(items))
    last = (items - 1,)
    rest = whole[1:]
    cases: list[PlannedRows] = [
        ((), [(), (0,), last, whole]),  # nobody else
        ((((0,), _MANY),), [last, rest, whole]),  # an item that nobody else holds; one very long basket
        (((whole, 3),), [whole, (), (0,)]),  # a basket equal to others
        (((whole, 6), ((0,), 2)), [whole, last, (0,)]),  # baskets that are cut
        (((whole[:-1], _MANY),), [last, whole]),  # the same, and an item that is new to all
        ((((0,), 6), (last, 12)), [(0,), last]),  # one that is mostly chosen, and one that moves against it (E8)
    ]
    for mark, off in product(marks, (-1, 0)):
        if mark + off > 0:
            cases += [
                ((((0,), _MANY), (rest, mark + off)), [rest, last]),  # counts around a mark beside a large one (C1)
                (tuple(((item,), mark + off) for item in whole), [(0,), whole]),  # ties around a mark
            ]
    # Baskets of every length, and one of each length more.
    lengths = tuple(whole[:size] for size in range(1, min(items, 8) + 1))
    cases.append((tuple((basket, 2) for basket in lengths), list(lengths)))
    return cases


def crowded(items: int) -> list[PlannedRows]:
    """Return baskets with more subsets than any list can hold, tied by the thousand million: alone, and beside others.

    One person more must not be one more than fit.
    """
    whole = tuple(range(items))
    return [
        ((), [whole]),
        (((whole, 1),), [whole, whole[1:], (0,)]),
        (((whole, 2), (whole[1:], 1), (whole[::2], 3)), [whole, whole[:-1]]),
    ]


def _drawn(items: int, marks: Sequence[int], generator: np.random.Generator) -> PlannedRows:
    """Return a database of a few different baskets with counts of all sizes, and three changes to it."""

    def basket() -> Basket:
        chance = generator.choice([0.2, 0.5, 0.9])
        return tuple(np.flatnonzero(generator.random(items) < chance).tolist())

    counts = [*marks, *(mark + 1 for mark in marks), 3, 7, 30, _MANY]
    rows = tuple((basket(), int(generator.choice(counts))) for _ in range(int(generator.integers(1, 6))))
    return rows, list(dict.fromkeys([(), basket(), basket()]))
