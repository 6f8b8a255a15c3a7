"""The requests of a device to a service over HTTP, and the reading of the answers. Standard library only.

Proxies answer too, and networks with a login page. A device therefore gives up a report only after a problem document
of a service of studies, with a final reason. After any other answer it sends its bytes again. `docs/wire.md` has
the reasons, and golden vectors try each on both clients.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Literal, NamedTuple, TypeAlias
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ._documents import MOST_STUDY

# Sends a request (method, address, body) and returns status and body; an OSError if no answer comes.
Send: TypeAlias = Callable[[str, str, bytes | None], tuple[int, bytes]]
Fate: TypeAlias = Literal["counted", "already-counted", "refused", "another-token", "again"]

# Reasons after which a report is given up: the service would refuse its bytes every time.
FINAL = frozenset({"round-closed", "token-spent", "report-impossible"})

# The reason after which the report may be sent again with a different token.
ANOTHER_TOKEN = "token-unknown"  # noqa: S105

_MOST_ANSWER = 4 * MOST_STUDY  # bytes: the longest study, with room for the escapes of its JSON text
_MOST_PROBLEM = 1 << 16  # bytes: a reason and a title are far shorter


class ProblemDetails(NamedTuple):
    """The refusal of a service of studies: the reason as a code, and its title in words."""

    reason: str
    title: str


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: the owner of the device chose the address, and no service may change it."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Leave the answer unchanged."""


opener = build_opener(_NoRedirects)


def over_http(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
    """Send one request and return the status and body of the answer, of an error too."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        try:
            with opener.open(Request(address, body, headers, method=method), timeout=30) as answer:  # noqa: S310
                return answer.status, answer.read(_MOST_ANSWER)
        except HTTPError as error:
            with error:
                return error.code, error.read(_MOST_PROBLEM)
    except HTTPException as error:
        # A broken answer, or one in a different protocol, counts as no answer.
        raise ConnectionError(f"The service was not reached: {type(error).__name__}.") from error


def parse_answer(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object of an answer, or None if the body is anything else."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def parse_problem(status: int, fields: Mapping[str, Any] | None) -> ProblemDetails | None:
    """Return the refusal of a service of studies, or None if the answer is anything else."""
    reason = None if fields is None else fields.get("reason")
    if fields is None or not isinstance(reason, str) or fields.get("type") != f"urn:discreet:{reason}":
        return None
    return ProblemDetails(reason, f"{fields.get('title', reason)!s:.80}") if 400 <= status < 600 else None


def parse_fate(status: int, body: bytes) -> tuple[Fate, str]:
    """Return the fate of a report by the answer to it, and the reason."""
    fields = parse_answer(body)
    outcome = None if fields is None else fields.get("outcome")
    if status == 200 and outcome in ("counted", "already-counted"):
        return ("counted" if outcome == "counted" else "already-counted"), ""
    problem = parse_problem(status, fields)
    if problem is None:
        return "again", f"status {status}"
    if problem.reason == ANOTHER_TOKEN:
        return "another-token", problem.reason
    return ("refused", problem.reason) if problem.reason in FINAL else ("again", problem.title)
