"""The chances of a report under any basket that the client shows, beside the law that Python enumerates."""

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

SEEDS = 5  # of a hash function; the law goes through them with equal chances


def draw_small_question(chance: Random) -> dict:
    """Return a question with few values, so that all reports can be gone through."""
    while True:
        form = asking.as_asked(chance)
        oracle = form["oracle"]
        if oracle.get("size", 0) + oracle.get("dummies", 0) <= 14 and oracle.get("many", 1) <= 4:
            return form


@pytest.mark.parametrize("question_count", [60, pytest.param(600, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_chances_are_those_of_the_law(question_count):
    """Exact fractions, equal; a law that could not be followed to its end is not compared."""
    node.require_client()
    chance, compared = Random(question_count), dict.fromkeys(ANSWERS, 0)
    with node.speaking("chances.mjs") as ask:
        for _ in range(question_count):
            form, (basket, given_pairs, after) = draw_small_question(chance), asking.draw_holdings(chance)
            check(form, 64, "0.01")
            held_pairs = after if form.get("pairs") == "after" else given_pairs
            oracle, values = form["oracle"], find_values(form, basket, map(tuple, held_pairs))
            report_law = law(
                lambda draws, oracle=oracle, values=values: ANSWERS[oracle["oracle"]](oracle, values, draws)
            )
            if report_law.left_out:
                continue
            wanted_chances = {
                text: probability
                for text, probability in report_law.single.items()
                if not text.startswith(("pm", "duchi"))
            }
            for partial_report, stretches in report_law.stretched.items():
                name = "value" if oracle["oracle"] in ("grr", "olh") else "point"
                wanted_chances |= {
                    with_number(partial_report, point, name): probability
                    for point, probability in at_ends(stretches).items()
                }
            reports = [json.loads(text) for text in wanted_chances]
            answers = ask({"question": form, "basket": basket, "own": held_pairs, "reports": reports})
            for report, probability, fraction_parts in zip(reports, wanted_chances.values(), answers, strict=True):
                seeds = min(SEEDS, oracle.get("seeds", SEEDS)) if "seed" in report else 1
                assert Fraction(int(fraction_parts[0]), int(fraction_parts[1])) == seeds * probability, (
                    form,
                    basket,
                    held_pairs,
                    report,
                )
                compared[oracle["oracle"]] += 1
    print(compared)
    assert min(compared.values()) > 0


def at_ends(stretches: list[tuple[int, int, Fraction]]) -> dict[int, Fraction]:
    """Return how likely the first and the last number of each stretch are, by all stretches that have it."""
    steps: dict[int, Fraction] = {}
    for start, stop, probability in stretches:
        steps[start] = steps.get(start, Fraction()) + probability
        steps[stop] = steps.get(stop, Fraction()) - probability
    ends, totals, sum_here = sorted(steps), {}, Fraction()
    for position, after in pairwise(ends):
        sum_here += steps[position]
        totals |= {position: sum_here, after - 1: sum_here}
    return {point: totals[point] for start, stop, _ in stretches for point in (start, stop - 1)}


def with_number(partial_report: str, number: int, name: str) -> str:
    """Return the text of a report from a partial report and the number that the law left out."""
    kind, space, inner = partial_report.partition(" ")
    if kind in ("pm", "duchi") and space:
        return json.dumps({kind: json.loads(with_number(inner, number, name))})
    return json.dumps({**json.loads(partial_report), name: number})
