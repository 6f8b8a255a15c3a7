"""Recording every step of a run, and replaying the released values to a run on different data.

A mechanism learns about the data through its meter alone. So two runs are made: a `Recorder` stores each step with its
exact answer and its released values, and a `Replayer` releases the same values to the mechanism on a neighbour's data
and compares. The rules of the comparison are in `steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..baskets import Item
from ..exact import Engine, FrequentSets, Query, Universe
from ..privacy import I64, Candidates, ItemTuple, Meter, Noisy, SealedEngine, Way, unsealed
from ..privacy.sampling import Selection
from ..results import Itemsets
from ._steps import (
    ChoiceStep,
    CountStep,
    Differs,
    DrawStep,
    FindStep,
    Name,
    Step,
    StepLoss,
    candidate_names,
    compare,
    compare_public,
)

Mood: TypeAlias = Literal["fair", "close", "any", "wide"]
MOODS: tuple[Mood, ...] = ("close", "fair", "any")
# Possible values of a noisy count, at any distance from the exact count.
_POSSIBLE_VALUES = np.array([-50, -1, 0, 1, 2, 3, 5, 20, 100, 1000])
_FIND_PROBABILITY = 0.7
# Wide answers are log-uniform up to 10^7: decisions about millions of people are as frequent as about tens.
_MAX_MAGNITUDE = 7.0
# Wide selections are uniform with this probability, and follow the law of the noise otherwise.
_ANY_CANDIDATE_PROBABILITY = 0.5
# Numpy draws integers of 64 bits; a larger number of candidates is cut to this.
_MAX_NUMPY_BOUND = 2**62


def draw_wide_values(generator: np.random.Generator, cells: int) -> I64:
    """Return made-up noisy counts of any size: constant, falling, mostly near 0, or independent."""
    largest = 10.0 ** generator.uniform(0, _MAX_MAGNITUDE)
    value_shapes = (
        np.full(cells, largest),
        largest * generator.uniform(0.1, 1.0) ** np.arange(cells),
        largest * (generator.random(cells) < generator.choice([0.05, 0.5])),
        10.0 ** generator.uniform(0, _MAX_MAGNITUDE, cells),
    )
    values = value_shapes[int(generator.integers(len(value_shapes)))] - generator.choice([0, 1, 20])
    return np.asarray(values, np.int64)


class Unlikely(Exception):  # noqa: N818
    """The second run can release this value only in an event that is charged as delta: no comparison is possible."""


class RecordingEngine(Engine):
    """An engine that stores its last answer."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.items = engine.items
        self.last: I64 = np.empty(0, np.int64)

    def answer(self, query: Query) -> I64:
        """Return the answer of the inner engine, and store it."""
        self.last = self.engine.answer(query)
        return self.last

    def above(self, bound: int, least: int, longest: int, limit: int) -> FrequentSets:
        """Return the list of the inner engine."""
        return self.engine.above(bound, least, longest, limit)


@dataclass(frozen=True, eq=False)
class NoiseDraw:
    """The drawn noise of one step, and its stated law: a scale (None for Gaussian noise) and a variance."""

    purpose: str
    scale: Fraction | None
    variance: Fraction
    values: I64


