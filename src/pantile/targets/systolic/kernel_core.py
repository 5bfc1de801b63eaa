"""Compiled events of the cores: tiles come and go, instructions issue, layers follow one another.

A core is touched only in ticks in which something can happen. Source: onnxim-model.md sections 5 to 8.
"""

from __future__ import annotations

from pantile.targets.systolic.kernel_network import send
from pantile.targets.systolic.kernel_pipeline import issue_computes, raise_fault, require_room, sources_valid
from pantile.targets.systolic.kernel_requests import write_channels
from pantile.targets.systolic.kernel_state import (
    ABSENT,
    ALLOCATED_TWICE,
    CHANNELS,
    CORES,
    FAR,
    FAULT,
    FAULTY,
    FAULTY_CORE,
    FIFO_HEAD,
    FIFO_TAIL,
    FREE_RUN,
    FREE_RUNS,
    HAND_OVER,
    HIGHEST,
    IDLE_FROM,
    INEXACT,
    LANES,
    LARGEST_MOVE,
    LAST_HAND_OVER,
    LAST_LAYER,
    LAYER,
    LAYERS,
    LOADS,
    LOST,
    MORE_FIFO,
    MORE_RESPONSES,
    MORE_RUNS,
    MOVES,
    NEVER,
    NEXT,
    NOW,
    OUT,
    OUT_END,
    PENDING,
    QUEUE_AT,
    QUEUE_STOP,
    READS,
    RECORD_START,
    RECORD_STOP,
    RESIDENT,
    RESPONSES,
    RING_AT,
    RUN_CORE,
    RUN_ENTRY,
    RUN_HALF,
    RUN_LAST,
    RUN_LEFT,
    RUN_NEXT,
    RUN_OP,
    RUN_SIZE,
    RUNS_OUT,
    SLOT_ACC,
    SLOT_COLUMNS,
    SLOT_DONE,
    SLOT_LOAD,
    SLOT_LOAD_STOP,
    SLOT_MARK,
    SLOT_OP,
    SLOT_PAD,
    SLOT_RUN,
    SLOT_RUN_STOP,
    SLOT_STORE,
    SLOT_STORE_STOP,
    SLOT_TILE,
    SOURCES,
    TILES_LEFT,
    TURN,
    USED,
    WRITES,
    WRITES_OUT,
    Array,
    Cores,
    Network,
    Tables,
    compiled,
    inlined,
)
from pantile.targets.systolic.kernel_terms import close_layer, note_idle, note_sent
from pantile.targets.systolic.stream import (
    COMPUTE_START,
    COMPUTE_STOP,
    LOAD_START,
    LOAD_STOP,
    MOVE_ENTRY,
    MOVE_SPACE,
    STORE_START,
    STORE_STOP,
    TILE_ACCUMULATES,
    TILE_KIND,
    TILE_LAYER,
    TILE_OP,
    TILE_REGION,
)

LOAD_HEAD, COMPUTE_HEAD, STORE_HEAD, NO_HEAD = range(4)
_RESIDENT_LIMIT = 2


@inlined
def head_of(slot: Array, q: int) -> int:
    """Return what the next instruction of resident tile *q* is."""
    if slot[q, SLOT_LOAD] < slot[q, SLOT_LOAD_STOP]:
        return LOAD_HEAD
    if slot[q, SLOT_RUN] < slot[q, SLOT_RUN_STOP]:
        return COMPUTE_HEAD
    if slot[q, SLOT_STORE] < slot[q, SLOT_STORE_STOP]:
        return STORE_HEAD
    return NO_HEAD


@inlined
def issue_tick(tables: Tables, cores: Cores, c: int, q: int) -> int:
    """Return the tick from which resident tile *q*'s next instruction can issue; FAR or more if unknown."""
    head = head_of(cores.slot, q)
    if head == LOAD_HEAD:
        return 0
    if head == COMPUTE_HEAD:
        return int(max(cores.ring[c, cores.core[c, RING_AT]], sources_valid(tables, cores, q)))
    if head == STORE_HEAD:
        acc, entry = cores.slot[q, SLOT_ACC], tables.moves[cores.slot[q, SLOT_STORE], MOVE_ENTRY]
        return int(max(cores.sums[acc, entry], cores.bias[acc, entry]))
    return FAR


