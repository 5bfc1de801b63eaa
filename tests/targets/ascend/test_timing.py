"""When core programs run, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import PantileError
from pantile.machine import Grid, Machine
from pantile.program.program import Program
from pantile.simulate.engine import run_compiled
from pantile.simulate.engine_plain import run_plain
from pantile.simulate.timeline import Timeline
from pantile.targets.ascend.block_call import BlockCall
from pantile.targets.ascend.block_gemm import gemm_block
from pantile.targets.ascend.buffers import Buffer
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.instructions import call, pointer
from pantile.targets.ascend.record import Recorder
from pantile.targets.ascend.timing import CoreTiming, bind_core
from pantile.targets.ascend.trace import program_of_trace

from .conftest import core_machine

M, MTE1, FIX = "PIPE_M", "PIPE_MTE1", "PIPE_FIX"
L1, L0A, L0C, GM_C = Buffer("L1"), Buffer("L0A"), Buffer("L0C"), Buffer("GM_C")
OPERANDS = ("L0C", "L0A", "L0B")
CYCLE = 1000
"""Picoseconds of a cycle at 1 GHz."""


def times(program: Program, machine: Machine) -> np.ndarray:
    return run_plain(bind_core(program, machine)).times


def mad(unit_flag: int = 0, rows: int = 256) -> tuple[object, ...]:
    """256 x 64 x 64 of half: 256 steps, 64 blocks."""
    ends = (pointer("L0C", 0, "float"), pointer("L0A", 0, "half"), pointer("L0B", 0, "half"))
    return ("mad", *ends, rows, 64, 64, unit_flag, False, False, True)


def copy_out(unit_flag: int = 0, rows: int = 256) -> tuple[object, ...]:
    """256 x 64 of half, 32 KiB: 512 cycles, of which one block is 8; and 20 of latency."""
    ends = (pointer("GM_C", 0, "half"), pointer("L0C", 0, "float"))
    return ("copy_matrix_cc_to_gm", *ends, 0, 64, rows, 64, rows, unit_flag, "F322F16", 0, False, True)


def recorded(*issued: tuple[object, ...]) -> Program:
    core = Recorder()
    for op, *values in issued:
        core.issue(str(op), *values)
    return core.tables()


def test_costs_of_one_instruction(machine: Machine) -> None:
    timing = CoreTiming(machine)
    assert timing.ticks("L1>L0A", 32768) == (28 + 128) * CYCLE
    assert timing.ticks("L1>L0B", 33280) == (28 + 260) * CYCLE  # the load of spec section 4.2
    assert timing.ticks("cube 2-byte", 512) == 512 * CYCLE  # and the mad that it overtakes
    assert timing.ticks("cycles", 3) == 3 * CYCLE


def test_a_slower_cube_takes_longer(machine: Machine) -> None:
    cube = next(each for each in machine.engines if each.name == "cube")
    slow = replace(cube, parameters=type(cube.parameters)({"macs_per_cycle": 2048}))
    others = tuple(each for each in machine.engines if each.name != "cube")
    assert CoreTiming(replace(machine, engines=(*others, slow))).ticks("cube int8", 5) == 10 * CYCLE


def test_fp32_is_as_slow_as_the_machine_says() -> None:
    assert CoreTiming(core_machine(fp32_cube_factor=2)).ticks("cube fp32", 5) == 10 * CYCLE


def test_loads_of_one_pipe_follow_one_another_and_products_too(machine: Machine) -> None:
    core = Recorder()
    for _ in range(2):
        core.access(MTE1, reads=L1[0:25600], writes=L0A[0:25600])  # 100 cycles and 28
        core.access(M, reads=L0A[32768:33280], writes=L0C[0:1024], cycles=50)
    assert times(core.tables(), machine)["start"].tolist() == [0, 0, 128 * CYCLE, 50 * CYCLE]


def test_flags_and_barriers_take_no_time(machine: Machine) -> None:
    core = Recorder()
    core.access(MTE1, reads=L1[0:25600], writes=L0A[0:25600])
    core.set(MTE1, M, 0)
    core.wait(MTE1, M, 0)
    core.access(M, reads=L0A[0:512], writes=L0C[0:1024], cycles=50)
    core.barrier()
    assert times(core.tables(), machine)["finish"].max() == (128 + 50) * CYCLE


def test_a_copy_without_unit_flag_waits_for_its_flag(machine: Machine) -> None:
    flags = (("set_flag", M, FIX, 0), ("wait_flag", M, FIX, 0))
    program = recorded(mad(), *flags, copy_out())
    assert times(program, machine)["finish"].max() == (256 + 512 + 20) * CYCLE


def test_a_copy_with_unit_flag_follows_the_cube_block_by_block(machine: Machine) -> None:
    """Blocks come every 4 cycles, and each takes 8: the copy begins with the first and is never held up."""
    program = recorded(mad(3), copy_out(3))
    found = times(program, machine)
    first, last = np.flatnonzero(found["start"] > 0)
    assert found["start"][first] == 4 * CYCLE
    assert found["finish"][last] == (4 + 512 + 20) * CYCLE


def test_a_copy_that_is_faster_than_the_cube_ends_one_block_after_it(machine: Machine) -> None:
    """With K = 1024 blocks come every 64 cycles: the last one is copied when the product is done."""
    ends = (pointer("L0C", 0, "float"), pointer("L0A", 0, "half"), pointer("L0B", 0, "half"))
    long = ("mad", *ends, 256, 1024, 64, 3, False, False, True)
    assert times(recorded(long, copy_out(3)), machine)["finish"].max() == (64 * 64 + 8 + 20) * CYCLE


def test_a_second_product_waits_until_its_blocks_came_back(machine: Machine) -> None:
    found = times(recorded(mad(3), copy_out(3), mad(3)), machine)
    assert found["start"][3] == found["finish"][2]


def test_one_side_alone_hangs(machine: Machine) -> None:
    for program in (recorded(mad(0), copy_out(3)), recorded(mad(3), copy_out(0), mad(3))):
        assert run_plain(bind_core(program, machine)).stuck


def test_threads_are_called_as_the_vendors_tools_call_pipes(machine: Machine) -> None:
    program = recorded(mad(3), copy_out(3))
    bound = bind_core(program, machine)
    names = [bound.program.text(int(each)) for each in bound.tables["thread"]["name"]]
    assert names == ["CUBE", "FIXP"]
    assert [program.text(int(each)) for each in program.tables()["thread"]["name"]] == [M, FIX]


def test_terms_and_bounds_of_a_whole_kernel(machine: Machine) -> None:
    launch = BlockCall(element=ELEMENTS["half"], m=256, n=128, k=512)
    bound = bind_core(program_of_trace(gemm_block(launch)), machine)
    timeline = Timeline(bound, run_plain(bound))
    assert timeline.finished
    assert timeline.resource_busy["cube"] == 16 * 8 * 32 * CYCLE
    assert sum(timeline.terms.values()) == timeline.total
    assert timeline.lower_bounds["engine cube"] == 4096 * CYCLE
    assert timeline.utilisation["mac"] == pytest.approx(4096 * CYCLE / timeline.total)


@pytest.mark.parametrize(("element", "rate"), [("half", 4096), ("int8_t", 8192)])
def test_a_full_cube_is_used_to_the_full_whatever_the_type(element: str, rate: int, machine: Machine) -> None:
    ends = (pointer("L0C", 0, "float"), pointer("L0A", 0, element), pointer("L0B", 0, element))
    bound = bind_core(
        recorded(("mad", *ends, 64, 128, 64, 0, False, False, True)), replace(machine, grid=Grid((4,)))
    )
    timeline = Timeline(bound, run_plain(bound))
    assert timeline.total == 64 * 128 * 64 // rate * CYCLE
    assert timeline.utilisation["mac"] == 1.0


@pytest.mark.slow
def test_the_compiled_engine_gives_the_same_times(machine: Machine) -> None:
    programs = [recorded(mad(3), copy_out(3), mad(2), mad(3), copy_out(3))]
    programs += [program_of_trace(gemm_block(BlockCall(element=ELEMENTS["half"], m=300, n=200, k=300)))]
    for program in programs:
        bound = bind_core(program, machine)
        plain, compiled = run_plain(bound), run_compiled(bound)
        assert np.array_equal(plain.times["start"], compiled.times["start"])
        assert np.array_equal(plain.times["finish"], compiled.times["finish"])


def test_paths_as_resources_change_no_time(machine: Machine) -> None:
    programs = [recorded(mad(3), copy_out(3), mad(2), mad(3), copy_out(3))]
    programs += [program_of_trace(gemm_block(BlockCall(element=ELEMENTS["half"], m=300, n=200, k=300)))]
    for program in programs:
        with_paths, without = (run_plain(bind_core(program, machine, paths=each)) for each in (True, False))
        for name in ("start", "finish"):
            assert np.array_equal(with_paths.times[name], without.times[name])


def test_a_run_tells_how_long_each_path_served(machine: Machine) -> None:
    program = program_of_trace(gemm_block(BlockCall(element=ELEMENTS["half"], m=256, n=128, k=512)))
    bound = bind_core(program, machine)
    busy = Timeline(bound, run_plain(bound)).resource_busy
    assert busy["gm>l1"] == (256 + 128) * 512 * 2 // 64 * CYCLE
    assert busy["l1>l0a"] == 256 * 512 * 2 // 256 * CYCLE
    assert busy["l0c>gm"] == 256 * 128 * 2 // 64 * CYCLE


def test_what_the_machine_does_not_say_is_refused_once_each_with_a_line() -> None:
    core = Recorder(name="k.py")
    for _ in range(2):
        core.access(M, reads=L0A[0:512], writes=L0C[0:1024])
    core.access("PIPE_MTE3", reads=Buffer("UB")[0:32], writes=GM_C[0:32])
    with pytest.raises(PantileError) as refused:
        bind_core(core.tables(), core_machine())
    text = str(refused.value)
    assert text.count("says neither its cycles") == 1
    assert "has no path ub > gm" in text
    assert "k.py:" in text


def test_fp32_without_a_figure_is_refused_with_its_key(machine: Machine) -> None:
    ends = (pointer("L0C", 0, "float"), pointer("L0A", 0, "float"), pointer("L0B", 0, "float"))
    with pytest.raises(PantileError, match="fp32_cube_factor"):
        bind_core(recorded(("mad", *ends, 16, 8, 16, 0, False, False, True)), machine)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from([MTE1, M]), st.integers(1, 9), st.sampled_from(["", "flag", "barrier"])),
        min_size=1,
        max_size=10,
    )
)
def test_same_as_a_walk_through_two_queues(rows: list[tuple[str, int, str]]) -> None:
    """The obvious model of two pipes: work adds up, a flag carries a time over, a barrier makes both meet."""
    core, now = Recorder(), {MTE1: 0, M: 0}
    for number, (pipe, cycles, then) in enumerate(rows):
        core.access(pipe, cycles=cycles)
        now[pipe] += cycles
        other = M if pipe == MTE1 else MTE1
        if then == "flag":
            core.set(pipe, other, number % 8)
            core.wait(pipe, other, number % 8)
            now[other] = max(now.values()) if now[pipe] >= now[other] else now[other]
        elif then == "barrier":
            core.barrier()
            now = dict.fromkeys(now, max(now.values()))
    program = core.tables()
    assert times(program, core_machine())["finish"].max() == max(now.values()) * CYCLE


def test_a_product_that_only_checks_the_unit_flag_waits_for_nobody() -> None:
    checks, plain = (
        program_of_trace(
            [
                call(
                    "mad",
                    *(pointer(buffer, 0, "float" if buffer == "L0C" else "half") for buffer in OPERANDS),
                    *(16, 16, 16, mode, False, False, True),
                )
            ],
            unit_flags=True,
        )
        for mode in (2, 0)
    )
    assert times(checks, core_machine()).tolist() == times(plain, core_machine()).tolist()
