"""Patterns that may be among the top, level by level: what was measured of each, and what is believed of it.

Items are believed first, then all pairs of the most frequent, then larger sets all of whose parts may be among the top.
Every level's guess comes from the level below. Nothing here asks anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from math import exp, log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...baskets.lineage import Lineage
from .beliefs import Belief, Evidence, ItemLaw, Values, as_measured, log_scaled
from .priors import LARGER, PAIRS, Guessed, TwoPart, fitted

Itemset: TypeAlias = tuple[int, ...]
# How far the estimates of patterns that are so frequent follow the error that all of a round have in common.
Follows: TypeAlias = Callable[[Values], Values]

FOR_EACH = 3
"""How many items are looked at for every pattern wanted."""
POOL, MOST_POOL = 200, 400
"""How many of them are paired at least and at most."""
MOST_ITEMS = 20_000
"""How many are looked at at most; never fewer than are wanted."""
MOST_KEPT = 1 << 17
"""How many items are kept after the first round, those with the largest estimates: more than are ever looked at. Of
millions of others all that counts is the law that they follow."""
PLAUSIBLE = 0.003
"""How likely the parts of a larger set are to be among the top, for it to be looked at."""
MOST_JOINED = 1500
"""How many sets of a level, the likeliest among the top, are joined to larger ones."""
_LEAST = 1e-9
_LEAST_THRESHOLD = 1e-6
_MOST_APART = 0.75  # of two rounds
_TRIED_APART = 0.005
_ALL_REACH = 2.0  # deviations below 1 from which on an estimate says something of what is too much
_HARDLY = 1e-5
_NEAR_ENOUGH = 0.002  # of the logarithm of a threshold


class Measured:
    """What rounds told of itemsets.

    Parameters
    ----------
    prior
        Whether an estimate is pulled to what all of them suggest, or believed as it is.
    merged
        Whether all rounds count, by their precision, or only the newest.
    """

    def __init__(self, *, prior: bool = True, merged: bool = True) -> None:
        self.prior, self.merged = prior, merged
        self.rows: dict[Itemset, tuple[float, float, float, float]] = {}

    def add(self, sets: list[Itemset], told: Evidence, frequencies: Values) -> None:
        """Add a round's estimates of sets that are believed to be about so frequent."""
        self._put(sets, self.together(self.of(sets), told, frequencies))

    def together(self, before: Evidence, told: Evidence, frequencies: Values) -> Evidence:
        """Return what rounds before and a new one say of sets that are believed to be about so frequent."""
        return before.merged(told, frequencies) if self.merged else told

    def scale(self, off: float, follows: Follows) -> None:
        """Take an error out of everything that was told."""
        sets = list(self.rows)
        self._put(sets, lowered(self.of(sets), off, follows))

    def _put(self, sets: list[Itemset], known: Evidence) -> None:
        columns = (known.values, known.noise, known.relative, known.growth)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.rows.update(zip(sets, rows, strict=True))

    def of(self, sets: list[Itemset]) -> Evidence:
        """Return what is known of sets."""
        nothing = (0.0, np.inf, 0.0, 0.0)
        rows = np.array([self.rows.get(one, nothing) for one in sets]).reshape(-1, 4)
        return Evidence(values=rows[:, 0], noise=rows[:, 1], relative=rows[:, 2], growth=rows[:, 3])

    def believed(self, sets: list[Itemset], guessed: Guessed, default: TwoPart) -> Belief:
        """Return what to believe of sets, by what was told of them and by what their parts suggest."""
        known = self.of(sets)
        if self.prior:
            return fitted(default, known, guessed).believed(known, guessed)
        unsure = guessed.unsure + default.spread * guessed.guess**2
        by_parts = Evidence.noisy(guessed.guess, unsure)
        new = np.isinf(known.noise)
        return as_measured(known.put(new, by_parts.take(new)))


def alike(frequencies: Values) -> Values:
    """Return that all follow an error in full."""
    return np.ones(len(frequencies))


