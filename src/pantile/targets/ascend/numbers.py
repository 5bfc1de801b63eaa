"""Elements of a core's buffers as numbers: what a pointer's type says, four-bit data, HF32.

Sources: ascend-core.md section 1.6; CANN document ``SetHF32`` (float operands are rounded to the nearest
HF32, ties to even, unless another mode is set).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pantile.errors import OutsideModelError
from pantile.simulate.elements import Bytes, decode, encode

Numbers = npt.NDArray[Any]

DTYPES = {
    "half": "fp16",
    "bfloat16_t": "bf16",
    "float": "fp32",
    "int8_t": "int8",
    "int32_t": "int32",
    "int32": "int32",
}
"""Element types of this package, by how pointers declare them."""

HF32_FRACTION_BITS = 11
"""Fraction bits of HF32, behind 1 sign and 8 exponent bits. Assumed: no page consulted says it."""


def numbers_of(data: Bytes, element: str) -> Numbers:
    """Return the numbers that bytes of a pointer's type are; what the cube widens, widened."""
    found = decode(data, DTYPES[element])
    return found.astype(np.float32) if found.dtype == np.float16 else found


def bytes_of(numbers: Numbers, element: str) -> Bytes:
    """Return numbers as bytes of a pointer's type, rounded to the nearest, ties to even."""
    return encode(numbers, DTYPES[element])


def unpack_int4(data: Bytes) -> npt.NDArray[np.int8]:
    """Return two signed numbers per byte along the last axis, the low half first."""
    halves = np.stack([data & 0xF, data >> 4], axis=-1).reshape(*data.shape[:-1], -1)
    return ((halves ^ 8).astype(np.int8) - 8).astype(np.int8)


def pack_int4(numbers: npt.ArrayLike) -> Bytes:
    """Return pairs of signed four-bit numbers along the last axis as bytes: the inverse of unpacking.

    >>> pack_int4([1, -1]).tolist(), unpack_int4(pack_int4([1, -8])).tolist()
    ([241], [1, -8])
    """
    halves = np.asarray(numbers).astype(np.int8).view(np.uint8) & 0xF
    return np.asarray(halves[..., 0::2] | halves[..., 1::2] << 4, np.uint8)


def round_to_hf32(numbers: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return fp32 numbers rounded to HF32: to the nearest, ties to even.

    >>> round_to_hf32([1 + 2**-11, 1 + 2**-12, 1 + 3 * 2**-12]).tolist() == [1 + 2**-11, 1, 1 + 2**-10]
    True
    """
    given = np.ascontiguousarray(numbers, np.float32)
    bits, drop = given.view(np.uint32), 23 - HF32_FRACTION_BITS
    rounded = (bits + ((1 << (drop - 1)) - 1) + ((bits >> drop) & 1)) >> drop << drop
    return np.where(np.isfinite(given), rounded.astype(np.uint32).view(np.float32), given)


def require_sums(op: str, element: str) -> None:
    """Check that a pointer into L0C points to sums, which have 4 bytes.

    Raises:
        OutsideModelError: If not.
    """
    if element not in ("float", "int32_t"):
        raise OutsideModelError(f"{op}: L0C holds float or int32_t, got {element}")


def product(left: Numbers, right: Numbers) -> Numbers:
    """Return the product of two matrices as the cube forms it: fp32, or int32 that wraps around.

    The order in which the cube adds is not public; sums of floating-point numbers differ by rounding.
    """
    if left.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):  # padding may hold anything
            return np.asarray(left.astype(np.float32) @ right.astype(np.float32))
    exact = left.astype(np.float64) @ right.astype(np.float64)  # below 2^53: exact, and BLAS knows floats
    return np.asarray(exact.astype(np.int64).astype(np.int32))
