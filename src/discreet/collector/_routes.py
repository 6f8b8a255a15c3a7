"""What the OpenAPI document says of bodies that are read by hand, and of the answers that every route may give."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import Path, Query

from ._reasons import REFUSALS, Reason

STUDY_NAME: TypeAlias = Annotated[str, Path(pattern="^[a-z0-9][a-z0-9-]{0,62}$", description="The name of a study.")]
OPERATOR_ID: TypeAlias = Annotated[
    str, Path(pattern="^[0-9a-f]{12}$", description="By what a list names an operator's token.")
]
ASSUMED: TypeAlias = Annotated[
    str,
    Query(
        max_length=100,
        description="Which part of each round's reports may be made up, such as 1% or 0.01: intervals hold whatever is "
        "in those.",
    ),
]
NOBODY = "0"  # as which part of the reports is made up, unless somebody asks

_HEX = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "reason"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "reason": {"type": "string", "enum": [str(reason) for reason in Reason]},
    },
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": "; ".join(one.title for one in REFUSALS.values() if one.status == status),
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }
    for status in sorted({one.status for one in REFUSALS.values()} | {405})
}


def _body(media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media: {"schema": schema}}}}


REPORT_BODY = _body(
    "application/json",
    {
        "type": "object",
        "required": ["round", "token", "key", "report"],
        "properties": {
            "round": {"type": "integer", "minimum": 0, "maximum": (1 << 32) - 1},
            "token": _HEX,
            "key": _HEX,
            "report": {"type": "object"},
        },
    },
)
BATCH_BODY = _body("application/octet-stream", {"type": "string", "format": "binary"})
PLAN_BODY = _body("application/json", {"type": "object"})
MANY_BODY = _body(
    "application/json",
    {"type": "object", "required": ["many"], "properties": {"many": {"type": "integer", "minimum": 1}}},
)
CLOSE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": False,
        "content": {"application/json": {"schema": {"type": "object", "properties": {"few": {"type": "boolean"}}}}},
    }
}
OPERATOR_BODY = _body(
    "application/json",
    {
        "type": "object",
        "required": ["scopes"],
        "properties": {
            "scopes": {"type": "array", "minItems": 1, "items": {"enum": ["operate", "enrol", "watch"]}},
            "label": {"type": "string"},
        },
    },
)
