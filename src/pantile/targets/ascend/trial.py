"""Bytes to try a stream on: reproducible, and finite numbers in every type that the cube takes.

A stream alone does not say what its operands are. What a race does to it shows on any data on which its order
matters, so every buffer is filled with such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import OutsideModelError
from pantile.targets.ascend.memory import BUFFERS_220X, Memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.program.program import Program
    from pantile.simulate.elements import Bytes

SEED = 5

MOST_BYTES, MOST_BUFFER_BYTES = 1 << 27, 1 << 22


def trial_memory(program: Program, capacities: Mapping[str, int] = BUFFERS_220X) -> Memory:
    """Return buffers and tensors for the program of a trace.

    Tensors reach as far as its moves do. So do buffers that it overflows: that is told elsewhere, and must
    not hide what else goes wrong.

    Args:
        program: As :func:`~pantile.targets.ascend.trace.program_of_trace` makes it.
        capacities: Bytes of each buffer.

    Raises:
        OutsideModelError: If that is more than :data:`MOST_BYTES`, or :data:`MOST_BUFFER_BYTES` of a buffer.
    """
    random = np.random.default_rng(SEED)
    access, sizes = program.tables()["access"], dict(capacities)
    for space, name in enumerate(program.parameters["spaces"]):
        mine = access[access["space"] == space]
        sizes[name] = max(int((mine["lo"] + mine["length"]).max()), sizes.get(name, 0))
    for name, size in sizes.items():
        most = MOST_BUFFER_BYTES if name in capacities else MOST_BYTES
        if size > most:
            raise OutsideModelError(f"it reaches {size} B of {name}, and at most {most} B are tried")
    memory = Memory({})
    for name, size in sizes.items():
        memory.put_tensor(name, _finite(random, size))
    return memory


def _finite(random: np.random.Generator, count: int) -> Bytes:
    """Return *count* bytes that are halves between 1/4 and 2 of either sign, and finite as any other type."""
    halves = random.integers(0x3400, 0x4000, -(-count // 2), np.uint16)
    signs = random.integers(0, 2, len(halves), np.uint16) << 15
    return np.asarray((halves | signs).view(np.uint8)[:count], np.uint8)
