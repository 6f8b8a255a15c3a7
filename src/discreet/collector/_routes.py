"""The parts of the OpenAPI document that the web framework cannot derive: bodies, problem documents, parameters."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import Path, Query

from ._reasons import Reason

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
NO_SHARE = "0"  # the default share of made-up reports

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
# 405 has no reason of its own: it is an unknown place for this method.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": "; ".join(reason.problem_title for reason in Reason if reason.status == status),
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }
    for status in sorted({reason.status for reason in Reason} | {405})
}


def _body(media: str, schema: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {media: {"schema": schema}}}}


def _json_body(required: list[str], *, optional: bool = False, **properties: dict[str, Any]) -> dict[str, Any]:
    fields = {"required": required} if required else {}
    return _body("application/json", {"type": "object", **fields, "properties": properties}, required=not optional)


REPORT_BODY = _json_body(
    ["round", "token", "key", "report"],
    round={"type": "integer", "minimum": 0, "maximum": (1 << 32) - 1},
    token=_HEX,
    key=_HEX,
    report={"type": "object"},
)
BATCH_BODY = _body("application/octet-stream", {"type": "string", "format": "binary"})
PLAN_BODY = _body("application/json", {"type": "object"})
TOKENS_BODY = _json_body(["many"], optional=True, many={"type": "integer", "minimum": 1})
CLOSE_BODY = _body(
    "application/json",
    {"type": "object", "properties": {"few": {"type": "boolean"}}, "additionalProperties": False},
    required=False,
)
OPERATOR_BODY = _json_body(
    ["scopes"],
    scopes={"type": "array", "minItems": 1, "items": {"enum": ["operate", "enrol", "watch"]}},
    label={"type": "string"},
)
