"""The ledger of one data set: a file of spends, written before a result is shown.

One transaction checks a spend against the budget and writes the spend, so that of two processes that race for the last
part of the budget one is refused, and a process that dies after the spend leaves the spend in place. The proof that a
ledger keeps its promise is in `ledger.md`. Fractions are stored exactly, as text; `storage` handles the file itself.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from ...checks import parse_switch
from ...errors import BudgetError, DiscreetError, InputError, MisuseError, name_options, quote_word
from ...results import FORMULA_MARKS
from .. import Budget, Neighbours, Relation, exact, serious, shown
from ..sampling import SystemSource
from . import _entries as entries, _storage as storage
from ._account import ELSEWHERE, Price, Spend, State, check_epsilon
from ._anchor import COMMAND, Anchor, anchor_of
from ._entries import AMOUNTS, FORM, Book, load
from ._fingerprint import HashedRows

if TYPE_CHECKING:
    from ...baskets import AnyBaskets

__all__ = ["Ledger", "Spend", "State"]

# Characters of a name. Chosen: names are shown on one line, and a ledger keeps every name for good.
_MAX_TEXT_LENGTH = 200
# Words of 64 bits: the key of the fingerprint has 256 bits, the security of the hash that it keys.
_KEY_WORDS = 4


class Ledger:
    """The budget of one data set, and its spends.

    Made by :meth:`create`, opened by :meth:`open`. Every call opens the file, checks that it is whole, and closes it.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/budget.db", epsilon=1)
    >>> half = Fraction(1, 2)
    >>> spend = ledger.spend(
    ...     epsilon=half, delta=Fraction(0), rho=half**2 / 2, discovery_delta=Fraction(0),
    ...     neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={"top": 10}, who="me", baskets=None,
    ... )
    >>> ledger.record(spend, "the digest of the release")
    >>> ledger.state().remaining
    Fraction(1, 2)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, anchor: str | os.PathLike[str] | None = None) -> None:
        self.path = path
        self.head = ""  # the head of the chain at the last access of this object
        self._anchor = None if anchor is None else anchor_of(anchor)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def __str__(self) -> str:
        return str(self.path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: Any,
        delta: Any = 0,
        neighbours: Neighbours | Relation = "add-remove",
        most: Any = None,
        name: str = "",
        anchor: str | os.PathLike[str] | None = None,
        really: bool = False,
    ) -> Ledger:
        """Create the ledger of a data set. Its budget and its way of accounting are fixed for life.

        Parameters
        ----------
        path
            The file to create; it must not exist.
        epsilon, delta
            The whole budget. Without a delta, only releases without a delta can be paid from it, and epsilons add up;
            with a delta, losses add up by zCDP.
        neighbours
            The relation that every release must promise: ``"add-remove"`` or ``"replace"``.
        most
            The largest epsilon of a single release.
        name
            Your name for the data.
        anchor
            A second place for the head of the chain, as for :meth:`anchor`.
        really
            Allows an epsilon over 20, or a delta over 0.001, which otherwise count as slips.

        Privacy: the file holds a secret key and a fingerprint of the data; keep it as you keep the data.
        """
        budget = serious(check_epsilon(Budget.of(epsilon, delta)), parse_switch("really", really))
        limit = None if most is None else exact(most, "most")
        if limit is not None and not 0 < limit <= budget.epsilon:
            raise MisuseError.format(
                "{most} is {given}, but it must be over 0 and at most the whole budget, {whole}.",
                given=shown(limit),
                whole=shown(budget.epsilon),
            )
        content = {
            "kind": "ledger",
            "identity": _random_hex(),
            "name": _check_text(name, "name", min_length=0),
            "created": _timestamp(),
            "accounting": "pure" if budget.pure else "zcdp",
            "neighbours": Neighbours.parse_typed(neighbours).value,
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "most": None if limit is None else str(limit),
        }
        new_anchor = None if anchor is None else anchor_of(anchor)
        if new_anchor is not None:
            _check_free(new_anchor)

        def fill(connection: sqlite3.Connection) -> None:
            entries.insert(connection, "private", {"key": bytes.fromhex(_random_hex())})
            entries.append(connection, [], content)

        ledger = cls(Path(path))
        storage.create(ledger.path, FORM, fill)
        if new_anchor is not None:
            try:
                ledger._set_anchor(new_anchor, anew=False)
            except BaseException:
                # No budget was spent yet, and the caller would take a ledger left behind for anchored.
                ledger.path.unlink()
                raise
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None) -> Ledger:
        """Return the ledger in a file, after checking that the file is a whole ledger and not older than its anchor.

        Parameters
        ----------
        path
            The file of the ledger.
        anchor
            The second place of the head of the chain, as for :meth:`anchor`. It may be omitted, because a ledger
            remembers its anchor; but an attacker who replaces the file can also make it forget. An anchor given here
            always applies.
        """
        ledger = cls(Path(path), anchor)
        ledger._read_book()
        return ledger

    def anchor(self, place: str | os.PathLike[str], *, anew: bool = False) -> None:
        """Keep the head of the chain in a second place from now on: a ledger older than its anchor is refused.

        Parameters
        ----------
        place
            A file, best on a second disk; or ``"command:…"``, a command that runs without a shell, stores the head on
            its standard input, if any, and prints the last stored head.
        anew
            Begin anew although the previous anchor is lost, or although this file is an older copy that you restored.
            Then first spend again for every release made since the copy.
        """
        self._set_anchor(anchor_of(place), anew)

    def spend(
        self,
        *,
        epsilon: Fraction,
        delta: Fraction,
        rho: Fraction,
        discovery_delta: Fraction,
        neighbours: Neighbours,
        what: str,
        parameters: Mapping[str, Any],
        who: str,
        baskets: AnyBaskets | None,
        same_data: bool = False,
    ) -> Spend:
        """Pay for a release before it is made: check and record the spend, in one transaction.

        Parameters
        ----------
        epsilon, delta
            The promise of the release.
        rho, discovery_delta
            Its zCDP loss, and the probability of a failure in addition.
        neighbours
            The neighbour relation of the promise.
        what, parameters, who
            The mechanism, its public parameters and the requester, for the record; each independent of the data.
        baskets
            The data, to be compared with the fingerprint; None if they are not at hand.
        same_data
            Whether the data are the ledger's own data, even if the fingerprint differs.

        Returns
        -------
        Spend
            The recorded spend. Its `changed` is for the operator.

        Privacy: costs the given amounts; raises `BudgetError` and spends nothing if they exceed the remaining budget.
        """
        cost = Price.of(epsilon, delta, rho, discovery_delta, neighbours)
        return self._spend(cost, what=what, parameters=parameters, who=who, baskets=baskets, same_data=same_data)

    def _spend(
        self,
        cost: Price,
        *,
        what: str,
        parameters: Mapping[str, Any],
        who: str,
        baskets: AnyBaskets | None = None,
        same_data: bool = False,
        capped: bool = True,
    ) -> Spend:
        """Check and record a spend, in one transaction; `capped` says whether the cap per release applies."""
        record = {
            "who": _check_text(who, "who", min_length=0),
            "what": _check_text(what, "what"),
            "parameters": _check_parameters(parameters),
        }
        with storage.open_ledger(self.path, FORM) as file:
            rows = self._hash_rows(file, baskets)  # before the lock: hashing large data takes long
            with file.writing() as connection:
                book = load(file)
                anchor = self._check_anchor(book)
                if anchor is not None:
                    anchor.check()
                changed = self._check_spend(book, cost, rows, same_data, capped)
                amounts = {name: str(getattr(cost, ours)) for name, ours in AMOUNTS.items()}
                content = {"kind": "spend", "number": len(book.spends) + 1, "at": _timestamp()} | record | amounts
                entries.append(connection, book.entries, content, changed)
                # Empty data are part of any data: with their fingerprint, any data would be accepted later.
                if rows is not None and (book.account.fingerprint is None or rows.distinct):
                    entries.store_fingerprint(connection, rows.fingerprint())
                spend = load(file).spends[-1]
            self.head = spend.head
            if anchor is not None:
                self._update_anchor(
                    file, spend.head, f"Spend {spend.number} of {self.path} stands, but nothing was released"
                )
            return spend

    def spend_elsewhere(
        self,
        *,
        epsilon: Any,
        delta: Any = 0,
        what: str,
        who: str = "",
        neighbours: Neighbours | Relation = "add-remove",
    ) -> Spend:
        """Enter a budget that another program has spent, or is about to spend, on these data.

        Parameters
        ----------
        epsilon, delta
            The promise of that program for each person, such as ``"0.3"``: stored exactly, rounded up if too long.
        what
            A description of the release: "histogram of ages, sent on 3 March". It must not depend on the data.
        who
            The requester.
        neighbours
            The neighbour relation of that promise: ``"add-remove"`` or ``"replace"``.

        Returns
        -------
        Spend
            The recorded spend. Its `elsewhere` is True.

        Privacy: costs epsilon and delta. In zCDP, rho = epsilon^2 / 2, and delta is an own delta (`ledger.md`). The cap
        `most` does not apply: the release may be out already. Raises `BudgetError` and enters nothing if the amounts
        exceed the remaining budget.
        """
        budget = Budget.of(epsilon, delta)
        try:
            return self._spend(
                Price.of(
                    budget.epsilon,
                    budget.delta,
                    budget.epsilon**2 / 2,
                    budget.delta,
                    Neighbours.parse_typed(neighbours),
                ),
                what=what,
                parameters={ELSEWHERE: True},
                who=who,
                capped=False,
            )
        except BudgetError as error:
            message = (
                f"{error} It was not entered. If it was released already, release nothing more from these data: what "
                "holds for them is the sum of both."
            )
            raise BudgetError(message, error.requested, error.spent, error.remaining, error.unit) from None

    def check(
        self,
        *,
        epsilon: Fraction,
        delta: Fraction,
        rho: Fraction,
        discovery_delta: Fraction,
        neighbours: Neighbours,
        baskets: AnyBaskets | None,
        same_data: bool = False,
    ) -> State:
        """Return the state after a :meth:`spend` with equal arguments, or raise its error. No budget is spent."""
        price = Price.of(epsilon, delta, rho, discovery_delta, neighbours)
        with storage.open_ledger(self.path, FORM) as file:
            rows = self._hash_rows(file, baskets)
            book = self._read_checked(file)
            self._check_spend(book, price, rows, same_data)
            return book.account.state([*book.spends, price])

    def record(self, spend: Spend, digest: str) -> None:
        """Record the digest of the release that `spend` paid for."""
        digest = _check_text(digest, "digest")
        with storage.open_ledger(self.path, FORM, f"Spend {spend.number} stands, without its release") as file:
            with file.writing() as connection:
                book = load(file)
                anchor = self._anchor_of(book)
                stored_spend = book.spends[spend.number - 1] if 0 < spend.number <= len(book.spends) else None
                if stored_spend is None or stored_spend.head != spend.head:
                    raise MisuseError(f"Spend {spend.number} is not one of {self.path}: record it where it was spent.")
                if stored_spend.release not in (None, digest):
                    raise MisuseError(
                        f"Spend {spend.number} of {self.path} has another release recorded already; each release needs "
                        "a spend of its own."
                    )
                if stored_spend.release is None:
                    # Without a time: the duration of a release may depend on the data.
                    content = {"kind": "release", "spend": spend.number, "digest": digest}
                    entries.append(connection, book.entries, content)
            self.head = book.entries[-1].head
            if anchor is not None:
                self._update_anchor(file, self.head, f"The release of spend {spend.number} of {self.path} is recorded")

    def spends(self) -> tuple[Spend, ...]:
        """Return all spends, in order."""
        return tuple(self._read_book().spends)

    def state(self) -> State:
        """Return the state of the account."""
        book = self._read_book()
        return book.account.state(book.spends)

    def export(self, stream: BinaryIO, format: Literal["json", "csv"] = "json") -> None:  # noqa: A002
        """Write the account and its spends for readers outside: no written value depends on the data.

        Parameters
        ----------
        stream
            A binary stream.
        format
            ``"json"``: one object with `ledger`, `spends` and the underlying `chain`, a list of entries with their
            heads, so that a reader can recompute the heads. ``"csv"``: a line for each spend.
        """
        book = self._read_book()
        spends = [spend.to_dict() for spend in book.spends]
        if format == "json":
            chain = [{"entry": entry.text, "head": entry.head} for entry in book.entries]
            exported = {"ledger": book.account.state(book.spends).to_dict(), "spends": spends, "chain": chain}
            stream.write(json.dumps(exported, ensure_ascii=False, indent=1).encode() + b"\n")
        elif format == "csv":
            text = io.StringIO()
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(Spend.columns())
            for spend in spends:
                cells = spend | {"parameters": entries.encode_json(spend["parameters"])}
                lines.writerow(map(_escape_cell, cells.values()))
            stream.write(text.getvalue().encode())
        else:
            raise MisuseError(f"A ledger is exported as json or csv; {format!r} was given.")

    def _read_book(self) -> Book:
        with storage.open_ledger(self.path, FORM) as file:
            return self._read_checked(file)

    def _read_checked(self, file: storage.LedgerFile) -> Book:
        """Return the book, read after the anchor: another process may spend between both reads."""
        with file.begin_reading():
            book = load(file)
        anchor = self._anchor_of(book)
        if anchor is not None:
            anchored_head = anchor.read_head()
            with file.begin_reading():
                book = load(file)
            self._compare_heads(book, anchor, anchored_head)
        self.head = book.entries[-1].head
        return book

    def _anchor_of(self, book: Book) -> Anchor | None:
        """Return the anchor given by the caller, or else the anchor that the ledger remembers."""
        if self._anchor is not None or book.account.anchor is None:
            return self._anchor
        if book.account.anchor.startswith(COMMAND):
            # Never run: a file from elsewhere must not decide about commands on this machine.
            raise MisuseError.format(
                "{path} is anchored by a command, {program}. A ledger keeps no commands: give it again, as "
                "{anchor=like}.",
                path=self.path,
                like=f"{COMMAND}…",
                program=book.account.anchor.removeprefix(COMMAND),
            )
        return anchor_of(Path(book.account.anchor))

    def _check_anchor(self, book: Book) -> Anchor | None:
        """Compare the ledger with its anchor, while the lock of the ledger protects both; return the anchor."""
        anchor = self._anchor_of(book)
        if anchor is not None:
            self._compare_heads(book, anchor, anchor.read_head())
        return anchor

    def _compare_heads(self, book: Book, anchor: Anchor, anchored_head: str | None) -> None:
        command = f"`discreet ledger anchor {quote_word(self.path)} {quote_word(anchor.place)} --anew`"
        if anchored_head is None:
            raise InputError(
                f"There is no head of {self.path} in the anchor {anchor.place}. Nothing was spent. If its disk is not "
                f"mounted, mount it; if it is lost, or was never begun, say {command}."
            )
        if anchored_head not in book:
            raise InputError(
                f"{self.path} is older than its anchor {anchor.place}, or another ledger: its chain does not have the "
                "head that is kept there. Nothing was spent. Give the newest file of the ledger. If that is lost, say "
                f"{command}, and then spend again what was released since this copy was made."
            )

    def _update_anchor(self, file: storage.LedgerFile, head: str, achieved: str) -> None:
        """Write the last head to the anchor, with the ledger locked, so that the last writer has the last head.

        The ledger is written first: a process that dies in between leaves an anchor with a head of the chain, and work
        can go on. The result is shown after both writes.
        """
        try:
            with file.hold_lock():
                book = load(file)
                anchor = self._check_anchor(book)
                if anchor is None or head not in book:
                    raise InputError(f"{self.path} was replaced by another file in the meantime.")
                anchor.keep(book.entries[-1].head)
        except (DiscreetError, sqlite3.Error) as error:
            reason = str(error) if isinstance(error, DiscreetError) else f"{self.path} cannot be locked any more."
            raise InputError(f"{achieved}: the head of the chain cannot be anchored. {reason}") from error

    def _set_anchor(self, anchor: Anchor, anew: bool) -> None:
        with storage.open_ledger(self.path, FORM) as file:
            with file.writing() as connection:
                book = load(file)
                if self._anchor is None and book.account.anchor == anchor.place:
                    self._anchor = anchor  # the remembered anchor stays in place
                if not anew:
                    self._check_anchor(book)
                anchored_head = anchor.read_head()
                if anchored_head is not None and not anew:
                    self._compare_heads(book, anchor, anchored_head)
                anchor.check()
                # Before the entry: a ledger that remembers an anchor has one, even if the process dies in between.
                anchor.keep(book.entries[-1].head)
                if book.account.anchor != anchor.place:
                    entries.append(connection, book.entries, {"kind": "anchor", "place": anchor.place})
            self._anchor, self.head = anchor, book.entries[-1].head
            self._update_anchor(file, self.head, f"{self.path} remembers its new anchor")

    def _hash_rows(self, file: storage.LedgerFile, baskets: AnyBaskets | None) -> HashedRows | None:
        if baskets is None:
            return None
        with file.begin_reading():
            key = load(file).account.key
        return HashedRows.hash_baskets(baskets, key)

    def _check_spend(
        self, book: Book, cost: Price, rows: HashedRows | None, same_data: bool, capped: bool = True
    ) -> bool:
        """Check that the account allows the cost and that the data are its own; return whether the data changed."""
        account = book.account
        account.check(book.spends, cost, capped)
        if rows is None or account.fingerprint is None:
            return False
        likeness = rows.likeness(account.fingerprint)
        if likeness == "other" and not same_data:
            raise MisuseError.format(
                "{path} is the ledger of other data: most of these baskets are not among them. Nothing was spent. "
                "Use the ledger of these data. A part of the same people's data looks like other data too: one "
                "month, one shop, some of the products. So do data that have much changed. Say so with "
                "{same_data=True}: the same people have one budget, and a part of their data costs as much as "
                "all of it.",
                path=self.path,
            )
        return likeness != "same"


