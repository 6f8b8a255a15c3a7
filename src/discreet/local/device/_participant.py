"""One device in one study, over the network: it joins, reads the questions, and answers once. Standard library only.

The order of the steps is the point. A device first of all checks its data. It draws its number before it reads a
question. It refuses a question that does not fit (`documents`) for any data, and it has a token before it
answers: without a token its report would be useless. It writes its report down before it sends it, and from then
on sends exactly its bytes. `docs/wire.md` has the order in words.
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
from ._documents import QuestionText, StudyText, check_name, parse_questions, parse_study
from ._memory import Memory, Spending
from ._rehearsal import MARGIN, rehearse
from ._sending import ANOTHER_TOKEN, Send, over_http, parse_answer, parse_fate, parse_problem
from ._trust import Limit, check

Standing: TypeAlias = Literal["counted", "already-counted", "waiting", "not-asked", "refused"]

_TOKEN = re.compile("[0-9a-f]{32}")
_FINAL_STATES = frozenset({"released", "scrubbed"})  # the states of a study without further questions


class Participant:
    """A device that takes part in one study.

    Parameters
    ----------
    address
        The address of the service, as in ``https://studies.example.org``.
    study
        The name of the study there.
    folder
        The directory of the device's memory: an absolute path of its own, which lasts; ``~`` is the home directory.
    max_epsilon, max_delta
        The largest epsilon and delta that the owner of the device gives away in one study, as for `client`.
    max_total_epsilon
        The largest epsilon that the owner gives away in all studies of the directory together; None for no limit.
    token
        The token of the device, 32 hexadecimal digits; None to ask the service for one, if anyone may take part.
    key
        The key of the service, as hexadecimal digits. None to trust the first key that comes, and no later one.
    pause
        The least seconds from the beginning of the answer to its sending. It is longer for a question with more work:
        four times the longest answer, which the device tries first. So the time does not depend on the data.
    send, now, take
        The sender of requests, the clock in seconds since 1970, and the source of random bytes; tests replace them.
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
        self.name = check_name(study)
        self.address = f"{address.rstrip('/')}/v1/studies/{study}"
        self.limits: dict[str, Any] = {"max_epsilon": max_epsilon, "max_delta": max_delta}
        self.max_total_epsilon, self.pause = max_total_epsilon, pause
        self.token, self.key, self.send, self.now, self.take = token, key, send, now, take
        # Each has a file with a lock, so that two programs of one device take turns.
        self.memory, self.spending = Memory(folder, study), Spending(folder)

    def take_part(
        self,
        basket: Iterable[int],
        *,
        texts: Iterable[str] | None = None,
        given: Iterable[tuple[int, int]] = (),
        after: Iterable[tuple[int, int]] = (),
    ) -> Standing:
        """Take the next step of the study, and return the standing of this device; call it again while it waits.

        ``"counted"`` and ``"already-counted"``: the service took the report, now or before. ``"waiting"``: the study
        goes on, and no question has asked this device yet. ``"not-asked"``: the study ended without a question to this
        device. ``"refused"``: the service did not take the report, and the device makes no further one; :attr:`reason`
        says why.

        In a study without a list of items the data are `texts`, and the basket is empty.

        A `ValueError` is the reason why the device does not answer the question, or says that the service does not know
        the token: then the report is sent again with a right token. An `OSError` says that the service was not reached,
        or that the answer is not one of a service of studies; the next call sends equal bytes again.
        """
        with self.memory.lock() as memory:
            # Before any request: a stored report and its token go to no service with a different key.
            self._check_key(memory)
            if "report" not in memory:
                # Before any request: a device that enrolled and then sent no report would reveal the refusal.
                device_data = DeviceData.of(basket, texts, given, after)
            if "number" not in memory:
                # Before any question is read: a question could be made for the devices of some numbers.
                memory["number"] = int.from_bytes(self.take(4), "little")
                self.memory.write(memory)
            if "report" not in memory:
                study = self._fetch_study(memory)
                open_question = self._find_question(memory, study)
                if not isinstance(open_question, QuestionText):
                    return open_question
                # Before the token and the charge: a refused question costs neither token nor epsilon.
                check(open_question.question, **self.limits)
                check_kind(open_question.question, device_data.texts)
                self.spending.check(self.name, open_question.question["epsilon"], self.max_total_epsilon)
                token = self._find_token(memory)
                self.spending.charge(self.name, open_question.question["epsilon"], self.max_total_epsilon)
                wait = max(self.pause, MARGIN * rehearse(open_question.question, study, self.limits))
                ready = monotonic() + wait
                extra_data: dict[str, Any] = {"texts": device_data.texts}
                if (kind := open_question.question.get("pairs")) in OWN:
                    extra_data[kind] = device_data.given if kind == "given" else device_data.after
                report = client(
                    open_question.question, study.recode(device_data.items), take=self.take, **extra_data, **self.limits
                )
                body = {
                    "round": open_question.round,
                    "token": token,
                    "key": self.take(16).hex(),
                    "report": json.loads(report),
                }
                # The body is kept as text, so that a later call sends equal bytes.
                memory |= {"asked": open_question.text, "report": json.dumps(body, separators=(",", ":"))}
                self.memory.write(memory)
                sleep_until(ready, wait)
            return self._send_report(memory)

    @property
    def reason(self) -> str:
        """The reason of the service for not taking the report."""
        return str(self.memory.read().get("reason", ""))

    def _find_question(self, memory: dict[str, Any], study: StudyText) -> QuestionText | Standing:
        """Return the question to this device; all rounds of the answer are remembered before the device answers."""
        known_rounds = [(number, start, stop, digest) for number, start, stop, digest in memory.setdefault("seen", [])]
        state, questions = parse_questions(self._fetch("/questions"), study, known_rounds)
        seen_rounds = {number for number, _, _, _ in known_rounds}
        new_questions = {question.round: question for question in questions if question.round not in seen_rounds}
        if new_questions:
            memory["seen"] += [[new.round, new.start, new.stop, new.hash] for new in new_questions.values()]
            self.memory.write(memory)
        for question in questions:
            if question.start <= memory["number"] < question.stop:
                if question.expires is not None and question.expires <= self.now():
                    raise ValueError("The question has expired.")
                return question
        return "not-asked" if state in _FINAL_STATES else "waiting"

    def _check_key(self, memory: dict[str, Any]) -> None:
        """Check that the given key is the key of the memory, if there are both."""
        if self.key is not None and memory.get("key", self.key) != self.key:
            raise ValueError("This device knows the study under another key than it was given now.")

    def _fetch_study(self, memory: dict[str, Any]) -> StudyText:
        """Return the study, checked; its text and key are remembered from the first time on."""
        pinned_key = memory.get("key", self.key)
        study = parse_study(self._fetch(""), self.name, key=pinned_key, known=memory.get("study"), **self.limits)
        if "study" not in memory:
            memory |= {"study": study.text, "key": study.key}
            self.memory.write(memory)
        return study

    def _find_token(self, memory: dict[str, Any]) -> str:
        """Return the token of the memory, else the owner's token, else a new one from the service."""
        # A token that was asked for is remembered: asking again would use up a second one.
        if "token" not in memory:
            token = str(self._fetch("/enrol", b"{}").get("token", "")) if self.token is None else self.token
            memory["token"] = self._check_token(token)
            self.memory.write(memory)
        return str(memory["token"])

    def _check_token(self, token: str) -> str:
        if not _TOKEN.fullmatch(token):
            source = "The service gave" if self.token is None else "The device was given"
            raise ValueError(f"{source} no token of a participant: it has 32 digits from 0 to 9 and a to f.")
        return token

    def _send_report(self, memory: dict[str, Any]) -> Standing:
        """Send the report of the memory, unless the service has it already."""
        if "outcome" in memory:
            return "refused" if memory["outcome"] == "refused" else "already-counted"
        if memory.get("reason") == ANOTHER_TOKEN and self.token not in (None, memory["token"]):
            self._change_token(memory, self._check_token(str(self.token)))
        fate, reason = parse_fate(*self.send("POST", f"{self.address}/reports", memory["report"].encode()))
        if fate == "again":
            raise OSError(f"The service cannot take the report now ({reason}).")
        memory.pop("reason", None)
        memory |= {"outcome": fate} if fate != "another-token" else {}
        memory |= {"reason": reason} if reason else {}
        self.memory.write(memory)
        if fate == "another-token":
            raise ValueError(
                "The service does not know the token: give the right one, and the same report goes with it."
            )
        return fate

    def _change_token(self, memory: dict[str, Any], token: str) -> None:
        """Change the token of the report. The service refused the first as unknown, so it counted no report."""
        body = json.loads(memory["report"])
        memory |= {"token": token, "report": json.dumps({**body, "token": token}, separators=(",", ":"))}
        del memory["reason"]
        self.memory.write(memory)

    def _fetch(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        """Return the JSON object that the service answers a request with."""
        status, answer = self.send("GET" if body is None else "POST", self.address + path, body)
        fields = parse_answer(answer)
        if status == 200 and fields is not None:
            return fields
        problem = parse_problem(status, fields)
        if problem is None or status >= 500 or status in (408, 429):
            raise OSError(f"The service cannot answer now (status {status}).")
        raise ValueError(f"The service does not answer: {problem.title}.")


def sleep_until(ready: float, wait: float) -> None:
    """Sleep until a moment, or if it has passed until the next moment a multiple of `wait` seconds later.

    A device that was suspended for longer than any answer takes thus reveals a number of waits, and no more.

    Parameters
    ----------
    ready
        The moment, in seconds of the monotonic clock.
    wait
        The seconds from the beginning of the answer to the moment.
    """
    late = monotonic() - ready
    sleep(max(0.0, ceil(late / wait) * wait - late if late > 0 and wait > 0 else -late))
