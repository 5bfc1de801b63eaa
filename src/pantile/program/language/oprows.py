"""Rows of the tables ``thread``, ``op`` and ``box``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.ops import OPCODES
from pantile.program.language.places import OFF_CHIP
from pantile.program.language.recorder import COMPUTE, LOAD_STORE
from pantile.program.tables import BOX, OP, THREAD, Completes, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.moves import Moves
    from pantile.program.language.ops import Ops
    from pantile.program.language.recorder import Recording

    NameOf = Callable[[str], int]
    """Numbers a text among the program's names."""


def thread_rows(
    recording: Recording, ops: Ops, levels: Ints, cores: list[tuple[int, ...]], text: NameOf
) -> np.ndarray:
    """Return the table ``thread``; threads of one name are told apart by ``#2``, ``#3``.

    A thread's core is the one that is said, or the only unit that it moves from or to, or computes at.

    Args:
        recording: Its threads.
        ops: All operations.
        levels: How near to compute each place is.
        cores: Coordinates of the cores, by number.
        text: Numbers a text.
    """
    rows = np.zeros(len(recording.logs), THREAD)
    rows["id"] = np.arange(len(rows))
    rows["completes"] = [
        Completes.PIPELINED if log.thread.pipelined else Completes.IN_ORDER for log in recording.logs
    ]
    rows["arbiter"], rows["task"] = -1, -1
    seen: dict[str, int] = {}
    for row, log in zip(rows, recording.logs, strict=True):
        name = log.thread.name
        seen[name] = seen.get(name, 0) + 1
        row["name"] = text(name if seen[name] == 1 else f"{name}#{seen[name]}")
        core = log.thread.core
        mine = slice(ops.starts[row["id"]], ops.starts[row["id"] + 1])
        units = {core.at} if core else _units(recording, ops, levels, mine)
        at = next(iter(units)) if len(units) == 1 else None
        row["core"] = cores.index(at) if at in cores else -1
    return rows


def _units(recording: Recording, ops: Ops, levels: Ints, mine: slice) -> set[tuple[int, ...]]:
    """Return the units that the operations *mine* move from or to, or compute at."""
    code = ops.code[mine]
    moving = (code == LOAD_STORE) | (code == COMPUTE)
    numbers = np.unique(np.concatenate([ops.first[mine][moving], ops.second[mine][code == LOAD_STORE]]))
    return {
        recording.places[at].at
        for at in numbers.tolist()
        if levels[at] != OFF_CHIP and recording.places[at].at
    }


def op_rows(
    ops: Ops,
    geometry: Geometry,
    moves: Moves,
    engine: Ints,
    durations: Ints,
    recording: Recording,
    text: NameOf,
) -> np.ndarray:
    """Return the table ``op``.

    Args:
        ops: All operations.
        geometry: Boxes of the tiles.
        moves: What load_stores move.
        engine: The registers of the engine of every place; their name is the engine's.
        durations: Duration model of each operation.
        recording: Its places.
        text: Numbers a text.
    """
    rows = np.zeros(len(ops), OP)
    rows["id"] = rows["listing_index"] = np.arange(len(ops))
    rows["thread"], rows["line"], rows["count"] = ops.thread, ops.line, 1
    rows["duration_model"] = durations
    present = np.unique(ops.code)
    numbers = np.zeros(len(OPCODES), np.int64)
    numbers[present] = [text(OPCODES[code]) for code in present.tolist()]
    rows["opcode"] = numbers[ops.code]
    rows["kind"] = np.where(
        ops.code == COMPUTE, Kind.COMPUTE, np.where(ops.code == LOAD_STORE, Kind.MOVE, Kind.SYNC)
    )
    rows["tile"] = np.append(geometry.number, -1)[ops.tile]
    for operand in range(len(geometry.operands.names)):
        mine = moves.operand == operand
        np.add.at(rows["bytes"], moves.op[mine], geometry.sizes(operand, moves.tile[mine], -1))
    computes = ops.of(COMPUTE)
    rows["macs"][computes] = geometry.points[ops.tile[computes]]
    rows["engine"] = -1
    where, at = np.unique(engine[ops.first[computes]], return_inverse=True)
    called = [text(recording.places[each].name) if each >= 0 else -1 for each in where.tolist()]
    rows["engine"][computes] = np.array(called, np.int64)[at]
    return rows


def box_rows(ops: Ops, geometry: Geometry) -> np.ndarray:
    """Return the table ``box``: one row per operation, empty where it names no tile."""
    rows = np.zeros(len(ops), BOX)
    rows["op"], rows["axis"] = np.arange(len(ops)), -1
    for axis in range(len(geometry.tiling.dimensions)):
        has = np.array(
            [*(axis in axes for axes in geometry.operands.axes), True]
        )  # the last for all operands
        kept = np.append(has[geometry.operand], False)
        lo, hi = (np.append(ends[-1, axis], 0) for ends in (geometry.lo, geometry.hi))
        rows["lo"][:, axis] = np.where(kept, lo, 0)[ops.tile]
        rows["length"][:, axis] = np.where(kept, hi - lo, 0)[ops.tile]
    return rows
