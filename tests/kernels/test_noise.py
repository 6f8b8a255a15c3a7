"""The compiled sampler against its twin: equal words, equal noise."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from discreet.kernels import RESERVE, fill_discrete_laplace
from naive import noise as naive


@settings(max_examples=30)
@given(st.integers(1, 2**54 - 1), st.integers(1, 10**6), st.integers(0, 10**6))
def test_discrete_laplace(above, beneath, seed):
    words = np.random.default_rng(seed).integers(0, 2**64, 400 + RESERVE, np.uint64)
    noise = np.zeros(12, np.int64)
    noise_count, word_count = fill_discrete_laplace(words, above, beneath, noise)
    remaining_words = words.tolist()
    twin = [naive.discrete_laplace(remaining_words, above, beneath) for _ in range(noise_count)]
    assert noise[:noise_count].tolist() == twin
    assert word_count == len(words) - len(remaining_words)
    assert noise_count > 0


def test_stops_before_the_words_end():
    words = np.random.default_rng(1).integers(0, 2**64, RESERVE - 1, np.uint64)
    assert fill_discrete_laplace(words, 5, 1, np.zeros(3, np.int64)) == (0, 0)
