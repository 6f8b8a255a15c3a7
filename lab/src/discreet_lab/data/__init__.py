"""Data for experiments: sets by name, and data that a researcher brings along."""
