"""Numbers about a data set that need no noise, or hardly any: one function for each kind of line.

The bounds of the papers on the misses of a choice, in units of the counts of the data; the law of an estimate; sizes of
baskets. All values are computed from raw data, and must not leave a lab.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log
from typing import Any

from discreet.errors import MisuseError

from .measures import Numbers, Run, load_baskets, mine_truth


def choosing(run: Run) -> Numbers:
    """Return the bounds gamma (misses of the top K) and eta (errors of counts), beside the K-th count (004).

    The options are ``top``, ``lengths``, ``epsilon``, ``doubt`` and ``neighbours``; the setting ``way`` is the
    selection of patterns. A bound says something if gamma is below the K-th count and below the number of people
    without the K-th pattern.
    """
    from discreet.curator.steps import slack
    from discreet.exact import Universe
    from discreet.privacy import Budget, Meter, Neighbours, exact
    from discreet.privacy.sampling import SimulationSource

    options, people = run.asked, len(run.baskets)
    top, length, doubt = options["top"], options["lengths"], exact(options["doubt"], "doubt")
    selection = run.line.settings["way"]
    meter = Meter(Budget.of(options["epsilon"]), Neighbours.parse_typed(options["neighbours"]), SimulationSource(0))
    itemset_count = Universe(run.baskets.items, length, length).itemset_count
    half = Fraction(1, 2)
    gamma = slack(selection, top, itemset_count, doubt, meter.rate(top, half, selection))
    # Theorem 3: each count has noise of scale top / (epsilon / 2).
    eta = float(top / (meter.total * half)) * log(top / doubt)
    counts = sorted(mine_truth(run, "top", top, length).values())
    last_count = counts[0] if len(counts) >= top else 0
    if last_count <= 0:
        return {"gamma": gamma, "eta": eta}
    is_informative = gamma < min(last_count, people - last_count)
    return {
        "gamma": gamma,
        "eta": eta,
        "gamma_share": gamma / last_count,
        "eta_share": eta / last_count,
        "says": float(is_informative),
    }


def sizes(run: Run) -> Numbers:
    """Return the number of people with ``size`` items; a setting ``epsilon`` adds the noise of algorithm 1 of 002."""
    from discreet.privacy import exact
    from discreet.privacy.sampling import SimulationSource, discrete_laplace

    size, histogram = run.asked["size"], run.baskets.size_histogram()
    people = int(histogram[size]) if size < len(histogram) else 0
    if "epsilon" in run.line.settings:
        noise = discrete_laplace(SimulationSource(run.seed), 1 / exact(run.line.settings["epsilon"], "epsilon"), size)
        people += int(noise[-1])
    return {"people": float(people), "share": people / max(1, len(run.baskets))}


def longest(run: Run) -> Numbers:
    """Return the probability that the longest frequent pattern is estimated to have ``size`` items (002, figure 2).

    The law of `estimate_longest_length` between 1 and ``upper`` items, at the threshold ``fraction`` of all people:
    noise alone decides the probability of each comparison, so that nothing is drawn.
    """
    if run.data is None:
        raise MisuseError(f"{run.line.label} needs data, and the experiment names none.")
    options = run.asked
    count = ceil(options["fraction"] * len(run.baskets))
    read_options = tuple(sorted(run.data.reading.items()))
    largest_count = _find_largest(run.data.name, run.data.people, read_options, count, options["upper"])
    rate = float(Fraction(options["epsilon"])) / (options["upper"] - 1).bit_length()
    law = _compute_law(largest_count, count, rate, options["upper"])
    true_length = max((size for size, largest_of_size in largest_count.items() if largest_of_size >= count), default=1)
    size = options["size"]
    return {"probability": law.get(size, 0.0), "right": law.get(true_length, 0.0), "true": float(true_length)}


@lru_cache(maxsize=16)
def _find_largest(name: str, people: int | None, read_options: Any, count: int, upper: int) -> dict[int, int]:
    """Return the largest count of each length, down to a twentieth of the threshold (C1).

    The mechanism raises this floor to the count that noise lifts over the threshold once in a hundred times, to mine
    less; the law differs by at most this chance.
    """
    from discreet.exact import Largest, LocalEngine

    engine = LocalEngine(load_baskets(name, people, read_options))
    return {size: int(engine.answer(Largest(size, -(-count // 20)))[0]) for size in range(1, upper + 1)}


def _compute_law(largest: dict[int, int], count: int, rate: float, upper: int) -> dict[int, float]:
    """Return the probability of each answer of a search that halves its range by noisy comparisons."""
    law: dict[int, float] = {}
    ranges = [(1, upper, 1.0)]
    while ranges:
        low, high, chance = ranges.pop()
        if low == high:
            law[low] = law.get(low, 0.0) + chance
            continue
        middle = (low + high + 1) // 2
        pass_probability = exceed_probability(count - largest[middle], rate)
        ranges += [(middle, high, chance * pass_probability), (low, middle - 1, chance * (1 - pass_probability))]
    return law


def exceed_probability(bound: int, rate: float) -> float:
    """Return the probability that discrete Laplace noise of scale 1 / rate is at least a whole number."""
    q = exp(-rate)
    return q**bound / (1 + q) if bound > 0 else 1 - q ** (1 - bound) / (1 + q)