def lowered(known: Evidence, off: float, follows: Follows) -> Evidence:
    """Return estimates less an error in common, which is `off` of what they are for those that follow it in full."""
    return known.scaled(1 - off * follows(np.clip(known.values, 0.0, 1.0)))


@dataclass(eq=False)
class PatternLevel:
    """Sets of one size, and what is believed of each."""

    sets: list[Itemset]
    means: Values
    belief: Belief
    place: dict[Itemset, int]

    @classmethod
    def of(cls, sets: list[Itemset], belief: Belief, cap: Values | float = 1.0) -> PatternLevel:
        """Return a level none of whose sets is more frequent than its parts."""
        means = np.clip(belief.means, 0.0, cap)
        return cls(sets, means, belief, {one: at for at, one in enumerate(sets)})

    def at(self, sets: Iterable[Itemset]) -> NDArray[np.int64]:
        """Return the places of sets."""
        return np.array([self.place[one] for one in sets], np.int64)


def items_of(law: ItemLaw | None, known: Evidence, many: int, numbers: NDArray[np.int64] | None = None) -> PatternLevel:
    """Return the items that are believed to be the most frequent, the most frequent first; without a law, as told.

    `numbers` are those of the items that something is known of, where that is not all.
    """
    best = np.argsort(-(law.expected(known) if law else known.values), kind="stable")[:many]
    of_best, sets = known.take(best), best if numbers is None else numbers[best]
    return PatternLevel.of([(int(item),) for item in sets], law.believed(of_best) if law else as_measured(of_best))


def pairs_of(
    items: PatternLevel, measured: Measured, most: int = MOST_POOL, lineage: Lineage | None = None
) -> PatternLevel:
    """Return all pairs of the first `most` items, each guessed as if they had nothing to do with each other.

    Where items stand above others, an item and one above it are no pair: nor are they in any larger set, as all parts
    of one are there.
    """
    first, second = np.triu_indices(min(len(items.sets), most), 1)
    numbers = np.array([one for (one,) in items.sets], np.int64)
    if lineage is not None:
        apart = ~lineage.among(numbers[:most].tolist())[first, second]
        first, second = first[apart], second[apart]
    low, high = np.minimum(numbers[first], numbers[second]), np.maximum(numbers[first], numbers[second])
    sets: list[Itemset] = list(zip(low.tolist(), high.tolist(), strict=True))
    means = np.maximum(items.means, _LEAST)
    guess, relative = means[first] * means[second], items.belief.variance / means**2
    unsure = guess**2 * np.minimum(relative[first] + relative[second], 1.0)
    cap = np.minimum(means[first], means[second])
    variance = items.belief.variance
    floor = _floor(means[first] + means[second] - 1, variance[first] + variance[second], guess)
    belief = measured.believed(sets, Guessed(guess=guess, unsure=unsure, cap=cap, floor=floor), PAIRS)
    return PatternLevel.of(sets, belief, np.minimum(items.means[first], items.means[second]))


def larger_of(levels: list[PatternLevel], chances: Values, measured: Measured) -> PatternLevel | None:
    """Return the sets of one item more all of whose parts may be among the top, or nothing where there is none.

    The guess is the mean, over two members each, of what it would be if they had nothing to do with each other where
    the rest is held.
    """
    last, before = levels[-1], levels[-2]
    likely = np.flatnonzero(chances > PLAUSIBLE)
    likely = likely[np.argsort(-chances[likely], kind="stable")][:MOST_JOINED]
    sets = _joined([last.sets[at] for at in likely])
    if not sets:
        return None
    size = len(sets[0])
    without = [last.at(one[:at] + one[at + 1 :] for one in sets) for at in range(size)]
    plain = np.array([last.means[places] for places in without])
    parts = np.maximum(plain, _LEAST)
    relative = np.array([last.belief.variance[places] for places in without]) / parts**2
    inner = np.array(
        [
            before.means[before.at(one[:first] + one[first + 1 : second] + one[second + 1 :] for one in sets)]
            for first, second in combinations(range(size), 2)
        ]
    )
    logs = 2 / size * np.log(parts).sum(0) - np.log(np.maximum(inner, _LEAST)).mean(0)
    cap = parts.min(0)
    guess = np.minimum(np.exp(logs), cap)
    unsure = guess**2 * np.minimum(4 / size**2 * relative.sum(0), 1.0)
    # Whoever holds two of the parts holds all, so of those who hold the rest so many hold all at least.
    least = 2 / size * plain.sum(0) - inner.mean(0)
    floor = _floor(least, 4 / size**2 * (relative * parts**2).sum(0), guess)
    belief = measured.believed(sets, Guessed(guess=guess, unsure=unsure, cap=cap, floor=floor), LARGER)
    return PatternLevel.of(sets, belief, plain.min(0))


