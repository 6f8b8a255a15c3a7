"""A collector: carries out what the core decides, and stores it. No HTTP here, and no statement of a database.

Everything it remembers by itself can be made again from the store: conversations, which stay alive between rounds, and
the rounds' questions. So any number of collectors may work on one store, and any of them may stop at any moment.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from secrets import token_bytes, token_hex
from time import time
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..checks import parse_share
from ..errors import ClusterError, DiscreetError, InputError, MisuseError
from ..local.study import Ask, Outcome, parse_round
from ..wording import number_of
from ._core import (
    AddedUp,
    AddUp,
    CloseRound,
    Conclude,
    DraftRound,
    OpenRound,
    Step,
    StoredRound,
    StudyCore,
    add_up,
    as_text,
    minimum_of,
    quota_of,
)
from ._documents import question_document, study_document, study_id
from ._reasons import OUTCOMES, REASONS, Reason, RefusedRequest
from ._signing import Signer
from ._states import RoundEvent, RoundState
from ._study_file import STUDY_NAME, StudyPlan, line_flaw
from ._uploads import Upload, hashed
from .storage import StoreError, StudyRecord, StudyStore, decide_codes

Scope: TypeAlias = Literal["operate", "enrol", "watch"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MOST_TOKENS = 1_000_000  # that are made at once
MOST_LABEL = 200  # letters of the label of an operator's token, as many as the title of a study has

# Seconds. NTP keeps clocks within one; the shortest deadline that can be written is a few minutes in practice.
CLOCK_TOLERANCE = 10.0

_ENDED = 4  # studies whose conversations are kept after their end, for whoever asks what liars could have done
_LISTED = 12  # digits of its hash by which an operator's token is listed
_OUTCOMES = 16  # outcomes that are kept, by study and part of liars
_QUEUE, _PATIENCE = 4, 30  # how many may wait for what takes long, and for how many seconds
_AGAIN = 60  # seconds after which a round that could not be added up is tried again
_BEFORE_DEADLINE = 'Wait for more. Or insist, with --yes or {"few": true}: that cannot be undone.'
_AFTER_DEADLINE = (
    'Its deadline has passed, so no more will come. Close it as it is, with --yes or {"few": true}, which cannot be '
    "undone. Or open the study again under another name, with more hours."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What devices are told: the state of a study, and its questions with their signatures."""

    state: str
    questions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class ClosedRounds:
    """How many rounds were closed, which of them without any report, and whether a study ended without any."""

    rounds: int
    without_reports: tuple[int, ...] = ()
    ended_empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Scrubbed:
    """Of how many rounds the reports were deleted, and whether the store's own files are rid of them as well."""

    rounds: int
    tidy: bool


class NotAddedUpError(ClusterError):
    """A closed round could not be added up: nothing of it was released, and its reports are where they were."""


# Adds up packed reports of a round, as `add_up` does.
Adder: TypeAlias = Callable[..., AddedUp]


