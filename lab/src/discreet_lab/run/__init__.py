"""Running experiments: what one is, its cells run with seeds, and results kept so that only changed code runs again."""
