"""The account of what was spent on one data set: one file, written before a result is shown.

A spend is checked against the budget and written down in one transaction, so that of two processes that race for the
last of it one is refused, and a process that dies after the spend leaves it standing. The proof that a ledger keeps its
promise is in `ledger.md`. Fractions are kept exactly, as text; the file itself is the business of `storage`.
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

from ...checks import switch
from ...errors import DiscreetError, InputError, MisuseError, named, told, word
from ..budget import Budget, Neighbours, Relation, exact, serious, shown
from ..sampling.sources import SystemSource
from . import entries, storage
from .account import Price, Spend, State, sensible
from .anchor import COMMAND, Anchor, anchor_of
from .entries import AMOUNTS, FORM, Book, load
from .fingerprint import HashedRows

if TYPE_CHECKING:
    from ...baskets.core import AnyBaskets

__all__ = ["Ledger", "Spend", "State"]

_LONGEST = 200  # characters of a name
_KEY_WORDS = 4  # of 64 bits: the key of the fingerprint
_FORMULA = "=+-@＝＋－＠"  # what a spreadsheet takes for the beginning of a formula


class Ledger:
    """The budget of one data set, and what was spent of it.

    Made by :meth:`create`, found again by :meth:`open`. Every call opens the file, checks that it is whole, and
    closes it.

    Examples -------- >>> import tempfile >>> folder = tempfile.TemporaryDirectory() >>> ledger =
    Ledger.create(f"{folder.name}/budget.db", epsilon=1) >>> half = Fraction(1, 2) >>> spend = ledger.spend( ...
    epsilon=half, delta=Fraction(0), rho=half**2 / 2, discovery_delta=Fraction(0), neighbours=Neighbours.ADD_REMOVE, ...
    what="laplace", parameters={"top": 10}, who="me", baskets=None, ... ) >>> ledger.record(spend, "the digest of the
    release") >>> ledger.state().remaining Fraction(1, 2) >>> folder.cleanup()
    """

    def __init__(self, path: Path, anchor: str | os.PathLike[str] | None = None) -> None:
        self.path = path
        self.head = ""  # of the chain, as this object has last seen it
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
        """Make the ledger of a data set. It is kept for life, as it is made.

        Parameters
        ----------
        path
            The file to make; nothing may be there.
        epsilon, delta
            The whole budget. Without a delta, only releases without one can be paid from it, and their epsilons add up;
            with one, losses add up by zCDP.
        neighbours
            The relation that every release must promise: ``"add-remove"`` or ``"replace"``.
        most
            The largest epsilon one release may take.
        name
            What you call the data.
        anchor
            Where the head of its chain is kept too, as for :meth:`anchor`.
        really
            Allows an epsilon over 20, or a delta over 0.001, which otherwise count as slips.

        Privacy: the file holds a secret key and a fingerprint of the data; keep it as you keep the data.
        """
        budget = serious(sensible(Budget.of(epsilon, delta)), switch("really", really))
        limit = None if most is None else exact(most, "most")
        if limit is not None and not 0 < limit <= budget.epsilon:
            raise MisuseError(
                told(
                    "{most} is {given}, but it must be over 0 and at most the whole budget, {whole}.",
                    given=shown(limit),
                    whole=shown(budget.epsilon),
                )
            )
        content = {
            "kind": "ledger",
            "identity": _random(),
            "name": _text(name, "name", least=0),
            "created": _now(),
            "accounting": "pure" if budget.pure else "zcdp",
            "neighbours": Neighbours.typed(neighbours).value,
            "epsilon": str(budget.epsilon),
            "delta": str(budget.delta),
            "most": None if limit is None else str(limit),
        }
        kept_at = None if anchor is None else anchor_of(anchor)
        if kept_at is not None:
            _check_free(kept_at)

        def fill(connection: sqlite3.Connection) -> None:
            entries.insert(connection, "private", {"key": bytes.fromhex(_random())})
            entries.append(connection, [], content)

        ledger = cls(Path(path))
        storage.create(ledger.path, FORM, fill)
        if kept_at is not None:
            try:
                ledger._anchor_at(kept_at, anew=False)
            except BaseException:
                # Nothing was spent, and whoever asked for an anchor would take it for anchored.
                ledger.path.unlink()
                raise
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, anchor: str | os.PathLike[str] | None = None) -> Ledger:
        """Return the ledger in a file, if it is one and whole, and not older than its anchor.

        Parameters
        ----------
        path
            The file of the ledger.
        anchor
            Where the head of its chain is kept too, as for :meth:`anchor`. A ledger remembers where that is, so
            this may be left out; but whoever could put another file in its place could also make it forget. What is
            given here always holds.
        """
        ledger = cls(Path(path), anchor)
        ledger._seen()
        return ledger

    def anchor(self, place: str | os.PathLike[str], *, anew: bool = False) -> None:
        """Keep the head of the chain somewhere else too, from now on: a ledger older than that is refused.

        Parameters
        ----------
        place
            A file, best on another disk; or ``"command:…"``, a command that is run without a shell, keeps the head on
            its standard input, if there is any, and prints the last one that it has kept.
        anew
            Begin anew although the anchor so far is lost, or this is an older copy that you have put back yourself.
            Spend again first of all what was released since.
        """
        self._anchor_at(anchor_of(place), anew)

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
        """Pay for a release before it is made: check and write down, in one transaction.

        Parameters
        ----------
        epsilon, delta
            What the release promises.
        rho, discovery_delta
            Its loss by zCDP, and the probability with which it may fail besides.
        neighbours
            The relation it promises this for.
        what, parameters, who
            The mechanism, its public parameters and who asked, for the record. None of them may depend on the data.
        baskets
            The data, to be compared with the fingerprint; None where they are not at hand.
        same_data
            These are the ledger's own data, even if they look like others.

        Returns
        -------
        Spend
            As written. Its `changed` is for the operator.

        Privacy: costs what it is told; raises `BudgetError` and spends nothing where the budget has less left.
        """
        asked = Price.of(epsilon, delta, rho, discovery_delta, neighbours)
        told = {"who": _text(who, "who", least=0), "what": _text(what, "what"), "parameters": _as_json(parameters)}
        with storage.opened(self.path, FORM) as file:
            rows = self._hashed(file, baskets)  # hashing large data must not keep others from the ledger
            with file.writing() as connection:
                held = load(file)
                anchor = self._checked(held)
                if anchor is not None:
                    anchor.check()
                changed = self._check(held, asked, rows, same_data)
                amounts = {name: str(getattr(asked, ours)) for name, ours in AMOUNTS.items()}
                content = {"kind": "spend", "number": len(held.spends) + 1, "at": _now()} | told | amounts
                entries.append(connection, held.entries, content, changed)
                # Nobody is part of any data set, so forgetting the rows for an empty one would let any other in later.
                if rows is not None and (held.account.known is None or rows.distinct):
                    entries.keep(connection, rows.fingerprint())
                spend = load(file).spends[-1]
            self.head = spend.head
            if anchor is not None:
                self._bring_up(
                    file, spend.head, f"Spend {spend.number} of {self.path} stands, but nothing was released"
                )
            return spend

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
        """Return the state that :meth:`spend` would leave, or raise what it would raise. Nothing is spent."""
        asked = Price.of(epsilon, delta, rho, discovery_delta, neighbours)
        with storage.opened(self.path, FORM) as file:
            rows = self._hashed(file, baskets)
            held = self._read(file)
            self._check(held, asked, rows, same_data)
            return held.account.state([*held.spends, asked])

    def record(self, spend: Spend, digest: str) -> None:
        """Write down that the release which `spend` paid for has left the building, by its digest."""
        digest = _text(digest, "digest")
        with storage.opened(self.path, FORM, f"Spend {spend.number} stands, without its release") as file:
            with file.writing() as connection:
                held = load(file)
                anchor = self._anchor_of(held)
                kept = held.spends[spend.number - 1] if 0 < spend.number <= len(held.spends) else None
                if kept is None or kept.head != spend.head:
                    raise MisuseError(f"Spend {spend.number} is not one of {self.path}: record it where it was spent.")
                if kept.release not in (None, digest):
                    raise MisuseError(
                        f"Spend {spend.number} of {self.path} has another release recorded already; each release needs "
                        "a spend of its own."
                    )
                if kept.release is None:
                    # Without the time: how long a release took may depend on the data.
                    content = {"kind": "release", "spend": spend.number, "digest": digest}
                    entries.append(connection, held.entries, content)
            self.head = held.entries[-1].head
            if anchor is not None:
                self._bring_up(file, self.head, f"The release of spend {spend.number} of {self.path} is recorded")

    def spends(self) -> tuple[Spend, ...]:
        """Return all spends, in order."""
        return tuple(self._seen().spends)

    def state(self) -> State:
        """Return where the account stands."""
        held = self._seen()
        return held.account.state(held.spends)

    def export(self, stream: BinaryIO, format: Literal["json", "csv"] = "json") -> None:  # noqa: A002
        """Write the account and its spends for others to read: nothing in it depends on the data.

        Parameters
        ----------
        stream
            Where to; bytes.
        format
            ``"json"``: one object with `ledger`, `spends` and the `chain` they are read from, an entry and its head
            each, from which anyone can compute the heads again. ``"csv"``: a line a spend.
        """
        held = self._seen()
        spends = [spend.to_dict() for spend in held.spends]
        if format == "json":
            chain = [{"entry": entry.text, "head": entry.head} for entry in held.entries]
            told = {"ledger": held.account.state(held.spends).to_dict(), "spends": spends, "chain": chain}
            stream.write(json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")
        elif format == "csv":
            text = io.StringIO()
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(Spend.columns())
            for spend in spends:
                cells = spend | {"parameters": entries.as_text(spend["parameters"])}
                lines.writerow(map(_cell, cells.values()))
            stream.write(text.getvalue().encode())
        else:
            raise MisuseError(f"A ledger is exported as json or csv; {format!r} was given.")

    def _seen(self) -> Book:
        with storage.opened(self.path, FORM) as file:
            return self._read(file)

    def _read(self, file: storage.LedgerFile) -> Book:
        """Read what stands there, after what the anchor has: others may spend in the meantime."""
        with file.reading():
            held = load(file)
        anchor = self._anchor_of(held)
        if anchor is not None:
            last = anchor.read()
            with file.reading():
                held = load(file)
            self._compare(held, anchor, last)
        self.head = held.entries[-1].head
        return held

    def _anchor_of(self, held: Book) -> Anchor | None:
        """Return where the last head is kept: as was given, else as the ledger remembers."""
        if self._anchor is not None or held.account.anchor is None:
            return self._anchor
        if held.account.anchor.startswith(COMMAND):
            # Never run: a file that was handed over must not decide what is run here.
            raise MisuseError(
                told(
                    "{path} is anchored by a command, {program}. A ledger keeps no commands: give it again, as "
                    "{anchor=like}.",
                    path=self.path,
                    like=f"{COMMAND}…",
                    program=held.account.anchor.removeprefix(COMMAND),
                )
            )
        return anchor_of(Path(held.account.anchor))

    def _checked(self, held: Book) -> Anchor | None:
        """Compare with the anchor, which nobody else writes while the ledger is locked for writing; return it."""
        anchor = self._anchor_of(held)
        if anchor is not None:
            self._compare(held, anchor, anchor.read())
        return anchor

    def _compare(self, held: Book, anchor: Anchor, last: str | None) -> None:
        again = f"`discreet ledger anchor {word(self.path)} {word(anchor.place)} --anew`"
        if last is None:
            raise InputError(
                f"There is no head of {self.path} in the anchor {anchor.place}. Nothing was spent. If its disk is not "
                f"mounted, mount it; if it is lost, or was never begun, say {again}."
            )
        if last not in held:
            raise InputError(
                f"{self.path} is older than its anchor {anchor.place}, or another ledger: its chain does not have the "
                "head that is kept there. Nothing was spent. Give the newest file of the ledger. If that is lost, say "
                f"{again}, and then spend again what was released since this copy was made."
            )

    def _bring_up(self, file: storage.LedgerFile, head: str, done: str) -> None:
        """Keep the last head in the anchor, with the ledger locked, so that the last to write it has the last head.

        The ledger comes first: whoever dies in between leaves an anchor whose head the chain has, and can go on. The
        result is shown after both.
        """
        try:
            with file.holding():
                held = load(file)
                anchor = self._checked(held)
                if anchor is None or head not in held:
                    raise InputError(f"{self.path} was replaced by another file in the meantime.")
                anchor.keep(held.entries[-1].head)
        except (DiscreetError, sqlite3.Error) as error:
            reason = str(error) if isinstance(error, DiscreetError) else f"{self.path} cannot be locked any more."
            raise InputError(f"{done}: the head of the chain cannot be anchored. {reason}") from error

    def _anchor_at(self, anchor: Anchor, anew: bool) -> None:
        with storage.opened(self.path, FORM) as file:
            with file.writing() as connection:
                held = load(file)
                if self._anchor is None and held.account.anchor == anchor.place:
                    self._anchor = anchor  # it begins where it was
                if not anew:
                    self._checked(held)
                there = anchor.read()
                if there is not None and not anew:
                    self._compare(held, anchor, there)
                anchor.check()
                # Before the entry that says so: a ledger which remembers an anchor has one, whoever dies when.
                anchor.keep(held.entries[-1].head)
                if held.account.anchor != anchor.place:
                    entries.append(connection, held.entries, {"kind": "anchor", "place": anchor.place})
            self._anchor, self.head = anchor, held.entries[-1].head
            self._bring_up(file, self.head, f"{self.path} remembers its new anchor")

    def _hashed(self, file: storage.LedgerFile, baskets: AnyBaskets | None) -> HashedRows | None:
        if baskets is None:
            return None
        with file.reading():
            key = load(file).account.key
        return HashedRows.of(baskets, key)

    def _check(self, held: Book, asked: Price, rows: HashedRows | None, same_data: bool) -> bool:
        """Raise unless the account allows it and the data are its own; say whether they have changed."""
        account = held.account
        account.check(held.spends, asked)
        if rows is None or account.known is None:
            return False
        likeness = rows.likeness(account.known)
        if likeness == "other" and not same_data:
            raise MisuseError(
                told(
                    "{path} is the ledger of other data: most of these baskets are not among them. Nothing was spent. "
                    "Use the ledger of these data. If they are the same data, much changed, say so with "
                    "{same_data=True}.",
                    path=self.path,
                )
            )
        return likeness != "same"


def _text(value: str, name: str, least: int = 1) -> str:
    """Return a text that can be kept, and shown in a terminal."""
    if not isinstance(value, str) or not least <= len(value) <= _LONGEST or not value.isprintable():
        raise MisuseError(
            told(
                "{option} is a text of {fewest} to {many} letters on one line; {given!r} was given.",
                option=named(name),
                fewest=least,
                many=_LONGEST,
                given=str(value)[:40],
            )
        )
    return value


def _as_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads(entries.as_text(dict(parameters)))
    except (TypeError, ValueError):
        raise MisuseError(
            "Parameters are kept as JSON: texts, finite numbers, true, false, lists and objects of these."
        ) from None
    return kept


def _cell(value: Any) -> Any:
    """Return a value that a spreadsheet shows as it is: what looks like a formula gets an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.lstrip()[:1] in _FORMULA and value.strip() else value


def _check_free(anchor: Anchor) -> None:
    """Raise unless a new ledger can be anchored there."""
    if anchor.read() is not None:
        raise MisuseError(f"The anchor {anchor.place} holds the head of another ledger: give each a place of its own.")
    anchor.check()


def _random() -> str:
    return SystemSource().words(_KEY_WORDS).tobytes().hex()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