class StudyCollector:
    """Runs the studies of a store.

    Parameters
    ----------
    store
        Where they are kept.
    signer
        Signs studies and questions, or a function that returns what does, which is called when something is signed
        first: whoever reads alone needs no key. None where there is no key, and then nothing can be signed.
    now
        The time in seconds; it decides when a round with a deadline closes, and when what failed is tried again. None
        for the store's clock, which all services that share the store go by.
    adder
        Adds up the reports of a round that is closed: on this machine, or elsewhere.
    """

    def __init__(
        self,
        store: StudyStore,
        signer: Signer | Callable[[], Signer] | None,
        *,
        now: Callable[[], float] | None = None,
        adder: Adder = add_up,
    ) -> None:
        self.store, self._signer_source, self.now, self._adder = store, signer, now or store.now, adder
        self._failed: dict[str, tuple[float, str]] = {}  # when a study was last stuck at adding up, and why
        self._cores: dict[str, StudyCore] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._records: dict[str, StudyRecord] = {}
        self._plans: dict[str, StudyPlan] = {}
        self._guard, self._flushing, self._ending = threading.Lock(), threading.Lock(), threading.Lock()
        self._asking, self._widening = threading.BoundedSemaphore(_QUEUE), threading.BoundedSemaphore(_QUEUE)
        self._minima: dict[tuple[str, int], int] = {}  # by study and round, whose question never changes
        self._with_result: set[str] = set()
        self._ended: dict[str, StudyCore] = {}  # of studies that were asked about after their end
        self._outcomes: dict[tuple[str, Fraction], Outcome] = {}
        self._refused: Counter[tuple[str, str]] = Counter()
        self.moves = 0  # how often this collector has moved a round: what is kept of questions is old then

    def open_study(self, plan: StudyPlan) -> StudyRecord:
        """Publish a study, and open its first rounds. The same plan again changes nothing; another one is refused."""
        StudyCore(plan)  # what it would ask first is looked at before anything is stored
        self.check_key()
        made = study_document(plan, self.signer)
        record = StudyRecord(
            name=plan.name,
            id=study_id(made.text),
            plan=plan.to_json(),
            text=made.text,
            signature=made.signature,
            key=self.signer.key,
        )
        if not self.store.add_study(record) and self.record(plan.name) != record:
            raise RefusedRequest(
                Reason.STUDY_EXISTS,
                f"There is a study {plan.name!r} with other items, settings or closing already, and a study that is "
                "open does not change: give this one another name.",
            )
        self.advance(plan.name)
        return record

    @property
    def signer(self) -> Signer:
        """What signs studies and questions."""
        if self._signer_source is None:
            raise InputError("There is no signing key in the directory of this service: put back the copy of it.")
        if not isinstance(self._signer_source, Signer):
            self._signer_source = self._signer_source()
        return self._signer_source

    def check_key(self, name: str | None = None) -> None:
        """Refuse to go on with a study that another key has signed, or with any of them: devices would refuse it."""
        for record in self.store.studies() if name is None else [self.record(name)]:
            key = None if self._signer_source is None else self.signer.key
            if record.key != key:
                here = "there is no key" if key is None else f"the key is {key[:16]}…"
                raise InputError(
                    f"The study {record.name!r} is signed with the key {record.key[:16]}…, and here {here}. Devices "
                    "refuse what another key has signed: put the signing.key that the study was opened with into the "
                    "directory of the service. Services that share a store share the key."
                )

    def check_clock(self) -> None:
        """Refuse to serve where the clock of this machine and that of the store differ.

        Rounds close by the store's clock, so nothing of a study depends on this one. But signatures, certificates and
        logs do, and an operator would read deadlines that are none.
        """
        before = time()
        stored = self.store.now()
        after = time()
        # The store read its clock at some moment in between.
        ahead = max(before - stored, 0.0) or min(after - stored, 0.0)
        if abs(ahead) > CLOCK_TOLERANCE:
            direction = "ahead of" if ahead > 0 else "behind"
            raise InputError(
                f"The clock of this machine is {abs(ahead):,.0f} seconds {direction} that of the database, and "
                f"{CLOCK_TOLERANCE:g} are allowed: set both by NTP. Nothing is served until then."
            )

    def record(self, name: str) -> StudyRecord:
        """Return a study; it never changes, so it is read once."""
        if name not in self._records:
            found = self.store.study(name) if STUDY_NAME.fullmatch(name) else None
            if found is None:
                raise RefusedRequest(Reason.UNKNOWN_STUDY)
            self._records[name] = found
        return self._records[name]

    def running_record(self, name: str) -> StudyRecord:
        """Return a study that has not ended; one that has takes neither reports nor people."""
        record = self.record(name)
        if self.has_ended(name):
            raise RefusedRequest(Reason.ROUND_CLOSED, f"The study {name!r} has ended.")
        return record

    def has_ended(self, name: str) -> bool:
        """Return whether a study has a result; once it has one, that is not read again."""
        if name not in self._with_result and self.store.has_result(name):
            self._with_result.add(name)
        return name in self._with_result

    def plan(self, name: str) -> StudyPlan:
        """Return what a study was opened with."""
        if name not in self._plans:
            self._plans[name] = StudyPlan.from_json(self.record(name).plan)
        return self._plans[name]

    def _lock(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())

    @contextmanager
    def _turn(self, lock: threading.Lock, queue: threading.BoundedSemaphore) -> Iterator[None]:
        """Hold a lock for somebody who asked. Few may wait for one: others are sent away, or all threads would wait."""
        if not queue.acquire(blocking=False):
            raise RefusedRequest(Reason.BUSY)
        try:
            if not lock.acquire(timeout=_PATIENCE):
                raise RefusedRequest(Reason.BUSY)
            try:
                yield
            finally:
                lock.release()
        finally:
            queue.release()

    def _core(self, name: str) -> StudyCore:
        """Return the conversation of a study, begun anew where this collector has not led it yet."""
        if name not in self._cores:
            self._cores[name] = StudyCore(self.plan(name))
        return self._cores[name]

    def advance(self, name: str) -> None:
        """Do all that follows from what is stored: draft, open, close, add up, scrub, conclude."""
        with self._lock(name):
            core = self._core(name)
            while True:
                done = self.has_ended(name)
                steps = core.steps(self.store.rounds(name), self.now(), concluded=done)
                if not steps:
                    return
                for step in steps:
                    self._carry_out(name, step)

    def _move(self, name: str, number: int, event: RoundEvent, **more: Any) -> bool:
        moved = self.store.move(name, number, event, **more)
        self.moves += moved
        return moved

    def _carry_out(self, name: str, step: Step) -> None:
        store = self.store
        if isinstance(step, DraftRound):
            store.add_round(name, step.number, step.ask.text())
        elif isinstance(step, OpenRound):
            self.check_key(name)
            made = question_document(step.ask, self.record(name).id, step.number, step.closes, self.signer)
            self._move(
                name, step.number, RoundEvent.OPEN, question=made.text, signature=made.signature, closes=step.closes
            )
        elif isinstance(step, CloseRound):
            self._move(name, step.number, RoundEvent.CLOSE)
        elif isinstance(step, AddUp):
            self._move(name, step.number, RoundEvent.RELEASE, heard=self._added(name, step).text())
        elif isinstance(step, Conclude):
            store.conclude(name, step.result)
        else:
            self._move(name, step.number, RoundEvent.SCRUB)

    def _added(self, name: str, step: AddUp) -> AddedUp:
        """Return what a round adds up to. Where that fails the round stays closed, and is added up another time."""
        number, wide = step.number, step.ask.oracle.codec.width
        try:
            added = self._adder(step.ask, lambda: self.store.blocks(name, number, wide), screen=self.plan(name).screen)
        except StoreError:
            raise
        except DiscreetError as error:
            self._failed[name] = self.now(), str(error)
            raise NotAddedUpError(
                f"Round {number + 1} of the study {name!r} is closed, and its reports are not added up yet: {error} "
                f"They are kept. `discreet study close {name}` tries again at once, and a service that runs does by "
                "itself."
            ) from None
        self._failed.pop(name, None)
        return added

    def tick(self) -> None:
        """Go on with every study that has not ended; one that fails is told of, and does not stop the others."""
        self.flush()
        for record in self.store.studies():
            try:
                failed, _ = self._failed.get(record.name, (None, ""))
                waits = failed is not None and self.now() < failed + _AGAIN
                if not waits and not self._over(record.name):
                    self.advance(record.name)
            except Exception as error:
                _log.warning("The study %s does not go on: %s", record.name, error)
        self.store.tidy()

    def _over(self, name: str) -> bool:
        over = self.has_ended(name) and all(
            one.state is RoundState.SCRUBBED or self.plan(name).scrub == "hand" for one in self.store.rounds(name)
        )
        if over:
            self._cores.pop(name, None)  # its conversation is not needed any more
        return over

    def known_ask(self, name: str, number: int) -> Ask | None:
        """Return what a round asks that this collector has led up to, at once.

        It may have closed since: the store has the last word on each report.
        """
        core = self._cores.get(name)
        return core.asks[number] if core is not None and number < len(core.asks) else None

    def ask(self, name: str, number: int) -> Ask | None:
        """Return what a round asks, or None where it is not open; what another collector opened is caught up with."""
        known = self.known_ask(name, number)
        if known is not None:
            return known
        self.record(name)
        state = {one.number: one.state for one in self.store.rounds(name)}.get(number)
        if state is None:
            raise RefusedRequest(Reason.UNKNOWN_ROUND)
        if state is not RoundState.OPEN:
            return None  # the conversation need not be taken up for that
        with self._turn(self._lock(name), self._asking):
            core = self._core(name)
            core.steps(self.store.rounds(name), self.now(), concluded=True)
        return core.asks[number]

    def settled(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Return a code for each report to a round that is not open: some may have been counted before."""
        codes = decide_codes(upload, self.store.spent(name, upload.tokens), round_is_open=False)
        self._count_codes(name, codes)
        return codes

    def take(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Count reports, and return a code for each; a round that is full is closed."""
        codes = self.counted(name, upload)
        self.store.after_taking()
        return codes

    def counted(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Count reports as :meth:`take` does, for whoever calls the store's `after_taking` once they are answered."""
        codes, people = self.store.take(name, upload)
        core = self._cores.get(name)
        quota = None if core is None else core.quota(upload.round)
        if quota is not None and people >= quota:
            self._move(name, upload.round, RoundEvent.CLOSE)
        self._count_codes(name, codes)
        return codes

    def _count_codes(self, name: str, codes: NDArray[np.uint8]) -> None:
        for code, many in Counter(codes.tolist()).items():
            if code not in OUTCOMES:
                self.count_refused(name, REASONS[code], many)

    def count_refused(self, name: str, reason: Reason, many: int = 1) -> None:
        """Note that reports were refused; `flush` stores it."""
        with self._guard:
            self._refused[name, str(reason)] += many

    def flush(self) -> None:
        """StudyStore how many reports were refused since the last time."""
        with self._flushing:  # whoever reads the counts after this sees them all
            with self._guard:
                waiting, self._refused = self._refused, Counter()
            try:
                for name in {name for name, _ in waiting}:
                    mine = {reason: many for (one, reason), many in waiting.items() if one == name}
                    self.store.count_refused(name, mine)
                    for reason in mine:
                        del waiting[name, reason]
            finally:  # what could not be stored, of this study and of those after it, is stored the next time
                with self._guard:
                    self._refused.update(waiting)

    def listed(self) -> list[dict[str, Any]]:
        """Return all studies, with their states."""
        told = []
        for record in self.store.studies():
            plan = self.plan(record.name)
            state = self.questions(record.name).state
            told.append({"name": plan.name, "title": plan.title, "state": state, "who": plan.who})
        return told

    def questions(self, name: str) -> Questions:
        """Return the state of a study, and what is asked now."""
        self.record(name)
        rounds = self.store.rounds(name)
        opened = [one for one in rounds if one.state is RoundState.OPEN]
        if self.has_ended(name):
            state = "released"
        elif opened:
            state = "open"
        else:
            state = "waiting"
        return Questions(state=state, questions=tuple((one.question or "", one.signature or "") for one in opened))

    def progress(self, name: str) -> dict[str, Any]:
        """Return how far a study has come: counts and states only."""
        plan, told = self.plan(name), self.questions(name)
        rounds = []
        for one in self.store.rounds(name):
            ask = json.loads(one.ask)
            start, stop = ask["who"]
            rounds.append(
                {
                    "round": one.number,
                    "name": ask["name"],
                    "state": str(one.state),
                    "people": one.people,
                    "share": round((stop - start) / (1 << 32), 6),
                    "quota": quota_of(plan, start, stop),
                    "minimum": self.minimum(name, one),
                    "closes": one.closes,
                    "oracle": ask["question"]["oracle"]["oracle"],
                    "values": ask["question"]["oracle"].get("size", 1),
                }
            )
        return {
            "name": plan.name,
            "title": plan.title,
            "state": told.state,
            "protocol": plan.protocol,
            "epsilon": plan.epsilon,
            "items": len(plan.asked),
            "close": plan.close,
            "people": sum(one["people"] for one in rounds),
            "rounds": rounds,
        }

    def status(self, name: str) -> dict[str, Any]:
        """Return what an operator sees: progress, tokens, reports refused by reason, and what screening saw."""
        self.flush()
        enrolled = self.store.count_tokens(name)
        tokens = {"made": enrolled.tokens, "spent": enrolled.spent}
        alarms = []
        for one in self.store.rounds(name):
            seen = json.loads(one.heard) if one.heard is not None else {}
            if seen.get("left_out") or seen.get("alarms"):
                alarms.append({"round": one.number, "left_out": seen["left_out"], "alarms": seen["alarms"]})
        now = self.now()
        overdue = [
            one.number
            for one in self.store.rounds(name)
            if one.state is RoundState.OPEN and one.closes is not None and one.closes <= now
        ]
        _, why = self._failed.get(name, (0, ""))
        stuck = {"not_added_up": why} if why else {}
        return {
            **self.progress(name),
            "tokens": tokens,
            "refused": self.store.refused(name),
            "alarms": alarms,
            "overdue": overdue,
            **stuck,
        }

    def close(self, name: str, *, few: bool = False) -> ClosedRounds:
        """Close the rounds that are open, go on, and return which rounds were closed.

        Parameters
        ----------
        name
            The study.
        few
            Whether to close rounds with fewer reports than their minimum as well, which cannot be undone.
        """
        self.check_key(name)  # before a round is closed that none could follow
        opened = [one for one in self.store.rounds(name) if one.state is RoundState.OPEN]
        for one in opened:
            minimum = self.minimum(name, one)
            if not few and one.people < minimum:
                # Devices answer no question that has expired: nobody is told to wait for what cannot come.
                has_expired = one.closes is not None and one.closes <= self.now()
                raise RefusedRequest(
                    Reason.TOO_FEW_REPORTS,
                    f"Round {one.number + 1} of the study {name!r} has {number_of(one.people, 'report')}, and its "
                    f"minimum is {minimum:,}: with fewer, its intervals would say next to nothing. "
                    + (_AFTER_DEADLINE if has_expired else _BEFORE_DEADLINE),
                )
        closed = [one.number for one in opened if self._move(name, one.number, RoundEvent.CLOSE)]
        self.advance(name)
        report_counts = {one.number: one.people for one in self.store.rounds(name)}
        return ClosedRounds(
            rounds=len(closed),
            without_reports=tuple(number for number in closed if not report_counts[number]),
            ended_empty=bool(closed) and self.has_ended(name) and not any(report_counts.values()),
        )

    def minimum(self, name: str, stored: StoredRound) -> int:
        """Return the number of reports with fewer of which a round closes only where an operator insists."""
        known = self._minima.get((name, stored.number))
        if known is None:
            known = self._minima[name, stored.number] = minimum_of(self.plan(name), parse_round(stored.ask))
        return known

    def save_reports(self, name: str, number: int, folder: Path) -> int:
        """Write the reports of a round that takes no more into a folder, as Parquet, and return how many they are.

        They are random already, and yet not for everybody: the files are for their owner alone.
        """
        from ._report_files import save_reports

        self.record(name)
        rounds = {one.number: one for one in self.store.rounds(name)}
        if number not in rounds:
            raise RefusedRequest(Reason.UNKNOWN_ROUND)
        state = rounds[number].state
        if state not in (RoundState.CLOSED, RoundState.RELEASED):
            gone = state is RoundState.SCRUBBED
            raise MisuseError(
                f"Round {number + 1} of the study {name!r} is {state}: "
                + ("its reports are gone." if gone else "its reports can be written when it is closed.")
            )
        ask = parse_round(rounds[number].ask)
        return save_reports(folder, ask, self.store.blocks(name, number, ask.oracle.codec.width))

    def scrub(self, name: str) -> Scrubbed:
        """Delete the reports of all rounds that are released."""
        self.record(name)
        ready = [one.number for one in self.store.rounds(name) if one.state is RoundState.RELEASED]
        many = sum(self.store.move(name, number, RoundEvent.SCRUB) for number in ready)
        return Scrubbed(rounds=many, tidy=self.store.tidy())

    def result(self, name: str, assume_malicious: Any = 0) -> str:
        """Return what a study ended with, as JSON; with liars, its intervals hold whatever those have sent."""
        malicious = _part(assume_malicious)
        self.record(name)
        found = self.store.result(name)
        if found is None:
            raise RefusedRequest(Reason.NOT_RELEASED)
        return as_text(self.outcome(name, malicious)) if malicious else found

    def outcome(self, name: str, assume_malicious: Any = 0) -> Outcome:
        """Return what a study ended with, worked out anew from what its rounds added up to: at first it takes seconds.

        Parameters
        ----------
        name
            The study.
        assume_malicious
            Which part of each round's reports may be made up, such as ``"1%"``: intervals hold whatever is in those.
        """
        malicious = _part(assume_malicious)
        self.result(name)
        known = self._outcomes.get((name, malicious))
        if known is not None:
            return known
        with self._turn(self._ending, self._widening):  # whoever asks again and again keeps one core busy at most
            if name not in self._ended:
                core = StudyCore(self.plan(name))
                core.steps(self.store.rounds(name), self.now(), concluded=True)
                self._ended[name] = core
                while len(self._ended) > _ENDED:
                    del self._ended[next(iter(self._ended))]
            found = self._ended[name].outcome(malicious)
            self._outcomes[name, malicious] = found
            while len(self._outcomes) > _OUTCOMES:
                del self._outcomes[next(iter(self._outcomes))]
            return found

    def export(self, name: str, assume_malicious: Any = 0) -> dict[str, Any]:
        """Return everything public of a study, so that others can check it: no report, no token."""
        malicious = _part(assume_malicious)
        record, found = self.record(name), self.store.result(name)
        signed = {"study": record.text, "signature": record.signature, "key": record.key}
        rounds = [
            {
                "round": one.number,
                "state": str(one.state),
                "ask": one.ask,
                "question": one.question,
                "signature": one.signature,
                "people": one.people,
                "heard": one.heard,
            }
            for one in self.store.rounds(name)
        ]
        widened = {"result_with_liars": self.result(name, malicious)} if malicious else {}
        return {**signed, "id": record.id, "rounds": rounds, "result": found, **widened}

    def texts(self, name: str) -> dict[str, Any]:
        """Return all that was signed of a study: anybody can compare it with what a device was shown."""
        record = self.record(name)
        asked = [
            {"round": one.number, "question": one.question, "signature": one.signature}
            for one in self.store.rounds(name)
            if one.question is not None
        ]
        return {"study": record.text, "signature": record.signature, "key": record.key, "questions": asked}

    def tokens(self, name: str, many: int) -> list[str]:
        """Make single-use tokens of a study; their hashes are all that stays."""
        if not 1 <= many <= MOST_TOKENS:
            raise RefusedRequest(Reason.MALFORMED, f"From 1 to {MOST_TOKENS:,} tokens are made at once.")
        self.running_record(name)
        made = [token_bytes(16) for _ in range(many)]
        self.store.enrol(name, [hashed(one) for one in made])
        return [one.hex() for one in made]

    def enrol(self, name: str) -> str:
        """Make one token for whoever asks, where anyone may take part."""
        if self.plan(name).who != "anyone":
            raise RefusedRequest(Reason.NOT_FOR_ANYONE)
        return self.tokens(name, 1)[0]

    def add_operator(self, scopes: list[str], label: str = "") -> str:
        """Make an operator's token; its hash is all that stays."""
        strange = [one for one in scopes if one not in SCOPES]
        if strange or not scopes:
            raise MisuseError(
                f"A token of an operator is for {', '.join(SCOPES)}, one or more of them; "
                f"{', '.join(map(repr, strange)) or 'none'} was given."
            )
        flaw = line_flaw(label, MOST_LABEL, '"the night shift"') if label else ""
        if flaw:
            raise MisuseError(f"label {flaw}")
        token = token_hex(32)
        self.store.add_operator(hashed(token.encode()), scopes, label)
        return token

    def operators(self) -> list[dict[str, Any]]:
        """Return the operators' tokens that there are: by what each can be revoked, what it is for, and whose it is."""
        return [
            {"id": one.token.hex()[:_LISTED], "scopes": sorted(one.scopes), "label": one.label}
            for one in self.store.operators()
        ]

    def revoke_operator(self, listed: str) -> None:
        """Revoke an operator's token, by what it is listed by: it is for nothing any more, from now on."""
        found = [one.token for one in self.store.operators() if one.token.hex()[:_LISTED] == listed]
        if not found:
            raise RefusedRequest(Reason.UNKNOWN_PLACE, f"No operator's token is listed by {listed!r:.40}.")
        for one in found:
            self.store.remove_operator(one)

    def scopes(self, token: str) -> frozenset[str]:
        """Return what an operator's token is for: nothing, where it is none."""
        return self.store.operator(hashed(token.encode())) or frozenset()


def _part(given: Any) -> Fraction:
    """Return which part of the reports may be made up, as it was asked for."""
    try:
        return parse_share("assume_malicious", given)
    except MisuseError as error:
        raise RefusedRequest(Reason.MALFORMED, str(error)) from None
