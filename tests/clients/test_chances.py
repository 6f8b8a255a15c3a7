"""What the client tells people of their report: its chances under any basket, beside the law that Python enumerates."""

# internals: this module compares the law that the TypeScript client follows with the law of the audit.
from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from clients import asking, node
from discreet.auditing._local_laws import law
from discreet.local.device import ANSWERS, check, find_values

SEEDS = 5  # of a hash function, that the law goes through with the same chance each


def small(chance: Random) -> dict:
    """Return a question with few values, so that all reports can be gone through."""
    while True:
        form = asking.as_asked(chance)
        oracle = form["oracle"]
        if oracle.get("size", 0) + oracle.get("dummies", 0) <= 14 and oracle.get("many", 1) <= 4:
            return form


@pytest.mark.parametrize("many", [60, pytest.param(600, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_chances_are_those_of_the_law(many):
    """Exact fractions, equal; a law that could not be followed to its end is not compared."""
    node.needed()
    chance, compared = Random(many), dict.fromkeys(ANSWERS, 0)
    with node.speaking("chances.mjs") as ask:
        for _ in range(many):
            form, (basket, given, after) = small(chance), asking.held(chance)
            check(form, 64, "0.01")
            own = after if form.get("pairs") == "after" else given
            oracle, values = form["oracle"], find_values(form, basket, map(tuple, own))
            found = law(lambda draws, oracle=oracle, values=values: ANSWERS[oracle["oracle"]](oracle, values, draws))
            if found.left_out:
                continue
            wanted = {text: likely for text, likely in found.single.items() if not text.startswith(("pm", "duchi"))}
            for rest, stretches in found.stretched.items():
                name = "value" if oracle["oracle"] in ("grr", "olh") else "point"
                wanted |= {with_number(rest, point, name): likely for point, likely in at_ends(stretches).items()}
            reports = [json.loads(text) for text in wanted]
            told = ask({"question": form, "basket": basket, "own": own, "reports": reports})
            for report, likely, there in zip(reports, wanted.values(), told, strict=True):
                seeds = min(SEEDS, oracle.get("seeds", SEEDS)) if "seed" in report else 1
                assert Fraction(int(there[0]), int(there[1])) == seeds * likely, (form, basket, own, report)
                compared[oracle["oracle"]] += 1
    print(compared)
    assert min(compared.values()) > 0


def at_ends(stretches: list[tuple[int, int, Fraction]]) -> dict[int, Fraction]:
    """Return how likely the first and the last number of each stretch are, by all stretches that have it."""
    steps: dict[int, Fraction] = {}
    for start, stop, likely in stretches:
        steps[start] = steps.get(start, Fraction()) + likely
        steps[stop] = steps.get(stop, Fraction()) - likely
    ends, found, sum_here = sorted(steps), {}, Fraction()
    for here, after in pairwise(ends):
        sum_here += steps[here]
        found |= {here: sum_here, after - 1: sum_here}
    return {point: found[point] for start, stop, _ in stretches for point in (start, stop - 1)}


def with_number(rest: str, number: int, name: str) -> str:
    """Return the text of a report from that of the rest and the number that the law left out of it."""
    kind, space, inner = rest.partition(" ")
    if kind in ("pm", "duchi") and space:
        return json.dumps({kind: json.loads(with_number(inner, number, name))})
    return json.dumps({**json.loads(rest), name: number})
