"""Executing a whole kernel on arrays: the stream of every core, one after another, on tensors in GM."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import UsageError
from pantile.simulate.elements import elements_of
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.layouts import zn
from pantile.targets.ascend.memory import Memory
from pantile.targets.ascend.numbers import DTYPES, Numbers, bytes_of, numbers_of
from pantile.targets.ascend.ranges import ELEMENT_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pantile.targets.ascend.kernel import Kernel, Works


def execute_kernel(
    kernel: Kernel,
    cores: Sequence[Works],
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    bias: npt.ArrayLike | None = None,
) -> Numbers:
    """Return the result of all cores, batch by m by n.

    Args:
        kernel: The product.
        cores: The tiles of every core.
        a: Left operands, batch by m by k, not transposed. *b* likewise, batch by k by n.
        b: Right operands.
        bias: n numbers, if the kernel adds a bias.

    Raises:
        UsageError: If an array has another shape or type, or is missing.
    """
    batch = 1 + max(int(works["batch"].max()) for works in cores if len(works))
    store = Memory({})
    store.put_tensor("GM_A", _left(kernel, np.asarray(a)))
    store.put_tensor("GM_B", _right(kernel, np.asarray(b)))
    out_bytes = ELEMENT_BITS[kernel.out] // 8
    store.put_tensor("GM_C", np.full(batch * kernel.m * kernel.n * out_bytes, 0xFF, np.uint8))
    if kernel.bias:
        if bias is None:
            raise UsageError("no array for bias")
        given = _checked(np.asarray(bias), (kernel.n,), DTYPES[kernel.bias], "bias")
        store.put_tensor("GM_BIAS", bytes_of(given, kernel.bias))
    for works in cores:
        memory = Memory(kernel.capacities, dict(store.contents))
        run_stream(core_stream(kernel, works), memory)
        store.contents["GM_C"] = memory.contents["GM_C"]
    shape = (batch, kernel.m, kernel.n)
    return numbers_of(store.contents["GM_C"][: prod(shape) * out_bytes], kernel.out).reshape(shape)


def _left(kernel: Kernel, given: Numbers) -> npt.NDArray[np.uint8]:
    given = _checked(given, (*given.shape[:1], kernel.m, kernel.k), kernel.element.dtype, "a")
    return bytes_of(given.swapaxes(1, 2) if kernel.ta else given, kernel.element.pointer)


def _right(kernel: Kernel, given: Numbers) -> npt.NDArray[np.uint8]:
    given = _checked(given, (*given.shape[:1], kernel.k, kernel.n), kernel.element.dtype, "b")
    stored = given.swapaxes(1, 2) if kernel.tb else given
    if kernel.nz:
        layout = zn(stored.shape[1], stored.shape[2], kernel.element.block)
        stored = np.stack([layout.pack(each) for each in stored])
    return bytes_of(stored, kernel.element.pointer)


def _checked(given: Numbers, shape: tuple[int, ...], dtype: str, name: str) -> Numbers:
    if given.shape != shape:
        raise UsageError(f"{name} is {shape}, got an array of shape {given.shape}")
    return elements_of(given, dtype, name)
