"""The statistics that protocols share: from noisy estimates to better ones. Everything here is post-processing.

`beliefs` keeps what was measured of frequencies and what to believe of them, with the law of single items. `priors` has
the one prior of itemsets around a guess, by which `adept`, `pairs`, `relations` and `svd-fo` pull their estimates.
`sizes` estimates how many candidates people hold, and gives back what a padding cuts off, for every protocol that asks
for sizes in bins.

`candidates` decides which patterns to ask about next. `matrix` and `spectral` learn the supports of all pairs from few
numbers; `tree` makes the counts of a prefix tree agree.
"""
