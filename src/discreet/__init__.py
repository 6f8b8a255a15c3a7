"""Find what people buy, click, watch or take together, without learning about any one of them.

The names below are the public surface. They are loaded on first use, so that importing the package is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "Baskets": "baskets.core",
    "Vocabulary": "baskets.core",
    "read": "baskets.read",
    "Patterns": "exact.patterns",
    "Rules": "exact.rules",
    "mine": "exact.mine",
    "rules": "exact.mine",
    "load": "exact.files",
    "Release": "curator.release",
    "release": "publish",
    "plan": "planning",
    "audit": "auditing",
    "mechanisms": "registry",
    "count": "publish",
    "preview": "publish",
    "rank": "curator.rank",
    "simulate": "local.simulate",
    "Outcome": "local.outcome",
    "Ledger": "privacy.ledger",
    "Guarantee": "privacy.guarantee",
    "BudgetError": "errors",
    "DiscreetError": "errors",
    "InputError": "errors",
    "LimitError": "errors",
    "MisuseError": "errors",
    "NobodyError": "errors",
}

__all__ = [
    "Baskets",
    "BudgetError",
    "DiscreetError",
    "Guarantee",
    "InputError",
    "Ledger",
    "LimitError",
    "MisuseError",
    "NobodyError",
    "Outcome",
    "Patterns",
    "Release",
    "Rules",
    "Vocabulary",
    "__version__",
    "audit",
    "count",
    "load",
    "mechanisms",
    "mine",
    "plan",
    "preview",
    "rank",
    "read",
    "release",
    "rules",
    "simulate",
]

if TYPE_CHECKING:
    from .auditing import audit
    from .baskets.core import Baskets, Vocabulary
    from .baskets.read import read
    from .curator.rank import rank
    from .curator.release import Release
    from .errors import BudgetError, DiscreetError, InputError, LimitError, MisuseError, NobodyError
    from .exact.files import load
    from .exact.mine import mine, rules
    from .exact.patterns import Patterns
    from .exact.rules import Rules
    from .local.outcome import Outcome
    from .local.simulate import simulate
    from .planning import plan
    from .privacy.guarantee import Guarantee
    from .privacy.ledger import Ledger
    from .publish import count, preview, release
    from .registry import mechanisms


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
