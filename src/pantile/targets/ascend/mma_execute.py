"""Executing one call of ``mma_tile`` on arrays: operands laid out in L1, the stream carried out, L0C read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.errors import UsageError
from pantile.simulate.elements import elements_of
from pantile.targets.ascend.elements import BIAS_POINTER, FRACTAL_ROWS
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.layouts import zn
from pantile.targets.ascend.memory import BUFFERS_220X, Memory, Write, spread
from pantile.targets.ascend.mma_tile import Revision, mma_tile
from pantile.targets.ascend.numbers import DTYPES, Numbers, bytes_of, numbers_of, pack_int4

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.targets.ascend.memref import Memref
    from pantile.targets.ascend.mma_call import MmaCall


def execute_mma(
    mma: MmaCall,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    c: npt.ArrayLike | None = None,
    bias: npt.ArrayLike | None = None,
    revision: Revision = "head",
    capacities: Mapping[str, int] = BUFFERS_220X,
) -> Numbers:
    """Return what a call leaves of its result, m by n (of int4 m by 2n), in fp32 or int32.

    Args:
        mma: The call.
        a: Left operand, m by k, not transposed; of int4 m by 2k.
        b: Right operand, k by n; of int4 2k by 2n.
        c: What L0C holds before, if the call adds to it.
        bias: n numbers, if the call has a bias.
        revision: Of the library.
        capacities: Bytes of each buffer.

    Raises:
        UsageError: If an array has another shape or type, or is missing.
        ProgramError: If a block reaches beyond its buffer, or the call traps.
    """
    memory = Memory(capacities)
    twice = 2 if mma.element.is_int4 else 1
    m, n, k = mma.m, twice * mma.n, twice * mma.k
    left, right = _checked(a, (m, k), mma, "a"), _checked(b, (k, n), mma, "b")
    _place(memory, mma, mma.a, left, transposed=mma.ta)
    _place(memory, mma, mma.b, right, transposed=mma.tb)
    if mma.bias is not None:
        _place_bias(memory, mma, bias)
    height = mma.c.sizes[1] * mma.c.sizes[2]
    place = zn(height, mma.c.sizes[0] * mma.c.sizes[3], FRACTAL_ROWS)
    index = spread(mma.c.address(4), place.offset(np.arange(m)[:, None], np.arange(n)), 4)
    if c is not None:
        given = _shaped(np.asarray(c), (m, n), "c")
        memory.write(Write("L0C", index, bytes_of(given, mma.element.accumulator).reshape(index.shape)))
    run_stream(mma_tile(mma, revision).instructions, memory)
    left_there = memory.read("L0C", index)
    return numbers_of(left_there.reshape(-1), mma.element.accumulator).reshape(m, n)


def _checked(values: npt.ArrayLike, shape: tuple[int, int], mma: MmaCall, name: str) -> Numbers:
    given = _shaped(np.asarray(values), shape, name)
    if not mma.element.is_int4:
        return elements_of(given, mma.element.dtype, name)
    if given.dtype.kind not in "iub" or (given.size and not -8 <= given.min() <= given.max() <= 7):
        raise UsageError(f"{name} holds int4, got other values than the integers from -8 to 7")
    return given


def _shaped(values: Numbers, shape: tuple[int, ...], name: str) -> Numbers:
    if values.shape != shape:
        raise UsageError(f"{name} is {shape}, got an array of shape {values.shape}")
    return values


def _place(memory: Memory, mma: MmaCall, block: Memref, matrix: Numbers, *, transposed: bool) -> None:
    """Lay an operand out in L1; padding stays what it is, so that no result can depend on it.

    Of int4, the bytes that hold two neighbours of a row are what is laid out, and transposed.
    """
    width, element = mma.element.bytes, mma.element.pointer
    if mma.element.is_int4:
        matrix = pack_int4(matrix).view(np.int8)
    stored = matrix.T if transposed else matrix
    if not stored.size:
        return
    rows, columns = stored.shape
    layout = zn(block.sizes[1] * block.sizes[2], block.sizes[0] * block.sizes[3], block.sizes[3])
    if rows > layout.rows or columns > layout.columns:
        raise UsageError(
            f"an operand of {rows} x {columns} does not fit its block of {layout.rows} x {layout.columns}"
        )
    place = layout.offset(np.arange(rows)[:, None], np.arange(columns))
    index = spread(block.address(width), place, width)
    memory.write(Write("L1", index, bytes_of(stored, element).reshape(index.shape)))


def _place_bias(memory: Memory, mma: MmaCall, bias: npt.ArrayLike | None) -> None:
    assert mma.bias is not None
    if bias is None:
        raise UsageError("no array for bias", mend="give one, or leave the bias out of the call")
    pointer = BIAS_POINTER[mma.bias.dtype]
    given = _shaped(np.asarray(bias), (mma.n,), "bias")
    data = bytes_of(elements_of(given, DTYPES[pointer], "bias"), pointer)
    memory.write(Write("L1", mma.bias.block.address(mma.bias.bytes) + np.arange(data.size), data))
