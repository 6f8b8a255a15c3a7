"""The common statistics of protocols: from noisy estimates to better estimates. All of it is post-processing.

`beliefs` has the evidence about frequencies and the belief about each, with the law of single items. `priors` has the
one prior of itemsets around a guess; `adept`, `pairs`, `relations` and `svd-fo` shrink their estimates to it. `sizes`
estimates the number of candidates in a basket, and gives back the part that a padding cuts off, for each protocol that
asks for sizes in bins.

`candidates` selects the patterns of the next question. `matrix` and `spectral` learn the supports of all pairs from few
numbers; `tree` makes the counts of a prefix tree agree.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
