"""How good a result is, where the truth is known: measures over runs, and what can be computed without running."""
