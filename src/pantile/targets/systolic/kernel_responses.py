"""Compiled response hop: from the DRAM channels back to the cores, and what a complete answer sets free.

Nothing holds a packet up except packets before it, so every hop is a recurrence over its packets. A
queue's head may leave in the tick after its predecessor; only a packet that entered an empty queue
waits for the latency.
"""

from __future__ import annotations

from pantile.targets.systolic.kernel_bits import lowest_bit
from pantile.targets.systolic.kernel_state import (
    CHANNELS,
    CORE_PS,
    CORE_WOKEN,
    FAR,
    FLOW_COUNT,
    FLOW_HEAD,
    FLOW_LAST,
    FLOW_READY,
    FREE_RUN,
    FREE_RUNS,
    LANE_COUNT,
    LANE_MASK,
    LANE_NEXT,
    LANE_POINTER,
    LANE_TICK,
    LANES,
    LAST_READ,
    LAST_WRITE,
    LOADS,
    MOVES,
    NOC_LATENCY,
    NOC_PS,
    OUT,
    OUT_END,
    PENDING,
    RECORD_START,
    RECORD_STOP,
    RESPONSES,
    RUN_BITS,
    RUN_CORE,
    RUN_ENTRY,
    RUN_HALF,
    RUN_LAST,
    RUN_LEFT,
    RUN_LIMIT,
    RUN_NEXT,
    RUN_OP,
    RUNS_OUT,
    SOURCES,
    WOKEN,
    WRITES_END,
    WRITES_OUT,
    Array,
    Cores,
    Network,
    compiled,
    inlined,
)
from pantile.targets.systolic.kernel_terms import note_answered

_LOW_RUN = RUN_LIMIT - 1


@inlined
def leave_alone(flow: Array, at: int, z: int, latency: int) -> int:
    """Return when a response that enters in tick *z* leaves, where its port serves one channel."""
    w = flow[at, FLOW_LAST]
    w = w + 1 if w >= z else z + latency
    flow[at, FLOW_LAST] = w
    return w


@inlined
def queue_response(
    flow: Array, responses: Array, lane: Array, at: int, port: int, z: int, run: int, latency: int
) -> None:
    """Queue a response that enters the network in tick *z* for a *port* that several channels share."""
    count = flow[at, FLOW_COUNT]
    responses[at, (flow[at, FLOW_HEAD] + count) & (responses.shape[1] - 1)] = z << RUN_BITS | run
    flow[at, FLOW_COUNT] = count + 1
    lane[port, LANE_COUNT] += 1
    if count == 0:
        last = flow[at, FLOW_LAST]
        ready = last + 1 if last >= z else z + latency
        flow[at, FLOW_READY] = ready
        lane[port, LANE_NEXT] = min(lane[port, LANE_NEXT], ready)


@compiled
def merge_responses(cores: Cores, network: Network, config: Array, c: int, port: int, limit: int) -> bool:
    """Deliver the responses that leave for a port of core *c* before NoC tick *limit*.

    Returns whether any run is complete. Where there is one source only, stops at the first such run,
    because the core may react to it.
    """
    flow, responses, row = network.flow, network.responses, network.lane[c * config[LANES] + port]
    lanes, low = config[LANES], responses.shape[1] - 1
    first = c * config[CHANNELS] + port
    sources = (config[CHANNELS] - port + lanes - 1) // lanes
    mask, pointer, tick = row[LANE_MASK], row[LANE_POINTER], row[LANE_TICK]
    soonest = row[LANE_NEXT]
    left = row[LANE_COUNT]
    complete, alone = False, config[SOURCES] == 1
    while left > 0 and not (alone and complete):
        following = max(tick, soonest) if mask == 0 else tick
        if following >= limit:
            break
        tick = following
        if soonest <= tick:
            mask, soonest = _competing(flow, first, lanes, sources, mask, tick)
        ahead = mask & (-1 << pointer)
        source = lowest_bit(ahead if ahead != 0 else mask)
        pointer = source + 1 if source + 1 < sources else 0
        at = first + source * lanes
        packet = responses[at, flow[at, FLOW_HEAD] & low]
        flow[at, FLOW_HEAD] += 1
        flow[at, FLOW_COUNT] -= 1
        flow[at, FLOW_LAST] = tick
        left -= 1
        if flow[at, FLOW_COUNT] == 0:
            mask &= ~(1 << source)
        else:
            z = responses[at, flow[at, FLOW_HEAD] & low] >> RUN_BITS
            if z > tick:
                mask &= ~(1 << source)
                flow[at, FLOW_READY] = z + config[NOC_LATENCY]
                soonest = min(soonest, flow[at, FLOW_READY])
        if answered(cores.runs, packet & _LOW_RUN, tick):
            complete_run(cores, config, packet & _LOW_RUN)
            complete = True
        tick += 1
    cores.shared[RESPONSES] -= row[LANE_COUNT] - left
    row[LANE_MASK], row[LANE_POINTER], row[LANE_TICK] = mask, pointer, tick
    row[LANE_NEXT], row[LANE_COUNT] = soonest, left
    return complete


@inlined
def _competing(flow: Array, first: int, lanes: int, sources: int, mask: int, tick: int) -> tuple[int, int]:
    """Return *mask* with the sources whose head may leave in *tick*, and when the next of the others may."""
    soonest = FAR
    for source in range(sources):
        at = first + source * lanes
        if flow[at, FLOW_COUNT] > 0 and not (mask >> source) & 1:
            if flow[at, FLOW_READY] <= tick:
                mask |= 1 << source
            else:
                soonest = min(soonest, flow[at, FLOW_READY])
    return mask, soonest


@inlined
def answered(runs: Array, run: int, w: int) -> bool:
    """Account for a response that leaves its hop in tick *w*; returns whether it is the run's last."""
    runs[run, RUN_LAST] = max(runs[run, RUN_LAST], w)
    runs[run, RUN_LEFT] -= 1
    return bool(runs[run, RUN_LEFT] == 0)


@compiled
def complete_run(cores: Cores, config: Array, run: int) -> None:
    """The last response of a run is known: its entry is valid, or its writes are done, from then on."""
    shared, core, runs = cores.shared, cores.core, cores.runs
    tick = runs[run, RUN_LAST] + 1
    t = tick * config[NOC_PS] // config[CORE_PS] + 1
    c, half, entry = runs[run, RUN_CORE], runs[run, RUN_HALF], runs[run, RUN_ENTRY]
    note_answered(core, c, LOADS if half >= 0 else MOVES, t)
    if half < 0:
        core[c, WRITES_OUT] -= 1
        core[c, WRITES_END] = max(core[c, WRITES_END], t)
        shared[LAST_WRITE] = max(shared[LAST_WRITE], tick)
    else:
        core[c, OUT + half] -= 1
        core[c, OUT_END + half] = max(core[c, OUT_END + half], t)
        shared[LAST_READ] = max(shared[LAST_READ], tick)
        valid = cores.pads if half < 2 else cores.bias
        if valid[2 * c + half % 2, entry] == PENDING + run:
            valid[2 * c + half % 2, entry] = t
        core[c, CORE_WOKEN] = shared[WOKEN] = 1
    at = runs[run, RUN_OP] - config[RECORD_START]
    if at >= 0 and runs[run, RUN_OP] < config[RECORD_STOP]:
        cores.times[at, 3] = t
    shared[RUNS_OUT] -= 1
    runs[run, RUN_NEXT] = shared[FREE_RUN]
    shared[FREE_RUN] = run
    shared[FREE_RUNS] += 1
