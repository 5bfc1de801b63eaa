"""Buffers of one core and tensors in GM, as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from pantile.errors import OutsideModelError, ProgramError
from pantile.simulate.elements import Bytes
from pantile.simulate.storage import POISON
from pantile.targets.ascend.elements import BLOCK_BYTES, up
from pantile.targets.ascend.layouts import Ints

BUFFERS_220X = {
    "L1": 524288,
    "L0A": 65536,
    "L0B": 65536,
    "L0C": 131072,
    "BT": 1024,
    "FB": 7168,
}
"""Bytes of the buffers of a 220x core (Ascend 910B). Source: ascend-core.md section 1.1."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that an instruction leaves: *data* at *index* of a buffer, of the same shape."""

    buffer: str
    index: Ints
    data: Bytes


@dataclass(slots=True)
class Memory:
    """What the buffers of a core and the tensors in GM hold.

    What nobody wrote is all ones: in floating point, no number.

    Attributes:
        capacities: Bytes of each buffer.
        contents: Bytes by buffer or tensor.
    """

    capacities: Mapping[str, int] = field(default_factory=lambda: dict(BUFFERS_220X))
    contents: dict[str, Bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, size in self.capacities.items():
            self.contents.setdefault(name, np.full(size, POISON, np.uint8))

    def put_tensor(self, name: str, data: Bytes) -> None:
        """Place a tensor in GM; moves of whole blocks may reach beyond it to the next block's end."""
        room = np.full(up(max(data.size, 1), BLOCK_BYTES), POISON, np.uint8)
        room[: data.size] = data.reshape(-1)
        self.contents[name] = room

    def read(self, buffer: str, index: Ints) -> Bytes:
        """Return the bytes at *index*, in its shape.

        Raises:
            ProgramError: If there is no such buffer, or it ends before.
        """
        self._require(buffer, index)
        return self.contents[buffer][index]

    def write(self, write: Write) -> None:
        """Let bytes arrive.

        Raises:
            ProgramError: As :meth:`read`.
        """
        self._require(write.buffer, write.index)
        self.contents[write.buffer][write.index] = write.data

    def _require(self, buffer: str, index: Ints) -> None:
        if buffer not in self.contents:
            known = ", ".join(self.contents)
            raise ProgramError(f"nothing is known of {buffer}", mend=f"give it, or use one of {known}")
        size = self.contents[buffer].size
        if index.size and (index.min() < 0 or index.max() >= size):
            reached = int(index.max()) + 1 if index.max() >= size else int(index.min())
            raise ProgramError(f"{reached} B of {buffer} are reached, which has {size} B")


MOST_AT_ONCE = 1 << 24
"""Elements or bytes that one instruction may touch; the buffers of a core hold far fewer."""


def require_moderate(*factors: int) -> None:
    """Check that one instruction does not touch more than anything holds: the product of *factors*.

    Raises:
        OutsideModelError: If it does.
    """
    if prod(factors) > MOST_AT_ONCE:
        raise OutsideModelError(
            f"it touches {prod(factors)} elements at once, and at most {MOST_AT_ONCE} are"
        )


def spread(start: int, offsets: npt.ArrayLike, width: int) -> Ints:
    """Return the index of every byte of elements at *offsets*, with their bytes along a last axis."""
    return start + np.asarray(offsets, np.int64)[..., None] * width + np.arange(width)
