"""Bit counting as one machine instruction, vectorised by the compiler where the machine can."""

from __future__ import annotations

from typing import Any

from .jit import enabled

if enabled():
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def popcount(typing_context: Any, word: Any) -> Any:
        """Return the number of bits set in a uint64."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

else:

    def popcount(word: Any) -> int:
        """Return the number of bits set in a word."""
        return int(word).bit_count()
