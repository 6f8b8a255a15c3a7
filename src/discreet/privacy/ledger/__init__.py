"""The account of one data set: what may be spent on it in all, and what was spent. One SQLite file.

`ledger` is what a user calls: create, spend, look. A spend is checked by the arithmetic of `account` and written down
in one transaction before a result is shown. What stands in the file is described in `entries`; each entry is bound by a
hash to all before it (`chain`), and the last hash may be kept elsewhere too (`anchor`), so that an older copy is found
out. `storage` is the file itself: written whole, read whole, or refused. `fingerprint` tells whether the data are those
the ledger was opened for. `upgrade` brings files of version 1 to version 2. The proofs are in `ledger.md`.
"""
