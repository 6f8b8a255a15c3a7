"""Prefixes: items that no list has, found symbol by symbol: whose beginning is frequent, and how it goes on."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np

from ...errors import MisuseError
from ...privacy import exact
from .. import LARGEST, Protocol
from ..device import END, MOST_QUESTION
from ..study import (
    NEAR,
    Ask,
    CandidateList,
    Estimated,
    Learnt,
    Partition,
    Talk,
    TextNumbers,
    Wanted,
    check_parts,
    check_texts,
    checked,
    cut_off,
    estimating,
)
from .adept import Adept

MOST_VALUES = 1 << 21
"""How many candidates a question has at most, as long as one symbol more fits: what a collector adds up in seconds."""
STANDS_OUT = 2.0
"""How many deviations of its noise a beginning is over 0 that is gone on with."""
FALSE = 0.05
"""In how many of all results some item may be that nobody holds."""
WHOLE = 3.0
"""Times the square of half of what a padding cuts off: with that of the round itself, the square of all of it."""
_ASCII = "".join(map(chr, range(32, 127)))
_BYTES = 4  # of a symbol in UTF-8, at most


@dataclass(frozen=True, kw_only=True)
class Prefixes(Protocol):
    """Find the most frequent items where they are texts that nobody can list, such as addresses or queries.

    Parameters
    ----------
    find
        Single items, or itemsets of them as well: `adept` then asks about the items that were found.
    alphabet
        The symbols of texts, each written once, or `ascii` for all printable ones. Texts with others are ignored.
    length
        How many symbols a text has at most; longer ones are ignored.
    shares
        Of the people: for finding texts, and for what is asked about those that were found.
    sizes
        Of the people of a round, the share that tells how many candidates it holds.
    candidates
        How many beginnings are gone on with for every item wanted, and how many texts are counted in the end.
    oracle
        How candidates are asked for.

    Everyone is asked once: how a text goes on is asked of other people than how it begins.
    """

    find: Literal["items", "itemsets"] = "items"
    alphabet: str = "ascii"
    length: int = 24
    shares: tuple[str, str] = ("0.75", "0.25")
    sizes: str = "0.08"
    candidates: int = 2
    oracle: str = "adaptive"

    name: ClassVar[str] = "prefixes"
    summary: ClassVar[str] = "the most frequent items where they are texts that no list has, symbol by symbol"
    citation: ClassVar[str] = "after Wang, Li, Jha 2018 (PEM); Bassily, Nissim, Stemmer, Thakurta 2017 (TreeHist)"
    unlisted: ClassVar[bool] = True
    public: ClassVar[tuple[str, ...]] = ("the alphabet", "the length of the longest text")

    @property
    def symbols(self) -> str:
        """The alphabet itself."""
        return _ASCII if self.alphabet == "ascii" else self.alphabet

    def check(self, wanted: Wanted) -> None:
        """Refuse settings that do not add up."""
        check_texts(self.symbols, self.length)
        check_parts(self.name, self.parts)
        if not Fraction(1, 1000) <= exact(self.sizes, "sizes") <= Fraction(1, 2):
            raise MisuseError(f"sizes is from 0.001 to 0.5 of each round; {self.sizes} was given.")
        if wanted.least > 1 and self.find == "items":
            raise MisuseError("prefixes finds single items: say find=itemsets for patterns of two items or more.")
        kept = self.candidates * wanted.top
        if kept * (len(self.symbols) + 1) >= LARGEST or kept * (_BYTES * (self.length + 1) + 4) > MOST_QUESTION // 2:
            raise MisuseError(
                f"{kept:,} texts of up to {self.length:,} symbols do not fit into one question: ask for fewer "
                "patterns, or use fewer candidates, a smaller alphabet or a shorter length."
            )
        most = max(1, kept) * (len(self.symbols) + 1)
        checked(
            self.candidates,
            "1",
            wanted.epsilon,
            size_oracle="grr",
            oracles=(self.oracle, self.oracle),
            sizes=(max(most, MOST_VALUES), max(1, kept)),
        )

    def talk(self, wanted: Wanted) -> Talk:
        """Lead the conversation."""
        line, (search, count) = Partition(), self.parts
        texts, rounds = yield from self._found(wanted, line, search)
        facts = {"rounds of finding": rounds, "texts found": len(texts)}
        if not texts:
            nothing = np.zeros(0)
            return Learnt(itemsets=(), values=nothing, variance=nothing, facts=facts, notes=(_NOTHING,), texts=())
        # Whom finding did not need are asked about what was found.
        share = search + count - line.taken
        numbers = TextNumbers.whole(texts, self.symbols, self.length)
        of = CandidateList(items=len(texts), texts=numbers)
        if self.find == "itemsets":
            over = replace(wanted, items=len(texts))
            learnt = yield from Adept(sizes=self.sizes).patterns(of, over, line, share)
            return standing_out(replace(learnt, facts={**facts, **learnt.facts}, texts=texts))
        found = yield from self._asked(of, line, share, wanted, NEAR, "texts", corrected=True)
        places = found.best(len(texts))
        values = found.values[places]
        # Sizes are told by few people, and noise alone makes some seem large: all that was given back may be too much.
        wide = WHOLE * cut_off(values, found.correction) ** 2
        return standing_out(
            Learnt(
                itemsets=tuple(found.of[place] for place in places),
                values=values,
                variance=found.variance[places] + wide,
                facts={**facts, "padding": found.pad, "correction": found.correction},
                texts=texts,
            )
        )

    def _found(
        self, wanted: Wanted, line: Partition, share: Fraction
    ) -> Generator[Ask, Any, tuple[tuple[str, ...], int]]:
        """Find whole texts: the most frequent, in the order of their symbols, and in how many rounds.

        What may begin a text is a few beginnings, each followed by all that can come next. Those that are frequent are
        gone on with, and those that have ended are found.
        """
        kept, near, known, rounds = self.candidates * wanted.top, NEAR, 0, 0
        begin: tuple[str, ...] = ("",)
        ended: dict[str, float] = {}
        while begin and known < self.length:
            step = min(self._step(len(begin)), self.length - known)
            numbers = TextNumbers(begin, self.symbols, step, self.length)
            of = CandidateList(items=len(numbers), texts=numbers)
            known, rounds = known + step, rounds + 1
            # So many rounds may follow: they get as many people each.
            part = (share - line.taken) / (1 + ceil((self.length - known) / self._step(kept)))
            found = yield from self._asked(of, line, part, wanted, near, f"{known} symbols")
            near = found.least_of(wanted.top)
            going = self._best(found, numbers, kept)
            ended |= {text: value for text, value in going.items() if text.endswith(END) or known == self.length}
            begin = tuple(sorted(text for text in going if text not in ended))
        best = sorted(ended, key=lambda text: (-ended[text], text))[:kept]
        return tuple(sorted(text.removesuffix(END) for text in best)), rounds

    def _step(self, many: int) -> int:
        """Return by how many symbols so many beginnings are gone on with."""
        step, base = 1, len(self.symbols) + 1
        while many * base ** (step + 1) <= MOST_VALUES:
            step += 1
        return step

    @staticmethod
    def _best(found: Estimated, numbers: TextNumbers, kept: int) -> dict[str, float]:
        """Return what is gone on with: the most frequent that stand out from the noise, and can be."""
        out = np.flatnonzero(found.values > STANDS_OUT * np.sqrt(found.variance))
        best: dict[str, float] = {}
        for number in out[np.argsort(-found.values[out], kind="stable")].tolist():
            if len(best) == kept:
                break
            text = numbers.text(number)
            if text is not None:
                best[text] = float(found.values[number])
        return best

    def _asked(
        self,
        of: CandidateList,
        line: Partition,
        share: Fraction,
        wanted: Wanted,
        near: float,
        about: str,
        corrected: bool = False,
    ) -> Generator[Ask, Any, Estimated]:
        """Ask how many of the candidates people hold, and then which; what ranks them needs no correction."""
        size = share * exact(self.sizes, "sizes")
        return (
            yield from estimating(
                of,
                line,
                (size, share - size),
                wanted.epsilon,
                oracles=("grr", self.oracle),
                padding="predicted",
                corrected=corrected,
                told="bins",
                near=near,
                robust=True,
                about=about,
            )
        )


def standing_out(learnt: Learnt) -> Learnt:
    """Return what is over noise: an item that nobody holds is in one result of twenty at most.

    A list has only items that there are. What was found may be noise, and a text that nobody has is not to be told.
    """
    if not len(learnt.values):
        return learnt
    far = NormalDist().inv_cdf(1 - FALSE / len(learnt.values))
    kept = np.flatnonzero(learnt.values > far * np.sqrt(learnt.variance)).tolist()
    left = len(learnt.values) - len(kept)
    note = f"{left:,} of what was asked about in the end do not stand out from the noise, and are left out."
    return replace(
        learnt,
        itemsets=tuple(learnt.itemsets[place] for place in kept),
        values=learnt.values[kept],
        variance=learnt.variance[kept],
        notes=(*learnt.notes, *([note] if left else [])),
    )


_NOTHING = "No text stood out from the noise: there are too few people, or none is frequent."
