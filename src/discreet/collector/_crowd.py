"""Many devices in one process, for trying a study out: each answers with the device's own code and secure randomness.

`python -m discreet.collector._crowd ADDRESS STUDY FILE` has the people of a file. At every line that it is sent it asks
the service what is asked, checks that as a device does, lets everyone answer whom it is for, and sends the reports in
batches as a gateway would. It tells how many were counted.
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, take_rows
from ..errors import InputError
from ..exact import How, held_pairs
from ..local.device import QuestionText, SeenRound, StudyText, chosen, client, parse_questions, parse_study
from ..local.oracle_steps import flatten_report
from ._reasons import OUTCOMES, REASONS, REFUSALS, Reason
from ._uploads import ReportBatch

_TOGETHER = 4000  # reports of one batch


def save_people(
    path: Path, baskets: Baskets, people: NDArray[np.int64], tokens: list[str], how: str, *, texts: bool = False
) -> None:
    """Write some people to a file: what each holds, their own pairs of the kind asked for, and their tokens.

    Who has several baskets has all of them there: which one answers is for the device to draw. Where there is no list
    of items they hold `texts`, and the file has those.
    """
    whose = np.arange(len(baskets) + 1) if baskets.owners is None else baskets.owners
    owners, rows = take_rows(whose, people, np.arange(len(baskets)))
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    pairs: dict[str, NDArray[Any]] = {}
    if how in ("given", "after"):
        kind: How = "given" if how == "given" else "after"
        starts, held = held_pairs(baskets, people, np.arange(baskets.items), baskets.items, kind)
        pairs = {"pair_offsets": starts, "pairs": held}
    held_by: dict[str, Any] = {
        "owners": owners,
        "offsets": offsets,
        "codes": codes,
        "tokens": np.frombuffer(bytes.fromhex("".join(tokens)), np.uint8).reshape(-1, 16),
        "items": np.array(baskets.items),
        **pairs,
    }
    if texts:
        held_by["texts"] = np.array(list(map(str, baskets.vocabulary)))
    np.savez(path, **held_by)


class SimulatedDevices:
    """The devices of one process: their numbers, what they hold, and who has answered."""

    def __init__(self, address: str, study: str, path: Path) -> None:
        place = urlsplit(address)
        self.path, self.name = f"/v1/studies/{study}", study
        self.connection = HTTPConnection(place.hostname or "", place.port, timeout=600)
        with np.load(path) as found:
            self.people = {name: found[name] for name in found.files}
        self.many = len(self.people["tokens"])
        self.numbers = np.frombuffer(token_bytes(4 * self.many), "<u4")
        self.waiting = np.ones(self.many, np.bool_)
        self.study: StudyText | None = None
        self.seen: list[SeenRound] = []

    def asked(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request over the one connection, and return the answer."""
        status, content = self._answered(method, path, body)
        if status != 200:
            raise _refused(path, status)
        return content

    def _answered(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        self.connection.request(method, self.path + path, body)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def answer(self) -> Counter[str]:
        """Let everybody answer who is asked now, and return how many reports had which outcome."""
        if self.study is None:
            told = json.loads(self.asked("GET", ""))
            promised = json.loads(told["study"])
            self.study = parse_study(
                told, self.name, key=None, max_epsilon=promised["epsilon"], max_delta=promised["delta"]
            )
        _, questions = parse_questions(json.loads(self.asked("GET", "/questions")), self.study, self.seen)
        known = {one[0] for one in self.seen}
        self.seen += [(one.round, one.start, one.stop, one.hash) for one in questions if one.round not in known]
        outcomes: Counter[str] = Counter()
        for one in questions:
            mine = np.flatnonzero((self.numbers >= one.start) & (self.numbers < one.stop) & self.waiting)
            self.waiting[mine] = False
            for start in range(0, len(mine), _TOGETHER):
                outcomes += self._sent(self.study, one, mine[start : start + _TOGETHER].tolist())
        return outcomes

    def _sent(self, study: StudyText, asked: QuestionText, people: list[int]) -> Counter[str]:
        words = np.array([self._report(study, asked, one) for one in people], np.uint32)
        tokens = [self.people["tokens"][one].tobytes() for one in people]
        keys = [token_bytes(16) for _ in people]
        batch = ReportBatch.of(bytes.fromhex(study.id), asked.round, tokens, keys, words)
        status, codes = self._answered("POST", "/batches", batch.written())
        if status == REFUSALS[Reason.ROUND_CLOSED].status and json.loads(codes)["reason"] == Reason.ROUND_CLOSED:
            # Devices of another process filled the last round meanwhile: a study that has ended takes no batch.
            return Counter({str(Reason.ROUND_CLOSED): len(people)})
        if status != 200:
            raise _refused("/batches", status)
        return Counter(OUTCOMES.get(code) or str(REASONS[code]) for code in codes)

    def _report(self, study: StudyText, asked: QuestionText, person: int) -> list[int]:
        offsets, codes = self.people["offsets"], self.people["codes"]
        mine = offsets[self.people["owners"][person] : self.people["owners"][person + 1] + 1].tolist()
        basket = chosen(codes[start:stop].tolist() for start, stop in pairwise(mine))
        pairs: list[tuple[int, int]] = []
        if "pairs" in self.people:
            starts, items = self.people["pair_offsets"], int(self.people["items"])
            held = self.people["pairs"][starts[person] : starts[person + 1]].tolist()
            pairs = [divmod(one, items) for one in held]
        limits: dict[str, Any] = {"max_epsilon": study.epsilon, "max_delta": study.delta}
        if "texts" in self.people:
            texts = self.people["texts"][basket].tolist()
            return flatten_report(json.loads(client(asked.question, (), texts=texts, **limits)))
        report = client(asked.question, study.recode(basket), given=pairs, after=pairs, **limits)
        return flatten_report(json.loads(report))


def _refused(path: str, status: int) -> InputError:
    return InputError(f"The service answers {path or 'the study'} with status {status}.")


def main(address: str, study: str, path: str) -> None:
    """Answer whenever a line comes; whoever began this process ends it, also at Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    devices = SimulatedDevices(address, study, Path(path))
    for _ in sys.stdin:
        print(json.dumps(devices.answer()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
