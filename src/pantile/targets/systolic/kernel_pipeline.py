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
    FAR,
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
    compiled,
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
    RUN_SIZE,
    RUN_STEP,
    RUN_WIDTH,
)

_LEAST_ROWS = 4  # a compute occupies the array for at least this many cycles
_ACCUMULATOR = 1
_WORTHWHILE = 2  # computes that are worth moving the ring for


@compiled
def raise_fault(core, c, tile, space, granules, fault, t):
    """Let core *c* stop in tick *t*; the run stops there if nothing stops it before."""
    core[c, FAULT], core[c, FAULT_TILE], core[c, FAULT_SPACE] = fault, tile, space
    core[c, FAULT_GRANULES], core[c, NEXT] = granules, t


@compiled
def require_room(cores, config, c, tile, half, granules, t):
    """Take *granules* of a half (0 to 3 as in USED); returns whether they fit."""
    core, space = cores.core, half // 2
    needed = core[c, USED + half] + granules
    if needed * config[REQUEST_BYTES] > core[c, HALF_BYTES + space]:
        raise_fault(core, c, tile, space, needed, DOES_NOT_FIT, t)
        return False
    core[c, USED + half] = needed
    return True


@compiled
def sources_valid(tables, cores, q):
    """Return the tick in which both sources of resident tile *q*'s next compute are valid."""
    run, pad = cores.slot[q, SLOT_RUN], cores.slot[q, SLOT_PAD]
    first = cores.pads[pad, tables.computes[run, RUN_FIRST]]
    return max(first, cores.pads[pad, tables.computes[run, RUN_SECOND]])


