"""The chain of a ledger: each entry is bound by a hash to all before it, so that none can be changed unseen.

An entry is a text, and its head is the SHA-256 of the head before it, a line feed and the text; the first follows no
head. Whoever knows a head knows everything up to it: an entry that is edited, left out or moved gives other heads from
there on. What entries mean is the business of `ledger`; what depends on the data must not enter one.
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
    """One thing that happened, as it was written, and the head of the chain from then on."""

    text: str
    head: str

    @property
    def content(self) -> dict[str, Any]:
        """What the text says."""
        content: dict[str, Any] = json.loads(self.text)
        return content


def following(entries: Sequence[ChainEntry], content: Mapping[str, Any]) -> ChainEntry:
    """Return the entry that comes after these.

    Examples
    --------
    >>> first = following([], {"kind": "ledger"})
    >>> first.text
    '{"kind":"ledger"}'
    >>> second = following([first], {"kind": "spend"})
    >>> broken([first, second]), broken([second]), broken([first, first])
    (None, 0, 1)
    """
    # ASCII, sorted and without blanks: nothing in it that a program on its way would write in another way.
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return ChainEntry(text=text, head=_head(entries[-1].head if entries else "", text))


def broken(entries: Sequence[ChainEntry]) -> int | None:
    """Return the place of the first entry that does not follow from those before it; None where all do."""
    head = ""
    for place, entry in enumerate(entries):
        head = _head(head, entry.text)
        if head != entry.head:
            return place
    return None


def is_head(text: str) -> bool:
    """Say whether a text could be a head: 64 hexadecimal digits."""
    return _HEAD.fullmatch(text) is not None


def _head(before: str, text: str) -> str:
    return sha256(f"{before}\n{text}".encode()).hexdigest()
