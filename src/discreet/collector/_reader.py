"""A reader of studies: their plans, states, questions and results, from the store alone and without a key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..checks import parse_share
from ..errors import MisuseError
from ..local.study import Outcome, parse_round
from ._core import StoredRound, StudyCore, render_outcome, round_minimum, round_quota
from ._reasons import Reason, RefusedRequest
from ._states import RoundState
from ._study_file import STUDY_NAME, StudyPlan
from .storage import StudyRecord, StudyStore

K = TypeVar("K")
V = TypeVar("V")

# Conversations of ended studies that stay in memory, for requests with `assume_malicious`: replaying one takes seconds.
_MAX_ENDED_CORES = 4
_MAX_OUTCOMES = 16  # by study and malicious share; larger: more memory; smaller: more replays
# Requests that may wait for a lock, and seconds for which one waits. Larger: a slow study can occupy more of the
# service's 40 threads; smaller: more requests are sent away.
MAX_WAITING, _LOCK_SECONDS = 4, 30


class Questions(NamedTuple):
    """The state of a study, and its open questions as pairs of text and signature."""

    state: str
    questions: tuple[tuple[str, str], ...]


class StudyReader:
    """The studies of a store, for reading.

    Records and plans never change, so each is read once. Outcomes are computed again from the stored totals.
    """

    def __init__(self, store: StudyStore) -> None:
        self.store = store
        self._records: dict[str, StudyRecord] = {}
        self._plans: dict[str, StudyPlan] = {}
        self._minima: dict[tuple[str, int], int] = {}  # by study and round: a question never changes
        self._with_result: set[str] = set()
        self._ended_cores: dict[str, StudyCore] = {}
        self._outcomes: dict[tuple[str, Fraction], Outcome] = {}
        self._replay_lock, self._replay_queue = threading.Lock(), threading.BoundedSemaphore(MAX_WAITING)
        self._drawing_lock, self._drawing_queue = threading.Lock(), threading.BoundedSemaphore(MAX_WAITING)

    def record(self, name: str) -> StudyRecord:
        """Return the stored record of a study. It never changes, so it is read once."""
        if name not in self._records:
            record = self.store.study(name) if STUDY_NAME.fullmatch(name) else None
            if record is None:
                raise RefusedRequest(Reason.UNKNOWN_STUDY)
            self._records[name] = record
        return self._records[name]

    def running_record(self, name: str) -> StudyRecord:
        """Return a study that takes reports and people; a study that has ended is refused."""
        record = self.record(name)
        if self.has_ended(name):
            raise RefusedRequest(Reason.ROUND_CLOSED, f"The study {name!r} has ended.")
        return record

    def signed(self, name: str) -> dict[str, Any]:
        """Return the published text of a study, its signature and the public key."""
        record = self.record(name)
        return {"study": record.text, "signature": record.signature, "key": record.key}

    def has_ended(self, name: str) -> bool:
        """Return whether a study has a result. A result never goes away, so it is looked up until it is there."""
        # Only the positive answer is cached: a study without a result may get one from any service.
        if name not in self._with_result and self.store.has_result(name):
            self._with_result.add(name)
        return name in self._with_result

    def plan(self, name: str) -> StudyPlan:
        """Return the plan of a study."""
        if name not in self._plans:
            self._plans[name] = StudyPlan.from_json(self.record(name).plan)
        return self._plans[name]

    def _stored_round(self, name: str, number: int) -> StoredRound:
        self.record(name)
        for stored in self.store.rounds(name):
            if stored.number == number:
                return stored
        raise RefusedRequest(Reason.UNKNOWN_ROUND)

    @contextmanager
    def _turn(self, lock: threading.Lock, queue: threading.BoundedSemaphore) -> Iterator[None]:
        """Hold a lock for a request; refuse the request where the queue is full, or all threads would wait."""
        if not queue.acquire(blocking=False):
            raise RefusedRequest(Reason.BUSY)
        try:
            if not lock.acquire(timeout=_LOCK_SECONDS):
                raise RefusedRequest(Reason.BUSY)
            try:
                yield
            finally:
                lock.release()
        finally:
            queue.release()

    def studies(self) -> list[dict[str, Any]]:
        """Return the name, title, state and participants of each study."""
        plans = [self.plan(record.name) for record in self.store.studies()]
        return [
            {"name": plan.name, "title": plan.title, "state": self.questions(plan.name).state, "who": plan.who}
            for plan in plans
        ]

    def questions(self, name: str) -> Questions:
        """Return the state of a study and its open questions."""
        self.record(name)
        open_rounds = [stored for stored in self.store.rounds(name) if stored.state is RoundState.OPEN]
        state = "released" if self.has_ended(name) else "open" if open_rounds else "waiting"
        return Questions(state, tuple((stored.question or "", stored.signature or "") for stored in open_rounds))

    def progress(self, name: str) -> dict[str, Any]:
        """Return the progress of a study: counts and states only, for the public."""
        plan, state = self.plan(name), self.questions(name).state
        rounds = []
        for stored in self.store.rounds(name):
            ask = json.loads(stored.ask)
            start, stop = ask["who"]  # of 2**32 numbers of devices
            rounds.append(
                {
                    "round": stored.number,
                    "name": ask["name"],
                    "state": str(stored.state),
                    "people": stored.people,
                    "share": round((stop - start) / (1 << 32), 6),
                    "quota": round_quota(plan, start, stop),
                    "minimum": self.minimum(name, stored),
                    "closes": stored.closes,
                    "oracle": ask["question"]["oracle"]["oracle"],
                    "values": ask["question"]["oracle"].get("size", 1),
                }
            )
        return {
            "name": plan.name,
            "title": plan.title,
            "state": state,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "items": len(plan.asked_items),
            "close": plan.close,
            "people": sum(fields["people"] for fields in rounds),
            "rounds": rounds,
        }

    def minimum(self, name: str, stored: StoredRound) -> int:
        """Return the number of reports below which a round closes only if an operator insists."""
        key = name, stored.number
        if key not in self._minima:
            self._minima[key] = round_minimum(self.plan(name), parse_round(stored.ask))
        return self._minima[key]

    def save_reports(self, name: str, number: int, directory: Path) -> int:
        """Write the reports of a closed round into a directory, as Parquet, and return their number.

        Reports are random already, and still not public: the files are readable by their owner alone.
        """
        from ._report_files import save_reports

        stored = self._stored_round(name, number)
        if stored.state not in (RoundState.CLOSED, RoundState.RELEASED):
            is_scrubbed = stored.state is RoundState.SCRUBBED
            raise MisuseError(
                f"Round {number + 1} of the study {name!r} is {stored.state}: "
                + ("its reports are gone." if is_scrubbed else "its reports can be written when it is closed.")
            )
        # The round is written beside its reports: without the question, no program can decode them.
        ask = parse_round(stored.ask)
        return save_reports(directory, ask, self.store.blocks(name, number, ask.oracle.codec.width))

    def result(self, name: str, assume_malicious: Any = 0) -> str:
        """Return the result of a study as JSON, with intervals that allow for a share of malicious reports."""
        malicious = _parse_share(assume_malicious)
        # Before any replay: an unknown study and an unreleased result are refused at once.
        self.record(name)
        result = self.store.result(name)
        if result is None:
            raise RefusedRequest(Reason.NOT_RELEASED)
        return render_outcome(self.outcome(name, malicious)) if malicious else result

    def malicious_share(self, value: Any) -> Fraction:
        """Return the share of malicious reports that a request names in any form."""
        return _parse_share(value)

    def has_outcome(self, name: str, assume_malicious: Any) -> bool:
        """Return whether the outcome of a study with a share of malicious reports needs no computation."""
        malicious = _parse_share(assume_malicious)
        return not malicious or (name, malicious) in self._outcomes

    def drawing_turn(self) -> AbstractContextManager[None]:
        """Return a context for drawing a report: one at a time, so that repeated requests occupy one core at most."""
        return self._turn(self._drawing_lock, self._drawing_queue)

    def outcome(self, name: str, assume_malicious: Any = 0) -> Outcome:
        """Return the outcome of a study, computed again from the stored totals: the first call takes seconds.

        Parameters
        ----------
        name
            The name of the study.
        assume_malicious
            The share of each round's reports that may be made up (``"1%"``): intervals allow for any content.
        """
        malicious = _parse_share(assume_malicious)
        self.result(name)
        outcome = self._outcomes.get((name, malicious))
        if outcome is not None:
            return outcome
        with self._turn(self._replay_lock, self._replay_queue):  # repeated requests occupy one core at most
            core = self._ended_cores.get(name)
            if core is None:
                core = StudyCore(self.plan(name))
                core.resume(self.store.rounds(name))
                keep_newest(self._ended_cores, name, core, _MAX_ENDED_CORES)
            return keep_newest(self._outcomes, (name, malicious), core.outcome(malicious), _MAX_OUTCOMES)

    def export(self, name: str, assume_malicious: Any = 0) -> dict[str, Any]:
        """Return everything public of a study, so that a third party can check it: no report, no token."""
        malicious = _parse_share(assume_malicious)
        fields = ("ask", "question", "signature", "people", "heard")
        rounds = [
            {"round": stored.number, "state": str(stored.state), **{field: getattr(stored, field) for field in fields}}
            for stored in self.store.rounds(name)
        ]
        signed, record = self.signed(name), self.record(name)
        widened = {"result_with_liars": self.result(name, malicious)} if malicious else {}
        return {**signed, "id": record.id, "rounds": rounds, "result": self.store.result(name), **widened}

    def texts(self, name: str) -> dict[str, Any]:
        """Return all signed texts of a study: anybody can compare them with the texts that a device received."""
        questions = [
            {"round": stored.number, "question": stored.question, "signature": stored.signature}
            for stored in self.store.rounds(name)
            if stored.question is not None
        ]
        return {**self.signed(name), "questions": questions}


def keep_newest(cache: dict[K, V], key: K, value: V, limit: int) -> V:
    """Return a value after adding it to a cache, which then has its newest `limit` values."""
    cache[key] = value
    while len(cache) > limit:
        cache.pop(next(iter(cache)), None)
    return value


def _parse_share(value: Any) -> Fraction:
    """Return the share of malicious reports of a request."""
    try:
        return parse_share("assume_malicious", value)
    except MisuseError as error:
        raise RefusedRequest(Reason.MALFORMED, str(error)) from None
