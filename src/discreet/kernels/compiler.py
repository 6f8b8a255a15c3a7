"""Machine code for kernels: made by numba, which is loaded here and nowhere else, and kept on the disk.

Modules of kernels hold plain functions, so that importing them costs nothing and they can run as they are. When one is
compiled, a copy of it is: one that sees compiled forms of the helpers and kernels it names instead of the plain ones.

Each compiled form is a file of its own, written whole or not at all, so that any number of processes may compile at
once. Its name says what it was made of (`file_name`): the code of the kernel and of all that it calls, the types of its
arguments, Python, numba and the processor. So whether a form is kept is known without loading numba, and nothing that
has changed since is ever found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .cache import cache_directory, shared_directory

_KEPT = ".nbc"
_forms: dict[Any, tuple[Any, Callable[[], Any]]] = {}
_made: dict[Any, Any] = {}
_heard: list[Callable[[str], object]] = []


_broken = False


def installed() -> bool:
    """Whether there is a compiler; it is not loaded for that, so that one which cannot be loaded shows later."""
    return bool(_numba_at()) and not _broken


def load() -> bool:
    """Load the compiler, and say whether that worked: one that is damaged is as none."""
    global _broken
    try:
        import numba  # noqa: F401
    except ImportError:
        _broken = True
    return not _broken


def loaded() -> bool:
    """Whether the compiler is loaded in this process."""
    return "numba.core.dispatcher" in sys.modules


def tell_of_compiling(listener: Callable[[str], object]) -> None:
    """Have a function called with the name of each kernel that is compiled in this process, before it is."""
    _heard[:] = [listener]


@lru_cache(maxsize=1)
def _numba_at() -> str:
    """Return where numba is, with the moment it came there; "" where it is missing."""
    try:
        found = importlib.util.find_spec("numba")
        return f"{found.origin} {Path(found.origin).stat().st_mtime_ns}" if found and found.origin else ""
    except (ImportError, OSError, ValueError):
        return ""


def stand_in(plain: Any, text: Any, make: Callable[[], Any]) -> None:
    """Say what compiled code calls where plain code calls `plain`: what `make` returns, made of `text`."""
    _forms[plain] = text, make


def _form(plain: Any) -> Any:
    if plain not in _made:
        _made[plain] = _forms[plain][1]()
    return _made[plain]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _called(function: FunctionType) -> dict[str, Any]:
    """Return by their names the helpers and kernels that a function calls."""
    seen = function.__globals__
    named = {name: seen[name] for name in sorted(set(_names(function.__code__))) if name in seen}
    return {name: value for name, value in named.items() if callable(value) and value in _forms}


def dispatcher(function: FunctionType, *, alone: bool) -> Any:
    """Return numba's object for a function: one to call from Python and to keep (`alone`), or a part of others."""
    import numba

    named = _called(function)
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **{name: _form(value) for name, value in named.items()}},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    # Wrappers for callers from C are called by nobody, and a part of other kernels is not called from Python either.
    made = numba.njit(
        nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=not alone
    )(copy)
    if alone:
        made._cache = _Kept(function)
        _compile_elsewhere(made)
    return made


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


class _Kept:
    """The compiled forms of one kernel on the disk, as numba asks for them: what `numba.core.caching._Cache` is for."""

    cache_path = None

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a form that is kept, or None; a file that cannot be read is none."""
        import pickle

        from numba.core.compiler import CompileResult

        context.refresh()
        name = file_name(self._function, _text_of_all(signature))
        for place in places():
            with suppress(OSError, EOFError, ValueError, AttributeError, ImportError, pickle.UnpicklingError):
                target, payload = pickle.loads((place / name).read_bytes())  # noqa: S301
                if target == _target(context):
                    return CompileResult._rebuild(context, *payload)
        for listener in _heard:
            listener(self._function.__name__)
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep a form, where there is a place for it; a full disk is no error."""
        from numba.core.serialize import dumps

        place = cache_directory()
        if place is None or made.library.has_dynamic_globals:
            return
        kept = dumps((_target(made.target_context), made._reduce()))
        path = Path(place) / file_name(self._function, _text_of_all(signature))
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            part.write_bytes(kept)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()

    def enable(self) -> None:
        """Do nothing: there is no switch."""

    disable = flush = enable


def _target(context: Any) -> tuple[Any, ...]:
    """Return what machine code is made for."""
    import numba

    return (numba.__version__, *context.codegen().magic_tuple())


def places() -> list[Path]:
    """Return the folders in which compiled forms are looked for: the user's own, then the shared one."""
    return [Path(place) for place in (cache_directory(), shared_directory()) if place is not None]


def is_kept(function: FunctionType, types: str) -> bool:
    """Say whether a compiled form for arguments of these types is on the disk."""
    name = file_name(function, types)
    return any((place / name).exists() for place in places())


