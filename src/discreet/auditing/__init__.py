"""Try to break a claim: whether a mechanism reveals more about one person than it says."""

from __future__ import annotations

from .door import audit
from .verdict import Attempt, Verdict

__all__ = ["Attempt", "Verdict", "audit"]