@inlined
def next_event(tables: Tables, cores: Cores, c: int) -> int:
    """Return the tick of core *c*'s next event, as far as it is known."""
    core = cores.core
    soonest = core[c, HAND_OVER]
    later = core[c, NOW] + 1
    if core[c, RESIDENT] < _RESIDENT_LIMIT and core[c, QUEUE_AT] < core[c, QUEUE_STOP]:
        soonest = min(soonest, later)
    for q in range(2 * c, 2 * c + core[c, RESIDENT]):
        tick = min(issue_tick(tables, cores, c, q), cores.slot[q, SLOT_MARK])
        soonest = min(soonest, max(later, tick))
    return int(min(soonest, FAR))


@compiled
def begin_layer(tables: Tables, cores: Cores, t: int, taker: int) -> None:
    """Fill the queues with the next layer's tiles; cores from *taker* on may take one in tick *t*."""
    config, core, shared = tables.config, cores.core, cores.shared
    layer = shared[LAYER]
    cores.layer_times[layer, 0] = t
    shared[TILES_LEFT] = 0
    for c in range(config[CORES]):
        at = layer * config[CORES] + c
        core[c, QUEUE_AT], core[c, QUEUE_STOP] = tables.queues[at], tables.queues[at + 1]
        shared[TILES_LEFT] += core[c, QUEUE_STOP] - core[c, QUEUE_AT]
        core[c, NOW] = t - 1 if c >= taker else t
        if core[c, QUEUE_AT] < core[c, QUEUE_STOP]:
            core[c, NEXT] = min(core[c, NEXT], core[c, NOW] + 1)


@inlined
def core_event(tables: Tables, cores: Cores, network: Network, c: int, t: int) -> int:
    """Carry out what happens on core *c* in tick *t*; returns 0, or why the run cannot go on."""
    core, slot = cores.core, cores.slot
    if core[c, FAULT]:
        cores.shared[FAULTY_CORE] = c
        return FAULTY
    reason = _lacks_room(tables, cores, network, c)
    if reason != 0:
        return reason
    if core[c, HAND_OVER] == t:
        core[c, HAND_OVER] = FAR
        _hand_over(tables, cores, c, t)
    if core[c, RESIDENT] < _RESIDENT_LIMIT and core[c, QUEUE_AT] < core[c, QUEUE_STOP]:
        _issue_tile(tables, cores, c, t)
    if cores.shared[LOST]:
        return INEXACT
    count = core[c, RESIDENT]
    now = t
    for step in range(count):
        turn = (step + core[c, TURN]) % count
        if issue_tick(tables, cores, c, 2 * c + turn) <= t:
            core[c, TURN] = turn
            now = _issue(tables, cores, network, c, 2 * c + turn, t)
            break
    for q in range(2 * c, 2 * c + core[c, RESIDENT]):
        if slot[q, SLOT_MARK] <= now:
            _finish_tile(cores, c, q, now + 1)
            break
    core[c, NOW] = now
    if not core[c, FAULT]:
        core[c, NEXT] = next_event(tables, cores, c)
    return 0


@compiled
def _hand_over(tables: Tables, cores: Cores, c: int, t: int) -> None:
    """Give a finished tile back; the last one of a layer lets the next layer begin."""
    shared, layers = cores.shared, tables.config[LAYERS]
    shared[TILES_LEFT] -= 1
    if shared[TILES_LEFT] > 0:
        return
    layer = shared[LAYER]
    cores.layer_times[layer, 1] = t
    shared[LAST_HAND_OVER] = t
    shared[LAYER] = layer + 1
    if layer + 1 < layers:
        begin_layer(tables, cores, t, c)
        if not close_layer(tables, cores, layer, t, c):
            shared[LOST] = 1