def _check_text(value: str, name: str, min_length: int = 1) -> str:
    """Return a text, after checking that it can be stored, and shown in a terminal."""
    if not isinstance(value, str) or not min_length <= len(value) <= _MAX_TEXT_LENGTH or not value.isprintable():
        raise MisuseError.format(
            "{option} is a text of {fewest} to {many} letters on one line; {given!r} was given.",
            option=name_options(name),
            fewest=min_length,
            many=_MAX_TEXT_LENGTH,
            given=str(value)[:40],
        )
    return value


def _check_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        decoded: dict[str, Any] = json.loads(entries.encode_json(dict(parameters)))
    except (TypeError, ValueError):
        raise MisuseError(
            "Parameters are kept as JSON: texts, finite numbers, true, false, lists and objects of these."
        ) from None
    return decoded


def _escape_cell(value: Any) -> Any:
    """Return a value that a spreadsheet shows verbatim: a text that looks like a formula gets a leading apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.lstrip()[:1] in FORMULA_MARKS and value.strip() else value


def _check_free(anchor: Anchor) -> None:
    """Check that a new ledger can be anchored there."""
    if anchor.read_head() is not None:
        raise MisuseError(f"The anchor {anchor.place} holds the head of another ledger: give each a place of its own.")
    anchor.check()


def _random_hex() -> str:
    return SystemSource().words(_KEY_WORDS).tobytes().hex()


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
