"""Methods that only the lab runs, to compare with: one file and one proof page each.

They are not in the registry and no release can reach them. `measures.comparators` names them.
"""