@compiled
def _issue_tile(tables: Tables, cores: Cores, c: int, t: int) -> None:
    """Take the next tile of the queue (section 5)."""
    core, slot = cores.core, cores.slot
    tile = core[c, QUEUE_AT]
    core[c, QUEUE_AT] += 1
    pad = acc = 0
    if core[c, RESIDENT] == 1:
        pad, acc = slot[2 * c, SLOT_PAD] % 2, slot[2 * c, SLOT_ACC] % 2
    pad = 1 - pad
    _flush(cores, c, pad, t)
    layer = tables.tiles[tile, TILE_LAYER]
    if not tables.tiles[tile, TILE_ACCUMULATES] or layer != core[c, LAST_LAYER]:
        acc = 1 - acc
        _flush(cores, c, 2 + acc, t)
    core[c, LAST_LAYER] = layer
    row = cores.tile_rows
    row[tile, 0], row[tile, 1], row[tile, 3], row[tile, 4] = c, t, pad, acc
    row[tile, 5] = row[tile, 6] = row[tile, 7] = 0
    kind = tables.tiles[tile, TILE_KIND]
    if kind < 0:
        row[tile, 2] = t
        core[c, HAND_OVER] = t + 1
        return
    if core[c, RESIDENT] == 0:
        note_idle(core, c, t)
    q = 2 * c + core[c, RESIDENT]
    core[c, RESIDENT] += 1
    kinds = tables.kinds
    slot[q, SLOT_TILE], slot[q, SLOT_OP] = tile, tables.tiles[tile, TILE_OP]
    slot[q, SLOT_LOAD], slot[q, SLOT_LOAD_STOP] = kinds[kind, LOAD_START], kinds[kind, LOAD_STOP]
    slot[q, SLOT_RUN], slot[q, SLOT_RUN_STOP] = kinds[kind, COMPUTE_START], kinds[kind, COMPUTE_STOP]
    slot[q, SLOT_STORE], slot[q, SLOT_STORE_STOP] = kinds[kind, STORE_START], kinds[kind, STORE_STOP]
    slot[q, SLOT_DONE] = 0
    slot[q, SLOT_PAD], slot[q, SLOT_ACC] = 2 * c + pad, 2 * c + acc
    slot[q, SLOT_MARK] = FAR


@compiled
def _flush(cores: Cores, c: int, half: int, t: int) -> None:
    """Drop all entries of a half (0 to 3 as in USED)."""
    core = cores.core
    if core[c, OUT + half] > 0 or core[c, OUT_END + half] > t:
        cores.shared[LOST] = 1
    core[c, USED + half] = 0
    row = 2 * c + half % 2
    for entry in range(core[c, HIGHEST + half]):
        if half < 2:
            cores.pads[row, entry] = ABSENT
        else:
            cores.sums[row, entry] = ABSENT
    core[c, HIGHEST + half] = 0


@compiled
def _finish_tile(cores: Cores, c: int, q: int, t: int) -> None:
    """Let go of resident tile *q*; the scheduler learns of it in tick *t*."""
    core, slot = cores.core, cores.slot
    cores.tile_rows[slot[q, SLOT_TILE], 2] = t
    core[c, HAND_OVER] = core[c, IDLE_FROM] = t
    core[c, RESIDENT] -= 1
    if q == 2 * c:
        for column in range(SLOT_COLUMNS):
            slot[q, column] = slot[q + 1, column]


@inlined
def _issue(tables: Tables, cores: Cores, network: Network, c: int, q: int, t: int) -> int:
    """Issue from resident tile *q* in tick *t*, and on as long as nothing else can happen.

    Returns the tick of the last instruction.
    """
    core, slot = cores.core, cores.slot
    head = head_of(slot, q)
    other = 4 * c + 1 - q
    bound = FAR
    if core[c, RESIDENT] == _RESIDENT_LIMIT:
        bound = slot[other, SLOT_MARK]
    elif core[c, QUEUE_AT] < core[c, QUEUE_STOP]:
        bound = t + 1
    if head == COMPUTE_HEAD:
        if core[c, RESIDENT] == _RESIDENT_LIMIT:
            against = head_of(slot, other)
            if against == LOAD_HEAD:
                bound = t + 1
            elif against == STORE_HEAD:
                ready = issue_tick(tables, cores, c, other)
                bound = min(bound, ready if ready < FAR else t + 1)
        return issue_computes(tables, cores, c, q, t, bound)
    while True:
        size = _move(tables, cores, network, c, q, head, t)
        if core[c, FAULT] or size == 0 or t + 1 >= bound or head_of(slot, q) != head:
            return t
        if head == STORE_HEAD and issue_tick(tables, cores, c, q) > t + 1:
            return t
        if _lacks_room(tables, cores, network, c) != 0:
            return t
        t += 1


