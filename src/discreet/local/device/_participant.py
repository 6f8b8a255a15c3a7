"""One device in one study, over the network: it joins, asks what is asked, and answers once. Standard library only.

The order of things is the point. What the device holds it checks first of all. It draws its number before it reads a
question. It refuses what does not fit (`documents`) whatever it holds, and it has a token before it answers: without
one its answer would be of no use. It writes its report down before it sends it, and whatever happens then, it sends
these bytes and no others. `docs/wire.md` says the same in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from math import ceil
from pathlib import Path
from secrets import token_bytes
from time import monotonic, sleep, time
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from ._answering import OWN, DeviceData
from ._client import check_kind, client
from ._documents import QuestionText, StudyText, checked_name, questions_of, study_of
from ._memory import Memory, Spending
from ._rehearsal import MARGIN, rehearse
from ._sending import ANOTHER_TOKEN, Send, fate_of, over_http, problem_of, told_in
from ._trust import Limit, check

Standing: TypeAlias = Literal["counted", "already-counted", "waiting", "not-asked", "refused"]

_TOKEN = re.compile("[0-9a-f]{32}")
_OVER = frozenset({"released", "scrubbed"})


class Participant:
    """A device that takes part in one study.

    Parameters
    ----------
    address
        The service, as in ``https://studies.example.org``.
    study
        The name of the study there.
    folder
        Where the device remembers: the whole path of a folder of its own, which lasts; ``~`` stands for one's home.
    max_epsilon, max_delta
        What the owner of the device gives away at most in one study, as for `client`.
    max_total_epsilon
        What the owner gives away at most in all studies of the folder together; None for no such limit.
    token
        The token that it was given; None to ask for one, where anyone may take part.
    key
        The key of the service, as hexadecimal digits. None to keep the first that comes, and no other after it.
    pause
        Seconds from when the answer is begun to when it is sent, at least. It is more where the question asks for more
        work: four times what the longest answer takes, which the device tries first. So the time it took tells nothing.
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
        max_total_epsilon: Limit | None = None,
        token: str | None = None,
        key: str | None = None,
        pause: float = 1.0,
        send: Send = over_http,
        now: Callable[[], float] = time,
        take: Callable[[int], bytes] = token_bytes,
    ) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise ValueError(f"The address of a service begins with https:// or http://; {address!r:.80} was given.")
        self.name = checked_name(study)
        self.address = f"{address.rstrip('/')}/v1/studies/{study}"
        self.limits: dict[str, Any] = {"max_epsilon": max_epsilon, "max_delta": max_delta}
        self.max_total_epsilon, self.pause = max_total_epsilon, pause
        self.token, self.key, self.send, self.now, self.take = token, key, send, now, take
        self.memory, self.spending = Memory(folder, study), Spending(folder)

    def take_part(
        self,
        basket: Iterable[int],
        *,
        texts: Iterable[str] | None = None,
        given: Iterable[tuple[int, int]] = (),
        after: Iterable[tuple[int, int]] = (),
    ) -> Standing:
        """Do the next thing there is to do, and return how this device stands; call it again while it waits.

        ``"counted"`` and ``"already-counted"``: its one report was taken, now or before. ``"waiting"``: the study goes
        on, and this device has not been asked yet. ``"not-asked"``: the study is over, and nobody asked. ``"refused"``:
        its one report was not taken, and no other will be made; :attr:`reason` says why.

        In a study without a list of items, what is held are `texts`, and the basket is empty.

        A `ValueError` says why the device does not answer what is asked, or that the service does not know its token:
        then the same report goes with another. An `OSError` says that the service was not reached, or that what
        answered is none; the same bytes are sent again with the next call.
        """
        with self.memory.held() as known:
            if "report" not in known:
                # Before anything is asked for: who has enrolled and then is silent could be told apart.
                own = DeviceData.of(basket, texts, given, after)
            if "number" not in known:
                # Before anything is read that could be made for some numbers alone.
                known["number"] = int.from_bytes(self.take(4), "little")
                self.memory.write(known)
            if "report" not in known:
                study = self._study(known)
                asked = self._asked(known, study)
                if not isinstance(asked, QuestionText):
                    return asked
                # Before anything is asked for or charged: a question that is refused costs neither token nor epsilon.
                check(asked.question, **self.limits)
                check_kind(asked.question, own.texts)
                self.spending.check(self.name, asked.question["epsilon"], self.max_total_epsilon)
                token = self._token(known)
                self.spending.charge(self.name, asked.question["epsilon"], self.max_total_epsilon)
                wait = max(self.pause, MARGIN * rehearse(asked.question, study, self.limits))
                ready = monotonic() + wait
                basket = study.becomes(own.items)
                beside: dict[str, Any] = {"texts": own.texts}
                if (kind := asked.question.get("pairs")) in OWN:
                    beside[kind] = own.given if kind == "given" else own.after
                report = client(asked.question, basket, take=self.take, **beside, **self.limits)
                body = {"round": asked.round, "token": token, "key": self.take(16).hex(), "report": json.loads(report)}
                # The body as it travels, so that what is sent again is what was sent before.
                known |= {"asked": asked.text, "report": json.dumps(body, separators=(",", ":"))}
                self.memory.write(known)
                sleep_until(ready, wait)
            return self._sent(known)

    @property
    def reason(self) -> str:
        """Why the report was not taken, as the service says it."""
        return str(self.memory.read().get("reason", ""))

    def _asked(self, known: dict[str, Any], study: StudyText) -> QuestionText | Standing:
        """Return the question to this device; everything it has seen is remembered before it answers."""
        seen = [(one, start, stop, digest) for one, start, stop, digest in known.setdefault("seen", [])]
        state, questions = questions_of(self._got("/questions"), study, seen)
        before = {one for one, _, _, _ in seen}
        fresh = {one.round: one for one in questions if one.round not in before}
        if fresh:
            known["seen"] += [[one.round, one.start, one.stop, one.hash] for one in fresh.values()]
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
            known["token"] = self._checked(
                str(self._got("/enrol", b"{}").get("token", "")) if self.token is None else self.token
            )
            self.memory.write(known)
        return str(known["token"])

    def _checked(self, token: str) -> str:
        if not _TOKEN.fullmatch(token):
            whose = "The service gave" if self.token is None else "The device was given"
            raise ValueError(f"{whose} no token of a participant: it has 32 digits from 0 to 9 and a to f.")
        return token

    def _sent(self, known: dict[str, Any]) -> Standing:
        """Send the report that is remembered, unless the service has it already."""
        if "outcome" in known:
            return "refused" if known["outcome"] == "refused" else "already-counted"
        if known.get("reason") == ANOTHER_TOKEN and self.token not in (None, known["token"]):
            self._with_token(known, self._checked(str(self.token)))
        fate, why = fate_of(*self.send("POST", f"{self.address}/reports", known["report"].encode()))
        if fate == "again":
            raise OSError(f"The service cannot take the report now ({why}).")
        known.pop("reason", None)
        known |= {"outcome": fate} if fate != "another-token" else {}
        known |= {"reason": why} if why else {}
        self.memory.write(known)
        if fate == "another-token":
            raise ValueError(
                "The service does not know the token: give the right one, and the same report goes with it."
            )
        return fate

    def _with_token(self, known: dict[str, Any], token: str) -> None:
        """Put another token to the report. The service said that it does not know the first: nothing was counted."""
        body = json.loads(known["report"])
        known |= {"token": token, "report": json.dumps({**body, "token": token}, separators=(",", ":"))}
        del known["reason"]
        self.memory.write(known)

    def _got(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        status, answer = self.send("GET" if body is None else "POST", self.address + path, body)
        told = told_in(answer)
        if status == 200 and told is not None:
            return told
        problem = problem_of(status, told)
        if problem is None or status >= 500 or status in (408, 429):
            raise OSError(f"The service cannot answer now (status {status}).")
        raise ValueError(f"The service does not answer: {problem.title}.")


def sleep_until(ready: float, wait: float) -> None:
    """Sleep until a moment; where that has passed, until the next one that is whole waits after it.

    A device that was held up for longer than any answer takes tells by how many waits, and no more.
    """
    late = monotonic() - ready
    sleep(max(0.0, ceil(late / wait) * wait - late if late > 0 and wait > 0 else -late))
