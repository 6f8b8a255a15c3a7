"""The inputs of an audit: questions, and pairs of small data sets that differ in one person.

The data are made to be hard: empty data, an item of one person alone, a basket far longer than all others, ties, more
tied itemsets than a list can hold, counts around the decision thresholds of a mechanism. Hundreds of people cost no
more than two, so counts may be large where the number of different baskets is small.
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
# The basket of the differing person, and the replaced basket; None where the person is added.
Change: TypeAlias = tuple[Basket, Basket | None]
# The rows of all further people, and the possible baskets of the differing person.
PlannedRows: TypeAlias = tuple[Database, list[Basket]]

# By the number of items: all databases with fewer further people than this are enumerated.
_ENUMERATED_PEOPLE = {1: 4, 2: 3, 3: 2}
_CROWD_SIZE = 300
# Random databases per question; more: a longer audit.
_DRAWN_CASES = 8
# The parent of each item: parents with smaller and larger numbers, and two levels.
_HIERARCHY = {1: 0, 2: 3, 0: 3}
# 40 items have 5,586,853,480 subsets of twelve: more than a list can hold.
_CROWDED_ITEMS = 40

RELATIONS: dict[Relation, Neighbours] = {"add-remove": Neighbours.ADD_REMOVE, "replace": Neighbours.REPLACE}


@dataclass(frozen=True, kw_only=True)
class NeighbourPair:
    """Two data sets that differ in one person: a person with the basket `more`, absent or with `instead` before.

    `rows` are the baskets of all further people, each with its number of people.
    """

    rows: Database
    more: Basket
    instead: Basket | None = None

    @property
    def databases(self) -> tuple[Database, Database]:
        """Both data sets. The differing person comes first: no result may depend on the order of people."""
        first_database = self.rows if self.instead is None else ((self.instead, 1), *self.rows)
        return first_database, ((self.more, 1), *self.rows)

    def __str__(self) -> str:
        others_text = ", ".join(f"{times:,} × {_render_basket(basket)}" for basket, times in self.rows) or "nobody else"
        basket_text = _render_basket(self.more)
        if self.instead is None:
            return f"{others_text}; with and without one person who holds {basket_text}"
        return f"{others_text}; one person who holds {_render_basket(self.instead)}, or {basket_text} instead"


@dataclass(frozen=True, kw_only=True)
class AuditQuestion:
    """A question in the words of a user, over items that are numbered from 0.

    Parameters
    ----------
    items, words
        The number of items, and the keywords of the question.
    listed
        Whether the list of items is public; otherwise it is selected from the data.
    backwards
        Whether the data number the items from the last to the first: an item of one person alone then comes first,
        and moves the codes of all items.
    mixed
        Whether the last item is a name among numbers: all items are read as names if a person holds it.
    several
        Whether each person has several baskets: see `split_baskets`.
    turn
        (i, n): the question gets every n-th small database, from the i-th on; questions over equally many items share
        the databases.
    """

    items: int
    words: dict[str, Any] = field(hash=False)
    listed: bool = True
    backwards: bool = False
    mixed: bool = False
    several: bool = False
    turn: tuple[int, int] = (0, 1)

    def case(self, mechanism: Mechanism, budget: Budget, neighbours: Neighbours, database: Database) -> Case:
        """Return the case of this question about a database; a refused question raises its error."""
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
        """Return a database as baskets; without a list, over the items up to the largest held item."""
        if self.several:
            item_count = max((item for basket, _ in database for item in basket), default=-1) + 1
            return split_baskets(database, self.items if self.listed else item_count)
        if self.listed:
            return build_baskets(database, self.items)
        item_count = max((item for basket, _ in database for item in basket), default=-1) + 1
        # The name turns all items into text, on the side where a person holds it.
        if self.mixed and item_count == self.items:
            return replace(
                build_baskets(database, item_count), vocabulary=Vocabulary([*map(str, range(item_count - 1)), "tea"])
            )
        if not self.backwards:
            return build_baskets(database, item_count)
        reversed_database = tuple(
            (tuple(item_count - 1 - item for item in basket[::-1]), times) for basket, times in database
        )
        return replace(
            build_baskets(reversed_database, item_count),
            vocabulary=_build_vocabulary(self.items - item_count, self.items),
        )

    @property
    def marks(self) -> list[int]:
        """The counts of possible decisions: 1 and 2, a threshold and 5 % of the threshold (C1)."""
        threshold = self.words.get("min_count", 1)
        return sorted({1, 2, threshold, threshold // 20 or 1})

    def __str__(self) -> str:
        words_text = ", ".join(f"{name}={value!r}" for name, value in self.words.items())
        order_text = ", the last one first" if self.backwards else ", the last one a name" if self.mixed else ""
        baskets_text = ", in several baskets of each person" if self.several else ""
        list_text = "" if self.listed else f" that are not listed{order_text}"
        return f"{words_text} over {self.items} items{list_text}{baskets_text}"


@lru_cache(maxsize=4096)
def build_baskets(database: Database, items: int) -> Baskets:
    """Return a database as baskets over items numbered from 0."""
    rows = [basket for basket, times in database for _ in range(times)]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(starts([len(row) for row in rows]), codes, _build_vocabulary(0, items))


@lru_cache(maxsize=4096)
def split_baskets(database: Database, items: int) -> Baskets:
    """Return a database with several baskets per person: the basket twice, without its first item, and each item alone.

    The baskets of a person are a function of the person's row: neighbouring databases remain neighbours.
    """
    people = [
        [basket, basket, basket[1:], *((item,) for item in basket)] for basket, times in database for _ in range(times)
    ]
    rows = [basket for person in people for basket in person]
    codes = np.array([item for row in rows for item in row], np.int32)
    owners = starts([len(person) for person in people])
    return Baskets(starts([len(row) for row in rows]), codes, _build_vocabulary(0, items), owners=owners)


@lru_cache(maxsize=64)
def _build_vocabulary(first_item: int, items: int) -> Vocabulary:
    return Vocabulary(list(range(first_item, items)))


def _render_basket(basket: Basket) -> str:
    if len(basket) > 4:
        return f"{{{basket[0]}, {basket[1]} … {basket[-1]}}} ({len(basket)} items)"
    return f"{{{', '.join(map(str, basket))}}}"


def list_questions(mechanism: Mechanism, budget: Budget) -> list[AuditQuestion]:
    """Return the questions that a mechanism answers, the smallest first."""
    forms: list[tuple[int, dict[str, Any]]] = []
    if "top" in mechanism.answers:
        forms += [
            (1, {"top": 1}),
            (2, {"top": 1, "counts": False}),
            (2, {"top": 2, "people": 5}),
            (3, {"top": 3, "lengths": (1, 2)}),
            (3, {"top": 2, "lengths": (2, 3), "counts": False}),
            (3, {"top": 2, "contains": [0]}),
            (8, {"top": 5, "lengths": (1, 3), "excludes": [3]}),
            (_CROWDED_ITEMS, {"top": 3, "lengths": 12}),
        ]
    if "threshold" in mechanism.answers:
        forms += [
            (1, {"min_count": 1}),
            (2, {"min_count": 2, "counts": False}),
            (2, {"min_support": "1/2", "people": 5}),
            (3, {"min_count": 100, "lengths": (1, 2)}),
            (3, {"min_count": 2, "lengths": (2, 3), "contains": [0]}),
            (8, {"min_count": 20, "lengths": (1, 3), "excludes": [3]}),
            (_CROWDED_ITEMS, {"min_count": 2, "lengths": 12}),
        ]
    if "itemsets" in mechanism.answers:
        forms += [
            (1, {"itemsets": [[0]], "people": 5}),
            (3, {"itemsets": [[0], [1, 2], [0, 1, 2]]}),
            (8, {"itemsets": [[item] for item in range(8)]}),
            # Baskets of forty items: an exception for long baskets shows on a question of many items alone.
            (_CROWDED_ITEMS, {"itemsets": [[0], list(range(12))]}),
        ]
    questions = [AuditQuestion(items=items, words=words) for items, words in forms]
    # People with several baskets: of the questions over as many items one with a cap that is given, and one with a
    # cap that is chosen.
    three_item_forms = [words for items, words in forms if items == 3]
    capped_forms = [{**words, "max_baskets": 2} for words in three_item_forms[:1]] + three_item_forms[1:2]
    questions += [AuditQuestion(items=3, words=words, several=True) for words in capped_forms]
    # A hierarchy of items: patterns across levels, in several baskets, and on one level.
    questions += [AuditQuestion(items=4, words={**words, "hierarchy": _HIERARCHY}) for words in three_item_forms[:1]]
    questions += [
        AuditQuestion(items=4, words={**words, "hierarchy": _HIERARCHY}, several=True)
        for words in three_item_forms[1:2]
    ]
    questions += [
        AuditQuestion(items=8, words={**words, "hierarchy": _HIERARCHY, "level": 1}) for words in three_item_forms[:1]
    ]
    if not budget.pure:
        unlisted_forms = [words for items, words in forms if items == 3 and "itemsets" not in words]
        questions += [AuditQuestion(items=3, words=words, listed=False) for words in unlisted_forms]
        questions += [AuditQuestion(items=3, words=words, listed=False, several=True) for words in unlisted_forms[:1]]
        # More items than a basket may contribute to a selection, so that baskets are cut.
        single_item_forms = [{**words, "lengths": 1} for words in unlisted_forms[:1]]
        questions += [AuditQuestion(items=12, words=words, listed=False, backwards=True) for words in single_item_forms]
        # A few items, so that the order of the texts is the order of the numbers.
        questions += [AuditQuestion(items=4, words=words, listed=False, mixed=True) for words in unlisted_forms[:1]]
    sizes = [question.items for question in questions]
    return [
        replace(question, turn=(sizes[:place].count(question.items), sizes.count(question.items)))
        for place, question in enumerate(questions)
    ]


def generate_pairs(question: AuditQuestion, neighbours: Neighbours, seed: int) -> Iterator[NeighbourPair]:
    """Yield pairs of neighbours for a question: small pairs, planned pairs, then random pairs."""
    generator = np.random.default_rng(seed)
    # Crowded data have billions of tied itemsets, so a few pairs take as long as all small pairs.
    if question.items == _CROWDED_ITEMS:
        return list_pairs(list_crowded_cases(question.items), neighbours)
    # Questions over equally many items share the small databases in turn.
    turn, turns = question.turn
    cases = list_small_cases(question.items, neighbours)[turn::turns]
    cases += list_planned_cases(question.items, question.marks)
    cases += [_draw_case(question.items, question.marks, generator) for _ in range(_DRAWN_CASES)]
    return list_pairs(cases, neighbours)


def list_pairs(cases: Sequence[PlannedRows], neighbours: Neighbours) -> Iterator[NeighbourPair]:
    """Yield all pairs of neighbours of a list of cases."""
    for rows, changes in cases:
        if neighbours is Neighbours.ADD_REMOVE:
            yield from (NeighbourPair(rows=rows, more=basket) for basket in changes)
        else:
            basket_pairs = combinations(dict.fromkeys([(), *changes]), 2)
            yield from (
                NeighbourPair(rows=rows, more=basket, instead=replaced_basket)
                for replaced_basket, basket in basket_pairs
            )


def list_small_cases(items: int, neighbours: Neighbours) -> list[PlannedRows]:
    """Return every database of a few people with every change to it; no cases for more than three items."""
    if items not in _ENUMERATED_PEOPLE:
        return []
    all_baskets = [basket for size in range(items + 1) for basket in combinations(range(items), size)]
    return [
        (tuple((basket, 1) for basket in rows), all_baskets)
        for people in range(_ENUMERATED_PEOPLE[items] + (neighbours is Neighbours.ADD_REMOVE))
        for rows in combinations_with_replacement(all_baskets, people)
    ]


def list_planned_cases(items: int, marks: Sequence[int]) -> list[PlannedRows]:
    """Return the hard cases."""
    all_items = tuple(range(items))
    last_item = (items - 1,)
    other_items = all_items[1:]
    cases: list[PlannedRows] = [
        ((), [(), (0,), last_item, all_items]),  # nobody else
        (
            (((0,), _CROWD_SIZE),),
            [last_item, other_items, all_items],
        ),  # an item of one person alone; one very long basket
        (((all_items, 3),), [all_items, (), (0,)]),  # equal baskets
        (((all_items, 6), ((0,), 2)), [all_items, last_item, (0,)]),  # baskets that are cut
        (((all_items[:-1], _CROWD_SIZE),), [last_item, all_items]),  # long baskets, and an item of one person alone
        (
            (((0,), 6), (last_item, 12)),
            [(0,), last_item],
        ),  # one that is mostly chosen, and one that moves against it (E8)
    ]
    for mark, offset in product(marks, (-1, 0)):
        if mark + offset > 0:
            cases += [
                (
                    (((0,), _CROWD_SIZE), (other_items, mark + offset)),
                    [other_items, last_item],
                ),  # counts around a mark beside a large one (C1)
                (tuple(((item,), mark + offset) for item in all_items), [(0,), all_items]),  # ties around a mark
            ]
    # Baskets of every length, and one of each length more.
    lengths = tuple(all_items[:size] for size in range(1, min(items, 8) + 1))
    cases.append((tuple((basket, 2) for basket in lengths), list(lengths)))
    return cases


def list_crowded_cases(items: int) -> list[PlannedRows]:
    """Return baskets with more subsets than a list can hold, tied by the thousand million: alone and repeated.

    One person more must not push the list over its limit in one run alone.
    """
    all_items = tuple(range(items))
    return [
        ((), [all_items]),
        (((all_items, 1),), [all_items, all_items[1:], (0,)]),
        (((all_items, 2), (all_items[1:], 1), (all_items[::2], 3)), [all_items, all_items[:-1]]),
    ]


def _draw_case(items: int, marks: Sequence[int], generator: np.random.Generator) -> PlannedRows:
    """Return a random database with counts of all sizes, and three changes to it."""

    def basket() -> Basket:
        chance = generator.choice([0.2, 0.5, 0.9])
        return tuple(np.flatnonzero(generator.random(items) < chance).tolist())

    counts = [*marks, *(mark + 1 for mark in marks), 3, 7, 30, _CROWD_SIZE]
    rows = tuple((basket(), int(generator.choice(counts))) for _ in range(int(generator.integers(1, 6))))
    return rows, list(dict.fromkeys([(), basket(), basket()]))
