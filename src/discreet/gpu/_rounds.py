"""The reports of a round, streamed to a card or made there: what they add up to stays on the card until the end.

Reports pass through two stages of pinned memory. While the card works on what is in one, the next reports are written
to the other, so that it waits for whoever reads them and for nothing else. Words that are no report of the round are
counted and add nothing, as on this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CardError
from ..local.oracle_steps import Answered, Counts
from ._card import OLH, WHEEL, Card, Words, across
from ._driver import CardArray, Stage, check_room

_CELLS = 1 << 12  # whose counts a block keeps nearby
_LOOKING = 1024  # blocks that look reports over
_HOSTED = 1 << 25  # bytes of a stage


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundSums:
    """What a round adds up to.

    Parameters
    ----------
    people, refused
        How many reports there are, and how many others were none.
    aggregate
        Their aggregate, as the oracle's `empty` is.
    cells
        How many lie in each cell that is as likely as another: `Oracle.cells`; empty where there are none.
    """

    people: int
    refused: int
    aggregate: Counts
    cells: Counts


def takes(oracle: Any) -> bool:
    """Return whether a card adds up the reports of an oracle: those of `olh`, `blh` and `wheel`, as they are today."""
    seeds = getattr(oracle, "seeds", None)
    if oracle.name == "wheel":
        return seeds is None and len(oracle.cells(oracle.codec.make_columns([]))) == 16
    if oracle.name not in ("olh", "blh"):
        return False
    cells = oracle.cells(oracle.codec.make_columns([]))
    return oracle.buckets < 1 << 31 and (cells is None or len(cells) <= _CELLS)


class CardRound:
    """One round of an oracle that a card adds up."""

    def __init__(self, card: Card, oracle: Any, hosted: int = _HOSTED) -> None:
        self._card, self._driver, self._oracle = card, card.driver, oracle
        self._seeds = getattr(oracle, "seeds", None)
        self._wide = 3 if self._seeds is None else 2
        self.kind = (WHEEL, oracle.arc) if oracle.name == "wheel" else (OLH, oracle.buckets)
        cells = oracle.cells(oracle.codec.make_columns([]))
        self._many_cells = 0 if cells is None else len(cells)
        shape = oracle.adder.start().shape
        check_room(self._driver, 8 * int(np.prod(shape)) + 4 * hosted)
        self._aggregate = self._driver.zeros(shape, np.uint64)
        self._cells = self._driver.zeros((max(1, self._many_cells),), np.uint64)
        self._refused = self._driver.zeros((1,), np.uint64)
        self._sent = 0
        self._stages: tuple[Stage, Stage] = (self._driver.stage(hosted), self._driver.stage(hosted))
        self._fill = 0  # bytes of the first stage that are written

    def add_words(self, words: Words) -> None:
        """Add packed reports: rows of words, as `local.oracle_steps.codec` has them."""
        flat = np.ascontiguousarray(words, np.uint32).reshape(-1).view(np.uint8)
        row = 4 * self._wide
        room = len(self._stages[0].host) // row * row
        while len(flat):
            here = min(len(flat), room - self._fill)
            if not self._fill:
                self._stages[0].wait()
            self._stages[0].host[self._fill : self._fill + here] = flat[:here]
            self._fill, flat = self._fill + here, flat[here:]
            if self._fill == room:
                self._flush()

    def _flush(self) -> None:
        if not self._fill:
            return
        stage, many = self._stages[0], self._fill // (4 * self._wide)
        words = stage.send(self._fill)
        with stage.work():
            self._add(words, many)
        self._sent, self._fill, self._stages = self._sent + many, 0, self._stages[::-1]

    def _add(self, words: CardArray, many: int) -> None:
        """Add reports that lie on the card."""
        if self._seeds is not None:
            numbers = (np.int64(many), np.uint32(self._seeds), np.uint32(self.kind[1]))
            self._driver.launch("tabulate", (across(many), 1), (words, *numbers, self._aggregate, self._refused))
            return
        size = len(self._aggregate)
        self._card.count(words, many, self._wide, *self.kind, size, self._aggregate)
        self._driver.launch(
            "look_over",
            (min(_LOOKING, across(many)), 1),
            (
                words,
                self.kind[0],
                np.uint32(self.kind[1]),
                np.int64(many),
                np.uint32(self._many_cells),
                self._cells,
                self._refused,
            ),
        )

    def add_drawn(self, answered: Answered, seed: int) -> None:
        """Make everyone's report on the card, from the words that `kernels.devices` draws, and add it."""
        self._flush()
        for made, many in self._drawn(answered, seed):
            self._add(made, many)
            self._sent += many

    def reports(self, answered: Answered, seed: int) -> Words:
        """Return everyone's report as packed words, made on the card; nothing is added."""
        self._flush()
        found = [np.zeros((0, self._wide), np.uint32)]
        found += [self._driver.download(made) for made, _ in self._drawn(answered, seed)]
        return np.concatenate(found)

    def _drawn(self, answered: Answered, seed: int) -> Iterator[tuple[CardArray, int]]:
        """Yield reports on the card, some people's at a time, where the work of a stage goes on with them."""
        for people, offsets, held in _parts(answered, len(self._stages[0].host)):
            many, stage = len(people), self._stages[0]
            stage.wait()
            if 16 * many + 4 * len(held) + 32 > len(stage.host):
                raise CardError(f"Somebody holds {len(held):,} values, more than are brought to it at a time.")
            layout = _laid(stage.host, (offsets, people, held))
            there = stage.send(layout[-1])
            at = [there[begin:end] for begin, end in pairwise(layout)]
            with stage.work():
                # Memory of a stage's work is handed out again to the same stage alone: it need not be waited for.
                made = self._driver.empty((many, self._wide), np.uint32)
                self._make(at[0], at[2], at[1], seed, many, made)
                yield made, many
            self._stages = self._stages[::-1]

    def _make(
        self, offsets: CardArray, held: CardArray, people: CardArray, seed: int, many: int, made: CardArray
    ) -> None:
        oracle, who = self._oracle, (offsets, held, people, np.uint64(seed), np.int64(self._oracle.pad))
        weight, rows = np.uint64(oracle.inside), np.int64(many)
        if oracle.name == "wheel":
            name, more = "make_points", (weight, np.int64(oracle.arc), rows)
        else:
            symbols = (np.int64(oracle.size), np.int64(oracle.dummies), weight, np.int64(oracle.buckets))
            published = () if self._seeds is None else (np.int64(self._seeds),)
            name, more = "make_hashed" if self._seeds is None else "make_numbered", (*symbols, *published, rows)
        self._driver.launch(name, (across(many), 1), (*who, *more, made))

    def total(self) -> RoundSums:
        """Return what all reports add up to."""
        self._flush()
        refused = int(self._driver.download(self._refused)[0])
        return RoundSums(
            people=self._sent - refused,
            refused=refused,
            aggregate=self._driver.download(self._aggregate).astype(np.int64),
            cells=self._driver.download(self._cells)[: self._many_cells].astype(np.int64),
        )


