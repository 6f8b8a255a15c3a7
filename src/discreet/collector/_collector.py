"""The collector: it carries out the steps that the core decides, and stores their results.

This module has no HTTP and no statement of a database. Everything in its memory can be made again from the store:
conversations, which stay alive between rounds, and the questions of rounds. So any number of collectors may work on one
store, and each may stop at any moment.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable
from secrets import token_bytes, token_hex
from time import time
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import ClusterError, DiscreetError, InputError, MisuseError
from ..local.study import Ask
from ..wording import number_of
from ._core import (
    Conclude,
    DraftRound,
    MoveRound,
    RoundTotals,
    Step,
    StoredRound,
    StudyCore,
    add_up,
)
from ._documents import Signer, question_document, study_document, study_id
from ._reader import MAX_WAITING, StudyReader
from ._reasons import OUTCOMES, REASONS, Reason, RefusedRequest
from ._states import RoundEvent, RoundState
from ._study_file import StudyPlan, find_line_flaw
from ._uploads import Upload, hash_token
from .storage import StoreError, StudyRecord, StudyStore, decide_codes

Scope: TypeAlias = Literal["operate", "enrol", "watch"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
# Tokens that are made with one request. Larger: more memory and a longer transaction; smaller: more requests.
MAX_TOKENS = 1_000_000
MAX_LABEL_LETTERS = 200  # of an operator's token; the limit of a study's title too

# Seconds. NTP keeps clocks within one; the shortest useful deadline is a few minutes.
CLOCK_TOLERANCE = 10.0

_OPERATOR_ID_DIGITS = 12  # of the hash of an operator's token: enough to tell all tokens of a service apart
_RETRY_SECONDS = 60  # after which a round that could not be added up is tried again
_BEFORE_DEADLINE = 'Wait for more. Or insist, with --yes or {"few": true}: that cannot be undone.'
_AFTER_DEADLINE = (
    'Its deadline has passed, so no more will come. Close it as it is, with --yes or {"few": true}, which cannot be '
    "undone. Or open the study again under another name, with more hours."
)
_log = logging.getLogger(__name__)


class ClosedRounds(NamedTuple):
    """The closed rounds of a study.

    `rounds` is their number, `without_reports` has the numbers of closed rounds without reports, and `ended_empty` says
    whether the study ended without any report.
    """

    rounds: int
    without_reports: tuple[int, ...] = ()
    ended_empty: bool = False


class ScrubbedRounds(NamedTuple):
    """The number of rounds with deleted reports, and whether the store's own files are free of the reports too."""

    rounds: int
    tidy: bool


class NotAddedUpError(ClusterError):
    """A closed round could not be added up: its sums are not released, and its reports are kept."""


# A function with the signature of `add_up`.
Adder: TypeAlias = Callable[..., RoundTotals]


