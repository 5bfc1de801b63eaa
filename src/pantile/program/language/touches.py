"""Which bytes every move and compute touches, and whether each finds what it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.access import Touches
from pantile.program.language.accumulate import BRINGS, COMPUTES, STORES, begins
from pantile.program.language.faults import UNBORN, Fault, fault
from pantile.program.language.index import dense
from pantile.program.language.places import IN_ENGINE, OFF_CHIP, SRAM, Compute, Core, storage
from pantile.program.language.recorder import COMPUTE, STATEMENTS
from pantile.program.language.storage import Found
from pantile.program.tables import Mode

if TYPE_CHECKING:
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.moves import Moves
    from pantile.program.language.names import Names
    from pantile.program.language.ops import Ops
    from pantile.program.language.recorder import Recording
    from pantile.program.language.storage import Storage


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """What the places of a recording mean; columns by number.

    Attributes:
        levels: How near to compute each is.
        store: The memory that each means as source or destination.
        home: The memory that holds the output of what is computed there, and its inputs.
        engine: The registers of the engine there; -1 off chip.
    """

    levels: Ints
    store: Ints
    home: Ints
    engine: Ints


def places_of(recording: Recording, ops: Ops) -> Places:
    """Return what the places of *recording* mean; the memories of units that compute are added to it."""
    computing = set(ops.first[ops.code == COMPUTE].tolist())
    rows: list[tuple[int, int, int]] = []
    for number, place in enumerate(tuple(recording.places)):
        store = recording.place(storage(place))
        home, engine = store, -1
        if number in computing and place.level != OFF_CHIP:
            core = Core(*place.at)
            engine = recording.place(Compute(core))
            home = recording.place(SRAM(core)) if place.level >= IN_ENGINE else store
        rows.append((store, home, engine))
    rows += [(number, number, -1) for number in range(len(rows), len(recording.places))]
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    levels = np.array([place.level for place in recording.places], np.int64)
    return Places(levels, columns[0], columns[1], columns[2])


@dataclass(frozen=True, slots=True, eq=False)
class Computes:
    """Where tiles are computed; one row per compute.

    Attributes:
        op: The operation.
        tile: Its tile.
        home: The memory of its unit.
        engine: The registers of its unit's engine, or -1.
        output: Where it accumulates: in the registers, if the program moves outputs out of them.
    """

    op: Ints
    tile: Ints
    home: Ints
    engine: Ints
    output: Ints


def computes_of(ops: Ops, places: Places, moves: Moves, output: int) -> Computes:
    """Return where the computes happen."""
    op = ops.of(COMPUTE)
    home, engine = places.home[ops.first[op]], places.engine[ops.first[op]]
    emptied = np.unique(moves.src[moves.operand == output])
    return Computes(op, ops.tile[op], home, engine, np.where(np.isin(engine, emptied), engine, home))


def output_mentions(
    moves: Moves, computes: Computes, storing: np.ndarray, output: int
) -> tuple[Ints, Ints, Ints]:
    """Return operation, tile and place of every touch of an output on chip, in order of operations.

    Args:
        moves: All moves.
        computes: All computes.
        storing: Whether each place keeps outputs tile by tile.
        output: Which operand is the output.
    """
    mine = np.flatnonzero(moves.operand == output)
    op = np.concatenate([computes.op, moves.op[mine], moves.op[mine]])
    tile = np.concatenate([computes.tile, moves.tile[mine], moves.tile[mine]])
    place = np.concatenate([computes.output, moves.src[mine], moves.dst[mine]])
    order = np.argsort(op, kind="stable")
    order = order[storing[place[order]]]
    return op[order], tile[order], place[order]


def touches_of(
    ops: Ops, moves: Moves, computes: Computes, storage_: Storage, names: Names
) -> tuple[list[Touches], list[Fault]]:
    """Return everything that moves and computes touch, and a fault for each that reads an unborn copy."""
    geometry = storage_.contents.geometry
    output = geometry.operands.output
    touches: list[Touches] = []
    lost: dict[int, Fault] = {}
    for operand in range(len(geometry.operands.names)):
        mine = np.flatnonzero(moves.operand == operand)
        op, tile = moves.op[mine], moves.tile[mine]
        for place, mode in ((moves.src[mine], Mode.READ), (moves.dst[mine], Mode.WRITE)):
            found = storage_.find(operand, tile, place, op, loading=mode == Mode.WRITE)
            touches.append(_touch(op, mode, operand, tile, place, found))
            _lose(lost, ops, names, touches[-1])
    for operand in geometry.operands.inputs:
        place, found = _read(storage_, computes, operand)
        touches.append(_touch(computes.op, Mode.READ, operand, computes.tile, place, found))
        _lose(lost, ops, names, touches[-1])
    found = storage_.find(output, computes.tile, computes.output, computes.op)
    read, written = touches[2 * output : 2 * output + 2]
    fresh, empty = _births(geometry, storage_, computes, found, read, written)
    modes = np.where(fresh, Mode.WRITE, Mode.UPDATE)
    touches.append(_touch(computes.op, modes, output, computes.tile, computes.output, found))
    for row in np.flatnonzero(empty).tolist():
        which, where = int(read.tile[row]), int(read.place[row])
        lost.setdefault(int(read.op[row]), _unborn(ops, names, output, int(read.op[row]), which, where))
    touches = [each for each in map(_only_found, touches) if len(each.op)]
    return touches, [lost[op] for op in sorted(lost)]


def _read(storage_: Storage, computes: Computes, operand: int) -> tuple[Ints, Found]:
    """Return where computes read an input: in the engine's registers, if it is moved there, or in memory."""
    place = np.where(computes.engine >= 0, computes.engine, computes.home)
    found = storage_.find(operand, computes.tile, place, computes.op)
    rest = np.flatnonzero(found.base < 0)
    again = storage_.find(operand, computes.tile[rest], computes.home[rest], computes.op[rest])
    place[rest] = computes.home[rest]
    for mine, its in zip(_columns(found), _columns(again), strict=True):
        mine[rest] = its
    return place, found


