"""Which copy ``Any`` means.

It may be read where exactly one place has the copy, or where the grid names the nearest: fewest hops, then
lowest coordinates.

Source: tile-language.md section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.faults import Fault, fault
from pantile.program.language.geometry import ALL, ANYWHERE
from pantile.program.language.places import OFF_CHIP
from pantile.program.language.recorder import DESTROY, LOAD_STORE, STATEMENTS, UNSAID, WRITES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.program.language.geometry import Ints
    from pantile.program.language.names import Names
    from pantile.program.language.ops import Ops
    from pantile.program.language.places import Chiplet, Place
    from pantile.program.language.states import Copies


LOCATE = "write Tile(..., location=core)"


def resolve_any(
    ops: Ops, copies: Copies, names: Names, any_place: int, grid: Chiplet | None
) -> tuple[Ints, Ints, list[Fault]]:
    """Return the place that each operation's tile means, and each load_store's source.

    Args:
        ops: All operations.
        copies: Copies that have a state.
        names: Of places and tiles.
        any_place: Number of ``Any`` among the places, or -1.
        grid: Says which place is the nearest, if there is one.
    """
    places = np.append(copies.geometry.place, -1)[ops.tile]
    sources = np.where(ops.code == LOAD_STORE, ops.first, -1)
    states = np.flatnonzero((places < 0) & (ops.code <= DESTROY))
    unsaid = (places[states] != ANYWHERE) | np.isin(ops.code[states], WRITES)
    faults = [_misplaced(ops, op, names) for op in states[unsaid].tolist()]
    loads = np.flatnonzero(sources == any_place) if any_place >= 0 else np.zeros(0, np.int64)
    for op in np.union1d(states[~unsaid], loads).tolist():
        where = _holders(copies, int(ops.tile[op]))
        reader = int(ops.second[op]) if ops.code[op] == LOAD_STORE else _own_place(ops, names, op)
        if ops.code[op] == LOAD_STORE:
            where = [place for place in where if place != reader] or _off_chip(names.recording.places)
        chosen = _choose(where, reader, names.recording.places, grid)
        if chosen < 0:
            faults.append(_undecided(ops, op, names, where))
            chosen = where[0] if where else max(reader, -1)
        if ops.code[op] == LOAD_STORE:
            sources[op] = chosen
        else:
            places[op] = chosen
    return places, sources, faults


def _misplaced(ops: Ops, op: int, names: Names) -> Fault:
    """Return the fault of a statement on a state that names no place, or that writes to ``Any``."""
    what = f"{STATEMENTS[ops.code[op]]} of"
    tile = names.tile(int(ops.tile[op]))
    if names.geometry.place[ops.tile[op]] == ANYWHERE:
        return fault(ops, op, f"{what} {tile} at Any: {UNSAID[0]}", UNSAID[1])
    return fault(ops, op, f"{what} {tile}, a tile without a location", LOCATE)


def _holders(copies: Copies, tile: int) -> list[int]:
    """Return the places that ever have a copy of what a tile names."""
    geometry = copies.geometry
    where = np.unique(copies.place)
    operand = int(geometry.operand[tile])
    wanted = list(geometry.operands.inputs) if operand == ALL else [operand]
    tiles = np.full(len(where), tile, np.int64)
    held = np.all([copies.holding(each, tiles, where) >= 0 for each in wanted], axis=0)
    return [int(place) for place in where[held]]


def _off_chip(places: Sequence[Place]) -> list[int]:
    return [number for number, place in enumerate(places) if place.level == OFF_CHIP]


def _own_place(ops: Ops, names: Names, op: int) -> int:
    """Return a place of the unit that an operation's thread belongs to, or -1 if that is not clear."""
    places = names.recording.places
    core = names.recording.logs[ops.thread[op]].thread.core
    if core is not None:
        return names.recording.place(core)
    mine = ops.thread == ops.thread[op]
    mentioned = [*ops.first[mine & (ops.code == LOAD_STORE)], *ops.second[mine & (ops.code == LOAD_STORE)]]
    units = {
        places[each].at: int(each) for each in mentioned if places[each].level != OFF_CHIP and places[each].at
    }
    return next(iter(units.values())) if len(units) == 1 else -1


def _choose(where: list[int], reader: int, places: Sequence[Place], grid: Chiplet | None) -> int:
    if len(where) == 1:
        return where[0]
    if not where or reader < 0 or grid is None:
        return -1
    nearest = grid.nearest(places[reader], [places[each] for each in where])
    return next(each for each in where if places[each] == nearest)


def _undecided(ops: Ops, op: int, names: Names, where: list[int]) -> Fault:
    what = f"{STATEMENTS[ops.code[op]]} of {names.tile(int(ops.tile[op]))} at Any"
    if not where:
        return fault(ops, op, f"{what}, of which no place has a copy", "write a copy first")
    listed = ", ".join(names.place(each) for each in where)
    return fault(
        ops,
        op,
        f"{what}, of which {len(where)} places have a copy ({listed})",
        "name the place, or give the program its grid and the thread its core",
    )