class Recorder(Meter):
    """A meter that records its queries and its released values.

    In a fair mood its answers follow the law of the noise. But all whole numbers are possible values of a noisy count,
    and all candidates can be selected, so further moods answer close to the exact answer, or anything: the claim is
    about every possible answer, and answers under the large noise of small data are seldom near a decision.
    """

    tape: list[Step]
    mood: Mood
    generator: np.random.Generator
    labels: Sequence[Item]
    # The noise that the samplers drew, in any mood.
    draws: list[NoiseDraw]

    def record(self, mood: Mood, generator: np.random.Generator, labels: Sequence[Item]) -> None:
        """Begin an empty tape. Itemsets are named by labels of items, as codes may differ between runs."""
        self.tape, self.mood, self.generator, self.labels = [], mood, generator, labels
        self.draws = []

    def count(self, purpose: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Return noisy counts of the mood, and record the step."""
        # The exact answer is read beside the mechanism, which holds sealed answers only.
        recorded_engine = RecordingEngine(unsealed(engine))
        noisy = super().count(
            purpose, SealedEngine(recorded_engine, engine.items, max_baskets=engine.max_baskets), query, share
        )
        values = noisy.values
        self.draws.append(NoiseDraw(purpose, noisy.scale, noisy.variance, values - recorded_engine.last))
        if self.mood == "close":
            values = recorded_engine.last + self.generator.integers(-1, 2, len(values))
        elif self.mood == "any":
            values = self.generator.choice(_POSSIBLE_VALUES, len(values))
        elif self.mood == "wide":
            values = draw_wide_values(self.generator, len(values))
        noisy = Noisy(values, noisy.scale, noisy.variance)
        self.tape.append(
            CountStep(
                purpose=purpose,
                share=share,
                charge=self.charges[-1],
                query=query,
                exact=recorded_engine.last,
                noisy=noisy,
                max_baskets=self.max_baskets,
            )
        )
        return noisy

    def _choose(self, purpose: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Return a selection of the mood, and record the step."""
        selected = super()._choose(purpose, candidates, picks, share, way)
        if self.mood == "any" or (self.mood == "wide" and self.generator.random() < _ANY_CANDIDATE_PROBABILITY):
            places = self.generator.choice(min(candidates.total_count, _MAX_NUMPY_BOUND), picks, replace=False).tolist()
            selected = Selection(tuple(place if place < len(candidates.scores) else -1 for place in places))
        # Places differ between data sets, and names do not: the pick is stored by its name.
        names = candidate_names(candidates)
        self.tape.append(
            ChoiceStep(
                purpose=purpose,
                share=share,
                charge=self.charges[-1],
                candidates=candidates,
                picks=picks,
                way=way,
                rate=self.rate(picks, share, way, monotone=candidates.monotone, step=candidates.step),
                chosen_names=[names[place] if place >= 0 else None for place in selected.candidates],
            )
        )
        return selected

    def _name_itemsets(self, selected: Selection, listed: Itemsets, universe: Universe) -> list[ItemTuple]:
        """Return the names of the picks, and store them in the step; the draws of unlisted names are not recorded."""
        # Drawing a name is part of the selection, which is one step.
        tape_length = len(self.tape)
        names = super()._name_itemsets(selected, listed, universe)
        del self.tape[tape_length:]
        step = self._last_choice()
        if any(
            chosen_name is not None and chosen_name != name
            for chosen_name, name in zip(step.chosen_names, names, strict=True)
        ):
            raise Differs(f"{step.purpose}: what is named is not what was chosen.")
        step.chosen_names[:] = names
        return names

    def _last_choice(self) -> ChoiceStep:
        return next(step for step in reversed(self.tape) if isinstance(step, ChoiceStep))

    def _find(
        self, purpose: str, counts: I64, max_itemsets: int, share: Fraction, itemsets: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Return found itemsets of the mood, and record the step."""
        is_kept, noisy, threshold = super()._find(purpose, counts, max_itemsets, share, itemsets)
        self.draws.append(NoiseDraw(purpose, noisy.scale, noisy.variance, noisy.values - counts))
        # An unfair search keeps itemsets at random, with counts that a kept itemset can have.
        if self.mood != "fair":
            is_kept = self.generator.random(len(counts)) < _FIND_PROBABILITY
            high_values = threshold + self.generator.integers(0, 5, len(counts))
            noisy = Noisy(np.where(is_kept, high_values, threshold - 1), noisy.scale, noisy.variance)
        names = self._name_things(itemsets)
        found_counts = zip(names, noisy.values.tolist(), is_kept.tolist(), strict=True)
        self.tape.append(
            FindStep(
                purpose=purpose,
                share=share,
                charge=self.charges[-1],
                counts=dict(zip(names, counts.tolist(), strict=True)),
                max_change=max_itemsets * self.max_baskets,
                scale=noisy.scale or Fraction(0),
                threshold=threshold,
                kept_counts={name: value for name, value, is_kept_value in found_counts if is_kept_value},
            )
        )
        return is_kept, noisy, threshold

    def _name_things(self, itemsets: Itemsets) -> list[Name]:
        """Return the names by which itemsets are followed from run to run."""
        return [tuple(self.labels[code] for code in itemset) for itemset in itemsets.tuples()]

    def secret(self) -> int:
        """Draw a key, and write it down."""
        return self._record_draw("a key", super().secret())

    def below(self, bound: int) -> int:
        """Draw a number, and write it down."""
        return self._record_draw(f"a number below {bound:,}", super().below(bound))

    def _record_draw(self, purpose: str, value: int) -> int:
        self.tape.append(DrawStep(purpose=purpose, share=Fraction(0), charge=None, value=value))
        return value


class Replayer(Recorder):
    """A meter that repeats the released values of an earlier run on different data, and compares each step."""

    def replay(
        self,
        tape: Sequence[Step],
        generator: np.random.Generator,
        labels: Sequence[Item],
        *,
        is_unrelated: bool = False,
    ) -> None:
        """Begin at the first step of a tape; exact answers are not compared if the data are unrelated."""
        self.record("fair", generator, labels)
        self.earlier_tape, self.is_unrelated = tape, is_unrelated
        self.losses: list[StepLoss] = []

    def _match_step(self) -> Step:
        """Return the step of the earlier run that matches the last step; store the loss of the pair."""
        # Steps are matched by their order: a step that is missing on one side shifts all later steps.
        place = len(self.tape) - 1
        if place >= len(self.earlier_tape):
            raise Differs(f"One run goes on with {self.tape[-1]}, the other one has ended.")
        earlier_step, step = self.earlier_tape[place], self.tape[-1]
        if self.is_unrelated:
            compare_public(earlier_step, step)
        else:
            self.losses.append(compare(earlier_step, step, self.neighbours))
        return self.earlier_tape[place]

    def check_ended(self) -> None:
        """Check that the earlier run has no further step."""
        if len(self.tape) < len(self.earlier_tape):
            raise Differs(f"One run goes on with {self.earlier_tape[len(self.tape)]}, the other one has ended.")

    def count(self, purpose: str, engine: SealedEngine, query: Query, share: Fraction) -> Noisy:
        """Return the counts of the earlier run, after the comparison."""
        noisy = super().count(purpose, engine, query, share)
        earlier_step = cast(CountStep, self._match_step())
        return Noisy(earlier_step.noisy.values, noisy.scale, noisy.variance)

    def _choose(self, purpose: str, candidates: Candidates, picks: int, share: Fraction, way: Way) -> Selection:
        """Return the picks of the earlier run, with places among the candidates of this run."""
        super()._choose(purpose, candidates, picks, share, way)
        earlier_step = cast(ChoiceStep, self._match_step())
        self._last_choice().chosen_names[:] = earlier_step.chosen_names
        # The same candidate may have a different place on the second data set.
        places: dict[Name | None, int] = {name: place for place, name in enumerate(candidate_names(candidates))}
        return Selection(tuple(places.get(name, -1) for name in earlier_step.chosen_names))

    def _name_itemsets(self, selected: Selection, listed: Itemsets, universe: Universe) -> list[ItemTuple]:
        """Return the names of the earlier run."""
        return [cast(ItemTuple, name) for name in self._last_choice().chosen_names]

    def _find(
        self, purpose: str, counts: I64, max_itemsets: int, share: Fraction, itemsets: Itemsets
    ) -> tuple[NDArray[np.bool_], Noisy, int]:
        """Return the found itemsets of the earlier run; unreleased counts below the threshold are made up."""
        _, noisy, threshold = super()._find(purpose, counts, max_itemsets, share, itemsets)
        earlier_step = cast(FindStep, self._match_step())
        names = self._name_things(itemsets)
        # An itemset of one side alone was found there: delta pays for the event.
        if not earlier_step.kept_counts.keys() <= set(names):
            raise Unlikely
        is_kept = np.array([name in earlier_step.kept_counts for name in names], np.bool_)
        values = threshold - 1 - self.generator.integers(0, 100, len(names))
        values[is_kept] = [earlier_step.kept_counts[name] for name in names if name in earlier_step.kept_counts]
        return is_kept, Noisy(values, noisy.scale, noisy.variance), threshold

    def secret(self) -> int:
        """Return the key of the earlier run."""
        super().secret()
        return cast(DrawStep, self._match_step()).value

    def below(self, bound: int) -> int:
        """Return the number of the earlier run."""
        super().below(bound)
        return cast(DrawStep, self._match_step()).value
