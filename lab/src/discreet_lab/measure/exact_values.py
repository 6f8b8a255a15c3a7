"""What can be computed about a data set without drawing noise, or hardly: a function for each kind of line.

The papers' bounds on what a choice may miss, in units of the data's own counts; the law of an estimate; how long
baskets are. All of it looks at the raw data, so none of it may leave a lab.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log
from typing import Any

from discreet.errors import MisuseError

from .measures import Numbers, Run, loaded, truth


def choosing(run: Run) -> Numbers:
    """Return by how much the top K may be missed (gamma) and a count may be off (eta), beside the K-th count (004).

    Asked with ``top``, ``lengths``, ``epsilon``, ``doubt`` and ``neighbours``; the setting ``way`` says how patterns
    are chosen. A promise says something where gamma is below the K-th count and below the people who do not hold it.
    """
    from discreet.curator.steps import slack
    from discreet.exact import Universe
    from discreet.privacy import Budget, Meter, Neighbours, exact
    from discreet.privacy.sampling import SimulationSource

    asked, people = run.asked, len(run.baskets)
    top, length, doubt = asked["top"], asked["lengths"], exact(asked["doubt"], "doubt")
    way = run.line.settings["way"]
    meter = Meter(Budget.of(asked["epsilon"]), Neighbours.typed(asked["neighbours"]), SimulationSource(0))
    many = Universe(run.baskets.items, length, length).itemset_count
    half = Fraction(1, 2)
    gamma = slack(way, top, many, doubt, meter.rate(top, half, way))
    # Every count has noise of scale top over half of epsilon; theorem 3.
    eta = float(top / (meter.total * half)) * log(top / doubt)
    counts = sorted(truth(run, "top", top, length).values())
    last = counts[0] if len(counts) >= top else 0
    if last <= 0:
        return {"gamma": gamma, "eta": eta}
    says = gamma < min(last, people - last)
    return {"gamma": gamma, "eta": eta, "gamma_share": gamma / last, "eta_share": eta / last, "says": float(says)}


def sizes(run: Run) -> Numbers:
    """Return how many people hold ``size`` items; with a setting ``epsilon``, as algorithm 1 of 002 counts them."""
    from discreet.privacy import exact
    from discreet.privacy.sampling import SimulationSource, discrete_laplace

    size, histogram = run.asked["size"], run.baskets.size_histogram()
    people = int(histogram[size]) if size < len(histogram) else 0
    if "epsilon" in run.line.settings:
        noise = discrete_laplace(SimulationSource(run.seed), 1 / exact(run.line.settings["epsilon"], "epsilon"), size)
        people += int(noise[-1])
    return {"people": float(people), "share": people / max(1, len(run.baskets))}


def longest(run: Run) -> Numbers:
    """Return how likely it is that the longest frequent pattern is estimated to have ``size`` items (002, figure 2).

    The law of `estimate_longest_length` between 1 and ``upper`` items, at the threshold ``fraction`` of all people:
    each of its comparisons is right with a probability that the noise alone decides, so nothing has to be drawn.
    """
    if run.data is None:
        raise MisuseError(f"{run.line.label} needs data, and the experiment names none.")
    asked = run.asked
    count = ceil(asked["fraction"] * len(run.baskets))
    reading = tuple(sorted(run.data.reading.items()))
    largest = _largest(run.data.name, run.data.people, reading, count, asked["upper"])
    rate = float(Fraction(asked["epsilon"])) / (asked["upper"] - 1).bit_length()
    law = _law(largest, count, rate, asked["upper"])
    true = max((size for size, most in largest.items() if most >= count), default=1)
    size = asked["size"]
    return {"probability": law.get(size, 0.0), "right": law.get(true, 0.0), "true": float(true)}


@lru_cache(maxsize=16)
def _largest(name: str, people: int | None, reading: Any, count: int, upper: int) -> dict[int, int]:
    """Return the numbers that the search compares with the threshold, by length, down to a twentieth of it (C1).

    The mechanism raises that floor to where noise lifts a count over the threshold once in a hundred times, to spare
    itself the mining; without that the law differs by no more than this.
    """
    from discreet.exact import Largest, LocalEngine

    engine = LocalEngine(loaded(name, people, reading))
    return {size: int(engine.answer(Largest(size, -(-count // 20)))[0]) for size in range(1, upper + 1)}


def _law(largest: dict[int, int], count: int, rate: float, upper: int) -> dict[int, float]:
    """Return the probability of each answer of a search that halves its range by noisy comparisons."""
    law: dict[int, float] = {}
    waiting = [(1, upper, 1.0)]
    while waiting:
        low, high, chance = waiting.pop()
        if low == high:
            law[low] = law.get(low, 0.0) + chance
            continue
        middle = (low + high + 1) // 2
        passed = at_least(count - largest[middle], rate)
        waiting += [(middle, high, chance * passed), (low, middle - 1, chance * (1 - passed))]
    return law


def at_least(bound: int, rate: float) -> float:
    """Return the probability that discrete Laplace noise of scale one over the rate is at least a whole number."""
    q = exp(-rate)
    return q**bound / (1 + q) if bound > 0 else 1 - q ** (1 - bound) / (1 + q)
