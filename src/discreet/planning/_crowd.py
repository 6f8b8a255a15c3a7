"""An imagined crowd: baskets drawn from public numbers, over which mechanisms and protocols run as over real ones.

There are few baskets in it, and each stands for many people: counts are scaled up to the number of people, and noise is
that of the real thing. So a forecast takes as long for a billion people as for ten thousand. The same numbers draw the
same crowd. Nothing here reads data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Vocabulary, from_events, numbers, starts
from ..exact import Engine, Largest, Listed, LocalEngine, Query, Truncation
from ..local import Answered, Oracle
from ..local.device import WORD
from ..local.study import Ask, Estimate, draw_baskets

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# How many baskets are imagined, and how many codes of items they may hold together.
BASKETS, CODES = 20_000, 600_000
# Where people have several baskets, so many times as many are imagined: it is people that have to be many.
_SEVERAL = 4
# How many itemsets are listed: those fewer hold stand for a handful of imagined baskets, which says little.
_LISTED = 50_000
# Sizes are told apart by so many quantiles while popularities are fitted, in so many steps.
_QUANTILES, _STEPS = 16, 8
# For each item that a basket is to have, so many of the likeliest get a time of their own; so many cells at once.
_LIKELIEST, _CELLS = 8, 1_000_000
# No item is held by more people than this, as one that everybody holds tells nothing.
MOST = 0.999


def zipf(items: int, mean: float, exponent: float) -> F64:
    """Return supports of items that fall with the rank to this power and add up to the mean size of a basket.

    Where the first ones would be held by more than everybody, the others take over what is too much.
    """
    falling = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    low, high = mean / falling.sum(), mean / falling[-1]
    for _ in range(100):
        middle = np.sqrt(low * high)  # where the power is steep, the two are many powers of ten apart
        low, high = (middle, high) if np.minimum(middle * falling, MOST).sum() < mean else (low, middle)
    supports: F64 = np.minimum(high * falling, MOST)
    return supports


def sizes_of(mean: float, supports: F64) -> tuple[I64, F64]:
    """Return sizes of baskets and how likely each is, where only their mean is known: short ones are likeliest.

    They are geometric, and nearer to their mean where the supports need it: items that nearly everyone holds are in
    short baskets too. Everyone holds something, unless there is less than one item per basket.
    """
    if mean <= 1:
        return np.array([0, 1]), np.array([1 - mean, mean])
    spread = np.arange(1, int(np.ceil(16 * mean)) + 1)
    chances: F64 = (1 - 1 / mean) ** (spread - 1).astype(np.float64)
    chances /= chances.sum()
    needed = np.cumsum(np.sort(supports)[::-1])
    for nearer in (0.0, 0.25, 0.5, 0.75, 1.0):
        # One between two whole numbers is either of them, so that the mean stays what it is.
        moved = (1 - nearer) * spread + nearer * mean
        below = np.floor(moved)
        law = np.bincount(
            np.concatenate([below, below + 1]).astype(np.int64),
            np.concatenate([chances * (1 - moved + below), chances * (moved - below)]),
        )
        sizes = np.flatnonzero(law)
        # Baskets of these sizes have so many of any j items at most: E min(size, j), summed up from the chance of each.
        room = np.cumsum(1 - np.cumsum(law))
        if (needed[: len(room)] <= room[: len(needed)] + 0.01 * mean).all():
            break
    return sizes, law[sizes] / law.sum()


@dataclass(frozen=True, kw_only=True, eq=False)
class ImaginedCrowd:
    """Imagined baskets of imagined people, each of whom stands for many.

    Parameters
    ----------
    baskets
        The baskets.
    people
        How many people they stand for.
    """

    baskets: Baskets
    people: int

    @property
    def scale(self) -> float:
        """How many people one of the imagined stands for."""
        return self.people / self.baskets.people

    @property
    def counted(self) -> int:
        """How many there are of what is counted: baskets where people have several, else people."""
        return round(self.scale * len(self.baskets))

    def of(self, people: int) -> ImaginedCrowd:
        """Return the same baskets standing for another number of people."""
        return replace(self, people=people)

    def answering(self, max_baskets: int) -> ImaginedCrowd:
        """Return the baskets that devices answer for: one that each draws of its own, as in a study."""
        return replace(self, baskets=draw_baskets(self.baskets, 0, max_baskets)) if self.baskets.several else self

    def spelt(self, symbols: str, length: int) -> ImaginedCrowd:
        """Return the same baskets of texts: random ones of all these symbols, each as long as may be.

        Hardly any two begin alike, and none ends early: both make texts harder to find than those that people have.
        """
        drawn = np.random.default_rng(len(self.baskets.vocabulary)).integers(
            0, len(symbols), (self.baskets.items, length)
        )
        rows = np.ascontiguousarray(np.array(list(symbols))[drawn])
        texts = rows.view(f"<U{length}").ravel().tolist()
        return replace(self, baskets=replace(self.baskets, vocabulary=Vocabulary(texts)))

    @cached_property
    def exact(self) -> LocalEngine:
        """What is true of the imagined baskets."""
        return LocalEngine(self.baskets)

    def hear(self, ask: Ask, generator: np.random.Generator) -> Estimate:
        """Put a round to its share of the people, and draw what their reports add up to.

        What the imagined baskets answer is taken for what these people answer on average. A report supports each value
        with the probability of those who hold it or of those who do not, so that each sum is drawn from its own law.
        """
        people = round(self.people * (ask.who.stop - ask.who.start) / WORD)
        everyone = np.arange(len(self.baskets), dtype=np.int64)
        oracle = ask.oracle
        if not isinstance(oracle, Oracle) or oracle.aggregate_size != oracle.size:
            # Reports of another kind are made one by one, for baskets drawn anew up to so many people.
            drawn = generator.integers(0, len(self.baskets), people)
            offsets, held = ask.question.answers(self.baskets, drawn)
            answered = Answered(offsets=offsets, held=held, people=np.arange(people, dtype=np.int64))
            aggregate = oracle.adder.start()
            oracle.add_drawn(aggregate, answered, int(generator.integers(1 << 62)), generator)
            return Estimate(ask, people, oracle.adder.decode(aggregate))
        offsets, held = ask.question.answers(self.baskets, everyone)
        sizes = np.diff(offsets)
        weights = np.repeat(np.minimum(1.0, oracle.pad / np.maximum(sizes, 1)), sizes)
        share = np.bincount(held, weights=weights, minlength=oracle.size)[: oracle.size] / len(self.baskets)
        holders = generator.binomial(people, np.clip(share, 0.0, 1.0))
        supports = generator.binomial(holders, float(oracle.p_held))
        supports += generator.binomial(people - holders, float(oracle.p_other))
        return Estimate(ask, people, supports.astype(np.int64))


def imagine(
    supports: F64, sizes: I64, chances: F64, people: int, seed: int = 0, each: tuple[I64, F64] | None = None
) -> ImaginedCrowd:
    """Draw a crowd whose items have about these supports, and whose baskets about these sizes.

    A basket of so many items has different ones, drawn one after the other by their popularity; apart from that, items
    have nothing to do with each other. Popularities are fitted so that the supports come out.

    Parameters
    ----------
    supports
        Which fraction of the people holds each item.
    sizes, chances
        How many items a basket has, and how likely that is.
    people
        How many people there are.
    seed
        Another seed draws another crowd.
    each
        How many baskets a person has, and how likely that is; one, unless it is given.
    """
    generator = np.random.default_rng([seed, len(supports)])
    mean = max(1.0, float(sizes @ chances))
    room = int(CODES / mean)
    if each is None:
        many = max(100, min(BASKETS, people, room))
        owners = None
    else:
        persons = max(100, min(BASKETS, people, int(min(room, _SEVERAL * BASKETS) / float(each[0] @ each[1]))))
        owners = starts(generator.choice(each[0], persons, p=each[1]))
        many = int(owners[-1])
    lengths = np.minimum(generator.choice(sizes, many, p=chances), int((supports > 0).sum()))
    popularity = _popularity(supports, np.sort(lengths)[(2 * np.arange(_QUANTILES) + 1) * many // (2 * _QUANTILES)])
    holders, items = _drawn(popularity, lengths, generator)
    baskets = from_events(many, holders, items, numbers(len(supports)))
    return ImaginedCrowd(baskets=baskets if owners is None else replace(baskets, owners=owners), people=people)


def _drawn(popularity: F64, lengths: I64, generator: np.random.Generator) -> tuple[I64, I64]:
    """Return who holds what, where each draws as many different items as it is to have, one after the other.

    Drawing one after the other is waiting: items arrive at random times, at a rate of their popularity, and a basket
    takes those that come first. However much likelier one is than the others, it comes once.
    """
    order = np.argsort(-popularity, kind="stable")[: int((popularity > 0).sum())]
    weights = popularity[order]
    # How much the rarest items weigh together, from the rarest up: small sums are not lost beside large ones.
    rarest = np.cumsum(weights[::-1])
    holders, items = [], []
    for length in np.unique(lengths[lengths > 0]).tolist():
        baskets = np.flatnonzero(lengths == length)
        # Each of the likeliest has its own time. What is rarer comes in a basket with a chance of less than 1 in 7
        # each, so draws of them with replacement are nearly all different, and so many are enough.
        many = min(_LIKELIEST * length, len(weights))
        rarer = length + length // 4 + 16 if many < len(weights) else 0
        rows = max(1, _CELLS // (many + rarer))
        for start in range(0, len(baskets), rows):
            some = baskets[start : start + rows]
            times = np.empty((len(some), many + rarer))
            times[:, :many] = generator.standard_exponential((len(some), many)) / weights[:many]
            codes = np.empty(times.shape, np.int64)
            codes[:, :many] = np.arange(many)
            if rarer:
                weigh = rarest[len(weights) - many - 1]
                times[:, many:] = np.cumsum(generator.standard_exponential((len(some), rarer)), axis=1) / weigh
                found = np.searchsorted(rarest, weigh * generator.random((len(some), rarer)), side="right")
                codes[:, many:] = len(weights) - 1 - found
                times[:, many:][_again(found)] = np.inf
            first = np.argpartition(times, length - 1, axis=1)[:, :length]
            holders.append(np.repeat(some, length))
            items.append(np.take_along_axis(codes, first, axis=1).ravel())
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *holders]), order[np.concatenate([empty, *items])]


def _again(found: I64) -> NDArray[np.bool_]:
    """Say of each cell whether its value stands further to the left in its row."""
    order = np.argsort(found, axis=1, kind="stable")
    ordered = np.take_along_axis(found, order, axis=1)
    repeated = np.zeros(found.shape, np.bool_)
    np.put_along_axis(repeated, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return repeated


def _popularity(supports: F64, lengths: I64) -> F64:
    """Return weights by which drawing baskets of these lengths gives items these supports.

    A basket of h items has item i with a probability of about 1 - exp(-w t), where t makes these add up to h (Rosén's
    approximation of successive sampling).
    """
    wanted = -np.log1p(-np.minimum(supports, MOST))
    weights = np.maximum(wanted, 1e-290)
    lengths = lengths[lengths > 0] if lengths.any() else np.ones(1, np.int64)
    times = np.ones(len(lengths))
    for _ in range(_STEPS):
        for _ in range(2):  # Newton steps towards the times, from below: the sum is concave
            waited = np.outer(times, weights)
            slope = (np.exp(-waited) * weights).sum(axis=1)
            short = lengths + np.expm1(-waited).sum(axis=1)
            times = np.maximum(times + short / np.maximum(slope, 1e-12), times / 2)
        held = -np.expm1(-np.outer(times, weights))
        held[lengths == 1] = weights / weights.sum()  # which is exact
        weights = weights * wanted / np.maximum(-np.log1p(-np.minimum(held.mean(axis=0), MOST)), 1e-300)
    # What somebody holds keeps a weight to divide by, however rare it is.
    return np.where(supports > 0, np.maximum(weights, 1e-290), 0.0)


class ScaledEngine(Engine):
    """Answers for many people from the few baskets that stand for them, and counts how often it is asked."""

    def __init__(self, inner: LocalEngine, scale: float, asked: list[str]) -> None:
        self.inner = inner
        self.items = inner.items
        self._scale = scale
        self._asked = asked

    def answer(self, query: Query) -> I64:
        """Return the answer to a query, scaled up."""
        self._asked.append(type(query).__name__)
        if isinstance(query, Largest):
            query = replace(query, floor=max(1, int(query.floor / self._scale)), rank=min(query.rank, _LISTED))
        return self._scaled(self.inner.answer(query))

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Return the itemsets that more than `bound` people hold, as far as a few baskets hold them."""
        self._asked.append("above")
        listed = self.inner.above(max(1, int(bound / self._scale)), least, longest, min(limit, _LISTED))
        counts = np.maximum(self._scaled(listed.counts), bound + 1)
        raised = max(bound, int(listed.bound * self._scale))
        some = np.flatnonzero(counts > raised)
        return Listed(listed.itemsets.take(some), counts[some], raised)

    def cut(self, truncation: Truncation) -> ScaledEngine:
        """Return an engine over the same baskets, each of them cut first."""
        self._asked.append("cut")
        return ScaledEngine(self.inner.cut(truncation), self._scale, self._asked)

    def _scaled(self, counts: I64) -> I64:
        scaled: I64 = np.rint(counts * self._scale).astype(np.int64)
        return scaled
