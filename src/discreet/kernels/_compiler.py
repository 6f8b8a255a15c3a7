"""Machine code for kernels: made by numba, which is loaded in this module alone, and kept on the disk.

Modules of kernels hold plain functions, so that importing them costs nothing and they run without a compiler. The
compiler receives a copy of the function in which the names of helpers and kernels stand for their compiled forms.

Each compiled form is a file of its own, written whole or not at all, so that any number of processes may compile at
once. Its name is a digest (`file_name`) of the code of the kernel and of all its callees, the types of its arguments,
Python, numba and the processor. So a look at the folder shows whether a form is kept, without loading numba, and no
outdated form is ever used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Thread, current_thread, local, main_thread
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ._cache import cache_directory, find_cache_directory, shared_directory

_FORM_SUFFIX = ".nbc"
_form_makers: dict[Any, tuple[Any, Callable[[], Any]]] = {}
_made_forms: dict[Any, Any] = {}
_listeners: list[Callable[[str], object]] = []


_broken = False


def is_installed() -> bool:
    """Return whether numba is installed; it is not loaded, so a damaged one is found only by `load_compiler`."""
    return bool(_locate_numba()) and not _broken


def load_compiler() -> bool:
    """Load numba, and return whether that worked: a damaged installation counts as none."""
    global _broken
    try:
        import numba  # noqa: F401
    except ImportError:
        _broken = True
    return not _broken


def is_loaded() -> bool:
    """Return whether numba is loaded in this process."""
    return "numba.core.dispatcher" in sys.modules


def set_compile_listener(listener: Callable[[str], object]) -> None:
    """Call `listener` with the name of each kernel before the kernel is compiled in this process."""
    _listeners[:] = [listener]


@lru_cache(maxsize=1)
def _locate_numba() -> str:
    """Return the path of numba and its time of change; "" where numba is missing."""
    try:
        spec = importlib.util.find_spec("numba")
        return f"{spec.origin} {Path(spec.origin).stat().st_mtime_ns}" if spec and spec.origin else ""
    except (ImportError, OSError, ValueError):
        return ""


_thread_state = local()


@contextmanager
def keep_forms() -> Iterator[None]:
    """Keep the forms that this thread compiles inside the block: for callers that compile all kernels."""
    _thread_state.keeps_forms = True
    try:
        yield
    finally:
        _thread_state.keeps_forms = False


def is_keeping_forms() -> bool:
    """Return whether compiled forms are kept: forms that data called for are not, as files would tell of the data.

    ``DISCREET_JIT=1`` is for tests and benchmarks, and keeps all forms.
    """
    return getattr(_thread_state, "keeps_forms", False) or os.environ.get("DISCREET_JIT") == "1"


def register_form(plain: Any, source: Any, make_form: Callable[[], Any]) -> None:
    """Register the compiled counterpart of `plain`: the result of `make_form`, which is made from `source`."""
    _form_makers[plain] = source, make_form


def _compiled_form(plain: Any) -> Any:
    """Return the compiled counterpart of a plain function, made at the first request."""
    if plain not in _made_forms:
        _made_forms[plain] = _form_makers[plain][1]()
    return _made_forms[plain]


def _list_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that code reads, nested code included."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _list_names(inner)


def _list_callees(function: FunctionType) -> dict[str, Any]:
    """Return by name the helpers and kernels that a function calls."""
    module_names = function.__globals__
    named_values = {
        name: module_names[name] for name in sorted(set(_list_names(function.__code__))) if name in module_names
    }
    return {name: value for name, value in named_values.items() if callable(value) and value in _form_makers}


def make_dispatcher(function: FunctionType, *, is_entry: bool) -> Any:
    """Return numba's object for a function: an entry from Python that is kept (`is_entry`), or a part of kernels."""
    import numba

    callees = _list_callees(function)
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **{name: _compiled_form(value) for name, value in callees.items()}},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    # No caller is written in C, and a part of kernels has no caller in Python: both wrappers would only cost time.
    compiled = numba.njit(
        nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=not is_entry
    )(copy)
    if is_entry:
        compiled._cache = _FormStore(function)
        _compile_in_thread(compiled)
    return compiled


