"""Tables and state of the compiled simulation: which column of which array means what.

All state lives in arrays that outlast a call, so that the kernel can return for want of room, be given
larger arrays, and go on. Ticks are integers of the clock they belong to; NoC means the network's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS = {"error_model": "numpy", "_nrt": False}
"""No test for division by zero: periods, ports and request sizes are positive. No counting of references:
nothing is allocated, and counting the arrays of every tuple that is passed on would take four fifths of
the time."""


def compiled(function: Function) -> Function:
    """Compile *function* when it is first called from compiled code."""
    result: Function = njit(**OPTIONS)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile *function* into its callers: the tuples of arrays cost more to pass than most of them do."""
    result: Function = njit(**OPTIONS, forceinline=True)(function)
    return result


FAR = 1 << 50
"""A tick that never comes; greater values of an entry say why it is not valid yet."""
PENDING = 1 << 60  # plus the number of the run that fills the entry
NEVER = 1 << 61  # an entry of no requests: nothing will ever make it valid
ABSENT = 1 << 62

# Columns of Tables.config, a vector.
(
    CORES,
    PORTS,
    CHANNELS,
    SOURCES,  # ports of all cores
    LANES,  # ports of one core that receive responses
    WORDS,  # words of a mask over the sources
    NOC_LATENCY,
    DRAM_LATENCY,
    CORE_PS,
    DRAM_PS,
    NOC_PS,
    REQUEST_BYTES,
    LARGEST_MOVE,  # requests that one instruction may make
    WINDOW,  # NoC ticks that the request hop advances at once, at most
    DRAM_STEP,  # whole NoC ticks in a DRAM tick, and the picoseconds that are left
    DRAM_REST,
    ANSWER_STEP,  # the same of the DRAM ticks that a push takes at least, the one under way included
    ANSWER_REST,
    NOC_REST,  # picoseconds of a NoC tick beyond whole DRAM ticks
    LAYERS,
    RECORD_START,
    RECORD_STOP,
    CONFIG_COLUMNS,
) = range(23)

# Columns of Cores.shared, a vector.
(
    LAYER,
    TILES_LEFT,  # of the layer, not handed over
    LAST_HAND_OVER,  # core tick
    SEEN,  # NoC ticks that the request hop has done
    LAST_READ,  # NoC tick of the latest response
    LAST_WRITE,
    RUNS_OUT,
    QUEUED,  # requests waiting in FIFOs
    HOPPING,  # requests in the queues of the request hop
    RESPONSES,  # packets in the queues of the response hop
    FREE_RUN,  # first of a list
    FREE_RUNS,
    FREE_NODE,
    FREE_NODES,
    WOKEN,  # whether any core's next event must be computed anew
    FAULTY_CORE,
    LOST,  # whether a response may reach a flushed entry
    STAMP,  # of the sources that were compiled
    CORE_TICKS,
    NOC_TICKS,
    DRAM_TICKS,
    SHARED_COLUMNS,
) = range(22)

# Two trackers of a core: spans in which loads, or loads and stores, are outstanding.
LOADS, MOVES = range(2)
(
    SPAN_TOTAL,  # ticks of all spans that have ended
    SPAN_START,
    SPAN_END,  # latest response known
    SPAN_UNKNOWN,  # runs whose last response is not known
    SPAN_AT_GAP,  # ticks of spans before the pipeline ran empty; -1 not computed yet
    SPAN_COLUMNS,
) = range(6)

# Columns of Cores.core.
(
    NEXT,  # tick of the next event
    NOW,  # tick of the last one
    FAULT,  # why the core stops in NEXT
    FAULT_TILE,
    FAULT_SPACE,
    FAULT_GRANULES,
    CORE_WOKEN,
    TURN,  # resident tile whose turn it is
    RESIDENT,
    QUEUE_AT,
    QUEUE_STOP,
    HAND_OVER,  # tick in which a finished tile is handed over
    LAST_LAYER,
    HEIGHT,
    WIDTH,
    HALF_BYTES,  # of a scratchpad half, and of an accumulator half
    ACCUMULATOR_HALF_BYTES,
    LAST_START,  # of the youngest compute
    LAST_FINISH,
    LAST_ROWS,
    LAST_OPEN,  # whether its drain is still to be counted
    RING_AT,  # place of the oldest of the last HEIGHT finishes
    SPACING,  # between finishes
    STREAK,  # how many times in a row
    MATMUL,
    BUBBLE,
    ACTIVE,
    COMPUTES,
    PRELOADS,
    DRAIN,
    FILL,
    WAIT_LOAD,
    WAIT_STORE,
    IDLE,
    IDLE_LOADING,  # idle while loads are outstanding
    IDLE_FROM,
    GAP,  # tick in which the pipeline ran, or runs, empty
    READS,
    WRITES,
    WRITES_OUT,  # runs
    WRITES_END,  # tick of the latest write response known
    FIFO_BUSY,
    FIFO_BUSY_END,
    INJECT_NEXT,  # first free slot of injection: NoC tick times ports plus port
    FIFO_RUN,  # first run in the FIFO; -1 none
    FIFO_LAST,
    FIFO_TICK,  # of the next injection
    FIFO_PORT,
    FIFO_LEFT,  # requests of the first run still in the FIFO
    FIFO_HEAD,  # place of the next byte
    FIFO_TAIL,
    USED,  # granules by half: scratchpad 0, 1, accumulator 0, 1
) = range(52)
HIGHEST = USED + 4  # entries touched, by half
OUT = HIGHEST + 4  # loads outstanding, by half
OUT_END = OUT + 4  # tick of the latest response to a load, by half
SPANS = OUT_END + 4
BEFORE = SPANS + 2 * SPAN_COLUMNS  # sums at the end of the previous layer, one per term
CORE_COLUMNS = BEFORE + 9

