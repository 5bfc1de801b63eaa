"""What the planner knows of a machine, and what a tile must fit into.

Source: onnxim-model.md sections 1, 3.1 and 8; the inequalities are those of the mapper's own budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pantile.tiling.log import DecisionLog
    from pantile.tiling.onnxim import Mapping

ACCUMULATOR_ELEMENT_BYTES = 4
"""ONNXim's mapper assumes 4-byte sums whatever the precision."""
BUFFERS = 2
"""Halves of each memory; one tile is resident in each."""


class SystolicFigures(Protocol):
    """The figures of a systolic machine that the planner reads; tuples have one entry per core."""

    @property
    def cores(self) -> int:
        """Number of cores."""

    @property
    def heights(self) -> tuple[int, ...]:
        """Rows of each array."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each array."""

    @property
    def scratchpad_bytes(self) -> tuple[int, ...]:
        """Bytes of each scratchpad, both halves together."""

    @property
    def accumulator_bytes(self) -> tuple[int, ...]:
        """Bytes of each accumulator, both halves together."""

    @property
    def precision(self) -> int:
        """Bytes per element."""

    @property
    def request_bytes(self) -> int:
        """Bytes per memory request."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """A tile that does not fit.

    Attributes:
        memory: Which memory it is too large for.
        needed_bytes: What the tile takes, counted in whole requests.
        capacity_bytes: What one half of that memory holds.
    """

    memory: str
    needed_bytes: int
    capacity_bytes: int

    def __str__(self) -> str:
        return f"{self.needed_bytes} B of {self.memory} are needed, a half holds {self.capacity_bytes} B"


def log_budget(mapping: Mapping, machine: SystolicFigures, log: DecisionLog) -> None:
    """Log the two inequalities that a product's tile should satisfy, with their numbers.

    They count elements at their nominal size; the program counts whole requests, which can be more (Q2).
    """
    n, c, m = mapping.inner.N, mapping.inner.C, mapping.inner.M
    log.stage = "budget"
    half = machine.scratchpad_bytes[0] // BUFFERS
    needed = machine.precision * (n * c + m * c)
    log.add(
        "scratchpad",
        needed <= half,
        "p · (T_N · T_C + T_M · T_C) <= S_spad / 2",
        {"p": machine.precision, "T_N": n, "T_C": c, "T_M": m,
         "needed_bytes": needed, "capacity_bytes": half},
    )  # fmt: skip
    half = machine.accumulator_bytes[0] // BUFFERS
    needed = ACCUMULATOR_ELEMENT_BYTES * n * m
    log.add(
        "accumulator",
        needed <= half,
        "4 · T_N · T_M <= S_acc / 2",
        {"T_N": n, "T_M": m, "needed_bytes": needed, "capacity_bytes": half},
    )  # fmt: skip
