"""The curator's door: from baskets and a question to a release, by check -> price -> pay -> run -> record.

Check: `question` checks the public values, and `resolving` checks them against the data and builds a `Case` of both.
Price, pay, run and record: `door`, with `run` for the run of a release. After payment only metered values may depend
on the data: no exception, message, progress figure or column.

The names below are loaded on first use: the command line reads the fields of questions alone.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
