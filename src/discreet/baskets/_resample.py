"""More people, or fewer, drawn from those there are; or one basket of each of them."""

from __future__ import annotations

import numpy as np

from ..errors import MisuseError
from ._core import Baskets, Pairs, Sequences, take_rows
from ._seeding import seeds


def resample(baskets: Baskets, people: int, seed: int = 0) -> Baskets:
    """Draw whole people uniformly, with replacement.

    All baskets of a person, order, given pairs and segments come along. The vocabulary stays as it is, so an item may
    end up in no basket.

    Parameters
    ----------
    baskets
        The people to draw from: at least one.
    people
        How many to draw.
    seed
        A whole number, 0 or more.

    Examples
    --------
    >>> from discreet.baskets._generate import quest
    >>> resample(quest(100, 50, mean_size=4, mean_pattern=2), 1_000, seed=7).people
    1000
    """
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 0:
        raise MisuseError.format("{people} is {given!r}; it must be a whole number, 0 or more.", given=people)
    if people > 0 and baskets.people == 0:
        raise MisuseError(f"There is nobody to draw {people:,} people from: give baskets of at least one person.")
    source = np.random.default_rng(*seeds(seed, 1))
    drawn = source.integers(baskets.people, size=people) if people else np.zeros(0, dtype=np.int64)
    owners = None
    if baskets.owners is not None:
        owners, drawn = take_rows(baskets.owners, drawn, np.arange(len(baskets)))
    sequences, pairs = baskets.sequences, baskets.pairs
    if sequences is not None:
        moments = () if sequences.moments is None else (sequences.moments,)
        sequences = Sequences(*take_rows(sequences.offsets, drawn, sequences.codes, *moments))
    if pairs is not None:
        pairs = Pairs(*take_rows(pairs.offsets, drawn, pairs.first, pairs.second))
    offsets, codes = take_rows(baskets.offsets, drawn, baskets.codes)
    segments = None if baskets.segments is None else baskets.segments.take(drawn)
    return Baskets(offsets, codes, baskets.vocabulary, sequences, pairs, segments=segments, owners=owners)


def one_each(baskets: Baskets, seed: int = 0) -> Baskets:
    """Draw one basket of each person, any as likely as the others.

    Everybody draws apart from all others: so the baskets that are drawn are as independent of each other as the people
    are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import read
    >>> table = pa.table({"who": [1, 1, 2], "bill": [1, 2, 1], "what": ["tea", "milk", "jam"]})
    >>> drawn = one_each(read(table, person="who", basket="bill", item="what"), seed=7)
    >>> drawn.people, drawn.several
    (2, False)
    """
    if baskets.owners is None:
        return baskets
    source = np.random.default_rng(*seeds(seed, 1))
    rows = baskets.owners[:-1] + source.integers(np.diff(baskets.owners))
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    segments = None if baskets.segments is None else baskets.segments.take(rows)
    return Baskets(offsets, codes, baskets.vocabulary, segments=segments)
