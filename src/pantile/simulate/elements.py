"""Elements as bytes: NumPy's types where it has them, bfloat16 by its bits.

Products accumulate in 32 bits, or in 64 where the output has 64; what is stored is rounded to its own type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pantile.errors import OutsideModelError, UsageError
from pantile.workload.dtypes import dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Bytes = npt.NDArray[np.uint8]

_TYPES = {
    "fp64": "f8",
    "fp32": "f4",
    "fp16": "f2",
    "int64": "i8",
    "int32": "i4",
    "int16": "i2",
    "int8": "i1",
    "uint8": "u1",
}
_BF16 = "bf16"


def element_bytes(name: str) -> int:
    """Return the width of an element.

    Raises:
        OutsideModelError: If such elements cannot be computed with.
    """
    if name != _BF16 and name not in _TYPES:
        known = ", ".join([*_TYPES, _BF16])
        raise OutsideModelError(f"elements of dtype {name} are not computed with", mend=f"use one of {known}")
    return 2 if name == _BF16 else np.dtype(_TYPES[name]).itemsize


def accumulator(name: str) -> np.dtype[Any]:
    """Return the type in which products for an output of that type are summed.

    >>> accumulator("fp16"), accumulator("int8"), accumulator("fp64")
    (dtype('float32'), dtype('int32'), dtype('float64'))
    """
    given = dtype(name)
    wide = given.bits == 64
    return np.dtype(("f8" if wide else "f4") if given.kind == "float" else ("i8" if wide else "i4"))


def encode(values: npt.NDArray[Any], name: str) -> Bytes:
    """Return *values* as bytes, row by row, rounded to type *name* (to the nearest, ties to even)."""
    if name != _BF16:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.frombuffer(np.ascontiguousarray(values).astype(_TYPES[name]).tobytes(), np.uint8)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    halves = np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)
    return np.frombuffer(halves.tobytes(), np.uint8)


def decode(data: Bytes, name: str) -> npt.NDArray[Any]:
    """Return the elements in *data*; bfloat16 as float32."""
    if name != _BF16:
        return np.frombuffer(data.tobytes(), _TYPES[name])
    return (np.frombuffer(data.tobytes(), np.uint16).astype(np.uint32) << 16).view(np.float32)


def elements_of(values: ArrayLike, name: str, operand: str) -> npt.NDArray[Any]:
    """Return *values* as elements of type *name* that an operand can hold.

    Raises:
        UsageError: If they are fractions where integers are expected, or out of range.
    """
    given = np.asarray(values)
    element_bytes(name)
    if name == _BF16:
        return given.astype(np.float32)
    wanted = np.dtype(_TYPES[name])
    if wanted.kind in "iu":
        if given.dtype.kind not in "iub":
            raise UsageError(f"{operand} holds {name}, got an array of {given.dtype}")
        limits = np.iinfo(wanted)
        if given.size and not (limits.min <= given.min() and given.max() <= limits.max):
            raise UsageError(f"{operand} holds {name}, got values from {given.min()} to {given.max()}")
    elif given.dtype.kind not in "iubf":
        raise UsageError(f"{operand} holds {name}, got an array of {given.dtype}")
    return given.astype(wanted)
