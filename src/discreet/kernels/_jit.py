"""The decorators of kernels, and the threads in which kernels run.

``@kernel`` marks a function over arrays: it runs plain on small inputs and compiled on large ones
(`tiers` decides, `compiler` compiles), with equal results to the bit, and without the GIL once compiled, so that
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

from . import _compiler as compiler
from ._tiers import Kernel, enabled

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
        The function to compile. Importing a module of kernels compiles nothing.
    plain
        The function that runs without compiling, with equal results to the bit: by default, the function itself.
    work
        Returns the number of elements to read for given arguments; by default, the size of all arrays. An order of
        magnitude suffices.
    bounded
        Whether `plain` takes ``seconds=`` too, and raises `OutOfTime` after that time, with nothing changed.
    """
    if function is None:
        return partial(_kernel, plain=plain, work=work, bounded=bounded)
    return _kernel(function)


def _kernel(function: F, **options: Any) -> F:
    """Return the kernel of a function."""
    return cast(F, Kernel(cast(FunctionType, function), **options))


@overload
def helper(function: F, /) -> F: ...
@overload
def helper(*, plain: Callable[..., Any]) -> Callable[[F], F]: ...
def helper(function: F | None = None, /, *, plain: Callable[..., Any] | None = None) -> Any:
    """Mark a small function that is compiled into its calling kernels. Plain code calls `plain` instead, if given."""
    if function is None:
        return partial(_helper, plain=plain)
    return _helper(function, function)


def _helper(function: F, plain: Any) -> F:
    """Register the compiled counterpart of a helper; return its plain form."""
    source = cast(FunctionType, function)
    compiler.register_form(plain, source, lambda: compiler.make_dispatcher(source, is_entry=False))
    return cast(F, plain)


def threads() -> int:
    """Return the number of threads: ``DISCREET_THREADS``, or one per core this process may run on."""
    setting = os.environ.get("DISCREET_THREADS", "")
    if setting.isdecimal() and setting.isascii() and int(setting) > 0:
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def in_threads(task: Callable[[T], R], work: Iterable[T], progress: Callable[[float], object] | None = None) -> list[R]:
    """Run `task` on every piece of `work`, on all cores, and return the results in the order of `work`.

    `progress` is called with the share of finished pieces. When a task raises, pieces not yet begun are dropped. Even a
    single piece runs in a thread of its own: compiled code does not hear an interrupt, the waiting main thread does.
    Nested calls run in the calling thread, as all cores are busy.
    """
    pieces = list(work)
    if getattr(_thread_state, "is_working", False):
        return [task(piece) for piece in pieces]
    futures = [_pool(os.getpid(), threads()).submit(_run_task, task, piece) for piece in pieces]
    try:
        for count, future in enumerate(as_completed(futures), 1):
            future.result()
            if progress is not None:
                progress(count / len(pieces))
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


_thread_state = local()


@lru_cache(maxsize=1)
def _pool(process: int, thread_count: int) -> ThreadPoolExecutor:
    """Return the threads of this process, started once: a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(thread_count)


def _run_task(task: Callable[[T], R], piece: T) -> R:
    """Run a task, with nested calls of `in_threads` kept in this thread."""
    _thread_state.is_working = True
    return task(piece)
