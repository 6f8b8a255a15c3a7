"""Random samples: people drawn with replacement, or one basket of each person."""

from __future__ import annotations

import numpy as np

from ..checks import is_whole
from ..errors import MisuseError
from ._core import Baskets, Pairs, Sequences, take_rows


def spawn_seeds(seed: int, streams: int) -> list[np.random.SeedSequence]:
    """Return the seeds of independent streams, derived from a seed of the user."""
    if not is_whole(seed) or seed < 0:
        raise MisuseError.format("{seed} is {given!r}; it must be a whole number, 0 or more: try {seed=0}.", given=seed)
    return np.random.SeedSequence(int(seed)).spawn(streams)


def resample(baskets: Baskets, people: int, seed: int = 0) -> Baskets:
    """Return baskets of people drawn uniformly, with replacement.

    A person is drawn with all baskets, order, pairs and segment. The vocabulary stays unchanged, so an item may be in
    no basket.

    Parameters
    ----------
    baskets
        The baskets of the people to draw from: at least one person.
    people
        The number of draws, 0 or more.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> from discreet.baskets._generate import quest
    >>> resample(quest(100, 50, mean_size=4, mean_pattern=2), 1_000, seed=7).people
    1000
    """
    if not is_whole(people) or people < 0:
        raise MisuseError.format("{people} is {given!r}; it must be a whole number, 0 or more.", given=people)
    if people > 0 and baskets.people == 0:
        raise MisuseError(f"There is nobody to draw {people:,} people from: give baskets of at least one person.")
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    rows = source.integers(baskets.people, size=people) if people else np.zeros(0, dtype=np.int64)
    owners = None
    if baskets.owners is not None:
        # People are drawn, and then all baskets of each drawn person.
        owners, rows = take_rows(baskets.owners, rows, np.arange(len(baskets)))
    sequences, pairs = baskets.sequences, baskets.pairs
    if sequences is not None:
        moments = () if sequences.moments is None else (sequences.moments,)
        sequences = Sequences(*take_rows(sequences.offsets, rows, sequences.codes, *moments))
    if pairs is not None:
        pairs = Pairs(*take_rows(pairs.offsets, rows, pairs.first, pairs.second))
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    segments = None if baskets.segments is None else baskets.segments.take(rows)
    return Baskets(offsets, codes, baskets.vocabulary, sequences, pairs, segments=segments, owners=owners)


def draw_one_basket_each(baskets: Baskets, seed: int = 0) -> Baskets:
    """Return one basket of each person, drawn uniformly.

    Draws of different people are independent, so the drawn baskets are as independent as the people are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import read
    >>> table = pa.table({"who": [1, 1, 2], "bill": [1, 2, 1], "what": ["tea", "milk", "jam"]})
    >>> sample = draw_one_basket_each(read(table, person="who", basket="bill", item="what"), seed=7)
    >>> sample.people, sample.several
    (2, False)
    """
    if baskets.owners is None:
        return baskets
    source = np.random.default_rng(*spawn_seeds(seed, 1))
    rows = baskets.owners[:-1] + source.integers(np.diff(baskets.owners))
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    segments = None if baskets.segments is None else baskets.segments.take(rows)
    return Baskets(offsets, codes, baskets.vocabulary, segments=segments)
