"""The effect of halving and of doubling each chosen constant of the estimation of local protocols.

    python -m benchmarks.constants                  all constants, in some minutes of one core
    python -m benchmarks.constants ATOMS LIARS      some constants

Each line has the mean NCR of the protocol at half of a constant, at its value and at its double, and the mean coverage
of intervals. The data are `quest` and `groceries` of `discreet.generate`, with the seeds 0 and 1, top 32 and epsilon 2.
"""

from __future__ import annotations

import sys
from importlib import import_module
from statistics import mean
from typing import Any

import numpy as np

import discreet
from discreet.baskets import Baskets, groceries, quest
from discreet.exact import Supports, engine_of

# Four runs for each value: differences of NCR below .03 are noise. More seeds make the figures sharper, and slower.
TOP, EPSILON, SEEDS, PEOPLE = 32, 2, (0, 1), 10_000
# The module of a constant, its name, and the protocol that it matters for.
CONSTANTS = (
    ("estimation._beliefs", "ATOMS", "adept"),
    ("estimation._beliefs", "_EM_STEPS", "adept"),
    ("estimation._beliefs", "_NEIGHBOUR_WEIGHT", "adept"),
    ("estimation._beliefs", "_BINS_PER_DEVIATION", "adept"),
    ("estimation._candidates", "ITEMS_PER_PATTERN", "adept"),
    ("estimation._candidates", "MIN_PAIRED_ITEMS", "adept"),
    ("estimation._candidates", "PLAUSIBLE", "adept"),
    ("estimation._candidates", "MAX_JOINED_SETS", "adept"),
    ("estimation._candidates", "_MAX_ERROR", "adept"),
    ("estimation._candidates", "_INFORMATIVE_DEVIATIONS", "adept"),
    ("estimation._priors", "_LOG_SPREADS", "adept"),
    ("estimation._priors", "_SEARCH_ROUNDS", "adept"),
    ("estimation._priors", "_FIRST_STEP", "adept"),
    ("estimation._sizes", "_LOG_NORMAL_WEIGHT", "adept"),
    ("estimation._sizes", "_MISFITS", "adept"),
    ("estimation._sizes", "_OUTLIER_DEVIATIONS", "adept"),
    ("estimation._sizes", "_FORM_DEVIATIONS", "adept"),
    ("estimation._sizes", "_TAIL_WIDTH", "adept"),
    ("oracle_steps._choice", "LIARS", "adept"),
    ("oracle_steps._choice", "SIZE_LIARS", "adept"),
    ("oracle_steps._choice", "TARGETS", "adept"),
    ("study._rounds", "TYPICAL_FREQUENCY", "svsm-better"),
    ("study._rounds", "LARGEST_SIZE", "svsm"),
    ("protocols.adept", "PATTERN_ERROR", "adept"),
    ("protocols.adept", "COMMON_ERROR_PART", "adept"),
    ("protocols.adept", "DENSE_ERROR", "adept"),
    ("protocols.adept", "FIRST_FREQUENCY", "adept"),
    ("protocols.adept", "LOG_SIZE_STD", "adept"),
    ("protocols.adept", "MAX_EXPECTED_SIZE", "adept"),
    ("protocols.adept", "MIN_LONGEST_PADDING", "adept"),
    ("protocols.adept", "UNCERTAIN_TOP_PROBABILITY", "adept"),
    ("protocols.adept", "TRUE_NOISE_FACTOR", "adept"),
    ("protocols.fp_tree", "_MAX_LOST_SHARE", "fp-tree"),
)


def main() -> None:
    """Print one line for each constant."""
    data = [quest(PEOPLE, 200, 8, 3, patterns=100, seed=7), groceries(PEOPLE, seed=7)]
    basis: dict[str, tuple[float, float]] = {}
    for module, name, protocol in CONSTANTS:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        if protocol not in basis:
            basis[protocol] = measure(data, protocol)
        value = getattr(import_module(f"discreet.local.{module}"), name)
        scores = [measure_at(data, protocol, name, value, scale(value, factor)) for factor in (0.5, 2)]
        half, double = scores
        print(
            f"{name:28} {protocol:12} NCR {half[0]:.3f} {basis[protocol][0]:.3f} {double[0]:.3f}   "
            f"coverage {half[1]:.3f} {basis[protocol][1]:.3f} {double[1]:.3f}",
            flush=True,
        )


def scale(value: Any, factor: float) -> Any:
    """Return a constant times a factor; whole numbers stay whole, and at least 1."""
    if isinstance(value, tuple):
        return tuple(scale(entry, factor) for entry in value)
    if isinstance(value, int):
        return max(1, round(value * factor))
    return type(value)(value * factor)


def measure_at(data: list[Baskets], protocol: str, name: str, value: Any, changed: Any) -> tuple[float, float]:
    """Return NCR and coverage with a changed constant, in every module that imported it."""
    # A module that imported the constant by name has a copy of its own, which would keep the old value.
    homes = [
        module
        for title, module in list(sys.modules.items())
        if title.startswith("discreet.local") and vars(module).get(name) is value
    ]
    for home in homes:
        setattr(home, name, changed)
    clear_laws()
    try:
        return measure(data, protocol)
    finally:
        for home in homes:
            setattr(home, name, value)
        clear_laws()


def clear_laws() -> None:
    """Forget the laws of sizes, which are made of constants once."""
    import_module("discreet.local.estimation._sizes")._make_laws.cache_clear()


def measure(data: list[Baskets], protocol: str) -> tuple[float, float]:
    """Return the mean NCR of a protocol, and the share of its intervals that hold the true count."""
    ranks, covered = [], []
    for baskets in data:
        for seed in SEEDS:
            outcome = discreet.simulate(
                baskets, protocol, top=TOP, epsilon=EPSILON, seed=seed, speed="aggregated", score=True
            )
            # NCR weighs the first patterns of the top the most, and needs no threshold.
            ranks.append(outcome.scores["normalised cumulative rank"])
            patterns = outcome.patterns
            counts = engine_of(baskets).answer(Supports(patterns.itemsets))
            covered.append(float(np.mean((patterns.low <= counts) & (counts <= patterns.high))))
    return mean(ranks), mean(covered)


if __name__ == "__main__":
    main()
