"""Where a core's cycles go, without stepping them.

A cycle outside the pipeline's busy spans waits for loads if any are outstanding, else for stores if any
are. Outstanding loads form spans, and so do loads and stores together; both kinds of spans and the gaps
between busy spans of the pipeline come in order of time, so that sums up to a tick are enough.
"""

from __future__ import annotations

from pantile.targets.systolic.kernel_state import (
    ACTIVE,
    BEFORE,
    CORES,
    DRAIN,
    FILL,
    GAP,
    HEIGHT,
    IDLE,
    IDLE_FROM,
    IDLE_LOADING,
    LAST_FINISH,
    LAST_OPEN,
    LAST_START,
    LOADS,
    QUEUE_AT,
    QUEUE_STOP,
    RESIDENT,
    SPAN_AT_GAP,
    SPAN_COLUMNS,
    SPAN_END,
    SPAN_START,
    SPAN_TOTAL,
    SPAN_UNKNOWN,
    SPANS,
    WAIT_LOAD,
    WAIT_STORE,
    WRITES_END,
    WRITES_OUT,
    Array,
    Cores,
    Tables,
    compiled,
    inlined,
)
from pantile.targets.systolic.stream import TILE_KIND

_TRACKERS = 2
_TERM_ISSUE, _TERM_IDLE = 7, 8  # places in result.TERMS; the first five are summed as they happen


@inlined
def outstanding_ticks(core: Array, c: int, tracker: int, t: int) -> int:
    """Return in how many ticks before *t* anything of a tracker was outstanding.

    *t* must not lie before the current span, and responses seen before *t* must be known.
    """
    at = SPANS + tracker * SPAN_COLUMNS
    end = t if core[c, at + SPAN_UNKNOWN] > 0 else min(t, core[c, at + SPAN_END])
    return int(core[c, at + SPAN_TOTAL] + max(0, end - core[c, at + SPAN_START]))


@inlined
def note_sent(core: Array, c: int, first: int, t: int) -> None:
    """Account, in trackers from *first* on, for a move whose requests are outstanding from tick *t* on."""
    for tracker in range(first, _TRACKERS):
        at = SPANS + tracker * SPAN_COLUMNS
        if core[c, at + SPAN_UNKNOWN] == 0 and core[c, at + SPAN_END] < t:
            # A new span begins; what the gap needs of the old ones is read first.
            if core[c, GAP] <= t and core[c, at + SPAN_AT_GAP] < 0:
                core[c, at + SPAN_AT_GAP] = outstanding_ticks(core, c, tracker, core[c, GAP])
            core[c, at + SPAN_TOTAL] += core[c, at + SPAN_END] - core[c, at + SPAN_START]
            core[c, at + SPAN_START] = t
            core[c, at + SPAN_END] = t
        core[c, at + SPAN_UNKNOWN] += 1


@inlined
def note_answered(core: Array, c: int, first: int, t: int) -> None:
    """Account, in trackers from *first* on, for a move whose last response is seen in tick *t*."""
    for tracker in range(first, _TRACKERS):
        at = SPANS + tracker * SPAN_COLUMNS
        core[c, at + SPAN_UNKNOWN] -= 1
        core[c, at + SPAN_END] = max(core[c, at + SPAN_END], t)


@inlined
def close_gap(core: Array, c: int, t: int) -> None:
    """Share out the ticks from when the pipeline ran empty up to *t*."""
    more = 0
    for tracker in range(_TRACKERS):
        at = SPANS + tracker * SPAN_COLUMNS
        before = core[c, at + SPAN_AT_GAP]
        if before < 0:
            before = outstanding_ticks(core, c, tracker, core[c, GAP])
        spent = outstanding_ticks(core, c, tracker, t) - before
        core[c, WAIT_LOAD + tracker] += spent - more  # then WAIT_STORE, without what waits for loads
        more = spent


@inlined
def open_gap(core: Array, c: int, t: int) -> None:
    """The pipeline is empty from tick *t* on."""
    core[c, GAP] = t
    for tracker in range(_TRACKERS):
        core[c, SPANS + tracker * SPAN_COLUMNS + SPAN_AT_GAP] = -1


@inlined
def note_idle(core: Array, c: int, t: int) -> int:
    """Account for the ticks before *t* in which a core without tiles was not running; returns *t*."""
    start = max(core[c, IDLE_FROM], core[c, WRITES_END], core[c, LAST_FINISH])
    if core[c, WRITES_OUT] == 0 and start < t:
        core[c, IDLE] += t - start
        at = SPANS + LOADS * SPAN_COLUMNS
        end = t if core[c, at + SPAN_UNKNOWN] > 0 else min(t, core[c, at + SPAN_END])
        core[c, IDLE_LOADING] += max(0, end - max(start, core[c, at + SPAN_START]))
    return t


@compiled
def close_layer(tables: Tables, cores: Cores, layer: int, t: int, taker: int) -> bool:
    """Write the terms of *layer*, whose last tick is *t*; no core holds a tile.

    Cores from *taker* on whose queue holds a tile of the next layer take it in tick *t*, and so are
    not idle in it. Returns whether every pipeline is empty, as it must be.
    """
    core = cores.core
    for c in range(tables.config[CORES]):
        if core[c, LAST_FINISH] > t + 1 or core[c, RESIDENT] > 0:
            return False
        if core[c, LAST_OPEN]:
            core[c, DRAIN] += max(0, core[c, LAST_FINISH] - core[c, LAST_START] - core[c, HEIGHT])
            core[c, LAST_OPEN] = 0
        close_gap(core, c, t + 1)
        open_gap(core, c, t + 1)
        for tracker in range(_TRACKERS):
            at = SPANS + tracker * SPAN_COLUMNS
            core[c, at + SPAN_AT_GAP] = outstanding_ticks(core, c, tracker, t + 1)
        takes = c >= taker and core[c, QUEUE_AT] < core[c, QUEUE_STOP]
        if takes and tables.tiles[core[c, QUEUE_AT], TILE_KIND] >= 0:
            core[c, IDLE_FROM] = note_idle(core, c, t)
        else:
            core[c, IDLE_FROM] = note_idle(core, c, t + 1)
        _write_terms(core, c, cores.terms, layer, t + 1)
    return True


@compiled
def _write_terms(core: Array, c: int, terms: Array, layer: int, t: int) -> None:
    drain, idle = core[c, DRAIN], core[c, IDLE] - core[c, IDLE_LOADING]
    sums = (core[c, ACTIVE] - drain, drain, core[c, FILL], core[c, WAIT_LOAD], core[c, WAIT_STORE])
    issue = t - idle
    for term in range(5):
        issue -= sums[term]
        terms[layer, c, term] = sums[term] - core[c, BEFORE + term]
        core[c, BEFORE + term] = sums[term]
    terms[layer, c, _TERM_ISSUE] = issue - core[c, BEFORE + _TERM_ISSUE]
    terms[layer, c, _TERM_IDLE] = idle - core[c, BEFORE + _TERM_IDLE]
    core[c, BEFORE + _TERM_ISSUE] = issue
    core[c, BEFORE + _TERM_IDLE] = idle
