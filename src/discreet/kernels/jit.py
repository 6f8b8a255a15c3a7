"""The decorators for code that is compiled where that pays, and the threads it runs in.

``@kernel`` marks a function over arrays: it runs plain while there is little to do and compiled where there is much
(`tiers` decides, `compiler` compiles), with the same result to the bit, and without the GIL once compiled, so that
threads of :func:`in_threads` really work side by side. ``DISCREET_JIT=0`` (or numba's own ``NUMBA_DISABLE_JIT=1``, or
no numba) runs everything plain, ``DISCREET_JIT=1`` compiles everything on its first call. Kernels that threads share
must not depend on numba's parallel mode, which compiles slowly and has a threading layer of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache, partial
from threading import local
from types import FunctionType
from typing import Any, TypeVar, cast, overload

from . import compiler
from .tiers import Kernel, enabled

__all__ = ["enabled", "helper", "in_threads", "kernel", "threads"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
R = TypeVar("R")


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(
    *, plain: Callable[..., Any] | None = None, work: Callable[..., float] | None = None, bounded: bool = False
) -> Callable[[F], F]: ...
def kernel(
    function: F | None = None,
    /,
    *,
    plain: Callable[..., Any] | None = None,
    work: Callable[..., float] | None = None,
    bounded: bool = False,
) -> Any:
    """Make a kernel of a function.

    Parameters
    ----------
    function
        What is compiled. Importing a module of kernels compiles nothing.
    plain
        What runs where it is not compiled, and returns the same to the bit: by default, the function itself.
    work
        Says of the arguments how many elements there are to go through; by default, all that the arrays have. It only
        has to be right about large and small.
    bounded
        Whether `plain` takes ``seconds=`` as well, and raises `OutOfTime`, with nothing changed, after so many.
    """
    if function is None:
        return partial(_kernel, plain=plain, work=work, bounded=bounded)
    return _kernel(function)


def _kernel(function: F, **how: Any) -> F:
    return cast(F, Kernel(cast(FunctionType, function), **how))


@overload
def helper(function: F, /) -> F: ...
@overload
def helper(*, plain: Callable[..., Any]) -> Callable[[F], F]: ...
def helper(function: F | None = None, /, *, plain: Callable[..., Any] | None = None) -> Any:
    """Mark a small function that kernels call: it is compiled into them. Plain code calls `plain` instead, if given."""
    if function is None:
        return partial(_helper, plain=plain)
    return _helper(function, function)


def _helper(function: F, plain: Any) -> F:
    text = cast(FunctionType, function)
    compiler.stand_in(plain, text, lambda: compiler.dispatcher(text, alone=False))
    return cast(F, plain)


def threads() -> int:
    """How many threads to use: ``DISCREET_THREADS``, or one per core this process may run on."""
    given = os.environ.get("DISCREET_THREADS", "")
    if given.isdecimal() and given.isascii() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def in_threads(task: Callable[[T], R], work: Iterable[T], progress: Callable[[float], object] | None = None) -> list[R]:
    """Run `task` on every piece of `work`, on all cores, and return the results in the order of `work`.

    `progress` is told the share of the pieces that is done. When something is raised, pieces not yet begun are
    dropped. Even a single piece runs in a thread of its own: compiled code does not hear of an interrupt, the main
    thread waiting for it does. Work that a piece itself shares out is done on the spot, as all cores are busy.
    """
    pieces = list(work)
    if getattr(_here, "working", False):
        return [task(piece) for piece in pieces]
    futures = [_pool(os.getpid(), threads()).submit(_at_work, task, piece) for piece in pieces]
    try:
        for count, future in enumerate(as_completed(futures), 1):
            future.result()
            if progress is not None:
                progress(count / len(pieces))
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


_here = local()


@lru_cache(maxsize=1)
def _pool(process: int, many: int) -> ThreadPoolExecutor:
    """Return the threads of this process, started once: a forked child has none of its parent's."""
    return ThreadPoolExecutor(many)


def _at_work(task: Callable[[T], R], piece: T) -> R:
    _here.working = True
    return task(piece)
