"""The curator's side: one mechanism, one file, its proof page beside it."""
