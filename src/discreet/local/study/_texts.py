"""Items that no list has: the numbering of texts as candidates of one question, and back.

A question about texts lists a few beginnings, and the number of further symbols that count. So the form of a question
about millions of candidates stays short. `local.device.answering.number_texts` numbers one text; `TextNumbers.answers`
numbers all texts of a vocabulary at once, and a test checks that both agree.
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

_BLOCK = 1 << 16  # texts per block: larger takes more memory, smaller more passes of numpy
_SYMBOLS_CACHE: dict[int, tuple[Any, str, int, NDArray[Any]]] = {}  # the symbols of one vocabulary, by its id
_TABLE_LOCK = Lock()  # the table of a question is made once, by the first thread that needs it
# Odd, so that multiplying is one to one. Any such numbers do: keys only find beginnings, and symbols are compared then.
_FACTOR, _ADDEND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


@dataclass(frozen=True)
class TextNumbers:
    """The numbering of texts as items of one question.

    Parameters
    ----------
    begin
        The beginnings of texts; no beginning starts with another beginning. A whole text ends with a line feed.
    alphabet
        The symbols of texts: public. A text with a further symbol is no item.
    step
        The number of symbols after a beginning that count.
    length
        The largest number of symbols of a text.
    """

    begin: tuple[str, ...]
    alphabet: str
    step: int
    length: int
    _tables: dict[int, tuple[Vocabulary, Codes]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.begin or any(after.startswith(before) for before, after in pairwise(sorted(self.begin))):
            raise MisuseError("What texts may begin with is different from each other, and none begins with another.")
        check_texts(self.alphabet, self.length)
        if self.step >= MOST_SYMBOLS.bit_length() or len(self) > MOST_SYMBOLS:
            raise MisuseError(f"A question has up to {MOST_SYMBOLS:,} candidates: go on by fewer symbols at a time.")

    @classmethod
    def whole(cls, texts: Iterable[str], alphabet: str, length: int) -> TextNumbers:
        """Return the numbering that gives each text its position."""
        return cls(tuple(text + END for text in texts), alphabet, 0, length)

    @property
    def base(self) -> int:
        """The number of symbols that can follow, with the end of a text as one symbol."""
        return len(self.alphabet) + 1

    def __len__(self) -> int:
        return len(self.begin) * int(self.base**self.step)

    def form(self) -> dict[str, Any]:
        """Return the numbering as JSON values."""
        return {"begin": list(self.begin), "alphabet": self.alphabet, "step": self.step, "length": self.length}

    def text(self, number: int) -> str | None:
        """Return the text of a number, with a line feed at the end of a whole text; None if symbols follow an end."""
        position, remainder = divmod(number, self.base**self.step)
        digits = [remainder // self.base**power % self.base for power in reversed(range(self.step))]
        symbols = "".join(END if digit == 0 else self.alphabet[digit - 1] for digit in digits)
        text, end, further = (self.begin[position] + symbols).partition(END)
        return None if further.strip(END) else text + end

    def answers(self, baskets: Baskets, people: NDArray[np.int64]) -> tuple[Offsets, NDArray[np.int32]]:
        """Return the items that each person holds, ascending, row by row."""
        rows = (baskets.offsets, baskets.codes, people, self._table(baskets.vocabulary))
        sizes = np.empty(len(people), np.int64)
        workspace = np.empty(int(np.diff(baskets.offsets).max(initial=0)), np.int32)
        count_numbered(*rows, workspace, sizes)
        offsets = starts(sizes)
        held_items = np.empty(offsets[-1], np.int32)
        list_numbered(*rows, workspace, offsets, held_items)
        return offsets, held_items

    def _table(self, vocabulary: Vocabulary) -> Codes:
        """Return the number of each label of a vocabulary, or -1; computed once per vocabulary."""
        with _TABLE_LOCK:
            if id(vocabulary) not in self._tables:
                # The vocabulary is stored too: while it lives, no other object has its id.
                self._tables[id(vocabulary)] = (vocabulary, self.numbers(vocabulary))
            return self._tables[id(vocabulary)][1]

    def numbers(self, vocabulary: Vocabulary) -> Codes:
        """Return the number of each label, or -1 for a label that is no item of the question."""
        numbers = np.full(len(vocabulary), -1, np.int32)
        all_symbols = symbols_of(vocabulary, self.alphabet, self.length)
        for start in range(0, len(vocabulary), _BLOCK):
            symbols = all_symbols[start : start + _BLOCK]
            block_numbers = numbers[start : start + _BLOCK]
            for length, (keys, rows, positions) in self._by_length.items():
                text_keys = _row_keys(symbols[:, :length])
                matches = np.minimum(np.searchsorted(keys, text_keys), len(keys) - 1)
                # Equal keys are checked against the symbols: two rows can have one key.
                texts = np.flatnonzero((keys[matches] == text_keys) & (symbols[:, 0] > 0))
                texts = texts[(rows[matches[texts]] == symbols[texts, :length]).all(1)]
                number = positions[matches[texts]]
                for column in range(length, length + self.step):
                    number = number * self.base
                    number += symbols[texts, column] if column < symbols.shape[1] else 0
                block_numbers[texts] = number
        return numbers

    @cached_property
    def _by_length(self) -> dict[int, tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int64]]]:
        """The beginnings of each length: their keys, ascending, with their symbols and positions."""
        digits = {symbol: digit for digit, symbol in enumerate(self.alphabet, start=1)}
        positions_by_length: dict[int, list[int]] = {}
        for position, beginning in enumerate(self.begin):
            # No text with its end is longer than length + 1 symbols.
            if len(beginning) <= self.length + 1:
                positions_by_length.setdefault(len(beginning), []).append(position)
        by_length = {}
        for length, positions in positions_by_length.items():
            numbers = [digits.get(symbol, 0) for position in positions for symbol in self.begin[position]]
            rows = np.array(numbers, np.int32).reshape(len(positions), length)
            keys = _row_keys(rows)
            order = np.argsort(keys, kind="stable")
            by_length[length] = (keys[order], rows[order], np.array(positions, np.int64)[order])
        return by_length


def check_texts(alphabet: str, length: int) -> None:
    """Check the alphabet of a question, and the largest length of its texts."""
    if not alphabet or len(set(alphabet)) < len(alphabet) or not alphabet.isprintable():
        raise MisuseError(
            "An alphabet is the symbols of texts, each printable and written once, or ascii for all printable ones of "
            f"ASCII; {alphabet!r:.60} was given."
        )
    if not 1 <= length <= MOST_TEXT:
        raise MisuseError(f"The longest text has 1 to {MOST_TEXT:,} symbols; {length:,} was given.")


def symbols_of(vocabulary: Vocabulary, alphabet: str, length: int) -> NDArray[Any]:
    """Return the symbols of all labels, one row each: 1 is the first symbol of the alphabet, 0 the end of a text.

    The row of a label that is no item is 0. There is one column more than symbols, so that every row has an end. The
    latest array is kept while its vocabulary lives: the rounds of a search read the same texts.
    """
    cached = _SYMBOLS_CACHE.get(id(vocabulary))
    if cached is not None and cached[1:3] == (alphabet, length):
        return cached[3]
    symbols = np.zeros((len(vocabulary), length + 1), np.min_scalar_type(len(alphabet)))
    for start in range(0, len(vocabulary), _BLOCK):
        symbols[start : start + _BLOCK] = _split_labels(vocabulary, start, alphabet, length)
    reference = ref(vocabulary, partial(_drop_symbols, id(vocabulary)))
    _SYMBOLS_CACHE.clear()
    _SYMBOLS_CACHE[id(vocabulary)] = (reference, alphabet, length, symbols)
    return symbols


def _drop_symbols(vocabulary_id: int, _: Any) -> None:
    _SYMBOLS_CACHE.pop(vocabulary_id, None)


def _split_labels(vocabulary: Vocabulary, start: int, alphabet: str, length: int) -> NDArray[np.int32]:
    """Return the symbols of one block of labels, as :func:`symbols_of` does."""
    import pyarrow as pa

    labels = vocabulary.labels.slice(start, _BLOCK).cast(pa.large_string())
    sizes = as_numpy(pa.compute.utf8_length(labels)).astype(np.int64)
    code_points = np.frombuffer("".join(labels.to_pylist()).encode("utf-32-le"), "<u4")
    alphabet_points = np.array(sorted(map(ord, alphabet)), np.uint32)
    alphabet_digits = np.array([alphabet.index(chr(point)) + 1 for point in alphabet_points.tolist()], np.int32)
    matches = np.minimum(np.searchsorted(alphabet_points, code_points), len(alphabet_points) - 1)
    digits = np.where(alphabet_points[matches] == code_points, alphabet_digits[matches], 0).astype(np.int32)
    ends = starts(sizes)
    # Labels with a symbol outside the alphabet, or of another length, are no items.
    foreign_count = np.concatenate(([0], np.cumsum(digits == 0)))
    is_item = (sizes > 0) & (sizes <= length) & (foreign_count[ends[1:]] == foreign_count[ends[:-1]])
    symbols = np.zeros((len(labels), length + 1), np.int32)
    items = np.flatnonzero(is_item)
    rows = np.repeat(items, sizes[items])
    columns = np.arange(len(rows)) - np.repeat(starts(sizes[items])[:-1], sizes[items])
    symbols[rows, columns] = digits[np.repeat(ends[items], sizes[items]) + columns]
    return symbols


def _row_keys(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row: equal rows have equal hashes, and different rows hardly ever."""
    keys = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        keys = (keys + rows[:, column].astype(np.uint64) + _ADDEND) * _FACTOR
        keys ^= keys >> np.uint64(29)
    return keys
