"""The compiled simulation: its loop over events, and the promise that lets the network run ahead.

The network may advance as far as no answer of its own can let a core issue something new. How far that
is follows from the responses that the awaited entries still lack: a core receives at most one per port
and NoC tick, and none of those outstanding before the first tick in which an unserved request can answer.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import njit

from pantile.targets.systolic.kernel_core import (
    COMPUTE_HEAD,
    STORE_HEAD,
    begin_layer,
    core_event,
    head_of,
    issue_tick,
    next_event,
)
from pantile.targets.systolic.kernel_dram import earliest_response
from pantile.targets.systolic.kernel_network import advance_alone, advance_window, noc_tick_of
from pantile.targets.systolic.kernel_state import (
    CORE_PS,
    CORE_TICKS,
    CORE_WOKEN,
    CORES,
    DRAM_PS,
    DRAM_TICKS,
    FAR,
    FAULT,
    FINISHED,
    HOPPING,
    INEXACT,
    LANES,
    LAST_HAND_OVER,
    LAST_READ,
    LAST_WRITE,
    LAYER,
    LAYERS,
    NEVER,
    NEXT,
    NOC_PS,
    NOC_TICKS,
    OPTIONS,
    PAUSED,
    PENDING,
    QUEUED,
    RESIDENT,
    RESPONSES,
    RUN_LEFT,
    RUNS_OUT,
    SEEN,
    SLOT_ACC,
    SLOT_PAD,
    SLOT_RUN,
    SLOT_STORE,
    SOURCES,
    STAMP,
    STUCK,
    WOKEN,
    Array,
    Cores,
    Network,
    Tables,
    compiled,
    inlined,
)
from pantile.targets.systolic.kernel_terms import close_layer
from pantile.targets.systolic.stream import MOVE_ENTRY, RUN_FIRST, RUN_SECOND

_EVENTS_PER_CALL = 1 << 20  # then the interpreter gets a chance to notice an interruption


def build(stamp: int, *, cache: bool) -> Callable[..., int]:
    """Return the kernel, to be compiled when it is first called or read from the disk.

    Numba's cache knows only the file of the function itself; *stamp*, which stands for all files, is part
    of what it compares, and the kernel writes it into its state.

    Args:
        stamp: A number that changes with the text of anything that is compiled.
        cache: Keep the result on the disk, beside this file or in the user's cache folder.

    Raises:
        RuntimeError: If it is to be kept and neither place can be written.
    """

    @njit(cache=cache, **OPTIONS)  # type: ignore[untyped-decorator]  # Numba has no types
    def run(tables: Tables, cores: Cores, network: Network) -> int:
        config, core, shared = tables.config, cores.core, cores.shared
        shared[STAMP] = stamp
        if shared[LAYER] < 0:
            shared[LAYER] = 0
            if config[LAYERS] > 0:
                begin_layer(tables, cores, shared[LAYER], shared[LAYER])  # in tick 0, from core 0 on
        for _ in range(_EVENTS_PER_CALL):
            if shared[WOKEN]:
                _wake(tables, cores)
            c = _earliest(core)
            t = core[c, NEXT]
            if t >= FAR and shared[RUNS_OUT] == 0:
                return _finish(tables, cores) if shared[LAYER] == config[LAYERS] else STUCK
            if config[SOURCES] == 1:
                if advance_alone(cores, network, config, t):
                    continue
            elif shared[SEEN] < noc_tick_of(config, t):
                if shared[QUEUED] + shared[HOPPING] + shared[RESPONSES] > 0:
                    reason = advance_window(cores, network, config, _soonest(tables, cores))
                    if reason != 0:
                        return reason
                    continue
                shared[SEEN] = noc_tick_of(config, t)
            reason = core_event(tables, cores, network, c, t)
            if reason != 0:
                return reason
        return PAUSED

    kernel: Callable[..., int] = run
    return kernel


@inlined
def _earliest(core: Array) -> int:
    """Return the core whose next event comes first, of several the one with the lowest number."""
    first = 0
    for c in range(1, core.shape[0]):
        if core[c, NEXT] < core[first, NEXT]:
            first = c
    return first


@compiled
def _wake(tables: Tables, cores: Cores) -> None:
    """Compute the next events of cores whose entries became valid."""
    for c in range(tables.config[CORES]):
        if cores.core[c, CORE_WOKEN]:
            cores.core[c, CORE_WOKEN] = 0
            if not cores.core[c, FAULT]:
                cores.core[c, NEXT] = next_event(tables, cores, c)
    cores.shared[WOKEN] = 0


@compiled
def _soonest(tables: Tables, cores: Cores) -> int:
    """Return a core tick before which no core can issue anything."""
    config, slot = tables.config, cores.slot
    first = earliest_response(config, cores.shared[SEEN])
    soonest = FAR
    for c in range(config[CORES]):
        soonest = min(soonest, cores.core[c, NEXT])
        for q in range(2 * c, 2 * c + cores.core[c, RESIDENT]):
            if issue_tick(tables, cores, c, q) < FAR:
                continue
            head = head_of(slot, q)
            if head == COMPUTE_HEAD:
                run, pad = slot[q, SLOT_RUN], slot[q, SLOT_PAD]
                a, b = (
                    cores.pads[pad, tables.computes[run, RUN_FIRST]],
                    cores.pads[pad, tables.computes[run, RUN_SECOND]],
                )
            elif head == STORE_HEAD:
                entry, acc = tables.moves[slot[q, SLOT_STORE], MOVE_ENTRY], slot[q, SLOT_ACC]
                a, b = cores.sums[acc, entry], cores.bias[acc, entry]
            else:
                continue
            soonest = min(
                soonest,
                max(_not_valid_before(cores, config, a, first), _not_valid_before(cores, config, b, first)),
            )
    return soonest


@compiled
def _not_valid_before(cores: Cores, config: Array, valid: int, first: int) -> int:
    """Return a tick before which an entry is not valid, all responses before NoC tick *first* known."""
    if valid < FAR:
        return valid
    if valid >= NEVER:
        return FAR
    lanes = config[LANES]
    tick = first + (cores.runs[valid - PENDING, RUN_LEFT] + lanes - 1) // lanes
    return int(tick * config[NOC_PS] // config[CORE_PS] + 1)


@compiled
def _finish(tables: Tables, cores: Cores) -> int:
    """Close the accounts: the run ends with the last hand-over or the last write response."""
    config, shared = tables.config, cores.shared
    end = max(shared[LAST_HAND_OVER] * config[CORE_PS], shared[LAST_WRITE] * config[NOC_PS])
    shared[CORE_TICKS], shared[NOC_TICKS], shared[DRAM_TICKS] = (
        end // config[CORE_PS] + 1,
        end // config[NOC_PS] + 1,
        end // config[DRAM_PS] + 1,
    )
    if shared[LAST_READ] * config[NOC_PS] > end:
        return INEXACT
    if config[LAYERS] > 0:
        closed = close_layer(tables, cores, config[LAYERS] - 1, shared[CORE_TICKS] - 1, config[CORES])
        return FINISHED if closed else INEXACT
    return FINISHED
