"""The curator's side: mechanisms that publish patterns from a curator's data (central differential privacy).

``mechanisms/`` has one file and one proof page per mechanism, and the registry scans that folder. ``steps/`` has the
shared steps. `mechanism` is the contract: a frozen dataclass with the settings as its fields, with `check`, `plan` and
`run`.

A mechanism never draws noise, never spends, and never sees an exact number: all answers of the data are sealed. Its
`plan` states the share of the budget of each step, and its `run` asks the meter. Between two answers of the meter it
computes freely on released and public values. Checking, paying and publishing are the business of `publish`.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
