"""The choice of the form in which a kernel runs: plain, or compiled.

Compiled code is a hundred times as fast, and has a price: a fraction of a second to load the compiler, and where no
compiled form is kept on the disk, seconds to make it. So a kernel runs plain as long as the seconds already spent, plus
the seconds expected of this call by the size of its arguments, stay below the price. That way no kernel costs much
more than twice the better choice, for any sequence of calls (the ski-rental rule).

Both forms return equal results to the bit. The choice depends on the sizes of arguments and on the clock, so on private
data: it must not outlive the process. A form compiled on demand is not kept. A background process compiles all forms
(`background`), from the import of this module on, and leaves equal files for all data.
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

from . import _compiler as compiler, background

# Seconds to load the compiler, to load a kept form, and to compile a form, the last growing with the bytes of Python's
# code. Rough, as machines differ: near the price, both choices cost about equal time.
LOAD_SECONDS = 0.35
FETCH_SECONDS = 0.02
COMPILE_SECONDS, COMPILE_SECONDS_PER_BYTE = 0.3, 0.0002
# Seconds per element of the arguments, until a kernel has been timed: loops of Python, and of numpy.
_LOOP_SECONDS_PER_ELEMENT = 4e-7
_ARRAY_SECONDS_PER_ELEMENT = 3e-8
# Seconds for which the absence of a form is believed: the background process may write it at any time.
_LOOKUP_SECONDS = 0.5

# A shorter call says little about speed: most of the time is the cost of starting.
_MIN_TIMED_SECONDS = 5e-3

_switch = "0" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else os.environ.get("DISCREET_JIT", "")


class OutOfTime(Exception):  # noqa: N818
    """Raised by a plain form that has passed its number of seconds, before it changes any argument."""


class Kernel:
    """A function over arrays in its two forms. `registry` has all kernels."""

    registry: list[Kernel] = []  # noqa: RUF012
    plain_seconds = 0.0  # seconds of all plain forms of this process

    def __init__(
        self,
        function: FunctionType,
        plain: Callable[..., Any] | None = None,
        work: Callable[..., float] | None = None,
        bounded: bool = False,
    ) -> None:
        update_wrapper(self, function)
        self.function = function
        self.signatures: list[str] = []  # the types of its calls during `recording`
        # Words wrap around without a warning, like in compiled code.
        self.plain = np.errstate(over="ignore")(plain or function)
        self._work = work or _count_elements
        self._bounded = bounded
        self._seconds_per_element = _ARRAY_SECONDS_PER_ELEMENT if plain else _LOOP_SECONDS_PER_ELEMENT
        self._plain_seconds = 0.0
        self._compiled: Any = None
        self._lock = Lock()
        self._last_lookup: tuple[str, float, bool] = "", 0.0, False
        compiler.register_form(self, function, self.compiled)
        Kernel.registry.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the form that is expected to end first."""
        compiled = self._compiled
        if compiled is not None:
            return compiled(*arguments)
        return self._choose_form(arguments)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def compiled(self) -> Any:
        """Return the form that numba compiles, for any types of arguments."""
        with self._lock:
            if self._compiled is None:
                self._compiled = compiler.make_dispatcher(self.function, is_entry=True)
            return self._compiled

    def prepare(self, types: str) -> None:
        """Compile a form for arguments of the given types, and keep it."""
        signature = compiler.parse_signature(types)
        if signature is not None:
            with compiler.keep_forms():
                self.compiled().compile(signature)

    def _choose_form(self, arguments: tuple[Any, ...]) -> Any:
        """Run the plain form, unless its expected seconds pass the price of compiling."""
        if recording.on:
            types = compiler.describe_types(arguments)
            if types not in self.signatures:
                self.signatures.append(types)
            return self.plain(*arguments)
        if not enabled():
            return self.plain(*arguments)
        if _switch == "1":
            return self._run_compiled(arguments)
        work = self._work(*arguments)
        expected_seconds = self._plain_seconds + work * self._seconds_per_element
        price = FETCH_SECONDS
        if expected_seconds > FETCH_SECONDS or self._bounded:
            price = self._plain_allowance(compiler.describe_types(arguments))
            if expected_seconds > price:
                return self._run_compiled(arguments)
        start_time = thread_time()
        try:
            # Half of the remaining seconds, as a second thread may run the next piece of this work.
            time_limit = {"seconds": (price - self._plain_seconds) / 2} if self._bounded else {}
            result = self.plain(*arguments, **time_limit)
        except OutOfTime:
            self._note_run(thread_time() - start_time, 0)
            return self._run_compiled(arguments)
        self._note_run(thread_time() - start_time, work)
        return result

    def _run_compiled(self, arguments: tuple[Any, ...]) -> Any:
        """Run the compiled form, compiling it if necessary."""
        return self.compiled()(*arguments) if compiler.load_compiler() else self.plain(*arguments)

    def _plain_allowance(self, types: str) -> float:
        """Return the total seconds that this kernel may run plain before the compiled form is the better choice."""
        seen_types, lookup_end, is_kept = self._last_lookup
        if seen_types != types or (not is_kept and monotonic() > lookup_end):
            is_kept = compiler.is_kept(self.function, types)
            self._last_lookup = types, monotonic() + _LOOKUP_SECONDS, is_kept
        load_seconds = 0.0 if compiler.is_loaded() else LOAD_SECONDS
        if not is_kept:
            return load_seconds + COMPILE_SECONDS + COMPILE_SECONDS_PER_BYTE * compiler.measure_code(self.function)
        # All kernels together pay for loading the compiler.
        return max(load_seconds - Kernel.plain_seconds + self._plain_seconds, FETCH_SECONDS)

    def _note_run(self, seconds: float, work: float) -> None:
        """Add the seconds of a plain run, for this process."""
        with self._lock:
            self._plain_seconds += seconds
            Kernel.plain_seconds += seconds
            if work > 0 and seconds > _MIN_TIMED_SECONDS:
                self._seconds_per_element = seconds / work


class _Recording:
    """A switch that makes kernels run plain and note the types of their calls: warming up compiles the noted types."""

    on = False

    def __enter__(self) -> None:
        self.on = True

    def __exit__(self, *_: object) -> None:
        self.on = False


recording = _Recording()


def enabled() -> bool:
    """Return whether kernels may be compiled in this process."""
    return _switch != "0" and compiler.is_installed()


def _count_elements(*arguments: Any) -> float:
    """Return the number of elements of all arrays."""
    return math.fsum(value.size for value in arguments if isinstance(value, np.ndarray))


if _switch != "0":
    background.start_if_allowed()
