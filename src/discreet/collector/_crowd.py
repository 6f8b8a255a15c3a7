"""Many devices in one process, for trying a study: each answers with the device's own code and secure randomness.

`python -m discreet.collector._crowd ADDRESS STUDY FILE` runs the devices of the people in a file. For each line on its
input it reads the open questions, checks them as a device does, answers them for the people that they select, and sends
the reports in batches as a gateway would. It prints the number of reports with each outcome.
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
from ..local.device import QuestionText, SeenRound, StudyText, client, draw_basket, parse_questions, parse_study
from ..local.oracle_steps import flatten_report
from ._reasons import OUTCOMES, REASONS, Reason
from ._uploads import ReportBatch

# Reports of one batch. Larger: more memory here; smaller: more requests, each with its transaction.
_BATCH_REPORTS = 4000


def save_people(
    path: Path, baskets: Baskets, people: NDArray[np.int64], tokens: list[str], relation: str, *, texts: bool = False
) -> None:
    """Write people to a file, with their baskets, relations and tokens.

    A person with several baskets has them all in the file: the device draws the basket that answers.

    Parameters
    ----------
    path
        The file, in numpy's format.
    baskets
        The baskets of all people.
    people
        The numbers of the people to write.
    tokens
        The token of each person, as hexadecimal digits.
    relation
        The kind of relation in the study, or "none".
    texts
        Whether to write the names of items, for a study without a list of items.
    """
    basket_owners = np.arange(len(baskets) + 1) if baskets.owners is None else baskets.owners
    owners, rows = take_rows(basket_owners, people, np.arange(len(baskets)))
    offsets, codes = take_rows(baskets.offsets, rows, baskets.codes)
    arrays: dict[str, NDArray[Any]] = {
        "owners": owners,
        "offsets": offsets,
        "codes": codes,
        "tokens": np.frombuffer(bytes.fromhex("".join(tokens)), np.uint8).reshape(-1, 16),
        "items": np.array(baskets.items),
    }
    if relation in ("given", "after"):
        kind: How = "given" if relation == "given" else "after"
        starts, pairs = held_pairs(baskets, people, np.arange(baskets.items), baskets.items, kind)
        arrays |= {"pair_offsets": starts, "pairs": pairs}
    if texts:
        arrays["texts"] = np.array(list(map(str, baskets.vocabulary)))
    np.savez(path, **arrays)  # type: ignore[arg-type]


class SimulatedDevices:
    """The devices of one process: their secret numbers, their baskets, and a flag for each that has not answered."""

    def __init__(self, address: str, study: str, path: Path) -> None:
        parts = urlsplit(address)
        self.path, self.name = f"/v1/studies/{study}", study
        # Closing a round may add up many reports, and the next request waits for it.
        self.connection = HTTPConnection(parts.hostname or "", parts.port, timeout=600)
        with np.load(path) as arrays:
            self.people = {name: arrays[name] for name in arrays.files}
        device_count = len(self.people["tokens"])
        # A question selects devices by a range of numbers, which stay secret: no service can single a device out.
        self.numbers = np.frombuffer(token_bytes(4 * device_count), "<u4")
        self.is_waiting = np.ones(device_count, np.bool_)
        self.study: StudyText | None = None
        self.seen: list[SeenRound] = []

    def _get(self, path: str) -> Any:
        """Return the JSON value at a path of the study."""
        status, content = self._send("GET", path)
        if status != 200:
            raise _unexpected_status(path, status)
        return json.loads(content)

    def _send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        self.connection.request(method, self.path + path, body)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def answer(self) -> Counter[str]:
        """Answer the open questions for the devices that they select, and return the number of reports by outcome."""
        if self.study is None:
            signed = self._get("")
            promise = json.loads(signed["study"])
            limits = {"max_epsilon": promise["epsilon"], "max_delta": promise["delta"]}
            self.study = parse_study(signed, self.name, key=None, **limits)
        _, questions = parse_questions(self._get("/questions"), self.study, self.seen)
        seen_rounds = {seen_round[0] for seen_round in self.seen}
        self.seen += [
            (question.round, question.start, question.stop, question.hash)
            for question in questions
            if question.round not in seen_rounds
        ]
        outcomes: Counter[str] = Counter()
        for question in questions:
            is_selected = (self.numbers >= question.start) & (self.numbers < question.stop)
            people = np.flatnonzero(is_selected & self.is_waiting)
            # Before sending: a device answers one question, also if its batch is lost on the way.
            self.is_waiting[people] = False
            for start in range(0, len(people), _BATCH_REPORTS):
                outcomes += self._send_batch(self.study, question, people[start : start + _BATCH_REPORTS].tolist())
        return outcomes

    def _send_batch(self, study: StudyText, question: QuestionText, people: list[int]) -> Counter[str]:
        words = np.array([self._report(study, question, person) for person in people], np.uint32)
        tokens = [self.people["tokens"][person].tobytes() for person in people]
        # Fresh keys: this gateway never repeats a batch, so no key has to be remembered.
        keys = [token_bytes(16) for _ in people]
        batch = ReportBatch.build(bytes.fromhex(study.id), question.round, tokens, keys, words)
        status, codes = self._send("POST", "/batches", batch.encode())
        if status == Reason.ROUND_CLOSED.status and json.loads(codes)["reason"] == Reason.ROUND_CLOSED:
            # Devices of a second process filled the last round meanwhile: a study that has ended takes no batch.
            return Counter({str(Reason.ROUND_CLOSED): len(people)})
        if status != 200:
            raise _unexpected_status("/batches", status)
        return Counter(OUTCOMES.get(code) or str(REASONS[code]) for code in codes)

    def _report(self, study: StudyText, question: QuestionText, person: int) -> list[int]:
        """Return the report of a person as words."""
        offsets, codes = self.people["offsets"], self.people["codes"]
        basket_offsets = offsets[self.people["owners"][person] : self.people["owners"][person + 1] + 1].tolist()
        basket = draw_basket(codes[start:stop].tolist() for start, stop in pairwise(basket_offsets))
        limits: dict[str, Any] = {"max_epsilon": study.epsilon, "max_delta": study.delta}
        if "texts" in self.people:
            texts = self.people["texts"][basket].tolist()
            return flatten_report(json.loads(client(question.question, (), texts=texts, **limits)))
        pairs: list[tuple[int, int]] = []
        if "pairs" in self.people:
            starts, item_count = self.people["pair_offsets"], int(self.people["items"])
            pair_codes = self.people["pairs"][starts[person] : starts[person + 1]].tolist()
            pairs = [divmod(code, item_count) for code in pair_codes]
        report = client(question.question, study.recode(basket), given=pairs, after=pairs, **limits)
        return flatten_report(json.loads(report))


def _unexpected_status(path: str, status: int) -> InputError:
    return InputError(f"The service answers {path or 'the study'} with status {status}.")


def main(address: str, study: str, path: str) -> None:
    """Answer the open questions once for each input line. The parent process ends this one, also at Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    devices = SimulatedDevices(address, study, Path(path))
    for _ in sys.stdin:
        print(json.dumps(devices.answer()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
