"""The results of the partitions of a data frame, merged in a tree: in the cluster, and last on the driver.

A task yields results by *slot*. Results of one slot are merged where they meet, so that the driver receives few
results from any number of tasks. A large result is split into pieces, each with a slot of its own.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

from ..errors import LimitError
from ._session import Cluster

# The slot of a result, and the result.
Result: TypeAlias = tuple[int, Any]
Work: TypeAlias = Callable[[Iterable[Any]], Iterator[Result]]
Merge: TypeAlias = Callable[[Any, Any], Any]

# Up to this number of results are merged on the driver; more are merged in the cluster first, by at least as many
# tasks. Larger: more work on the driver; smaller: more shuffles for small data.
SMALL_SLOTS = 16
_MAX_MERGE_TASKS = 256  # each task has a fixed cost of tens of milliseconds
_RESULTS = "slot int, result binary"


class _LimitPassed:
    """A result over its limit: a task that raises would be run again, and would raise again."""

    def __reduce__(self) -> str:
        # Pickled by name, so that the merging task compares by identity.
        return "_LIMIT_PASSED"


_LIMIT_PASSED = _LimitPassed()


def merge_results(
    cluster: Cluster, frame: Any, partitions: int, work: Work, merge: Merge, step: str, *, pieces: int = 0
) -> dict[int, Any]:
    """Return the merged result of each slot, of `work` over the batches of each partition.

    Parameters
    ----------
    partitions
        The number of partitions with data.
    work
        Yields one result in a slot below `SMALL_SLOTS`, and up to `pieces` large results in slots of their own.
    merge
        Combines two results; any order and grouping gives an equal result.
    step
        The name of the step on Spark's pages: it must not depend on the data.
    """
    with cluster.step(step):
        results = frame.mapInArrow(cluster.guard(partial(_run_work, work=work)), _RESULTS)
        if partitions > SMALL_SLOTS or (pieces and partitions > 1):
            tasks = min(max(SMALL_SLOTS, pieces), _MAX_MERGE_TASKS)
            merging = cluster.guard(partial(_run_merge, merge=merge))
            results = results.repartition(tasks, "slot").mapInArrow(merging, _RESULTS)
        result_of_slot = _merge_slots([cluster.collect(results)], merge)
    if any(result is _LIMIT_PASSED for result in result_of_slot.values()):
        raise LimitError("A part of these baskets has more patterns than may be looked at.")
    return result_of_slot


def find_slot() -> int:
    """Return the slot of this task for a small result: few tasks share a slot, and the slots are few."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId() % SMALL_SLOTS


def _run_work(batches: Iterable[Any], work: Work) -> Iterator[Any]:
    """Run in an executor: yield the results of a partition."""
    try:
        for slot, value in work(batches):
            yield _encode_result(slot, value)
    except LimitError:
        yield _encode_result(0, _LIMIT_PASSED)


def _run_merge(batches: Iterable[Any], merge: Merge) -> Iterator[Any]:
    """Run in an executor: yield the merged result of each slot."""
    for slot, value in _merge_slots(batches, merge).items():
        yield _encode_result(slot, value)


def _merge_slots(tables: Iterable[Any], merge: Merge) -> dict[int, Any]:
    result_of_slot: dict[int, Any] = {}
    for table in tables:
        for slot, payload in zip(table.column("slot").to_pylist(), table.column("result"), strict=True):
            # The bytes were pickled by this package in an executor of the same cluster.
            value = pickle.loads(payload.as_buffer())  # noqa: S301
            if slot in result_of_slot:
                before = result_of_slot[slot]
                is_over = value is _LIMIT_PASSED or before is _LIMIT_PASSED
                value = _LIMIT_PASSED if is_over else merge(before, value)
            result_of_slot[slot] = value
    return result_of_slot


def _encode_result(slot: int, value: Any) -> Any:
    import pyarrow as pa

    schema = pa.schema([("slot", pa.int32()), ("result", pa.binary())])
    return pa.RecordBatch.from_pylist([{"slot": slot, "result": pickle.dumps(value, protocol=5)}], schema)
