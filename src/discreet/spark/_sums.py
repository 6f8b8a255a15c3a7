"""What the partitions of a data frame come to, put together in a tree: in the cluster, and at last on the driver.

A task gives results by *slot*. Those of one slot are put together where they meet, so that the driver takes in a few
results however many tasks there are. What is large is cut into pieces, each with a slot of its own.
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

# Up to so many results are put together on the driver; more are put together in the cluster first, by as many at least.
AT_ONCE = 16
_MOST = 256  # tasks that put results together
_RESULTS = "slot int, result binary"


class _TooMuch:
    """Stands for a result that went over its limit: a task that fails would be run again, and fail again."""

    def __reduce__(self) -> str:
        return "_TOO_MUCH"


_TOO_MUCH = _TooMuch()


def put_together(
    cluster: Cluster,
    frame: Any,
    partitions: int,
    work: Callable[[Iterable[Any]], Iterator[Result]],
    merge: Callable[[Any, Any], Any],
    what: str,
    *,
    pieces: int = 0,
) -> dict[int, Any]:
    """Run `work` over the batches of each partition, and return the results of each slot put together.

    `what` is what the step is called in the cluster: it says nothing about the data. So many `partitions` have
    something in them. Each gives one result, in a slot below `AT_ONCE`, and up to so many large `pieces` in others.
    """
    with cluster.step(what):
        results = frame.mapInArrow(cluster.guarded(partial(_worked, work=work)), _RESULTS)
        if partitions > AT_ONCE or (pieces and partitions > 1):
            together = cluster.guarded(partial(_merged, merge=merge))
            tasks = min(max(AT_ONCE, pieces), _MOST)
            results = results.repartition(tasks, "slot").mapInArrow(together, _RESULTS)
        found = _by_slot([cluster.collected(results)], merge)
    if any(one is _TOO_MUCH for one in found.values()):
        raise LimitError("A part of these baskets has more patterns than may be looked at.")
    return found


def slot_here() -> int:
    """Return a slot for what is not cut into pieces: few tasks have the same, and there are few in all."""
    from pyspark import TaskContext

    here = TaskContext.get()
    return 0 if here is None else here.partitionId() % AT_ONCE


def _worked(batches: Iterable[Any], work: Callable[[Iterable[Any]], Iterator[Result]]) -> Iterator[Any]:
    """Run in an executor: the results of a partition."""
    try:
        for slot, value in work(batches):
            yield _payload(slot, value)
    except LimitError:
        yield _payload(0, _TOO_MUCH)


def _merged(batches: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Iterator[Any]:
    """Run in an executor: put results together as they come."""
    for slot, value in _by_slot(batches, merge).items():
        yield _payload(slot, value)


def _by_slot(tables: Iterable[Any], merge: Callable[[Any, Any], Any]) -> dict[int, Any]:
    kept: dict[int, Any] = {}
    for table in tables:
        for slot, one in zip(table.column("slot").to_pylist(), table.column("result"), strict=True):
            value = pickle.loads(one.as_buffer())  # noqa: S301
            before = kept.get(slot)
            over = value is _TOO_MUCH or before is _TOO_MUCH
            kept[slot] = _TOO_MUCH if over else value if slot not in kept else merge(before, value)
    return kept


def _payload(slot: int, value: Any) -> Any:
    import pyarrow as pa

    schema = pa.schema([("slot", pa.int32()), ("result", pa.binary())])
    return pa.RecordBatch.from_pylist([{"slot": slot, "result": pickle.dumps(value, protocol=5)}], schema)
