"""The access to a card: its memory, copies and launches. No other module uses CuPy.

A `Driver` is small, so that the tests have one that runs the text of `kernels.cu` on a processor. It uses plain copies,
memory set to zero and the kernels of this package alone: the kernels of CuPy would need the headers of CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import CardError

if TYPE_CHECKING:
    from collections.abc import Iterator

CardArray: TypeAlias = Any  # an array in the memory of a card
Grid: TypeAlias = tuple[int, int]

THREADS = 256
"""Threads of a block, as in `kernels.cu`."""
OPTIONS = ("--std=c++17", "--fmad=false")
"""The options of the compiler: without fused operations, every product and sum is rounded as on a processor."""
LEAST_CAPABILITY = 60
"""The least compute capability times ten: from 6.0 on, several threads can add to one number of 64 bits."""
_NO_DEVICE, _OLD_DRIVER = 100, 35  # cudaErrorNoDevice and cudaErrorInsufficientDriver of CUDA


def source() -> str:
    """Return the text of the kernels."""
    return files(__package__).joinpath("kernels.cu").read_text("utf-8")


class Stage(Protocol):
    """A way for reports to the card: pinned memory of this machine, which the card reads by itself, and its copy there.

    Copies and kernels of one stage run in order; two stages run at the same time.
    """

    host: NDArray[np.uint8]

    def wait(self) -> None:
        """Wait until the card has copied the sent bytes and used them: the host's memory may be written again."""

    def send(self, size: int) -> CardArray:
        """Begin to copy the first `size` bytes of the host's memory, and return their array on the card."""

    def work(self) -> AbstractContextManager[object]:
        """Return a context: kernels launched within it run after the copies of this stage."""


