"""The curator's door: from baskets and a question to a release, in the order that privacy asks for.

First everything that can go wrong is checked: public values by the `question`, and the data as their operator may look
at them by `resolving`, which makes a `case` of both. Then the budget is spent, in the ledger where there is one
(`door`). From that line on nothing but charged results depends on the data: no exception, no message, no progress
figure, no column (`run`).

The names below are loaded on first use: the command line reads the fields of questions alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Case": "case",
    "Observer": "door",
    "Payer": "door",
    "Preview": "first_look",
    "Question": "question",
    "RankQuestion": "other_questions",
    "RelationQuestion": "other_questions",
    "affordable": "door",
    "answer": "api",
    "carry_out": "run",
    "cases_of": "resolving",
    "count": "api",
    "count_by": "api",
    "epsilon_left": "door",
    "look": "first_look",
    "metered": "run",
    "missed": "first_look",
    "preview": "first_look",
    "release": "api",
    "release_by": "api",
}

if TYPE_CHECKING:
    from .api import answer, count, count_by, release, release_by
    from .case import Case
    from .door import Observer, Payer, affordable, epsilon_left
    from .first_look import Preview, look, missed, preview
    from .other_questions import RankQuestion, RelationQuestion
    from .question import Question
    from .resolving import cases_of
    from .run import carry_out, metered

__all__ = [
    "Case",
    "Observer",
    "Payer",
    "Preview",
    "Question",
    "RankQuestion",
    "RelationQuestion",
    "affordable",
    "answer",
    "carry_out",
    "cases_of",
    "count",
    "count_by",
    "epsilon_left",
    "look",
    "metered",
    "missed",
    "preview",
    "release",
    "release_by",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