class StudyCollector(StudyReader):
    """The studies of a store, run to their ends; as a context manager it closes the store.

    Parameters
    ----------
    store
        The store of the studies.
    signer
        The signer of studies and questions, or a function that returns it and is called before the first signature:
        reading needs no key. None without a key; then signing raises.
    now
        A function that returns the time in seconds, for deadlines and retries. None for the store's clock, which all
        services with this store share.
    adder
        The function that adds up the reports of a closed round, on this machine or in a cluster.
    """

    def __init__(
        self,
        store: StudyStore,
        signer: Signer | Callable[[], Signer] | None,
        *,
        now: Callable[[], float] | None = None,
        adder: Adder = add_up,
    ) -> None:
        super().__init__(store)
        self._signer_source, self.now, self._adder = signer, now or store.now, adder
        self._add_up_failures: dict[str, tuple[float, str]] = {}  # time and message of the last failure, by study
        self._cores: dict[str, StudyCore] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard, self._flush_lock = threading.Lock(), threading.Lock()
        self._ask_queue = threading.BoundedSemaphore(MAX_WAITING)
        self._refused: Counter[tuple[str, str]] = Counter()
        self.moves = 0  # the number of moves by this collector: cached questions are outdated after each

    def __enter__(self) -> StudyCollector:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def open(self, plan: StudyPlan) -> dict[str, str]:
        """Open a study as `open_study` does, and return its name, id and public key."""
        record = self.open_study(plan)
        return {"name": record.name, "id": record.id, "key": record.key}

    def open_study(self, plan: StudyPlan) -> StudyRecord:
        """Publish a study, and open its first rounds.

        An identical plan changes nothing; a different plan under a used name is refused.
        """
        StudyCore(plan)  # raises before anything is stored, where the first question would break the promise
        self.check_key()
        document = study_document(plan, self.signer)
        record = StudyRecord(
            name=plan.name,
            id=study_id(document.text),
            plan=plan.to_json(),
            text=document.text,
            signature=document.signature,
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
        """The signer of studies and questions."""
        if self._signer_source is None:
            raise InputError("There is no signing key in the directory of this service: put back the copy of it.")
        if not isinstance(self._signer_source, Signer):
            self._signer_source = self._signer_source()
        return self._signer_source

    def check_key(self, name: str | None = None) -> None:
        """Check that this key signed a study, or all studies where `name` is None: devices refuse other keys."""
        for record in self.store.studies() if name is None else [self.record(name)]:
            key = None if self._signer_source is None else self.signer.key
            if record.key != key:
                key_here = "there is no key" if key is None else f"the key is {key[:16]}…"
                raise InputError(
                    f"The study {record.name!r} is signed with the key {record.key[:16]}…, and here {key_here}. "
                    "Devices refuse what another key has signed: put the signing.key that the study was opened with "
                    "into the directory of the service. Services that share a store share the key."
                )

    def check_store(self) -> None:
        """Check that the store has room for a report to each round that this collector has asked."""
        widths = [ask.oracle.codec.width for core in list(self._cores.values()) for ask in core.asks]
        self.store.check(max(widths, default=1))

    def check_clock(self) -> None:
        """Check that the clocks of this machine and of the store agree within `CLOCK_TOLERANCE` seconds.

        Rounds close by the store's clock, so no study depends on this machine's clock. But certificates and logs do,
        and an operator would misread deadlines.
        """
        before = time()
        stored = self.store.now()
        after = time()
        # The store read its clock at some moment between the two readings here.
        ahead = max(before - stored, 0.0) or min(after - stored, 0.0)
        if abs(ahead) > CLOCK_TOLERANCE:
            direction = "ahead of" if ahead > 0 else "behind"
            raise InputError(
                f"The clock of this machine is {abs(ahead):,.0f} seconds {direction} that of the database, and "
                f"{CLOCK_TOLERANCE:g} are allowed: set both by NTP. Nothing is served until then."
            )

    def _lock(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())

    def _core(self, name: str) -> StudyCore:
        """Return the conversation of a study, resumed where this collector has not led it before."""
        if name not in self._cores:
            self._cores[name] = StudyCore(self.plan(name))
        return self._cores[name]

    def advance(self, name: str) -> None:
        """Carry out all steps that follow from the store: draft, open, close, add up, scrub, conclude."""
        with self._lock(name):
            core = self._core(name)
            # Each step may allow further steps: a released round, say, lets the protocol draft its next round.
            while steps := core.steps(self.store.rounds(name), self.now(), concluded=self.has_ended(name)):
                for step in steps:
                    self._carry_out(name, step)

    def _carry_out(self, name: str, step: Step) -> None:
        fields: dict[str, Any] = {}
        if isinstance(step, DraftRound):
            self.store.add_round(name, step.number, step.ask.text())
            return
        if isinstance(step, Conclude):
            self.store.conclude(name, step.result)
            return
        if step.event is RoundEvent.OPEN:
            self.check_key(name)
            question = question_document(step.ask, self.record(name).id, step.number, step.closes, self.signer)
            fields = {"question": question.text, "signature": question.signature, "closes": step.closes}
        elif step.event is RoundEvent.RELEASE:
            fields = {"heard": self._add_up(name, step).text()}
        self._move(name, step.number, step.event, **fields)

    def _move(self, name: str, number: int, event: RoundEvent, **fields: Any) -> bool:
        has_moved = self.store.move(name, number, event, **fields)
        self.moves += has_moved
        return has_moved

    def _add_up(self, name: str, step: MoveRound) -> RoundTotals:
        """Return the totals of a round. If that fails, the round stays closed and is added up later."""
        number, word_count = step.number, step.ask.oracle.codec.width
        try:
            totals = self._adder(
                step.ask, lambda: self.store.blocks(name, number, word_count), screen=self.plan(name).screen
            )
        except StoreError:
            raise  # the reports could not be read: the caller reports the store, and not the adder
        except DiscreetError as error:
            self._add_up_failures[name] = self.now(), str(error)
            raise NotAddedUpError(
                f"Round {number + 1} of the study {name!r} is closed, and its reports are not added up yet: {error} "
                f"They are kept. `discreet study close {name}` tries again at once, and a service that runs does by "
                "itself."
            ) from None
        self._add_up_failures.pop(name, None)
        return totals

    def tick(self) -> None:
        """Advance every study that has not ended; log a failure, and go on with the next study."""
        self.flush()
        for record in self.store.studies():
            try:
                failed_at, _ = self._add_up_failures.get(record.name, (None, ""))
                is_waiting = failed_at is not None and self.now() < failed_at + _RETRY_SECONDS
                if not is_waiting and not self._is_complete(record.name):
                    self.advance(record.name)
            except Exception as error:
                _log.warning("The study %s does not go on: %s", record.name, error)
        self.store.tidy()

    def _is_complete(self, name: str) -> bool:
        """Return whether a study has ended and needs no more steps; if so, forget its conversation."""
        is_complete = self.has_ended(name) and all(
            stored.state is RoundState.SCRUBBED or self.plan(name).scrub == "hand" for stored in self.store.rounds(name)
        )
        if is_complete:
            self._cores.pop(name, None)
        return is_complete

    def known_ask(self, name: str, number: int) -> Ask | None:
        """Return a round as the protocol asks it, if this collector has led the study to it; it does not wait.

        The round may have closed since: the store has the last word on each report.
        """
        core = self._cores.get(name)
        return core.asks[number] if core is not None and number < len(core.asks) else None

    def ask(self, name: str, number: int) -> Ask | None:
        """Return a round as the protocol asks it, or None for a closed round; replay rounds of other collectors."""
        ask = self.known_ask(name, number)
        if ask is not None:
            return ask
        if self._stored_round(name, number).state is not RoundState.OPEN:
            return None  # without a replay of the conversation, which may take seconds
        with self._turn(self._lock(name), self._ask_queue):
            core = self._core(name)
            core.resume(self.store.rounds(name))
        return core.asks[number]

    def find_codes(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Return a code for each report to a round that is not open: some reports may have been counted before."""
        codes = decide_codes(upload, self.store.read_keys(name, upload.tokens), round_is_open=False)
        self._note_codes(name, codes)
        return codes

    def take(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Count reports, close their round if it is full, and return one code per report."""
        codes = self.take_reports(name, upload)
        self.store.after_taking()
        return codes

    def take_reports(self, name: str, upload: Upload) -> NDArray[np.uint8]:
        """Count reports as `take` does; the caller answers them first, and then calls the store's `after_taking`."""
        codes, people = self.store.take(name, upload)
        # A full round closes at once, and not with the next tick: later reports would exceed its share of people.
        core = self._cores.get(name)
        quota = None if core is None else core.quota(upload.round)
        if quota is not None and people >= quota:
            self._move(name, upload.round, RoundEvent.CLOSE)
        self._note_codes(name, codes)
        return codes

    def _note_codes(self, name: str, codes: NDArray[np.uint8]) -> None:
        for code, count in Counter(codes.tolist()).items():
            if code not in OUTCOMES:
                self.count_refused(name, REASONS[code], count)

    def count_refused(self, name: str, reason: Reason, count: int = 1) -> None:
        """Note refused reports by reason; `flush` stores their number."""
        with self._guard:
            self._refused[name, str(reason)] += count

    def flush(self) -> None:
        """Store the numbers of reports that were refused since the last call."""
        with self._flush_lock:  # a reader of the counts after this call sees every refusal
            with self._guard:
                waiting, self._refused = self._refused, Counter()
            try:
                for name in {name for name, _ in waiting}:
                    counts = {reason: count for (study, reason), count in waiting.items() if study == name}
                    self.store.count_refused(name, counts)
                    for reason in counts:
                        del waiting[name, reason]
            finally:  # counts that could not be stored are stored with the next call
                with self._guard:
                    self._refused.update(waiting)

    def status(self, name: str) -> dict[str, Any]:
        """Return the status of a study for operators: progress, tokens, refusals by reason, and alarms."""
        self.flush()
        tokens, spent_count = self.store.count_tokens(name)
        rounds, now = self.store.rounds(name), self.now()
        alarms = []
        for stored in rounds:
            totals = json.loads(stored.heard) if stored.heard is not None else {}
            if totals.get("left_out") or totals.get("alarms"):
                alarms.append({"round": stored.number, "left_out": totals["left_out"], "alarms": totals["alarms"]})
        _, failure = self._add_up_failures.get(name, (0, ""))
        return {
            **self.progress(name),
            "tokens": {"made": tokens, "spent": spent_count},
            "refused": self.store.refused(name),
            "alarms": alarms,
            "overdue": [stored.number for stored in rounds if _is_overdue(stored, now)],
            **({"not_added_up": failure} if failure else {}),
        }

    def close(self, name: str, *, below_minimum: bool = False) -> ClosedRounds:
        """Close the open rounds of a study, advance the study, and return the closed rounds.

        Parameters
        ----------
        name
            The name of the study.
        below_minimum
            Whether to close rounds with fewer reports than their minimum as well, which cannot be undone.
        """
        self.check_key(name)  # before a round closes that no other round could follow
        open_rounds = [stored for stored in self.store.rounds(name) if stored.state is RoundState.OPEN]
        for stored in open_rounds:
            minimum = self.minimum(name, stored)
            if not below_minimum and stored.people < minimum:
                # Devices answer no expired question: an operator must not wait for reports that cannot come.
                raise RefusedRequest(
                    Reason.TOO_FEW_REPORTS,
                    f"Round {stored.number + 1} of the study {name!r} has {number_of(stored.people, 'report')}, and "
                    f"its minimum is {minimum:,}: with fewer, its intervals would say next to nothing. "
                    + (_AFTER_DEADLINE if _is_overdue(stored, self.now()) else _BEFORE_DEADLINE),
                )
        closed_numbers = [stored.number for stored in open_rounds if self._move(name, stored.number, RoundEvent.CLOSE)]
        self.advance(name)
        report_counts = {stored.number: stored.people for stored in self.store.rounds(name)}
        return ClosedRounds(
            rounds=len(closed_numbers),
            without_reports=tuple(number for number in closed_numbers if not report_counts[number]),
            ended_empty=bool(closed_numbers) and self.has_ended(name) and not any(report_counts.values()),
        )

    def scrub(self, name: str) -> ScrubbedRounds:
        """Delete the reports of all released rounds of a study."""
        self.record(name)
        released = [stored.number for stored in self.store.rounds(name) if stored.state is RoundState.RELEASED]
        scrubbed = sum(self.store.move(name, number, RoundEvent.SCRUB) for number in released)
        return ScrubbedRounds(rounds=scrubbed, tidy=self.store.tidy())

    def tokens(self, name: str, count: int) -> list[str]:
        """Make single-use tokens of a study, and return them as hexadecimal digits; only their hashes are stored."""
        if not 1 <= count <= MAX_TOKENS:
            raise RefusedRequest(Reason.MALFORMED, f"From 1 to {MAX_TOKENS:,} tokens are made at once.")
        self.running_record(name)
        tokens = [token_bytes(16) for _ in range(count)]
        self.store.enrol(name, [hash_token(token) for token in tokens])
        return [token.hex() for token in tokens]

    def enrol(self, name: str) -> str:
        """Make one token of a study without a list of participants, and return it as hexadecimal digits."""
        if self.plan(name).who != "anyone":
            raise RefusedRequest(Reason.NOT_FOR_ANYONE)
        return self.tokens(name, 1)[0]

    def add_operator(self, scopes: list[str], label: str = "") -> str:
        """Make an operator's token, and return it as hexadecimal digits; only its hash is stored."""
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise MisuseError(
                f"A token of an operator is for {', '.join(SCOPES)}, one or more of them; "
                f"{', '.join(map(repr, unknown)) or 'none'} was given."
            )
        flaw = find_line_flaw(label, MAX_LABEL_LETTERS, '"the night shift"') if label else ""
        if flaw:
            raise MisuseError(f"label {flaw}")
        # 256 random bits cannot be guessed, so a plain hash protects the token (no salt, no slow hash).
        token = token_hex(32)
        self.store.add_operator(hash_token(token.encode()), scopes, label)
        return token

    def operators(self) -> list[dict[str, Any]]:
        """Return the id, scopes and label of each operator's token; the id is for revoking it."""
        return [
            {"id": record.token.hex()[:_OPERATOR_ID_DIGITS], "scopes": sorted(record.scopes), "label": record.label}
            for record in self.store.operators()
        ]

    def revoke_operator(self, operator_id: str) -> None:
        """Delete an operator's token, by its id; requests with the token are refused from now on."""
        tokens = [record.token for record in self.store.operators()]
        revoked = [token for token in tokens if token.hex()[:_OPERATOR_ID_DIGITS] == operator_id]
        if not revoked:
            raise RefusedRequest(Reason.UNKNOWN_PLACE, f"No operator's token is listed by {operator_id!r:.40}.")
        for token in revoked:
            self.store.remove_operator(token)

    def scopes(self, token: str) -> frozenset[str]:
        """Return the scopes of an operator's token: none, where the token is unknown."""
        return self.store.operator(hash_token(token.encode())) or frozenset()


def _is_overdue(stored: StoredRound, now: float) -> bool:
    """Return whether the deadline of an open round has passed."""
    return stored.state is RoundState.OPEN and stored.closes is not None and stored.closes <= now
