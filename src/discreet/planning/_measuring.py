"""Trials on data: the data, the true patterns, and a release with seeded noise that is measured against them.

The data are given baskets, people drawn from them, or a crowd imagined from public numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import Any

import numpy as np

from ..baskets import AnyBaskets, Baskets, build_code_table
from ..checks import MAX_COUNT, is_whole, parse_positive
from ..errors import LimitError, MisuseError, name_options
from ..exact import Engine, LocalEngine, WantedPatterns, engine_of, judged, listed_patterns, mine, tuples_of
from ..local.study import expected_counts
from ..privacy import exact
from ..privacy.sampling import SimulationSource
from ..publish import Case, carry_out
from ..results import Patterns, Trial, TrialSource
from ..wording import number_of
from ._crowd import ScaledEngine, imagine
from ._public_facts import MAX_PEOPLE, PublicFacts, parse_count
from ._trying import compute_margin

_MAX_PATTERNS = 1_000_000  # patterns over a threshold: larger takes more memory, smaller refuses more thresholds


def mine_wanted_patterns(case: Case, scale: float = 1.0) -> WantedPatterns:
    """Return the true patterns that a question asks for; they are mined once for all trials.

    Parameters
    ----------
    case
        The question and the data.
    scale
        The number of people that a person in the data represents.
    """
    vocabulary, question = case.baskets.vocabulary, case.question
    # The data may have items beyond the public list, which no mechanism can find.
    excluded = np.setdiff1d(
        np.arange(len(vocabulary), dtype=np.int32), np.union1d(case.extra_items, case.required_items)
    )
    bounds: dict[str, Any] = {
        "lengths": (question.min_length, question.max_length),
        "contains": vocabulary.take(case.required_items).to_pylist(),
        "excludes": vocabulary.take(excluded).to_pylist(),
    }
    is_threshold = question.top is None
    if question.top is not None:
        # Over the recoded data: a pattern of unlisted items is no true pattern.
        patterns = mine(case.baskets, top=question.top, **bounds)
        min_count = round(int(patterns.counts.min(initial=MAX_COUNT)) * scale)
    else:
        people = round(len(case.baskets) * scale)
        min_count = question.min_count or max(1, ceil(question.min_support * people))
        try:
            patterns = mine(case.baskets, min_count=max(1, ceil(min_count / scale)), limit=_MAX_PATTERNS, **bounds)
        except LimitError:
            raise LimitError.format(
                "More than {many:,} patterns lie over this threshold: ask for a larger one, for shorter patterns "
                "({lengths=}), or for the first of them ({top=}).",
                many=_MAX_PATTERNS,
            ) from None
    if not len(patterns):
        raise MisuseError.format(
            "Nobody in these data holds such a pattern, so there is nothing to find: ask for others, for a smaller "
            "threshold, or give the list of items that is theirs ({items=})."
        )
    counts = {
        itemset: round(count * scale)
        for itemset, count in zip(tuples_of(patterns), patterns.counts.tolist(), strict=True)
    }
    if not is_threshold:
        # Patterns that tie at the last count are interchangeable: a top need not have any particular one.
        counts = {itemset: count for itemset, count in counts.items() if count > min_count}
    return WantedPatterns(many=len(patterns), last=min_count, counts=counts, threshold=is_threshold)


def run_trial(
    case: Case, wanted_patterns: WantedPatterns, seed: int, engine: Callable[[Any], Engine], truth: Engine
) -> Trial:
    """Return the numbers of a release with seeded noise.

    Parameters
    ----------
    case, wanted_patterns
        The question, and its true patterns.
    seed
        The seed of the noise.
    engine
        The function that builds the engine of the release: a new one for each trial, so that the measured time is that
        of a release.
    truth
        An engine over all baskets, for the true counts of the released patterns; it is kept over trials.
    """
    start = time.perf_counter()
    # Seeded noise: equal seeds have to give equal trials.
    release = carry_out(case, SimulationSource(seed), engine)
    seconds = time.perf_counter() - start
    patterns = _recode(release.patterns, case)
    released = listed_patterns(truth, patterns)
    # One measure for releases and simulations, so that their numbers can be compared.
    numbers = judged(released, wanted_patterns, rules=False)
    true_counts = released.true_counts
    if case.baskets.has_receipts:
        # The intervals of a release with a basket cap are for weighted counts: `publish/basket_cap.md`.
        cap = int(release.facts["most baskets of a person"])
        true_counts = cap * expected_counts(case.baskets, patterns, cap)
    margin = compute_margin(release.patterns)
    return Trial(
        found=1 - numbers["missed"],
        error=numbers["median_error"],
        listed=len(patterns),
        held=int(((released.low <= true_counts) & (true_counts <= released.high)).sum()),
        margin=margin if isfinite(margin) else None,
        seconds=seconds,
        chosen=release.chosen_mechanism,
    )


def _recode(patterns: Patterns, case: Case) -> Patterns:
    """Return released patterns in the codes of the data."""
    vocabulary = case.baskets.vocabulary
    if patterns.vocabulary is vocabulary:
        return patterns
    # Without a public list, a release numbers its items anew.
    table = build_code_table(patterns.vocabulary, vocabulary)
    return replace(patterns, codes=table[patterns.codes], vocabulary=vocabulary)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrialData:
    """The baskets of trials, and the public numbers of their question.

    Parameters
    ----------
    baskets
        The baskets.
    source
        The origin of the baskets: ``"data"``, ``"drawn"`` or ``"imagined"``.
    items, people
        The keywords of the question.
    scale
        The number of people that a person in the baskets represents.
    notes
        Sentences about the origin of the baskets.
    """

    baskets: AnyBaskets
    source: TrialSource
    items: Any
    people: int | None
    scale: float = 1.0
    notes: tuple[str, ...] = ()

    def engine(self, baskets: Any) -> Engine:
        """Return an engine for exact queries over baskets, with counts scaled up to the represented people."""
        # A cluster holds real people, so its counts are not scaled.
        inner = engine_of(baskets)
        if self.scale == 1 or not isinstance(inner, LocalEngine):
            return inner
        return ScaledEngine(inner, self.scale, [])


def build_trial_data(
    baskets: AnyBaskets,
    items: Any,
    people: int | None,
    delta: Any,
    crowd: int | None,
    seed: int,
    crowd_options: Mapping[str, Any],
) -> TrialData:
    """Return given baskets as the data of trials, or people drawn from them.

    Parameters
    ----------
    baskets
        The given baskets.
    items, people, delta
        The keywords of the question.
    crowd
        The number of people to draw with replacement; None for the baskets themselves.
    seed
        The seed of the draw.
    crowd_options
        The keywords of an imagined crowd, all of which have to be None.
    """
    for name, value in crowd_options.items():
        if value is not None:
            raise MisuseError.format(
                "{option} says what a made-up crowd is like: leave it out, or leave the data out.",
                option=name_options(name),
            )
    source: TrialSource = "data"
    notes: list[str] = []
    if crowd is not None:
        from ..baskets import resample

        if not isinstance(baskets, Baskets):
            raise MisuseError("People are drawn from baskets on this machine; these are in a cluster.")
        notes.append(f"{number_of(baskets.people, 'person', 'people')} were read, and {crowd:,} drawn from them.")
        baskets, source = resample(baskets, parse_positive("crowd", crowd), seed), "drawn"
    if items is None and not exact(delta, "delta"):
        # Mechanisms of pure epsilon need a public list. A trial has no guarantee, so that the data may give the list.
        items = "public"
        notes.append(
            "The items found in the data were taken for a public list of them, as none was given. A release has to be "
            "told which items there are."
        )
    return TrialData(baskets=baskets, source=source, items=items, people=people, notes=tuple(notes))


def imagine_trial_data(people: Any, items: Any, sizes: Any, exponent: Any, frequencies: Any, seed: int) -> TrialData:
    """Return a crowd that is drawn from public numbers, the keywords of :func:`discreet.plan`."""
    # The two numbers stand for data here; in a release, items may be a list or a file.
    if people is None or not is_whole(items):
        raise MisuseError.format(
            "Give the data to try on; or say how many {people=} and {items=} there are, two numbers, and a crowd "
            "is made up."
        )
    facts = PublicFacts.of(items, sizes, exponent, frequencies, None)
    people_count = parse_count("people", people, MAX_PEOPLE)
    crowd = imagine(facts.supports, facts.sizes, facts.size_chances, people_count, seed)
    return TrialData(
        baskets=crowd.baskets,
        source="imagined",
        items="public",  # the numbers of the items are the public list
        people=crowd.people,
        scale=crowd.scale,
        notes=facts.notes,
    )
