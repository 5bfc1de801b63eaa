"""Programs as plain integer tables, the form that both simulations consume.

A stream holds every distinct kind of tile once; a tile is a kind, a core and a displacement. Nothing
is unrolled: the simulations generate requests and computes from these rows as they issue them.
Column positions are named by the module's constants, so that compiled code can use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pantile.errors import ProgramError
from pantile.program.tables import MAX_AXES, Kind
from pantile.targets.systolic.instructions import compute_shape
from pantile.targets.systolic.rows import DRAM, GEMM_PRELOAD, MOVIN, SCRATCHPAD
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.program import Operand, Program
    from pantile.targets.systolic.config import SystolicConfig

Table = npt.NDArray[np.int64]

# Columns of Stream.layers.
LAYER_TILE_START, LAYER_TILE_STOP, LAYER_COLUMNS = range(3)
# Columns of Stream.tiles. TILE_KIND is -1 for a skip tile, which has no instructions. TILE_CORE is the
# core counter's value, before the layer counter is added; -1 on skip tiles. TILE_OP numbers the tile's
# first instruction among all instructions of the stream.
TILE_LAYER, TILE_KIND, TILE_CORE, TILE_ACCUMULATES, TILE_REGION, TILE_OP, TILE_STEP = range(7)
TILE_COLUMNS = TILE_STEP + MAX_AXES
# Columns of Stream.kinds: half-open row ranges, and instructions of one tile.
LOAD_START, LOAD_STOP, COMPUTE_START, COMPUTE_STOP, STORE_START, STORE_STOP, KIND_OPS, KIND_COLUMNS = range(8)
# Columns of Stream.loads and Stream.stores. Spaces: 0 scratchpad, 1 accumulator.
MOVE_SPACE, MOVE_ENTRY, MOVE_OPERAND, MOVE_LO = range(4)
MOVE_LENGTH = MOVE_LO + MAX_AXES
MOVE_COLUMNS = MOVE_LENGTH + MAX_AXES
# Columns of Stream.computes: a run of RUN_COUNT instructions of RUN_STEP reduction elements each, the
# last one clipped so that they sum to RUN_DEPTH.
(
    RUN_DEST,
    RUN_FIRST,
    RUN_SECOND,
    RUN_COUNT,
    RUN_PRELOAD,
    RUN_ROWS,
    RUN_SIZE,
    RUN_WIDTH,
    RUN_DEPTH,
    RUN_STEP,
    RUN_COLUMNS,
) = range(11)
# Columns of Stream.operands. Rules: 0 stepped, 1 stepped with repetitions, 2 dense, 3 window.
OPERAND_RULE, OPERAND_BASE, OPERAND_WIDTH, OPERAND_BATCHES, OPERAND_WRAP, OPERAND_STRIDE = range(6)
OPERAND_ORDER = OPERAND_STRIDE + MAX_AXES
OPERAND_AXES = OPERAND_ORDER + MAX_AXES  # axes in OPERAND_ORDER, the last one being the row's own
OPERAND_WINDOW = OPERAND_AXES + 1
OPERAND_COLUMNS = OPERAND_WINDOW + 15
RULES = ("stepped", "stepped_all", "dense", "window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Everything that the simulations need to know of the programs of one run.

    Attributes:
        layers: One row per layer, in the order in which they run (``LAYER_*``).
        tiles: One row per tile, in creation order (``TILE_*``).
        kinds: One row per kind of tile (``LOAD_START`` …).
        loads: Rows of MOVINs (``MOVE_*``).
        computes: Rows of compute runs (``RUN_*``).
        stores: Rows of MOVOUTs (``MOVE_*``).
        operands: Rows of operands (``OPERAND_*``).
        tensors: The same operands as values, row by row.
        batch_offsets: First element of every batch element, from row ``OPERAND_BATCHES`` on.
        scratchpad_entries: Entries that one half of a scratchpad may hold, by id.
        accumulator_entries: The same of an accumulator.
        layer_programs: Position of each layer's program among those given; -1 for skip layers.
    """

    layers: Table
    tiles: Table
    kinds: Table
    loads: Table
    computes: Table
    stores: Table
    operands: Table
    tensors: tuple[Operand, ...]
    batch_offsets: Table
    scratchpad_entries: int
    accumulator_entries: int
    layer_programs: tuple[int, ...]

    @property
    def operations(self) -> int:
        """Instructions of all tiles."""
        kinds = self.tiles[:, TILE_KIND]
        return int(self.kinds[kinds[kinds >= 0], KIND_OPS].sum())


