"""Baskets in a cluster: a data frame of blocks, and what is to be done to each basket before it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from math import prod
from typing import Any, TypeAlias, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Hierarchy, Item, ItemTable, Lineage, Vocabulary, recoded as recoded_lineage
from ..exact import BasketCount, BasketsEach, ExactEngine, LocalEngine, RemoteBaskets, Truncation
from ._blocks import COUNTS, NARROW, TOGETHER, Block, Numbered, gathered, joined, read_blocks
from ._session import FORGOTTEN, Cluster, clear_errors
from ._sums import Result, put_together, slot_here

T = TypeVar("T")
Copies: TypeAlias = NDArray[np.int32] | None

# How many baskets a sample has at most, and how many codes.
_SAMPLED, _SAMPLED_CODES = 100_000, 4_000_000


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """A data frame of blocks, kept in the cluster: over how many partitions, of how many people, baskets and codes.

    All baskets of a person are in one block.
    """

    frame: Any
    partitions: int
    people: int
    baskets: int
    codes: int

    def kept(self) -> StoredBlocks:
        """Let the cluster forget the blocks, with its next step, when nothing here knows of them any more.

        Not at once: what is thrown away may be so in the middle of a call to Java.
        """
        finalize(self, FORGOTTEN.append, self.frame).atexit = False
        return self


def measure_blocks(cluster: Cluster, frame: Any, items: int) -> tuple[StoredBlocks, dict[str, int]]:
    """Lay out a frame of blocks over so many items, and return them with what the counts of all of them come to."""
    from pyspark.sql import functions as sql

    sums = [sql.sum(name).alias(name) for name in COUNTS]
    code_bytes, at = sql.sum(sql.length("codes")).alias("bytes"), sql.count_distinct("at").alias("partitions")
    table = cluster.collected(frame.withColumn("at", sql.spark_partition_id()).agg(*sums, code_bytes, at))
    totals = {name: int(value or 0) for name, value in table.to_pylist()[0].items()}
    codes = totals["bytes"] // (2 if items <= NARROW else 4)
    stored = StoredBlocks(frame, totals["partitions"], totals["people"], totals["baskets"], codes)
    return stored.kept(), totals


@dataclass(frozen=True, eq=False)
class BlockView:
    """What blocks are taken for: over so many items and segments, cut or not, and then changed in steps.

    With `several` people may have several baskets. `identities` are those of the labels, where cutting goes by them.
    `lineage` is that of the items in the blocks, where they hold what stands above too.
    """

    items: int
    segments: int = 0
    several: bool = False
    identities: NDArray[np.uint64] | None = None
    cut: Truncation | None = None
    lineage: Lineage | None = None
    steps: tuple[Callable[[Baskets], Baskets], ...] = ()

    def then(self, step: Callable[[Baskets], Baskets]) -> BlockView:
        """Return the view with one more step."""
        return replace(self, steps=(*self.steps, step))

    def of(self, blocks: list[Block]) -> tuple[Baskets, Copies]:
        """Return the baskets of some blocks as they are taken."""
        numbered = Numbered(self.items, self.identities)
        baskets, copies = joined(blocks, numbered, self.segments, self.several, self.lineage)
        if self.cut is not None:
            baskets, copies = LocalEngine(baskets, copies).cut(self.cut).baskets, None
        for step in self.steps:
            baskets = step(baskets)
        return baskets, copies

    def parts(self, batches: Iterable[Any], together: int | None) -> Iterator[tuple[Baskets, Copies]]:
        """Yield the baskets of a partition as they are taken: so many as may be looked at together, or all."""
        most = None if together is None else together // self.widest
        return (self.of(some) for some in gathered(read_blocks(batches, self.items), most))

    @property
    def widest(self) -> int:
        """How many codes there may be for each that lies in the blocks, once what stands above it is there."""
        tables = (step.keywords["table"] for step in self.steps if isinstance(step, partial) and step.func is widen)
        return prod(max(1, int(np.diff(table.offsets).max(initial=1))) for table in tables)


def recode(baskets: Baskets, table: Codes, items: int) -> Baskets:
    """Give items new codes."""
    return baskets.recoded(table, Numbered(items))


def widen(baskets: Baskets, table: ItemTable, items: int, lineage: Lineage | None) -> Baskets:
    """Give each item several codes, or one that others have too."""
    return baskets.widened(table, Numbered(items), lineage)


def hold(baskets: Baskets, codes: Codes) -> Baskets:
    """Leave those who hold all of these."""
    return baskets.holding(codes)


def stay_within(baskets: Baskets, segments: Codes) -> Baskets:
    """Leave those in these segments."""
    return baskets.within(segments)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkBaskets(RemoteBaskets):
    """Everyone's baskets, in a cluster.

    Parameters
    ----------
    cluster
        The session they lie in.
    blocks
        The blocks, in the cluster.
    vocabulary
        The label of each code.
    view
        What each basket is taken for.
    column, segment_vocabulary
        The segments, where they were read with ``by=``.
    several
        Whether a person may have several baskets, as they were read with ``basket=``.
    """

    cluster: Cluster
    blocks: StoredBlocks
    vocabulary: Vocabulary
    view: BlockView
    column: str | None = None
    segment_vocabulary: Vocabulary | None = None
    merged: int = 0
    several: bool = False
    lineage: Lineage | None = None
    hierarchy: Hierarchy | None = None

    def __len__(self) -> int:
        return self._many

    def __repr__(self) -> str:
        beside = "" if self.column is None else ", with segments"
        whose = f"{len(self):,} baskets of {self.people:,} people" if self.several else f"{len(self):,} people"
        return f"SparkBaskets({whose}, {self.items:,} items{beside})"

    def _repr_html_(self) -> str:
        from ..baskets import html_elsewhere

        return html_elsewhere(self)

    @property
    def people(self) -> int:
        """How many people there are, those with empty baskets included."""
        return self._people if self.several else len(self)

    @cached_property
    def _many(self) -> int:
        return int(self.engine().total(BasketCount())[0])

    @cached_property
    def _people(self) -> int:
        return int(self.engine().total(BasketsEach((1,)))[0]) if self.filtered else self.blocks.people

    @property
    def filtered(self) -> bool:
        """Whether some of the baskets in the blocks are left out."""
        return any(step.func not in (recode, widen) for step in self.view.steps if isinstance(step, partial))

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """How many baskets hold each item, by code."""
        return self.survey.item_counts

    @cached_property
    def survey(self) -> Survey:
        """What most questions begin with, in one pass: how large baskets are, how many hold each item, and a sample."""
        codes = self.blocks.codes * self.view.widest
        share = max(1, -(-self.blocks.baskets // _SAMPLED), -(-codes // _SAMPLED_CODES))
        most = _SAMPLED_CODES // max(1, self.blocks.partitions)
        part = partial(_surveyed, share=share, most=most)
        return reduced(self.cluster, self.blocks, self.view, part, _surveyed_together, "counting items")

    @property
    def segment_column(self) -> str | None:
        """The column of the segments that were read with the baskets, if any."""
        return self.column

    @property
    def segment_labels(self) -> list[Item]:
        """The segments that people are in, by code."""
        return [] if self.segment_vocabulary is None else list(self.segment_vocabulary)

    def check(self) -> None:
        """See that the cluster runs our code, of this version, before anything is paid for."""
        self.cluster.check()

    def recoded(self, table: Codes, vocabulary: Vocabulary) -> SparkBaskets:
        """Return the baskets with a new code for each item, by the old one; those of -1 are dropped."""
        step = partial(recode, table=table, items=len(vocabulary))
        lineage = recoded_lineage(self.lineage, table, len(vocabulary))
        return replace(self, vocabulary=vocabulary, view=self.view.then(step), lineage=lineage)

    def widened(
        self,
        table: ItemTable,
        vocabulary: Vocabulary,
        lineage: Lineage | None,
        hierarchy: Hierarchy | None = None,
    ) -> SparkBaskets:
        """Return the baskets with several codes for each item, or one that others have too: a set all the same."""
        step = partial(widen, table=table, items=len(vocabulary), lineage=lineage)
        view = self.view.then(step)
        return replace(self, vocabulary=vocabulary, view=view, lineage=lineage, hierarchy=hierarchy)

    def holding(self, codes: Codes) -> SparkBaskets:
        """Return the baskets that hold all of these items."""
        return replace(self, view=self.view.then(partial(hold, codes=codes)))

    def within(self, segments: Codes) -> SparkBaskets:
        """Return the baskets of the people in these segments, by code."""
        return replace(self, view=self.view.then(partial(stay_within, segments=segments)))

    def capped(self, most: int, key: int) -> SparkBaskets:
        """Return at most so many baskets of each person, any as likely as the others."""
        if not self.several:
            return self
        from ._capping import cap_blocks

        blocks, view = cap_blocks(self, most, key)
        return replace(self, blocks=blocks, view=view)

    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return what `part` makes of some of the people, put together by `merge`, in any order and grouping."""
        return reduced(self.cluster, self.blocks, self.view, partial(_without_copies, part=part), merge, "reading rows")

    def engine(self) -> ExactEngine:
        """Return the engine over these baskets: one for all questions, as it keeps what it found."""
        return self._engine

    @cached_property
    def _engine(self) -> ExactEngine:
        from ._engine import SparkEngine

        return SparkEngine(self)


