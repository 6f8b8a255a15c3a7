"""Random questions, baskets and byte streams for two devices: good ones, ones with odd numbers, and broken ones."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from random import Random
from typing import Any

from discreet.local.device import WORD
from discreet.local.oracle_steps import means
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    CellQuestion,
    DeviceQuestion,
    FoldedProjection,
    KeyQuestion,
    PrefixQuestion,
    Projection,
    RelationItems,
    Relations,
    SizeQuestion,
)
from faults.mutating import mutants
from faults.test_questions import changed
from vectors.make import ALL_PEOPLE, LIVE

Form = dict[str, Any]
EPSILONS = ("1/10", "0.5", "1", "2", "7/3", "5")


def draw_question(chance: Random) -> bytes:
    """Return the text of a question: in five of ten draws as a collector asks, in five with something odd."""
    form = as_asked(chance)
    kind = chance.randrange(10)
    if kind in (5, 6):
        form = _odd(form, chance)
    if kind in (7, 8):
        form = changed(form, chance)
    text = json.dumps(form, indent=chance.choice((None, None, 1))).encode()
    return text if kind < 9 else next(mutants(text, chance.getrandbits(32), 1))


def draw_holdings(chance: Random) -> tuple[list[int], list[list[int]], list[list[int]]]:
    """Return a basket, and the pairs that its device was given and has in time."""
    basket = chance.sample(range(20), chance.choice((0, 0, 1, 2, 5, 12, 20)))
    basket += chance.sample((0, 1, -1, 69, 70, 71, 999, 1 << 31, 1 << 40), chance.choice((0, 1, 3)))
    given_pairs, after = (
        [[chance.randrange(8), chance.randrange(8)] for _ in range(chance.choice((0, 2, 9)))] for _ in "ab"
    )
    return basket, given_pairs, after


def stream(chance: Random, words: int = 600) -> bytes:
    """Return random bytes; words at the ends of what there is are as likely as all others together, now and then."""
    if chance.random() < 0.6:
        return chance.randbytes(4 * words)
    ends = (0, 1, (1 << 31) - 1, 1 << 31, WORD - 2, WORD - 1)
    drawn_words = (chance.choice(ends) if chance.random() < 0.5 else chance.getrandbits(32) for _ in range(words))
    return b"".join(word.to_bytes(4, "little") for word in drawn_words)


def as_asked(chance: Random) -> Form:
    """Return a question as a collector asks it."""
    epsilon, pair_kind = Fraction(chance.choice(EPSILONS)), chance.choice(("together", "given", "after"))
    items = tuple(chance.sample(range(8), chance.randint(2, 6)))
    pairs = [(antecedent, consequent) for antecedent in items for consequent in items if antecedent != consequent]
    relations = Relations(RelationItems(items, pair_kind), tuple(chance.sample(pairs, chance.randint(1, len(pairs)))))
    kind = chance.randrange(9)
    if kind < 2:
        return _mean(
            chance, kind, RelationItems(items, pair_kind, tuple(chance.sample(pairs, chance.randint(0, 2)))), epsilon
        )
    itemsets = {tuple(sorted(chance.sample(range(9), chance.randint(1, 3)))) for _ in range(5)}
    listed_candidates = CandidateList(itemsets=tuple(sorted(itemsets)))
    candidates = chance.choice((CandidateList(chance.choice((1, 3, 10, 70, 1000))), listed_candidates))
    question: DeviceQuestion
    if kind == 2:
        question = SizeQuestion(candidates, (0, *sorted(chance.sample(range(1, 9), chance.randint(1, 4)))))
    elif kind == 3:
        question = SizeQuestion(relations, (0, 1, 3))
    elif kind == 4:
        prefixes = {tuple(sorted(chance.sample(items, 2), key=items.index)) for _ in range(3)}
        question = PrefixQuestion(order=items, prefixes=tuple(sorted(prefixes)), length=2)
    elif kind == 5:
        question = CellQuestion(items[:4])
    elif kind == 6:
        question = KeyQuestion(relations, absent=chance.random() < 0.5)
    else:
        question = CandidateQuestion(candidates) if kind == 7 else CandidateQuestion(relations)
    pad = chance.choice((1, 1, 2, 3, 5)) if kind >= 6 else 1
    ask = Ask.of("", ALL_PEOPLE, question, chance.choice(LIVE), epsilon, pad=pad)
    if ask.oracle.name == "olh" and chance.random() < 0.5:
        ask = replace(ask, oracle=replace(ask.frequencies, seeds=2 ** chance.randint(1, 31)))
    return dict(ask.form)


def _mean(chance: Random, kind: int, items: RelationItems, epsilon: Fraction) -> Form:
    ends = sorted(chance.sample((-(10**15), -40, -3, 0, 2, 50, (1 << 53) - 1), 2))
    largest = chance.choice((3, 1 << 20))
    item_count = chance.randint(1, 16)
    width = isqrt(item_count - 1) + 1 if kind else len(items)
    left_weights, right_weights = (tuple(chance.randint(-largest, largest) for _ in range(width)) for _ in "lr")
    question: DeviceQuestion
    if kind:
        question = FoldedProjection(items=item_count, left=left_weights, right=right_weights, low=ends[0], high=ends[1])
    else:
        question = Projection(items=items, left=left_weights, right=right_weights, low=ends[0], high=ends[1])
    return dict(Ask.mean("", ALL_PEOPLE, question, chance.choice(list(means())), epsilon).form)


def _odd(form: Form, chance: Random) -> Form:
    """Return a question with numbers that no collector would choose, which claims all of the epsilon."""
    oracle = dict(form["oracle"])
    for name in chance.sample(sorted(set(oracle) - {"oracle", "size", "pm", "duchi"}), chance.choice((1, 1, 2))):
        number = int(oracle[name])
        changed_number = chance.choice(
            (number + 1, number - 1, 2 * number, number // 2, chance.randrange(2 * number + 2))
        )
        oracle[name] = str(changed_number) if name == "inside" else changed_number
    return {**form, "epsilon": chance.choice(("64", form["epsilon"])), "oracle": oracle}