def stream_of(layers: Sequence[Program | int], config: SystolicConfig) -> Stream:
    """Return the stream of *layers* in execution order; an integer is a layer of that many skip tiles.

    Raises:
        ProgramError: If a layer has no tiles.
    """
    parts = _Parts()
    for number, layer in enumerate(layers):
        first = parts.tile_count
        if isinstance(layer, int):
            row = np.zeros((layer, TILE_COLUMNS), np.int64)
            row[:, TILE_LAYER], row[:, TILE_KIND], row[:, TILE_CORE] = number, -1, -1
            row[:, TILE_OP] = parts.op_count
            parts.tiles.append(row)
        else:
            _add_program(parts, layer, number, config)
        if parts.tile_count == first:
            raise ProgramError(f"layer {number} has no tiles, on which the run never ends (Q4b)")
        parts.layers.append((first, parts.tile_count))
    return parts.stream(tuple(-1 if isinstance(layer, int) else at for at, layer in enumerate(layers)))


class _Parts:
    """Tables under construction."""

    def __init__(self) -> None:
        self.layers: list[tuple[int, int]] = []
        self.tiles: list[Table] = []
        self.kinds: list[tuple[int, ...]] = []
        self.loads: list[Table] = []
        self.computes: list[Table] = []
        self.stores: list[Table] = []
        self.operands: list[Table] = []
        self.tensors: list[Operand] = []
        self.batch_offsets: list[int] = []
        self.entries = [0, 0]
        self.rows = [0, 0, 0]
        self.op_count = 0

    @property
    def tile_count(self) -> int:
        return sum(len(rows) for rows in self.tiles)

    def stream(self, programs: tuple[int, ...]) -> Stream:
        def joined(tables: list[Table], columns: int) -> Table:
            return np.concatenate(tables) if tables else np.zeros((0, columns), np.int64)

        return Stream(
            layers=np.array(self.layers, np.int64).reshape(-1, LAYER_COLUMNS),
            tiles=joined(self.tiles, TILE_COLUMNS),
            kinds=np.array(self.kinds, np.int64).reshape(-1, KIND_COLUMNS),
            loads=joined(self.loads, MOVE_COLUMNS),
            computes=joined(self.computes, RUN_COLUMNS),
            stores=joined(self.stores, MOVE_COLUMNS),
            operands=joined(self.operands, OPERAND_COLUMNS),
            tensors=tuple(self.tensors),
            batch_offsets=np.array(self.batch_offsets or [0], np.int64),
            scratchpad_entries=self.entries[0],
            accumulator_entries=self.entries[1],
            layer_programs=programs,
        )


