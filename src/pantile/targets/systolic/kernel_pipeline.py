"""Compiled compute pipeline of a core: a whole stretch of computes at once.

Finishes strictly rise and at most one compute retires per tick, so that the last HEIGHT finishes are
all there is to know: a compute may enter once the oldest of them has passed. A tile whose sources are
valid keeps its turn against the other tile's computes.
"""

from __future__ import annotations

from pantile.targets.systolic.kernel_state import (
    ABSENT,
    ACTIVE,
    BUBBLE,
    COMPUTES,
    DOES_NOT_FIT,
    DRAIN,
    FAULT,
    FAULT_GRANULES,
    FAULT_SPACE,
    FAULT_TILE,
    FILL,
    HALF_BYTES,
    HEIGHT,
    HIGHEST,
    LAST_FINISH,
    LAST_OPEN,
    LAST_ROWS,
    LAST_START,
    MATMUL,
    MOVES,
    NEXT,
    PRELOADS,
    RECORD_START,
    RECORD_STOP,
    REQUEST_BYTES,
    RING_AT,
    RUN_SIZE,
    SLOT_ACC,
    SLOT_DONE,
    SLOT_MARK,
    SLOT_OP,
    SLOT_PAD,
    SLOT_RUN,
    SLOT_RUN_STOP,
    SLOT_STORE,
    SLOT_STORE_STOP,
    SLOT_TILE,
    SPACING,
    SPAN_COLUMNS,
    SPAN_UNKNOWN,
    SPANS,
    STREAK,
    USED,
    WIDTH,
    Array,
    Cores,
    Tables,
    compiled,
    inlined,
)
from pantile.targets.systolic.kernel_terms import close_gap, open_gap
from pantile.targets.systolic.stream import (
    RUN_COUNT,
    RUN_DEPTH,
    RUN_DEST,
    RUN_FIRST,
    RUN_PRELOAD,
    RUN_ROWS,
    RUN_SECOND,
    RUN_STEP,
    RUN_WIDTH,
)

_LEAST_ROWS = 4  # a compute occupies the array for at least this many cycles
_ACCUMULATOR_HALVES = 2  # where those of the accumulator begin among all halves
_WORTHWHILE = 2  # computes that are worth moving the ring for


@inlined
def raise_fault(core: Array, c: int, tile: int, space: int, granules: int, fault: int, t: int) -> None:
    """Let core *c* stop in tick *t*; the run stops there if nothing stops it before."""
    core[c, FAULT], core[c, FAULT_TILE], core[c, FAULT_SPACE] = fault, tile, space
    core[c, FAULT_GRANULES], core[c, NEXT] = granules, t


@inlined
def require_room(cores: Cores, config: Array, c: int, tile: int, half: int, granules: int, t: int) -> bool:
    """Take *granules* of a half (0 to 3 as in USED); returns whether they fit."""
    core, space = cores.core, half // 2
    needed = core[c, USED + half] + granules
    if needed * config[REQUEST_BYTES] > core[c, HALF_BYTES + space]:
        raise_fault(core, c, tile, space, needed, DOES_NOT_FIT, t)
        return False
    core[c, USED + half] = needed
    return True


@inlined
def sources_valid(tables: Tables, cores: Cores, q: int) -> int:
    """Return the tick in which both sources of resident tile *q*'s next compute are valid."""
    run, pad = cores.slot[q, SLOT_RUN], cores.slot[q, SLOT_PAD]
    first = cores.pads[pad, tables.computes[run, RUN_FIRST]]
    return int(max(first, cores.pads[pad, tables.computes[run, RUN_SECOND]]))