def _laid(host: NDArray[np.uint8], arrays: Iterable[NDArray[Any]]) -> list[int]:
    """Write arrays one after another, and return where each begins and the last ends."""
    places = [0]
    for one in arrays:
        flat = np.ascontiguousarray(one).view(np.uint8)
        host[places[-1] : places[-1] + len(flat)] = flat
        places.append(places[-1] + -(-len(flat) // 8) * 8)  # each begins where numbers of 64 bits may
    return places


def _parts(answered: Answered, room: int) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]:
    """Yield people with their rows, as many at a time as there is room for; offsets begin with 0."""
    offsets, start = answered.offsets.astype(np.int64), 0
    needed = 16 * np.arange(len(offsets)) + 4 * offsets  # bytes up to each person
    while start < len(answered.people):
        stop = int(np.searchsorted(needed, needed[start] + room - 32, side="right")) - 1
        stop = max(start + 1, min(stop, len(answered.people)))
        low, high = int(offsets[start]), int(offsets[stop])
        yield answered.people[start:stop], offsets[start : stop + 1] - low, answered.held[low:high]
        start = stop


def add_words(card: Card, oracle: Any, blocks: Iterable[Words]) -> RoundSums | None:
    """Return what packed reports add up to; None where the card does not know the oracle."""
    if not takes(oracle):
        return None
    made = CardRound(card, oracle)
    for words in blocks:
        made.add_words(words)
    return made.total()


def add_drawn(card: Card, oracle: Any, blocks: Iterable[Answered], seed: int) -> Counts | None:
    """Return what the reports of these people add up to, made on the card; None where it does not know the oracle."""
    if not takes(oracle):
        return None
    made = CardRound(card, oracle)
    for answered in blocks:
        made.add_drawn(answered, seed)
    return made.total().aggregate
