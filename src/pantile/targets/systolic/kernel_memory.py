"""The arrays of the compiled simulation: made before a run, and made larger while it rests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pantile.targets.systolic.channels import channels_of
from pantile.targets.systolic.kernel_moves import prepare_moves
from pantile.targets.systolic.kernel_state import (
    ABSENT,
    ACCUMULATOR_HALF_BYTES,
    ANSWER_REST,
    ANSWER_STEP,
    CHANNEL_COLUMNS,
    CHANNEL_LANE,
    CHANNELS,
    CONFIG_COLUMNS,
    CORE_COLUMNS,
    CORE_PS,
    CORES,
    DRAM_LATENCY,
    DRAM_PS,
    DRAM_PUSHED,
    DRAM_REST,
    DRAM_SENT,
    DRAM_STEP,
    FAR,
    FIFO_RUN,
    FLOW_COLUMNS,
    FLOW_COUNT,
    FLOW_HEAD,
    FLOW_LAST,
    FREE_NODE,
    FREE_NODES,
    FREE_RUN,
    FREE_RUNS,
    HALF_BYTES,
    HAND_OVER,
    HEIGHT,
    HOP_LAST,
    LANE_COLUMNS,
    LANE_NEXT,
    LANES,
    LARGEST_MOVE,
    LAST_LAYER,
    LAYER,
    LAYERS,
    MORE_FIFO,
    MORE_NODES,
    MORE_RESPONSES,
    MORE_RUNS,
    NEXT,
    NOC_LATENCY,
    NOC_PS,
    NOC_REST,
    NODE_COLUMNS,
    NODE_NEXT,
    NOW,
    PORTS,
    RECORD_START,
    RECORD_STOP,
    REQUEST_BYTES,
    RUN_LIMIT,
    RUN_NEXT,
    RUN_STATE_COLUMNS,
    SHARED_COLUMNS,
    SLOT_COLUMNS,
    SOURCES,
    WIDTH,
    WINDOW,
    WORDS,
    Cores,
    Network,
    Tables,
)
from pantile.targets.systolic.result import OPERATION, TERMS, TILE
from pantile.targets.systolic.stream import STORE_START, STORE_STOP, TILE_CORE, TILE_KIND, TILE_LAYER

Integer = TypeVar("Integer", np.int32, np.int64)

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.kernel_moves import Moves
    from pantile.targets.systolic.stream import Stream

_HASH_BITS = {16: 13, 32: 15, 64: 19}  # of a request number that take part in the hash, by its ways
_ARRIVALS = 1 << 13  # requests to one channel that a window may bring, about
# Room at the start; the kernel asks for more where it does not do.
FIRST_RUNS = 256
FIRST_MOVES = 4  # largest moves that a FIFO, or the response hop where it is all there is, holds
FIRST_WINDOWS = 2  # windows in which every port injects in every tick


@lru_cache(maxsize=4)
def channel_table(channels: int) -> npt.NDArray[np.uint8]:
    """Return the channel of every request number that the hash tells apart.

    >>> channel_table(2)[:8].tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """
    ways = max(16, channels)
    table = np.zeros(1, np.uint8)
    for bit in range(_HASH_BITS[ways]):
        # Only exclusive ors: numbers with one more bit hash as those without, xor that bit's own hash.
        own = channels_of(np.array([1 << bit], np.int64), ways)[0]
        table = np.concatenate([table, table ^ np.uint8(own)])
    return table % np.uint8(channels)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A stream as the kernel reads it.

    Attributes:
        tables: What runs, and on what.
        moves: What is known of its moves.
        order: Stream position of every tile of *tables*.
    """

    tables: Tables
    moves: Moves
    order: npt.NDArray[np.int64]


