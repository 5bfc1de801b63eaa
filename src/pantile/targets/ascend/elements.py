"""Element types of a cube core: their widths, their blocks, and what they accumulate in.

Source: ascend-core.md, its notation and section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_BYTES = 32
"""Every buffer is filled and read in blocks of this many bytes."""

FRACTAL_ROWS = 16
FRACTAL_BYTES = FRACTAL_ROWS * BLOCK_BYTES


@dataclass(frozen=True, slots=True)
class Element:
    """One type of the cube's operands.

    Attributes:
        name: As recorded cases write it.
        dtype: As workload texts write it.
        pointer: What a pointer to it is declared as.
        bytes: Width of what an address counts; of four-bit data, that of the byte that holds two.
        accumulator: What a pointer to the sum is declared as.
    """

    name: str
    dtype: str
    pointer: str
    bytes: int
    accumulator: str

    @property
    def block(self) -> int:
        """Elements (of four-bit data, bytes) in 32 bytes: the vendor's C0."""
        return BLOCK_BYTES // self.bytes

    @property
    def is_int4(self) -> bool:
        """Whether two elements share a byte."""
        return self.dtype == "int4"


ELEMENTS = {
    each.name: each
    for each in (
        Element("half", "fp16", "half", 2, "float"),
        Element("bf16", "bf16", "bfloat16_t", 2, "float"),
        Element("float", "fp32", "float", 4, "float"),
        Element("int8", "int8", "int8_t", 1, "int32_t"),
        Element("int4", "int4", "int8_t", 1, "int32_t"),
    )
}
"""Every element type of the cube, by the name of recorded cases."""

BY_DTYPE = {each.dtype: each for each in ELEMENTS.values()}

BIAS_BYTES = {"half": 2, "float": 4, "int32": 4}
"""Types that a bias can have, and their widths."""

BIAS_POINTER = {"half": "half", "float": "float", "int32": "int32_t"}


FORWARDED_BLOCKS = 10
"""From so many 16 x 16 blocks on, the cube's pipeline is longer than the dependence of a sum on the last."""


def is_forwarded(rows: int, columns: int) -> bool:
    """Whether the next product of a sum needs no barrier, with the library's division from left to right.

    >>> is_forwarded(48, 55), is_forwarded(48, 53)
    (True, False)
    """
    return rows // FRACTAL_ROWS * columns // FRACTAL_ROWS >= FORWARDED_BLOCKS


def up(value: int, to: int) -> int:
    """Return *value* rounded up to a multiple of *to*."""
    return -(-value // to) * to


def parts(value: int, of: int) -> int:
    """Return how many pieces of length *of* cover *value*."""
    return -(-value // of)