def reduced(
    cluster: Cluster,
    stored: StoredBlocks,
    view: BlockView,
    part: Callable[[Baskets, Copies], T],
    merge: Callable[[T, T], T],
    what: str,
    together: int | None = TOGETHER,
) -> T:
    """Run `part` over the people of each partition, and put the results together: in the cluster, then here.

    `what` is what the step is called in the cluster: it says nothing about the data. So many codes and people are
    looked at `together`, at most, or all of a partition.
    """
    work = partial(_parts, view=view, part=part, merge=merge, together=together)
    with clear_errors(), cluster.few_at_a_time():
        found = put_together(cluster, stored.frame, stored.partitions, work, merge, what)
    return reduce(merge, found.values()) if found else part(*view.of([]))


def _parts(
    batches: Iterable[Any],
    view: BlockView,
    part: Callable[[Baskets, Copies], Any],
    merge: Callable[[Any, Any], Any],
    together: int | None,
) -> Iterator[Result]:
    """Run in an executor: one result a partition, and none where nobody is in it."""
    results = (part(*some) for some in view.parts(batches, together))
    for first in results:
        yield slot_here(), reduce(merge, results, first)


def _without_copies(baskets: Baskets, _: Copies, part: Callable[[Baskets], T]) -> T:
    return part(baskets)


