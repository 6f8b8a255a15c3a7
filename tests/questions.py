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
    build_cases,
    build_contest,
    build_relation_case,
    read_data,
)


def cases(baskets: Any, *, by: Any = None, trying: bool = False, **fields: Any) -> dict[Any, Case]:
    """Return the cases of a question, by segment; `by` is a column, or the segment of each person."""
    column = by if isinstance(by, str) else None
    data = read_data(baskets)
    return build_cases(Question(by=column, **fields), data, segment_of=None if column else by, trying=trying)


def case(baskets: Any, **fields: Any) -> Case:
    """Return the one case of a question."""
    return cases(baskets, **fields)[""]


def contest(scores: Any, **fields: Any) -> Contest:
    """Return the contest of a question over scores."""
    return build_contest(RankQuestion(**fields), scores)


def relations_case(baskets: Any, **fields: Any) -> RelationCase:
    """Return the case of a question for relations."""
    return build_relation_case(RelationQuestion(**fields), baskets)
