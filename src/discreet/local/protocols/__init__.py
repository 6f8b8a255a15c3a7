"""Protocols, one per file with its proof page beside it: the plan of questions that a collector asks in turn.

A protocol is a plain generator: it yields questions, is sent estimates, and returns what it learnt. It sees nothing
else. The registry scans this folder; the contract is `local.protocol`, the rounds that several share are in
`local.study.rounds`, and their statistics in `local.estimation`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
