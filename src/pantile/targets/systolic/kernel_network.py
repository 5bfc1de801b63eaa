"""Compiled request hop: from the cores' FIFOs to the DRAM channels.

With one source, a request's way is known when it enters the FIFO. With several, the network advances
in windows so short that nothing answered in one can add requests to it; within a window every channel
is served by itself, because what arrives when is known and nothing holds anything up.
"""

from __future__ import annotations

import numpy as np

from pantile.targets.systolic.kernel_dram import (
    answered,
    complete_run,
    dram_answers,
    earliest_response,
    leave_alone,
    lowest_bit,
    merge_responses,
    queue_response,
)
from pantile.targets.systolic.kernel_state import (
    ARRIVED,
    CHANNEL_LANE,
    CHANNELS,
    CORE_PS,
    CORES,
    DRAM_BOUND,
    DRAM_PHASE,
    DRAM_PUSHED,
    DRAM_SEEN,
    DRAM_SENT,
    DRAM_SLACK,
    FAR,
    FIFO_BUSY,
    FIFO_BUSY_END,
    FIFO_HEAD,
    FIFO_LAST,
    FIFO_LEFT,
    FIFO_PORT,
    FIFO_RUN,
    FIFO_TAIL,
    FIFO_TICK,
    FLOW_COUNT,
    FREE_NODE,
    FREE_NODES,
    HOP_LAST,
    HOP_POINTER,
    HOP_READY,
    HOPPING,
    INJECT_NEXT,
    LANE_COUNT,
    LANES,
    MORE_NODES,
    MORE_RESPONSES,
    NODE_COUNT,
    NODE_NEXT,
    NODE_RUN,
    NOC_LATENCY,
    NOC_PS,
    PORTS,
    QUEUED,
    RESPONSES,
    RUN_CORE,
    RUN_NEXT,
    RUN_SIZE,
    RUN_SLOT,
    SEEN,
    SERVED,
    SOURCES,
    WAIT_COUNT,
    WAIT_HEAD,
    WINDOW,
    WORDS,
    compiled,
)

_SOURCE_BITS = 16  # of a source packed behind a tick, or of a source and a run behind a tick of the window
_RUN_BITS = 24
_LOW_RUN = (1 << _RUN_BITS) - 1
_LOW_SOURCE = (1 << _SOURCE_BITS) - 1


@compiled
def noc_tick_of(config, t):
    """Return the first NoC tick that sees what core tick *t* did."""
    if t >= FAR:
        return FAR
    return (t * config[CORE_PS] + config[NOC_PS] - 1) // config[NOC_PS]


@compiled
def send(cores, network, config, run, t):
    """Put the requests of *run*, whose channels stand at its core's FIFO tail, into the FIFO in tick *t*."""
    core, runs = cores.core, cores.runs
    c, size = runs[run, RUN_CORE], runs[run, RUN_SIZE]
    slot = max(core[c, INJECT_NEXT], noc_tick_of(config, t) * config[PORTS])
    core[c, INJECT_NEXT] = slot + size
    runs[run, RUN_SLOT] = slot
    last = (slot + size - 1) // config[PORTS]
    end = last * config[NOC_PS] // config[CORE_PS] + 1
    core[c, FIFO_BUSY] += end - max(t, core[c, FIFO_BUSY_END])
    core[c, FIFO_BUSY_END] = end
    if config[SOURCES] == 1:
        _send_alone(cores, network, config, run)
        return
    cores.shared[QUEUED] += size
    core[c, FIFO_TAIL] += size
    runs[run, RUN_NEXT] = -1
    if core[c, FIFO_RUN] < 0:
        core[c, FIFO_RUN] = run
        _front(core, runs, c, run, config)
    else:
        runs[core[c, FIFO_LAST], RUN_NEXT] = run
    core[c, FIFO_LAST] = run


@compiled
def _front(core, runs, c, run, config):
    core[c, FIFO_LEFT] = runs[run, RUN_SIZE]
    core[c, FIFO_TICK] = runs[run, RUN_SLOT] // config[PORTS]
    core[c, FIFO_PORT] = runs[run, RUN_SLOT] % config[PORTS]


@compiled
def _send_alone(cores, network, config, run):
    """The whole way to the response hop, where no other port competes."""
    channel, flow, fifo, runs = network.channel, network.flow, cores.fifo, cores.runs
    responses, lane = network.responses, network.lane
    latency, first, size = config[NOC_LATENCY], runs[run, RUN_SLOT], runs[run, RUN_SIZE]
    merges = config[LANES] < config[CHANNELS]
    for i in range(size):
        d = np.int64(fifo[0, i])
        x = first + i
        left = channel[d, HOP_LAST]
        left = left + 1 if left >= x else x + latency
        channel[d, HOP_LAST] = left
        channel[d, SERVED] += 1
        pushed, phase, bound, seen, slack = dram_answers(
            config,
            left + 1,
            channel[d, DRAM_PUSHED],
            channel[d, DRAM_PHASE],
            channel[d, DRAM_BOUND],
            channel[d, DRAM_SEEN],
            channel[d, DRAM_SLACK],
        )
        channel[d, DRAM_PUSHED], channel[d, DRAM_PHASE], channel[d, DRAM_BOUND] = pushed, phase, bound
        channel[d, DRAM_SEEN], channel[d, DRAM_SLACK] = seen, slack
        z = max(seen, channel[d, DRAM_SENT] + 1)
        channel[d, DRAM_SENT] = z
        if merges:
            queue_response(flow, responses, lane, d, channel[d, CHANNEL_LANE], z, run, latency)
        elif answered(runs, run, leave_alone(flow, d, z, latency)):
            complete_run(cores, config, run)
    if merges:
        cores.shared[RESPONSES] += size


