"""Data sets by name and the experiments made with them."""
