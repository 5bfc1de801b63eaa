"""The exact simulation, compiled: jumps from event to event, for simple DRAM and network.

How it works, and why it equals the plain form, is told in ``docs/systolic-simulation.md``.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from pantile.targets.systolic import faults
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.result import CORE, OPERATION, REQUEST, TILE, SystolicResult
from pantile.targets.systolic.stream import TILE_LAYER

if TYPE_CHECKING:
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.kernel_memory import Prepared
    from pantile.targets.systolic.kernel_state import Cores, Network
    from pantile.targets.systolic.stream import Stream


def simulate_fast(stream: Stream, config: SystolicConfig, *, record: range | None = None) -> SystolicResult:
    """Run *stream*; the result equals :func:`simulate_plain`'s, requests left out.

    Where a response might reach an entry that was flushed meanwhile, or come after the end of the run
    (a bias that nothing waits for, quirk Q7), the plain form is run instead.

    Args:
        stream: What runs.
        config: The machine.
        record: Instruction numbers whose times are recorded.

    Raises:
        ProgramError: If a block does not fit, is loaded twice, or the run never ends.
    """
    from pantile.targets.systolic import kernel_memory, kernel_state

    window = record or range(0)
    prepared = kernel_memory.prepare(stream, config, window)
    cores = kernel_memory.make_cores(stream, config, prepared.moves, window)
    network = kernel_memory.make_network(config, prepared.tables, cores)
    kernel = _kernel()
    while True:
        state = kernel(prepared.tables, cores, network)
        if state == kernel_state.FINISHED:
            assert cores.shared[kernel_state.STAMP] == _stamp()
            return _result(prepared, cores, network, window)
        if state == kernel_state.INEXACT:
            return simulate_plain(stream, config, record=record)
        if state == kernel_state.STUCK:
            _raise_stuck(stream, prepared, cores)
        if state == kernel_state.FAULTY:
            _raise_fault(stream, config, prepared, cores)
        if state != kernel_state.PAUSED:
            cores, network = kernel_memory.enlarge(state, cores, network)


def is_compiled() -> bool:
    """Whether the compiled form is at hand, in this process or on the disk; if not, a run compiles first."""
    kernel = _kernel()
    if kernel.signatures:
        return True
    # Numba has no public question for this. Its keys are signature, processor, and what was compiled; there
    # is one signature only.
    cache = kernel._cache
    if cache.cache_path is None:
        return False
    _, *wanted = cache._index_key((), kernel.targetctx.codegen())
    return any(list(key[1:]) == wanted for key in cache._cache_file._load_index())


@lru_cache(maxsize=1)
def _kernel() -> Any:
    from pantile.targets.systolic.kernel import build

    try:
        return build(_stamp(), cache=True)
    except RuntimeError:  # no folder to keep it in: every process compiles anew
        return build(_stamp(), cache=False)


@lru_cache(maxsize=1)
def _stamp() -> int:
    """Return a number that stands for the text of everything that is compiled."""
    digest = sha256()
    folder = Path(__file__).parent
    for path in (*sorted(folder.glob("kernel*.py")), folder / "stream.py"):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:7], "little")


def _raise_stuck(stream: Stream, prepared: Prepared, cores: Cores) -> Never:
    from pantile.targets.systolic.kernel_state import RESIDENT, SLOT_TILE

    first = int(np.flatnonzero(cores.core[:, RESIDENT])[0])
    tile = int(prepared.order[cores.slot[2 * first, SLOT_TILE]])
    faults.never_ends(int(stream.tiles[tile, TILE_LAYER]), tile)


def _raise_fault(stream: Stream, config: SystolicConfig, prepared: Prepared, cores: Cores) -> Never:
    from pantile.targets.systolic.kernel_state import (
        ALLOCATED_TWICE,
        FAULT,
        FAULT_GRANULES,
        FAULT_SPACE,
        FAULT_TILE,
        FAULTY_CORE,
        HALF_BYTES,
    )

    row = cores.core[cores.shared[FAULTY_CORE]]
    tile, space = int(prepared.order[row[FAULT_TILE]]), int(row[FAULT_SPACE])
    layer = int(stream.tiles[tile, TILE_LAYER])
    if row[FAULT] == ALLOCATED_TWICE:
        faults.allocated_twice(layer, tile, space)
    needed = int(row[FAULT_GRANULES]) * config.request_bytes
    faults.does_not_fit(layer, tile, space, needed, int(row[HALF_BYTES + space]))


def _result(prepared: Prepared, cores: Cores, network: Network, window: range) -> SystolicResult:
    from pantile.targets.systolic import kernel_state as at

    shared, core = cores.shared, cores.core
    ticks = int(shared[at.CORE_TICKS])
    counters = np.zeros(len(core), CORE)
    for name, values in (
        ("matmul_active_cycle", core[:, at.MATMUL]),
        ("memory_idle_cycle", ticks - core[:, at.FIFO_BUSY]),
        ("systolic_bubble_cycle", core[:, at.BUBBLE]),
        ("core_idle_cycle", core[:, at.IDLE]),
        ("systolic_active_cycle", core[:, at.ACTIVE]),
        ("total_cycle", ticks),
        ("read_responses", core[:, at.READS]),
        ("write_responses", core[:, at.WRITES]),
        ("systolic_inst_issue_count", core[:, at.COMPUTES]),
        ("systolic_preload_issue_count", core[:, at.PRELOADS]),
    ):
        counters[name] = values
    tiles = np.zeros(len(prepared.order), TILE)
    tiles[prepared.order] = cores.tile_rows.view(TILE).reshape(-1)
    return SystolicResult(
        core_ticks=ticks,
        noc_ticks=int(shared[at.NOC_TICKS]),
        dram_ticks=int(shared[at.DRAM_TICKS]),
        requests_per_channel=network.channel[:, at.SERVED].copy(),
        layer_start=cores.layer_times[:, 0].copy(),
        layer_finish=cores.layer_times[:, 1].copy(),
        cores=counters,
        terms=cores.terms,
        tiles=tiles,
        operations=cores.times.view(OPERATION).reshape(-1),
        first_operation=window.start,
        requests=np.zeros(0, REQUEST),
    )
