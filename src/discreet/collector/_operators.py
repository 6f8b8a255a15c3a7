"""The commands of an operator, on a service in a directory of this machine or at an address.

`StudyCollector` works in a directory, whether or not its service runs; `RemoteOperator` has equal methods and sends
their requests to an address.
"""

from __future__ import annotations

import json
import re
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request

from ..baskets import hide_address_options, hide_secrets, public_name
from ..checks import parse_share
from ..errors import InputError, MisuseError
from ..local.device import opener
from ..wording import number_of
from ._collector import Adder, ClosedRounds, ScrubbedRounds, StudyCollector
from ._core import add_up
from ._serving import collector_in
from ._study_file import StudyPlan
from .storage import STORE_FILE

T = TypeVar("T")

# Larger: a lost connection is noticed later; smaller: a round with millions of reports may take longer to close.
_TIMEOUT_SECONDS = 600
_TOKEN = re.compile("[0-9a-fA-F]{64}")


class RemoteOperator:
    """An operator at the address of a service, with an operator's token."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address, self._token = address.rstrip("/"), None if token is None else _parse_token(token)
        self._public_address = public_name(self.address)

    def __enter__(self) -> RemoteOperator:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: each request has its own connection."""

    def _send(self, path: str, body: Any = None, method: str | None = None) -> bytes:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        try:
            request = Request(self.address + path, data, headers, method=method)  # noqa: S310
            # `opener` follows no redirect, which would carry the token to a second address.
            with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                return bytes(answer.read())
        except HTTPError as error:
            with error:
                raise InputError(self._refusal(error)) from None
        except (URLError, OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", "") or str(error) or type(error).__name__
            # The address may contain a password, and an error of the library may quote it.
            message = hide_secrets(f"The service {self._public_address} is not reached: {reason}.", self.address)
            raise InputError(message) from None

    def _refusal(self, error: HTTPError) -> str:
        """Return the message for an answer with an error status."""
        location = error.headers.get("Location")
        if 300 <= error.code < 400 and location is not None:
            # The token is for the service that the operator named, and not for an address that the service names.
            return (
                f"The service {self._public_address} sends to {hide_address_options(location)!r:.200}, and nothing was "
                "sent there. If the service is there, give that address with --at."
            )
        try:
            problem = json.loads(error.read(1 << 16))
            message = f"{str(problem['title']).rstrip('.')}." + (
                f" {problem['detail']}" if problem.get("detail") else ""
            )
        except (OSError, HTTPException, ValueError, LookupError, TypeError):
            return f"The service answers with status {error.code}."
        if error.code != 401:
            return message
        # A missing token and an unknown one have different remedies.
        has_token = self._token is not None
        return message + (
            " The one that was given is not known." if has_token else " Give one with --token, or in DISCREET_TOKEN."
        )

    def _send_json(self, kind: type[T], path: str, body: Any = None) -> T:
        """Send a request, and return the JSON value of its answer, which must be of a kind."""
        try:
            value = json.loads(self._send(path, body))
            # A wrong address often answers with a valid page of something else.
            if isinstance(value, kind):
                return value
        except (ValueError, RecursionError):
            pass
        raise self._foreign()

    def _fields(self, path: str, body: Any, **kinds: type) -> list[Any]:
        """Send a request, and return fields of its answer, each of its kind."""
        answer = self._send_json(dict, path, body)
        fields = [answer.get(name) for name in kinds]
        if not all(map(isinstance, fields, kinds.values())):
            raise self._foreign()
        return fields

    def _foreign(self) -> InputError:
        return InputError(f"{self.address} answers, but not as a service of studies does.")

    def studies(self) -> list[dict[str, Any]]:
        """Return all studies, with their states."""
        return self._send_json(list, "/v1/studies")

    def open(self, plan: StudyPlan) -> dict[str, Any]:
        """Open a study, and return its name, id and key."""
        return self._send_json(dict, "/v1/studies", plan.to_json().encode())

    def status(self, name: str) -> dict[str, Any]:
        """Return the progress, tokens and refusals of a study."""
        return self._send_json(dict, _path(name, "status"))

    def close(self, name: str, *, below_minimum: bool = False) -> ClosedRounds:
        """Close the open rounds; with `below_minimum`, also rounds with fewer reports than their minimum."""
        kinds = {"closed": int, "without_reports": list, "ended_empty": bool}
        closed_count, without_reports, ended_empty = self._fields(_path(name, "close"), {"few": below_minimum}, **kinds)
        if not all(isinstance(number, int) for number in without_reports):
            raise self._foreign()
        return ClosedRounds(rounds=closed_count, without_reports=tuple(without_reports), ended_empty=ended_empty)

    def result(self, name: str, assume_malicious: str = "0") -> str:
        """Return the result of a study as JSON, with intervals that allow for this part of malicious reports."""
        try:
            return self._send(_path(name, "results", assume_malicious)).decode()
        except UnicodeDecodeError:
            raise self._foreign() from None

    def export(self, name: str, assume_malicious: str = "0") -> dict[str, Any]:
        """Return everything public of a study."""
        return self._send_json(dict, _path(name, "export", assume_malicious))

    def save_reports(self, name: str, number: int, directory: Path) -> int:
        """Refuse: reports are written on the machine that stores them."""
        raise MisuseError("A service hands out no reports: write them where its directory is, with --at DIRECTORY.")

    def scrub(self, name: str) -> ScrubbedRounds:
        """Delete the reports of released rounds."""
        rounds, tidy = self._fields(_path(name, "scrub"), {}, scrubbed=int, tidy=bool)
        return ScrubbedRounds(rounds=rounds, tidy=tidy)

    def tokens(self, name: str, count: int) -> list[str]:
        """Make single-use tokens for participants, and return them as hexadecimal digits."""
        (tokens,) = self._fields(_path(name, "tokens"), {"many": count}, tokens=list)
        return list(tokens)

    def add_operator(self, scopes: list[str], label: str) -> str:
        """Make a token for an operator, and return it as hexadecimal digits."""
        (token,) = self._fields("/v1/operators", {"scopes": scopes, "label": label}, token=str)
        return str(token)

    def operators(self) -> list[dict[str, Any]]:
        """Return the id, scopes and label of each operator's token."""
        return self._send_json(list, "/v1/operators")

    def revoke_operator(self, operator_id: str) -> None:
        """Revoke an operator's token, by its id."""
        self._send(f"/v1/operators/{quote(operator_id, safe='')}", method="DELETE")


Operator: TypeAlias = StudyCollector | RemoteOperator


def open_operator(
    place: str, *, token: str | None = None, store: str | None = None, make: bool = False, adder: Adder = add_up
) -> Operator:
    """Return the operator of a directory of this machine, or of a service at an address.

    Parameters
    ----------
    place
        A directory, or an address that begins with ``http://`` or ``https://``.
    token
        The operator's token, for an address.
    store
        The address of the service's database, for a directory; None for the SQLite file in it.
    make
        Whether to make a directory that does not exist.
    adder
        The function that adds up closed rounds, for a directory; a service at an address has its own.
    """
    if place.lower().startswith(("http://", "https://")):
        if store is not None:
            raise MisuseError("A service elsewhere knows its store: leave the store out.")
        return RemoteOperator(place, token)
    if not make and not Path(place).is_dir():
        raise InputError(
            f"There is no directory {place}: `discreet study open` and `discreet serve` make one. A service elsewhere "
            "is given by its address, such as https://studies.example.org."
        )
    # A mistyped path must not become an empty service next to the real one.
    if not make and store is None and not (Path(place) / STORE_FILE).exists():
        raise InputError(
            f"{place} is not the directory of a service: it has no {STORE_FILE}. `discreet study open` and `discreet "
            "serve` make one. Of a service on PostgreSQL, give --store too."
        )
    return collector_in(place, store, make=make, adder=adder)


def _parse_token(text: str) -> str:
    """Return an operator's token without the spaces and line ends around it."""
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        # Without the token: messages end up in terminals and logs.
        raise InputError(
            f"An operator's token has 64 hexadecimal digits, and the given one, of {number_of(len(token), 'letter')}, "
            "is different. Copy it again, as `discreet study token --scope` printed it."
        )
    return token


def _path(name: str, action: str, assume_malicious: str = "0") -> str:
    """Return the path of an action on a study; the quoted name is one segment, also with a slash in it."""
    share = parse_share("assume_malicious", assume_malicious)
    query = f"?{urlencode({'assume_malicious': str(share)})}" if share else ""
    return f"/v1/studies/{quote(name, safe='')}/{action}{query}"
