"""Which DRAM channel serves an address.

Source: onnxim-model.md section 9 (XOR hashes after Rau, "Pseudo-randomly interleaved memory", 1991).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_BITS = {
    16: (
        (11, 10, 9, 8, 6, 4, 3, 0),
        (12, 8, 7, 6, 5, 3, 1, 0),
        (9, 8, 7, 6, 4, 2, 1),
        (10, 9, 8, 7, 5, 3, 2),
    ),
    32: (
        (13, 12, 11, 10, 9, 6, 5, 3, 0),
        (14, 13, 12, 11, 10, 7, 6, 4, 1),
        (14, 10, 9, 8, 7, 6, 3, 2, 0),
        (11, 10, 9, 8, 7, 4, 3, 1),
        (12, 11, 10, 9, 8, 5, 4, 2),
    ),
    64: (
        (18, 17, 16, 15, 12, 10, 6, 5, 0),
        (15, 13, 12, 11, 10, 7, 5, 1, 0),
        (16, 14, 13, 12, 11, 8, 6, 2, 1),
        (17, 15, 14, 13, 12, 9, 7, 3, 2),
        (18, 16, 15, 14, 13, 10, 8, 4, 3),
        (17, 16, 15, 14, 11, 9, 5, 4),
    ),
}
"""Bits of the request number that are XORed into each bit of the hash, lowest bit first."""


def channels_of(numbers: npt.NDArray[np.int64], channels: int) -> npt.NDArray[np.int64]:
    """Return the channel of every request number (address / request bytes).

    Args:
        numbers: Request numbers, not negative.
        channels: 1 to 15 (the 16-way hash, modulo), or exactly 16, 32 or 64.
    """
    ways = max(16, channels)
    hashed = np.zeros_like(numbers)
    for place, bits in enumerate(_BITS[ways]):
        folded = np.zeros_like(numbers)
        for bit in bits:
            folded ^= numbers >> bit
        hashed |= (folded & 1) << place
    return hashed % channels
