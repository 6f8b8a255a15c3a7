"""What an operator does with a service, in a directory here or at an address elsewhere: the same either way."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request

from ..baskets import hidden, public_name, without_options
from ..checks import parse_share
from ..errors import InputError, MisuseError
from ..local.device import opener
from ._collector import Adder, ClosedRounds, Scrubbed, StudyCollector
from ._core import add_up
from ._serving import collector_in
from ._study_file import StudyPlan
from .storage import STORE_FILE

_PATIENCE = 600  # seconds: closing a round may add up millions of reports


class Operator(ABC):
    """Opens, watches and closes studies."""

    @abstractmethod
    def studies(self) -> list[dict[str, Any]]:
        """Return all studies, with their states."""

    @abstractmethod
    def open(self, plan: StudyPlan) -> dict[str, Any]:
        """Open a study, and return its name, id and key."""

    @abstractmethod
    def status(self, name: str) -> dict[str, Any]:
        """Return how far a study has come."""

    @abstractmethod
    def close(self, name: str, *, few: bool = False) -> ClosedRounds:
        """Close the open rounds of a study, and return which they were; with `few`, below their minimum too."""

    @abstractmethod
    def result(self, name: str, assume_malicious: str = "0") -> str:
        """Return the result of a study, as JSON; its intervals hold whatever is in that part of each round."""

    @abstractmethod
    def export(self, name: str, assume_malicious: str = "0") -> dict[str, Any]:
        """Return everything public of a study."""

    @abstractmethod
    def save_reports(self, name: str, number: int, folder: Path) -> int:
        """Write the reports of a round into a folder, as Parquet, and return how many they are."""

    @abstractmethod
    def scrub(self, name: str) -> Scrubbed:
        """Delete the reports of released rounds."""

    @abstractmethod
    def tokens(self, name: str, many: int) -> list[str]:
        """Make single-use tokens for participants."""

    @abstractmethod
    def add_operator(self, scopes: list[str], label: str) -> str:
        """Make a token for an operator."""

    @abstractmethod
    def operators(self) -> list[dict[str, Any]]:
        """Return the operators' tokens that there are: id, scopes and label of each."""

    @abstractmethod
    def revoke_operator(self, listed: str) -> None:
        """Revoke an operator's token, by its id."""

    def __enter__(self) -> Operator:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()

    def let_go(self) -> None:  # noqa: B027
        """Let go of what is held."""


class LocalOperator(Operator):
    """Works in the directory of a service, whether or not it runs."""

    def __init__(self, collector: StudyCollector) -> None:
        self.collector = collector

    def let_go(self) -> None:
        """Close the store."""
        self.collector.store.close()

    def studies(self) -> list[dict[str, Any]]:
        """Return all studies."""
        return self.collector.listed()

    def open(self, plan: StudyPlan) -> dict[str, Any]:
        """Open a study."""
        record = self.collector.open_study(plan)
        return {"name": record.name, "id": record.id, "key": record.key}

    def status(self, name: str) -> dict[str, Any]:
        """Return how far a study has come."""
        return self.collector.status(name)

    def close(self, name: str, *, few: bool = False) -> ClosedRounds:
        """Close the open rounds."""
        return self.collector.close(name, few=few)

    def result(self, name: str, assume_malicious: str = "0") -> str:
        """Return the result."""
        return self.collector.result(name, assume_malicious)

    def export(self, name: str, assume_malicious: str = "0") -> dict[str, Any]:
        """Return everything public."""
        return self.collector.export(name, assume_malicious)

    def save_reports(self, name: str, number: int, folder: Path) -> int:
        """Write reports."""
        return self.collector.save_reports(name, number, folder)

    def scrub(self, name: str) -> Scrubbed:
        """Delete reports."""
        return self.collector.scrub(name)

    def tokens(self, name: str, many: int) -> list[str]:
        """Make tokens for participants."""
        return self.collector.tokens(name, many)

    def add_operator(self, scopes: list[str], label: str) -> str:
        """Make a token for an operator."""
        return self.collector.add_operator(scopes, label)

    def operators(self) -> list[dict[str, Any]]:
        """Return the operators' tokens."""
        return self.collector.operators()

    def revoke_operator(self, listed: str) -> None:
        """Revoke an operator's token."""
        self.collector.revoke_operator(listed)


