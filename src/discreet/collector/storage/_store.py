"""What a store does, whichever it is: each method is one transaction, done as a whole or not at all.

What is spent and what is stored for it are one transaction that leaves no link between them: a token is marked as
spent, a report is put at a random place in a block of others, and neither names the other or a time. `docs/studies.md`
says what somebody who reads the store's own files can still tell.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import DiscreetError
from ...local.oracle_steps import Words
from .. import ALREADY_COUNTED, CODES, COUNTED, Reason, RoundEvent, StoredRound, Upload

BLOCK = 1024  # reports that lie together, in random order
UNSPENT = bytes(16)  # what a token is stored with until it is spent


class StoreError(DiscreetError):
    """The store cannot be reached, or cannot be written to; nothing was half done. Trying again may help."""


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """A study as it is stored: what it was opened with, which never changes."""

    name: str
    id: str
    plan: str
    text: str
    signature: str
    key: str


@dataclass(frozen=True, kw_only=True)
class Enrolled:
    """How many tokens a study has, and how many of them are spent."""

    tokens: int
    spent: int


@dataclass(frozen=True, kw_only=True)
class OperatorRecord:
    """The hash of an operator's token, what it is for, and whose it is."""

    token: bytes
    scopes: frozenset[str]
    label: str


class StudyStore(ABC):
    """Keeps studies. All methods may be called from any thread."""

    kind: str

    @abstractmethod
    def close(self) -> None:
        """Let go of everything that is held."""

    @abstractmethod
    def check(self) -> None:
        """Raise a `StoreError` where the store cannot be read or written to."""

    @abstractmethod
    def now(self) -> float:
        """Return the time by the store's clock, in seconds: the one clock of all services that share the store."""

    @abstractmethod
    def add_study(self, record: StudyRecord) -> bool:
        """Store a new study, and return whether its name was free."""

    @abstractmethod
    def studies(self) -> list[StudyRecord]:
        """Return all studies, in the order in which they were opened."""

    @abstractmethod
    def study(self, name: str) -> StudyRecord | None:
        """Return the study of that name."""

    @abstractmethod
    def rounds(self, name: str) -> list[StoredRound]:
        """Return the rounds of a study, in the order of their numbers."""

    @abstractmethod
    def add_round(self, name: str, number: int, ask: str) -> None:
        """Store a drafted round; one that is there already stays as it is."""

    @abstractmethod
    def move(
        self,
        name: str,
        number: int,
        event: RoundEvent,
        *,
        question: str | None = None,
        signature: str | None = None,
        closes: int | None = None,
        heard: str | None = None,
    ) -> bool:
        """Move a round on, with what the event adds to it, and return whether it was where the event begins.

        To scrub a round deletes its reports with the same transaction.
        """

    def after_taking(self) -> None:  # noqa: B027
        """Do what can be done at once so that the store's own files tell less of the reports that were just taken."""

    @abstractmethod
    def tidy(self, *, wait: float = 0) -> bool:
        """Take away what the store's own files still show of earlier transactions: what came together, what is deleted.

        Returns whether nothing of that is left, as far as the store can know; others who read it may be in the way, for
        whom it waits so many seconds. It is called again and again, so what could not be done once is done later.
        """

    @abstractmethod
    def enrol(self, name: str, tokens: Sequence[bytes]) -> None:
        """Store hashes of new tokens."""

    @abstractmethod
    def enrolled(self, name: str) -> Enrolled:
        """Return how many tokens there are."""

    @abstractmethod
    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Count reports: spend their tokens and store them, together. Return a code for each, and the round's people.

        Reports that have a code already are left alone.
        """

    @abstractmethod
    def spent(self, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return, of the tokens that are known, what they were spent with, or None."""

    @abstractmethod
    def blocks(self, name: str, number: int, wide: int) -> Iterator[Words]:
        """Yield the reports of a round, of so many words each, a few at a time and in no order."""

    @abstractmethod
    def conclude(self, name: str, result: str) -> bool:
        """Store what a study ends with, once, and return whether nothing was stored before."""

    @abstractmethod
    def has_result(self, name: str) -> bool:
        """Return whether a study has ended."""

    @abstractmethod
    def result(self, name: str) -> str | None:
        """Return what a study ended with."""

    @abstractmethod
    def count_refused(self, name: str, counts: Mapping[str, int]) -> None:
        """Add to how many reports were refused for each reason."""

    @abstractmethod
    def refused(self, name: str) -> dict[str, int]:
        """Return how many reports were refused for each reason."""

    @abstractmethod
    def add_operator(self, token: bytes, scopes: Iterable[str], label: str) -> None:
        """Store the hash of an operator's token, and what it is for."""

    @abstractmethod
    def operator(self, token: bytes) -> frozenset[str] | None:
        """Return what the operator's token of this hash is for, or None where there is none."""

    @abstractmethod
    def operators(self) -> list[OperatorRecord]:
        """Return all operators' tokens, by label."""

    @abstractmethod
    def remove_operator(self, token: bytes) -> None:
        """Forget the operator's token of this hash."""


def outcome_of(spent: bytes | None, key: bytes, *, known: bool, open_: bool) -> int:
    """Return the code of a report, by what is stored for its token."""
    if not known:
        return CODES[Reason.TOKEN_UNKNOWN]
    if spent == key:
        return ALREADY_COUNTED  # also where the round has closed since: its answer was lost on the way
    if spent is not None:
        return CODES[Reason.TOKEN_SPENT]
    return COUNTED if open_ else CODES[Reason.ROUND_CLOSED]


def decide(upload: Upload, spent: Mapping[bytes, bytes | None], *, open_: bool) -> NDArray[np.uint8]:
    """Return the code of every report, one after another, from what is stored for the tokens that are known.

    A token that comes twice in one upload is spent by the first.
    """
    codes = upload.codes.copy()
    now: dict[bytes, bytes | None] = {}
    for at in np.flatnonzero(codes == COUNTED).tolist():
        token, key = upload.tokens[at], upload.keys[at]
        before = now.get(token, spent.get(token))
        codes[at] = outcome_of(before, key, known=token in spent, open_=open_)
        if codes[at] == COUNTED:
            now[token] = key
    return codes


def spent_with(used: bytes) -> bytes | None:
    """Return what a token was spent with, from how it is stored, or None."""
    return None if used == UNSPENT else used


def shuffled(words: Words) -> Words:
    """Return reports in an order that tells nothing: drawn from the system's secure source."""
    drawn = np.frombuffer(os.urandom(8 * len(words)), np.uint64)
    return words[np.argsort(drawn, kind="stable")]


def random_place() -> int:
    """Return where a new block is kept: a random number, so that places tell no order."""
    return int.from_bytes(os.urandom(8), "little") >> 1


def packed_bytes(words: Words) -> bytes:
    """Return reports as they are stored."""
    return np.ascontiguousarray(words, "<u4").tobytes()


def words_of(content: bytes, wide: int) -> Words:
    """Return stored reports."""
    return np.frombuffer(content, "<u4").astype(np.uint32, copy=False).reshape(-1, wide)
