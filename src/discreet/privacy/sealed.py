"""Exact answers under seal: a mechanism can ask for them and pass them on, but only the meter looks inside.

A mechanism is given a `SealedEngine`. What that answers cannot be read, compared or turned into a number. It can be
counted with noise by the meter, or be made the scores of a choice by functions that are declared here: some of the
entries, sorted, no less than a public number, how near to another answer. Each of these says how far one person moves
what comes out, so no mechanism has to claim it. What a reader has to trust is therefore the queries and the engine that
answers them, this file, the meter and the samplers. The proofs are in `sealed.md`.

The seal is there for those who write mechanisms and for those who read them. It is no wall against code that means
harm: whoever can run Python here can open anything.
"""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import LARGEST
from ..errors import MisuseError
from ..exact.engine import Engine, Listed
from ..exact.query import Query, Truncation
from ..exact.universe import Universe

I64 = NDArray[np.int64]
T = TypeVar("T")

# Counts and their parts are smaller by far.
_FARTHEST = 2**61
_CLOSED = "An exact answer is sealed: count it with a meter, or choose by it."


class _Closed(Generic[T]):
    """A value that nobody sees but who calls `unsealed`."""

    __slots__ = ("__value",)

    def __init__(self, value: T, **public: object) -> None:
        object.__setattr__(self, "_Closed__value", value)
        for name, one in public.items():
            object.__setattr__(self, name, one)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(_CLOSED)

    # What Python would otherwise answer without looking inside: an answer that looks like one about the data.
    __bool__ = __eq__ = __array__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    # What is said of an answer stays as it was said.
    __setattr__ = __delattr__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@overload
def unsealed(closed: SealedAnswer) -> I64: ...
@overload
def unsealed(closed: SealedList) -> Listed: ...
@overload
def unsealed(closed: SealedEngine) -> Engine: ...
def unsealed(closed: Any) -> Any:
    """Return what is under a seal: for the meter, and for the audit that watches it."""
    return closed._Closed__value


class SealedAnswer(_Closed[I64]):
    """Whole numbers that depend on the data, and how far one person moves each of them.

    Parameters
    ----------
    values
        The numbers.
    step
        By how much adding a person changes an entry at most.
    monotone
        Whether adding a person changes all entries in one direction.
    """

    __slots__ = ("monotone", "step")

    step: int
    monotone: bool

    def __init__(self, values: I64, step: int, monotone: bool) -> None:
        super().__init__(values, step=step, monotone=monotone)

    def __len__(self) -> int:
        """Return how many numbers these are: that is public."""
        return len(unsealed(self))

    def _with(self, values: I64) -> SealedAnswer:
        return SealedAnswer(values, self.step, self.monotone)

    def take(self, places: ArrayLike) -> SealedAnswer:
        """Return the numbers at these places."""
        return self._with(unsealed(self)[np.asarray(places, np.int64)])

    def joined(self, other: SealedAnswer) -> SealedAnswer:
        """Return these numbers and others behind them."""
        self._both_rise(other)
        return SealedAnswer(np.concatenate((unsealed(self), unsealed(other))), max(self.step, other.step), True)

    def falling(self) -> SealedAnswer:
        """Return the numbers, the largest first: order statistics move no further than what they order."""
        return self._with(np.sort(unsealed(self))[::-1])

    def minus(self, amount: int) -> SealedAnswer:
        """Return the numbers less a public one."""
        return self._with(unsealed(self) - int(_within(amount)))

    def at_least(self, floor: ArrayLike) -> SealedAnswer:
        """Return the numbers, or a public one where that is more; one for all of them, or one for each."""
        return self._with(np.maximum(unsealed(self), _within(floor)))

    def near(self, mark: int | SealedAnswer) -> SealedAnswer:
        """Return how near each number is to a mark, the nearest having 0 and all others less.

        The mark is public, or one number under seal. Both rise together when a person is added, so their distance moves
        by no more than the larger step; but which way it moves is open.
        """
        if isinstance(mark, int):
            return SealedAnswer(-np.abs(unsealed(self) - int(_within(mark))), self.step, False)
        self._both_rise(mark)
        return SealedAnswer(-np.abs(unsealed(self) - _single(mark)), max(self.step, mark.step), False)

    def _both_rise(self, other: SealedAnswer) -> None:
        if not (self.monotone and other.monotone):
            raise MisuseError("Only numbers that one person moves in one direction can be joined or compared.")