@compiled
def issue_computes(tables: Tables, cores: Cores, c: int, q: int, t: int, bound: int) -> int:
    """Issue computes of resident tile *q*, the first in tick *t* and all of them before *bound*.

    Stops where the tile has to wait for a source. Returns the tick of the last one.
    """
    core, slot, ring = cores.core, cores.slot, cores.ring
    outstanding = SPANS + MOVES * SPAN_COLUMNS + SPAN_UNKNOWN
    while True:
        run, acc = slot[q, SLOT_RUN], slot[q, SLOT_ACC]
        dest = tables.computes[run, RUN_DEST]
        if cores.sums[acc, dest] == ABSENT and not _allocate(tables, cores, c, q, t + 1):
            return t
        waited = t == ring[c, core[c, RING_AT]]
        _enter(tables, cores, c, q, t + 1)
        cores.sums[acc, dest] = core[c, LAST_FINISH]
        left = tables.computes[run, RUN_COUNT] - slot[q, SLOT_DONE]
        if waited and left > _WORTHWHILE and core[c, STREAK] >= core[c, HEIGHT]:
            count = min(left - 1, (bound - 1 - t) // core[c, SPACING])
            if count >= _WORTHWHILE and _spacing_within(tables.computes, core, c, run) == core[c, SPACING]:
                _repeat(tables, cores, c, q, count, t)
                t += count * core[c, SPACING]
                left -= count
        if left == 0:
            slot[q, SLOT_RUN] += 1
            slot[q, SLOT_DONE] = 0
            if slot[q, SLOT_RUN] == slot[q, SLOT_RUN_STOP]:
                if slot[q, SLOT_STORE] == slot[q, SLOT_STORE_STOP]:
                    slot[q, SLOT_MARK] = core[c, LAST_FINISH]
                return t
        soonest = max(t + 1, ring[c, core[c, RING_AT]])
        if soonest >= bound or (left == 0 and sources_valid(tables, cores, q) > soonest):
            return t
        if core[c, LAST_FINISH] <= soonest + 1 and core[c, outstanding] > 0:
            return t  # the pipeline will run empty, and what is outstanding then is not known yet
        t = soonest


@inlined
def _enter(tables: Tables, cores: Cores, c: int, q: int, t: int) -> None:
    """Let the next compute of resident tile *q* enter the pipeline in tick *t*.

    Source: onnxim-model.md section 7, onnxim-conv.md C5.
    """
    core, computes, slot = cores.core, tables.computes, cores.slot
    run, done, height = slot[q, SLOT_RUN], slot[q, SLOT_DONE], core[c, HEIGHT]
    rows, preload = computes[run, RUN_ROWS], computes[run, RUN_PRELOAD]
    was, before = core[c, LAST_START], core[c, LAST_FINISH]
    gap = max(core[c, LAST_ROWS], _LEAST_ROWS, height * preload)
    start = was + gap
    if before <= t:
        close_gap(core, c, t)
        start = t + (2 * height - 1) * preload
    elif start < t:
        # The sign of the gap is the original's (Q23).
        core[c, BUBBLE] += t - was + gap
        start = t
    finish = start + height + core[c, WIDTH] - 2 + max(rows, _LEAST_ROWS)
    if core[c, LAST_OPEN]:
        core[c, DRAIN] += max(0, min(t, before) - was - height)
    core[c, FILL] += max(start, before) - max(t, before)
    core[c, ACTIVE] += finish - max(start, before)
    depth = min(computes[run, RUN_STEP], computes[run, RUN_DEPTH] - done * computes[run, RUN_STEP])
    core[c, MATMUL] += rows * computes[run, RUN_WIDTH] * depth // (height * core[c, WIDTH])
    core[c, COMPUTES] += 1
    core[c, PRELOADS] += preload
    core[c, STREAK] = core[c, STREAK] + 1 if finish - before == core[c, SPACING] else 1
    core[c, SPACING] = finish - before
    cores.ring[c, core[c, RING_AT]] = finish
    core[c, RING_AT] = core[c, RING_AT] + 1 if core[c, RING_AT] + 1 < height else 0
    core[c, LAST_START], core[c, LAST_FINISH], core[c, LAST_ROWS], core[c, LAST_OPEN] = start, finish, rows, 1
    open_gap(core, c, finish)
    _record(cores, tables.config, slot[q, SLOT_OP], t, start, finish)
    slot[q, SLOT_OP] += 1
    slot[q, SLOT_DONE] = done + 1


@inlined
def _spacing_within(computes: Array, core: Array, c: int, run: int) -> int:
    """Return how far apart the starts of a run's computes are once the pipeline is full."""
    return int(max(computes[run, RUN_ROWS], _LEAST_ROWS, core[c, HEIGHT] * computes[run, RUN_PRELOAD]))


@compiled
def _allocate(tables: Tables, cores: Cores, c: int, q: int, t: int) -> bool:
    """Create the entry of the compute that enters in tick *t*; returns whether it fits."""
    run, acc = cores.slot[q, SLOT_RUN], cores.slot[q, SLOT_ACC]
    dest, half = tables.computes[run, RUN_DEST], _ACCUMULATOR_HALVES + acc % 2
    granules = tables.computes[run, RUN_SIZE]
    if not require_room(cores, tables.config, c, cores.slot[q, SLOT_TILE], half, granules, t):
        return False
    cores.core[c, HIGHEST + half] = max(cores.core[c, HIGHEST + half], dest + 1)
    cores.bias[acc, dest] = 0
    return True


@compiled
def _repeat(tables: Tables, cores: Cores, c: int, q: int, count: int, t: int) -> None:
    """Issue *count* more computes of a run, each one spacing after the one before it, issued in tick *t*.

    The last HEIGHT finishes are one spacing apart, so that this goes on by itself: the next compute may
    enter one spacing later, starts later by as much, and finishes so.
    """
    core, computes, slot = cores.core, tables.computes, cores.slot
    run, height, spacing = slot[q, SLOT_RUN], core[c, HEIGHT], core[c, SPACING]
    start, finish, op = core[c, LAST_START], core[c, LAST_FINISH], slot[q, SLOT_OP]
    macs = computes[run, RUN_ROWS] * computes[run, RUN_WIDTH] * computes[run, RUN_STEP]
    core[c, MATMUL] += count * (macs // (height * core[c, WIDTH]))
    core[c, DRAIN] += count * max(0, min(t + 1 + spacing, finish) - start - height)
    core[c, FILL] += count * max(0, start + spacing - finish)
    core[c, ACTIVE] += count * (finish + spacing - max(start + spacing, finish))
    core[c, COMPUTES] += count
    core[c, PRELOADS] += count * computes[run, RUN_PRELOAD]
    core[c, STREAK] += count
    for i in range(height):
        cores.ring[c, i] += count * spacing
    core[c, LAST_START], core[c, LAST_FINISH] = start + count * spacing, finish + count * spacing
    cores.sums[slot[q, SLOT_ACC], computes[run, RUN_DEST]] = core[c, LAST_FINISH]
    open_gap(core, c, core[c, LAST_FINISH])
    if op < tables.config[RECORD_STOP] and op + count > tables.config[RECORD_START]:
        for i in range(count):
            later = (i + 1) * spacing
            _record(cores, tables.config, op + i, t + 1 + later, start + later, finish + later)
    slot[q, SLOT_OP] += count
    slot[q, SLOT_DONE] += count


@inlined
def _record(cores: Cores, config: Array, op: int, enter: int, start: int, finish: int) -> None:
    if config[RECORD_START] <= op < config[RECORD_STOP]:
        times, at = cores.times, op - config[RECORD_START]
        times[at, 0], times[at, 1], times[at, 2], times[at, 3] = enter, enter, start, finish
