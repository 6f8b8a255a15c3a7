"""Bit counting as one machine instruction, vectorised by the compiler on machines that can."""

from __future__ import annotations

from typing import Any

from ._compiler import register_form


def popcount(word: Any) -> int:
    """Return the number of set bits of a uint64."""
    return int(word).bit_count()


def _make_instruction() -> Any:
    """Return numba's intrinsic for LLVM's `ctpop`; plain Python code has no access to it."""
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count_bits(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    return count_bits


register_form(popcount, "ctpop", _make_instruction)