def _compile_in_thread(compiled: Any) -> None:
    """Compile a kernel that the main thread calls first in a second thread, which hears no interrupt.

    In the main thread an interrupt would be heard only when LLVM is done with a function, or be dropped within one of
    LLVM's callbacks. numba looks the method up on the object when no compiled form fits the arguments.
    """
    inner = compiled._compile_for_args

    def compile_for_args(*arguments: Any, **keywords: Any) -> Any:
        # A module that calls kernels while it is imported is locked: a second thread that needs it would wait for ever.
        module_spec = getattr(sys.modules.get(compiled.py_func.__module__), "__spec__", None)
        if current_thread() is not main_thread() or getattr(module_spec, "_initializing", False):
            return inner(*arguments, **keywords)
        result: Future[Any] = Future()

        def work() -> None:
            try:
                result.set_result(inner(*arguments, **keywords))
            except BaseException as error:
                result.set_exception(error)

        Thread(target=work, name="discreet-compiler").start()
        return result.result()

    compiled._compile_for_args = compile_for_args


class _FormStore:
    """The compiled forms of one kernel on the disk, with the methods of `numba.core.caching._Cache`."""

    cache_path = None

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a kept form, or None; an unreadable file counts as none."""
        import pickle

        from numba.core.compiler import CompileResult

        context.refresh()
        name = file_name(self._function, _describe_signature(signature))
        for folder in form_folders():
            with suppress(OSError, EOFError, ValueError, AttributeError, ImportError, pickle.UnpicklingError):
                target, payload = pickle.loads((folder / name).read_bytes())  # noqa: S301
                if target == _describe_target(context):
                    return CompileResult._rebuild(context, *payload)
        for listener in _listeners:
            listener(self._function.__name__)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a form, if forms are kept and a folder exists; a full disk is no error."""
        from numba.core.serialize import dumps

        folder = cache_directory() if is_keeping_forms() else None
        if folder is None or result.library.has_dynamic_globals:
            return
        payload = dumps((_describe_target(result.target_context), result._reduce()))
        path = Path(folder) / file_name(self._function, _describe_signature(signature))
        partial_path = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            partial_path.write_bytes(payload)
            # A rename is atomic, so no process ever reads half a form.
            partial_path.replace(path)
        except OSError:
            with suppress(OSError):
                partial_path.unlink()

    def enable(self) -> None:
        """Do nothing: numba calls it, and forms are always looked up."""

    disable = flush = enable


def _describe_target(context: Any) -> tuple[Any, ...]:
    """Return the numba version and the processor that machine code is made for."""
    import numba

    return (numba.__version__, *context.codegen().magic_tuple())


def form_folders() -> list[Path]:
    """Return the folders that are searched for compiled forms: the user's own, then the shared folder."""
    return [Path(folder) for folder in (find_cache_directory(), shared_directory()) if folder is not None]


def is_kept(function: FunctionType, types: str) -> bool:
    """Return whether a compiled form for arguments of the given types is on the disk."""
    name = file_name(function, types)
    return any((folder / name).exists() for folder in form_folders())


@lru_cache(maxsize=1024)
def file_name(function: FunctionType, types: str) -> str:
    """Return the file name of the form of a kernel for arguments of the given types."""
    digest = hashlib.sha256(f"{_describe_environment()}\n{types}\n".encode())
    for description in _describe_function(function):
        digest.update(description.encode() + b"\n")
    module = function.__module__.rpartition(".")[2]
    return f"{module}.{function.__qualname__.replace('<locals>.', '')}-{digest.hexdigest()[:24]}{_FORM_SUFFIX}"


def _describe_function(function: FunctionType) -> Iterator[str]:
    """Yield all inputs of machine code: the code of a function, its named constants, and its callees."""
    yield from _describe_code(function.__code__)
    callees = _list_callees(function)
    for name in sorted(set(_list_names(function.__code__)) - set(callees)):
        value = function.__globals__.get(name)
        if isinstance(value, bool | int | float | np.generic | np.dtype):
            yield f"{name}={value!r}"
    for name, plain in callees.items():
        source = _form_makers[plain][0]
        yield name
        yield from _describe_function(source) if isinstance(source, FunctionType) else [str(source)]


@lru_cache(maxsize=256)
def measure_code(function: FunctionType) -> int:
    """Return the length of a kernel and its callees in bytes of Python's code: compile time grows with it."""
    sources = [_form_makers[plain][0] for plain in _list_callees(function).values()]
    return len(function.__code__.co_code) + sum(
        measure_code(source) for source in sources if isinstance(source, FunctionType)
    )