class SealedList(_Closed[Listed]):
    """Itemsets that many people hold, with their counts; which they are, and how many, depends on the data.

    Parameters
    ----------
    listed
        The itemsets.
    universe
        All itemsets there are, in public: those that are not listed take part in a choice with the count of the bound.
        None where it is not public which items there are.
    floor
        The public bound above which every itemset is listed; None where the bound depends on the data.
    most
        How many of all itemsets one basket can hold; None where baskets were not cut.
    step
        By how much adding a person raises a count at most: so many baskets.
    """

    __slots__ = ("floor", "most", "step", "universe")
    universe: Universe | None
    floor: int | None
    most: int | None
    step: int

    def __init__(
        self,
        listed: Listed,
        universe: Universe | None,
        floor: int | None = None,
        most: int | None = None,
        step: int = 1,
    ) -> None:
        super().__init__(listed, universe=universe, floor=floor, most=most, step=step)

    def falling(self, many: int) -> SealedAnswer:
        """Return the largest so many counts, and the bound in place of those below it."""
        listed = unsealed(self)
        counts = np.full(many, listed.bound, np.int64)
        largest = listed.counts[:many]
        counts[: len(largest)] = largest
        return SealedAnswer(counts, self.step, True)


class SealedEngine(_Closed[Engine]):
    """The data, as a mechanism has them: they can be asked, and the answers are sealed.

    Parameters
    ----------
    engine
        Who answers.
    items
        How many items there are, where that is public: what occurs in the data is not.
    longest
        How many items a basket has at most, where baskets were cut.
    max_baskets
        How many baskets a person has at most.
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
        """Return the answer to a query. It moves as the query says."""
        step = query.sensitivity(self.max_baskets).linf
        return SealedAnswer(unsealed(self).answer(query), step, query.monotone)

    def above(self, bound: int | SealedAnswer, least: int, longest: int, limit: int = LARGEST) -> SealedList:
        """Return the itemsets of `least` to `longest` items that more people hold than the bound says.

        The bound is public, or one number under seal that one person raises by as many baskets as one has at most.
        Where there are more than `limit`, it is raised as `Engine.above` says.
        """
        universe = None if self.items is None else Universe(self.items, least, longest, unsealed(self).lineage)
        most = None if self.longest is None else Universe(self.longest, least, longest).many
        if isinstance(bound, int):
            listed = unsealed(self).above(bound, least, longest, limit)
            return SealedList(listed, universe, bound if limit == LARGEST else None, most, self.max_baskets)
        if not bound.monotone or bound.step > self.max_baskets:
            raise MisuseError("A bound under seal is a number that one person raises no further than a count.")
        listed = unsealed(self).above(_single(bound), least, longest, limit)
        return SealedList(listed, universe, None, most, self.max_baskets)

    def cut(self, truncation: Truncation) -> SealedEngine:
        """Return the same baskets, each of them cut first."""
        return SealedEngine(unsealed(self).cut(truncation), self.items, truncation.longest, self.max_baskets)


def _within(public: ArrayLike) -> I64:
    """Return public numbers that no count can be taken out of range by."""
    numbers = np.asarray(public, object)
    if any(abs(int(one)) > _FARTHEST for one in numbers.ravel()):
        raise MisuseError(f"Numbers that answers are compared with lie within 2^{_FARTHEST.bit_length() - 1}.")
    return np.asarray(public, np.int64)


def _single(sealed: SealedAnswer) -> int:
    if len(sealed) != 1:
        raise MisuseError("One number is needed here.")
    return int(unsealed(sealed)[0])
