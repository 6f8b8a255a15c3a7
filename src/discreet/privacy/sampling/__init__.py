"""Noise and private selection, drawn exactly. No floating-point number decides anything that is released.

`sources` says where random bits come from: the system's secure source for a release, a seed for a simulation. They are
two types, so that one cannot be taken for the other. `samplers` draws discrete Laplace and Gaussian noise; `selection`
chooses among many candidates by noisy scores, with `race` for choices of several.

Two techniques make it both exact and fast. `float_filter` computes bounds in floating point, which only set aside what
certainly lost. What is left is decided by `intervals`: interval arithmetic on decimals, with as many random bits as the
comparison needs. The proofs are in `samplers.md` and `selection.md`.
"""
