"""The reasons of refusals: a fixed list, with the HTTP status, the title and the byte in the answer to a batch.

A refusal names its reason and a few words, never the refused content. Refused reports are counted by reason.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ..errors import DiscreetError


class Reason(StrEnum):
    """The reason of a refusal, as in a problem document."""

    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    HEAD_TOO_LARGE = "head-too-large"
    TOO_SLOW = "too-slow"
    UNAUTHORISED = "unauthorised"
    FORBIDDEN = "forbidden"
    UNKNOWN_PLACE = "unknown-place"
    UNKNOWN_STUDY = "unknown-study"
    UNKNOWN_ROUND = "unknown-round"
    WRONG_STUDY = "wrong-study"
    ROUND_CLOSED = "round-closed"
    TOKEN_UNKNOWN = "token-unknown"  # noqa: S105
    TOKEN_SPENT = "token-spent"  # noqa: S105
    REPORT_IMPOSSIBLE = "report-impossible"
    NOT_FOR_ANYONE = "not-for-anyone"
    NOT_RELEASED = "not-released"
    TOO_FEW_REPORTS = "too-few-reports"
    STUDY_EXISTS = "study-exists"
    PLAN_REFUSED = "plan-refused"
    TOO_MANY = "too-many"
    BUSY = "busy"
    NOT_ADDED_UP = "not-added-up"
    STORE_FAILED = "store-failed"
    CLOCK_OFF = "clock-off"


class Refusal(NamedTuple):
    """The answer to a reason: the HTTP status, the title, and the byte for one report of a batch, or None."""

    status: int
    title: str
    code: int | None = None


COUNTED, ALREADY_COUNTED = 0, 1
OUTCOMES = {COUNTED: "counted", ALREADY_COUNTED: "already-counted"}

REFUSALS: dict[Reason, Refusal] = {
    Reason.MALFORMED: Refusal(400, "What was sent is not written as it should be"),
    Reason.TOO_LARGE: Refusal(413, "What was sent is longer than is taken"),
    Reason.HEAD_TOO_LARGE: Refusal(431, "The head of the request is longer than is taken"),
    Reason.TOO_SLOW: Refusal(408, "What was sent did not come in time: try again"),
    Reason.UNAUTHORISED: Refusal(401, "A bearer token of an operator is needed"),
    Reason.FORBIDDEN: Refusal(403, "The operator's token is not for this"),
    Reason.UNKNOWN_PLACE: Refusal(404, "There is nothing at this place"),
    Reason.UNKNOWN_STUDY: Refusal(404, "There is no study of this name"),
    Reason.UNKNOWN_ROUND: Refusal(404, "The study has no such round"),
    Reason.WRONG_STUDY: Refusal(409, "The reports are of another study"),
    Reason.ROUND_CLOSED: Refusal(409, "The round takes no reports any more", 2),
    Reason.TOKEN_UNKNOWN: Refusal(403, "The token is none of this study's", 3),
    Reason.TOKEN_SPENT: Refusal(409, "The token was spent on another report", 4),
    Reason.REPORT_IMPOSSIBLE: Refusal(422, "No device makes such a report to this question", 5),
    Reason.NOT_FOR_ANYONE: Refusal(403, "The study is for those who were given a token"),
    Reason.NOT_RELEASED: Refusal(404, "The study has no result yet"),
    Reason.TOO_FEW_REPORTS: Refusal(409, "An open round has fewer reports than its minimum"),
    Reason.STUDY_EXISTS: Refusal(409, "There is another study of this name"),
    Reason.PLAN_REFUSED: Refusal(422, "The study cannot be opened"),
    Reason.TOO_MANY: Refusal(429, "Too many requests: try again later"),
    Reason.BUSY: Refusal(503, "The service is busy: try again"),
    Reason.NOT_ADDED_UP: Refusal(503, "A round is closed, and could not be added up yet"),
    Reason.STORE_FAILED: Refusal(503, "The store cannot be reached or written to: try again"),
    Reason.CLOCK_OFF: Refusal(503, "The clock of this server and that of its database differ: try again later"),
}
CODES: dict[Reason, int] = {reason: refusal.code for reason, refusal in REFUSALS.items() if refusal.code is not None}
REASONS: dict[int, Reason] = {code: reason for reason, code in CODES.items()}


def problem_fields(reason: Reason, detail: str = "", status: int | None = None) -> dict[str, str | int]:
    """Return the fields of a problem document (RFC 9457) for a reason, with the status of the reason or a given one."""
    refusal = REFUSALS[reason]
    fields: dict[str, str | int] = {
        "type": f"urn:discreet:{reason}",
        "title": refusal.title,
        "status": refusal.status if status is None else status,
        "reason": str(reason),
    }
    return {**fields, "detail": detail} if detail else fields


def problem_headers(reason: Reason, status: int | None = None) -> dict[str, str]:
    """Return the headers of a problem document: the time of a retry, the need of a token, the end of a connection."""
    status = REFUSALS[reason].status if status is None else status
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if reason in (Reason.TOO_LARGE, Reason.TOO_SLOW):
        headers["Connection"] = "close"  # the remaining body is never read
    return headers


class RefusedRequest(DiscreetError):  # noqa: N818
    """A request is refused for a reason of the list; `detail` adds a sentence for the sender."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or f"{REFUSALS[reason].title}.")
        self.reason, self.detail = reason, detail
