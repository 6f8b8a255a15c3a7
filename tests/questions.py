"""Cases and contests for tests, from the keywords of a question beside the data."""

from __future__ import annotations

from typing import Any

from discreet.publish import (
    Case,
    Contest,
    Question,
    RankQuestion,
    RelationCase,
    RelationQuestion,
    cases_of,
    contest_of,
    everyone,
    relation_case,
)


def cases(baskets: Any, *, by: Any = None, trying: bool = False, **fields: Any) -> dict[Any, Case]:
    """Return the cases of a question, by segment; `by` is a column, or the segment of each person."""
    column = by if isinstance(by, str) else None
    held = everyone(baskets)
    return cases_of(Question(by=column, **fields), held, segment_of=None if column else by, trying=trying)


def case(baskets: Any, **fields: Any) -> Case:
    """Return the one case of a question."""
    return cases(baskets, **fields)[""]


def contest(scores: Any, **fields: Any) -> Contest:
    """Return the contest of a question over scores."""
    return contest_of(RankQuestion(**fields), scores)


def relations_case(baskets: Any, **fields: Any) -> RelationCase:
    """Return the case of a question for relations."""
    return relation_case(RelationQuestion(**fields), baskets)
