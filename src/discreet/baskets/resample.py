"""More people, or fewer, drawn from those there are: data of any size with the patterns of the given ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import MisuseError, told
from .core import Baskets, Codes, Offsets, Pairs, Sequences, starts
from .seeding import seeds

# Rows are copied in blocks of this many people, so that the index needed on the way stays small beside the
# result.
_BLOCK = 65_536


def resample(baskets: Baskets, people: int, seed: int = 0) -> Baskets:
    """Draw whole people uniformly, with replacement.

    Order, given pairs and segments come along. The vocabulary stays as it is, so an item may end up in no basket.

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
    >>> from discreet.baskets.generate import quest
    >>> resample(quest(100, 50, mean_size=4, mean_pattern=2), 1_000, seed=7).people
    1000
    """
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 0:
        raise MisuseError(told("{people} is {given!r}; it must be a whole number, 0 or more.", given=people))
    if people > 0 and baskets.people == 0:
        raise MisuseError(f"There is nobody to draw {people:,} people from: give baskets of at least one person.")
    source = np.random.default_rng(*seeds(seed, 1))
    drawn = source.integers(baskets.people, size=people) if people else np.zeros(0, dtype=np.int64)
    offsets = starts(np.diff(baskets.offsets)[drawn])
    sequences, pairs = baskets.sequences, baskets.pairs
    if sequences is not None:
        places = starts(np.diff(sequences.offsets)[drawn])
        moments = sequences.moments
        if moments is not None:
            moments = _rows(sequences.offsets, moments, drawn, places)
        sequences = Sequences(places, _rows(sequences.offsets, sequences.codes, drawn, places), moments)
    if pairs is not None:
        places = starts(np.diff(pairs.offsets)[drawn])
        first = _rows(pairs.offsets, pairs.first, drawn, places)
        pairs = Pairs(places, first, _rows(pairs.offsets, pairs.second, drawn, places))
    codes = _rows(baskets.offsets, baskets.codes, drawn, offsets)
    segments = None if baskets.segments is None else baskets.segments.take(drawn)
    return Baskets(offsets, codes, baskets.vocabulary, sequences, pairs, segments=segments)


def _rows(offsets: Offsets, codes: Codes, drawn: NDArray[np.int64], places: Offsets) -> Codes:
    result = np.empty(places[-1], dtype=codes.dtype)
    for start in range(0, len(drawn), _BLOCK):
        block = drawn[start : start + _BLOCK]
        here = places[start : start + len(block) + 1]
        shift = np.repeat(offsets[block] - here[:-1], np.diff(here))
        result[here[0] : here[-1]] = codes[shift + np.arange(here[0], here[-1])]
    return result
