"""Roots of variances against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.kernels import along_root, back_from_root, grow_root
from naive import roots as naive

WEIGHTS = st.floats(-2, 2, allow_subnormal=False)
ROWS = st.integers(0, 7).flatmap(lambda size: st.lists(st.lists(WEIGHTS, min_size=3, max_size=3), min_size=size))


@given(ROWS, st.sampled_from([0.25, 1.0, 16.0]), st.integers(0, 7))
def test_a_root_grows(rows, factor, before):
    """However many columns are known before; and a vector is taken along it."""
    weights = np.array(rows).reshape(-1, 3)
    spread, size = weights @ weights.T, len(rows)
    before = min(before, size)
    known_columns, root = np.zeros((before, before)), np.zeros((size, size))
    grow_root(np.ascontiguousarray(spread[:before, :before]), factor, 0, known_columns)
    root[:before, :before] = known_columns
    grow_root(spread, factor, before, root)
    expected = naive.root(spread.tolist(), factor)
    assert root.ravel() == pytest.approx(np.array(expected).ravel(), abs=1e-9)
    assert (root.T @ root).ravel() == pytest.approx((np.eye(size) + factor * spread).ravel(), abs=1e-9)
    vector = weights.sum(1)
    taken_columns = vector.copy()
    along_root(root, taken_columns)
    assert taken_columns == pytest.approx(naive.along(expected, vector.tolist()), abs=1e-9)
    back_from_root(root, taken_columns)
    assert taken_columns == pytest.approx(naive.back(expected, naive.along(expected, vector.tolist())), abs=1e-9)


def test_rounding_leaves_a_root():
    """Of a variance that rounding has made impossible: a remainder of an entry is never below one."""
    root = np.zeros((2, 2))
    grow_root(np.array([[1e20, 1e20], [1e20, 1e20 - 1e6]]), 64.0, 0, root)
    assert np.isfinite(root).all()
    assert root[1, 1] >= 1.0
