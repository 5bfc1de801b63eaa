"""Masks of 64 bits."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def lowest_bit(context: Any, mask: Any) -> Any:
    """Return the place of the lowest bit that is set in a 64-bit mask other than 0."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build