@inlined
def _move(tables: Tables, cores: Cores, network: Network, c: int, q: int, head: int, t: int) -> int:
    """Issue a MOVIN or MOVOUT in tick *t*; its requests enter the FIFO in the next. Returns their count."""
    core, slot, runs, shared = cores.core, cores.slot, cores.runs, cores.shared
    tile, column = slot[q, SLOT_TILE], SLOT_LOAD if head == LOAD_HEAD else SLOT_STORE
    move = slot[q, column]
    size = write_channels(tables, cores, c, move, tile, core[c, FIFO_TAIL])
    run = shared[FREE_RUN]
    half, entry = -1, -1
    if head == LOAD_HEAD:
        entry = tables.moves[move, MOVE_ENTRY]
        half = _take_entry(tables, cores, c, q, move, size, run, t)
        if half < 0:
            return size
    elif q > 2 * c:
        _note_overtaking(tables, cores, c, q)
    slot[q, column] += 1
    if head_of(slot, q) == NO_HEAD and head == STORE_HEAD:
        slot[q, SLOT_MARK] = t + 1
    op = slot[q, SLOT_OP]
    slot[q, SLOT_OP] += 1
    if tables.config[RECORD_START] <= op < tables.config[RECORD_STOP]:
        at = op - tables.config[RECORD_START]
        cores.times[at, 0] = cores.times[at, 1] = cores.times[at, 2] = t + 1
    cores.tile_rows[tile, 5 if head == LOAD_HEAD else 6] += size
    core[c, READS if head == LOAD_HEAD else WRITES] += size
    if size > 0:
        shared[FREE_RUN] = runs[run, RUN_NEXT]
        _begin_run(cores, c, run, half, size, t + 1)
        runs[run, RUN_ENTRY], runs[run, RUN_OP] = entry, op
        send(cores, network, tables.config, run, t + 1)
    return size


@inlined
def _begin_run(cores: Cores, c: int, run: int, half: int, size: int, t: int) -> None:
    """Account for *size* requests of core *c* that are outstanding from tick *t* on."""
    core, runs, shared = cores.core, cores.runs, cores.shared
    shared[FREE_RUNS] -= 1
    shared[RUNS_OUT] += 1
    runs[run, RUN_LEFT] = runs[run, RUN_SIZE] = size
    runs[run, RUN_LAST], runs[run, RUN_CORE], runs[run, RUN_HALF] = 0, c, half
    note_sent(core, c, LOADS if half >= 0 else MOVES, t)
    if half >= 0:
        core[c, OUT + half] += 1
    else:
        core[c, WRITES_OUT] += 1


@compiled
def _take_entry(tables: Tables, cores: Cores, c: int, q: int, move: int, size: int, run: int, t: int) -> int:
    """Create the entry that a MOVIN fills; returns its half (0 to 3 as in USED), -1 after a fault."""
    space, entry = tables.moves[move, MOVE_SPACE], tables.moves[move, MOVE_ENTRY]
    tile = cores.slot[q, SLOT_TILE]
    row = cores.slot[q, SLOT_PAD if space == 0 else SLOT_ACC]
    half = 2 * space + row % 2
    there = cores.pads[row, entry] if space == 0 else cores.sums[row, entry]
    if there != ABSENT:
        raise_fault(cores.core, c, tile, space, size, ALLOCATED_TWICE, t)
        return -1
    if not require_room(cores, tables.config, c, tile, half, size, t):
        return -1
    cores.core[c, HIGHEST + half] = max(cores.core[c, HIGHEST + half], entry + 1)
    valid = PENDING + run if size > 0 else NEVER
    if space == 0:
        cores.pads[row, entry] = valid
    else:
        cores.sums[row, entry], cores.bias[row, entry] = 0, valid
    return int(half)


@compiled
def _note_overtaking(tables: Tables, cores: Cores, c: int, q: int) -> None:
    """Note a store of the younger tile while the older one of its region has computes left."""
    slot, tiles = cores.slot, tables.tiles
    mine, older = slot[q, SLOT_TILE], slot[2 * c, SLOT_TILE]
    same = tiles[mine, TILE_LAYER] == tiles[older, TILE_LAYER]
    if same and tiles[mine, TILE_REGION] == tiles[older, TILE_REGION]:
        cores.tile_rows[mine, 7] += slot[2 * c, SLOT_RUN] < slot[2 * c, SLOT_RUN_STOP]


@compiled
def _lacks_room(tables: Tables, cores: Cores, network: Network, c: int) -> int:
    """Return 0, or what would not hold one more instruction's requests."""
    config, core, shared = tables.config, cores.core, cores.shared
    if shared[FREE_RUNS] == 0:
        return MORE_RUNS
    largest, capacity = config[LARGEST_MOVE], cores.fifo.shape[1]
    if config[SOURCES] == 1:
        merges = config[LANES] < config[CHANNELS]
        return MORE_RESPONSES if merges and shared[RESPONSES] + largest > network.responses.shape[1] else 0
    if core[c, FIFO_TAIL] + largest > capacity:
        head, size = core[c, FIFO_HEAD], core[c, FIFO_TAIL] - core[c, FIFO_HEAD]
        if size + largest > capacity:
            return MORE_FIFO
        for i in range(size):
            cores.fifo[c, i] = cores.fifo[c, head + i]
        core[c, FIFO_HEAD], core[c, FIFO_TAIL] = 0, size
    return 0
