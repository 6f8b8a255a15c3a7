"""Patterns and rules the slow, obvious way."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.baskets import Vocabulary
from discreet.results import Patterns, Provenance


def subsets(items):
    ordered = sorted(items)
    return [frozenset(part) for size in range(1, len(ordered) + 1) for part in combinations(ordered, size)]


def count_patterns(baskets, min_count=1):
    """Return {itemset: count} of all itemsets that at least `min_count` baskets hold."""
    counts = {}
    for basket in baskets:
        for itemset in subsets(basket):
            counts[itemset] = counts.get(itemset, 0) + 1
    return {itemset: count for itemset, count in counts.items() if count >= min_count}


def make_patterns(counts, people, labels=None, about=None, **bounds):
    """Return a Patterns of {itemset: count}, the largest count first, in a vocabulary of `labels`.

    `about` is the provenance as files have it.
    """
    labels = sorted(labels if labels is not None else {item for itemset in counts for item in itemset})
    order = sorted(counts, key=lambda itemset: (-counts[itemset], len(itemset), sorted(itemset)))
    code = {label: place for place, label in enumerate(labels)}
    rows = [sorted(code[item] for item in itemset) for itemset in order]
    return Patterns(
        offsets=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        codes=np.array([place for row in rows for place in row], np.int32),
        counts=np.array([counts[itemset] for itemset in order], np.int64),
        vocabulary=Vocabulary(labels),
        people=people,
        provenance=None if about is None else Provenance.from_dict(about),
        **bounds,
    )


def hash_itemsets(rows, keys):
    return [int(np.bitwise_xor.reduce([0, *(int(keys[code]) for code in row)])) for row in rows]


def find_itemsets(rows, queries):
    return [rows.index(row) if row in rows else -1 for row in queries]


def find_rules(rows, counts, people, min_confidence, min_lift, largest):
    """Return (whole, antecedent, consequent) positions of all rules, in order, and the number of rules left out.

    Rows are lists of ascending codes. A consequent is a tuple of positions in the row; sorted tuples come in
    the order in which the kernel grows them.
    """
    place = {}
    for position, row in enumerate(rows):
        place.setdefault(tuple(row), position)
    rules, missing = [], 0
    for whole_row, row in enumerate(rows):
        consequents = sorted(
            positions
            for size in range(1, min(len(row) - 1, largest) + 1)
            for positions in combinations(range(len(row)), size)
        )
        for positions in consequents:
            antecedent = place.get(tuple(code for position, code in enumerate(row) if position not in positions))
            consequent = place.get(tuple(row[position] for position in positions))
            if antecedent is None:
                missing += 1
            elif counts[antecedent] > 0 and counts[whole_row] / counts[antecedent] >= min_confidence:
                if consequent is None:
                    missing += 1
                elif (
                    counts[consequent] > 0
                    and people * counts[whole_row] / (counts[antecedent] * counts[consequent]) >= min_lift
                ):
                    rules.append((whole_row, antecedent, consequent))
    return rules, missing


def measures(people, antecedent, consequent, joint_count):
    """Return the ten measures of one rule from exact fractions of people, as floats."""
    support, left_share, right_share = (Fraction(count, people) for count in (joint_count, antecedent, consequent))
    confidence = support / left_share
    leverage = support - left_share * right_share
    divisor = max(support * (1 - left_share), left_share * (right_share - support))
    exact = {
        "support": support,
        "confidence": confidence,
        "lift": confidence / right_share,
        "leverage": leverage,
        "conviction": (1 - right_share) / (1 - confidence) if confidence < 1 else math.inf,
        "cosine": math.sqrt(support / left_share * support / right_share),
        "jaccard": support / (left_share + right_share - support),
        "kulczynski": (support / left_share + support / right_share) / 2,
        "certainty": (confidence - right_share) / (1 - right_share) if right_share < 1 else 0,
        "zhang": leverage / divisor if divisor else 0,
    }
    return {name: float(value) for name, value in exact.items()}
