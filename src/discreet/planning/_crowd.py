"""An imagined crowd: baskets drawn from public numbers, over which mechanisms and protocols run as over real ones.

Each of its few baskets represents many people: counts are scaled up to the number of people, and noise has the scale
of the real number. So a forecast for a billion people takes as long as for ten thousand. Equal numbers draw equal
crowds. This module reads no data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Vocabulary, build_from_events, number_vocabulary, starts
from ..exact import Engine, FrequentSets, Largest, LocalEngine, Query, Truncation
from ..local import Oracle, SimulatedAnswers
from ..local.device import WORD
from ..local.study import Ask, Estimate, draw_baskets

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# The imagined baskets, and their items together. Larger: less random error of a forecast; smaller: less time.
BASKETS, CODES = 20_000, 600_000
_BASKETS_FACTOR = 4  # the factor of BASKETS if people have several: the number of persons sets the random error
# The itemsets of a listing: rarer ones are in a handful of imagined baskets, too few for an estimate.
_MAX_LISTED = 50_000
# The quantiles of basket sizes, and the steps, of the fit of popularities. Larger: nearer supports; smaller: less time.
_QUANTILES, _STEPS = 16, 8
# Arrival times per item of a basket that are drawn one by one, and array cells per block (8 MB each).
_TIMES_PER_ITEM, _CELLS = 8, 1_000_000
# The largest support of an item: its logarithm has to be finite.
MAX_SUPPORT = 0.999


def zipf(items: int, mean: float, exponent: float) -> F64:
    """Return supports of items that fall with a power of the rank and add up to the mean size of a basket.

    Supports are at most `MAX_SUPPORT`: the excess of the first items is spread over further items.
    """
    falling = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    low, high = mean / falling.sum(), mean / falling[-1]
    for _ in range(100):
        middle = np.sqrt(low * high)  # where the power is steep, the two are many powers of ten apart
        low, high = (middle, high) if np.minimum(middle * falling, MAX_SUPPORT).sum() < mean else (low, middle)
    supports: F64 = np.minimum(high * falling, MAX_SUPPORT)
    return supports


def sizes_of(mean: float, supports: F64) -> tuple[I64, F64]:
    """Return sizes of baskets and their probabilities, from the mean alone: short baskets are the most probable.

    The law is geometric, and narrower if the supports need it: items in nearly all baskets are in short ones too. No
    basket is empty, unless the mean is below one item.
    """
    if mean <= 1:
        return np.array([0, 1]), np.array([1 - mean, mean])
    spread = np.arange(1, int(np.ceil(16 * mean)) + 1)
    chances: F64 = (1 - 1 / mean) ** (spread - 1).astype(np.float64)
    chances /= chances.sum()
    support_sums = np.cumsum(np.sort(supports)[::-1])
    for nearer in (0.0, 0.25, 0.5, 0.75, 1.0):
        # A size between two whole numbers is split between both, so that the mean is unchanged.
        moved = (1 - nearer) * spread + nearer * mean
        below = np.floor(moved)
        law = np.bincount(
            np.concatenate([below, below + 1]).astype(np.int64),
            np.concatenate([chances * (1 - moved + below), chances * (moved - below)]),
        )
        sizes = np.flatnonzero(law)
        # The largest number of any j items in a basket: E min(size, j), summed up from the probability of each size.
        room = np.cumsum(1 - np.cumsum(law))
        if (support_sums[: len(room)] <= room[: len(support_sums)] + 0.01 * mean).all():
            break
    return sizes, law[sizes] / law.sum()


@dataclass(frozen=True, kw_only=True, eq=False)
class ImaginedCrowd:
    """Imagined baskets of imagined people; each person represents many people.

    Parameters
    ----------
    baskets
        The baskets.
    people
        The number of people that they represent.
    """

    baskets: Baskets
    people: int

    @property
    def scale(self) -> float:
        """The number of people that an imagined person represents."""
        return self.people / self.baskets.people

    @property
    def counted(self) -> int:
        """The number of represented baskets if people have several, else of represented people."""
        return round(self.scale * len(self.baskets))

    def of(self, people: int) -> ImaginedCrowd:
        """Return a crowd with equal baskets and a different number of people."""
        return replace(self, people=people)

    def answering(self, max_baskets: int) -> ImaginedCrowd:
        """Return a crowd with the baskets that devices answer for: each draws one of its own, as in a study."""
        return replace(self, baskets=draw_baskets(self.baskets, 0, max_baskets)) if self.baskets.has_receipts else self

    def spelt(self, symbols: str, length: int) -> ImaginedCrowd:
        """Return a crowd with texts as items: random texts of the largest length.

        Hardly any two begin alike, and none ends early: both make texts harder to find than real ones.
        """
        draws = np.random.default_rng(len(self.baskets.vocabulary)).integers(
            0, len(symbols), (self.baskets.items, length)
        )
        rows = np.ascontiguousarray(np.array(list(symbols))[draws])
        texts = rows.view(f"<U{length}").ravel().tolist()
        return replace(self, baskets=replace(self.baskets, vocabulary=Vocabulary(texts)))

    @cached_property
    def exact(self) -> LocalEngine:
        """An engine for exact queries over the imagined baskets."""
        return LocalEngine(self.baskets)

    def hear(self, ask: Ask, generator: np.random.Generator) -> Estimate:
        """Return the estimate of a round from a draw of the sums of its reports.

        The mean answer of the people equals the mean answer of the imagined baskets. A report supports a
        value with the probability of its holders, or of other people, so that each sum is drawn from its own law.
        """
        people = round(self.people * (ask.group.stop - ask.group.start) / WORD)
        # Every imagined basket answers once, and the mean stands for all people.
        basket_numbers = np.arange(len(self.baskets), dtype=np.int64)
        oracle = ask.oracle
        if not isinstance(oracle, Oracle) or oracle.aggregate_size != oracle.size:
            # Without a sum per value, reports are made one by one, for baskets drawn with replacement.
            draws = generator.integers(0, len(self.baskets), people)
            offsets, codes = ask.question.answers(self.baskets, draws)
            answered = SimulatedAnswers(offsets=offsets, values=codes, people=np.arange(people, dtype=np.int64))
            aggregate = oracle.adder.start()
            oracle.add_drawn(aggregate, answered, int(generator.integers(1 << 62)), generator)
            return Estimate(ask, people, oracle.adder.decode(aggregate))
        offsets, codes = ask.question.answers(self.baskets, basket_numbers)
        sizes = np.diff(offsets)
        weights = np.repeat(np.minimum(1.0, oracle.pad / np.maximum(sizes, 1)), sizes)
        share = np.bincount(codes, weights=weights, minlength=oracle.size)[: oracle.size] / len(self.baskets)
        holders = generator.binomial(people, np.clip(share, 0.0, 1.0))
        supports = generator.binomial(holders, float(oracle.p_held))
        # Two draws: holders and people without the value support a value with different probabilities.
        supports += generator.binomial(people - holders, float(oracle.p_other))
        return Estimate(ask, people, supports.astype(np.int64))


def imagine(
    supports: F64, sizes: I64, chances: F64, people: int, seed: int = 0, each: tuple[I64, F64] | None = None
) -> ImaginedCrowd:
    """Return a crowd with items and baskets of about the given supports and sizes.

    The items of a basket are drawn successively by their popularity, without replacement; apart from that, items
    are independent. Popularities are fitted to the supports.

    Parameters
    ----------
    supports
        The fraction of the people who hold each item.
    sizes, chances
        The sizes of baskets, and the probability of each.
    people
        The number of people.
    seed
        The seed of the crowd.
    each
        The numbers of baskets of a person, and the probability of each; one basket by default.
    """
    generator = np.random.default_rng([seed, len(supports)])
    mean = max(1.0, float(sizes @ chances))
    room = int(CODES / mean)
    if each is None:
        basket_count = max(100, min(BASKETS, people, room))
        owners = None
    else:
        person_count = max(
            100, min(BASKETS, people, int(min(room, _BASKETS_FACTOR * BASKETS) / float(each[0] @ each[1])))
        )
        owners = starts(generator.choice(each[0], person_count, p=each[1]))
        basket_count = int(owners[-1])
    lengths = np.minimum(generator.choice(sizes, basket_count, p=chances), int((supports > 0).sum()))
    popularity = _fit_popularity(
        supports, np.sort(lengths)[(2 * np.arange(_QUANTILES) + 1) * basket_count // (2 * _QUANTILES)]
    )
    holders, items = _draw_items(popularity, lengths, generator)
    baskets = build_from_events(basket_count, holders, items, number_vocabulary(len(supports)))
    return ImaginedCrowd(baskets=baskets if owners is None else replace(baskets, owners=owners), people=people)


def _draw_items(popularity: F64, lengths: I64, generator: np.random.Generator) -> tuple[I64, I64]:
    """Return the basket and the item of each draw: every basket draws its length in items, without replacement.

    Successive draws are arrivals: each item arrives at an exponential time, with its popularity as the rate, and a
    basket takes the first arrivals. An item arrives once, however popular it is.
    """
    order = np.argsort(-popularity, kind="stable")[: int((popularity > 0).sum())]
    weights = popularity[order]
    # Cumulative weights from the rarest item up: small sums are not lost beside large ones.
    rarest = np.cumsum(weights[::-1])
    holders, items = [], []
    for length in np.unique(lengths[lengths > 0]).tolist():
        baskets = np.flatnonzero(lengths == length)
        # The likeliest items have a time each. A rarer item is in a basket with a probability below 1/7, so that draws
        # with replacement are nearly all different, and a quarter more draws than items are enough.
        popular_count = min(_TIMES_PER_ITEM * length, len(weights))
        rarer = length + length // 4 + 16 if popular_count < len(weights) else 0
        rows = max(1, _CELLS // (popular_count + rarer))
        for start in range(0, len(baskets), rows):
            block = baskets[start : start + rows]
            times = np.empty((len(block), popular_count + rarer))
            times[:, :popular_count] = (
                generator.standard_exponential((len(block), popular_count)) / weights[:popular_count]
            )
            codes = np.empty(times.shape, np.int64)
            codes[:, :popular_count] = np.arange(popular_count)
            if rarer:
                total_weight = rarest[len(weights) - popular_count - 1]
                times[:, popular_count:] = (
                    np.cumsum(generator.standard_exponential((len(block), rarer)), axis=1) / total_weight
                )
                drawn_ranks = np.searchsorted(
                    rarest, total_weight * generator.random((len(block), rarer)), side="right"
                )
                codes[:, popular_count:] = len(weights) - 1 - drawn_ranks
                times[:, popular_count:][_find_repeats(drawn_ranks)] = np.inf
            earliest = np.argpartition(times, length - 1, axis=1)[:, :length]
            holders.append(np.repeat(block, length))
            items.append(np.take_along_axis(codes, earliest, axis=1).ravel())
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *holders]), order[np.concatenate([empty, *items])]


def _find_repeats(values: I64) -> NDArray[np.bool_]:
    """Return for each cell whether its value occurs further left in its row."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    repeated = np.zeros(values.shape, np.bool_)
    np.put_along_axis(repeated, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return repeated


def _fit_popularity(supports: F64, lengths: I64) -> F64:
    """Return the weights that give items their supports, in baskets of the given lengths.

    A basket of h items has item i with a probability of about 1 - exp(-w_i t), with the t at which the probabilities
    add up to h (Rosén's approximation of successive sampling).
    """
    rates = -np.log1p(-np.minimum(supports, MAX_SUPPORT))
    weights = np.maximum(rates, 1e-290)
    lengths = lengths[lengths > 0] if lengths.any() else np.ones(1, np.int64)
    times = np.ones(len(lengths))
    for _ in range(_STEPS):
        for _ in range(2):  # Newton steps towards the times, from below: the sum is concave
            waited = np.outer(times, weights)
            slope = (np.exp(-waited) * weights).sum(axis=1)
            missing = lengths + np.expm1(-waited).sum(axis=1)
            times = np.maximum(times + missing / np.maximum(slope, 1e-12), times / 2)
        probabilities = -np.expm1(-np.outer(times, weights))
        probabilities[lengths == 1] = weights / weights.sum()  # which is exact
        weights = weights * rates / np.maximum(-np.log1p(-np.minimum(probabilities.mean(axis=0), MAX_SUPPORT)), 1e-300)
    # An item with holders keeps a positive weight, however rare it is: it is a divisor.
    return np.where(supports > 0, np.maximum(weights, 1e-290), 0.0)


class ScaledEngine(Engine):
    """An engine that scales the answers of a few baskets up to many people, and logs its queries."""

    def __init__(self, inner: LocalEngine, scale: float, queries: list[str]) -> None:
        self.inner = inner
        self.items = inner.items
        self._scale = scale
        self._queries = queries

    def answer(self, query: Query) -> I64:
        """Return the answer to a query, scaled up."""
        self._queries.append(type(query).__name__)
        if isinstance(query, Largest):
            query = replace(query, floor=max(1, int(query.floor / self._scale)), rank=min(query.rank, _MAX_LISTED))
        return self._scaled(self.inner.answer(query))

    def above(self, bound: int, least: int, longest: int, limit: int) -> FrequentSets:
        """Return the itemsets that more than `bound` people hold, as far as the imagined baskets tell."""
        self._queries.append("above")
        listing = self.inner.above(max(1, int(bound / self._scale)), least, longest, min(limit, _MAX_LISTED))
        # Rounding must not take an itemset below the bound: every itemset of the listing is over it.
        counts = np.maximum(self._scaled(listing.counts), bound + 1)
        raised = max(bound, int(listing.bound * self._scale))
        rows = np.flatnonzero(counts > raised)
        return FrequentSets(listing.itemsets.take(rows), counts[rows], raised)

    def cut(self, truncation: Truncation) -> ScaledEngine:
        """Return an engine over truncated baskets."""
        self._queries.append("cut")
        return ScaledEngine(self.inner.cut(truncation), self._scale, self._queries)

    def _scaled(self, counts: I64) -> I64:
        scaled: I64 = np.rint(counts * self._scale).astype(np.int64)
        return scaled
