"""The tables of a page: operations, tiles, accesses and slots of one product's program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.tables import Kind, Mode
from pantile.targets.systolic.rows import DRAM, SCRATCHPAD
from pantile.verbs.engines import ENGINES, engine_of
from pantile.view.columns import ACCESSES, BINDINGS, KINDS, MODES, OPERANDS, OPERATIONS, TILES, Table, table

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.program.program import Program
    from pantile.targets.systolic.instructions import Instruction
    from pantile.verbs.listing import Listing

MEMORIES = ("scratchpad", "accumulator")
"""Names of the memories that a page shows, in the order of the ``memory`` column."""
WAITS = ("source blocks valid, pipeline not full", "output block valid")
"""Texts behind the ``waits`` column."""
POSTS = ("block valid when all responses are in", "one contribution less outstanding when it finishes")
"""Texts behind the ``posts`` column."""

_LOAD, _COMPUTE, _STORE = (KINDS.index(name) for name in ("load", "compute", "store"))
_WAITS = {_LOAD: -1, _COMPUTE: 0, _STORE: 1}
_POSTS = {_LOAD: 0, _COMPUTE: 1, _STORE: -1}
_MODE = {mode: MODES.index(mode.name.lower()) for mode in Mode}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRows:
    """Tables of a page, as it takes them."""

    operations: Table
    tiles: Table
    accesses: Table
    bindings: Table


def page_rows(listing: Listing, measured: npt.NDArray[np.void], times: npt.NDArray[np.void]) -> PageRows:
    """Return the tables of the operations that *listing* lists.

    Args:
        listing: Instructions of the product, no core left out.
        measured: What a run measured of every tile, rows of ``pantile.targets.systolic.result.TILE``.
        times: Rows of ``TIMELINE`` of the listed instructions.
    """
    columns = _Columns()
    before, total = contributions(listing.program, listing.tile_rows)
    for row, number in enumerate(listing.tiles):
        tile = _Tile(
            row=row,
            first=int(listing.starts[number]),
            description=listing.tile_rows[number],
            measured=measured[number],
            contributions=(int(before[number]), int(total[number])),
        )
        _add_tile(columns, listing.program, tile)
        _add_operations(columns, listing, tile, listing.tile_instructions(number), times)
    return PageRows(
        operations=table(OPERATIONS, **columns.operations),
        tiles=table(TILES, **columns.tiles),
        accesses=table(ACCESSES, **columns.accesses),
        bindings=table(BINDINGS, **columns.bindings),
    )


def contributions(
    program: Program, tiles: npt.NDArray[np.void]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, per tile, the contributions that each of its output blocks has got before, and gets in all.

    Args:
        program: A product's program; every block of a tile gets equally many contributions from it.
        tiles: All tiles in creation order, so that those of a region follow one another.
    """
    runs = [
        piece.tables["op"]["count"][piece.tables["op"]["kind"] == Kind.COMPUTE] for piece in program.pieces
    ]
    made = np.array([int(counts.max(initial=0)) for counts in runs], np.int64)[tiles["piece"]]
    regions = tiles["region"]
    earlier = np.cumsum(made) - made
    before: npt.NDArray[np.int64] = earlier - earlier[np.searchsorted(regions, regions)]
    return before, np.bincount(regions, made).astype(np.int64)[regions]


@dataclass
class _Columns:
    """Columns under construction."""

    operations: dict[str, list[int]] = field(default_factory=dict)
    tiles: dict[str, list[int]] = field(default_factory=dict)
    accesses: dict[str, list[int]] = field(default_factory=dict)
    bindings: dict[str, list[int]] = field(default_factory=dict)


