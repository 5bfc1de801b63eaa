"""Compiled DRAM and response hop: from a channel to the core that asked, in closed form per packet.

Nothing holds a packet up except packets before it, so every hop is a recurrence over its packets. A
queue's head may leave in the tick after its predecessor; only a packet that entered an empty queue
waits for the latency.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pantile.targets.systolic.kernel_state import (
    ANSWER_REST,
    ANSWER_STEP,
    CHANNELS,
    CORE_PS,
    CORE_WOKEN,
    DRAM_LATENCY,
    DRAM_PS,
    DRAM_REST,
    DRAM_STEP,
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
    NOC_REST,
    OUT,
    OUT_END,
    PENDING,
    RECORD_START,
    RECORD_STOP,
    RESPONSES,
    RUN_CORE,
    RUN_ENTRY,
    RUN_HALF,
    RUN_LAST,
    RUN_LEFT,
    RUN_NEXT,
    RUN_OP,
    RUNS_OUT,
    WOKEN,
    WRITES_END,
    WRITES_OUT,
    compiled,
)
from pantile.targets.systolic.kernel_terms import note_answered

_RUN_BITS = 20  # a packet of the response hop is its tick and, in the low bits, its run
_RUN_MASK = (1 << _RUN_BITS) - 1


@intrinsic
def lowest_bit(context, mask):
    """Return the place of the lowest bit that is set in a 64-bit mask other than 0."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


@compiled
def dram_answers(config, y, pushed, phase, bound, seen, slack):
    """Let a channel take a request in NoC tick *y*; requests come in the order of their ticks.

    Takes and returns what is known of the channel: ``DRAM_PUSHED`` to ``DRAM_SLACK`` of its row.
    """
    noc_ps, dram_ps = config[NOC_PS], config[DRAM_PS]
    time = y * noc_ps
    if time < bound:
        # Busy: the response comes one DRAM tick after the last one.
        seen += config[DRAM_STEP]
        slack -= config[DRAM_REST]
        if slack < 0:
            slack += noc_ps
            seen += 1
        return pushed, phase, bound + dram_ps, seen, slack
    # At rest: the response comes its latency after the next DRAM tick.
    if y == pushed + 1:
        phase += config[NOC_REST]
        if phase >= dram_ps:
            phase -= dram_ps
    else:
        phase = time % dram_ps
    slack = phase - config[ANSWER_REST]
    seen = y + config[ANSWER_STEP]
    if slack < 0:
        slack += noc_ps
        seen += 1
    elif slack >= noc_ps:
        seen -= slack // noc_ps
        slack %= noc_ps
    return y, phase, time - phase + dram_ps, seen, slack


@compiled
def earliest_response(config, x):
    """Return the first NoC tick in which a request that leaves its hop in tick *x* or later can answer."""
    if x >= FAR:
        return FAR
    k = (x + 1) * config[NOC_PS] // config[DRAM_PS] + 1 + config[DRAM_LATENCY]
    return (k * config[DRAM_PS] + config[NOC_PS] - 1) // config[NOC_PS]


@compiled
def leave_alone(flow, at, z, latency):
    """Return when a response that enters the network in tick *z* leaves it, if its port serves one channel."""
    w = flow[at, FLOW_LAST]
    w = w + 1 if w >= z else z + latency
    flow[at, FLOW_LAST] = w
    return w


@compiled
def queue_response(flow, responses, lane, at, port, z, run, latency):
    """Queue a response that enters the network in tick *z* for a *port* that several channels share."""
    count = flow[at, FLOW_COUNT]
    responses[at, (flow[at, FLOW_HEAD] + count) & (responses.shape[1] - 1)] = z << _RUN_BITS | run
    flow[at, FLOW_COUNT] = count + 1
    lane[port, LANE_COUNT] += 1
    if count == 0:
        last = flow[at, FLOW_LAST]
        ready = last + 1 if last >= z else z + latency
        flow[at, FLOW_READY] = ready
        lane[port, LANE_NEXT] = min(lane[port, LANE_NEXT], ready)


@compiled
def merge_responses(cores, network, config, c, port, limit, pause):
    """Deliver the responses that leave for a port of core *c* before NoC tick *limit*.

    With *pause*, stops where a run is complete. Returns whether any run is.
    """
    flow, responses, row = network.flow, network.responses, network.lane[c * config[LANES] + port]
    lanes, low = config[LANES], responses.shape[1] - 1
    first = c * config[CHANNELS] + port
    sources = (config[CHANNELS] - port + lanes - 1) // lanes
    mask, pointer, tick = row[LANE_MASK], row[LANE_POINTER], row[LANE_TICK]
    soonest = row[LANE_NEXT]
    left = row[LANE_COUNT]
    complete = False
    while left > 0 and not (pause and complete):
        following = max(tick, soonest) if mask == 0 else tick
        if following >= limit:
            break
        tick = following
        if soonest <= tick:
            soonest = FAR
            for source in range(sources):
                at = first + source * lanes
                if flow[at, FLOW_COUNT] > 0 and not (mask >> source) & 1:
                    if flow[at, FLOW_READY] <= tick:
                        mask |= 1 << source
                    else:
                        soonest = min(soonest, flow[at, FLOW_READY])
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
            z = responses[at, flow[at, FLOW_HEAD] & low] >> _RUN_BITS
            if z > tick:
                mask &= ~(1 << source)
                flow[at, FLOW_READY] = z + config[NOC_LATENCY]
                soonest = min(soonest, flow[at, FLOW_READY])
        if answered(cores.runs, packet & _RUN_MASK, tick):
            complete_run(cores, config, packet & _RUN_MASK)
            complete = True
        tick += 1
    cores.shared[RESPONSES] -= row[LANE_COUNT] - left
    row[LANE_MASK], row[LANE_POINTER], row[LANE_TICK] = mask, pointer, tick
    row[LANE_NEXT], row[LANE_COUNT] = soonest, left
    return complete


@compiled
def answered(runs, run, w):
    """Account for a response that leaves its hop in tick *w*; returns whether it is the run's last."""
    runs[run, RUN_LAST] = max(runs[run, RUN_LAST], w)
    runs[run, RUN_LEFT] -= 1
    return runs[run, RUN_LEFT] == 0


@compiled
def complete_run(cores, config, run):
    """The last response of a run is known: its entry is valid, or its writes are done, from then on."""
    shared, core, runs = cores.shared, cores.core, cores.runs
    tick = runs[run, RUN_LAST] + 1
    t = tick * config[NOC_PS] // config[CORE_PS] + 1
    c, half, entry = runs[run, RUN_CORE], runs[run, RUN_HALF], runs[run, RUN_ENTRY]
    note_answered(core, c, MOVES, t)
    if half < 0:
        core[c, WRITES_OUT] -= 1
        core[c, WRITES_END] = max(core[c, WRITES_END], t)
        shared[LAST_WRITE] = max(shared[LAST_WRITE], tick)
    else:
        note_answered(core, c, LOADS, t)
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
