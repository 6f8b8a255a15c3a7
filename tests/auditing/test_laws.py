"""The laws of choices and noise, against their definitions carried out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import exp, isclose

import numpy as np
import pytest

from discreet.auditing import law, noise

SCORES = [(3, 3, 1), (0, 5, 5, 2), (7,), (1, 0)]
RATE = Fraction(2, 3)


def middle(interval) -> float:
    return float((interval[0] + interval[1]) / 2)


def test_peeling():
    for scores in SCORES:
        picks = min(2, len(scores))
        for order, chance in law(scores, RATE, picks, "exponential").items():
            remaining_items, expected = set(range(len(scores))), 1.0
            for pick in order:
                expected *= exp(RATE * scores[pick]) / sum(
                    exp(RATE * scores[candidate]) for candidate in remaining_items
                )
                remaining_items.remove(pick)
            assert isclose(middle(chance), expected)
            assert chance[1] - chance[0] < 1e-40
        assert law(scores, RATE, picks, "gumbel") == law(scores, RATE, picks, "exponential")


def flipped(scores, remaining_items) -> dict[int, float]:
    """Return the chance of each candidate: go through them in a random order, keep one by a coin."""
    best_score = max(scores[candidate] for candidate in remaining_items)
    coins = {candidate: exp(RATE * (scores[candidate] - best_score)) for candidate in remaining_items}
    orders = list(permutations(remaining_items))
    chances = dict.fromkeys(remaining_items, 0.0)
    for order in orders:
        reached = 1 / len(orders)
        for candidate in order:
            chances[candidate] += reached * coins[candidate]
            reached *= 1 - coins[candidate]
    return chances


def test_permute_and_flip():
    for scores in SCORES:
        picks = min(2, len(scores))
        for order, chance in law(scores, RATE, picks, "permute-and-flip").items():
            remaining_items, expected = list(range(len(scores))), 1.0
            for pick in order:
                expected *= flipped(scores, remaining_items)[pick]
                remaining_items.remove(pick)
            assert isclose(middle(chance), expected)


@pytest.mark.parametrize("scores", [(3, 3, 1), (0, 4, 1), (2, 0)])
@pytest.mark.parametrize("picks", [1, 2])
def test_the_laplace_choice(scores, picks):
    decay, reach = exp(-float(RATE)), 40
    noise_law = (1 - decay) / (1 + decay) * decay ** np.abs(np.arange(-reach, reach + 1))
    grid = np.meshgrid(*[score + np.arange(-reach, reach + 1) for score in scores], indexing="ij")
    weights = np.ones(())
    for _ in scores:
        weights = np.multiply.outer(weights, noise_law)
    computed_law = law(scores, RATE, picks, "laplace")
    priorities = list(permutations(range(len(scores))))  # ties are broken evenly
    for order, chance in computed_law.items():
        expected = 0.0
        for priority in priorities:
            keys = [values * len(scores) + rank for values, rank in zip(grid, priority, strict=True)]
            ahead = np.ones(keys[0].shape, bool)
            for place, pick in enumerate(order):
                for rival in set(range(len(scores))) - set(order[: place + 1]):
                    ahead &= keys[pick] > keys[rival]
            expected += weights[ahead].sum() / len(priorities)
        assert float(chance[0]) <= expected * (1 + 1e-7)
        assert float(chance[1]) >= expected
        assert isclose(middle(chance), expected, rel_tol=1e-6)


def test_chances_add_up():
    for way, scores in product(("exponential", "permute-and-flip", "laplace"), SCORES):
        chances = law(scores, RATE, 1, way).values()
        assert sum(Fraction(low) for low, _ in chances) <= 1 <= sum(Fraction(high) for _, high in chances)


def test_laplace_noise():
    noise_law = noise(Fraction(3, 2), Fraction(9, 2), 5)
    decay = exp(-2 / 3)
    assert list(noise_law) == list(range(-5, 6))
    for value, chance in noise_law.items():
        assert isclose(middle(chance), (1 - decay) / (1 + decay) * decay ** abs(value))


def test_gaussian_noise():
    noise_law = noise(None, Fraction(9, 4), 12)
    total = sum(exp(-value * value / 4.5) for value in range(-60, 61))
    for value, chance in noise_law.items():
        assert isclose(middle(chance), exp(-value * value / 4.5) / total)
        assert chance[0] <= chance[1]