@compiled
def advance_alone(cores, network, config, t):
    """Merge responses that a core may see by tick *t*, up to one that completes a run; whether one did."""
    if cores.shared[RESPONSES] == 0:
        return False
    for c in range(config[CORES]):
        for port in range(config[LANES]):  # one of each
            return merge_responses(cores, network, config, c, port, noc_tick_of(config, t) - 1, True)
    return False


@compiled
def advance_window(cores, network, config, soonest):
    """Advance both hops by one window.

    Args:
        cores: The cores.
        network: The network.
        config: Of :class:`Tables`.
        soonest: Core tick before which no core can issue anything.

    Returns:
        0, or why there is no room for what the window may bring.
    """
    shared = cores.shared
    start, stop = shared[SEEN], noc_tick_of(config, soonest + 1)
    if shared[HOPPING] == 0 and shared[QUEUED] > 0:
        next_tick = FAR
        for c in range(config[CORES]):
            if cores.core[c, FIFO_RUN] >= 0:
                next_tick = min(next_tick, cores.core[c, FIFO_TICK])
        start = max(start, next_tick)
    if shared[HOPPING] + shared[QUEUED] > 0:
        stop = min(stop, start + config[WINDOW])
        if start < stop:
            reason = _lacks_room(cores, network, config, stop - start)
            if reason != 0:
                return reason
            _inject(cores, network, config, start, stop)
            for d in range(config[CHANNELS]):
                _serve(cores, network, config, d, start, stop)
    shared[SEEN] = stop
    if shared[RESPONSES] > 0:
        limit = earliest_response(config, stop)
        for c in range(config[CORES]):
            for port in range(config[LANES]):
                if network.lane[c * config[LANES] + port, LANE_COUNT] > 0:
                    merge_responses(cores, network, config, c, port, limit, False)
    return 0


@compiled
def _lacks_room(cores, network, config, ticks):
    if cores.shared[FREE_NODES] < ticks * config[SOURCES]:
        return MORE_NODES
    if config[LANES] < config[CHANNELS]:
        longest = 0
        for at in range(network.flow.shape[0]):
            longest = max(longest, network.flow[at, FLOW_COUNT])
        if longest + ticks > network.responses.shape[1]:
            return MORE_RESPONSES
    return 0


@compiled
def _inject(cores, network, config, start, stop):
    """List, by channel, what every port injects in NoC ticks from *start* to before *stop*."""
    core, runs, fifo = cores.core, cores.runs, cores.fifo
    ports, arrivals, channel = config[PORTS], network.arrivals, network.channel
    injected = 0
    for x in range(start, stop):
        for c in range(config[CORES]):
            while core[c, FIFO_RUN] >= 0 and core[c, FIFO_TICK] == x:
                run, head, port = core[c, FIFO_RUN], core[c, FIFO_HEAD], core[c, FIFO_PORT]
                size = min(core[c, FIFO_LEFT], ports - port)
                key = ((x - start) << _SOURCE_BITS | c * ports + port) << _RUN_BITS | run
                for i in range(size):
                    d = fifo[c, head + i]
                    arrivals[d, channel[d, ARRIVED]] = key + (i << _RUN_BITS)
                    channel[d, ARRIVED] += 1
                injected += size
                core[c, FIFO_HEAD] = head + size
                core[c, FIFO_LEFT] -= size
                core[c, FIFO_PORT] = port + size
                if core[c, FIFO_PORT] == ports:
                    core[c, FIFO_TICK] += 1
                    core[c, FIFO_PORT] = 0
                if core[c, FIFO_LEFT] == 0:
                    core[c, FIFO_RUN] = runs[run, RUN_NEXT]
                    if core[c, FIFO_RUN] >= 0:
                        _front(core, runs, c, core[c, FIFO_RUN], config)
    cores.shared[QUEUED] -= injected
    cores.shared[HOPPING] += injected


