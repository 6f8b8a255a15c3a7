"""The card itself: memory, copies and launches, all that the rest of this room knows of CuPy.

A `Driver` is small so that tests have one of their own, which runs the very text of `kernels.cu` on a processor. Only
plain copies, memory that is set to zero and our own kernels are used: CuPy's own would need headers of CUDA beside it.
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

# An array in the memory of a card: what a driver gives and takes.
CardArray: TypeAlias = Any
Grid: TypeAlias = tuple[int, int]

THREADS = 256
"""Threads of a block, as in `kernels.cu`."""
OPTIONS = ("--std=c++17", "--fmad=false")
"""How the kernels are compiled: products and sums are rounded each by itself, as on a processor."""
LEAST_CAPABILITY = 60
"""Compute capability, times ten, from which on a card has what the kernels need: sums of 64 bits by several threads."""
_NO_DEVICE, _OLD_DRIVER = 100, 35  # what CUDA calls cudaErrorNoDevice and cudaErrorInsufficientDriver


def source() -> str:
    """Return the text of the kernels."""
    return files(__package__).joinpath("kernels.cu").read_text("utf-8")


class Stage(Protocol):
    """A place that reports pass through: memory of this machine that a card reads by itself, and as much on the card.

    Copies and kernels of a stage follow each other, and run beside those of another stage.
    """

    host: NDArray[np.uint8]

    def wait(self) -> None:
        """Return when what was sent is no longer needed here: the host's memory may be written again."""

    def send(self, size: int) -> CardArray:
        """Begin to copy so many bytes, and return where they are on the card."""

    def work(self) -> AbstractContextManager[object]:
        """Launch what is launched within after what this stage has sent."""


