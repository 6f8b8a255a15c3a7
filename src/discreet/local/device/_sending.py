"""The requests of a device to a service over HTTP, and the reading of the answers. Standard library only.

Proxies answer too, and networks with a login page. A device therefore gives up a report only after a problem document
of a service of studies, with a final reason. After any other answer it sends its bytes again. `docs/wire.md` has
the reasons, and golden vectors try each on both clients.
"""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse
from time import monotonic
from typing import IO, Any, Literal, NamedTuple, TypeAlias
from urllib.error import HTTPError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

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
# Seconds without any byte, and until the end of an answer, of its head first. A service that sends a byte now and then
# would keep the device, and the lock of its record, for as long as it likes. Larger: it keeps them longer; smaller: a
# slow line does not bring a long study.
_SILENCE_SECONDS, _ANSWER_SECONDS = 30.0, 600.0


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


class _TimedStream(io.RawIOBase):
    """The bytes of a socket until a deadline, by `monotonic`; each read waits for a limited time."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        super().__init__()
        self._raw, self._connection = raw, connection
        self.deadline = monotonic() + _SILENCE_SECONDS

    def readable(self) -> bool:
        """Return that bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read bytes into a buffer, and return their number."""
        seconds = self.deadline - monotonic()
        if seconds <= 0:
            raise TimeoutError("its answer takes too long")
        self._connection.settimeout(min(seconds, _SILENCE_SECONDS))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close the stream of the socket."""
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response with a deadline: its head comes after one silence at most."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._stream = _TimedStream(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._stream)

    def begin(self) -> None:
        """Read the head, and leave the remaining time for the body."""
        super().begin()
        self._stream.deadline += _ANSWER_SECONDS - _SILENCE_SECONDS


class _TimedConnections(HTTPHandler, HTTPSHandler):
    """Opens connections whose responses have a deadline."""

    def do_open(self, http_class: Any, req: Request, **options: Any) -> HTTPResponse:
        """Send a request over a new connection, and return its response."""

        def connect(host: str, **settings: Any) -> HTTPConnection:
            connection: HTTPConnection = http_class(host, **settings)
            connection.response_class = _TimedResponse
            return connection

        return super().do_open(connect, req, **options)


opener = build_opener(_NoRedirects)
_device_opener = build_opener(_NoRedirects, _TimedConnections)


def over_http(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
    """Send one request and return the status and body of the answer, of an error too."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    request = Request(address, body, headers, method=method)  # noqa: S310
    try:
        try:
            with _device_opener.open(request, timeout=_SILENCE_SECONDS) as answer:
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
