"""Audits: attempts to break a claim, by showing that a mechanism, protocol or oracle reveals more than it states.

`api` takes a name and its claim and runs every attack that fits:

- *Coupled* (`coupled`, `tape`, `steps`): two runs on neighbours, the second with the released values of the first. Both
  must ask equal queries, and exact answers must differ by no more than was charged.
- *Replayed* (`replayed`): coupled, with made-up answers of every size, on unrelated data.
- *Exact* (`exact`, `laws`): all possible results, with exact chances.
- *Statistical* (`statistical`): many runs, and a lower confidence bound of the loss.
- *Whole* (`whole`): coupled, from a file that is read to the bytes that are saved.

Devices are audited by following every random choice of their own code (`local`, `local_laws`, `local_talk`). A
`verdict` states the attempts, their results, and the limits of an audit.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
