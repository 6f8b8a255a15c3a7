"""Experiments, their runs with seeds, and stored results, of which only those of changed code run again."""
