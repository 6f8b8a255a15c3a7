"""Try to break a claim: whether a mechanism, protocol or oracle reveals more about one person than it says.

`api` takes a name and its claim and runs every attack that fits. *Coupled* (`coupled`, `tape`, `steps`): run on two
neighbours, tell the second run what the first was told, and see that all it asks is the same and moves by no more than
was charged. *Replayed* (`replayed`): the same with made-up answers of every size, on data that have nothing in common.
*Exact* (`exact`, `laws`): enumerate what can be released, with exact chances. *Statistical* (`statistical`): run many
times and bound from below how well two neighbours can be told apart. *Whole* (`whole`): from a file to saved bytes.
Devices are audited by following every random choice their own code makes (`local`, `local_laws`, `local_talk`).

A `verdict` says what was tried, what was found, and what an audit cannot show.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