def _columns(found: Found) -> tuple[Ints, Ints, Ints, Ints]:
    return found.base, found.depth, found.generation, found.owner


def _touch(op: Ints, mode: Ints | Mode, operand: int, tile: Ints, place: Ints, found: Found) -> Touches:
    return Touches(op, np.broadcast_to(np.asarray(mode, np.int64), (len(op),)), operand, tile, place, found)


def _only_found(touches: Touches) -> Touches:
    keep = touches.found.base >= 0
    if keep.all():
        return touches
    found = Found(*(column[keep] for column in _columns(touches.found)))
    op, mode, tile, place = (each[keep] for each in (touches.op, touches.mode, touches.tile, touches.place))
    return Touches(op, mode, touches.operand, tile, place, found)


def _lose(lost: dict[int, Fault], ops: Ops, names: Names, touches: Touches) -> None:
    """Note what is not found."""
    for row in np.flatnonzero(touches.found.base < 0).tolist():
        op, tile, place = (int(column[row]) for column in (touches.op, touches.tile, touches.place))
        lost.setdefault(op, _unborn(ops, names, touches.operand, op, tile, place))


def _unborn(ops: Ops, names: Names, operand: int, op: int, tile: int, place: int) -> Fault:
    what = f"{STATEMENTS[ops.code[op]]} reads {names.tile(tile, operand)} at {names.place(place)}"
    mend = "move it there first, or name the place that has it"
    return fault(ops, op, f"{what}, {UNBORN}", mend)


def _births(
    geometry: Geometry, storage_: Storage, computes: Computes, found: Found, read: Touches, written: Touches
) -> tuple[np.ndarray, np.ndarray]:
    """Return which computes begin an output tile, and which reads of an output find none ever begun."""
    made = _touch(computes.op, Mode.UPDATE, read.operand, computes.tile, computes.output, found)
    parts = ((made, COMPUTES), (written, BRINGS), (read, STORES))
    op, tile, place = (
        np.concatenate([getattr(part, name) for part, _ in parts]) for name in ("op", "tile", "place")
    )
    what = np.concatenate([np.full(len(part.op), does) for part, does in parts])
    owner = np.concatenate([part.found.owner for part, _ in parts])
    generation = np.concatenate([part.found.generation for part, _ in parts])
    where = np.where(owner < 0, place, owner + int(place.max(initial=0)) + 1)
    holder = dense(dense(where)[1] * (int(generation.max(initial=0)) + 1) + np.maximum(generation, 0))[1]
    first = begins(geometry, op, what, tile, holder, storage_.contents.threads)
    begun = np.isin(holder, holder[what != STORES])
    loose = owner >= len(storage_.contents.copies)
    return first[: len(computes.op)], (loose & ~begun)[len(op) - len(read.op) :]
