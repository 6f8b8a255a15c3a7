"""The quality of results where the truth is known: measures over runs, and numbers without a run."""
