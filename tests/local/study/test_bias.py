"""Protocols with a bias beyond their intervals say so, and `diff` claims nothing about their estimates."""

from __future__ import annotations

import pytest

import discreet
from discreet.local.protocols import SVIM, SVSM, LDPMiner, SVIMBetter
from discreet.registry import protocols
from discreet.results import BIAS_FACT

BIASED = ("svim", "svsm", "calm", "pckv")


@pytest.fixture(scope="module")
def baskets() -> discreet.Baskets:
    """Return 3,000 people; one in twelve holds all but one of 30 items, more than any padding keeps."""
    return discreet.read(
        [
            [
                f"item {item:02}"
                for item in (range(person % 2, 29) if person % 12 == 0 else (person % 5, 5 + person % 7))
            ]
            for person in range(3_000)
        ]
    )


@pytest.fixture(scope="module")
def exact(baskets) -> discreet.Patterns:
    return discreet.mine(baskets, min_count=1, lengths=(1, 2))


@pytest.mark.parametrize("protocol", BIASED)
def test_no_change_is_called_clear(baskets, exact, protocol, tmp_path):
    # Every clear change would be a false one. Without the fact, the runs of svim, calm and pckv have some.
    settings = {"items": 12} if protocol in ("calm", "pckv") else {}
    outcomes = [
        discreet.simulate(baskets, top=12, epsilon=4, seed=seed, protocol=protocol, settings=settings)
        for seed in (1, 2, 3)
    ]
    for outcome in outcomes:
        bias = outcome.facts[BIAS_FACT]
        assert any(bias in note and "Intervals hold noise alone" in note for note in outcome.notes)
        difference = discreet.diff(exact, outcome)
        assert not difference.clear
        assert any("no change is called clear" in note and bias in note for note in difference.notes)
    outcomes[0].patterns.save(tmp_path / "made.json")
    assert not discreet.diff(exact, tmp_path / "made.json").clear
    assert not discreet.diff(outcomes[0], outcomes[1]).clear


@pytest.mark.parametrize("protocol", ["adept", "svim-better"])
def test_others_have_intervals_for_the_truth(baskets, exact, protocol):
    outcome = discreet.simulate(baskets, top=8, epsilon=4, seed=1, protocol=protocol)
    assert BIAS_FACT not in outcome.facts
    assert not any("noise alone" in note for note in outcome.notes)
    small_result = discreet.mine([["item 00"]] * 2_900 + [[]] * 100, min_count=1)
    assert discreet.diff(small_result, outcome).clear


def test_what_decides_is_the_settings():
    assert not SVIMBetter().bias
    assert SVIMBetter(corrected=False).bias == "what a padding cuts off is not given back"
    assert not SVIM(padding="all").bias
    assert not LDPMiner().bias
    assert SVSM(items="svim-better", sizes="bins").bias == ""
    assert {name for name, kind in protocols().items() if kind.make().bias} >= set(BIASED)