# Columns of Cores.slot: the resident tiles, two rows per core.
(
    SLOT_TILE,
    SLOT_LOAD,
    SLOT_LOAD_STOP,
    SLOT_RUN,
    SLOT_RUN_STOP,
    SLOT_DONE,  # computes of the run that have issued
    SLOT_STORE,
    SLOT_STORE_STOP,
    SLOT_PAD,
    SLOT_ACC,
    SLOT_MARK,  # tick in which the last instruction is done
    SLOT_OP,  # number of the next instruction
    SLOT_COLUMNS,
) = range(13)

# Columns of Cores.runs: the requests of one instruction.
(
    RUN_LEFT,  # responses outstanding
    RUN_LAST,  # NoC tick in which the latest packet left the response hop
    RUN_CORE,
    RUN_HALF,  # of its entry, 0 to 3 as in USED; -1 writes
    RUN_ENTRY,
    RUN_OP,
    RUN_SIZE,
    RUN_SLOT,  # slot of injection of its first request
    RUN_NEXT,
    RUN_STATE_COLUMNS,
) = range(10)

RUN_BITS = 20
RUN_LIMIT = 1 << RUN_BITS
"""Runs that may be under way at once: packets of the response hop hold a run's number in their low bits."""

# Columns of Network.channel.
(
    HOP_LAST,  # NoC tick of the last departure to the channel
    HOP_POINTER,  # round robin
    HOP_READY,  # sources in the mask
    WAIT_HEAD,
    WAIT_COUNT,
    DRAM_PUSHED,  # NoC tick of the last push that found the channel at rest
    DRAM_PHASE,  # picoseconds from the DRAM tick before it
    DRAM_BOUND,  # picoseconds before which a push finds the channel busy
    DRAM_SEEN,  # NoC tick that sees the last response
    DRAM_SLACK,  # picoseconds from the response to that
    DRAM_SENT,  # NoC tick in which it entered the response hop
    SERVED,
    ARRIVED,  # requests that the window brings, and those of them that have come
    COME,
    CHANNEL_LANE,  # port that its responses go to
    CHANNEL_COLUMNS,
) = range(16)

# Columns of Network.flow: responses from one channel to one core.
FLOW_HEAD, FLOW_COUNT, FLOW_READY, FLOW_LAST, FLOW_COLUMNS = range(5)
# Columns of Network.lane: one port of one core.
LANE_MASK, LANE_POINTER, LANE_TICK, LANE_NEXT, LANE_COUNT, LANE_COLUMNS = range(6)
# Columns of Network.nodes: equal requests in a queue of the request hop.
NODE_RUN, NODE_COUNT, NODE_NEXT, NODE_COLUMNS = range(4)

# What the kernel returns.
FINISHED, STUCK, FAULTY, INEXACT, PAUSED, MORE_RUNS, MORE_FIFO, MORE_NODES, MORE_RESPONSES = range(9)
DOES_NOT_FIT, ALLOCATED_TWICE = 1, 2  # FAULT; 0 none


class Tables(NamedTuple):
    """What runs, and on what; never written.

    Attributes:
        config: Figures of the machine, by column.
        tiles: :attr:`Stream.tiles`, by layer and core.
        kinds: :attr:`Stream.kinds`, stores counted behind the loads.
        moves: Rows of :mod:`~pantile.targets.systolic.kernel_moves`, loads first.
        computes: :attr:`Stream.computes`.
        batches: :attr:`Stream.batch_offsets`.
        queues: First tile of each layer and core.
        hashes: Channel of every request number, by its low bits.
    """

    config: Array
    tiles: Array
    kinds: Array
    moves: Array
    computes: Array
    batches: Array
    queues: Array
    hashes: npt.NDArray[np.uint8]


class Cores(NamedTuple):
    """Cores, and what is measured.

    Attributes:
        shared: What there is once, by column.
        core: By core and column.
        slot: Resident tiles, two rows per core.
        ring: Finishes of the last computes, by core.
        pads: Tick in which each scratchpad entry is valid, two rows (halves) per core.
        sums: Tick in which the last compute of each accumulator entry finishes, likewise.
        bias: Tick in which its bias is valid, likewise.
        fifo: Channels of the requests that wait for injection, by core.
        steps: Scratch: byte offsets of one move, by nest level.
        chunks: Scratch: request numbers of a move whose rows do not ascend.
        runs: Requests of one instruction, by column.
        tile_rows: The result's tile columns, in the order of *tiles*.
        times: The result's operation columns.
        terms: The result's terms.
        layer_times: Start and finish by layer.
    """

    shared: Array
    core: Array
    slot: Array
    ring: Array
    pads: Array
    sums: Array
    bias: Array
    fifo: npt.NDArray[np.uint8]
    steps: Array
    chunks: Array
    runs: Array
    tile_rows: Array
    times: Array
    terms: Array
    layer_times: Array


class Network(NamedTuple):
    """Channels and the queues of both hops.

    Attributes:
        channel: By channel and column.
        mask: Sources whose head may leave for a channel, by channel.
        waiting: Sources whose head is under way, with the tick it arrives, rings by channel.
        heads: First node of each queue of the request hop, by channel and source; -1 empty.
        tails: Last node.
        nodes: Rows of queues, by column.
        arrivals: Requests injected in the current window, by channel.
        flow: Queues of the response hop, by core and channel.
        responses: Their packets, rings.
        lane: Ports that receive responses, by core and port.
    """

    channel: Array
    mask: Array
    waiting: Array
    heads: Indices
    tails: Indices
    nodes: Indices
    arrivals: Array
    flow: Array
    responses: Array
    lane: Array