@compiled
def _serve(cores, network, config, d, start, stop):
    """Let one channel take a request per NoC tick, round robin over sources, from *start* to *stop*."""
    channel, arrivals, waiting = network.channel, network.arrivals, network.waiting
    flow, responses, lane, runs = network.flow, network.responses, network.lane, cores.runs
    channels, lanes, port = config[CHANNELS], config[LANES], channel[d, CHANNEL_LANE]
    shared, mask = cores.shared, network.mask
    heads, tails, nodes = network.heads, network.tails, network.nodes
    merges = lanes < channels
    words, sources, latency = config[WORDS], config[SOURCES], config[NOC_LATENCY]
    arrived, taken, served = channel[d, ARRIVED], 0, 0
    ready, pointer = channel[d, HOP_READY], channel[d, HOP_POINTER]
    wait_head, wait_count = channel[d, WAIT_HEAD], channel[d, WAIT_COUNT]
    pushed, phase, bound = channel[d, DRAM_PUSHED], channel[d, DRAM_PHASE], channel[d, DRAM_BOUND]
    seen, slack, sent = channel[d, DRAM_SEEN], channel[d, DRAM_SLACK], channel[d, DRAM_SENT]
    arrival = start + (arrivals[d, 0] >> (_SOURCE_BITS + _RUN_BITS)) if arrived > 0 else FAR
    x = start
    while True:
        if ready == 0:
            soonest = arrival
            if wait_count > 0:
                soonest = min(soonest, waiting[d, wait_head] >> _SOURCE_BITS)
            x = max(x, soonest)
        if x >= stop:
            break
        while arrival <= x:
            if _enqueue(shared, heads, tails, nodes, d * sources, arrivals[d, taken]):
                last = wait_head + wait_count
                source = (arrivals[d, taken] >> _RUN_BITS) & _LOW_SOURCE
                waiting[d, last - sources if last >= sources else last] = (
                    arrival + latency
                ) << _SOURCE_BITS | source
                wait_count += 1
            taken += 1
            arrival = FAR
            if taken < arrived:
                arrival = start + (arrivals[d, taken] >> (_SOURCE_BITS + _RUN_BITS))
        while wait_count > 0 and waiting[d, wait_head] >> _SOURCE_BITS <= x:
            source = waiting[d, wait_head] & _LOW_SOURCE
            mask[d * words + (source >> 6)] |= 1 << (source & 63)
            ready += 1
            wait_count -= 1
            wait_head = wait_head + 1 if wait_head + 1 < sources else 0
        if ready == 0:
            continue
        source = _next_source(mask, d * words, words, pointer)
        pointer = source + 1 if source + 1 < sources else 0
        run = _dequeue(shared, heads, nodes, d * sources + source)
        if heads[d * sources + source] < 0:
            mask[d * words + (source >> 6)] &= ~(1 << (source & 63))
            ready -= 1
        served += 1
        pushed, phase, bound, seen, slack = dram_answers(config, x + 1, pushed, phase, bound, seen, slack)
        sent = max(seen, sent + 1)
        c = runs[run, RUN_CORE]
        if merges:
            queue_response(flow, responses, lane, c * channels + d, c * lanes + port, sent, run, latency)
        elif answered(runs, run, leave_alone(flow, c * channels + d, sent, latency)):
            complete_run(cores, config, run)
        x += 1
    channel[d, DRAM_PUSHED], channel[d, DRAM_PHASE], channel[d, DRAM_BOUND] = pushed, phase, bound
    channel[d, DRAM_SEEN], channel[d, DRAM_SLACK], channel[d, DRAM_SENT] = seen, slack, sent
    channel[d, HOP_READY], channel[d, HOP_POINTER] = ready, pointer
    channel[d, WAIT_HEAD], channel[d, WAIT_COUNT] = wait_head, wait_count
    channel[d, ARRIVED] = 0
    channel[d, SERVED] += served
    cores.shared[HOPPING] -= served
    if merges:
        cores.shared[RESPONSES] += served


@compiled
def _enqueue(shared, heads, tails, nodes, first, arrival):
    """Append an arrival to its queue; returns whether the queue was empty."""
    queue, run = first + ((arrival >> _RUN_BITS) & _LOW_SOURCE), arrival & _LOW_RUN
    empty = heads[queue] < 0
    if not empty and nodes[tails[queue], NODE_RUN] == run:
        nodes[tails[queue], NODE_COUNT] += 1
        return False
    node = shared[FREE_NODE]
    shared[FREE_NODE] = nodes[node, NODE_NEXT]
    shared[FREE_NODES] -= 1
    nodes[node, NODE_RUN], nodes[node, NODE_COUNT], nodes[node, NODE_NEXT] = run, 1, -1
    if empty:
        heads[queue] = node
    else:
        nodes[tails[queue], NODE_NEXT] = node
    tails[queue] = node
    return empty


@compiled
def _dequeue(shared, heads, nodes, queue):
    """Take the head of a queue; returns its run."""
    node = heads[queue]
    nodes[node, NODE_COUNT] -= 1
    if nodes[node, NODE_COUNT] == 0:
        heads[queue] = nodes[node, NODE_NEXT]
        nodes[node, NODE_NEXT] = shared[FREE_NODE]
        shared[FREE_NODE] = node
        shared[FREE_NODES] += 1
    return np.int64(nodes[node, NODE_RUN])


@compiled
def _next_source(mask, first, words, pointer):
    """Return the first source from *pointer* on, around the end, whose bit is set; one is."""
    word = pointer >> 6
    bits = mask[first + word] & (-1 << (pointer & 63))
    while bits == 0:
        word = word + 1 if word + 1 < words else 0
        bits = mask[first + word]
    return word * 64 + lowest_bit(bits)
