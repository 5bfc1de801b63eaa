"""The exact simulation, tick by tick: runs small programs, records requests, and is the fast form's oracle.

Source: onnxim-model.md sections 5 to 11. DRAM and network are parts behind an interface.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from pantile.targets.systolic import faults
from pantile.targets.systolic.core import Core
from pantile.targets.systolic.dram import Dram, Request, SimpleDram
from pantile.targets.systolic.network import Network, SimpleNetwork
from pantile.targets.systolic.result import CORE, OPERATION, REQUEST, TILE, SystolicResult
from pantile.targets.systolic.stream import LAYER_TILE_START, LAYER_TILE_STOP, TILE_CORE, TILE_KIND, Stream

if TYPE_CHECKING:
    from pantile.targets.systolic.config import SystolicConfig

_PATIENCE = 4  # core ticks without any event after which nothing can happen any more


class _Layers:
    """Hands the tiles of one layer after the other to the cores' queues (section 5)."""

    def __init__(self, stream: Stream, cores: int) -> None:
        self._stream, self._cores = stream, cores
        self.queues: list[deque[int]] = [deque() for _ in range(cores)]
        self.start: list[int] = []
        self.finish: list[int] = []
        self._remaining = self._skipped = 0

    def begin_next(self, cycle: int) -> None:
        """Distribute the tiles of the next layer, if there is one."""
        layer = len(self.start)
        if layer == len(self._stream.layers):
            return
        self.start.append(cycle)
        rows = self._stream.layers[layer]
        for position in range(rows[LAYER_TILE_START], rows[LAYER_TILE_STOP]):
            tile = self._stream.tiles[position]
            if tile[TILE_KIND] < 0:
                core = self._skipped % self._cores
                self._skipped += 1
            else:
                core = (int(tile[TILE_CORE]) + layer + 1) % self._cores
            self.queues[core].append(position)
        self._remaining = int(rows[LAYER_TILE_STOP] - rows[LAYER_TILE_START])

    def take_finished(self, cycle: int) -> None:
        """Account for one finished tile; the layer's last one starts the next layer."""
        self._remaining -= 1
        if not self._remaining:
            self.finish.append(cycle)
            self.begin_next(cycle)

    @property
    def pending(self) -> bool:
        """Whether a layer has not finished."""
        return len(self.finish) < len(self._stream.layers)


def simulate_plain(
    stream: Stream,
    config: SystolicConfig,
    *,
    record: range | None = None,
    requests: bool = False,
    dram: Dram | None = None,
    network: Network | None = None,
) -> SystolicResult:
    """Run *stream* tick by tick.

    Args:
        stream: What runs.
        config: The machine.
        record: Instruction numbers whose times are recorded.
        requests: Record every memory request.
        dram: Another DRAM model than the simple one.
        network: Another network model than the simple one.

    Raises:
        ProgramError: If a block does not fit, is loaded twice, or the run never ends.
    """
    window = record or range(0)
    times = np.full(len(window), -1, OPERATION)
    cores = [Core(at, stream, config, times, window.start) for at in range(config.cores)]
    layers = _Layers(stream, config.cores)
    dram = dram or SimpleDram(config.channels, config.dram_latency)
    network = network or SimpleNetwork(config.cores * config.ports + config.channels, config.noc_latency)
    served = [0] * config.channels
    clocks = [0, 0, 0]
    periods = (config.core_ps, config.dram_ps, config.noc_ps)
    core_ticks = quiet = 0
    while core_ticks == 0 or layers.pending or any(core.is_running() for core in cores):
        now = min(clocks)
        if clocks[0] <= now:
            if core_ticks == 0:
                layers.begin_next(0)
            progress = _tick_cores(cores, layers, core_ticks)
            core_ticks += 1
            quiet = 0 if progress or _in_flight(cores) else quiet + 1
            if quiet > _PATIENCE:
                stuck = next(tile for core in cores for tile in core.tiles)
                faults.never_ends(stuck.layer, stuck.position)
        if clocks[1] <= now:
            dram.tick()
        if clocks[2] <= now:
            _tick_network(cores, network, dram, served, config)
        for domain, period in enumerate(periods):
            if clocks[domain] <= now:
                clocks[domain] += period
    return _result(
        stream, cores, layers, (core_ticks, network.ticks, dram.ticks), served, times, window.start, requests
    )


