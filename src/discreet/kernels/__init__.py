"""Compiled loops: arrays in, arrays out, nothing else.

Modules here import numpy and :mod:`discreet.kernels.jit`, know no other room of the house, raise nothing and
draw no randomness that could reach a release.
"""
