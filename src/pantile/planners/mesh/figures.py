"""What planners of meshes read of a machine."""

from __future__ import annotations

from typing import Protocol


class MeshFigures(Protocol):
    """The figures of a grid of chiplets with a memory off chip each."""

    @property
    def name(self) -> str:
        """The machine's name."""

    @property
    def rows(self) -> int:
        """Chiplets from top to bottom."""

    @property
    def columns(self) -> int:
        """Chiplets from left to right."""

    @property
    def topology(self) -> str:
        """``mesh`` or ``bus``."""

    @property
    def wires(self) -> tuple[int, ...]:
        """Chiplet that each memory off chip is wired to, counted row by row."""

    @property
    def sram_bytes(self) -> int | None:
        """Capacity of each chiplet's memory; ``None`` where none is stated."""

    @property
    def slots(self) -> int:
        """Shards of each input that a buffer holds."""

    @property
    def precision(self) -> int:
        """Bytes of an element of a product that names no type."""

    @property
    def array(self) -> tuple[int, int]:
        """Rows and columns of each chiplet's array."""

    @property
    def core_hz(self) -> int:
        """The base clock."""

    @property
    def ddr_rate(self) -> int:
        """Bytes per second from a memory off chip to its chiplet."""
