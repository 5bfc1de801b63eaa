"""What runs of a program that traps."""

from __future__ import annotations

import numpy as np

from pantile.program.program import Program
from pantile.targets.ascend.timing import bind_core
from pantile.targets.ascend.trace_file import read_trace
from pantile.targets.ascend.trap import until_trap

from .conftest import core_machine

BEFORE = """\
set_flag(PIPE_M, PIPE_FIX, 0)
mad((__cc__ float*)0x0, (__ca__ half*)0x0, (__cb__ half*)0x0, 32, 32, 32, 3, false, false, true)
copy_matrix_cc_to_gm((__gm__ float*)GM_C, (__cc__ float*)0x0, 0, 32, 32, 32, 32, 3, NoQuant, 0, false, true)
"""
AFTER = """\
mad((__cc__ float*)0x0, (__ca__ half*)0x0, (__cb__ half*)0x0, 64, 64, 64, 3, false, false, false)
// call tile, line 3
wait_flag(PIPE_M, PIPE_FIX, 0)
// return
"""


def program(text: str) -> Program:
    return read_trace(text, "trace")


def test_nothing_after_the_first_trap_runs() -> None:
    ran, left = until_trap(program(f"{BEFORE}trap()\n{AFTER}trap()\n"))
    alone = program(f"{BEFORE}trap()\n")
    assert left == 3
    for key in ("stream", "lines", "starts", "works", "accumulating", "calls"):
        assert list(ran.parameters[key]) == list(alone.parameters[key]), key
    for name in ("op", "access"):
        kept, wanted = ran.tables()[name], alone.tables()[name]
        assert all(
            np.array_equal(kept[field], wanted[field])
            for field in kept.dtype.names or ()
            if field not in ("opcode", "space", "buffer")
        )
    assert bind_core(ran, core_machine()).ticks.tolist() == bind_core(alone, core_machine()).ticks.tolist()


def test_a_program_whose_trap_is_last_or_that_has_none_stays_as_it_is() -> None:
    for text in (BEFORE, f"{BEFORE}trap()\n"):
        whole = program(text)
        assert until_trap(whole) == (whole, 0)
