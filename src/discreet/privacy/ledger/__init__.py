"""The account of one data set: its total budget and its spends. One SQLite file.

`ledger` is the user's interface: create, spend, look. The arithmetic of `account` checks a spend, and one transaction
writes the spend before a result is shown. `entries` describes the contents of the file. A hash binds each entry to all
entries before it (`chain`); an `anchor` keeps the last hash in a second place, so that an older copy is detected.
`storage` is the file itself: written whole, read whole, or refused. `fingerprint` compares data with the data of
earlier spends. `upgrade` brings files of version 1 to version 2. The proofs are in `ledger.md`.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
