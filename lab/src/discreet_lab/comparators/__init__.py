"""Methods for comparison that only the lab runs: one file and one proof page each.

They are not in the registry, and no release can reach them. `measures.comparators` lists them.
"""
