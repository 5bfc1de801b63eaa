"""Executing the macro GEMM on arrays: every core's stream, one after another, on tensors in GM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pantile.errors import UsageError
from pantile.simulate.elements import Bytes, elements_of
from pantile.targets.ascend.block_call import BlockCall
from pantile.targets.ascend.block_gemm import gemm_block
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.memory import Memory
from pantile.targets.ascend.numbers import Numbers, bytes_of, numbers_of


def execute_gemm(
    launch: BlockCall,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    bias: npt.ArrayLike | None = None,
    scales: npt.ArrayLike | None = None,
) -> Numbers:
    """Return the result, m by n of half, of all cores of *launch*; its own core's number does not matter.

    Args:
        launch: The launch.
        a: Left operand, m by k, not transposed.
        b: Right operand, k by n.
        bias: n numbers of the accumulator's type, if the launch has a bias.
        scales: n factors, if it has scales. The library reads those of the first columns in every block.

    Raises:
        UsageError: If an array has another shape or type, or is missing.
    """
    tensors = _tensors(launch, a, b, bias, scales)
    for core in range(launch.block_num):
        memory = Memory(contents=dict(tensors))
        run_stream(gemm_block(replace(launch, block_idx=core)), memory)
        tensors["GM_C"] = memory.contents["GM_C"]
    result = tensors["GM_C"][: 2 * launch.m * launch.n]
    return numbers_of(result, "half").reshape(launch.m, launch.n)


def _tensors(
    launch: BlockCall,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    bias: npt.ArrayLike | None,
    scales: npt.ArrayLike | None,
) -> dict[str, Bytes]:
    store, element = Memory({}), launch.element
    left = _checked(a, (launch.m, launch.k), element.dtype, "a")
    right = _checked(b, (launch.k, launch.n), element.dtype, "b")
    store.put_tensor("GM_A", bytes_of(left.T if launch.ta else left, element.pointer))
    store.put_tensor("GM_B", bytes_of(right.T if launch.tb else right, element.pointer))
    store.put_tensor("GM_C", np.full(2 * launch.m * launch.n, 0xFF, np.uint8))
    if launch.has_bias:
        accumulator = "int32" if element.accumulator == "int32_t" else "fp32"
        given = _checked(bias, (launch.n,), accumulator, "bias")
        store.put_tensor("GM_BIAS", bytes_of(given, element.accumulator))
    if launch.has_scales:
        given = _checked(scales, (launch.n,), "fp32", "scales")
        words = np.zeros((launch.n, 2), np.float32)  # a scale is the low word of 8 bytes
        words[:, 0] = given
        store.put_tensor("GM_NULL", bytes_of(words, "float"))
    return store.contents


def _checked(values: npt.ArrayLike | None, shape: tuple[int, ...], dtype: str, name: str) -> Numbers:
    if values is None:
        raise UsageError(f"no array for {name}")
    given = np.asarray(values)
    if given.shape != shape:
        raise UsageError(f"{name} is {shape}, got an array of shape {given.shape}")
    return elements_of(given, dtype, name)