def _floor(least: Values, variance: Values, guess: Values) -> Values:
    """Return how frequent sets are at least, a deviation below what their parts say, and no more than guessed."""
    return np.clip(least - np.sqrt(variance), 0.0, guess)


def _joined(sets: list[Itemset]) -> list[Itemset]:
    """Return the sets of one item more all of whose parts are among these."""
    present, by_start = set(sets), dict[Itemset, list[int]]()
    for one in sorted(sets):
        by_start.setdefault(one[:-1], []).append(one[-1])
    found = []
    for start, ends in by_start.items():
        for first, second in combinations(ends, 2):
            new = (*start, first, second)
            if all(new[:at] + new[at + 1 :] in present for at in range(len(start))):
                found.append(new)
    return found


class PatternBeliefs:
    """What is known and believed of all patterns, and how frequent the last of the top is believed to be.

    Parameters
    ----------
    items, doubt
        What the first round told of every item, and how far, relative to themselves, all of that may be off together.
    follows
        How far items that are so frequent follow that error.
    top, least
        How many patterns are wanted, and of how many items at least.
    largest
        How many items a pattern has at most.
    prior, merged
        As for `Measured`, and of items too.
    lineage
        Which items stand above which, where some do.
    """

    def __init__(
        self,
        items: Evidence,
        doubt: float,
        follows: Follows = alike,
        *,
        top: int,
        least: int,
        largest: int,
        prior: bool = True,
        merged: bool = True,
        lineage: Lineage | None = None,
    ) -> None:
        # One estimate has as much noise as another, so the largest stay the largest whatever the law says of them.
        self.numbers = np.sort(np.argsort(-items.values, kind="stable")[:MOST_KEPT])
        kept = items.take(self.numbers)
        self.heard_of_others = float((1 / items.noise).sum() - (1 / kept.noise).sum())
        self.items = lowered(kept, _too_much(kept, doubt, follows), follows)
        self.doubt, self.follows = doubt, follows
        self.top, self.least, self.largest, self.lineage = top, least, largest, lineage
        self.law = ItemLaw.learnt(items) if prior else None
        self.measured = Measured(prior=prior, merged=merged)
        self.look()

    def places(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of items among those that are kept."""
        return np.searchsorted(self.numbers, items)

    @property
    def heard_of_items(self) -> float:
        """How much was heard of all items together: the sum of one over the variance of each estimate."""
        return float((1 / self.items.noise).sum()) + self.heard_of_others

    def look(self) -> None:
        """Believe everything anew: items, pairs of the most frequent, and larger sets whose parts may be of the top."""
        many = max(POOL, FOR_EACH * self.top)
        self.levels = [items_of(self.law, self.items, max(self.top, min(many, MOST_ITEMS)), self.numbers)]
        if self.largest > 1 and len(self.levels[0].sets) > 1:
            pairs = pairs_of(self.levels[0], self.measured, min(many, MOST_POOL), self.lineage)
            self.levels += [pairs] if pairs.sets else []
        self.threshold = _threshold(self.levels[self.least - 1 :], self.top, _LEAST_THRESHOLD)
        while 2 <= len(self.levels) < self.largest:
            level = larger_of(self.levels, self.levels[-1].belief.over(self.threshold), self.measured)
            if level is None:
                break
            self.levels.append(level)
            # More patterns can only make the last of the top more frequent.
            self.threshold = _threshold(self.levels[self.least - 1 :], self.top, self.threshold)

    def uncertain(self, chance: float, most: int, held: float = np.inf) -> list[Itemset]:
        """Return the patterns that are neither surely over the threshold nor surely below it.

        Parameters
        ----------
        chance
            From which chance on to be over the threshold, and up to one minus which, a pattern is uncertain.
        most
            How many at most, the most uncertain.
        held
            How many of them a person is expected to hold at most. The most uncertain one is always among them.

        They come by size and number, so that a question looks the same however they were found.
        """
        sets = [one for level in self.levels for one in level.sets]
        chances = np.concatenate([level.belief.over(self.threshold) for level in self.levels])
        unsure = np.flatnonzero((chances > chance) & (chances < 1 - chance))
        order = unsure[np.argsort(np.abs(chances[unsure] - 0.5), kind="stable")][:most]
        means = np.concatenate([level.means for level in self.levels])
        return sorted((sets[at] for at in _within(order, means, held)), key=_by_size)

    def expected(self, asked: list[Itemset]) -> dict[int, float]:
        """Return by length how many of the patterns a person is expected to hold."""
        found: dict[int, float] = {}
        for one in asked:
            level = self.levels[len(one) - 1]
            found[len(one)] = found.get(len(one), 0.0) + float(level.means[level.place[one]])
        return found

    @property
    def near(self) -> float:
        """How frequent the patterns are that the next round is to tell best.

        Those at the threshold, or, where fewer are expected over any than are wanted, the last of the top. Where
        everything there is fits into the top there is no border, and the mean of all counts.
        """
        means = np.concatenate([level.means for level in self.levels[self.least - 1 :] or self.levels])
        if len(means) <= self.top:
            return max(self.threshold, float(means.mean()))
        return max(self.threshold, float(np.partition(means, -self.top)[-self.top]))

    def best(self, many: int, held: float = np.inf) -> list[Itemset]:
        """Return so many patterns that are believed to be the most frequent, within `held` as for `uncertain`."""
        levels = self.levels[self.least - 1 :] or self.levels
        sets = [one for level in levels for one in level.sets]
        means = np.concatenate([level.means for level in levels])
        order = np.argsort(-means, kind="stable")[:many]
        return sorted((sets[at] for at in _within(order, means, held)), key=_by_size)

    def add(self, asked: list[Itemset], told: Evidence, doubt: float, follows: Follows = alike) -> None:
        """Add what a round told of the patterns it asked about, and believe everything anew.

        Parameters
        ----------
        asked
            The patterns, as `uncertain` returned them.
        told
            What the round's reports say of each.
        doubt
            How far, relative to themselves, all estimates of the round may be off together.
        follows
            How far patterns that are so frequent follow that error.
        """
        by_size = [[one for one in asked if len(one) == size] for size in range(1, len(self.levels) + 1)]
        places = [level.at(sets) for level, sets in zip(self.levels, by_size, strict=True)]
        means = np.concatenate([level.means[at] for level, at in zip(self.levels, places, strict=True)])
        variance = np.concatenate([level.belief.variance[at] for level, at in zip(self.levels, places, strict=True)])
        items = np.array([item for (item,) in by_size[0]], np.int64)
        single = np.arange(len(asked)) < len(items)  # they stand first
        sets = asked[len(items) :]
        before = np.isfinite(self.measured.of(sets).noise)
        again = np.concatenate((np.flatnonzero(single), len(items) + np.flatnonzero(before)))
        scales = Scales.found(
            told.take(again),
            (means[again], variance[again]),
            (self.doubt, doubt),
            (self.follows(means[again]), follows(means[again])),
        )
        # The error of all rounds before is taken out of what they told, and of the law learnt from it; what is left of
        # it is the doubt from here on. That of this round is taken out of what it told; what is left between the two
        # stays with this round's estimates, as relative variance. Only then are they merged.
        self.items, self.doubt = lowered(self.items, scales.before, self.follows), scales.doubt
        self.measured.scale(scales.before, self.follows)
        if self.law:
            self.law = self.law.scaled(1 - scales.before * self.follows(self.law.centres))
        far = follows(np.clip(told.values, 0.0, 1.0))
        told = told.scaled(1 / (1 + scales.new * far), scales.spare * far**2)
        kept = self.places(items)
        both = self.measured.together(self.items.take(kept), told.take(single), means[single])
        self.items = self.items.put(kept, both)
        self.measured.add(sets, told.take(~single), means[~single])
        self.look()


def _too_much(told: Evidence, doubt: float, follows: Follows) -> float:
    """Return by how much all estimates of a round are too large together, as nothing is held by more than everybody.

    The likeliest of a grid: estimates less that error are at most 1 but for their noise, and before anything was told
    the error was normal with the deviation `doubt`.
    """
    high = told.take(told.values + _ALL_REACH * np.sqrt(told.noise) > 1)
    if not len(high.values) or doubt <= 0:
        return 0.0
    tried = np.arange(0.0, _MOST_APART, _TRIED_APART)
    lowered_to = high.values * (1 - tried[:, None] * follows(np.clip(high.values, 0.0, 1.0)))
    z = (1 - lowered_to) / np.sqrt(high.noise)
    logs = (log_scaled(z) - z**2 / 2).sum(1) - (tried / doubt) ** 2 / 2
    return float(tried[np.argmax(logs)])


@dataclass(frozen=True, kw_only=True)
class Scales:
    """What is found of two errors: the one that all rounds before have in common, and that of a round.

    Parameters
    ----------
    before, new
        How far all before and the round lie over what is true, relative to what was believed.
    doubt
        The standard deviation of what is left of the first.
    spare
        The variance of what is left between the two.
    """

    before: float
    new: float
    doubt: float
    spare: float

    @classmethod
    def found(
        cls,
        told: Evidence,
        believed: tuple[Values, Values],
        doubts: tuple[float, float],
        follows: tuple[Values, Values],
    ) -> Scales:
        """Compare a round with the means and variances that were believed of the same patterns.

        With the errors b before and n of the round, what is true is 1 - b s times what was believed, and what was told
        lies over it by n t, where s and t say how far a pattern follows either. That is a regression in b and n, which
        are normal with the deviations `doubts` before it: what all patterns differ by is divided by how uncertain
        either was.
        """
        means, variance = believed
        if not len(means):
            return cls(before=0.0, new=0.0, doubt=doubts[0], spare=0.0)
        rows = np.stack((-means * follows[0], means * follows[1]))
        weighed = rows / (told.noise_at(means) + variance + told.relative * means**2)
        prior = np.diag(np.square(doubts))
        # Also where nothing is in doubt: the matrix to invert is that of one over the other, and not their sum.
        left = prior @ np.linalg.inv(np.eye(2) + weighed @ rows.T @ prior)
        before, new = np.clip(left @ weighed @ (told.values - means), -_MOST_APART, _MOST_APART).tolist()
        between = left[0, 0] + left[1, 1] - left[0, 1] - left[1, 0]
        return cls(before=before, new=new, doubt=sqrt(max(left[0, 0], 0.0)), spare=max(float(between), 0.0))


def _by_size(one: Itemset) -> tuple[int, Itemset]:
    return len(one), one


def _within(order: NDArray[np.int64], means: Values, held: float) -> NDArray[np.int64]:
    """Return the first of an order of which a person is expected to hold up to `held`, and one at least."""
    return order[: max(1, int(np.searchsorted(np.cumsum(means[order]), held, "right")))]


def _threshold(levels: list[PatternLevel], top: int, least: float) -> float:
    """Return the frequency, `least` or more, that as many patterns as are wanted are expected to be over.

    The last of the largest means would be far below it where little is known, since means of what is not known to be
    frequent are near 0.
    """
    low, high, beliefs = log(least), 0.0, [level.belief for level in levels]
    while high - low > _NEAR_ENOUGH:
        middle = (low + high) / 2
        chances = [belief.over(exp(middle)) for belief in beliefs]
        if sum(float(some.sum()) for some in chances) > top:
            low = middle
            # What is hardly over this is hardly over anything more.
            beliefs = [belief.take(some > _HARDLY) for belief, some in zip(beliefs, chances, strict=True)]
        else:
            high = middle
    return exp(high)
