"""Items that no list has: how texts become numbers, for one question, and back.

A question about texts has some that they may begin with, and tells a device how many of the symbols that follow count.
So it is about very many candidates and stays short. `local.device.answering.number_texts` says what one text becomes;
`TextNumbers.answers` says it for all texts of a vocabulary at once, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from threading import Lock
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from ...baskets import Baskets, Codes, Offsets, Vocabulary, as_numpy, starts
from ...errors import MisuseError
from ...kernels import count_numbered, list_numbered
from ..device import END, MOST_SYMBOLS, MOST_TEXT

_BLOCK = 1 << 16  # texts that are taken apart at a time
_LAST: dict[int, tuple[Any, str, int, NDArray[Any]]] = {}  # the symbols of one vocabulary, by its id
_MAKING = Lock()  # held while the table of a question is made, which all threads wait for
_TIMES, _PLUS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)  # of the keys that beginnings are found by


@dataclass(frozen=True)
class TextNumbers:
    """How texts become items in one question.

    Parameters
    ----------
    begin
        What texts may begin with, of which none begins with another; a whole text ends with a line feed.
    alphabet
        The symbols of texts: public. Texts with others are no items.
    step
        How many symbols that follow count.
    length
        How many symbols a text has at most.
    """

    begin: tuple[str, ...]
    alphabet: str
    step: int
    length: int
    _tables: dict[int, tuple[Vocabulary, Codes]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.begin or any(other.startswith(one) for one, other in pairwise(sorted(self.begin))):
            raise MisuseError("What texts may begin with is different from each other, and none begins with another.")
        check_texts(self.alphabet, self.length)
        if self.step >= MOST_SYMBOLS.bit_length() or len(self) > MOST_SYMBOLS:
            raise MisuseError(f"A question has up to {MOST_SYMBOLS:,} candidates: go on by fewer symbols at a time.")

    @classmethod
    def whole(cls, texts: Iterable[str], alphabet: str, length: int) -> TextNumbers:
        """Return what makes each of some texts the number of its place."""
        return cls(tuple(text + END for text in texts), alphabet, 0, length)

    @property
    def base(self) -> int:
        """How many symbols may follow, the end among them."""
        return len(self.alphabet) + 1

    def __len__(self) -> int:
        return len(self.begin) * int(self.base**self.step)

    def form(self) -> dict[str, Any]:
        """Return it as it travels."""
        return {"begin": list(self.begin), "alphabet": self.alphabet, "step": self.step, "length": self.length}

    def text(self, number: int) -> str | None:
        """Return what a number stands for, with a line feed where it is whole; None where something follows the end."""
        place, rest = divmod(number, self.base**self.step)
        digits = [rest // self.base**power % self.base for power in reversed(range(self.step))]
        after = "".join(END if digit == 0 else self.alphabet[digit - 1] for digit in digits)
        found, end, more = (self.begin[place] + after).partition(END)
        return None if more.strip(END) else found + end

    def answers(self, baskets: Baskets, people: NDArray[np.int64]) -> tuple[Offsets, NDArray[np.int32]]:
        """Return the items that each of these people holds, ascending, row by row."""
        table = self._table(baskets.vocabulary)
        rows = (baskets.offsets, baskets.codes, people, table)
        sizes = np.empty(len(people), np.int64)
        longest = int(np.diff(baskets.offsets).max(initial=0))
        count_numbered(*rows, np.empty(longest, np.int32), sizes)
        offsets = starts(sizes)
        held = np.empty(offsets[-1], np.int32)
        list_numbered(*rows, np.empty(longest, np.int32), offsets, held)
        return offsets, held

    def _table(self, vocabulary: Vocabulary) -> Codes:
        """Return the number of each label of a vocabulary, or -1; it is made once, whoever asks first."""
        with _MAKING:
            known = self._tables.get(id(vocabulary))
            if known is None:
                known = (vocabulary, self.numbers(vocabulary))
                self._tables[id(vocabulary)] = known
            return known[1]

    def numbers(self, vocabulary: Vocabulary) -> Codes:
        """Return the number of each label, or -1 where it is no item of the question."""
        found = np.full(len(vocabulary), -1, np.int32)
        every = symbols_of(vocabulary, self.alphabet, self.length)
        for start in range(0, len(vocabulary), _BLOCK):
            symbols = every[start : start + _BLOCK]
            part = found[start : start + _BLOCK]
            for length, (keys, rows, places) in self._by_length.items():
                mine = _keys(symbols[:, :length])
                at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
                same = np.flatnonzero((keys[at] == mine) & (symbols[:, 0] > 0))
                same = same[(rows[at[same]] == symbols[same, :length]).all(1)]
                number = places[at[same]]
                for column in range(length, length + self.step):
                    number = number * self.base
                    number += symbols[same, column] if column < symbols.shape[1] else 0
                part[same] = number
        return found

    @cached_property
    def _by_length(self) -> dict[int, tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]]]:
        """The beginnings of each length: the keys that they are found by, ascending, their symbols and places."""
        digits = {symbol: at for at, symbol in enumerate(self.alphabet, start=1)}
        found: dict[int, list[int]] = {}
        for place, one in enumerate(self.begin):
            # Longer than any text, with its end, none begins with.
            if len(one) <= self.length + 1:
                found.setdefault(len(one), []).append(place)
        by_length = {}
        for length, places in found.items():
            numbers = [digits.get(symbol, 0) for place in places for symbol in self.begin[place]]
            rows = np.array(numbers, np.int32).reshape(len(places), length)
            keys = _keys(rows)
            order = np.argsort(keys, kind="stable")
            by_length[length] = (keys[order], rows[order], np.array(places, np.int64)[order])
        return by_length


def check_texts(alphabet: str, length: int) -> None:
    """Refuse an alphabet that is none, and texts of no length or too much."""
    strange = [one for one in alphabet if not (one.isprintable() or one == " ") or alphabet.count(one) > 1]
    if not alphabet or strange:
        raise MisuseError(
            "An alphabet is the symbols of texts, each printable and written once, or ascii for all printable ones of "
            f"ASCII; {alphabet!r:.60} was given."
        )
    if not 1 <= length <= MOST_TEXT:
        raise MisuseError(f"The longest text has 1 to {MOST_TEXT:,} symbols; {length:,} was given.")


def symbols_of(vocabulary: Vocabulary, alphabet: str, length: int) -> NDArray[Any]:
    """Return the symbols of all labels, a row each: 1 for the first of the alphabet, and 0 from the end on.

    Of labels that are no items all are 0. There is one column more than symbols, so that every row has an end. What was
    returned last is kept for as long as its vocabulary is: the rounds of a search go through the same texts.
    """
    last = _LAST.get(id(vocabulary))
    if last is not None and last[1:3] == (alphabet, length):
        return last[3]
    found = np.zeros((len(vocabulary), length + 1), np.min_scalar_type(len(alphabet)))
    for start in range(0, len(vocabulary), _BLOCK):
        found[start : start + _BLOCK] = _taken_apart(vocabulary, start, _BLOCK, alphabet, length)
    gone = ref(vocabulary, partial(_forget, id(vocabulary)))
    _LAST.clear()
    _LAST[id(vocabulary)] = (gone, alphabet, length, found)
    return found


def _forget(which: int, _: Any) -> None:
    _LAST.pop(which, None)


def _taken_apart(vocabulary: Vocabulary, start: int, many: int, alphabet: str, length: int) -> NDArray[np.int32]:
    import pyarrow as pa

    labels = vocabulary.labels.slice(start, many).cast(pa.large_string())
    joined = "".join(labels.to_pylist())
    sizes = as_numpy(pa.compute.utf8_length(labels)).astype(np.int64)
    points = np.frombuffer(joined.encode("utf-32-le"), "<u4")
    known = np.array(sorted(map(ord, alphabet)), np.uint32)
    order = np.array([alphabet.index(chr(point)) + 1 for point in known.tolist()], np.int32)
    at = np.minimum(np.searchsorted(known, points), len(known) - 1)
    digits = np.where(known[at] == points, order[at], 0).astype(np.int32)
    ends = starts(sizes)
    strange = np.concatenate(([0], np.cumsum(digits == 0)))
    good = (sizes > 0) & (sizes <= length) & (strange[ends[1:]] == strange[ends[:-1]])
    found = np.zeros((len(labels), length + 1), np.int32)
    kept = np.flatnonzero(good)
    rows = np.repeat(kept, sizes[kept])
    columns = np.arange(len(rows)) - np.repeat(starts(sizes[kept])[:-1], sizes[kept])
    found[rows, columns] = digits[np.repeat(ends[kept], sizes[kept]) + columns]
    return found


def _keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row, the same for the same row, and hardly ever for another."""
    keys = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        keys = (keys + rows[:, column].astype(np.uint64) + _PLUS) * _TIMES
        keys ^= keys >> np.uint64(29)
    return keys
