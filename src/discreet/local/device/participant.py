"""One device in one study, over the network: it joins, asks what is asked, and answers once. Standard library only.

The order of things is the point. The device draws its number before it reads a question. It refuses what does not fit
(`documents`) before it looks at its basket, and it has a token before it answers: without one its answer would be of no
use. It writes its report down before it sends it, and whatever happens then, it sends these bytes and no others.
`docs/wire.md` says the same in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from secrets import token_bytes, token_hex
from time import time
from typing import Any, Literal, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from .client import client
from .documents import MOST_STUDY, QuestionText, StudyText, questions_of, study_of
from .memory import Memory
from .trust import Limit

Standing: TypeAlias = Literal["counted", "already-counted", "waiting", "not-asked", "refused"]
# Sends a request (method, address, body) and returns status and body; an OSError where nobody answers.
Send: TypeAlias = Callable[[str, str, bytes | None], tuple[int, bytes]]

_MOST_ANSWER = 4 * MOST_STUDY
_TOKEN = re.compile("[0-9a-f]{32}")
_OVER = frozenset({"released", "scrubbed"})


def over_http(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
    """Send one request and return what is answered, also where that is an error."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        with urlopen(Request(address, body, headers, method=method), timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read(_MOST_ANSWER)
    except HTTPError as error:
        with error:
            return error.code, error.read(1 << 16)


class Participant:
    """A device that takes part in one study.

    Parameters
    ----------
    address
        The service, as in ``https://studies.example.org``.
    study
        The name of the study there.
    folder
        Where the device remembers: a folder of its own, which lasts.
    max_epsilon, max_delta
        What the owner of the device gives away at most, as for `client`.
    token
        The token that it was given; None to ask for one, where anyone may take part.
    key
        The key of the service, as hexadecimal digits. None to keep the first that comes, and no other after it.
    send, now, take
        How a request is sent, the time, and random bytes; others are for tests.
    """

    def __init__(
        self,
        address: str,
        study: str,
        *,
        folder: Path | str,
        max_epsilon: Limit,
        max_delta: Limit = 0,
        token: str | None = None,
        key: str | None = None,
        send: Send = over_http,
        now: Callable[[], float] = time,
        take: Callable[[int], bytes] = token_bytes,
    ) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise ValueError(f"The address of a service begins with https:// or http://; {address!r:.80} was given.")
        self.address, self.name = f"{address.rstrip('/')}/v1/studies/{study}", study
        self.limits: dict[str, Any] = {"max_epsilon": max_epsilon, "max_delta": max_delta}
        self.token, self.key, self.send, self.now, self.take = token, key, send, now, take
        self.memory = Memory(folder, study)

    def take_part(
        self, basket: Iterable[int], *, given: Iterable[tuple[int, int]] = (), after: Iterable[tuple[int, int]] = ()
    ) -> Standing:
        """Do the next thing there is to do, and return how this device stands; call it again while it waits.

        ``"counted"`` and ``"already-counted"``: its one report was taken, now or before. ``"waiting"``: the study goes
        on, and this device has not been asked yet. ``"not-asked"``: the study is over, and nobody asked. ``"refused"``:
        its one report was not taken, and no other will be made; :attr:`reason` says why.

        A `ValueError` says why the device does not answer what is asked. An `OSError` says that the service was not
        reached; the same bytes are sent again with the next call.
        """
        with self.memory.held() as known:
            if "number" not in known:
                # Before anything is read that could be made for some numbers alone.
                known["number"] = int.from_bytes(self.take(4), "little")
                self.memory.write(known)
            if "report" not in known:
                asked = self._asked(known)
                if not isinstance(asked, QuestionText):
                    return asked
                sent = {"round": asked.round, "token": self._token(known), "key": token_hex(16)}
                report = client(asked.question, basket, given=given, after=after, take=self.take, **self.limits)
                # The body as it travels, so that what is sent again is what was sent before.
                known["report"] = json.dumps({**sent, "report": json.loads(report)}, separators=(",", ":"))
                self.memory.write(known)
            return self._sent(known)

    @property
    def reason(self) -> str:
        """Why the report was not taken, as the service says it."""
        return str(self.memory.read().get("reason", ""))

    def _asked(self, known: dict[str, Any]) -> QuestionText | Standing:
        """Return the question to this device; everything it has seen is remembered before it answers."""
        study = self._study(known)
        seen = [(one, start, stop, digest) for one, start, stop, digest in known.setdefault("seen", [])]
        state, questions = questions_of(self._got("/questions"), study, seen)
        before = {one for one, _, _, _ in seen}
        fresh = [one for one in questions if one.round not in before]
        if fresh:
            known["seen"] += [[one.round, one.start, one.stop, one.hash] for one in fresh]
            self.memory.write(known)
        for one in questions:
            if one.start <= known["number"] < one.stop:
                if one.expires is not None and one.expires <= self.now():
                    raise ValueError("The question has expired.")
                return one
        return "not-asked" if state in _OVER else "waiting"

    def _study(self, known: dict[str, Any]) -> StudyText:
        pinned = known.get("key", self.key)
        if self.key is not None and pinned != self.key:
            raise ValueError("This device knows the study under another key than it was given now.")
        study = study_of(self._got(""), self.name, key=pinned, known=known.get("study"), **self.limits)
        if "study" not in known:
            known |= {"study": study.text, "key": study.key}
            self.memory.write(known)
        return study

    def _token(self, known: dict[str, Any]) -> str:
        """Return the token: the one that is remembered, the one that was given, or one that the service gives."""
        if "token" not in known:
            token = str(self._got("/enrol", b"{}").get("token", "")) if self.token is None else self.token
            if not _TOKEN.fullmatch(token):
                whose = "The service gave" if self.token is None else "The device was given"
                raise ValueError(f"{whose} no token of a participant: it has 32 digits from 0 to 9 and a to f.")
            known["token"] = token
            self.memory.write(known)
        return str(known["token"])

    def _sent(self, known: dict[str, Any]) -> Standing:
        """Send the report that is remembered, unless the service has it already."""
        if "outcome" not in known:
            status, body = self.send("POST", f"{self.address}/reports", known["report"].encode())
            told = _read(body)
            if status == 200 and told.get("outcome") in ("counted", "already-counted"):
                known["outcome"] = told["outcome"]
            elif 400 <= status < 500 and status not in (408, 429):
                known |= {"outcome": "refused", "reason": str(told.get("reason", status))[:80]}
            else:
                raise OSError(f"The service cannot take the report now (status {status}).")
            self.memory.write(known)
            outcome: Standing = known["outcome"]
            return outcome
        return "refused" if known["outcome"] == "refused" else "already-counted"

    def _got(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        status, answer = self.send("GET" if body is None else "POST", self.address + path, body)
        told = _read(answer)
        if status == 200:
            return told
        if 400 <= status < 500 and status not in (408, 429):
            raise ValueError(f"The service does not answer: {told.get('title', status)!s:.80}.")
        raise OSError(f"The service cannot answer now (status {status}).")


def _read(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
