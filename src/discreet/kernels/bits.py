"""Bit counting as one machine instruction, vectorised by the compiler where the machine can."""

from __future__ import annotations

from typing import Any

from .compiler import stand_in


def popcount(word: Any) -> int:
    """Return the number of bits set in a uint64."""
    return int(word).bit_count()


def _instruction() -> Any:
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def counted(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    return counted


stand_in(popcount, "ctpop", _instruction)
