"""Inputs that broke other tools (docs/bug-inputs.md): each is right here, or refused with its two numbers.

Shapes are (M, N, K). Whatever runs must cover its outputs once, count nothing negative, and take no fewer
cycles than MACs / elements of all arrays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pantile.check.capacity import check_capacity
from pantile.check.coverage import check_coverage
from pantile.check.ready import check_ready
from pantile.check.report import Report
from pantile.errors import InfeasibleError, MappingError, OutsideModelError, PantileError
from pantile.machine import Machine
from pantile.machine.onnxim import onnxim_machine
from pantile.targets.systolic.capacity import memory_usages
from pantile.verbs.check import CheckResult, check
from pantile.verbs.lower import Lowering, lower
from pantile.verbs.plan import PlanResult, plan
from pantile.verbs.simulate import Simulation, simulate
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor

A8: dict[str, Any] = {
    "num_cores": 1,
    "core_freq": 1000,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "dram_type": "simple",
    "dram_freq": 1000,
    "dram_channels": 16,
    "dram_req_size": 32,
    "dram_latency": 10,
    "icnt_type": "simple",
    "icnt_latency": 1,
    "icnt_freq": 1000,
    "icnt_injection_ports_per_core": 4,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
}


def machine(**changes: Any) -> Machine:
    return onnxim_machine(A8 | changes, "bug")


def square(side: int, **changes: Any) -> Machine:
    return machine(core_height=side, core_width=side, **changes)


def product(m: int, n: int, k: int) -> str:
    return f"gemm:m={m},n={n},k={k}"


def run(workload: Any, on: Any, **options: Any) -> Simulation:
    """Simulate, and hold the run against everything that must be true of any."""
    simulation = simulate(workload, on, **options)
    assert isinstance(simulation, Simulation)
    config = simulation.session.config
    elements = sum(h * w for h, w in zip(config.heights, config.widths, strict=True))
    assert simulation.total_cycles * elements >= simulation.macs > 0
    assert sum(simulation.terms.values()) == simulation.total_cycles
    for terms in [simulation.terms, *(layer.terms for layer in simulation.layers)]:
        assert min(terms.values()) >= 0
    assert all(0 <= bound <= simulation.total_cycles for bound in simulation.lower_bounds.values())
    assert 0 < simulation.utilisation["mac"] <= 1
    for layer in simulation.layers:
        totals = layer.totals
        assert totals.macs == layer.planned.node.macs
        assert totals.padded_macs >= totals.macs
        assert min(totals.requests.values()) > 0
    return simulation


def report(workload: Any, on: Any, **options: Any) -> CheckResult:
    found = check(workload, on, **options)
    assert isinstance(found, CheckResult)
    return found


def lowered(workload: Any, on: Any, **options: Any) -> Lowering:
    found = lower(workload, on, **options)
    assert isinstance(found, Lowering)
    return found


def static(workload: Any, on: Any, **options: Any) -> Report:
    """What holds or fails whatever the timing."""
    found = lowered(workload, on, **options)
    usages = memory_usages(found.program, found.session.config)
    return check_capacity(usages) + check_coverage(found.program) + check_ready(found.program)


def planned(workload: Any, on: Any, **options: Any) -> PlanResult:
    found = plan(workload, on, **options)
    assert isinstance(found, PlanResult)
    return found


def test_a03_output_stationary_is_refused_by_name() -> None:
    with pytest.raises(OutsideModelError, match="'systolic_os'"):
        simulate(product(4, 4, 4), square(2, core_type="systolic_os"))
    # Weight stationary, by hand: one tile of 2 x 2 blocks of 2 preloads, at least 4 cycles apart.
    simulation = run(product(4, 4, 4), square(2))
    assert simulation.lower_bounds["array"] == 2 * 2 * 2 * 4


def test_a05_one_row_costs_far_less_and_uses_far_less() -> None:
    on = square(128, spad_size=32_768, accum_spad_size=4096, precision=2, icnt_injection_ports_per_core=16)
    row = run(product(1, 256, 768), on)
    # 2 x 6 blocks of weights, each for one row: 128 cycles a block, of which the row needs one.
    assert row.lower_bounds["array"] == 2 * 6 * 128
    assert row.utilisation["mac"] < 1 / 128


@pytest.mark.slow
def test_a05_whole_product() -> None:
    on = square(128, spad_size=32_768, accum_spad_size=4096, precision=2, icnt_injection_ports_per_core=16)
    row, whole = run(product(1, 256, 768), on), run(product(256, 256, 768), on)
    assert whole.total_cycles > 1.5 * row.total_cycles
    assert whole.utilisation["mac"] > 50 * row.utilisation["mac"]


@pytest.mark.parametrize("stages", [1, 2, 5, 10])
def test_a07_splitting_the_reduction_loads_nothing_twice(stages: int) -> None:
    # K 320 in 1 to 10 stages of whole requests: the same loads; 8 rows of 8 B stored, a request each.
    line = f"[T] N8 C320 M8 - [O] N1 C{stages} M1 - [I] N8 C{320 // stages} M8"
    totals = lowered(product(8, 8, 320), "systolic-ws-8x8", mapping=line).totals
    assert totals.requests == {"read": 2 * 8 * 320 // 32, "write": 2}
    assert totals.useful_bytes["read"] == 2 * 8 * 320


def test_a09_a_tail_of_three_is_covered() -> None:
    line = "[T] N7 C4 M4 - [O] N2 C1 M1 - [I] N4 C4 M4"
    found = report(product(7, 4, 4), square(4), mapping=line)
    assert found.ok
    assert "coverage: 28 outputs, each stored exactly once" in found.report.proved
    # On an array of 8 rows, tiles of 4 would overlap: the mapping is refused with what to write.
    with pytest.raises(MappingError, match=r"N4 is no multiple of 8.*write \[I\] N8 and \[O\] N1"):
        plan(product(7, 4, 4), square(8), mapping=line)


def test_a13_an_empty_space_names_its_constraint() -> None:
    found = planned(product(512, 1024, 128), square(16, spad_size=1, accum_spad_size=4))
    assert not found.ok
    assert found.plan is not None
    # The smallest tile, 16 x 16 x 16: 2 x 16 rows of one request, of a half of 512 B.
    text = "1024 B of scratchpad are needed, a half holds 512 B"
    assert found.plan.reason == f"no mapping fits: for the smallest tile {text}"
    with pytest.raises(InfeasibleError, match=text):
        simulate(product(512, 1024, 128), square(16, spad_size=1, accum_spad_size=4))
    with pytest.raises(MappingError, match=r"accumulator half of 512 B holds no 16x16 block of 1024 B"):
        plan(product(512, 1024, 128), square(16, spad_size=1, accum_spad_size=1))


@pytest.mark.parametrize(
    ("line", "memory", "needed", "half"),
    [
        # A15, A25: 64 columns of 512 elements and 64 rows of them, 1 B each, in 16 requests a row: 65536 B.
        ("[T] N64 C512 M64 - [O] N1 C1 M1 - [I] N64 C512 M64", "scratchpad", 2 * 64 * 16 * 32, 32_768),
        # A23: 8 rows of 1152 columns: 144 blocks of 8 requests.
        ("[T] N8 C8 M1152 - [O] N1 C1 M1 - [I] N8 C8 M1152", "accumulator", 144 * 8 * 32, 8_192),
    ],
)
def test_a15_a23_a25_capacity_comes_first_with_both_numbers(
    line: str, memory: str, needed: int, half: int
) -> None:
    n, c, m = (int(token[1:]) for token in line.split(" - ")[0].split()[1:])
    with pytest.raises(MappingError) as caught:
        plan(product(n, m, c), "systolic-ws-8x8", mapping=line)
    assert f"{needed} B of {memory} are needed, a half holds {half} B" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "shape", [(5, 256, 128), (8, 256, 128), (16, 5, 128), (16, 256, 100), (32, 256, 128)]
)
def test_a21_odd_shapes(shape: tuple[int, int, int]) -> None:
    found = report(product(*shape), square(16))
    assert found.ok
    run(product(*shape), square(16))


def test_a17_a_transposed_left_operand_is_computed() -> None:
    simulation = run("bmm:b=1,m=24,n=16,k=40,ta", "systolic-ws-8x8")
    assert any(note.code == "Q11" for note in simulation.notes)


@pytest.mark.parametrize(("dtype", "width"), [("int8", 1), ("bf16", 2)])
def test_a37_elements_of_one_and_two_bytes_on_two_cores(dtype: str, width: int) -> None:
    simulation = run(f"gemm:m=384,n=64,k=64,dtype={dtype}", square(16, num_cores=2))
    totals = simulation.layers[0].totals
    assert totals.useful_bytes["write"] == 384 * 64 * width


@pytest.mark.parametrize(
    "workload", ["gemm:m=384,n=64,k=64,dtype=int4", "gemm:m=16,n=2560,k=8192,dtype=int4"]
)
def test_a27_a37_half_bytes_are_refused(workload: str) -> None:
    with pytest.raises(PantileError, match="elements of 4 bits"):
        simulate(workload, square(16, num_cores=2))


def test_a31_a_dropped_band_is_refused_with_what_is_lost() -> None:
    line = "[T] N8 C8 M72 - [O] N1 C1 M8 - [I] N8 C8 M8"  # 9 bands of 8 columns, 8 of them made
    with pytest.raises(MappingError, match=r"covers 64 of 72 columns: 512 of 4608 MACs are lost.*to 9"):
        plan(product(8, 72, 8), "systolic-ws-8x8", mapping=line)


def test_a39_a_large_batch_on_many_cores_fits() -> None:
    on = square(128, num_cores=56, spad_size=1024, accum_spad_size=1024, precision=2)
    assert static("bmm:b=64,m=1024,n=2304,k=768", on).ok
    # Without cutting, 1024 rows and 2304 columns of 768 elements of 2 B: 3328 * 1536 B.
    line = "[T] N1024 C768 M2304 - [O] N1 C1 M1 - [I] N1024 C768 M2304"
    with pytest.raises(MappingError, match=r"5111808 B of scratchpad are needed, a half holds 524288 B"):
        plan("bmm:b=64,m=1024,n=2304,k=768", on, mapping=line)


@pytest.mark.parametrize("shape", [(32, 32, 96), (64, 64, 96), (96, 64, 64)])
@pytest.mark.parametrize("stages", [1, 3])
def test_a41_odd_counts_of_reduction_tiles(shape: tuple[int, int, int], stages: int) -> None:
    m, n, k = shape
    depth = -(-k // stages // 8) * 8
    line = f"[T] N{m} C{k} M{n} - [O] N{m // 32} C{-(-k // depth)} M{n // 32} - [I] N32 C{depth} M32"
    found = report(product(*shape), "systolic-ws-8x8", mapping=line)
    assert found.ok
    run(product(*shape), "systolic-ws-8x8", mapping=line)


@pytest.mark.parametrize("stages", [4, 5, 7])
def test_a43_chained_products_with_many_reduction_tiles_on_many_cores(tmp_path: Path, stages: int) -> None:
    k = 8 * stages
    mapping = tmp_path / "chain.mapping"
    mapping.write_text(
        f"[T] N16 C16 M{k} - [O] N2 C1 M{stages} - [I] N8 C16 M8\n"
        f"[T] N16 C{k} M24 - [O] N2 C{stages} M3 - [I] N8 C8 M8\n"
    )
    tensors = (
        Tensor("w0", (16, k), "initializer"),
        Tensor("w1", (k, 24), "initializer"),
        Tensor("x", (16, 16), "input"),
        Tensor("h", (16, k), "intermediate"),
        Tensor("y", (16, 24), "intermediate"),
    )
    nodes = (
        Node(
            name="up",
            op_type="MatMul",
            inputs=("x", "w0"),
            outputs=("h",),
            computation=Matmul(m=16, n=k, k=16),
        ),
        Node(
            name="down",
            op_type="MatMul",
            inputs=("h", "w1"),
            outputs=("y",),
            computation=Matmul(m=16, n=24, k=k),
        ),
    )
    network = Network(name="chain", nodes=nodes, tensors=tensors)
    simulation = run(network, machine(num_cores=4), mapping=str(mapping))
    assert [layer.totals.tiles for layer in simulation.layers] == [2 * stages, 6 * stages]
    first, second = simulation.layers
    assert second.start_cycle == first.finish_cycle
    assert first.cycles + second.cycles == simulation.total_cycles


def test_a47_a_small_array_with_usual_memories() -> None:
    assert report(product(20, 12, 24), square(4)).ok
    run(product(20, 12, 24), square(4))


def test_a49_what_a_tile_may_use_is_said() -> None:
    # 512^3 on 16 x 16 with 4 x 4096 rows and 1024: two tiles are resident, so that each has half of both. Of
    # 512 accumulator rows, 32 blocks, 5 x 5 are asked for; 512 is 7 tiles of 74, rounded down to 64.
    on = square(16, spad_size=256, accum_spad_size=64)
    found = planned(product(512, 512, 512), on)
    assert found.plan is not None
    decisions = {each.name: each.value for each in found.plan.decisions}
    assert decisions["db_max_tile_i_j"] == 5
    assert found.plan.parameters["inner"]["N"] == found.plan.parameters["inner"]["M"] == 64
    usage = [text for text in static(product(512, 512, 512), on).proved if "slot of" in text]
    # 4 x 4 blocks of 16 rows, one request each; 64 x 64 sums of 4 B.
    assert usage[1].endswith("slot of 32768 B: at most 8192 B in granules, 16384 B of elements")


@pytest.mark.parametrize("side", [1, 2, 3, 5, 7, 12, 16, 24, 100])
def test_a53_every_side_has_a_plan_without_a_table(side: int) -> None:
    found = report(product(25, 30, 35), square(side, spad_size=512, accum_spad_size=512))
    assert found.ok
    run(product(25, 30, 35), square(side, spad_size=512, accum_spad_size=512))


@pytest.mark.parametrize(("height", "width"), [(8, 16), (4, 7), (1, 3)])
def test_a53_a_wide_array_takes_an_explicit_mapping(height: int, width: int) -> None:
    with pytest.raises(PantileError, match=rf"needs a square array, got {height} rows and {width} columns"):
        plan(product(16, 16, 16), machine(core_height=height, core_width=width))
    line = "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16"
    run(product(16, 16, 16), machine(core_height=height, core_width=width), mapping=line)


def test_a53_a_narrow_array_is_refused_with_both_sizes() -> None:
    line = "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N16 C16 M16"
    with pytest.raises(OutsideModelError, match="blocks of 16 x 16 on an array of 16 x 4"):
        simulate(product(16, 16, 16), machine(core_height=16, core_width=4), mapping=line)


# -- rows for the compiled form --------------------------------------------------------------------------


@pytest.mark.slow
def test_a01_a_long_thin_product() -> None:
    simulation = run(product(12_544, 32, 27), "systolic-ws-8x8")
    assert simulation.total_cycles >= -(-12_544 * 32 * 27 // 64)


@pytest.mark.slow
@pytest.mark.parametrize("m", [1744, 1752, 1760])
def test_a29_tails_that_are_no_multiple_of_16(m: int) -> None:
    assert static(product(m, 4720, 584), "systolic-ws-128x128-c4").ok
    run(product(m, 4720, 584), "systolic-ws-128x128-c4")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 49_216, 4096), (16, 2560, 8192), (1024, 2304, 768)])
def test_a27_a39_a45_wide_products(shape: tuple[int, int, int]) -> None:
    assert static(product(*shape), "systolic-ws-128x128-c4").ok
    run(product(*shape), "systolic-ws-128x128-c4")


@pytest.mark.slow
def test_a51_a_large_cube_comes_to_its_end() -> None:
    run(product(4096, 4096, 4096), "systolic-ws-128x128-c4")


# -- values worth sweeping -------------------------------------------------------------------------------

SMALL = [1, 2, 3, 5, 7, 8, 15, 16, 17, 27, 31, 33, 63, 65, 72, 100, 127, 129, 200]
SIZES = [*SMALL, *SMALL, 257, 320, 584, 1152, 1752, 5427, 12_544, 49_216]
CORES = [1, 2, 4, 6, 7, 8, 13, 24, 25, 32, 56, 64]
SIDES = [1, 2, 4, 8, 16, 32, 128, 256]


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Machine, str | None]:
    """A workload, a machine, and at times a mapping that may fit it or not."""
    m, n, k = (draw(st.sampled_from(SIZES)) for _ in range(3))
    b, side = draw(st.sampled_from([1, 1, 3, 5])), draw(st.sampled_from(SIDES))
    cores, width = draw(st.sampled_from(CORES)), draw(st.sampled_from([side, side, side, 3, 8]))
    assume(b * -(-m // side) * -(-n // side) * -(-k // side) <= 20_000)
    on = machine(
        num_cores=cores,
        core_height=side,
        core_width=width,
        precision=draw(st.sampled_from([1, 2, 4])),
        spad_size=draw(st.sampled_from([1, 16, 256])),
        accum_spad_size=draw(st.sampled_from([1, 16, 1024])),
        dram_channels=draw(st.sampled_from([1, 3, 16, 64])),
    )
    text = f"bmm:b={b},m={m},n={n},k={k}{draw(st.sampled_from(['', ',ta', ',tb', ',bias']))}"
    mapping = None
    if draw(st.booleans()):
        inner = [draw(st.sampled_from([side, 2 * side, size, 7])) for size in (m, k, n)]
        outer = [
            max(1, -(-size // each) + draw(st.sampled_from([0, 0, 0, 1, -1])))
            for size, each in zip((m, k, n), inner, strict=True)
        ]
        sections = (
            " ".join(f"{letter}{count}" for letter, count in zip("NCM", counts, strict=True))
            for counts in ((m, k, n), outer, inner)
        )
        mapping = " - ".join(f"[{name}] {counts}" for name, counts in zip("TOI", sections, strict=True))
    return text, on, mapping


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(cases())
def test_whatever_is_planned_is_right_and_the_rest_is_refused_in_a_line(
    case: tuple[str, Machine, str | None],
) -> None:
    text, on, mapping = case
    try:
        judged = static(text, on, mapping=mapping)
    except PantileError as error:
        for problem in getattr(error, "problems", (error,)):
            assert "\n" not in str(problem)
            assert any(character.isdigit() for character in str(problem))
        return
    assert judged.ok
    run(text, on, mapping=mapping)
