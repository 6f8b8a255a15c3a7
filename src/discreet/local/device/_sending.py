"""How a device asks a service over HTTP, and what it makes of the answer. Standard library only.

Not everything that answers is the service: proxies do, and networks that want a login first. So a report is given up
for a problem document of a service of studies alone, with a reason that stays what it is. Whatever else comes, the same
bytes are sent again. `docs/wire.md` has the reasons, and golden vectors try every one on both clients.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Literal, NamedTuple, TypeAlias
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ._documents import MOST_STUDY

# Sends a request (method, address, body) and returns status and body; an OSError where nobody answers.
Send: TypeAlias = Callable[[str, str, bytes | None], tuple[int, bytes]]
Fate: TypeAlias = Literal["counted", "already-counted", "refused", "another-token", "again"]

FINAL = frozenset({"round-closed", "token-spent", "report-impossible"})
"""Reasons for which a report is given up: the same bytes would be refused for ever."""

ANOTHER_TOKEN = "token-unknown"  # noqa: S105
"""The reason for which the same report may go with another token."""

_MOST_ANSWER = 4 * MOST_STUDY
_MOST_PROBLEM = 1 << 16


class ProblemDetails(NamedTuple):
    """What a service of studies refuses: its reason, and that in words."""

    reason: str
    title: str


class _NoRedirects(HTTPRedirectHandler):
    """Follows nobody elsewhere: who is asked was chosen by whoever gave the address."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Leave the answer as it is."""


opener = build_opener(_NoRedirects)


def over_http(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
    """Send one request and return what is answered, also where that is an error."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        try:
            with opener.open(Request(address, body, headers, method=method), timeout=30) as answer:  # noqa: S310
                return answer.status, answer.read(_MOST_ANSWER)
        except HTTPError as error:
            with error:
                return error.code, error.read(_MOST_PROBLEM)
    except HTTPException as error:
        # Half an answer, or what is no HTTP at all, is for the caller what no answer is.
        raise ConnectionError(f"The service was not reached: {type(error).__name__}.") from error


def told_in(body: bytes) -> dict[str, Any] | None:
    """Return the object that an answer is, or None where it is something else."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def problem_of(status: int, told: Mapping[str, Any] | None) -> ProblemDetails | None:
    """Return what a service of studies refuses; None for whatever else was answered."""
    reason = None if told is None else told.get("reason")
    if told is None or not isinstance(reason, str) or told.get("type") != f"urn:discreet:{reason}":
        return None
    return ProblemDetails(reason, f"{told.get('title', reason)!s:.80}") if 400 <= status < 600 else None


def fate_of(status: int, body: bytes) -> tuple[Fate, str]:
    """Return what becomes of a report that was answered so, and why."""
    told = told_in(body)
    outcome = None if told is None else told.get("outcome")
    if status == 200 and outcome in ("counted", "already-counted"):
        return ("counted" if outcome == "counted" else "already-counted"), ""
    problem = problem_of(status, told)
    if problem is None:
        return "again", f"status {status}"
    if problem.reason == ANOTHER_TOKEN:
        return "another-token", problem.reason
    return ("refused", problem.reason) if problem.reason in FINAL else ("again", problem.title)
