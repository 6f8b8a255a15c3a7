"""Exact answers under seal: a mechanism can request answers and pass them on, but only the meter opens them.

A mechanism is given a `SealedEngine`. An answer of the engine cannot be read, compared or converted into a number. The
meter can count it with noise. Functions declared here turn it into scores of a selection: some of the entries, sorted
entries, the maximum with a public number, the distance to a mark. Each function states the step: by how much one person
changes the result, so that no mechanism has to claim a sensitivity. A reader therefore has to trust the queries, the
engine, this file, the meter and the samplers. The proofs are in `sealed.md`.

The seal helps authors and readers of mechanisms. The seal does not stop malicious code: any Python code in this process
can open any object.
"""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import MAX_COUNT
from ..errors import MisuseError
from ..exact import Engine, FrequentSets, Query, Truncation, Universe

I64 = NDArray[np.int64]
T = TypeVar("T")

# Half of the range of int64: a sum or difference of two compared numbers cannot overflow.
_MAX_COMPARED = 2**61
_SEALED_MESSAGE = "An exact answer is sealed: count it with a meter, or choose by it."


class _Sealed(Generic[T]):
    """A value that only `unsealed` opens."""

    __slots__ = ("__value",)

    def __init__(self, value: T, **public: object) -> None:
        object.__setattr__(self, "_Sealed__value", value)
        for name, attribute in public.items():
            object.__setattr__(self, name, attribute)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(_SEALED_MESSAGE)

    # Python's defaults would answer without opening the seal, and look like an answer about the data.
    __bool__ = __eq__ = __array__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    # The stated step of an answer cannot be changed.
    __setattr__ = __delattr__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@overload
def unsealed(sealed: SealedAnswer) -> I64: ...
@overload
def unsealed(sealed: SealedList) -> FrequentSets: ...
@overload
def unsealed(sealed: SealedEngine) -> Engine: ...
def unsealed(sealed: Any) -> Any:
    """Return what is under a seal: for the meter, and for the audit that watches it."""
    return sealed._Sealed__value


class SealedAnswer(_Sealed[I64]):
    """Whole numbers that depend on the data, with the largest change of an entry by one person.

    Parameters
    ----------
    values
        The numbers.
    step
        The largest change of an entry when one person is added.
    monotone
        Whether adding a person changes all entries in one direction.
    """

    __slots__ = ("monotone", "step")

    step: int
    monotone: bool

    def __init__(self, values: I64, step: int, monotone: bool) -> None:
        super().__init__(values, step=step, monotone=monotone)

    def __len__(self) -> int:
        """Return the number of entries, which is public."""
        return len(unsealed(self))

    def _replace_values(self, values: I64) -> SealedAnswer:
        return SealedAnswer(values, self.step, self.monotone)

    def take(self, places: ArrayLike) -> SealedAnswer:
        """Return the entries at the given places."""
        return self._replace_values(unsealed(self)[np.asarray(places, np.int64)])

    def append(self, answer: SealedAnswer) -> SealedAnswer:
        """Return the entries of this answer, followed by the entries of a second answer."""
        self._both_rise(answer)
        return SealedAnswer(np.concatenate((unsealed(self), unsealed(answer))), max(self.step, answer.step), True)

    def falling(self) -> SealedAnswer:
        """Return the entries, the largest first. Order statistics change by at most the step of the entries."""
        return self._replace_values(np.sort(unsealed(self))[::-1])

    def minus(self, amount: int) -> SealedAnswer:
        """Return the entries less a public number."""
        return self._replace_values(unsealed(self) - int(_check_range(amount)))

    def at_least(self, floor: ArrayLike) -> SealedAnswer:
        """Return the maximum of each entry and a public floor; `floor` is one number, or one number for each entry."""
        return self._replace_values(np.maximum(unsealed(self), _check_range(floor)))

    def negate_distance(self, mark: int | SealedAnswer) -> SealedAnswer:
        """Return -|entry - mark| for each entry: 0 for the nearest possible entry, and less for a farther entry.

        The mark is public, or a single number under seal. Entry and mark rise together when a person is added, so that
        their distance changes by at most the larger step; the direction of the change is open.
        """
        if isinstance(mark, int):
            return SealedAnswer(-np.abs(unsealed(self) - int(_check_range(mark))), self.step, False)
        self._both_rise(mark)
        return SealedAnswer(-np.abs(unsealed(self) - _single_number(mark)), max(self.step, mark.step), False)

    def _both_rise(self, second_answer: SealedAnswer) -> None:
        if not (self.monotone and second_answer.monotone):
            raise MisuseError("Only numbers that one person moves in one direction can be joined or compared.")


