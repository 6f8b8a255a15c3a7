"""Writing down every step of a run, and playing the released values back to a run on other data.

A mechanism learns about the data through its meter alone. So a run is made twice: a `Recorder` notes each step with its
exact answer and what was let out, and a `Replayer` gives the same values to the mechanism on a neighbour's data, and
compares. What must be the same and what may differ is in `steps`; here is only who says what when.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..baskets import Item
from ..exact import Engine, Listed, Query, Universe
from ..privacy import I64, Candidates, ItemTuple, Meter, Noisy, SealedEngine, Way, unsealed
from ..privacy.sampling import Selection
from ..results import Itemsets
from ._steps import Chose, Counted, Differs, Drew, Kept, Name, Step, StepLoss, compare, compare_public, named

Mood: TypeAlias = Literal["fair", "close", "any", "wide"]
MOODS: tuple[Mood, ...] = ("close", "fair", "any")
# Values that a noisy count may have, however unlikely.
_ANY = np.array([-50, -1, 0, 1, 2, 3, 5, 20, 100, 1000])
_FINDS = 0.7
# Wide answers are of so many orders of magnitude; a decision about millions of people is reached as often as others.
_MAGNITUDES = 7.0
# Wide choices take any candidate in one half of the cases, and follow the law of the noise in the other half.
_ANYWHERE = 0.5
# The numbers of candidates that a generator of numpy draws from.
_NUMBERED = 2**62


def wide_values(generator: np.random.Generator, cells: int) -> I64:
    """Return made-up noisy counts of any size: of one size, falling, mostly near 0, or each for itself."""
    largest = 10.0 ** generator.uniform(0, _MAGNITUDES)
    shapes = (
        np.full(cells, largest),
        largest * generator.uniform(0.1, 1.0) ** np.arange(cells),
        largest * (generator.random(cells) < generator.choice([0.05, 0.5])),
        10.0 ** generator.uniform(0, _MAGNITUDES, cells),
    )
    values = shapes[int(generator.integers(len(shapes)))] - generator.choice([0, 1, 20])
    return np.asarray(values, np.int64)


class Unlikely(Exception):  # noqa: N818
    """The other run can say this only in the event that is charged as delta: there is nothing to compare."""


class RecordedAnswer(Engine):
    """An engine whose last answer is remembered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.items = engine.items
        self.last: I64 = np.empty(0, np.int64)

    def answer(self, query: Query) -> I64:
        """Pass the answer on, and keep it."""
        self.last = self.engine.answer(query)
        return self.last

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Pass the answer on."""
        return self.engine.above(bound, least, longest, limit)


class Recorder(Meter):
    """A meter that writes down what it was asked and what it answered.

    In a fair mood its answers follow the law of the noise. But all whole numbers are possible values of a noisy count,
    and all candidates can be chosen, so it may just as well answer close to the truth, or anything: the claim is about
    every possible answer, and with the noise that small data need they are seldom interesting.
    """

    tape: list[Step]
    mood: Mood
    generator: np.random.Generator
    labels: Sequence[Item]

    def record(self, mood: Mood, generator: np.random.Generator, labels: Sequence[Item]) -> None:
        """Begin an empty tape. Things that are found are known by the labels of the items: codes may not last."""
        self.tape, self.mood, self.generator, self.labels = [], mood, generator, labels

    def count(self, what: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Count, and write it down."""
        heard = RecordedAnswer(unsealed(engine))
        noisy = super().count(what, SealedEngine(heard, engine.items, max_baskets=engine.max_baskets), query, share)
        values = noisy.values
        if self.mood == "close":
            values = heard.last + self.generator.integers(-1, 2, len(values))
        elif self.mood == "any":
            values = self.generator.choice(_ANY, len(values))
        elif self.mood == "wide":
            values = wide_values(self.generator, len(values))
        noisy = Noisy(values, noisy.scale, noisy.variance)
        self.tape.append(
            Counted(
                what=what,
                share=share,
                charge=self.charges[-1],
                query=query,
                exact=heard.last,
                noisy=noisy,
                max_baskets=self.max_baskets,
            )
        )
        return noisy

    def _choose(self, what: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Choose, and write it down."""
        chosen = super()._choose(what, candidates, picks, share, way)
        if self.mood == "any" or (self.mood == "wide" and self.generator.random() < _ANYWHERE):
            places = self.generator.choice(min(candidates.total_count, _NUMBERED), picks, replace=False).tolist()
            chosen = Selection(tuple(place if place < len(candidates.scores) else -1 for place in places))
        names = named(candidates)
        self.tape.append(
            Chose(
                what=what,
                share=share,
                charge=self.charges[-1],
                candidates=candidates,
                picks=picks,
                way=way,
                rate=self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step),
                chosen=[names[place] if place >= 0 else None for place in chosen.candidates],
            )
        )
        return chosen

    def _name_itemsets(self, chosen: Selection, listed: Itemsets, universe: Universe) -> list[ItemTuple]:
        """Name the chosen itemsets, and write the names down beside the choice; how they were drawn is forgotten."""
        before = len(self.tape)
        names = super()._name_itemsets(chosen, listed, universe)
        del self.tape[before:]
        step = self._choice()
        if any(one is not None and one != name for one, name in zip(step.chosen, names, strict=True)):
            raise Differs(f"{step.what}: what is named is not what was chosen.")
        step.chosen[:] = names
        return names

    def _choice(self) -> Chose:
        return next(step for step in reversed(self.tape) if isinstance(step, Chose))

    def _find(
        self, what: str, counts: I64, most: int, share: Fraction, things: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Find things, and write it down."""
        kept, noisy, threshold = super()._find(what, counts, most, share, things)
        if self.mood != "fair":
            kept = self.generator.random(len(counts)) < _FINDS
            above = threshold + self.generator.integers(0, 5, len(counts))
            noisy = Noisy(np.where(kept, above, threshold - 1), noisy.scale, noisy.variance)
        names = self._things(things)
        found = zip(names, noisy.values.tolist(), kept.tolist(), strict=True)
        self.tape.append(
            Kept(
                what=what,
                share=share,
                charge=self.charges[-1],
                counts=dict(zip(names, counts.tolist(), strict=True)),
                most=most * self.max_baskets,
                scale=noisy.scale or Fraction(0),
                threshold=threshold,
                kept={name: value for name, value, keep in found if keep},
            )
        )
        return kept, noisy, threshold

    def _things(self, things: Itemsets) -> list[Name]:
        """Return the names by which things are followed from one run to the other."""
        return [tuple(self.labels[code] for code in itemset) for itemset in things.tuples()]

    def secret(self) -> int:
        """Draw a key, and write it down."""
        return self._drew("a key", super().secret())

    def below(self, bound: int) -> int:
        """Draw a number, and write it down."""
        return self._drew(f"a number below {bound:,}", super().below(bound))

    def _drew(self, what: str, value: int) -> int:
        self.tape.append(Drew(what=what, share=Fraction(0), charge=None, value=value))
        return value


class Replayer(Recorder):
    """A meter that answers on other data what was answered before, and compares what it would have had to hide."""

    def replay(
        self, tape: Sequence[Step], generator: np.random.Generator, labels: Sequence[Item], *, far: bool = False
    ) -> None:
        """Begin at the first step of a tape. Data that are `far` are no neighbours: exact answers may differ by any."""
        self.record("fair", generator, labels)
        self.before, self.far = tape, far
        self.losses: list[StepLoss] = []

    def _next(self) -> Step:
        """Return the step that the last one of this run goes with, and note what the two reveal."""
        place = len(self.tape) - 1
        if place >= len(self.before):
            raise Differs(f"One run goes on with {self.tape[-1]}, the other one has ended.")
        before, now = self.before[place], self.tape[-1]
        if self.far:
            compare_public(before, now)
        else:
            self.losses.append(compare(before, now, self.neighbours))
        return self.before[place]

    def done(self) -> None:
        """Say that the run has ended: the other one must not go on."""
        if len(self.tape) < len(self.before):
            raise Differs(f"One run goes on with {self.before[len(self.tape)]}, the other one has ended.")

    def count(self, what: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Count, compare, and give the values of the other run."""
        noisy = super().count(what, engine, query, share)
        before = cast(Counted, self._next())
        return Noisy(before.noisy.values, noisy.scale, noisy.variance)

    def _choose(self, what: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Choose, compare, and give the picks of the other run, as listed here or as not listed."""
        super()._choose(what, candidates, picks, share, way)
        before = cast(Chose, self._next())
        self._choice().chosen[:] = before.chosen
        places: dict[Name | None, int] = {name: place for place, name in enumerate(named(candidates))}
        return Selection(tuple(places.get(name, -1) for name in before.chosen))

    def _name_itemsets(self, chosen: Selection, listed: Itemsets, universe: Universe) -> list[ItemTuple]:
        """Give the names of the other run."""
        return [cast(ItemTuple, name) for name in self._choice().chosen]

    def _find(
        self, what: str, counts: I64, most: int, share: Fraction, things: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Find, compare, and give what the other run found; noisy counts of other things are made up, to be no use."""
        _, noisy, threshold = super()._find(what, counts, most, share, things)
        before = cast(Kept, self._next())
        names = self._things(things)
        if not before.kept.keys() <= set(names):
            raise Unlikely
        kept = np.array([name in before.kept for name in names], np.bool_)
        values = threshold - 1 - self.generator.integers(0, 100, len(names))
        values[kept] = [before.kept[name] for name in names if name in before.kept]
        return kept, Noisy(values, noisy.scale, noisy.variance), threshold

    def secret(self) -> int:
        """Give the key of the other run."""
        super().secret()
        return cast(Drew, self._next()).value

    def below(self, bound: int) -> int:
        """Give the number of the other run."""
        super().below(bound)
        return cast(Drew, self._next()).value
