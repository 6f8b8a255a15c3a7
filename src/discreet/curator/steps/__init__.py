"""Steps that mechanisms share: computations on released numbers and the meter. The registry lists no step.

`itemset_choice` chooses among all itemsets (`exponential`, `laplace`), `candidate_join` joins shorter candidates into
longer ones, `threshold_levels` mines length by length. `truncation` cuts large baskets, `clipped_counting` scales them
down, `winners` counts the selected patterns. `basis_selection`, `basis_cover` and `cell_estimates` are the three parts
of counting by bases: items, bases, counts.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
