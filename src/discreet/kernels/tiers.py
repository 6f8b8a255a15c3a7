"""Which form of a kernel runs: plain, or compiled.

Compiled code is a hundred times as fast, and has a price: a fraction of a second to load the compiler, and where no
compiled form is kept on the disk, seconds to make one. So a kernel runs plain as long as what it has taken so far, and
what this call is likely to take by the size of its arguments, stays below the price. That way no kernel costs much
more than twice what the better choice would have cost, whatever comes. What was found to be slow is asked of a process
in the background (`background`), so that the next command finds it compiled.

Both forms return the same to the bit. Which one runs depends on the sizes of arguments and on the clock, and shows
in nothing but time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from time import monotonic, thread_time
from types import FunctionType
from typing import Any

import numpy as np

from . import background, compiler

# Seconds: to load the compiler, to load a form that is kept, and to compile one, with so much more per byte of Python's
# code. Rough, as machines differ: what is near to the price either way is about as quick either way.
LOADING = 0.35
FETCHING = 0.02
COMPILING, PER_BYTE = 0.3, 0.0002
# Seconds per element of the arguments, until a kernel has been timed: loops of Python, and of numpy.
_LOOPS = 4e-7
_ARRAYS = 3e-8
# How long to believe that no form is kept: one may be made in the background meanwhile.
_SECONDS = 0.5

# Below this, a call says little about speed: what it takes to begin is most of it.
_TIMED = 5e-3

_switch = "0" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else os.environ.get("DISCREET_JIT", "")


class OutOfTime(Exception):  # noqa: N818
    """Raised by a plain form that was told how many seconds it has, and has changed nothing yet."""


class Kernel:
    """A function over arrays in its two forms. `registry` has all of them."""

    registry: list[Kernel] = []  # noqa: RUF012
    taken = 0.0  # by all plain forms of this process
    slow: dict[Kernel, str] = {}  # noqa: RUF012  # with the types they were called with

    def __init__(
        self,
        function: FunctionType,
        plain: Callable[..., Any] | None = None,
        work: Callable[..., float] | None = None,
        bounded: bool = False,
    ) -> None:
        update_wrapper(self, function)
        self.function = function
        self.signatures: list[str] = []  # what it was called with, while `recording`
        # Words wrap around without a warning, as they do in compiled code.
        self.plain = np.errstate(over="ignore")(plain or function)
        self._work = work or _elements
        self._bounded = bounded
        self._each = _ARRAYS if plain else _LOOPS
        self._taken = 0.0
        self._compiled: Any = None
        self._lock = Lock()
        self._looked: tuple[str, float, bool] = "", 0.0, False
        compiler.stand_in(self, function, self.compiled)
        Kernel.registry.append(self)

    def __call__(self, *given: Any) -> Any:
        """Run the form that is likely to be done first."""
        compiled = self._compiled
        if compiled is not None:
            return compiled(*given)
        return self._choose(given)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def compiled(self) -> Any:
        """Return the form that numba compiles, for whatever types it is called with."""
        with self._lock:
            if self._compiled is None:
                self._compiled = compiler.dispatcher(self.function, alone=True)
            return self._compiled

    def prepare(self, types: str) -> None:
        """Compile a form for arguments of these types, and keep it."""
        signature = compiler.signature_of(types)
        if signature is not None:
            self.compiled().compile(signature)

    def _choose(self, given: tuple[Any, ...]) -> Any:
        if recording.on:
            types = compiler.types_of(given)
            if types not in self.signatures:
                self.signatures.append(types)
            return self.plain(*given)
        if not enabled():
            return self.plain(*given)
        if _switch == "1":
            return self._run(given)
        work = self._work(*given)
        likely = self._taken + work * self._each
        price = FETCHING
        if likely > FETCHING or self._bounded:
            price = self._worth(compiler.types_of(given))
            if likely > price:
                return self._run(given)
        begun = thread_time()
        try:
            # Half of what is left, as another thread may be at the next piece of the same work.
            within = {"seconds": (price - self._taken) / 2} if self._bounded else {}
            result = self.plain(*given, **within)
        except OutOfTime:
            self._note(thread_time() - begun, 0, given)
            return self._run(given)
        self._note(thread_time() - begun, work, given)
        return result

    def _run(self, given: tuple[Any, ...]) -> Any:
        """Run the compiled form, whatever it takes to have one."""
        return self.compiled()(*given) if compiler.load() else self.plain(*given)

    def _worth(self, types: str) -> float:
        """Return how many seconds this kernel may run plain before the compiled form is the better choice."""
        told, until, kept = self._looked
        if told != types or (not kept and monotonic() > until):
            kept = compiler.is_kept(self.function, types)
            self._looked = types, monotonic() + _SECONDS, kept
        loading = 0.0 if compiler.loaded() else LOADING
        if not kept:
            return loading + COMPILING + PER_BYTE * compiler.length(self.function)
        # Loading the compiler is paid for by all kernels together.
        return max(loading - Kernel.taken + self._taken, FETCHING)

    def _note(self, seconds: float, work: float, given: tuple[Any, ...]) -> None:
        """Remember what a plain run took, and ask for a compiled form where the next process would use one."""
        with self._lock:
            self._taken += seconds
            Kernel.taken += seconds
            if work > 0 and seconds > _TIMED:
                self._each = seconds / work
        if self._taken > FETCHING:
            Kernel.slow[self] = compiler.types_of(given)
        if Kernel.taken > LOADING and Kernel.slow:
            for one, types in list(Kernel.slow.items()):
                background.ask(one.function, types)
            Kernel.slow.clear()


class _Recording:
    """Whether kernels run plain and note the types that they are called with: how warming up finds what to compile."""

    on = False

    def __enter__(self) -> None:
        self.on = True

    def __exit__(self, *_: object) -> None:
        self.on = False


recording = _Recording()


def enabled() -> bool:
    """Whether kernels may be compiled in this process."""
    return _switch != "0" and compiler.installed()


def _elements(*given: Any) -> float:
    return math.fsum(value.size for value in given if isinstance(value, np.ndarray))
