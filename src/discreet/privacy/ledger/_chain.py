r"""The chain of a ledger: a hash binds each entry to all entries before it, so that every change is detected.

An entry is a text; its head is SHA-256(previous head + "\n" + text), and the first entry has an empty previous head. A
head therefore determines all entries up to its own: an edited, deleted or moved entry changes all later heads. `ledger`
gives entries their meaning; no private value may enter an entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

_HEAD = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class ChainEntry:
    """One event as written, and the head of the chain after it."""

    text: str
    head: str

    @property
    def content(self) -> dict[str, Any]:
        """The parsed text."""
        content: dict[str, Any] = json.loads(self.text)
        return content


def next_entry(entries: Sequence[ChainEntry], content: Mapping[str, Any]) -> ChainEntry:
    """Return the next entry of a chain.

    Examples
    --------
    >>> first = next_entry([], {"kind": "ledger"})
    >>> first.text
    '{"kind":"ledger"}'
    >>> second = next_entry([first], {"kind": "spend"})
    >>> find_broken_entry([first, second]), find_broken_entry([second]), find_broken_entry([first, first])
    (None, 0, 1)
    """
    # ASCII, sorted and without blanks, so that every program writes and hashes an equal text.
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return ChainEntry(text=text, head=_hash_head(entries[-1].head if entries else "", text))


def find_broken_entry(entries: Sequence[ChainEntry]) -> int | None:
    """Return the place of the first entry with a wrong head; None if the chain holds."""
    head = ""
    for place, entry in enumerate(entries):
        # The recomputed head goes on, and not the stored one: every later entry then differs too.
        head = _hash_head(head, entry.text)
        if head != entry.head:
            return place
    return None


def is_head(text: str) -> bool:
    """Return whether a text has the form of a head: 64 hexadecimal digits."""
    return _HEAD.fullmatch(text) is not None


def _hash_head(previous_head: str, text: str) -> str:
    return sha256(f"{previous_head}\n{text}".encode()).hexdigest()
