"""A whole study over the network finds what a simulation finds: the same law, whatever is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.baskets.core import Baskets, Vocabulary, starts
from discreet.collector.simulation import tried
from discreet.collector.study_file import StudyPlan
from discreet.errors import MisuseError

ITEMS, PEOPLE, RUNS = tuple("abcdefgh"), 1500, 30
SETTINGS = {"pairs": {"items": 4, "support": 8}}


def known() -> Baskets:
    """Return people who hold items of different frequencies, some of them together."""
    generator = np.random.default_rng(2)
    rows = [
        sorted(
            {at for at in range(8) if generator.random() < 0.6 / (at + 1)}
            | ({0, 1} if generator.random() < 0.3 else set())
        )
        for _ in range(PEOPLE)
    ]
    codes = np.array([item for row in rows for item in row], np.int32)
    return Baskets(starts([len(row) for row in rows]), codes, Vocabulary(list(ITEMS)))


def counts(found: dict) -> dict[str, float]:
    """Return the estimated counts by what they are of."""
    rows = found.get("relations") or found.get("rules") or found["patterns"]
    return {json.dumps([row.get("items"), row.get("antecedent"), row.get("consequent")]): row["count"] for row in rows}


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name", ["svsm", *(pytest.param(one, marks=pytest.mark.slow) for one in ("adept", "fp-tree", "pairs"))]
)
def test_a_study_agrees_in_distribution_with_a_simulation(name, tmp_path):
    """Counts of the live study lie among those of thirty simulations; takes 10 seconds.

    Reports are made with the secure source, so each run differs. Of up to ten counts, each is compared with the mean of
    those simulations, fifteen or more, that found it too: it is further than nine standard deviations off with a
    probability below 10⁻⁶ (Student's t, 14 degrees), and so the false-alarm rate is below 10⁻⁵.
    """
    baskets, settings = known(), SETTINGS.get(name, {})
    plan = StudyPlan(
        name="agrees", title="A study", asks="What?", protocol=name, top=6, epsilon="4", items=ITEMS, settings=settings
    )
    with tried(plan, baskets, processes=1) as done:
        live, outcomes = counts(json.loads(done.result)), done.outcomes
    assert outcomes == {"counted": json.loads(done.result)["people"]}
    assert outcomes["counted"] == PEOPLE
    simulated = []
    for seed in range(RUNS):
        outcome = discreet.simulate(baskets, name, top=6, epsilon=4, seed=seed, settings=settings)
        path = Path(tmp_path) / f"{seed}.json"
        outcome.save(path)
        simulated.append(counts(json.loads(path.read_text())))
    compared = 0
    for what, count in live.items():
        known_counts = [one[what] for one in simulated if what in one]
        if len(known_counts) < RUNS // 2:
            continue
        mean, deviation = np.mean(known_counts), max(float(np.std(known_counts, ddof=1)), 1.0)
        assert abs(count - mean) < 9 * deviation, what
        compared += 1
    assert compared >= 2


def test_what_the_data_do_not_have_is_told_before_anything_begins(tmp_path):
    plan = StudyPlan(
        name="after", title="A study", asks="What?", protocol="pairs", top=3, epsilon="4", items=ITEMS,
        settings={"how": "after", "items": 4, "support": 8},
    )  # fmt: skip
    with pytest.raises(MisuseError, match="These data have no order"), tried(plan, known(), directory=tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()
