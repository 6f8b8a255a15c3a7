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
    "Patterns": "results.patterns",
    "Rules": "results.rules",
    "mine": "exact.mine",
    "rules": "exact.mine",
    "relations": "exact.relations",
    "load": "results.files",
    "diff": "results.differences",
    "Differences": "results.differences",
    "Question": "publish.question",
    "Release": "publish.result",
    "release": "publish",
    "plan": "planning",
    "compare": "planning",
    "Comparison": "results.comparison",
    "audit": "auditing",
    "mechanisms": "registry",
    "count": "publish",
    "count_by": "publish",
    "release_by": "publish",
    "release_relations": "publish.relations",
    "preview": "publish",
    "rank": "publish.ranking",
    "simulate": "local.study.simulate",
    "Outcome": "local.study.outcome",
    "Ledger": "privacy.ledger.ledger",
    "Guarantee": "privacy.guarantee",
    "BudgetError": "errors",
    "CardError": "errors",
    "ClusterError": "errors",
    "DiscreetError": "errors",
    "InputError": "errors",
    "LimitError": "errors",
    "MisuseError": "errors",
    "NobodyError": "errors",
}

__all__ = [
    "Baskets",
    "BudgetError",
    "CardError",
    "ClusterError",
    "Comparison",
    "Differences",
    "DiscreetError",
    "Guarantee",
    "InputError",
    "Ledger",
    "LimitError",
    "MisuseError",
    "NobodyError",
    "Outcome",
    "Patterns",
    "Question",
    "Release",
    "Rules",
    "Vocabulary",
    "__version__",
    "audit",
    "compare",
    "count",
    "count_by",
    "diff",
    "load",
    "mechanisms",
    "mine",
    "plan",
    "preview",
    "rank",
    "read",
    "relations",
    "release",
    "release_by",
    "release_relations",
    "rules",
    "simulate",
]

if TYPE_CHECKING:
    from .auditing import audit
    from .baskets.core import Baskets, Vocabulary
    from .baskets.read import read
    from .errors import (
        BudgetError,
        CardError,
        ClusterError,
        DiscreetError,
        InputError,
        LimitError,
        MisuseError,
        NobodyError,
    )
    from .exact.mine import mine, rules
    from .exact.relations import relations
    from .local.study.outcome import Outcome
    from .local.study.simulate import simulate
    from .planning import compare, plan
    from .privacy.guarantee import Guarantee
    from .privacy.ledger.ledger import Ledger
    from .publish.api import count, count_by, release, release_by
    from .publish.first_look import preview
    from .publish.question import Question
    from .publish.ranking import rank
    from .publish.relations import release_relations
    from .publish.result import Release
    from .registry import mechanisms
    from .results.comparison import Comparison
    from .results.differences import Differences, diff
    from .results.files import load
    from .results.patterns import Patterns
    from .results.rules import Rules


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
