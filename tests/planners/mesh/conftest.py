"""Figures of meshes of any size."""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Figures:
    """A mesh as its planners see it; by default a 2 x 2 one of 1 MiB."""

    name: str = "mesh"
    rows: int = 2
    columns: int = 2
    topology: str = "mesh"
    wires: tuple[int, ...] = ()
    sram_bytes: int | None = 1 << 20
    slots: int = 2
    precision: int = 4
    array: tuple[int, int] = (16, 16)
    core_hz: int = 10**9
    ddr_rate: int = 32 * 10**9

    def __post_init__(self) -> None:
        if not self.wires:
            object.__setattr__(self, "wires", tuple(range(self.rows * self.columns)))


@pytest.fixture(scope="session")
def figures() -> type[Figures]:
    return Figures
