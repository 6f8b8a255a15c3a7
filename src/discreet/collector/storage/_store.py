"""The store of studies: each method is one transaction, complete or not at all.

Tokens are spent and their reports stored in one transaction that leaves no link between them: a token is marked as
spent, a report goes to a random place in a block of reports, and neither row names its counterpart or a time.
`docs/studies.md` says which facts a reader of the store's own files can still learn.

The statements here run on both databases. Taking reports, connections and clean-up differ, and have their own code in
`sqlite` and `postgresql`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from ...errors import DiscreetError, MisuseError
from ...local.oracle_steps import Words
from .. import (
    ALREADY_COUNTED,
    CODES,
    COUNTED,
    TRANSITIONS,
    Reason,
    RoundEvent,
    RoundState,
    StoredRound,
    Upload,
)
from ._schema import VERSION

STORE_FILE = "collector.sqlite"
# Reports of one block, in random order. Larger: each report hides among more neighbours; smaller: each upload rewrites
# fewer bytes.
BLOCK = 1024
# The stored value of a token that is not spent. It is as long as a key hash, so that a row keeps its size.
UNSPENT = bytes(16)

_STUDY_COLUMNS = "name, id, plan, text, signature, key"
_ROUND_COLUMNS = "number, state, ask, question, signature, closes, people, heard"
_BLOCKS_PER_READ = 64  # larger: more memory; smaller: more statements
_TOKENS_PER_TRANSACTION = 10_000  # larger: reports wait longer for the lock; smaller: more flushes to the disk
# Bytes of a check. Larger: each check writes more; smaller: a nearly full disk seems to have room.
_MIN_PROBE_BYTES, _MAX_PROBE_BYTES = 64 << 10, 4 << 20
_SCRUB_WAIT_SECONDS = 5  # larger: a scrub returns later; smaller: a concurrent reader more often delays the clean-up


class StoreError(DiscreetError):
    """The store cannot be reached or written to. No transaction is half complete, and a retry may succeed."""


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """The stored record of a study: its plan, id, published text, signature and public key, which never change."""

    name: str
    id: str
    plan: str
    text: str
    signature: str
    key: str


class TokenCounts(NamedTuple):
    """The number of tokens of a study, and the number of spent tokens among them."""

    tokens: int
    spent: int


class OperatorRecord(NamedTuple):
    """The hash of an operator's token, its scopes, and the label of its owner."""

    token: bytes
    scopes: frozenset[str]
    label: str


