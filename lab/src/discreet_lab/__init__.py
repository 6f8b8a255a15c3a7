"""Experiments on known data: the figures and tables of the papers, our own comparisons, and claims checked one by one.

``data/`` names data sets, ``run/`` runs experiments with seeded noise and keeps the results, ``measure/`` says how good
a result is, ``pages/`` writes tables, figures and pages. ``papers/`` has one module of experiments per paper, and
``comparators/`` the methods that only comparisons need. Nothing here is private: it looks at raw data, and no release
can reach it.
"""

from __future__ import annotations

__version__ = "0.1.0.dev0"
