"""One mechanism per file, with its proof page beside it. The registry finds them by scanning this folder.

To add one, add a file and a page: CONTRIBUTING has an example. What two of them share belongs to `curator.steps`.
"""