@lru_cache(maxsize=1024)
def file_name(function: FunctionType, types: str) -> str:
    """Return the name of the file in which the form of a kernel for arguments of these types is kept."""
    told = hashlib.sha256(f"{_around()}\n{types}\n".encode())
    for part in _described(function):
        told.update(part.encode() + b"\n")
    module = function.__module__.rpartition(".")[2]
    return f"{module}.{function.__qualname__.replace('<locals>.', '')}-{told.hexdigest()[:24]}{_KEPT}"


def _described(function: FunctionType) -> Iterator[str]:
    """Say all that machine code is made of: the code of a function, the constants that it names, what it calls."""
    yield from _code(function.__code__)
    called = _called(function)
    for name in sorted(set(_names(function.__code__)) - set(called)):
        value = function.__globals__.get(name)
        if isinstance(value, bool | int | float | np.generic | np.dtype):
            yield f"{name}={value!r}"
    for name, plain in called.items():
        text = _forms[plain][0]
        yield name
        yield from _described(text) if isinstance(text, FunctionType) else [str(text)]


@lru_cache(maxsize=256)
def length(function: FunctionType) -> int:
    """Return how long a kernel is with all that it calls, in bytes of Python's code: compiling takes as long."""
    texts = [_forms[plain][0] for plain in _called(function).values()]
    return len(function.__code__.co_code) + sum(length(text) for text in texts if isinstance(text, FunctionType))


def _code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for constant in code.co_consts[1:] if code.co_consts[:1] == (_docstring(code),) else code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _docstring(code: CodeType) -> object:
    """Return the first constant where it is text, which is the docstring: words are not compiled."""
    return code.co_consts[0] if code.co_consts and isinstance(code.co_consts[0], str) else code


@lru_cache(maxsize=1)
def _around() -> str:
    """Return which Python, numba and processor these are, as far as that can be told without loading numba."""
    try:
        with open("/proc/cpuinfo", "rb") as stream:  # noqa: PTH123  # its first processor is enough, and it may be long
            lines = stream.read(8192).decode(errors="replace").splitlines()
        told = [line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))][:2]
    except OSError:
        told = []
    processor = told or [platform.processor()]
    return f"{sys.version} {sys.platform} {platform.machine()} {processor} {_numba_at()} {sorted(_settings())}"


def _settings() -> Iterator[str]:
    """Return what the environment says about processors and compiling."""
    return (f"{name}={os.environ[name]}" for name in os.environ if name.startswith(("NUMBA_CPU_", "NUMBA_OPT")))


def types_of(given: tuple[Any, ...]) -> str:
    """Return the types of arguments as text: two calls with the same text are answered by one compiled form."""
    return ";".join(map(_type_of, given))


def _type_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{value.dtype.str}[{value.ndim}{layout}{'' if flags.writeable else 'r'}]"
    if isinstance(value, tuple):
        return f"({','.join(map(_type_of, value))})"
    if isinstance(value, bool | int | float | np.generic):
        return np.asarray(value).dtype.str
    return type(value).__name__


def _text_of_all(signature: Any) -> str:
    return ";".join(map(_text_of, signature))


def _text_of(kind: Any) -> str:
    """Return the text of :func:`types_of` for a type of numba; its own for what no argument from Python has."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(kind, types.Array):
        return f"{as_dtype(kind.dtype).str}[{kind.ndim}{kind.layout}{'' if kind.mutable else 'r'}]"
    if isinstance(kind, types.BaseTuple):
        return f"({','.join(map(_text_of, kind))})"
    if isinstance(kind, types.NumPyRandomGeneratorType):
        return np.random.Generator.__name__
    if isinstance(kind, types.Boolean | types.Number) and not isinstance(kind, types.Literal):
        return str(as_dtype(kind).str)
    return str(kind)


def signature_of(text: str) -> tuple[Any, ...] | None:
    """Return numba's types for a text of :func:`types_of`; None where one of them has no text."""
    try:
        return tuple(_read(part) for part in text.split(";")) if text else ()
    except (TypeError, ValueError, NotImplementedError):
        return None


def _read(text: str) -> Any:
    from numba import types
    from numba.np.numpy_support import from_dtype

    if text == np.random.Generator.__name__:
        return types.npy_rng
    if text.startswith("("):
        return types.Tuple([_read(part) for part in _parts(text[1:-1])])
    if text.endswith("]"):
        name, _, form = text[:-1].partition("[")
        readonly = form.endswith("r")
        form = form.removesuffix("r")
        return types.Array(from_dtype(np.dtype(name)), int(form[:-1]), form[-1], readonly=readonly)
    if np.dtype(text).hasobject:
        raise ValueError(text)
    return from_dtype(np.dtype(text))


def _parts(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]
