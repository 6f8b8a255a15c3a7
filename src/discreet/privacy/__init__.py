"""What is promised, and the only way to keep it: budgets, guarantees, the meter, the ledger and the samplers.

A `budget` is an exact fraction of epsilon (or of rho, for zCDP). A mechanism holds a `meter` and names a share of the
budget for each step. The data, and all they answer, are `sealed`: only the meter opens them, adds noise scaled to the
query's sensitivity, and writes the charge down. At the end the `guarantee` states the budget, and the charges are held
to it.

``sampling/`` draws the noise: exactly, in whole numbers, from the system's secure source. ``ledger/`` keeps an account
per data set across releases. Nothing in this room reads data. Each part has its proof page beside it.
"""