def _describe_code(code: CodeType) -> Iterator[str]:
    """Yield the instructions, names and constants of code, except a docstring."""
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for constant in code.co_consts[1:] if code.co_consts[:1] == (_first_text(code),) else code.co_consts:
        if isinstance(constant, CodeType):
            yield from _describe_code(constant)
        else:
            yield repr(constant)


def _first_text(code: CodeType) -> object:
    """Return the first constant if it is text, that is the docstring: words are not compiled."""
    return code.co_consts[0] if code.co_consts and isinstance(code.co_consts[0], str) else code


@lru_cache(maxsize=1)
def _describe_environment() -> str:
    """Return a text on Python, numba and the processor, without loading numba."""
    try:
        with open("/proc/cpuinfo", "rb") as stream:  # noqa: PTH123  # the first processor suffices, and the file may be long
            lines = stream.read(8192).decode(errors="replace").splitlines()
        processor_lines = [line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))][
            :2
        ]
    except OSError:
        processor_lines = []
    processor = processor_lines or [platform.processor()]
    return f"{sys.version} {sys.platform} {platform.machine()} {processor} {_locate_numba()} {sorted(_list_settings())}"


def name_all_forms() -> str:
    """Return one name for the set of all compiled forms of this version, machine and numba."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    file_texts = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files]
    return hashlib.sha256("\n".join([_describe_environment(), *file_texts]).encode()).hexdigest()[:24]


def _list_settings() -> Iterator[str]:
    """Yield the environment variables about processors and compiling."""
    return (f"{name}={os.environ[name]}" for name in os.environ if name.startswith(("NUMBA_CPU_", "NUMBA_OPT")))


def describe_types(arguments: tuple[Any, ...]) -> str:
    """Return the types of arguments as text: calls with equal texts share one compiled form."""
    return ";".join(map(_describe_type, arguments))


def _describe_type(value: Any) -> str:
    """Return the type of one argument as text, layout and writability of arrays included."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{value.dtype.str}[{value.ndim}{layout}{'' if flags.writeable else 'r'}]"
    if isinstance(value, tuple):
        return f"({','.join(map(_describe_type, value))})"
    if isinstance(value, bool | int | float | np.generic):
        return np.asarray(value).dtype.str
    return type(value).__name__


def _describe_signature(signature: Any) -> str:
    """Return the text of `describe_types` for numba's types."""
    return ";".join(map(_describe_numba_type, signature))


def _describe_numba_type(numba_type: Any) -> str:
    """Return the text of `describe_types` for one numba type; numba's own text for a type no argument has."""
    from numba import types
    from numba.np.numpy_support import as_dtype

    if isinstance(numba_type, types.Array):
        return (
            f"{as_dtype(numba_type.dtype).str}[{numba_type.ndim}{numba_type.layout}{'' if numba_type.mutable else 'r'}]"
        )
    if isinstance(numba_type, types.BaseTuple):
        return f"({','.join(map(_describe_numba_type, numba_type))})"
    if isinstance(numba_type, types.NumPyRandomGeneratorType):
        return np.random.Generator.__name__
    if isinstance(numba_type, types.Boolean | types.Number) and not isinstance(numba_type, types.Literal):
        return str(as_dtype(numba_type).str)
    return str(numba_type)


def parse_signature(text: str) -> tuple[Any, ...] | None:
    """Return numba's types for a text of `describe_types`; None where one type has no text."""
    try:
        return tuple(_parse_type(part) for part in text.split(";")) if text else ()
    except (TypeError, ValueError, NotImplementedError):
        return None


def _parse_type(text: str) -> Any:
    """Return numba's type for one part of a text of `describe_types`."""
    from numba import types
    from numba.np.numpy_support import from_dtype

    if text == np.random.Generator.__name__:
        return types.npy_rng
    if text.startswith("("):
        return types.Tuple([_parse_type(part) for part in _split_types(text[1:-1])])
    if text.endswith("]"):
        name, _, layout = text[:-1].partition("[")
        readonly = layout.endswith("r")
        layout = layout.removesuffix("r")
        return types.Array(from_dtype(np.dtype(name)), int(layout[:-1]), layout[-1], readonly=readonly)
    if np.dtype(text).hasobject:
        raise ValueError(text)
    return from_dtype(np.dtype(text))


def _split_types(source: str) -> list[str]:
    """Return the parts between commas outside of brackets."""
    parts, depth = [""], 0
    for letter in source:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]
