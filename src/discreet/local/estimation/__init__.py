"""The statistics that protocols share: from noisy estimates to better ones. Everything here is post-processing.

`beliefs` and `priors` pull estimates to what is likely; `held_sizes` and `size_laws` estimate how many candidates
people hold; `candidates` decides which patterns to ask about next. `matrix` and `spectral` learn the supports of all
pairs from few numbers; `tree` makes the counts of a prefix tree agree.
"""
