"""The one decorator for compiled code.

``@kernel`` compiles a function with numba on its first call, caches the machine code, and releases the GIL while
it runs, so that threads of :func:`in_threads` really work side by side. Where numba is missing or switched off
(``DISCREET_JIT=0`` or numba's own ``NUMBA_DISABLE_JIT=1``) the same function runs as plain Python; where no cache
directory can be written it is compiled anew in each process. Kernels that threads share must therefore not
depend on numba's parallel mode, which compiles slowly and has a threading layer of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from functools import lru_cache
from threading import Thread, current_thread, local, main_thread
from typing import Any, TypeVar

from .cache import cache_directory

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
R = TypeVar("R")

_registry: list[Any] = []


def enabled() -> bool:
    """Whether kernels are compiled in this process."""
    if os.environ.get("DISCREET_JIT", "1") == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") == "1":
        return False
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True


def _make_compiler() -> Callable[..., Any] | None:
    if not enabled():
        return None
    import numba

    place = cache_directory()
    if place is not None:
        numba.config.CACHE_DIR = place

    def compile_(function: Callable[..., Any], inline: bool) -> Any:
        # Inlined helpers are compiled into their callers, so a cache entry of their own would never be read.
        options: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
        if inline:
            return numba.njit(**options)(function)
        return numba.njit(cache=place is not None, **options)(function)

    return compile_


_compiler = _make_compiler()


def kernel(function: F) -> F:
    """Compile `function` lazily: no signature is given, so importing a module of kernels costs nothing."""
    if _compiler is None:
        return _plain(function)
    compiled: F = _compiler(function, False)
    _compile_elsewhere(compiled)
    _registry.append(compiled)
    return compiled


def _compile_elsewhere(compiled: Any) -> None:
    """Let a kernel that the main thread calls first be compiled by another one, which hears no interrupt.

    In the main thread an interrupt would be heard only when LLVM is done with a function, or be dropped within one of
    its callbacks. What numba calls where no compiled form fits the arguments is looked up on the object.
    """
    inner = compiled._compile_for_args

    def compile_for_args(*values: Any, **words: Any) -> Any:
        # A module that calls kernels while it is imported is locked: another thread that needs it would wait for ever.
        home = getattr(sys.modules.get(compiled.py_func.__module__), "__spec__", None)
        if current_thread() is not main_thread() or getattr(home, "_initializing", False):
            return inner(*values, **words)
        made: Future[Any] = Future()

        def work() -> None:
            try:
                made.set_result(inner(*values, **words))
            except BaseException as error:
                made.set_exception(error)

        Thread(target=work, name="discreet-compiler").start()
        return made.result()

    compiled._compile_for_args = compile_for_args


def _plain(function: F) -> F:
    """Let words wrap around without a warning, as they do in compiled code."""
    import numpy as np

    wrapped: F = np.errstate(over="ignore")(function)
    return wrapped


def helper(function: F) -> F:
    """Compile a small function that only other kernels call."""
    if _compiler is None:
        return function
    compiled: F = _compiler(function, True)
    return compiled


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