@compiled
def issue_computes(tables, cores, c, q, t, bound):
    """Issue computes of resident tile *q*, the first in tick *t* and all of them before *bound*.

    Stops where the tile has to wait for a source. Returns the tick of the last one.
    """
    config, computes = tables.config, tables.computes
    core, slot, ring = cores.core, cores.slot, cores.ring
    height, width, streak = core[c, HEIGHT], core[c, WIDTH], core[c, STREAK]
    ring_at = core[c, RING_AT]
    start, finish, rows = core[c, LAST_START], core[c, LAST_FINISH], core[c, LAST_ROWS]
    while True:
        run, done, acc = slot[q, SLOT_RUN], slot[q, SLOT_DONE], slot[q, SLOT_ACC]
        dest = computes[run, RUN_DEST]
        if cores.sums[acc, dest] == ABSENT and not _allocate(
            cores, config, c, q, dest, computes[run, RUN_SIZE], t + 1
        ):
            return t
        preload, size = computes[run, RUN_PRELOAD], max(computes[run, RUN_ROWS], _LEAST_ROWS)
        depth = min(computes[run, RUN_STEP], computes[run, RUN_DEPTH] - done * computes[run, RUN_STEP])
        gap = max(rows, _LEAST_ROWS, height if preload else 0)
        enter, before, was = t + 1, finish, start
        if before <= enter:
            close_gap(core, c, enter)
            start = enter + (2 * height - 1 if preload else 0)
        elif start + gap < enter:
            # The sign of the gap is the original's (Q23).
            core[c, BUBBLE] += enter - start + gap
            start = enter
        else:
            start += gap
        finish = start + height + width - 2 + size
        if core[c, LAST_OPEN]:
            core[c, DRAIN] += max(0, min(enter, before) - was - height)
        core[c, LAST_OPEN] = 1
        core[c, FILL] += max(start, before) - max(enter, before)
        core[c, ACTIVE] += finish - max(start, before)
        core[c, MATMUL] += computes[run, RUN_ROWS] * computes[run, RUN_WIDTH] * depth // (height * width)
        core[c, COMPUTES] += 1
        core[c, PRELOADS] += preload
        rows = computes[run, RUN_ROWS]
        if finish - before == core[c, SPACING]:
            streak += 1
        else:
            core[c, SPACING] = finish - before
            streak = 1
        full = t == ring[c, ring_at]
        ring[c, ring_at] = finish
        ring_at = ring_at + 1 if ring_at + 1 < height else 0
        cores.sums[acc, dest] = finish
        _record(cores, config, slot[q, SLOT_OP], enter, start, finish)
        slot[q, SLOT_OP] += 1
        slot[q, SLOT_DONE] = done + 1
        left = computes[run, RUN_COUNT] - done - 1
        if left > _WORTHWHILE and full and streak >= height:
            spacing = core[c, SPACING]
            again = max(rows, _LEAST_ROWS, height if preload else 0)
            count = min(left - 1, (bound - 1 - t) // spacing)
            if again == spacing and count >= _WORTHWHILE:
                _repeat(tables, cores, c, q, count, t, start, finish)
                t += count * spacing
                start += count * spacing
                finish += count * spacing
                streak += count
                left -= count
        if left == 0:
            slot[q, SLOT_RUN] += 1
            slot[q, SLOT_DONE] = 0
            if slot[q, SLOT_RUN] == slot[q, SLOT_RUN_STOP]:
                if slot[q, SLOT_STORE] == slot[q, SLOT_STORE_STOP]:
                    slot[q, SLOT_MARK] = finish
                break
        soonest = max(t + 1, ring[c, ring_at])
        if soonest >= bound or (left == 0 and sources_valid(tables, cores, q) > soonest):
            break
        if finish <= soonest + 1 and core[c, SPANS + MOVES * SPAN_COLUMNS + SPAN_UNKNOWN] > 0:
            break  # the pipeline will run empty, and what is outstanding then is not known yet
        t = soonest
        open_gap(core, c, finish)
    core[c, STREAK], core[c, RING_AT] = streak, ring_at
    core[c, LAST_START], core[c, LAST_FINISH], core[c, LAST_ROWS] = start, finish, rows
    open_gap(core, c, finish)
    return t


@compiled
def _allocate(cores, config, c, q, dest, granules, t):
    """Create the accumulator entry of a compute that enters in tick *t*; returns whether it fits."""
    acc = cores.slot[q, SLOT_ACC]
    half = 2 * _ACCUMULATOR + acc % 2
    if not require_room(cores, config, c, cores.slot[q, SLOT_TILE], half, granules, t):
        return False
    cores.core[c, HIGHEST + half] = max(cores.core[c, HIGHEST + half], dest + 1)
    cores.bias[acc, dest] = 0
    return True


@compiled
def _repeat(tables, cores, c, q, count, t, start, finish):
    """Issue *count* more computes of a run, each one spacing after the one before it.

    The last HEIGHT finishes are one spacing apart, so that this goes on by itself: the next may enter
    one spacing later, starts later by as much, and finishes so.
    """
    core, computes, slot = cores.core, tables.computes, cores.slot
    run, height, spacing = slot[q, SLOT_RUN], core[c, HEIGHT], core[c, SPACING]
    macs = computes[run, RUN_ROWS] * computes[run, RUN_WIDTH] * computes[run, RUN_STEP]
    core[c, MATMUL] += count * (macs // (height * core[c, WIDTH]))
    core[c, DRAIN] += count * max(0, min(t + 1 + spacing, finish) - start - height)
    core[c, FILL] += count * max(0, start + spacing - finish)
    core[c, ACTIVE] += count * (finish + spacing - max(start + spacing, finish))
    core[c, COMPUTES] += count
    core[c, PRELOADS] += count * computes[run, RUN_PRELOAD]
    for i in range(height):
        cores.ring[c, i] += count * spacing
    cores.sums[slot[q, SLOT_ACC], computes[run, RUN_DEST]] += count * spacing
    op = slot[q, SLOT_OP]
    if op < tables.config[RECORD_STOP] and op + count > tables.config[RECORD_START]:
        for i in range(count):
            later = (i + 1) * spacing
            _record(cores, tables.config, op + i, t + 1 + later, start + later, finish + later)
    slot[q, SLOT_OP] += count
    slot[q, SLOT_DONE] += count


@compiled
def _record(cores, config, op, enter, start, finish):
    if config[RECORD_START] <= op < config[RECORD_STOP]:
        times, at = cores.times, op - config[RECORD_START]
        times[at, 0], times[at, 1], times[at, 2], times[at, 3] = enter, enter, start, finish
