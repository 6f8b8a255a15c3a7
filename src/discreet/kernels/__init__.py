"""Compiled loops: arrays in, arrays out, nothing else.

A kernel is a plain Python function (`jit`) that runs as it is, or as whole-array operations (`plain_rows` and
others), while there is little to do (`tiers`). Where there is much, numba compiles it (`compiler`), and the compiled
form is kept on disk (`cache`). It works on numpy arrays of whole numbers, raises nothing and draws no randomness that
could reach a release. What can go wrong is checked by the caller, before the kernel sees the arrays.

Modules here import numpy and :mod:`discreet.kernels.jit` and know no other room. Every kernel has a slow twin in
``tests/naive`` that is written from its definition, and a test that the two agree, both compiled and as plain Python.
"""