class StudyStore(ABC):
    """A database of studies. All methods may be called from any thread.

    Attributes
    ----------
    kind
        The name of the database system, as the health page shows it.
    placeholder
        The sign for a value in a statement of this database.
    place
        The path or address of the database, without a password.
    """

    kind: str
    placeholder: str
    place: str
    # The last block of each (study, round) that has room for more reports, as far as this process wrote it.
    _open_blocks: dict[tuple[str, int], int]

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""

    @abstractmethod
    def read_cursor(self) -> AbstractContextManager[Any]:
        """Return a context with a cursor that reads."""

    @abstractmethod
    def write_cursor(self) -> AbstractContextManager[Any]:
        """Return a context with the cursor of a transaction: committed at its end, rolled back on an exception."""

    @abstractmethod
    def now(self) -> float:
        """Return the time by the store's clock, in seconds: the common clock of all services that share the store."""

    @abstractmethod
    def take(self, name: str, upload: Upload) -> tuple[NDArray[np.uint8], int]:
        """Spend the tokens of reports and store the reports, together.

        Return one code per report, and the number of people in the round. Reports that have a code already are skipped.
        """

    @abstractmethod
    def _select_keys(self, cursor: Any, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return the key hash of each token of a study that exists; None for an unspent token."""

    @abstractmethod
    def _remove_block(self, cursor: Any, block: int) -> list[tuple[bytes]]:
        """Delete a block, and return its row of packed reports; no row where the block does not exist."""

    @abstractmethod
    def tidy(self, *, wait: float = 0) -> bool:
        """Remove the traces of earlier transactions from the store's own files: the order of arrival, deleted reports.

        Return whether no trace is left, as far as the store can find out. A concurrent reader may prevent the removal;
        the call waits up to `wait` seconds for it. Services call this method regularly, so a later call completes it.
        """

    def after_taking(self) -> None:  # noqa: B027
        """Remove traces of the reports that were just taken, as far as that is possible at once."""

    def _note_scrub(self) -> None:  # noqa: B027
        """Note that reports were deleted, so that the next clean-up removes their traces."""

    def sql(self, statement: str) -> Any:
        """Return a statement with this database's placeholders."""
        return statement.replace("?", self.placeholder)

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self.read_cursor() as cursor:
            cursor.execute(self.sql(statement), values)
            return list(cursor.fetchall())

    def _change(self, statement: str, *values: Any) -> bool:
        """Run one statement as a transaction, and return whether it changed exactly one row."""
        with self.write_cursor() as cursor:
            cursor.execute(self.sql(statement), values)
            return bool(cursor.rowcount == 1)

    def _check_version(self, cursor: Any) -> None:
        """Check the version of the tables, or write it into new tables."""
        cursor.execute("SELECT version FROM about")
        rows = cursor.fetchall()
        if not rows:
            cursor.execute(self.sql("INSERT INTO about (version) VALUES (?)"), (VERSION,))
        elif rows[0][0] != VERSION:
            raise StoreError(
                f"{self.place} was made by another version of discreet (tables {rows[0][0]}, not {VERSION})."
            )

    def check(self, word_count: int = 1) -> None:
        """Check that the store can be read and written to; otherwise raise a `StoreError`.

        Parameters
        ----------
        word_count
            The number of words of a report. As many bytes as with a report are written: a full disk may have room for
            fewer bytes.
        """
        # A report rewrites its block, so the old block is freed and the new block is written.
        probe = os.urandom(min(max(_MIN_PROBE_BYTES, 2 * BLOCK * 4 * word_count), _MAX_PROBE_BYTES))
        # A block of no study, in a transaction of its own: a transaction that is rolled back writes nothing.
        block = int.from_bytes(os.urandom(8), "little") >> 1
        self._change("INSERT INTO blocks (id, study, round, words) VALUES (?, ?, ?, ?)", block, "", 0, probe)
        self._change("DELETE FROM blocks WHERE study = ?", "")

    def add_study(self, record: StudyRecord) -> bool:
        """Store a new study, and return whether its name was free."""
        return self._change(
            f"INSERT INTO studies (place, {_STUDY_COLUMNS}) "  # noqa: S608
            "SELECT COALESCE(MAX(place), 0) + 1, ?, ?, ?, ?, ?, ? FROM studies WHERE true "
            "ON CONFLICT (name) DO NOTHING",
            *astuple(record),
        )

    def studies(self) -> list[StudyRecord]:
        """Return all studies, in the order in which they were opened."""
        return list(map(_study_record, self._rows(f"SELECT {_STUDY_COLUMNS} FROM studies ORDER BY place")))  # noqa: S608

    def study(self, name: str) -> StudyRecord | None:
        """Return the study of that name, or None."""
        rows = self._rows(f"SELECT {_STUDY_COLUMNS} FROM studies WHERE name = ?", name)  # noqa: S608
        return _study_record(rows[0]) if rows else None

    def rounds(self, name: str) -> list[StoredRound]:
        """Return the rounds of a study, in the order of their numbers."""
        rows = self._rows(f"SELECT {_ROUND_COLUMNS} FROM rounds WHERE study = ? ORDER BY number", name)  # noqa: S608
        fields = [dict(zip(_ROUND_COLUMNS.split(", "), row, strict=True)) for row in rows]
        return [StoredRound(**{**values, "state": RoundState(values["state"])}) for values in fields]

    def add_round(self, name: str, number: int, ask: str) -> None:
        """Store a drafted round; a round of that number that exists stays unchanged."""
        self._change(
            "INSERT INTO rounds (study, number, state, ask, people) VALUES (?, ?, 'drafted', ?, 0) "
            "ON CONFLICT (study, number) DO NOTHING",
            name, number, ask,
        )  # fmt: skip

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
        """Move a round by an event, with the fields that the event adds, and return whether its state allowed it.

        The event SCRUB deletes the reports of the round within its transaction.
        """
        start, end = TRANSITIONS[event]
        with self.write_cursor() as cursor:
            # COALESCE keeps the fields of earlier events: an event has NULL for the fields that it does not set.
            cursor.execute(
                self.sql(
                    "UPDATE rounds SET state = ?, question = COALESCE(question, ?), "
                    "signature = COALESCE(signature, ?), closes = COALESCE(closes, ?), heard = COALESCE(heard, ?) "
                    "WHERE study = ? AND number = ? AND state = ?"
                ),
                (str(end), question, signature, closes, heard, name, number, str(start)),
            )
            has_moved = bool(cursor.rowcount == 1)
            if has_moved and event is RoundEvent.SCRUB:
                cursor.execute(self.sql("DELETE FROM blocks WHERE study = ? AND round = ?"), (name, number))
        # After the commit: an open transaction would keep the old content in the files.
        if has_moved and event is RoundEvent.SCRUB:
            self._note_scrub()
            self.tidy(wait=_SCRUB_WAIT_SECONDS)
        return has_moved

    def blocks(self, name: str, number: int, word_count: int) -> Iterator[Words]:
        """Yield the reports of a round, of `word_count` words each, in blocks and in random order."""
        # Pages by id, each its own transaction: a long read would keep deleted reports in SQLite's log.
        last_block = -1
        while True:
            rows = self._rows(
                "SELECT id, words FROM blocks WHERE study = ? AND round = ? AND id > ? ORDER BY id LIMIT ?",
                name, number, last_block, _BLOCKS_PER_READ,
            )  # fmt: skip
            for _, content in rows:
                yield unpack_words(content, word_count)
            if len(rows) < _BLOCKS_PER_READ:
                return
            last_block = rows[-1][0]

    def _add_reports(self, cursor: Any, name: str, number: int, words: Words) -> None:
        """Store reports in random order: mixed with the last block while that has room, and in new blocks."""
        block = self._open_blocks.get((name, number))
        if block is not None:
            # No row, where the transaction that wrote the block was rolled back.
            rows = self._remove_block(cursor, block)
            words = np.concatenate([*(unpack_words(content, words.shape[1]) for (content,) in rows), words])
        # The order comes from the system's secure source, so that it shows no order of arrival.
        words = words[np.argsort(np.frombuffer(os.urandom(8 * len(words)), np.uint64), kind="stable")]
        parts = [words[start : start + BLOCK] for start in range(0, len(words), BLOCK)]
        # Random ids show no order either. They have 63 bits, as the integers of both databases.
        ids = [int.from_bytes(os.urandom(8), "little") >> 1 for _ in parts]
        cursor.executemany(
            self.sql("INSERT INTO blocks (id, study, round, words) VALUES (?, ?, ?, ?)"),
            [
                (block, name, number, np.ascontiguousarray(part, "<u4").tobytes())
                for block, part in zip(ids, parts, strict=True)
            ],
        )
        if len(words) % BLOCK:
            self._open_blocks[name, number] = ids[-1]
        else:
            self._open_blocks.pop((name, number), None)

    def enrol(self, name: str, tokens: Sequence[bytes]) -> None:
        """Store the hashes of new tokens, in the order of the hashes: the rows show no order of making."""
        hashes = sorted(tokens)
        for start in range(0, len(hashes), _TOKENS_PER_TRANSACTION):
            rows = [(name, token, UNSPENT) for token in hashes[start : start + _TOKENS_PER_TRANSACTION]]
            with self.write_cursor() as cursor:
                cursor.executemany(self.sql("INSERT INTO tokens (study, hash, used) VALUES (?, ?, ?)"), rows)

    def count_tokens(self, name: str) -> TokenCounts:
        """Return the number of tokens of a study, all and spent."""
        (row,) = self._rows(
            "SELECT COUNT(*), COUNT(CASE WHEN used <> ? THEN 1 END) FROM tokens WHERE study = ?", UNSPENT, name
        )
        return TokenCounts(*row)

    def read_keys(self, name: str, tokens: Sequence[bytes]) -> dict[bytes, bytes | None]:
        """Return the key hash of each token of a study that exists; None for an unspent token."""
        with self.read_cursor() as cursor:
            return self._select_keys(cursor, name, tokens)

    def conclude(self, name: str, result: str) -> bool:
        """Store the result of a study, once, and return whether it had none before."""
        return self._change(
            "INSERT INTO results (study, text) VALUES (?, ?) ON CONFLICT (study) DO NOTHING", name, result
        )

    def has_result(self, name: str) -> bool:
        """Return whether a study has a result, and so has ended."""
        return bool(self._rows("SELECT 1 FROM results WHERE study = ?", name))

    def result(self, name: str) -> str | None:
        """Return the result of a study as JSON, or None before its end."""
        rows = self._rows("SELECT text FROM results WHERE study = ?", name)
        return str(rows[0][0]) if rows else None

    def count_refused(self, name: str, counts: Mapping[str, int]) -> None:
        """Add to the number of refused reports, by reason."""
        # Numbers alone: a refusal leaves no trace of its token or report.
        with self.write_cursor() as cursor:
            cursor.executemany(
                self.sql(
                    "INSERT INTO refusals (study, reason, many) VALUES (?, ?, ?) "
                    "ON CONFLICT (study, reason) DO UPDATE SET many = refusals.many + excluded.many"
                ),
                [(name, reason, count) for reason, count in sorted(counts.items())],
            )

    def refused(self, name: str) -> dict[str, int]:
        """Return the number of refused reports, by reason."""
        return dict(map(tuple, self._rows("SELECT reason, many FROM refusals WHERE study = ? ORDER BY reason", name)))

    def add_operator(self, token: bytes, scopes: Iterable[str], label: str) -> None:
        """Store the hash of an operator's token, its scopes and its label."""
        self._change(
            "INSERT INTO operators (hash, scopes, label) VALUES (?, ?, ?)", token, " ".join(sorted(scopes)), label
        )

    def operator(self, token: bytes) -> frozenset[str] | None:
        """Return the scopes of the operator's token with this hash, or None where no token has it."""
        rows = self._rows("SELECT scopes FROM operators WHERE hash = ?", token)
        return frozenset(rows[0][0].split()) if rows else None

    def operators(self) -> list[OperatorRecord]:
        """Return all operators' tokens, by label."""
        rows = self._rows("SELECT hash, scopes, label FROM operators ORDER BY label, hash")
        return [OperatorRecord(token, frozenset(scopes.split()), label) for token, scopes, label in rows]

    def remove_operator(self, token: bytes) -> None:
        """Delete the operator's token with this hash."""
        self._change("DELETE FROM operators WHERE hash = ?", token)


def open_store(address: str | None, directory: Path) -> StudyStore:
    """Return the store at an address, or the SQLite file of a directory; its tables are made on first use.

    Parameters
    ----------
    address
        The address of a database, like ``postgresql://user@host/database``; None for the SQLite file.
    directory
        The directory of the service.
    """
    # Each database is imported on use: the SQLite store needs no driver of PostgreSQL.
    if address is None:
        from ._sqlite import SQLiteStore

        return SQLiteStore(directory / STORE_FILE)
    scheme = urlsplit(address).scheme
    if scheme not in ("postgresql", "postgres"):
        raise MisuseError(
            f"A store is an address such as postgresql://user@host/database, and {scheme or address!r:.40} is none "
            "that is known. Leave it out for a SQLite file in the directory."
        )
    try:
        from ._postgresql import PostgreSQLStore
    except ImportError:
        raise MisuseError("A store in PostgreSQL needs the extra: pip install 'discreet[server]'.") from None
    return PostgreSQLStore(address)


def decide_codes(
    upload: Upload, stored_keys: Mapping[bytes, bytes | None], *, round_is_open: bool
) -> NDArray[np.uint8]:
    """Return one code per report: an outcome or a reason of refusal.

    A token that comes twice in one upload is spent by the first report with it.

    Parameters
    ----------
    upload
        The reports. A report that has a code already keeps it.
    stored_keys
        The key hash of each token that exists, None for an unspent token.
    round_is_open
        Whether the round takes reports.
    """
    codes = upload.codes.copy()
    spent_here: dict[bytes, bytes] = {}
    for row in np.flatnonzero(codes == COUNTED).tolist():
        token, key = upload.tokens[row], upload.keys[row]
        previous_key = spent_here.get(token, stored_keys.get(token))
        if token not in stored_keys:
            codes[row] = CODES[Reason.TOKEN_UNKNOWN]
        elif previous_key == key:
            # Also after the round has closed: the answer to the first upload was lost on the way.
            codes[row] = ALREADY_COUNTED
        elif previous_key is not None:
            codes[row] = CODES[Reason.TOKEN_SPENT]
        elif not round_is_open:
            codes[row] = CODES[Reason.ROUND_CLOSED]
        else:
            spent_here[token] = key
    return codes


def parse_key(column: bytes) -> bytes | None:
    """Return the key hash that a token was spent with, from its column `used`; None for an unspent token."""
    return None if column == UNSPENT else column


def unpack_words(content: bytes, word_count: int) -> Words:
    """Return stored reports as rows of `word_count` words."""
    return np.frombuffer(content, "<u4").astype(np.uint32, copy=False).reshape(-1, word_count)


def _study_record(row: Sequence[str]) -> StudyRecord:
    return StudyRecord(**dict(zip(_STUDY_COLUMNS.split(", "), row, strict=True)))