class Driver(Protocol):
    """The access to a card."""

    name: str

    def free(self) -> int:
        """Return the number of free bytes of memory."""

    def upload(self, array: NDArray[Any]) -> CardArray:
        """Return a copy of an array on the card."""

    def empty(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array on the card with undefined values."""

    def zeros(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array of zeros on the card."""

    def download(self, array: CardArray) -> NDArray[Any]:
        """Return a copy of an array of the card after the end of all launched kernels."""

    def launch(self, name: str, grid: Grid, arguments: Sequence[Any]) -> None:
        """Run a kernel on a grid of blocks: the numbers of blocks in x and y."""

    def stage(self, size: int) -> Stage:
        """Return a stage of `size` bytes."""


def check_room(driver: Driver, size: int) -> None:
    """Check that the card has `size` bytes of free memory."""
    free = driver.free()
    if size > free:
        raise CardError(
            f"{driver.name} has {free / 2**20:,.0f} MiB of memory free, and {size / 2**20:,.0f} MiB are needed."
        )


class CupyDriver:
    """The access to an NVIDIA card by CuPy."""

    def __init__(self) -> None:
        try:
            import cupy
        except Exception as error:  # ImportError, or any error of a library that CuPy loads
            raise CardError(_explain_import_error(error)) from None
        if not hasattr(cupy, "cuda"):
            raise CardError("CuPy cannot be loaded: a folder of that name stands where Python looks first.")
        self._cupy = cupy
        with self._translate_errors():
            self._check_driver()
            properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
        self.name = properties["name"].decode()
        if properties["major"] * 10 + properties["minor"] < LEAST_CAPABILITY:
            raise CardError(
                f"{self.name} has compute capability {properties['major']}.{properties['minor']}, and "
                f"{LEAST_CAPABILITY // 10}.{LEAST_CAPABILITY % 10} or newer is needed."
            )
        with self._translate_errors():
            module = cupy.RawModule(code=source(), options=OPTIONS)
            self._kernels = {name: module.get_function(name) for name in kernel_names(source())}

    def _check_driver(self) -> None:
        runtime = self._cupy.cuda.runtime
        try:
            card_count = runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            if error.status == _NO_DEVICE:
                raise CardError("No NVIDIA card was found.") from None
            if error.status == _OLD_DRIVER:
                raise CardError(_explain_old_driver(runtime.driverGetVersion(), runtime.runtimeGetVersion())) from None
            raise
        if not card_count:
            raise CardError("No NVIDIA card was found.")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise the errors of CuPy within the body as a `CardError`."""
        try:
            yield
        except CardError:
            raise
        except Exception as error:
            if isinstance(error, self._cupy.cuda.memory.OutOfMemoryError | MemoryError):
                raise CardError(f"The memory of {getattr(self, 'name', 'the card')} is full.") from None
            raise CardError(f"CuPy could not do its work: {first_line(error)}") from None

    def free(self) -> int:
        """Return the number of free bytes, with the bytes that CuPy keeps and does not use."""
        with self._translate_errors():
            pool = self._cupy.get_default_memory_pool()
            return int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def upload(self, array: NDArray[Any]) -> CardArray:
        """Return a copy of an array on the card."""
        with self._translate_errors():
            copy = self._cupy.empty(array.shape, array.dtype)
            if copy.nbytes:
                copy.set(np.ascontiguousarray(array))
            return copy

    def empty(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array on the card with undefined values."""
        with self._translate_errors():
            return self._cupy.empty(shape, kind)

    def zeros(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array of zeros on the card; kernels launched later see them, on any stage."""
        with self._translate_errors():
            zeros = self._cupy.empty(shape, kind)
            if zeros.nbytes:
                zeros.data.memset(0, zeros.nbytes)
            self._cupy.cuda.Device().synchronize()
            return zeros

    def download(self, array: CardArray) -> NDArray[Any]:
        """Return a copy of an array of the card after the end of all launched kernels."""
        with self._translate_errors():
            self._cupy.cuda.Device().synchronize()
            copy: NDArray[Any] = array.get()
            return copy

    def launch(self, name: str, grid: Grid, arguments: Sequence[Any]) -> None:
        """Run a kernel on a grid of blocks: the numbers of blocks in x and y."""
        if not all(grid):
            return
        with self._translate_errors():
            self._kernels[name](grid, (THREADS,), tuple(arguments))

    def stage(self, size: int) -> Stage:
        """Return a stage of `size` bytes."""
        with self._translate_errors():
            return _CupyStage(self._cupy, size, self._translate_errors)


class _CupyStage:
    def __init__(self, cupy: Any, size: int, translate_errors: Any) -> None:
        self._translate_errors = translate_errors
        self._memory = cupy.cuda.alloc_pinned_memory(size)  # has to live as long as the view on the next line
        self.host = np.frombuffer(self._memory, np.uint8, size)
        self._card_bytes = cupy.empty(size, np.uint8)
        self._stream = cupy.cuda.Stream(non_blocking=True)

    def wait(self) -> None:
        with self._translate_errors():
            self._stream.synchronize()

    def send(self, size: int) -> CardArray:
        with self._translate_errors():
            self._card_bytes.data.copy_from_host_async(self.host.ctypes.data, size, self._stream)
            return self._card_bytes

    def work(self) -> AbstractContextManager[object]:
        stream: AbstractContextManager[object] = self._stream
        return stream


def kernel_names(text: str) -> list[str]:
    """Return the names of the kernels in a CUDA text."""
    kernels = text.split('extern "C" __global__ void ')[1:]
    return [kernel.partition("(")[0].strip() for kernel in kernels]


def first_line(error: BaseException) -> str:
    """Return the type and first line of an error of a library, 200 characters at most."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _explain_import_error(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
        return "CuPy is not installed: pip install 'discreet[gpu]'."
    return f"CuPy cannot be loaded: {first_line(error)}"


def _explain_old_driver(driver: int, runtime: int) -> str:
    if not driver:
        return "No driver of NVIDIA's was found."
    return (
        f"The driver of the card is too old: it knows CUDA {_version(driver)}, and CuPy was made for CUDA "
        f"{_version(runtime)}. Install a newer driver, or the CuPy for CUDA {driver // 1000}: pip install "
        f"cupy-cuda{driver // 1000}x."
    )


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