@dataclass(frozen=True, eq=False)
class Survey:
    """How many baskets hold each item, how many hold so many items, and what some of them hold: a sample.

    So `many` have each of the `lengths` that occur; `sizes` and `codes` are those of the sample, end to end.
    """

    item_counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    many: NDArray[np.int64]
    sizes: Codes
    codes: Codes

    def binned(self, edges: tuple[int, ...]) -> NDArray[np.int64]:
        """Return how many baskets hold from one edge up to before the next one; the last has no upper end."""
        bins = np.searchsorted(np.array(edges), self.lengths, side="right")
        sums = np.zeros(len(edges) + 1, np.int64)
        np.add.at(sums, bins, self.many)
        return sums[1:]


def _surveyed(baskets: Baskets, _: Copies, share: int, most: int) -> Survey:
    kept = np.arange(0, len(baskets), share)
    some = baskets.rows(kept[: int(np.searchsorted(np.cumsum(baskets.sizes[kept]), most, side="right"))])
    many = np.bincount(baskets.sizes)
    lengths = np.flatnonzero(many)
    return Survey(baskets.item_counts, lengths, many[lengths], some.sizes.astype(np.int32), some.codes)


def _surveyed_together(one: Survey, other: Survey) -> Survey:
    sizes, codes = np.concatenate((one.sizes, other.sizes)), np.concatenate((one.codes, other.codes))
    lengths, at = np.unique(np.concatenate((one.lengths, other.lengths)), return_inverse=True)
    many = np.zeros(len(lengths), np.int64)
    np.add.at(many, at, np.concatenate((one.many, other.many)))
    return Survey(one.item_counts + other.item_counts, lengths, many, sizes, codes)
