"""Compiled loops: arrays in, arrays out, nothing else.

A kernel is a plain Python function (`jit`). On small inputs it runs unchanged or as whole-array operations
(`plain_rows` and similar modules); on large inputs (`tiers`) numba compiles it (`compiler`), and the compiled form is
kept on disk (`cache`). It works on numpy arrays of whole numbers, raises nothing and draws no randomness that could
reach a release. The caller checks its arrays before the kernel sees them.

Modules here import numpy and :mod:`discreet.kernels._jit` and know no other room. Every kernel has a slow twin in
``tests/naive`` that is written from its definition, and a test that the two agree, both compiled and as plain Python.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