def _tick_cores(cores: list[Core], layers: _Layers, cycle: int) -> bool:
    """One core tick of the whole chip; tells whether anything moved."""
    layer = len(layers.start) - 1
    for core in cores:
        core.progress, core.layer = False, layer
        if core.finished:
            core.finished.popleft()
            core.progress = True
            layers.take_finished(cycle)
        if core.has_room() and layers.queues[core.number]:
            core.issue_tile(layers.queues[core.number].popleft())
        core.tick()
    return any(core.progress for core in cores)


def _in_flight(cores: list[Core]) -> bool:
    return any(
        core.pipeline or core.reads_out or core.writes_out or core.load_queue or core.execute or core.finished
        for core in cores
    )


def _tick_network(
    cores: list[Core], network: Network, dram: Dram, served: list[int], config: SystolicConfig
) -> None:
    """One interconnect tick: cores, channels, then the network itself (section 9)."""
    tick = network.ticks + 1
    first_channel = config.cores * config.ports
    for core in cores:
        for port in range(config.ports):
            node = core.number * config.ports + port
            if core.fifo:
                request = core.fifo.popleft()
                request.port, request.injected = node, tick
                network.inject(node, first_channel + request.channel, request)
            response = network.deliver(node)
            if response is not None:
                response.response_tick = tick
                core.respond(response)
    for channel in range(config.channels):
        arrived = network.deliver(first_channel + channel)
        if arrived is not None:
            arrived.pushed, arrived.dram_before = tick, dram.ticks
            served[channel] += 1
            dram.push(channel, arrived)
        done = dram.response(channel)
        if done is not None:
            done.popped = tick
            home = done.core * config.ports + channel % config.ports
            network.inject(first_channel + channel, home, done)
    network.tick()


def _result(
    stream: Stream,
    cores: list[Core],
    layers: _Layers,
    ticks: tuple[int, int, int],
    served: list[int],
    times: np.ndarray,
    first: int,
    requests: bool,
) -> SystolicResult:
    counters = np.zeros(len(cores), CORE)
    for core in cores:
        for name, value in core.counts.items():
            counters[name][core.number] = value
        counters["total_cycle"][core.number] = core.cycle
    tiles = np.full(len(stream.tiles), -1, TILE)
    for core in cores:
        for position, row in core.tile_rows.items():
            tiles[position] = tuple(row)
    sent = sorted((r for core in cores for r in core.sent), key=_request_order) if requests else []
    first_channel = len(cores) * cores[0].config.ports
    return SystolicResult(
        core_ticks=ticks[0],
        noc_ticks=ticks[1],
        dram_ticks=ticks[2],
        requests_per_channel=np.array(served, np.int64),
        layer_start=np.array(layers.start, np.int64),
        layer_finish=np.array(layers.finish, np.int64),
        cores=counters,
        terms=np.array([core.terms for core in cores], np.int64).transpose(1, 0, 2),
        tiles=tiles,
        operations=times,
        first_operation=first,
        requests=np.array([_request_row(r, first_channel) for r in sent], REQUEST),
    )


def _request_order(request: Request) -> tuple[int, int]:
    return request.enqueued, request.core


def _request_row(request: Request, first_channel: int) -> tuple[int, ...]:
    return (
        request.op,
        request.address,
        int(request.write),
        request.core,
        request.channel,
        request.port,
        first_channel + request.channel,
        request.enqueued,
        request.injected,
        request.pushed,
        request.dram_before,
        request.popped,
        request.response_tick,
        request.response_cycle,
    )
