"""A small GEMM as page data, generated here from its loop bounds and nothing else.

Loads, computations and stores follow a weight-stationary array: per tile all
loads (weights first), then all computations, then, in the last reduction stage,
all stores. Times come from a simple rule of thumb of this file; the tests use
their order, never their values as a reference for any simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pantile.view.columns import ACCESSES, BINDINGS, OPERATIONS, TILES, table
from pantile.view.pagedata import (
    CANONICAL_LETTERS,
    Decision,
    EngineCard,
    Factor,
    Figure,
    LetterSet,
    Level,
    MemoryCard,
    PageData,
    Rejected,
    Term,
)
from pantile.view.residency import contributions

if TYPE_CHECKING:
    from collections.abc import Callable

LOAD, COMPUTE, STORE = 0, 1, 2
A, B, C = 1, 2, 3
READ, WRITE, UPDATE = 0, 1, 2
SPAD, ACC = 0x10000000, 0x20000000
GRANULE = 32
LETTERS = (
    CANONICAL_LETTERS,
    LetterSet(key="ncm", name="ONNXim", shown="N C M", m="N", n="M", k="C", operands=("A", "W", "Y"), b="B"),
    LetterSet(key="toi", name="tile language", shown="T O I", m="T", n="O", k="I", operands=("X", "W", "Y")),
)


@dataclass
class Rows:
    """Growing columns."""

    columns: dict[str, list[int]] = field(default_factory=dict)
    count: int = 0

    def add(self, **values: int) -> int:
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value)
        self.count += 1
        return self.count - 1


def ranges(extent: int, size: int) -> list[tuple[int, int]]:
    """(start, size) of the pieces of *extent*, the last one clipped."""
    return [(start, min(size, extent - start)) for start in range(0, extent, size)]


def inside(piece: tuple[int, int], size: int) -> list[tuple[int, int]]:
    """The pieces of a piece, in elements of the whole."""
    return [(piece[0] + start, length) for start, length in ranges(piece[1], size)]


class Generator:
    """Writes the operations of one GEMM, tile after tile."""

    def __init__(self, extents: dict[str, int], inner: dict[str, int], side: int, cores: int = 1) -> None:
        self.extents, self.inner, self.side, self.cores = extents, inner, side, cores
        self.tiles, self.ops, self.accesses, self.bindings = Rows(), Rows(), Rows(), Rows()
        self.bus_free = self.array_free = 0
        self.valid: dict[int, int] = {}
        for number, index in enumerate(product(*(range(-(-extents[x] // inner[x])) for x in "mnk"))):
            self.tile(number, dict(zip("mnk", index, strict=True)))

    def tile(self, number: int, index: dict[str, int]) -> None:
        piece = {x: ranges(self.extents[x], self.inner[x])[index[x]] for x in "mnk"}
        last = index["k"] == -(-self.extents["k"] // self.inner["k"]) - 1
        issue = max(0, self.array_free - 60)
        box = {f"{x}_start": piece[x][0] for x in "mnk"} | {f"{x}_size": piece[x][1] for x in "mnk"}
        box |= {f"{x}_nominal": self.inner[x] for x in "mnk"} | {"b_size": 1, "b_nominal": 1}
        indices = {f"{x}_index": index[x] for x in "mnk"}
        region = number // (-(-self.extents["k"] // self.inner["k"]))
        core = region % self.cores
        row = self.tiles.add(**indices, **box, core=core, issue_cycle=issue, finish_cycle=-1)
        spad, acc = (number + 1) % 2, (region + 1) % 2
        self.bindings.add(tile=row, memory=0, slot=spad, keeps=0)
        self.bindings.add(tile=row, memory=1, slot=acc, keeps=int(index["k"] > 0))
        self.clock = issue + 1
        blocks_m, blocks_n = inside(piece["m"], self.side), inside(piece["n"], self.side)
        for at_n, n in enumerate(blocks_n):
            self.load(row, spad, B, SPAD + 0x1000 + 0x100 * at_n, n=n, k=piece["k"])
            for at_m, m in enumerate(blocks_m if at_n == 0 else []):
                self.load(row, spad, A, SPAD + 0x100 * at_m, m=m, k=piece["k"])
        for (at_n, n), (at_m, m) in product(enumerate(blocks_n), enumerate(blocks_m)):
            for k in inside(piece["k"], self.side):
                tags = (SPAD + 0x100 * at_m, SPAD + 0x1000 + 0x100 * at_n, ACC + 0x80 * at_m + 8 * at_n)
                self.compute(row, spad, acc, tags, m, n, k)
        for (at_n, n), (at_m, m) in product(enumerate(blocks_n), enumerate(blocks_m if last else [])):
            self.store(row, acc, ACC + 0x80 * at_m + 8 * at_n, m, n)
        self.tiles.columns["finish_cycle"][row] = self.array_free

    def operation(self, kind: int, tile: int, times: tuple[int, int, int], **values: int) -> int:
        issue, start, finish = times
        box = {
            f"{axis}_{part}": values.pop(f"{axis}_{part}", 0) for axis in "mnk" for part in ("start", "size")
        }
        core = self.tiles.columns["core"][tile]
        return self.ops.add(
            **box,
            kind=kind,
            opcode=kind,
            engine=3 * core + kind,
            tile=tile,
            operand=values.get("operand", 0),
            bytes=values.get("bytes", 0),
            macs=values.get("macs", 0),
            waits=values.get("waits", -1),
            issue_cycle=issue,
            start_cycle=start,
            finish_cycle=finish,
            cause=kind,
            releaser=self.ops.count - 1,
        )

    def load(self, tile: int, slot: int, operand: int, tag: int, **box: tuple[int, int]) -> None:
        size = int(np.prod([length for _, length in box.values()]))
        granules = -(-size // GRANULE)
        start = max(self.clock, self.bus_free)
        finish = start + granules + 24
        self.bus_free = start + granules
        sides = {f"{x}_start": lo for x, (lo, _) in box.items()} | {
            f"{x}_size": n for x, (_, n) in box.items()
        }
        op = self.operation(LOAD, tile, (self.clock, start, finish), operand=operand, bytes=size, **sides)
        self.accesses.add(
            operation=op, mode=WRITE, operand=operand, memory=0, slot=slot, tag=tag, granules=granules,
            bytes=size, pending=granules,
        )  # fmt: skip
        self.valid[tag] = finish
        self.clock += 1

    def compute(
        self,
        tile: int,
        spad: int,
        acc: int,
        tags: tuple[int, int, int],
        m: tuple[int, int],
        n: tuple[int, int],
        k: tuple[int, int],
    ) -> None:
        issue = max(self.clock, self.valid[tags[0]], self.valid[tags[1]], self.array_free - 40)
        start = max(issue + 15, self.array_free)
        finish = start + 22
        self.array_free = start + self.side
        self.clock = issue + 1
        sides = {
            "m_start": m[0],
            "m_size": m[1],
            "n_start": n[0],
            "n_size": n[1],
            "k_start": k[0],
            "k_size": k[1],
        }
        op = self.operation(COMPUTE, tile, (issue, start, finish), macs=m[1] * n[1] * k[1], waits=0, **sides)
        entries = ((READ, A, 0, spad, 0), (READ, B, 0, spad, 0), (UPDATE, C, 1, acc, 1))
        for tag, (mode, operand, memory, slot, pending) in zip(tags, entries, strict=True):
            self.accesses.add(
                operation=op, mode=mode, operand=operand, memory=memory, slot=slot, tag=tag, granules=8,
                bytes=256, pending=pending,
            )  # fmt: skip
        self.valid[tags[2]] = finish

    def store(self, tile: int, slot: int, tag: int, m: tuple[int, int], n: tuple[int, int]) -> None:
        issue = max(self.clock, self.valid[tag])
        start = max(issue, self.bus_free)
        self.bus_free = start + 8
        self.clock = issue + 1
        sides = {"m_start": m[0], "m_size": m[1], "n_start": n[0], "n_size": n[1]}
        op = self.operation(
            STORE, tile, (issue, start, start + 20), operand=C, bytes=m[1] * n[1], waits=1, **sides
        )
        self.accesses.add(
            operation=op, mode=READ, operand=C, memory=1, slot=slot, tag=tag, granules=8, bytes=m[1] * n[1],
            pending=0,
        )  # fmt: skip


def gemm_page(
    extents: dict[str, int],
    inner: dict[str, int],
    *,
    side: int = 8,
    cores: int = 1,
    workload: str = "",
    **changes: object,
) -> PageData:
    """The page data of one GEMM cut into *inner* sized tiles on a *side* by *side* array."""
    made = Generator(extents, inner, side, cores)
    bare = table(OPERATIONS, **made.ops.columns)
    stage, stage_count = contributions(bare)
    operations = table(OPERATIONS, **{**made.ops.columns, "stage": stage, "stage_count": stage_count})
    outer = {x: -(-extents[x] // inner[x]) for x in "mnk"}
    computes = int((operations["kind"] == COMPUTE).sum())
    tiles = made.tiles.count
    cycles = int(operations["finish_cycle"].max())
    values: dict[str, object] = {
        "workload": workload or "gemm:" + ",".join(f"{x}={extents[x]}" for x in "mnk"),
        "machine": "systolic-ws-8x8",
        "planner": "onnxim, explicit mapping, semantics fixed",
        "command": "pantile view gemm:m=32,n=32,k=64 -m systolic-ws-8x8 -o PAGE.html",
        "version": "0.1.0",
        "extents": {"b": 1, **extents},
        "letters": LETTERS,
        "figures": figures(extents, inner, outer, tiles, computes, operations.count, cycles),
        "levels": (
            Level(name="product", counts={}, nominal=extents),
            Level(name="tile", counts=outer, nominal=inner),
            Level(
                name="micro-tile",
                counts={x: -(-inner[x] // side) for x in "mnk"},
                nominal=dict.fromkeys("mnk", side),
            ),
        ),
        "decisions": DECISIONS,
        "proved": (
            "every element of the output is computed exactly once over {k}",
            "no entry is used before it is ready",
        ),
        "notes": ("quirk Q23 met: the throughput line counts every core",),
        "terms": (
            Term(name="compute", cycles=cycles - 90),
            Term(name="fill", cycles=20),
            Term(name="wait-load", cycles=70),
            Term(name="idle", cycles=0),
        ),
        "bound_by": "compute",
        "memories": (
            MemoryCard(name="spad", capacity_bytes=32768, slots=2, granule_bytes=GRANULE),
            MemoryCard(name="acc", capacity_bytes=8192, slots=2, granule_bytes=GRANULE),
        ),
        "engines": tuple(
            EngineCard(name=name, core=core) for core in range(cores) for name in ("loads", "array", "stores")
        ),
        "opcodes": ("MOVIN", "GEMM_PRELOAD", "MOVOUT"),
        "waits": ("both source entries valid", "its entry complete"),
        "causes": ("program order", "last response of its sources", "counter"),
        "tiles": table(TILES, **made.tiles.columns),
        "operations": operations,
        "accesses": table(ACCESSES, **made.accesses.columns),
        "bindings": table(BINDINGS, **made.bindings.columns),
    }
    return PageData(**{**values, **changes})  # type: ignore[arg-type]


DECISIONS = (
    Decision(
        stage="mapping", name="source", value="explicit line", formula="explicit, else table, else automatic"
    ),
    Decision(
        stage="capacity",
        name="scratchpad bytes of a tile",
        value="1024",
        formula="({m}·{k} + {n}·{k})·precision",
        inputs=(("{m}", "16"), ("{n}", "16"), ("{k}", "32"), ("precision", "1 B")),
        rejected=(Rejected(value="{k} = 4096", why="its tile needs 131072 B, a half holds 32768 B"),),
    ),
)


def figures(
    extents: dict[str, int],
    inner: dict[str, int],
    outer: dict[str, int],
    tiles: int,
    computes: int,
    operations: int,
    cycles: int,
) -> tuple[Figure, ...]:
    """The totals, as products where they are products."""
    cut = {
        x: Factor(
            count=outer[x],
            axis=x,
            sentence=f"{{{x}}} = {extents[x]} is cut into pieces of {inner[x]}",
            pieces=tuple((lo, lo + size) for lo, size in ranges(extents[x], inner[x])),
        )
        for x in "mnk"
    }
    macs = extents["m"] * extents["n"] * extents["k"]
    micro = tuple(Factor(count=-(-inner[x] // 8), axis=x) for x in "mnk")
    side = tuple(Factor(count=8, axis=x) for x in "mnk")
    each = (Factor(count=tiles, noun="tiles"), Factor(count=computes // tiles, noun="a tile"))
    share, regions = macs / (64 * cycles), outer["m"] * outer["n"]
    return (
        Figure(key="total_cycles", label="cycles", value=cycles, unit="cycles", headline=True),
        Figure(key="mac_utilisation", label="MAC utilisation", value=share, unit="share", headline=True),
        Figure(key="regions", label="output regions", value=regions, factors=(cut["m"], cut["n"])),
        Figure(key="tiles", label="tiles", value=tiles, factors=(cut["m"], cut["n"], cut["k"])),
        Figure(key="compute_per_tile", label="computes a tile", value=computes // tiles, factors=micro),
        Figure(key="compute", label="compute instructions in all", value=computes, factors=each),
        Figure(key="macs_per_instruction", label="MACs of an instruction", value=512, factors=side),
        Figure(key="macs_per_tile", label="MACs of a tile", value=macs // tiles, unit="MACs"),
        Figure(key="macs", label="MACs in all", value=macs, unit="MACs", headline=True),
        Figure(key="instructions", label="operations in all", value=operations),
    )


@pytest.fixture
def make_page() -> Callable[..., PageData]:
    """The generator, for tests that need another shape."""
    return gemm_page


@pytest.fixture
def seed_page() -> PageData:
    """Case 1 of the viewer's acceptance: 32 by 32 by 64 in tiles of 16 by 16 by 32."""
    return gemm_page({"m": 32, "n": 32, "k": 64}, {"m": 16, "n": 16, "k": 32})
