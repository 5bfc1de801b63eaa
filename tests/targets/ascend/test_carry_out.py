"""Carrying out programs of traces in orders of their operations."""

from __future__ import annotations

import numpy as np

from pantile.check.order import happens_before
from pantile.targets.ascend.buffers import Buffer
from pantile.targets.ascend.carry_out import carry_out, data_of, is_abstract
from pantile.targets.ascend.elements import BY_DTYPE
from pantile.targets.ascend.instructions import pipe_barrier
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import mma_tile
from pantile.targets.ascend.record import Recorder
from pantile.targets.ascend.trace import program_of_trace


def test_a_barrier_of_all_pipes_is_many_operations_and_one_place() -> None:
    stream = [*mma_tile(default_call(BY_DTYPE["fp16"], 16, 16, 16)).instructions, pipe_barrier("PIPE_ALL")]
    program = program_of_trace(stream, "t")
    order = happens_before(program)
    assert program.operations > len(stream)
    own, other = carry_out(program), carry_out(program, order.topo)
    assert all(np.array_equal(own[name], other[name]) for name in own)
    assert data_of(program) == "on random bytes (seed 5)"


def test_programs_with_accesses_are_carried_out_on_symbols() -> None:
    core = Recorder()
    core.access("PIPE_MTE1", reads=Buffer("L1")[0:32], writes=Buffer("L0A")[0:32])
    core.access("PIPE_M", reads=Buffer("L0A")[0:32], writes=Buffer("L0C")[0:32])
    program = core.tables()
    assert is_abstract(program)
    assert data_of(program) == "on symbols"
    own, early = carry_out(program), carry_out(program, np.array([1, 0]))
    assert not np.array_equal(own["L0C"], early["L0C"])
    assert np.array_equal(own["L0A"], early["L0A"])