def _add_program(parts: _Parts, program: Program, number: int, config: SystolicConfig) -> None:
    first_operand = len(parts.tensors)
    parts.tensors.extend(program.operands)
    parts.operands.append(
        np.stack([_operand_row(operand, program, parts.batch_offsets) for operand in program.operands])
    )
    first_kind = len(parts.kinds)
    ids: dict[tuple[int, int], int] = {}
    counts = [0, 0]
    ops = []
    for piece in program.pieces:
        loads, computes, stores = _kind_rows(piece.tables, program, config, ids, counts, first_operand)
        starts = parts.rows
        stops = [start + len(rows) for start, rows in zip(starts, (loads, computes, stores), strict=True)]
        ops.append(piece.operations)
        ranges = [edge for pair in zip(starts, stops, strict=True) for edge in pair]
        parts.kinds.append((*ranges, ops[-1]))
        parts.rows = stops
        parts.loads.append(loads)
        parts.computes.append(computes)
        parts.stores.append(stores)
    parts.entries = [max(pair) for pair in zip(parts.entries, counts, strict=True)]
    tiles = tiles_of(program)
    rows = np.zeros((len(tiles), TILE_COLUMNS), np.int64)
    rows[:, TILE_LAYER] = number
    rows[:, TILE_KIND] = tiles["piece"] + first_kind
    rows[:, TILE_CORE] = tiles["region"] % config.cores
    rows[:, TILE_ACCUMULATES] = tiles["accumulates"]
    rows[:, TILE_REGION] = tiles["region"]
    lengths = np.array(ops, np.int64)[tiles["piece"]] if ops else np.zeros(0, np.int64)
    rows[:, TILE_OP] = parts.op_count + np.cumsum(lengths) - lengths
    rows[:, TILE_STEP:] = tiles["step"]
    parts.op_count += int(lengths.sum())
    parts.tiles.append(rows)


def _kind_rows(
    tables: dict[str, np.ndarray],
    program: Program,
    config: SystolicConfig,
    ids: dict[tuple[int, int], int],
    counts: list[int],
    first_operand: int,
) -> tuple[Table, Table, Table]:
    def entry(access: tuple[int, ...]) -> tuple[int, int]:
        space = 0 if access[0] == SCRATCHPAD else 1
        key = (space, access[1])
        if key not in ids:
            ids[key] = counts[space]
            counts[space] += 1
        return space, ids[key]

    accesses = iter(tables["access"][["space", "lo", "operand"]].tolist())
    boxes = tables["box"]
    moves: tuple[list[list[int]], list[list[int]]] = ([], [])
    runs: list[list[int]] = []
    for row, op in enumerate(tables["op"]):
        lo, length = boxes["lo"][row].tolist(), boxes["length"][row].tolist()
        if op["kind"] == Kind.MOVE:
            pair = (next(accesses), next(accesses))
            on_chip = next(access for access in pair if access[0] != DRAM)
            rows = moves[0 if op["opcode"] == MOVIN else 1]
            rows.append([*entry(on_chip), first_operand + on_chip[2], *lo, *length])
            continue
        first, second, dest = next(accesses), next(accesses), next(accesses)
        height, width, size = compute_shape(program, length, config)
        depth = length[int(boxes["axis"][row])]
        places = [entry(each)[1] for each in (dest, first, second)]
        preload = int(op["opcode"] == GEMM_PRELOAD)
        runs.append([*places, int(op["count"]), preload, height, size, width, depth, int(boxes["step"][row])])
    return (
        np.array(moves[0], np.int64).reshape(-1, MOVE_COLUMNS),
        np.array(runs, np.int64).reshape(-1, RUN_COLUMNS),
        np.array(moves[1], np.int64).reshape(-1, MOVE_COLUMNS),
    )


def _operand_row(operand: Operand, program: Program, batch_offsets: list[int]) -> Table:
    row = np.zeros(OPERAND_COLUMNS, np.int64)
    row[OPERAND_RULE] = RULES.index(operand.rule)
    row[OPERAND_BASE], row[OPERAND_WIDTH] = operand.base, operand.element_bytes
    row[OPERAND_WRAP] = program.semantics == "faithful"
    row[OPERAND_STRIDE : OPERAND_STRIDE + len(operand.strides)] = operand.strides
    row[OPERAND_BATCHES] = -1
    given = operand.parameters
    if operand.rule == "window":
        window = [
            *given["strides"],
            *given["pads"],
            *given["dilations"],
            *given["kernel"],
            given["height"],
            given["width"],
            *given["picture_strides"],
            int(given["channels_last"]),
        ]
        row[OPERAND_WINDOW:] = window
        return row
    order = given["order"]
    row[OPERAND_AXES] = len(order)
    row[OPERAND_ORDER : OPERAND_ORDER + len(order)] = order
    if "batch_offsets" in given:
        row[OPERAND_BATCHES] = len(batch_offsets)
        batch_offsets.extend(given["batch_offsets"])
    return row