def prepare(stream: Stream, config: SystolicConfig, record: range) -> Prepared:
    """Return *stream* as the kernel reads it; instructions of *record* are to be recorded."""
    moves = prepare_moves(stream, config.request_bytes)
    kinds = np.array(stream.kinds)
    kinds[:, [STORE_START, STORE_STOP]] += len(stream.loads)
    order, queues = _queues(stream, config.cores)
    sources = config.cores * config.ports
    figures = np.zeros(CONFIG_COLUMNS, np.int64)
    for column, value in (
        (CORES, config.cores),
        (PORTS, config.ports),
        (CHANNELS, config.channels),
        (SOURCES, sources),
        (LANES, min(config.ports, config.channels)),
        (WORDS, -(-sources // 64)),
        (NOC_LATENCY, config.noc_latency),
        (DRAM_LATENCY, config.dram_latency),
        (CORE_PS, config.core_ps),
        (DRAM_PS, config.dram_ps),
        (NOC_PS, config.noc_ps),
        (DRAM_STEP, config.dram_ps // config.noc_ps),
        (DRAM_REST, config.dram_ps % config.noc_ps),
        (ANSWER_STEP, (config.dram_latency + 1) * config.dram_ps // config.noc_ps),
        (ANSWER_REST, (config.dram_latency + 1) * config.dram_ps % config.noc_ps),
        (NOC_REST, config.noc_ps % config.dram_ps),
        (REQUEST_BYTES, config.request_bytes),
        (LARGEST_MOVE, moves.largest),
        (WINDOW, max(8, _ARRIVALS // sources)),
        (LAYERS, len(stream.layers)),
        (RECORD_START, record.start),
        (RECORD_STOP, record.stop),
    ):
        figures[column] = value
    tables = Tables(
        config=figures,
        tiles=stream.tiles[order],
        kinds=kinds,
        moves=moves.rows,
        computes=np.array(stream.computes),
        batches=np.array(stream.batch_offsets),
        queues=queues,
        hashes=channel_table(config.channels),
    )
    return Prepared(tables, moves, order)


def _queues(stream: Stream, cores: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return all tiles by layer and core, in creation order, and where each layer's core begins."""
    layer = stream.tiles[:, TILE_LAYER]
    skip = stream.tiles[:, TILE_KIND] < 0
    # The layer counter is 1 in the first layer; skip tiles go round by themselves (onnxim-conv.md C6).
    core = np.where(skip, np.cumsum(skip) - 1, stream.tiles[:, TILE_CORE] + layer + 1) % cores
    key = layer * cores + core
    order = np.argsort(key, kind="stable")
    queues = np.searchsorted(key[order], np.arange(len(stream.layers) * cores + 1))
    return order.astype(np.int64), queues.astype(np.int64)


def make_cores(stream: Stream, config: SystolicConfig, moves: Moves, record: range) -> Cores:
    """Return the cores before the first tick."""
    core = np.zeros((config.cores, CORE_COLUMNS), np.int64)
    core[:, [NEXT, HAND_OVER]] = FAR
    core[:, [NOW, LAST_LAYER, FIFO_RUN]] = -1
    core[:, HEIGHT], core[:, WIDTH] = config.heights, config.widths
    core[:, HALF_BYTES] = np.array(config.scratchpad_bytes) // 2
    core[:, ACCUMULATOR_HALF_BYTES] = np.array(config.accumulator_bytes) // 2
    shared = np.zeros(SHARED_COLUMNS, np.int64)
    shared[LAYER], shared[FREE_RUN], shared[FREE_RUNS] = -1, 0, FIRST_RUNS
    entries = max(1, stream.scratchpad_entries), max(1, stream.accumulator_entries)
    layers = len(stream.layers)
    return Cores(
        shared=shared,
        core=core,
        slot=np.zeros((2 * config.cores, SLOT_COLUMNS), np.int64),
        ring=np.full((config.cores, max(config.heights)), -1, np.int64),
        pads=np.full((2 * config.cores, entries[0]), ABSENT, np.int64),
        sums=np.full((2 * config.cores, entries[1]), ABSENT, np.int64),
        bias=np.zeros((2 * config.cores, entries[1]), np.int64),
        fifo=np.zeros((config.cores, FIRST_MOVES * moves.largest), np.uint8),
        steps=np.zeros((8, moves.longest + 1), np.int64),
        chunks=np.zeros(moves.scratch, np.int64),
        runs=_linked(np.zeros((FIRST_RUNS, RUN_STATE_COLUMNS), np.int64), RUN_NEXT, 0),
        tile_rows=np.full((len(stream.tiles), len(TILE.names or ())), -1, np.int64),
        times=np.full((len(record), len(OPERATION.names or ())), -1, np.int64),
        terms=np.zeros((layers, config.cores, len(TERMS)), np.int64),
        layer_times=np.zeros((layers, 2), np.int64),
    )


def make_network(config: SystolicConfig, tables: Tables, cores: Cores) -> Network:
    """Return the network before the first tick, and enter its free nodes in *cores*."""
    sources, channels = config.cores * config.ports, config.channels
    lanes, window = int(tables.config[LANES]), int(tables.config[WINDOW])
    hops = sources > 1
    nodes = FIRST_WINDOWS * window * sources if hops else 1
    cores.shared[FREE_NODE], cores.shared[FREE_NODES] = 0, nodes
    channel = np.zeros((channels, CHANNEL_COLUMNS), np.int64)
    channel[:, [HOP_LAST, DRAM_SENT]] = -1
    channel[:, DRAM_PUSHED] = -2  # no tick comes after it
    channel[:, CHANNEL_LANE] = np.arange(channels) % lanes
    flow = np.zeros((config.cores * channels, FLOW_COLUMNS), np.int64)
    flow[:, FLOW_LAST] = -1
    lane = np.zeros((config.cores * lanes, LANE_COLUMNS), np.int64)
    lane[:, LANE_NEXT] = FAR
    merges = lanes < channels
    packets = FIRST_WINDOWS * window if hops else FIRST_MOVES * int(tables.config[LARGEST_MOVE])
    return Network(
        channel=channel,
        mask=np.zeros(channels * int(tables.config[WORDS]), np.int64),
        waiting=np.zeros((channels, sources), np.int64),
        heads=np.full(channels * sources, -1, np.int32),
        tails=np.full(channels * sources, -1, np.int32),
        nodes=_linked(np.zeros((nodes, NODE_COLUMNS), np.int32), NODE_NEXT, 0),
        arrivals=np.zeros((channels, window * sources if hops else 1), np.int64),
        flow=flow,
        responses=np.zeros((config.cores * channels, _power(packets) if merges else 1), np.int64),
        lane=lane,
    )


def enlarge(reason: int, cores: Cores, network: Network) -> tuple[Cores, Network]:
    """Return the state with twice the room of the kind that the kernel asked for."""
    shared = cores.shared
    if reason == MORE_RUNS:
        size = len(cores.runs)
        assert 2 * size <= RUN_LIMIT, size
        runs = _linked(_doubled(cores.runs), RUN_NEXT, size)
        runs[-1, RUN_NEXT] = shared[FREE_RUN]
        shared[FREE_RUN] = size
        shared[FREE_RUNS] += size
        return cores._replace(runs=runs), network
    if reason == MORE_FIFO:
        return cores._replace(fifo=np.concatenate([cores.fifo, np.zeros_like(cores.fifo)], axis=1)), network
    if reason == MORE_NODES:
        size = len(network.nodes)
        nodes = _linked(_doubled(network.nodes), NODE_NEXT, size)
        nodes[-1, NODE_NEXT] = shared[FREE_NODE]
        shared[FREE_NODE] = size
        shared[FREE_NODES] += size
        return cores, network._replace(nodes=nodes)
    assert reason == MORE_RESPONSES, reason
    old = network.responses
    responses = np.zeros((len(old), 2 * old.shape[1]), np.int64)
    for ring, (head, count) in enumerate(network.flow[:, [FLOW_HEAD, FLOW_COUNT]].tolist()):
        places = np.arange(head, head + count)
        responses[ring, places % responses.shape[1]] = old[ring, places % old.shape[1]]
    return cores, network._replace(responses=responses)


def _power(least: int) -> int:
    return 1 << (least - 1).bit_length()


def _doubled(rows: npt.NDArray[Integer]) -> npt.NDArray[Integer]:
    return np.concatenate([rows, np.zeros_like(rows)])


def _linked(rows: npt.NDArray[Integer], column: int, start: int) -> npt.NDArray[Integer]:
    """Chain the rows from *start* on into a free list, in place; the last one's link is -1."""
    rows[start:, column] = np.arange(start + 1, len(rows) + 1)
    rows[-1, column] = -1
    return rows
