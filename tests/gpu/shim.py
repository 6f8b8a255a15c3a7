"""A card that is no card: the very text of `kernels.cu`, compiled as C++ and run on a processor, thread by thread.

Every thread of a block is a coroutine; `__syncthreads` gives way to the others until all of them have come to it.
Blocks run one after another. Run with the last thread first as well, a barrier that is missing shows: threads then
read what others have not written yet, or have written already. Memory has a rim that nobody may write to.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np

from discreet.gpu._driver import THREADS, kernel_names, source

COMPILER = shutil.which("g++") or shutil.which("c++")
RIM = 1 << 15  # bytes around each array: a block that writes beyond its items is still in there
_BYTE = 0xA5

_BEFORE = r"""
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __align__(n) alignas(n)
struct Place { unsigned int x, y, z; };
static Place blockIdx, threadIdx, gridDim, blockDim;
static ucontext_t scheduler;
static std::vector<ucontext_t> contexts;
static std::vector<char> done;
static unsigned int running, barriers;
static void __syncthreads() { barriers++; swapcontext(&contexts[running], &scheduler); threadIdx.x = running; }
static unsigned int __umulhi(unsigned int one, unsigned int other) {
    return (unsigned int)(((unsigned long long)one * other) >> 32);
}
template <typename T> static T atomicAdd(T *place, T more) { T before = *place; *place += more; return before; }
using std::rint;
"""
_AFTER = r"""
template <typename... A, std::size_t... I>
static void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*(std::remove_reference_t<A> *)arguments[I]...);
}
template <typename... A> static void call(void (*kernel)(A...), void **arguments) {
    call(kernel, arguments, std::index_sequence_for<A...>{});
}
static void run(const char *name, void **arguments) {
    KERNELS
}
static const char *name_now;
static void **arguments_now;
static void entry() { run(name_now, arguments_now); done[running] = 1; swapcontext(&contexts[running], &scheduler); }

