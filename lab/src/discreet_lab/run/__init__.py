"""Experiments, their runs with seeds, and stored results, of which only results of changed code run again."""
