"""The reports of a round, streamed to a card or made there: their sums stay on the card until the end of the round.

Reports pass through two stages of pinned memory. While the card works on the bytes of one stage, the next reports are
written to the second stage, so that the card waits for the reader of the reports alone. Words that are no report of the
round are counted as refused and add nothing, as on the cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CardError
from ..local.oracle_steps import Counts, SimulatedAnswers
from ._card import OLH, WHEEL, Card, Words, count_blocks
from ._driver import CardArray, Stage, check_room

_CELLS = 1 << 12  # the largest number of cells in the shared memory of a block, as in `kernels.cu`
_CHECK_BLOCKS = 1024  # blocks that check reports: enough to keep a card busy; each adds its sums up once
_STAGE_BYTES = 1 << 25  # larger: more pinned memory; smaller: more copies and launches


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundSums:
    """The sums of a round.

    Parameters
    ----------
    people, refused
        The number of reports, and the number of rows of words that are no report.
    aggregate
        The aggregate of the reports, as the adder of the oracle starts it.
    cells
        The number of reports in each of the equally likely cells of `Oracle.cells`; empty for an oracle without cells.
    """

    people: int
    refused: int
    aggregate: Counts
    cells: Counts


def can_add(oracle: Any) -> bool:
    """Return whether the kernels add up the reports of an oracle: `olh`, `blh`, and `wheel` without published seeds."""
    seeds = getattr(oracle, "seeds", None)
    if oracle.name == "wheel":
        return seeds is None and len(oracle.cells(oracle.codec.make_columns([]))) == 16
    if oracle.name not in ("olh", "blh"):
        return False
    cells = oracle.cells(oracle.codec.make_columns([]))
    return oracle.buckets < 1 << 31 and (cells is None or len(cells) <= _CELLS)


class CardRound:
    """One round of an oracle, added up on a card.

    Parameters
    ----------
    card
        The card.
    oracle
        An oracle for which `can_add` is true.
    stage_bytes
        The bytes of each of the two stages.
    """

    def __init__(self, card: Card, oracle: Any, stage_bytes: int = _STAGE_BYTES) -> None:
        self._card, self._driver, self._oracle = card, card.driver, oracle
        self._seeds = getattr(oracle, "seeds", None)
        self._width = 3 if self._seeds is None else 2
        self.kind = (WHEEL, oracle.arc) if oracle.name == "wheel" else (OLH, oracle.buckets)
        cells = oracle.cells(oracle.codec.make_columns([]))
        self._cell_count = 0 if cells is None else len(cells)
        shape = oracle.adder.start().shape
        check_room(self._driver, 8 * int(np.prod(shape)) + 4 * stage_bytes)
        self._aggregate = self._driver.zeros(shape, np.uint64)
        self._cells = self._driver.zeros((max(1, self._cell_count),), np.uint64)
        self._refused = self._driver.zeros((1,), np.uint64)
        self._report_count = 0
        self._stages: tuple[Stage, Stage] = (self._driver.stage(stage_bytes), self._driver.stage(stage_bytes))
        self._filled = 0  # written bytes of the first stage

    def add_words(self, words: Words) -> None:
        """Add packed reports: rows of words, as `local.oracle_steps.codec` packs them."""
        word_bytes = np.ascontiguousarray(words, np.uint32).reshape(-1).view(np.uint8)
        report_bytes = 4 * self._width
        room = len(self._stages[0].host) // report_bytes * report_bytes
        while len(word_bytes):
            part = word_bytes[: room - self._filled]
            if not self._filled:
                self._stages[0].wait()
            self._stages[0].host[self._filled : self._filled + len(part)] = part
            self._filled, word_bytes = self._filled + len(part), word_bytes[len(part) :]
            if self._filled == room:
                self._flush()

    def _flush(self) -> None:
        """Send the written bytes of the first stage to the card, add their reports, and change the stages."""
        if not self._filled:
            return
        stage, reports = self._stages[0], self._filled // (4 * self._width)
        words = stage.send(self._filled)
        with stage.work():
            self._add(words, reports)
        self._filled, self._stages = 0, self._stages[::-1]

    def _add(self, words: CardArray, reports: int) -> None:
        """Add a number of reports on the card."""
        self._report_count += reports
        kind, number = self.kind
        if self._seeds is not None:
            numbers = (np.int64(reports), np.uint32(self._seeds), np.uint32(number))
            arguments = (words, *numbers, self._aggregate, self._refused)
            self._driver.launch("tabulate", (count_blocks(reports), 1), arguments)
            return
        self._card.add_supports(words, reports, self._width, kind, number, len(self._aggregate), self._aggregate)
        parameters = (kind, np.uint32(number), np.int64(reports), np.uint32(self._cell_count))
        grid = (min(_CHECK_BLOCKS, count_blocks(reports)), 1)
        self._driver.launch("look_over", grid, (words, *parameters, self._cells, self._refused))

    def add_drawn(self, answered: SimulatedAnswers, seed: int) -> None:
        """Add a report of each person, made on the card from the random words that `kernels.devices` draws."""
        self._flush()
        for words, reports in self._make_chunks(answered, seed):
            self._add(words, reports)

    def make_reports(self, answered: SimulatedAnswers, seed: int) -> Words:
        """Return a report of each person as packed words, made on the card and not added."""
        self._flush()
        chunks = [np.zeros((0, self._width), np.uint32)]
        chunks += [self._driver.download(words) for words, _ in self._make_chunks(answered, seed)]
        return np.concatenate(chunks)

    def _make_chunks(self, answered: SimulatedAnswers, seed: int) -> Iterator[tuple[CardArray, int]]:
        """Yield the reports of chunks of people on the card, and their number, within the work of a stage."""
        for people, offsets, held in _split_people(answered, len(self._stages[0].host)):
            stage = self._stages[0]
            stage.wait()
            if 16 * len(people) + 4 * len(held) + 32 > len(stage.host):
                raise CardError(f"Somebody holds {len(held):,} values, more than are brought to it at a time.")
            ends = _write_arrays(stage.host, (offsets, held, people))
            card_bytes = stage.send(ends[-1])
            arrays = tuple(card_bytes[start:stop] for start, stop in pairwise(ends))
            with stage.work():
                # CuPy reuses the memory of a stage's work for this stage alone, so that no wait is needed.
                words = self._driver.empty((len(people), self._width), np.uint32)
                self._launch_making(arrays, seed, len(people), words)
                yield words, len(people)
            self._stages = self._stages[::-1]

    def _launch_making(self, arrays: tuple[CardArray, ...], seed: int, people: int, words: CardArray) -> None:
        """Make the reports of people from the arrays of their offsets, values and numbers."""
        oracle = self._oracle
        common = (*arrays, np.uint64(seed), np.int64(oracle.pad))
        weight, rows = np.uint64(oracle.inside), np.int64(people)
        if oracle.name == "wheel":
            name, numbers = "make_points", (weight, np.int64(oracle.arc), rows)
        else:
            symbols = (np.int64(oracle.size), np.int64(oracle.dummies), weight, np.int64(oracle.buckets))
            seeds = () if self._seeds is None else (np.int64(self._seeds),)
            name, numbers = "make_hashed" if self._seeds is None else "make_numbered", (*symbols, *seeds, rows)
        self._driver.launch(name, (count_blocks(people), 1), (*common, *numbers, words))

    def total(self) -> RoundSums:
        """Return the sums of all reports."""
        self._flush()
        refused = int(self._driver.download(self._refused)[0])
        return RoundSums(
            people=self._report_count - refused,
            refused=refused,
            aggregate=self._driver.download(self._aggregate).astype(np.int64),
            cells=self._driver.download(self._cells)[: self._cell_count].astype(np.int64),
        )


def _write_arrays(host: NDArray[np.uint8], arrays: Iterable[NDArray[Any]]) -> list[int]:
    """Write arrays to memory in order, and return the place of 0 and of the end of each array."""
    ends = [0]
    for array in arrays:
        array_bytes = np.ascontiguousarray(array).view(np.uint8)
        host[ends[-1] : ends[-1] + len(array_bytes)] = array_bytes
        ends.append(ends[-1] + -(-len(array_bytes) // 8) * 8)  # numbers of 64 bits begin at multiples of 8 bytes
    return ends


def _split_people(
    answered: SimulatedAnswers, room: int
) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]:
    """Yield the people, offsets and values of chunks that fit into `room` bytes; the offsets begin with 0."""
    offsets, start = answered.offsets.astype(np.int64), 0
    byte_ends = 16 * np.arange(len(offsets)) + 4 * offsets  # bytes of the people before each person
    while start < len(answered.people):
        stop = int(np.searchsorted(byte_ends, byte_ends[start] + room - 32, side="right")) - 1
        stop = max(start + 1, min(stop, len(answered.people)))
        low, high = int(offsets[start]), int(offsets[stop])
        yield answered.people[start:stop], offsets[start : stop + 1] - low, answered.values[low:high]
        start = stop


def add_words(card: Card, oracle: Any, blocks: Iterable[Words]) -> RoundSums | None:
    """Return the sums of packed reports; None for an oracle that the kernels do not add up."""
    if not can_add(oracle):
        return None
    card_round = CardRound(card, oracle)
    for words in blocks:
        card_round.add_words(words)
    return card_round.total()


def add_drawn(card: Card, oracle: Any, blocks: Iterable[SimulatedAnswers], seed: int) -> Counts | None:
    """Return the sums of reports made on the card; None for an oracle that the kernels do not add up."""
    if not can_add(oracle):
        return None
    card_round = CardRound(card, oracle)
    for answered in blocks:
        card_round.add_drawn(answered, seed)
    return card_round.total().aggregate
