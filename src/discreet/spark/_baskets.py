"""Baskets in a cluster: a data frame of blocks, and the changes to each basket before it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import methodcaller
from typing import Any, TypeAlias, TypeVar
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from ..baskets import Baskets, Codes, Hierarchy, Item, ItemTable, Lineage, Vocabulary, recode_lineage as recoded_lineage
from ..exact import BasketCount, BasketsEach, ExactEngine, LocalEngine, RemoteBaskets, Truncation
from ..heavy import sql
from ._blocks import (
    COUNTS,
    MAX_SHORT_ITEMS,
    MAX_TASK_CODES,
    Block,
    CodeVocabulary,
    group_blocks,
    join_blocks,
    read_blocks,
)
from ._session import UNREFERENCED_FRAMES, Cluster, Result, clear_errors, find_slot, merge_results

T = TypeVar("T")
Copies: TypeAlias = NDArray[np.int32] | None

# The largest sample, in baskets and in codes. It decides the time of mining only. Larger: more for the driver to mine;
# smaller: the first threshold is further from the right one.
_SAMPLE_BASKETS, _SAMPLE_CODES = 100_000, 4_000_000


@dataclass(frozen=True, eq=False)
class StoredBlocks:
    """A data frame of blocks in the cluster, and its numbers of partitions with data, people, baskets and codes.

    All baskets of a person are in one block.
    """

    frame: Any
    partitions: int
    people: int
    baskets: int
    codes: int

    def release_when_unused(self) -> StoredBlocks:
        """Let the next step release the frame once no Python object refers to these blocks.

        Not at once: Python may delete an object in the middle of a call to Java.
        """
        finalize(self, UNREFERENCED_FRAMES.append, self.frame).atexit = False
        return self


def measure_blocks(cluster: Cluster, frame: Any, items: int) -> tuple[StoredBlocks, dict[str, int]]:
    """Compute a frame of blocks; return it with its numbers, and the sum of each of `COUNTS`."""
    sums = [sql.sum(name).alias(name) for name in COUNTS]
    code_bytes = sql.sum(sql.length("codes")).alias("bytes")
    partitions = sql.count_distinct("partition").alias("partitions")
    table = cluster.collect(frame.withColumn("partition", sql.spark_partition_id()).agg(*sums, code_bytes, partitions))
    totals = {name: int(value or 0) for name, value in table.to_pylist()[0].items()}
    codes = totals["bytes"] // (2 if items <= MAX_SHORT_ITEMS else 4)
    stored = StoredBlocks(frame, totals["partitions"], totals["people_count"], totals["basket_count"], codes)
    return stored.release_when_unused(), totals


@dataclass(frozen=True, eq=False)
class BlockView:
    """The interpretation of blocks as baskets: truncated or not, and then changed in steps.

    Parameters
    ----------
    items, segments
        The number of items, and the number of segments (0 for none), of the blocks.
    has_receipts
        Whether people may have several baskets.
    identities
        The hashes of the labels, for truncation.
    cut
        The truncation of each basket, before the steps.
    lineage
        The lineage of the items in the blocks, if the blocks have ancestors of items too.
    steps
        Functions from baskets to baskets, in order; Spark pickles them.
    expansion
        The largest number of codes after the steps for one code in the blocks.
    is_filtered
        Whether a step leaves out baskets.
    """

    items: int
    segments: int = 0
    has_receipts: bool = False
    identities: NDArray[np.uint64] | None = None
    cut: Truncation | None = None
    lineage: Lineage | None = None
    steps: tuple[Callable[[Baskets], Baskets], ...] = ()
    expansion: int = 1
    is_filtered: bool = False

    def add_step(self, step: Callable[[Baskets], Baskets], *, expansion: int = 1, is_filter: bool = False) -> BlockView:
        """Return the view with one more step."""
        return replace(
            self,
            steps=(*self.steps, step),
            expansion=self.expansion * expansion,
            is_filtered=self.is_filtered or is_filter,
        )

    def build_baskets(self, blocks: list[Block]) -> tuple[Baskets, Copies]:
        """Return the baskets of blocks in this view, and the number of equal baskets before each, if known."""
        vocabulary = CodeVocabulary(self.items, self.identities)
        baskets, copies = join_blocks(blocks, vocabulary, self.segments, self.has_receipts, self.lineage)
        if self.cut is not None:
            baskets, copies = LocalEngine(baskets, copies).cut(self.cut).baskets, None
        for step in self.steps:
            baskets = step(baskets)
        return baskets, copies

    def read_baskets(self, batches: Iterable[Any]) -> Iterator[Baskets]:
        """Yield the baskets of each block of a partition in this view."""
        return (self.build_baskets([block])[0] for block in read_blocks(batches, self.items))

    def build_parts(self, batches: Iterable[Any], max_codes: int | None) -> Iterator[tuple[Baskets, Copies]]:
        """Yield the baskets of a partition: at most about `max_codes` codes and baskets at once, or all."""
        max_block_codes = None if max_codes is None else max_codes // self.expansion
        return (self.build_baskets(group) for group in group_blocks(read_blocks(batches, self.items), max_block_codes))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkBaskets(RemoteBaskets):
    """The baskets of all people, in a cluster.

    Parameters
    ----------
    cluster
        The session.
    blocks
        The blocks in the cluster.
    vocabulary
        The label of each code.
    view
        The interpretation of the blocks.
    segment_column, segment_vocabulary
        The name of the column of segments, and their labels, if they were read with ``by=``.
    merged
        The number of repeated items in a basket.
    has_receipts
        Whether a person may have several baskets, as read with ``basket=``.
    lineage, hierarchy
        The ancestors of items, if a hierarchy was given.
    """

    cluster: Cluster
    blocks: StoredBlocks
    vocabulary: Vocabulary
    view: BlockView
    segment_column: str | None = None
    segment_vocabulary: Vocabulary | None = None
    merged: int = 0
    has_receipts: bool = False
    lineage: Lineage | None = None
    hierarchy: Hierarchy | None = None

    def __len__(self) -> int:
        return self._basket_count

    def __repr__(self) -> str:
        suffix = "" if self.segment_column is None else ", with segments"
        sizes = f"{len(self):,} baskets of {self.people:,} people" if self.has_receipts else f"{len(self):,} people"
        return f"SparkBaskets({sizes}, {self.items:,} items{suffix})"

    def _repr_html_(self) -> str:
        from ..baskets import render_cluster_html

        return render_cluster_html(self)

    @cached_property
    def people(self) -> int:
        """The number of people, including people with empty baskets."""
        # A pass over the blocks takes seconds: the counts of the blocks answer where no step leaves out baskets.
        if not self.has_receipts:
            return len(self)
        return int(self.engine().total(BasketsEach((1,)))[0]) if self.view.is_filtered else self.blocks.people

    @cached_property
    def _basket_count(self) -> int:
        return int(self.engine().total(BasketCount())[0])

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """The number of baskets with each item, by code."""
        return self.survey.item_counts

    @cached_property
    def survey(self) -> Survey:
        """The facts that most queries begin with, in one pass: counts of items and of sizes, and a sample."""
        codes = self.blocks.codes * self.view.expansion
        step = max(1, -(-self.blocks.baskets // _SAMPLE_BASKETS), -(-codes // _SAMPLE_CODES))
        max_codes = _SAMPLE_CODES // max(1, self.blocks.partitions)
        part = partial(_survey_part, step=step, max_codes=max_codes)
        return reduce_blocks(self.cluster, self.blocks, self.view, part, _merge_surveys, "counting items")

    @property
    def segment_labels(self) -> list[Item]:
        """The labels of the segments, by code."""
        return [] if self.segment_vocabulary is None else list(self.segment_vocabulary)

    def check(self) -> None:
        """Check that the cluster runs this version of discreet, before any charge."""
        self.cluster.check()

    def recoded(self, table: Codes, vocabulary: Vocabulary) -> SparkBaskets:
        """Return the baskets with a new code for each old code; items with the new code -1 are dropped."""
        step = methodcaller("recoded", table, CodeVocabulary(len(vocabulary)))
        lineage = recoded_lineage(self.lineage, table, len(vocabulary))
        return replace(self, vocabulary=vocabulary, view=self.view.add_step(step), lineage=lineage)

    def widened(self, table: ItemTable) -> SparkBaskets:
        """Return the baskets with several codes for each item, or one code for several items; repeats are merged."""
        code_vocabulary = CodeVocabulary(len(table.vocabulary))
        step = methodcaller("widened", replace(table, vocabulary=code_vocabulary, hierarchy=None))
        expansion = max(1, int(np.diff(table.offsets).max(initial=1)))
        view = self.view.add_step(step, expansion=expansion)
        return replace(self, vocabulary=table.vocabulary, view=view, lineage=table.lineage, hierarchy=table.hierarchy)

    def select_containing(self, codes: Codes) -> SparkBaskets:
        """Return the baskets that contain all of some items, by code."""
        return replace(self, view=self.view.add_step(methodcaller("select_containing", codes), is_filter=True))

    def select_segments(self, segments: Codes) -> SparkBaskets:
        """Return the baskets of the people in some segments, by code."""
        return replace(self, view=self.view.add_step(methodcaller("select_segments", segments), is_filter=True))

    def capped(self, most: int, key: int) -> SparkBaskets:
        """Return at most `most` baskets of each person, all choices equally likely; `key` is the secret of the draw."""
        if not self.has_receipts:
            return self
        from ._engine import cap_blocks

        blocks, view = cap_blocks(self, most, key)
        return replace(self, blocks=blocks, view=view)

    def reduce(self, part: Callable[[Baskets], T], merge: Callable[[T, T], T]) -> T:
        """Return the results of `part` for groups of people, combined by `merge` in any order and grouping."""
        answer = partial(_drop_copies, part=part)
        return reduce_blocks(self.cluster, self.blocks, self.view, answer, merge, "reading rows")

    def engine(self) -> ExactEngine:
        """Return the engine over these baskets: one engine for all queries, as it caches its answers."""
        return self._engine

    @cached_property
    def _engine(self) -> ExactEngine:
        from ._engine import SparkEngine

        return SparkEngine(self)


def reduce_blocks(
    cluster: Cluster,
    stored: StoredBlocks,
    view: BlockView,
    part: Callable[[Baskets, Copies], T],
    merge: Callable[[T, T], T],
    step: str,
    max_codes: int | None = MAX_TASK_CODES,
) -> T:
    """Return the results of `part` for all people, combined by `merge`: in the cluster, then on the driver.

    `step` is the name of the step on Spark's pages, and must not depend on the data. `part` is called with at most
    about `max_codes` codes and baskets, or with a whole partition if it is None.
    """
    work = partial(_reduce_partition, view=view, part=part, merge=merge, max_codes=max_codes)
    with clear_errors(), cluster.small_batches():
        results = merge_results(cluster, stored.frame, stored.partitions, work, merge, step)
    # Without data, the answer for no people has the right shape.
    return reduce(merge, results.values()) if results else part(*view.build_baskets([]))


def _reduce_partition(
    batches: Iterable[Any],
    view: BlockView,
    part: Callable[[Baskets, Copies], Any],
    merge: Callable[[Any, Any], Any],
    max_codes: int | None,
) -> Iterator[Result]:
    """Run in an executor: yield one result for a partition, and none for an empty partition."""
    # A generator: only one part of the partition is laid out at a time.
    results = (part(*baskets_and_copies) for baskets_and_copies in view.build_parts(batches, max_codes))
    for result in results:
        # The first result, merged with all further ones: the loop runs once at most.
        yield find_slot(), reduce(merge, results, result)


def ask_engine(baskets: Baskets, copies: Copies, call: Callable[[LocalEngine], T]) -> T:
    """Run in an executor: return the result of a call of the engine over some baskets."""
    return call(LocalEngine(baskets, copies))


def _drop_copies(baskets: Baskets, _: Copies, part: Callable[[Baskets], T]) -> T:
    return part(baskets)


@dataclass(frozen=True, eq=False)
class Survey:
    """The number of baskets with each item and of each size, and a sample of baskets.

    `size_counts` are the numbers of baskets of each of the occurring `sizes`; `sample_sizes` and `sample_codes` are the
    sizes and the codes, end to end, of the sample.
    """

    item_counts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    size_counts: NDArray[np.int64]
    sample_sizes: Codes
    sample_codes: Codes

    def count_bins(self, edges: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the number of baskets from each edge up to before the next; the last bin has no upper end."""
        bins = np.searchsorted(np.array(edges), self.sizes, side="right")
        sums = np.zeros(len(edges) + 1, np.int64)
        np.add.at(sums, bins, self.size_counts)
        return sums[1:]


