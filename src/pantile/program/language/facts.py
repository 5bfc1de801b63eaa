"""What a recording means: copies, moves, waits and places, before any of it has an address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.anywhere import resolve_any
from pantile.program.language.bundles import bundles_of
from pantile.program.language.canonical import canonical_order
from pantile.program.language.moves import Moves, moves_of
from pantile.program.language.names import Names
from pantile.program.language.ops import Ops, ops_of
from pantile.program.language.outputs import outputs_of
from pantile.program.language.places import OFF_CHIP
from pantile.program.language.places import Any as AnyPlace
from pantile.program.language.recorder import LOAD_STORE
from pantile.program.language.registers import registers_of
from pantile.program.language.reuse import present
from pantile.program.language.slots import births_of, shared_members, surplus_releases, turns_of
from pantile.program.language.states import Copies, Events, copies_of, events_of, generations_in
from pantile.program.language.storage import Contents
from pantile.program.language.syncrows import Buffers, barriers_of, buffers_of, counter_rows, sync_rows
from pantile.program.language.touches import Computes, Places, computes_of, output_mentions, places_of

if TYPE_CHECKING:
    from pantile.program.language.faults import Fault
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.places import Chiplet
    from pantile.program.language.recorder import Recording
    from pantile.program.language.syncrows import NameOf


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What a recording means.

    Attributes:
        geometry: Boxes of the tiles.
        ops: All operations.
        places: What the places mean.
        names: Of tiles and places.
        copies: Copies that have a state.
        events: Statements on them.
        buffers: Acquires and releases.
        sync: Rows of the table ``sync``.
        counter: Rows of the table ``counter``.
        order: Synchronising operations in one legal order, where that of the listing does not tell enough.
        moves: What load_stores move.
        computes: Where tiles are computed.
        faults: Misuses of statements, whatever the timing.
    """

    geometry: Geometry
    ops: Ops
    places: Places
    names: Names
    copies: Copies
    events: Events
    buffers: Buffers
    sync: np.ndarray
    counter: np.ndarray
    order: Ints | None
    moves: Moves
    computes: Computes
    faults: list[Fault]


def facts_of(recording: Recording, geometry: Geometry, grid: Chiplet | None, text: NameOf) -> Facts:
    """Return what *recording* means.

    Args:
        recording: What every thread called.
        geometry: Boxes of its tiles.
        grid: Says which place is nearest where ``Any`` is read.
        text: Numbers a text.
    """
    ops = ops_of(recording)
    places = places_of(recording, ops)
    names = Names(recording, geometry)
    copies = copies_of(ops, geometry)
    any_place = recording.places.index(AnyPlace) if AnyPlace in recording.places else -1
    meant, sources, faults = resolve_any(ops, copies, names, any_place, grid)
    events, misused = events_of(ops, copies, meant, names)
    barriers, absent = barriers_of(recording, ops)
    buffers = buffers_of(recording, ops)
    sync = sync_rows(ops, events, buffers, barriers, len(copies), text)
    counter = counter_rows(_copy_names(copies, names), buffers, barriers, text)
    order = None
    if events.ambiguous or shared_members(ops, buffers):
        order = canonical_order(ops.starts, sync, counter)
        events = replace(events, generation=generations_in(order, events))
    rows = ops.of(LOAD_STORE)
    src, dst = places.store[sources[rows]], places.store[ops.second[rows]]
    moves = moves_of(ops, geometry, rows, src, dst, places.levels)
    moves = moves.where(~present(moves, copies, events, ops.thread, places.levels))
    return Facts(
        geometry,
        ops,
        places,
        names,
        copies,
        events,
        buffers,
        sync,
        counter,
        order,
        moves,
        computes_of(ops, places, moves, geometry.operands.output),
        faults + misused + absent + surplus_releases(ops, buffers),
    )


def contents_of(facts: Facts) -> Contents:
    """Return everything that the program keeps in memories."""
    geometry, copies, moves, levels = facts.geometry, facts.copies, facts.moves, facts.places.levels
    ops, output = facts.ops, geometry.operands.output
    at = [facts.names.recording.places[place].at for place in copies.place.tolist()]
    births = births_of(ops, facts.events, facts.buffers, turns_of(ops, facts.buffers, facts.order), at)
    loads = moves.where((moves.operand != output) & (levels[moves.dst] != OFF_CHIP))
    held = np.full(len(loads), -1, np.int64)
    for operand in geometry.operands.inputs:
        mine = np.flatnonzero(loads.operand == operand)
        held[mine] = copies.holding(operand, loads.tile[mine], loads.dst[mine], loads.op[mine], facts.events)
    op, tile, place = output_mentions(moves, facts.computes, levels != OFF_CHIP, output)
    loose = copies.holding(output, tile, place, op, facts.events) < 0
    widths = [prod(geometry.tiling.total[axis] for axis in axes) for axes in geometry.operands.axes]
    sizes = np.array(widths, np.int64) * geometry.operands.element_bytes
    return Contents(
        geometry,
        levels,
        ops.thread,
        copies,
        bundles_of(copies),
        facts.events,
        births,
        registers_of(geometry, loads.where(held < 0), ops.thread),
        outputs_of(geometry, tile[loose], place[loose]),
        np.cumsum(sizes) - sizes,
    )


def _copy_names(copies: Copies, names: Names) -> list[str]:
    columns = (copies.tile, copies.operand, copies.depth, copies.place)
    return [
        f"{names.tile(tile, operand, depth)} at {names.place(place)}"
        for tile, operand, depth, place in zip(*(column.tolist() for column in columns), strict=True)
    ]
