"""Compiled request hop: from the cores' FIFOs to the DRAM channels.

With one source, a request's way is known when it enters the FIFO. With several, the network advances
in windows so short that nothing answered in one can add requests to it; within a window every channel
is served by itself, because what arrives when is known and nothing holds anything up.
"""

from __future__ import annotations

import numpy as np

from pantile.targets.systolic.kernel_bits import lowest_bit
from pantile.targets.systolic.kernel_dram import dram_answers, earliest_response, load_dram, store_dram
from pantile.targets.systolic.kernel_responses import (
    answered,
    complete_run,
    leave_alone,
    merge_responses,
    queue_response,
)
from pantile.targets.systolic.kernel_state import (
    ARRIVED,
    CHANNEL_LANE,
    CHANNELS,
    COME,
    CORE_PS,
    CORES,
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
    NOC_LATENCY,
    NOC_PS,
    NODE_COUNT,
    NODE_NEXT,
    NODE_RUN,
    PORTS,
    QUEUED,
    RESPONSES,
    RUN_BITS,
    RUN_CORE,
    RUN_LIMIT,
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
    Array,
    Cores,
    Indices,
    Network,
    compiled,
    inlined,
)

_SENT = 5  # of what is known of a channel
_SOURCE_BITS = 16  # of a source packed behind a tick, or of a source and a run behind a tick of the window
_LOW_RUN = RUN_LIMIT - 1
_LOW_SOURCE = (1 << _SOURCE_BITS) - 1