def _survey_part(baskets: Baskets, _: Copies, step: int, max_codes: int) -> Survey:
    """Return the survey of some baskets, with every `step`-th basket in the sample, up to `max_codes` codes."""
    sample_rows = np.arange(0, len(baskets), step)
    fitting = int(np.searchsorted(np.cumsum(baskets.sizes[sample_rows]), max_codes, side="right"))
    sample = baskets.rows(sample_rows[:fitting])
    size_counts = np.bincount(baskets.sizes)
    sizes = np.flatnonzero(size_counts)
    return Survey(baskets.item_counts, sizes, size_counts[sizes], sample.sizes.astype(np.int32), sample.codes)


def _merge_surveys(survey: Survey, other_survey: Survey) -> Survey:
    sizes, places = np.unique(np.concatenate((survey.sizes, other_survey.sizes)), return_inverse=True)
    size_counts = np.zeros(len(sizes), np.int64)
    np.add.at(size_counts, places, np.concatenate((survey.size_counts, other_survey.size_counts)))
    return Survey(
        survey.item_counts + other_survey.item_counts,
        sizes,
        size_counts,
        np.concatenate((survey.sample_sizes, other_survey.sample_sizes)),
        np.concatenate((survey.sample_codes, other_survey.sample_codes)),
    )
