"""The curator's door: from baskets and a question to a release, in the order that privacy asks for.

First everything that can go wrong is checked: public values by the `question`, and the data as their operator may look
at them by `resolving`, which makes a `case` of both. Then the budget is spent, in the ledger where there is one
(`door`). From that line on nothing but charged results depends on the data: no exception, no message, no progress
figure, no column (`run`).

The names below are loaded on first use: the command line reads the fields of questions alone.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
