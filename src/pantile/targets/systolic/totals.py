"""Totals of a program, and its kinds of tiles, from loop bounds alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.program.tables import Kind
from pantile.targets.systolic.capacity import ACCUMULATOR_ELEMENT_BYTES
from pantile.targets.systolic.counting import TileRequests, count_requests
from pantile.targets.systolic.instructions import compute_shape
from pantile.targets.systolic.rows import MOVIN, NAMES
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a program holds, summed over its tiles.

    Attributes:
        regions: Output regions.
        tiles: Tiles that exist.
        instructions: Instructions by opcode.
        macs: Useful multiply-accumulates.
        padded_macs: What the array could have done meanwhile: H * W * max(rows, H) per compute.
        bytes: By memory, bytes read and written; of DRAM in whole requests.
        useful_bytes: Bytes of elements that loads read and stores write.
        requests: Memory requests read and written.
    """

    regions: int
    tiles: int
    instructions: dict[str, int]
    macs: int
    padded_macs: int
    bytes: dict[str, dict[str, int]]
    useful_bytes: dict[str, int]
    requests: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the totals as the object that ``lower --json`` prints."""
        return {
            "regions": self.regions,
            "tiles": self.tiles,
            "instructions": self.instructions,
            "macs": self.macs,
            "padded_macs": self.padded_macs,
            "bytes": self.bytes,
            "useful_bytes": self.useful_bytes,
            "requests": self.requests,
        }


def totals_of(program: Program, config: SystolicConfig, counts: TileRequests | None = None) -> Totals:
    """Return the totals of *program* on the machine *config*."""
    counts = counts or count_requests(program, config)
    instructions: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for piece in program.pieces:
        for opcode, count in piece.tables["op"][["opcode", "count"]].tolist():
            instructions[NAMES[opcode]] += piece.count * count
        for name, value in _sums(program, piece, config).items():
            sums[name] += piece.count * value
    requests = {"read": int(counts.reads.sum()), "write": int(counts.writes.sum())}
    size = config.request_bytes
    return Totals(
        regions=len(np.unique(tiles_of(program)["region"])),
        tiles=program.tiles,
        instructions=dict(instructions),
        macs=program.macs,
        padded_macs=sums["padded"],
        bytes={
            "dram": {way: count * size for way, count in requests.items()},
            "scratchpad": {"read": sums["spad_read"], "write": sums["load"]},
            "accumulator": {
                "read": sums["store"] // config.precision * ACCUMULATOR_ELEMENT_BYTES,
                "write": sums["acc"],
            },
        },
        useful_bytes={"read": sums["load"], "write": sums["store"]},
        requests=requests,
    )


def _sums(program: Program, piece: Piece, config: SystolicConfig) -> dict[str, int]:
    """Bytes and padded MACs of one tile of a kind."""
    ops, lengths = piece.tables["op"], piece.tables["box"]["length"]
    height, width = config.heights[0], config.widths[0]
    sums: Counter[str] = Counter()
    for row, op in enumerate(ops):
        if op["kind"] == Kind.MOVE:
            sums["load" if op["opcode"] == MOVIN else "store"] += int(op["bytes"])
            continue
        rows, columns, _ = compute_shape(program, lengths[row].tolist(), config)
        count = int(op["count"])
        depth = int(op["macs"]) // (rows * columns)
        sums["padded"] += count * height * width * max(rows, height)
        sums["spad_read"] += depth * (rows + columns) * config.precision
        sums["acc"] += count * rows * columns * ACCUMULATOR_ELEMENT_BYTES
    return dict(sums)


def tile_kinds(program: Program) -> list[dict[str, Any]]:
    """Return every kind of tile: how many there are, their sizes, their instructions."""
    kinds = []
    for piece in program.pieces:
        tables = piece.tables
        computes = tables["op"]["kind"] == Kind.COMPUTE
        boxes = tables["box"][computes]
        size = {}
        if len(boxes):
            extent = (boxes["lo"] + boxes["length"]).max(axis=0) - boxes["lo"].min(axis=0)
            size = {name: int(extent[axis]) for axis, name in enumerate(program.axes)}
        counted: Counter[str] = Counter()
        for opcode, count in tables["op"][["opcode", "count"]].tolist():
            counted[NAMES[opcode]] += count
        nominal = {loop.name: loop.offset[program.axes.index(loop.name)] for loop in piece.loops}
        kinds.append(
            {
                "tiles": piece.count,
                "first": {loop.name: loop.first for loop in piece.loops},
                "counts": {loop.name: loop.count for loop in piece.loops},
                "nominal_size": nominal,
                "actual_size": size,
                "instructions": dict(counted),
                "macs": int(tables["op"]["macs"].sum()),
            }
        )
    return kinds