class Driver(Protocol):
    """What is needed of a card."""

    name: str

    def free(self) -> int:
        """Return how many bytes of memory are free."""

    def upload(self, array: NDArray[Any]) -> CardArray:
        """Return a copy of an array on the card."""

    def empty(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array on the card with nothing in it yet."""

    def zeros(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array of zeros on the card."""

    def download(self, array: CardArray) -> NDArray[Any]:
        """Return a copy of an array of the card, when all that was launched is done."""

    def launch(self, name: str, grid: Grid, arguments: Sequence[Any]) -> None:
        """Run a kernel with so many blocks in each direction."""

    def stage(self, size: int) -> Stage:
        """Return a stage for so many bytes."""


def check_room(driver: Driver, size: int) -> None:
    """Refuse work that the card has no memory for."""
    free = driver.free()
    if size > free:
        raise CardError(
            f"{driver.name} has {free / 2**20:,.0f} MiB of memory free, and {size / 2**20:,.0f} MiB are needed."
        )


class CupyDriver:
    """A card of NVIDIA's, by CuPy."""

    def __init__(self) -> None:
        try:
            import cupy
        except Exception as error:  # CuPy raises ImportError, and others where a part of it cannot be loaded
            raise CardError(_not_imported(error)) from None
        if not hasattr(cupy, "cuda"):
            raise CardError("CuPy cannot be loaded: a folder of that name stands where Python looks first.")
        self._cupy = cupy
        with self._told():
            self._check_driver()
            found = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
        self.name = found["name"].decode()
        if found["major"] * 10 + found["minor"] < LEAST_CAPABILITY:
            raise CardError(
                f"{self.name} has compute capability {found['major']}.{found['minor']}, and "
                f"{LEAST_CAPABILITY // 10}.{LEAST_CAPABILITY % 10} or newer is needed."
            )
        with self._told():
            module = cupy.RawModule(code=source(), options=OPTIONS)
            names = kernel_names(source())
            self._kernels = {name: module.get_function(name) for name in names}

    def _check_driver(self) -> None:
        runtime = self._cupy.cuda.runtime
        try:
            many = runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            if error.status == _NO_DEVICE:
                raise CardError("No NVIDIA card was found.") from None
            if error.status == _OLD_DRIVER:
                raise CardError(_old(runtime.driverGetVersion(), runtime.runtimeGetVersion())) from None
            raise
        if not many:
            raise CardError("No NVIDIA card was found.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our words what CuPy raises, so that nobody above has to know it."""
        try:
            yield
        except CardError:
            raise
        except Exception as error:
            if isinstance(error, self._cupy.cuda.memory.OutOfMemoryError | MemoryError):
                raise CardError(f"The memory of {getattr(self, 'name', 'the card')} is full.") from None
            raise CardError(f"CuPy could not do its work: {first_line(error)}") from None

    def free(self) -> int:
        """Return what is free, and what CuPy keeps and does not use."""
        with self._told():
            pool = self._cupy.get_default_memory_pool()
            return int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def upload(self, array: NDArray[Any]) -> CardArray:
        """Return a copy of an array on the card."""
        with self._told():
            made = self._cupy.empty(array.shape, array.dtype)
            if made.nbytes:
                made.set(np.ascontiguousarray(array))
            return made

    def empty(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array on the card with nothing in it yet."""
        with self._told():
            return self._cupy.empty(shape, kind)

    def zeros(self, shape: tuple[int, ...], kind: Any) -> CardArray:
        """Return an array of zeros on the card; whatever is launched after it sees them, on any stage."""
        with self._told():
            made = self._cupy.empty(shape, kind)
            if made.nbytes:
                made.data.memset(0, made.nbytes)
            self._cupy.cuda.Device().synchronize()
            return made

    def download(self, array: CardArray) -> NDArray[Any]:
        """Return a copy of an array of the card, when all that was launched is done."""
        with self._told():
            self._cupy.cuda.Device().synchronize()
            copied: NDArray[Any] = array.get()
            return copied

    def launch(self, name: str, grid: Grid, arguments: Sequence[Any]) -> None:
        """Run a kernel with so many blocks in each direction."""
        if not all(grid):
            return
        with self._told():
            self._kernels[name](grid, (THREADS,), tuple(arguments))

    def stage(self, size: int) -> Stage:
        """Return a stage for so many bytes."""
        with self._told():
            return _CupyStage(self._cupy, size, self._told)


class _CupyStage:
    def __init__(self, cupy: Any, size: int, told: Any) -> None:
        self._told = told
        self._memory = cupy.cuda.alloc_pinned_memory(size)  # kept as long as the view of it below
        self.host = np.frombuffer(self._memory, np.uint8, size)
        self._there = cupy.empty(size, np.uint8)
        self._stream = cupy.cuda.Stream(non_blocking=True)

    def wait(self) -> None:
        with self._told():
            self._stream.synchronize()

    def send(self, size: int) -> CardArray:
        with self._told():
            self._there.data.copy_from_host_async(self.host.ctypes.data, size, self._stream)
            return self._there

    def work(self) -> AbstractContextManager[object]:
        stream: AbstractContextManager[object] = self._stream
        return stream


def kernel_names(text: str) -> list[str]:
    """Return the names of the kernels in a text."""
    marked = text.split('extern "C" __global__ void ')[1:]
    return [part.partition("(")[0].strip() for part in marked]


def first_line(error: BaseException) -> str:
    """Return what an error of another library says, shortly."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _not_imported(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "cupy":
        return "CuPy is not installed: pip install 'discreet[gpu]'."
    return f"CuPy cannot be loaded: {first_line(error)}"


def _old(driver: int, runtime: int) -> str:
    if not driver:
        return "No driver of NVIDIA's was found."
    return (
        f"The driver of the card is too old: it knows CUDA {_version(driver)}, and CuPy was made for CUDA "
        f"{_version(runtime)}. Install a newer driver, or the CuPy for CUDA {driver // 1000}: pip install "
        f"cupy-cuda{driver // 1000}x."
    )


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
