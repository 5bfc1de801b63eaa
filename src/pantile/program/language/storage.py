"""Where everything lies: a range of bytes for every copy, slot, register and output tile of every place.

An off-chip memory holds each operand whole, row by row, at the operand's own base. Elsewhere come the slots
of buffers first, then copies that no buffer holds, then registers by operand and level, then output tiles;
what is of one kind in order of first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pantile.program.language.bundles import generation_at
from pantile.program.language.places import OFF_CHIP

if TYPE_CHECKING:
    from pantile.program.language.bundles import Bundles
    from pantile.program.language.geometry import Geometry, Ints
    from pantile.program.language.outputs import Outputs
    from pantile.program.language.registers import Registers
    from pantile.program.language.slots import Births
    from pantile.program.language.states import Copies, Events


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Where operations find an operand; one row each.

    Attributes:
        base: First byte of what holds the operand there; -1 if nothing does.
        depth: Depth of the tile that is stored there whole.
        generation: Which generation of the copy is meant.
        owner: Number of the copy, register or output tile, counted in that order; -1 off chip.
    """

    base: Ints
    depth: Ints
    generation: Ints
    owner: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What a program keeps in memories.

    Attributes:
        geometry: Boxes of the tiles.
        levels: How near to compute each place is.
        threads: Thread of every operation.
        copies: Copies with a state.
        bundles: How operands lie in them.
        events: Statements on them.
        births: Generations of them, and their slots.
        registers: Copies without a state.
        outputs: Output tiles without a state.
        operand_bases: First byte of each operand off chip.
    """

    geometry: Geometry
    levels: Ints
    threads: Ints
    copies: Copies
    bundles: Bundles
    events: Events
    births: Births
    registers: Registers
    outputs: Outputs
    operand_bases: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """Contents with addresses.

    Attributes:
        contents: What is stored.
        own: First byte of each copy where no slot holds it.
        birth_keys: Copy and generation of every birth, packed and sorted.
        birth_bases: First byte of each of those.
        span: How copy and generation are packed: ``copy * span + generation``.
        registers: First byte of each register.
        outputs: First byte of each output tile.
    """

    contents: Contents
    own: Ints
    birth_keys: Ints
    birth_bases: Ints
    span: int
    registers: Ints
    outputs: Ints

    def base_of(self, copy: Ints, generation: Ints) -> Ints:
        """Return the first byte of generations of copies."""
        if not len(self.birth_keys):
            return self.own[copy]
        keys = copy * self.span + generation
        at = np.minimum(np.searchsorted(self.birth_keys, keys), len(self.birth_keys) - 1)
        return np.where(self.birth_keys[at] == keys, self.birth_bases[at], self.own[copy])

    def find(self, operand: int, tiles: Ints, places: Ints, ops: Ints, *, loading: bool = False) -> Found:
        """Return where *ops* find one operand of *tiles* at *places*, or put it if they are *loading*."""
        held = self.contents
        base, depth, generation, owner = (np.full(len(tiles), -1, np.int64) for _ in range(4))
        outside = held.levels[places] == OFF_CHIP
        base[outside], depth[outside], generation[outside] = held.operand_bases[operand], 0, 0
        copy = np.where(outside, -1, held.copies.holding(operand, tiles, places, ops, held.events))
        rows = np.flatnonzero(copy >= 0)
        mine = copy[rows]
        generation[rows] = generation_at(held.events, held.threads, ops[rows], mine)
        base[rows] = self.base_of(mine, generation[rows]) + held.bundles.offset[mine, operand]
        depth[rows], owner[rows] = held.copies.depth[mine], mine
        rows = np.flatnonzero(~outside & (copy < 0))
        if operand == held.geometry.operands.output:
            number = held.outputs.find(tiles[rows], places[rows])
            rows, number = rows[number >= 0], number[number >= 0]
            base[rows], depth[rows] = self.outputs[number], held.outputs.depth[number]
            generation[rows], owner[rows] = 0, len(held.copies) + len(self.registers) + number
        else:
            if loading:
                load, at = held.registers.own(operand, ops[rows])
            else:
                load, at = held.registers.find(operand, tiles[rows], places[rows], ops[rows])
            rows, at, load = rows[load >= 0], at[load >= 0], load[load >= 0]
            register = held.registers.register[load]
            base[rows], depth[rows] = self.registers[register], at
            generation[rows] = held.registers.generation[load]
            owner[rows] = len(held.copies) + register
        return Found(base, depth, generation, owner)


def lay_out(contents: Contents) -> Storage:
    """Give everything its address."""
    copies, events, births = contents.copies, contents.events, contents.births
    ends = np.zeros(len(contents.levels), np.int64)
    copy = events.copy[births.event]
    slotted = np.flatnonzero(births.slot >= 0)
    bases = np.full(len(copy), -1, np.int64)
    bases[slotted] = _slots(contents, slotted, copy[slotted], ends)
    needed = np.ones(len(copies), bool)
    needed[copy[slotted]] = False
    needed[copy[births.slot < 0]] = True
    own = np.full(len(copies), -1, np.int64)
    which = np.flatnonzero(needed)
    own[which] = _append(copies.place[which], contents.bundles.size[which], ends)
    first = np.unique(copy, return_index=True)
    unset = own[first[0]] < 0
    own[first[0][unset]] = bases[first[1][unset]]
    bases = np.where(bases < 0, own[copy], bases)
    generation = events.generation[births.event]
    span = int(events.generation.max(initial=0)) + 1
    keys, at = np.unique(copy * span + generation, return_index=True)
    registers = _append(contents.registers.place, contents.registers.sizes, ends)
    outputs = _append(contents.outputs.place, contents.outputs.sizes, ends)
    return Storage(contents, own, keys, bases[at], span, registers, outputs)


def _slots(contents: Contents, rows: Ints, copy: Ints, ends: Ints) -> Ints:
    """Return the first byte of every birth in a slot; regions of slots are appended to their places."""
    births = contents.births
    member, place = births.member[rows], contents.copies.place[copy]
    size = contents.bundles.size[copy]
    order = np.lexsort((rows, place, births.acquire[rows]))
    taken = np.stack([births.acquire[rows], place], axis=1)[order]
    begins = np.concatenate([[True], (taken[1:] != taken[:-1]).any(axis=1)])[: len(order)]
    group = np.cumsum(begins) - 1
    before = np.cumsum(size[order]) - size[order]
    offset = np.empty(len(rows), np.int64)
    offset[order] = before - before[begins][group]
    regions, first, region = np.unique(member * len(ends) + place, return_index=True, return_inverse=True)
    slot_bytes = np.zeros(len(regions), np.int64)
    np.maximum.at(slot_bytes, region, offset + size)
    slots = np.ones(len(regions), np.int64)
    np.maximum.at(slots, region, births.slots[rows])
    start = np.empty(len(regions), np.int64)
    by_use = np.argsort(first)
    start[by_use] = _append((regions % len(ends))[by_use], (slot_bytes * slots)[by_use], ends)
    return np.asarray(start[region] + births.slot[rows] * slot_bytes[region] + offset)


def _append(place: Ints, size: Ints, ends: Ints) -> Ints:
    """Return where ranges begin that follow one another at each place from *ends* on, which are moved."""
    order = np.argsort(place, kind="stable")
    before = np.cumsum(size[order]) - size[order]
    at = np.searchsorted(place[order], place[order])
    start = np.empty(len(place), np.int64)
    start[order] = before - before[at] + ends[place[order]] if len(place) else before
    np.add.at(ends, place, size)
    return start