class SealedList(_Sealed[FrequentSets]):
    """Itemsets with many holders, and their counts; both the itemsets and their number depend on the data.

    Parameters
    ----------
    listed
        The itemsets.
    universe
        All possible itemsets, in public: in a selection, unlisted itemsets take part with the count of the bound. None
        if the items are not public.
    floor
        The public bound above which every itemset is listed; None if the bound depends on the data.
    most
        The largest number of itemsets within one basket; None if baskets were not cut.
    step
        The largest change of a count when one person is added: the maximum number of baskets of a person.
    """

    __slots__ = ("floor", "most", "step", "universe")
    universe: Universe | None
    floor: int | None
    most: int | None
    step: int

    def __init__(
        self,
        listed: FrequentSets,
        universe: Universe | None,
        floor: int | None = None,
        most: int | None = None,
        step: int = 1,
    ) -> None:
        super().__init__(listed, universe=universe, floor=floor, most=most, step=step)

    def falling(self, count: int) -> SealedAnswer:
        """Return the largest `count` counts, with the bound in place of counts below the bound."""
        opened_list = unsealed(self)
        counts = np.full(count, opened_list.bound, np.int64)
        largest = opened_list.counts[:count]
        counts[: len(largest)] = largest
        return SealedAnswer(counts, self.step, True)


class SealedEngine(_Sealed[Engine]):
    """The data, as a mechanism has them: the engine answers queries under seal.

    Parameters
    ----------
    engine
        The engine that answers.
    items
        The number of items, if public: the number of items that occur in the data is not public.
    longest
        The largest number of items in a basket, if baskets were cut.
    max_baskets
        The largest number of baskets of a person.
    """

    __slots__ = ("items", "longest", "max_baskets")
    items: int | None
    longest: int | None
    max_baskets: int

    def __init__(
        self, engine: Engine, items: int | None = None, longest: int | None = None, max_baskets: int = 1
    ) -> None:
        super().__init__(engine, items=items, longest=longest, max_baskets=max_baskets)

    def answer(self, query: Query) -> SealedAnswer:
        """Return the sealed answer to a query, with the step and direction that the query states."""
        step = query.sensitivity(self.max_baskets).linf
        return SealedAnswer(unsealed(self).answer(query), step, query.monotone)

    def above(self, bound: int | SealedAnswer, least: int, longest: int, limit: int = MAX_COUNT) -> SealedList:
        """Return the itemsets of `least` to `longest` items with more holders than the bound.

        The bound is public, or a single number under seal that one person raises by at most `max_baskets`. If there
        would be more than `limit` itemsets, the bound is raised as in `Engine.above`.
        """
        # Without a public list of items, no universe: its size would reveal the items in the data.
        universe = None if self.items is None else Universe(self.items, least, longest, unsealed(self).lineage)
        max_itemsets = None if self.longest is None else Universe(self.longest, least, longest).itemset_count
        if isinstance(bound, int):
            found_itemsets = unsealed(self).above(bound, least, longest, limit)
            # With a limit the bound may have been raised because of the data: then it is no public floor.
            return SealedList(
                found_itemsets, universe, bound if limit == MAX_COUNT else None, max_itemsets, self.max_baskets
            )
        if not bound.monotone or bound.step > self.max_baskets:
            raise MisuseError("A bound under seal is a number that one person raises no further than a count.")
        found_itemsets = unsealed(self).above(_single_number(bound), least, longest, limit)
        return SealedList(found_itemsets, universe, None, max_itemsets, self.max_baskets)

    def cut(self, truncation: Truncation) -> SealedEngine:
        """Return the engine of the baskets after cutting each basket."""
        return SealedEngine(unsealed(self).cut(truncation), self.items, truncation.longest, self.max_baskets)


def _check_range(public: ArrayLike) -> I64:
    """Return public numbers as int64, after checking that comparing them with counts cannot overflow."""
    numbers = np.asarray(public, object)
    if any(abs(int(number)) > _MAX_COMPARED for number in numbers.ravel()):
        raise MisuseError(f"Numbers that answers are compared with lie within 2^{_MAX_COMPARED.bit_length() - 1}.")
    return np.asarray(public, np.int64)


def _single_number(sealed: SealedAnswer) -> int:
    """Return the number of an answer with a single entry."""
    if len(sealed) != 1:
        raise MisuseError("One number is needed here.")
    return int(unsealed(sealed)[0])
