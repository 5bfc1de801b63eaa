"""Meshes of any size, and programs of any product on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pantile.machine import Grid, Machine, load_machine
from pantile.program.program import Program
from pantile.targets.mesh.lower import lower
from pantile.tiling.notation import tiling
from pantile.tiling.plan import Plan


def mesh(rows: int = 2, columns: int = 2, *, topology: str = "mesh", rate: int = 1) -> Machine:
    """Return ``mesh-2x2`` with another grid, its links and memories *rate* times as fast."""
    base = load_machine("mesh-2x2")
    paths = tuple(
        replace(path, rate_bytes_per_second=(path.rate_bytes_per_second or 0) * rate) for path in base.paths
    )
    family = {"mesh": {**base.family.table("mesh"), "topology": topology}}
    return replace(base, grid=Grid((rows, columns)), paths=paths, family=type(base.family)(family))


def pieces(size: int, count: int) -> int | list[int]:
    return count if size % count == 0 else [size * each // count for each in range(1, count)]


@dataclass(frozen=True)
class Case:
    """A product on a grid."""

    exchange: str
    grid: tuple[int, int]
    sizes: tuple[int, int, int, int]
    pieces: tuple[int, int, int, int]
    slots: int = 2
    dtypes: tuple[str, str, str] = ("int32", "int32", "int32")
    subscripts: str = "bmk,bkn->bmn"

    def plan(self) -> Plan:
        cuts = tuple(pieces(size, count) for size, count in zip(self.sizes, self.pieces, strict=True))
        longest = tuple(-(-size // count) for size, count in zip(self.sizes, self.pieces, strict=True))
        return Plan(
            planner=self.exchange,
            semantics="textbook",
            tiling=tiling(self.subscripts, total=self.sizes, shard=cuts, element=longest),
            buffering={"sram": self.slots},
            parameters={
                "exchange": self.exchange,
                "grid": list(self.grid),
                "machine_grid": list(self.grid),
                "pieces": list(self.pieces),
                "dtypes": list(self.dtypes),
            },
        )

    def program(self) -> Program:
        return lower(self.plan(), name=self.exchange)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Small whole numbers, in the order in which the operands are stored."""
        sides = dict(zip("bmnk", self.sizes, strict=True))
        inputs = self.subscripts.split("->")[0].split(",")
        random = np.random.default_rng(7)
        x, w = (random.integers(-5, 6, [sides[d] for d in each]) for each in inputs)
        return x, w

    def expected(self) -> np.ndarray:
        return np.asarray(np.einsum(self.subscripts, *self.arrays()))


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    return SimpleNamespace(mesh=mesh, Case=Case)


Make = Callable[..., Any]
