"""The reasons of refusals: a fixed list, with the HTTP status, the title and the byte in the answer to a batch.

A refusal names its reason and a few words, never the refused content. Refused reports are counted by reason.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from ..errors import DiscreetError


class Reason(StrEnum):
    """The reason of a refusal, as in a problem document.

    Attributes
    ----------
    status
        The HTTP status.
    problem_title
        The title of the problem document. It never contains any part of the request.
    code
        The byte for one report in the answer to a batch, or None for a reason that refuses a whole request.
    """

    status: int
    problem_title: str
    code: int | None

    def __new__(cls, name: str, status: int, title: str, code: int | None = None) -> Self:
        """Return a reason with its attributes."""
        reason = str.__new__(cls, name)
        reason._value_ = name
        reason.status, reason.problem_title, reason.code = status, title, code
        return reason

    MALFORMED = "malformed", 400, "What was sent is not written as it should be"
    TOO_LARGE = "too-large", 413, "What was sent is longer than is taken"
    HEAD_TOO_LARGE = "head-too-large", 431, "The head of the request is longer than is taken"
    TOO_SLOW = "too-slow", 408, "What was sent did not come in time: try again"
    UNAUTHORISED = "unauthorised", 401, "A bearer token of an operator is needed"
    FORBIDDEN = "forbidden", 403, "The operator's token is not for this"
    UNKNOWN_PLACE = "unknown-place", 404, "There is nothing at this place"
    UNKNOWN_STUDY = "unknown-study", 404, "There is no study of this name"
    UNKNOWN_ROUND = "unknown-round", 404, "The study has no such round"
    WRONG_STUDY = "wrong-study", 409, "The reports are of another study"
    ROUND_CLOSED = "round-closed", 409, "The round takes no reports any more", 2
    TOKEN_UNKNOWN = "token-unknown", 403, "The token is none of this study's", 3
    TOKEN_SPENT = "token-spent", 409, "The token was spent on another report", 4
    REPORT_IMPOSSIBLE = "report-impossible", 422, "No device makes such a report to this question", 5
    NOT_FOR_ANYONE = "not-for-anyone", 403, "The study is for those who were given a token"
    NOT_RELEASED = "not-released", 404, "The study has no result yet"
    TOO_FEW_REPORTS = "too-few-reports", 409, "An open round has fewer reports than its minimum"
    STUDY_EXISTS = "study-exists", 409, "There is another study of this name"
    PLAN_REFUSED = "plan-refused", 422, "The study cannot be opened"
    TOO_MANY = "too-many", 429, "Too many requests: try again later"
    BUSY = "busy", 503, "The service is busy: try again"
    FAILED = "failed", 500, "The service has failed at this request: try again later"
    NOT_ADDED_UP = "not-added-up", 503, "A round is closed, and could not be added up yet"
    STORE_FAILED = "store-failed", 503, "The store cannot be reached or written to: try again"
    CLOCK_OFF = "clock-off", 503, "The clock of this server and that of its database differ: try again later"


# The bytes of reports that count, in the answer to a batch; the bytes of refusals follow them (`docs/wire.md`).
COUNTED, ALREADY_COUNTED = 0, 1
OUTCOMES = {COUNTED: "counted", ALREADY_COUNTED: "already-counted"}

# A batch is refused as a whole for the reasons without a byte.
CODES: dict[Reason, int] = {reason: reason.code for reason in Reason if reason.code is not None}
REASONS: dict[int, Reason] = {code: reason for reason, code in CODES.items()}


def problem_fields(reason: Reason, detail: str = "", status: int | None = None) -> dict[str, str | int]:
    """Return the fields of a problem document (RFC 9457) for a reason, with the status of the reason or a given one."""
    fields: dict[str, str | int] = {
        "type": f"urn:discreet:{reason}",
        "title": reason.problem_title,
        "status": reason.status if status is None else status,
        "reason": str(reason),
    }
    return {**fields, "detail": detail} if detail else fields


def problem_headers(reason: Reason, status: int | None = None) -> dict[str, str]:
    """Return the headers of a problem document: the time of a retry, the need of a token, the end of a connection."""
    status = reason.status if status is None else status
    # Seconds. Larger: senders wait longer; smaller: a busy service gets more requests.
    headers = {"Retry-After": "1"} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if reason in (Reason.TOO_LARGE, Reason.TOO_SLOW):
        headers["Connection"] = "close"  # the remaining body is never read
    return headers


class RefusedRequest(DiscreetError):  # noqa: N818
    """A request is refused for a reason of the list; `detail` adds a sentence for the sender."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or f"{reason.problem_title}.")
        self.reason, self.detail = reason, detail