class RemoteOperator(Operator):
    """Works through a service at an address, with an operator's token."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address, self._token = address.rstrip("/"), token
        self._shown = public_name(self.address)

    def _asked(self, path: str, body: Any = None, method: str | None = None) -> bytes:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        try:
            request = Request(self.address + path, data, headers, method=method)  # noqa: S310
            with opener.open(request, timeout=_PATIENCE) as answer:
                return bytes(answer.read())
        except HTTPError as error:
            with error:
                raise InputError(self._refused(error)) from None
        except (URLError, OSError, HTTPException, ValueError) as error:
            said = getattr(error, "reason", "") or str(error) or type(error).__name__
            told = hidden(f"The service {self._shown} is not reached: {said}.", self.address)
            raise InputError(told) from None

    def _refused(self, error: HTTPError) -> str:
        elsewhere = error.headers.get("Location")
        if 300 <= error.code < 400 and elsewhere is not None:
            # The token is for the one who was named, and for nobody whom they name.
            return (
                f"The service {self._shown} sends to {without_options(elsewhere)!r:.200}, and nothing was sent there. "
                "If the service is there, give that address with --at."
            )
        try:
            said = error.read(1 << 16)
        except (OSError, HTTPException):
            said = b""
        return _told(error.code, said, self._token is None)

    def _json(self, path: str, body: Any = None, *, kind: type = dict) -> Any:
        try:
            told = json.loads(self._asked(path, body))
            if isinstance(told, kind):
                return told
        except (ValueError, RecursionError):
            pass
        raise self._strange()

    def _fields(self, path: str, body: Any, **kinds: type) -> list[Any]:
        """Return fields of an answer, each of its kind."""
        told = self._json(path, body)
        found = [told.get(name) for name in kinds]
        if not all(map(isinstance, found, kinds.values())):
            raise self._strange()
        return found

    def _strange(self) -> InputError:
        return InputError(f"{self.address} answers, but not as a service of studies does.")

    def studies(self) -> list[dict[str, Any]]:
        """Return all studies."""
        listed: list[dict[str, Any]] = self._json("/v1/studies", kind=list)
        return listed

    def open(self, plan: StudyPlan) -> dict[str, Any]:
        """Open a study."""
        told: dict[str, Any] = self._json("/v1/studies", plan.to_json().encode())
        return told

    def status(self, name: str) -> dict[str, Any]:
        """Return how far a study has come."""
        told: dict[str, Any] = self._json(_place(name, "status"))
        return told

    def close(self, name: str, *, few: bool = False) -> ClosedRounds:
        """Close the open rounds."""
        kinds = {"closed": int, "without_reports": list, "ended_empty": bool}
        closed, without_reports, ended_empty = self._fields(_place(name, "close"), {"few": few}, **kinds)
        if not all(isinstance(number, int) for number in without_reports):
            raise self._strange()
        return ClosedRounds(rounds=closed, without_reports=tuple(without_reports), ended_empty=ended_empty)

    def result(self, name: str, assume_malicious: str = "0") -> str:
        """Return the result."""
        try:
            return self._asked(_place(name, "results") + _assuming(assume_malicious)).decode()
        except UnicodeDecodeError:
            raise self._strange() from None

    def export(self, name: str, assume_malicious: str = "0") -> dict[str, Any]:
        """Return everything public."""
        told: dict[str, Any] = self._json(_place(name, "export") + _assuming(assume_malicious))
        return told

    def save_reports(self, name: str, number: int, folder: Path) -> int:
        """Refuse: reports are written where they lie."""
        raise MisuseError("A service hands out no reports: write them where its directory is, with --at DIRECTORY.")

    def scrub(self, name: str) -> Scrubbed:
        """Delete reports."""
        rounds, tidy = self._fields(_place(name, "scrub"), {}, scrubbed=int, tidy=bool)
        return Scrubbed(rounds=rounds, tidy=tidy)

    def tokens(self, name: str, many: int) -> list[str]:
        """Make tokens for participants."""
        (made,) = self._fields(_place(name, "tokens"), {"many": many}, tokens=list)
        return list(made)

    def add_operator(self, scopes: list[str], label: str) -> str:
        """Make a token for an operator."""
        (token,) = self._fields("/v1/operators", {"scopes": scopes, "label": label}, token=str)
        return str(token)

    def operators(self) -> list[dict[str, Any]]:
        """Return the operators' tokens."""
        listed: list[dict[str, Any]] = self._json("/v1/operators", kind=list)
        return listed

    def revoke_operator(self, listed: str) -> None:
        """Revoke an operator's token."""
        self._asked(f"/v1/operators/{quote(listed, safe='')}", method="DELETE")


def operator_at(
    place: str, *, token: str | None = None, store: str | None = None, make: bool = False, adder: Adder = add_up
) -> Operator:
    """Return the operator of a place: a directory of this machine, or the address of a service.

    Parameters
    ----------
    place
        A directory, or an address that begins with ``http://`` or ``https://``.
    token
        The operator's token, for a service elsewhere.
    store
        The address of the database, where the service of the directory has one.
    make
        Whether to make a directory that is not there.
    adder
        Adds up rounds that are closed in a directory; a service elsewhere has its own.
    """
    if place.startswith(("http://", "https://")):
        if store is not None:
            raise MisuseError("A service elsewhere knows its store: leave the store out.")
        return RemoteOperator(place, token)
    if not make and not Path(place).is_dir():
        raise InputError(
            f"There is no directory {place}: `discreet study open` and `discreet serve` make one. A service elsewhere "
            "is given by its address, such as https://studies.example.org."
        )
    if not make and store is None and not (Path(place) / STORE_FILE).exists():
        raise InputError(
            f"{place} is not the directory of a service: it has no {STORE_FILE}. `discreet study open` and `discreet serve` "
            "make one. Of a service on PostgreSQL, give --store too."
        )
    return LocalOperator(collector_in(place, store, make=make, adder=adder))


def _place(name: str, what: str) -> str:
    """Return the place of something of a study; a name is one part of it, whatever it has in it."""
    return f"/v1/studies/{quote(name, safe='')}/{what}"


def _assuming(share: str) -> str:
    """Return the end of an address that asks about liars, or nothing where none are assumed."""
    exact = parse_share("assume_malicious", share)
    return f"?{urlencode({'assume_malicious': str(exact)})}" if exact else ""


def _told(status: int, body: bytes, without: bool) -> str:
    try:
        problem = json.loads(body)
        told = f"{str(problem['title']).rstrip('.')}." + (f" {problem['detail']}" if problem.get("detail") else "")
    except (ValueError, LookupError, TypeError):
        return f"The service answers with status {status}."
    if status == 401:
        told += " Give one with --token, or in DISCREET_TOKEN." if without else " The one that was given is not known."
    return told