// Returns 1 where some threads of a block left while others waited for them.
extern "C" int launch(const char *name, unsigned x, unsigned y, unsigned threads, int backwards, void **arguments) {
    static std::vector<char> stacks;
    const std::size_t size = 1 << 15;
    stacks.resize(threads * size);
    contexts.resize(threads);
    name_now = name;
    arguments_now = arguments;
    gridDim = {x, y, 1};
    blockDim = {threads, 1, 1};
    for (unsigned block = 0; block < x * y; block++) {
        unsigned at = backwards ? x * y - 1 - block : block;
        blockIdx = {at % x, at / x, 0};
        done.assign(threads, 0);
        for (unsigned thread = 0; thread < threads; thread++) {
            getcontext(&contexts[thread]);
            contexts[thread].uc_stack.ss_sp = stacks.data() + thread * size;
            contexts[thread].uc_stack.ss_size = size;
            contexts[thread].uc_link = &scheduler;
            makecontext(&contexts[thread], entry, 0);
        }
        for (unsigned left = threads; left;) {
            unsigned before = left, waited = 0;
            for (unsigned turn = 0; turn < threads; turn++) {
                running = backwards ? threads - 1 - turn : turn;
                if (done[running]) continue;
                threadIdx = {running, 0, 0};
                unsigned come = barriers;
                swapcontext(&scheduler, &contexts[running]);
                waited += barriers != come;
                left -= done[running];
            }
            if (waited && left != before) return 1;
        }
    }
    return 0;
}
"""
_TYPES = {
    "int": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "double": np.float64,
}  # fmt: skip


@cache
def signatures() -> dict[str, list[tuple[str, bool]]]:
    """Return the types of the arguments of every kernel, and which are arrays."""
    text = re.sub(r"//.*", "", source())
    parsed_signatures = {}
    for name in kernel_names(source()):
        parameter_list = re.search(rf"void {name}\((.*?)\) \{{", text, re.DOTALL)
        assert parameter_list is not None
        words = [
            parameter.replace("const ", "").split() for parameter in parameter_list[1].replace("\n", " ").split(",")
        ]
        parsed_signatures[name] = [(kind, place.startswith("*")) for kind, place in words]
    return parsed_signatures


def compiled(folder: Path, text: str) -> ctypes.CDLL:
    """Compile a text of kernels; undefined behaviour in it ends the program."""
    assert COMPILER is not None
    kernels = "\n    ".join(
        f'if (!strcmp(name, "{name}")) return call({name}, arguments);' for name in kernel_names(text)
    )
    code, library = folder / "kernels.cpp", folder / "kernels.so"
    code.write_text(f"{_BEFORE}\n{text}\n{_AFTER.replace('KERNELS', kernels)}")
    # -O1 and no contraction: floating-point numbers round as in CUDA without fused products.
    options = ["-std=c++17", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-fsanitize=undefined"]
    options += ["-fno-sanitize-recover=all", "-static-libubsan", "-Wno-unknown-pragmas"]
    subprocess.run([COMPILER, *options, str(code), "-o", str(library)], check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(library))


class ShimStage:
    def __init__(self, driver, size):
        self.host = np.empty(size, np.uint8)
        self._driver, self._there = driver, driver.empty((size,), np.uint8)

    def wait(self):
        pass

    def send(self, size):
        self._there[:size] = self.host[:size]
        self.host[:size] = _BYTE  # whoever still reads it there is found out
        return self._there

    def work(self):
        return nullcontext()


class ShimDriver:
    """Runs kernels on this machine; `backwards` begins with the last block and the last thread."""

    name = "A card that is none"

    def __init__(self, library: ctypes.CDLL | None, backwards: bool = False, free: int = 1 << 32) -> None:
        self._library, self._backwards, self._free = library, backwards, free
        self._rims: list[np.ndarray] = []

    def free(self):
        return self._free

    def empty(self, shape, kind):
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        memory = np.full(size + 2 * RIM, _BYTE, np.uint8)
        self._rims += [memory[:RIM], memory[RIM + size :]]
        return memory[RIM : RIM + size].view(kind).reshape(shape)

    def zeros(self, shape, kind):
        buffer = self.empty(shape, kind)
        buffer[:] = 0
        return buffer

    def upload(self, array):
        buffer = self.empty(array.shape, array.dtype)
        buffer[:] = array
        return buffer

    def download(self, array):
        for rim in self._rims:
            assert (rim == _BYTE).all(), "something was written beside an array"
        del self._rims[:-32]  # of arrays long gone
        return array.copy()

    def launch(self, name, grid, arguments):
        assert max(grid[1:]) <= 65535
        assert grid[0] < 1 << 31
        if not all(grid):
            return
        kinds = signatures()[name]
        assert len(kinds) == len(arguments), name
        for argument, (kind, is_array) in zip(arguments, kinds, strict=True):
            if is_array:
                # Reports and what people hold come as bytes; sums of 64 bits are counted with or without a sign.
                alike = {_TYPES[kind], np.uint8} | ({np.int64, np.uint64} if kind in ("i64", "u64") else set())
                assert argument.dtype.type in alike, (name, kind, argument.dtype)
                assert argument.ctypes.data % np.dtype(_TYPES[kind]).itemsize == 0
            else:
                assert type(argument) is _TYPES[kind], (name, kind, type(argument))
        self._run(name, grid, arguments)

    def _run(self, name, grid, arguments):
        c_values, places = [], []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                c_values.append(ctypes.c_void_p(argument.ctypes.data))
                places.append(ctypes.cast(ctypes.byref(c_values[-1]), ctypes.c_void_p))
            else:
                c_values.append(np.array(argument))
                places.append(ctypes.c_void_p(c_values[-1].ctypes.data))
        pointers = (ctypes.c_void_p * len(places))(*places)
        fault_count = self._library.launch(name.encode(), grid[0], grid[1], THREADS, int(self._backwards), pointers)
        assert fault_count == 0, f"threads of {name} left a block that others waited in"

    def stage(self, size):
        return ShimStage(self, size)


class TwinDriver(ShimDriver):
    """Runs the twins of `naive.card` in the place of the kernels: where there is no compiler too."""

    def __init__(self, free: int = 1 << 32) -> None:
        super().__init__(None, free=free)

    def _run(self, name, grid, arguments):
        from naive.card import KERNELS

        with np.errstate(over="ignore"):
            KERNELS[name](grid, *arguments)
