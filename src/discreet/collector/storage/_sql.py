"""What both stores do with the same statements: all but taking reports, which each does in its own best way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ...local.oracle_steps import Words
from .. import RoundEvent, RoundState, StoredRound, after, before
from ._store import UNSPENT, Enrolled, OperatorRecord, StudyRecord, StudyStore, words_of

_RECORD = "name, id, plan, text, signature, key"
_ROUND = "number, state, ask, question, signature, closes, people, heard"
_FETCHED = 64  # blocks that are read at a time
_TOGETHER = 10_000  # tokens that are stored with one transaction
_SCRUBBING = 5  # seconds that a scrubbing waits for others who read


class Cursor(Protocol):
    """What statements are run with."""

    rowcount: int

    def execute(self, statement: Any, values: Any = ...) -> Any:
        """Run a statement."""

    def executemany(self, statement: Any, values: Any) -> Any:
        """Run a statement for each of several values."""

    def fetchall(self) -> list[Any]:
        """Return what was found."""


class SQLStore(StudyStore):
    """A store that speaks SQL."""

    placeholder: str

    @abstractmethod
    def reading(self) -> AbstractContextManager[Cursor]:
        """Give a cursor to read with."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Cursor]:
        """Give a cursor of a transaction, which is committed at the end, or undone where something goes wrong."""

    def sql(self, statement: str) -> Any:
        """Return a statement with this store's placeholders."""
        return statement.replace("?", self.placeholder)

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self.reading() as cursor:
            cursor.execute(self.sql(statement), values)
            return cursor.fetchall()

    def check(self) -> None:
        """Write what is there already."""
        with self.writing() as cursor:
            cursor.execute("UPDATE about SET version = version")

    def blocks(self, name: str, number: int, wide: int) -> Iterator[Words]:
        """Yield the reports of a round."""
        last = -1
        while True:
            rows = self._rows(
                "SELECT id, words FROM blocks WHERE study = ? AND round = ? AND id > ? ORDER BY id LIMIT ?",
                name, number, last, _FETCHED,
            )  # fmt: skip
            for _, content in rows:
                yield words_of(content, wide)
            if len(rows) < _FETCHED:
                return
            last = rows[-1][0]

    def add_study(self, record: StudyRecord) -> bool:
        """Store a new study."""
        with self.writing() as cursor:
            cursor.execute(
                self.sql(
                    f"INSERT INTO studies (place, {_RECORD}) "  # noqa: S608
                    "SELECT COALESCE(MAX(place), 0) + 1, ?, ?, ?, ?, ?, ? FROM studies WHERE true "
                    "ON CONFLICT (name) DO NOTHING"
                ),
                (record.name, record.id, record.plan, record.text, record.signature, record.key),
            )
            return cursor.rowcount == 1

    def studies(self) -> list[StudyRecord]:
        """Return all studies."""
        return [_record(row) for row in self._rows(f"SELECT {_RECORD} FROM studies ORDER BY place")]  # noqa: S608

    def study(self, name: str) -> StudyRecord | None:
        """Return the study of that name."""
        found = self._rows(f"SELECT {_RECORD} FROM studies WHERE name = ?", name)  # noqa: S608
        return _record(found[0]) if found else None

    def rounds(self, name: str) -> list[StoredRound]:
        """Return the rounds of a study."""
        rows = self._rows(f"SELECT {_ROUND} FROM rounds WHERE study = ? ORDER BY number", name)  # noqa: S608
        return [
            StoredRound(
                number=row[0],
                state=RoundState(row[1]),
                ask=row[2],
                question=row[3],
                signature=row[4],
                closes=row[5],
                people=row[6],
                heard=row[7],
            )
            for row in rows
        ]

    def add_round(self, name: str, number: int, ask: str) -> None:
        """Store a drafted round."""
        with self.writing() as cursor:
            cursor.execute(
                self.sql(
                    "INSERT INTO rounds (study, number, state, ask, people) VALUES (?, ?, 'drafted', ?, 0) "
                    "ON CONFLICT (study, number) DO NOTHING"
                ),
                (name, number, ask),
            )

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
        """Move a round on, on the condition that it is where the event begins."""
        start = before(event)
        with self.writing() as cursor:
            cursor.execute(
                self.sql(
                    "UPDATE rounds SET state = ?, question = COALESCE(question, ?), "
                    "signature = COALESCE(signature, ?), closes = COALESCE(closes, ?), heard = COALESCE(heard, ?) "
                    "WHERE study = ? AND number = ? AND state = ?"
                ),
                (str(after(start, event)), question, signature, closes, heard, name, number, str(start)),
            )
            moved = cursor.rowcount == 1
            if moved and event is RoundEvent.SCRUB:
                cursor.execute(self.sql("DELETE FROM blocks WHERE study = ? AND round = ?"), (name, number))
        if moved and event is RoundEvent.SCRUB:
            self.scrubbed()
            self.tidy(wait=_SCRUBBING)
        return moved

    def scrubbed(self) -> None:
        """Note that reports were deleted, which may leave something to tidy up."""

    def enrol(self, name: str, tokens: Sequence[bytes]) -> None:
        """Store hashes of new tokens, in the order of the hashes."""
        ordered = sorted(tokens)
        for start in range(0, len(ordered), _TOGETHER):
            some = ordered[start : start + _TOGETHER]
            with self.writing() as cursor:
                cursor.executemany(
                    self.sql("INSERT INTO tokens (study, hash, used) VALUES (?, ?, ?)"),
                    [(name, one, UNSPENT) for one in some],
                )

    def enrolled(self, name: str) -> Enrolled:
        """Return how many tokens there are."""
        ((tokens, spent),) = self._rows(
            "SELECT COUNT(*), COUNT(CASE WHEN used <> ? THEN 1 END) FROM tokens WHERE study = ?", UNSPENT, name
        )
        return Enrolled(tokens=tokens, spent=spent)

    def conclude(self, name: str, result: str) -> bool:
        """Store what a study ends with."""
        with self.writing() as cursor:
            cursor.execute(
                self.sql("INSERT INTO results (study, text) VALUES (?, ?) ON CONFLICT (study) DO NOTHING"),
                (name, result),
            )
            return cursor.rowcount == 1

    def has_result(self, name: str) -> bool:
        """Return whether a study has ended."""
        return bool(self._rows("SELECT 1 FROM results WHERE study = ?", name))

    def result(self, name: str) -> str | None:
        """Return what a study ended with."""
        found = self._rows("SELECT text FROM results WHERE study = ?", name)
        return str(found[0][0]) if found else None

    def count_refused(self, name: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of reasons."""
        with self.writing() as cursor:
            cursor.executemany(
                self.sql(
                    "INSERT INTO refusals (study, reason, many) VALUES (?, ?, ?) "
                    "ON CONFLICT (study, reason) DO UPDATE SET many = refusals.many + excluded.many"
                ),
                [(name, reason, many) for reason, many in sorted(counts.items())],
            )

    def refused(self, name: str) -> dict[str, int]:
        """Return the counts of reasons."""
        return dict(map(tuple, self._rows("SELECT reason, many FROM refusals WHERE study = ? ORDER BY reason", name)))

    def add_operator(self, token: bytes, scopes: Iterable[str], label: str) -> None:
        """Store an operator's token."""
        with self.writing() as cursor:
            cursor.execute(
                self.sql("INSERT INTO operators (hash, scopes, label) VALUES (?, ?, ?)"),
                (token, " ".join(sorted(scopes)), label),
            )

    def operator(self, token: bytes) -> frozenset[str] | None:
        """Return what an operator's token is for."""
        found = self._rows("SELECT scopes FROM operators WHERE hash = ?", token)
        return frozenset(found[0][0].split()) if found else None

    def operators(self) -> list[OperatorRecord]:
        """Return all operators' tokens."""
        rows = self._rows("SELECT hash, scopes, label FROM operators ORDER BY label, hash")
        return [
            OperatorRecord(token=token, scopes=frozenset(scopes.split()), label=label) for token, scopes, label in rows
        ]

    def remove_operator(self, token: bytes) -> None:
        """Forget an operator's token."""
        with self.writing() as cursor:
            cursor.execute(self.sql("DELETE FROM operators WHERE hash = ?"), (token,))


def _record(row: Any) -> StudyRecord:
    return StudyRecord(name=row[0], id=row[1], plan=row[2], text=row[3], signature=row[4], key=row[5])