@inlined
def noc_tick_of(config: Array, t: int) -> int:
    """Return the first NoC tick that sees what core tick *t* did."""
    if t >= FAR:
        return FAR
    return int((t * config[CORE_PS] + config[NOC_PS] - 1) // config[NOC_PS])


@inlined
def send(cores: Cores, network: Network, config: Array, run: int, t: int) -> None:
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
    else:
        _append(cores, config, c, run)


@compiled
def _append(cores: Cores, config: Array, c: int, run: int) -> None:
    core, runs = cores.core, cores.runs
    cores.shared[QUEUED] += runs[run, RUN_SIZE]
    core[c, FIFO_TAIL] += runs[run, RUN_SIZE]
    runs[run, RUN_NEXT] = -1
    if core[c, FIFO_RUN] < 0:
        core[c, FIFO_RUN] = run
        _front(core, runs, c, run, config)
    else:
        runs[core[c, FIFO_LAST], RUN_NEXT] = run
    core[c, FIFO_LAST] = run


@inlined
def _front(core: Array, runs: Array, c: int, run: int, config: Array) -> None:
    core[c, FIFO_LEFT] = runs[run, RUN_SIZE]
    core[c, FIFO_TICK] = runs[run, RUN_SLOT] // config[PORTS]
    core[c, FIFO_PORT] = runs[run, RUN_SLOT] % config[PORTS]


@compiled
def _send_alone(cores: Cores, network: Network, config: Array, run: int) -> None:
    """The whole way to the response hop, where no other port competes."""
    channel, flow, fifo, runs = network.channel, network.flow, cores.fifo, cores.runs
    responses, lane = network.responses, network.lane
    latency, first, size = config[NOC_LATENCY], runs[run, RUN_SLOT], runs[run, RUN_SIZE]
    merges = config[LANES] < config[CHANNELS]
    for i in range(size):
        d = int(np.int64(fifo[0, i]))  # unsigned numbers would not mix with the others
        x = first + i
        left = channel[d, HOP_LAST]
        left = left + 1 if left >= x else x + latency
        channel[d, HOP_LAST] = left
        channel[d, SERVED] += 1
        state = dram_answers(config, left + 1, load_dram(channel, d))
        store_dram(channel, d, state)
        z = state[_SENT]
        if merges:
            queue_response(flow, responses, lane, d, channel[d, CHANNEL_LANE], z, run, latency)
        elif answered(runs, run, leave_alone(flow, d, z, latency)):
            complete_run(cores, config, run)
    if merges:
        cores.shared[RESPONSES] += size


@inlined
def advance_alone(cores: Cores, network: Network, config: Array, t: int) -> bool:
    """Merge responses that a core may see by tick *t*, up to one that completes a run; whether one did."""
    if cores.shared[RESPONSES] == 0:
        return False
    only_core, only_port = config[CORES] - 1, config[PORTS] - 1
    return merge_responses(cores, network, config, only_core, only_port, noc_tick_of(config, t) - 1)


@compiled
def advance_window(cores: Cores, network: Network, config: Array, soonest: int) -> int:
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
                    merge_responses(cores, network, config, c, port, limit)
    return 0


@compiled
def _lacks_room(cores: Cores, network: Network, config: Array, ticks: int) -> int:
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
def _inject(cores: Cores, network: Network, config: Array, start: int, stop: int) -> None:
    """List, by channel, what every port injects in NoC ticks from *start* to before *stop*."""
    core, runs, fifo = cores.core, cores.runs, cores.fifo
    ports, arrivals, channel = config[PORTS], network.arrivals, network.channel
    injected = 0
    for x in range(start, stop):
        for c in range(config[CORES]):
            while core[c, FIFO_RUN] >= 0 and core[c, FIFO_TICK] == x:
                run, head, port = core[c, FIFO_RUN], core[c, FIFO_HEAD], core[c, FIFO_PORT]
                size = min(core[c, FIFO_LEFT], ports - port)
                key = ((x - start) << _SOURCE_BITS | c * ports + port) << RUN_BITS | run
                for i in range(size):
                    d = fifo[c, head + i]
                    arrivals[d, channel[d, ARRIVED]] = key + (i << RUN_BITS)
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
def _serve(cores: Cores, network: Network, config: Array, d: int, start: int, stop: int) -> None:
    """Let channel *d* take a request per NoC tick, round robin over sources, from *start* to *stop*."""
    shared, runs, channel, mask = cores.shared, cores.runs, network.channel, network.mask
    flow, responses, lane, heads = network.flow, network.responses, network.lane, network.heads
    channels, lanes, port = config[CHANNELS], config[LANES], channel[d, CHANNEL_LANE]
    words, sources, latency = config[WORDS], config[SOURCES], config[NOC_LATENCY]
    merges, served, state = lanes < channels, 0, load_dram(channel, d)
    x, arrival = start, _arrival(network, d, start)
    while True:
        if channel[d, HOP_READY] == 0:
            x = max(x, min(arrival, _wait_ends(network, d)))
        if x >= stop:
            break
        while arrival <= x:
            _let_arrive(shared, network, config, d, arrival + latency)
            arrival = _arrival(network, d, start)
        while _wait_ends(network, d) <= x:
            _end_wait(network, d, words, sources)
        if channel[d, HOP_READY] == 0:
            continue
        source = _next_source(mask, d * words, words, channel[d, HOP_POINTER])
        channel[d, HOP_POINTER] = source + 1 if source + 1 < sources else 0
        run = _dequeue(shared, heads, network.nodes, d * sources + source)
        if heads[d * sources + source] < 0:
            mask[d * words + (source >> 6)] &= ~(1 << (source & 63))
            channel[d, HOP_READY] -= 1
        served += 1
        state = dram_answers(config, x + 1, state)
        z, c = state[_SENT], runs[run, RUN_CORE]
        if merges:
            queue_response(flow, responses, lane, c * channels + d, c * lanes + port, z, run, latency)
        elif answered(runs, run, leave_alone(flow, c * channels + d, z, latency)):
            complete_run(cores, config, run)
        x += 1
    store_dram(channel, d, state)
    channel[d, ARRIVED] = channel[d, COME] = 0
    channel[d, SERVED] += served
    shared[HOPPING] -= served
    if merges:
        shared[RESPONSES] += served


@inlined
def _arrival(network: Network, d: int, start: int) -> int:
    """Return the tick of the window's next arrival at channel *d*; FAR if there is none."""
    come = network.channel[d, COME]
    if come == network.channel[d, ARRIVED]:
        return FAR
    return int(start + (network.arrivals[d, come] >> (_SOURCE_BITS + RUN_BITS)))


@inlined
def _wait_ends(network: Network, d: int) -> int:
    """Return the tick in which the next source under way to channel *d* is ready; FAR if there is none."""
    if network.channel[d, WAIT_COUNT] == 0:
        return FAR
    return int(network.waiting[d, network.channel[d, WAIT_HEAD]] >> _SOURCE_BITS)


@inlined
def _let_arrive(shared: Array, network: Network, config: Array, d: int, ready: int) -> None:
    """Queue channel *d*'s next arrival; a source whose queue was empty is ready in tick *ready*."""
    channel, sources = network.channel, config[SOURCES]
    arrival = network.arrivals[d, channel[d, COME]]
    channel[d, COME] += 1
    if _enqueue(shared, network.heads, network.tails, network.nodes, d * sources, arrival):
        at = channel[d, WAIT_HEAD] + channel[d, WAIT_COUNT]
        source = (arrival >> RUN_BITS) & _LOW_SOURCE
        network.waiting[d, at - sources if at >= sources else at] = ready << _SOURCE_BITS | source
        channel[d, WAIT_COUNT] += 1


@inlined
def _end_wait(network: Network, d: int, words: int, sources: int) -> None:
    """Let the source that has waited longest compete for channel *d*."""
    channel = network.channel
    source = network.waiting[d, channel[d, WAIT_HEAD]] & _LOW_SOURCE
    network.mask[d * words + (source >> 6)] |= 1 << (source & 63)
    channel[d, HOP_READY] += 1
    channel[d, WAIT_COUNT] -= 1
    channel[d, WAIT_HEAD] = channel[d, WAIT_HEAD] + 1 if channel[d, WAIT_HEAD] + 1 < sources else 0


@inlined
def _enqueue(shared: Array, heads: Indices, tails: Indices, nodes: Indices, first: int, arrival: int) -> bool:
    """Append an arrival to its queue; returns whether the queue was empty."""
    queue, run = first + ((arrival >> RUN_BITS) & _LOW_SOURCE), arrival & _LOW_RUN
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
    return bool(empty)


@inlined
def _dequeue(shared: Array, heads: Indices, nodes: Indices, queue: int) -> int:
    """Take the head of a queue; returns its run."""
    node = heads[queue]
    nodes[node, NODE_COUNT] -= 1
    if nodes[node, NODE_COUNT] == 0:
        heads[queue] = nodes[node, NODE_NEXT]
        nodes[node, NODE_NEXT] = shared[FREE_NODE]
        shared[FREE_NODE] = node
        shared[FREE_NODES] += 1
    return int(np.int64(nodes[node, NODE_RUN]))


@inlined
def _next_source(mask: Array, first: int, words: int, pointer: int) -> int:
    """Return the first source from *pointer* on, around the end, whose bit is set; one is."""
    word = pointer >> 6
    bits = mask[first + word] & (-1 << (pointer & 63))
    while bits == 0:
        word = word + 1 if word + 1 < words else 0
        bits = mask[first + word]
    return int(word * 64 + lowest_bit(bits))