def _add(columns: dict[str, list[int]], **values: int) -> None:
    """Append one row."""
    for name, value in values.items():
        columns.setdefault(name, []).append(int(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tile:
    """One tile: its row on the page, its first operation's number, where it lies and when it ran."""

    row: int
    first: int
    description: np.void
    measured: np.void
    contributions: tuple[int, int]

    @property
    def slots(self) -> tuple[int, int]:
        """Halves that it used, by memory."""
        return int(self.measured["scratchpad_half"]), int(self.measured["accumulator_half"])


def _add_tile(columns: _Columns, program: Program, tile: _Tile) -> None:
    piece = program.pieces[int(tile.description["piece"])]
    boxes = piece.tables["box"]
    values: dict[str, int] = {}
    for axis, (name, loop) in enumerate(zip(program.axes, piece.loops, strict=True)):
        used = boxes["length"][:, axis] > 0
        start = int(boxes["lo"][used, axis].min()) if used.any() else 0
        stop = int((boxes["lo"] + boxes["length"])[used, axis].max(initial=0))
        values[f"{name}_index"] = tile.description["index"][axis]
        values[f"{name}_start"] = start + tile.description["step"][axis]
        values[f"{name}_size"] = stop - start
        values[f"{name}_nominal"] = loop.offset[axis]
    ran = {name: tile.measured[name] for name in ("core", "issue_cycle", "finish_cycle")}
    _add(columns.tiles, **values, **ran)
    keeps = (0, int(bool(tile.description["accumulates"])))
    for memory, (slot, kept) in enumerate(zip(tile.slots, keeps, strict=True)):
        _add(columns.bindings, tile=tile.row, memory=memory, slot=slot, keeps=kept)


def _add_operations(
    columns: _Columns, listing: Listing, tile: _Tile, instructions: list[Instruction], times: np.ndarray
) -> None:
    tables = listing.program.pieces[int(tile.description["piece"])].tables
    number = tile.first
    for op, box in zip(tables["op"], tables["box"], strict=True):
        accesses = tables["access"][tables["access"]["op"] == op["id"]]
        for part in range(int(op["count"])):
            if number in listing.window:
                instruction = instructions[number - tile.first]
                place = len(columns.operations.get("kind", ()))
                values = _operation(op, instruction, tile, part)
                time = times[number - listing.window.start]
                _add(columns.operations, **values, **_part(box, tile, part), **_times(time, listing.window))
                _add_accesses(columns, listing.program, tile, accesses, place, instruction)
            number += 1


def _operation(op: np.void, instruction: Instruction, tile: _Tile, part: int) -> dict[str, int]:
    """What one operation is, as columns."""
    engine = engine_of(instruction.opcode)
    kind = (_LOAD, _COMPUTE, _STORE)[engine]
    before, total = tile.contributions
    return {
        "kind": kind,
        "opcode": op["opcode"],
        "engine": int(tile.measured["core"]) * len(ENGINES) + engine,
        "tile": tile.row,
        "operand": OPERANDS.index(instruction.operand or "none"),
        "bytes": op["bytes"],
        "macs": instruction.macs,
        "stage": before + part if kind == _COMPUTE else -1,
        "stage_count": total if kind == _COMPUTE else 0,
        "waits": _WAITS[kind],
        "posts": _POSTS[kind],
    }


def _part(box: np.void, tile: _Tile, part: int) -> dict[str, int]:
    """Columns of the box of one operation of a run."""
    columns: dict[str, int] = {}
    for axis, name in enumerate("bmnk"):
        start, size = int(box["lo"][axis]), int(box["length"][axis])
        if size:
            start += int(tile.description["step"][axis])
        if axis == box["axis"]:
            step = int(box["step"])
            start, size = start + part * step, min(step, size - part * step)
        columns[f"{name}_start"], columns[f"{name}_size"] = start, size
    return columns


def _times(time: np.void, shown: range) -> dict[str, int]:
    releaser = int(time["releaser"])
    return {
        "issue_cycle": time["issue"],
        "start_cycle": time["start"],
        "finish_cycle": time["finish"],
        "cause": time["released_by"],
        "releaser": releaser - shown.start if releaser in shown else -1,
    }


def _add_accesses(
    columns: _Columns,
    program: Program,
    tile: _Tile,
    accesses: np.ndarray,
    place: int,
    instruction: Instruction,
) -> None:
    for access in accesses[accesses["space"] != DRAM]:
        memory = 0 if access["space"] == SCRATCHPAD else 1
        mode = Mode(int(access["mode"]))
        completions = {Mode.READ: 0, Mode.WRITE: instruction.size, Mode.UPDATE: 1}
        _add(
            columns.accesses,
            operation=place,
            mode=_MODE[mode],
            operand=OPERANDS.index(program.operands[int(access["operand"])].name),
            memory=memory,
            slot=tile.slots[memory],
            tag=access["lo"],
            granules=0 if mode == Mode.READ else instruction.size,
            bytes=access["length"],
            pending=completions[mode],
        )
