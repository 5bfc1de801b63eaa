"""Plans of both planners as programs of all cores: what they cover, how they run, what a file keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import pantile
from pantile.errors import InfeasibleError, OutsideModelError, PantileError, UsageError, WorkloadError
from pantile.machine import load_machine
from pantile.targets.ascend.kernel_execute import execute_kernel
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.trace_text import print_trace
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.ascend_kernels import Launch
from pantile.verbs.ascend_lower import KernelLowering
from pantile.verbs.ascend_report import coverage_of, exactly_once
from pantile.verbs.ascend_run import KernelRun
from pantile.verbs.sessions import planned

if TYPE_CHECKING:
    from pathlib import Path

    from pantile.verbs.ascend import Ascend

MACHINE = "ascend-950pr"
SMALL = "bmm:b=2,m=512,n=512,k=512,dtype=fp16"
PLANNERS = ("cann", "asw", "asw:published")
BROADCAST = "bmm:a=2x1x20x30,b=1x3x30x40,dtype=fp16"
NOT_LOWERED = {
    ("asw:published", "bmm:b=3,m=1000,n=720,k=300,ta"),
    ("cann", "bmm:b=33,m=129,n=127,k=65"),
}


def launched(workload: str, planner: str = "cann") -> Launch:
    name, _, semantics = planner.partition(":")
    options = PlanOptions(planner=name, semantics=semantics or None)
    session = cast("Ascend", planned(workload, MACHINE, options, complete=True)[0])
    return session.launch(session.plans[0].node.name)


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    "workload",
    [
        SMALL,
        "bmm:b=1,m=1792,n=1792,k=4096",  # uneven blocks
        "bmm:b=1,m=2304,n=2304,k=256",  # the last wave is cut again (strategy B)
        "bmm:b=1,m=1536,n=1536,k=256",
        "bmm:b=5,m=333,n=257,k=100,tb",
        "bmm:b=3,m=1000,n=720,k=300,ta",
        "bmm:a=6x500x300,b=1x300x200,dtype=bf16",  # batches become rows under cann
        "bmm:b=33,m=129,n=127,k=65",
    ],
)
def test_all_cores_cover_the_product_exactly_once(planner: str, workload: str) -> None:
    try:
        launch = launched(workload, planner)
    except (OutsideModelError, InfeasibleError):  # no plan, or one of which no core program is known
        assert (planner, workload) in NOT_LOWERED
        return
    assert (planner, workload) not in NOT_LOWERED
    kernel = launch.kernel
    seen = np.zeros((launch.batch, kernel.m, kernel.n), np.int64)
    for works in launch.works:
        for each in works:
            rows = slice(each["m"], each["m"] + each["rows"])
            seen[each["batch"], rows, each["n"] : each["n"] + each["columns"]] += each["depth"]
    assert (seen == kernel.k).all()
    assert coverage_of(launch).ok
    assert sum(map(len, launch.classes)) == sum(len(works) > 0 for works in launch.works)


@pytest.mark.parametrize("planner", ["cann", "asw"])
@pytest.mark.parametrize(
    "workload",
    [
        "bmm:b=2,m=40,n=70,k=90,dtype=fp16,bias=fp32",
        "bmm:b=2,m=70,n=40,k=50,dtype=bf16,ta,tb,out=fp32",
        "bmm:b=3,m=33,n=300,k=40,dtype=fp16,tb,bias",
        BROADCAST,
    ],
)
def test_planned_kernels_give_numpy_s_product(planner: str, workload: str) -> None:
    if (planner, workload) == ("cann", BROADCAST):
        with pytest.raises(OutsideModelError, match="branch BASE is known by how it is launched"):
            launched(workload, planner)
        return
    launch = launched(workload, planner)
    kernel, random = launch.kernel, np.random.default_rng(1)
    lefts, rights = (
        1 + max(int(works[side].max()) for works in launch.works if len(works))
        for side in ("a_batch", "b_batch")
    )
    a = random.integers(-3, 4, (lefts, kernel.m, kernel.k)).astype(float)
    b = random.integers(-3, 4, (rights, kernel.k, kernel.n)).astype(float)
    bias = random.integers(-3, 4, kernel.n).astype(float) if kernel.bias else None
    found = execute_kernel(kernel, launch.works, a, b, bias)
    every = np.concatenate(launch.works)
    source = {int(row["batch"]): (int(row["a_batch"]), int(row["b_batch"])) for row in every}
    wanted = [a[source[at][0]] @ b[source[at][1]] for at in range(launch.batch)]
    assert np.array_equal(found.astype(float), np.stack(wanted) + (0 if bias is None else bias))


def test_fp32_is_cut_along_k_and_added_up_in_gm() -> None:
    launch = launched("bmm:b=1,m=512,n=512,k=3000,dtype=fp32,bias")
    works = launch.works[0]
    assert works["depth"].tolist() == [1024, 1976]
    assert works["adds"].tolist() == [False, True]
    ops = [each["op"] for each in core_stream(launch.kernel, works)]
    assert ops.count("set_atomic_add") == 1
    assert ops.count("copy_cbuf_to_bt") == 1
    assert ops.index("set_atomic_add") > ops.index("copy_matrix_cc_to_gm")


def test_cores_that_run_the_same_are_one_class() -> None:
    launch = launched("bmm:b=1,m=2304,n=2304,k=256")
    for alike in launch.classes:
        first = core_stream(launch.kernel, launch.works[alike[0]])
        for core in alike[1:]:
            other = core_stream(launch.kernel, launch.works[core])
            assert np.array_equal(first.which, other.which)
            assert first.kinds == other.kinds
    assert [len(alike) for alike in launch.classes] == [18, 5, 3, 5, 1]


def test_text_json_and_totals_are_of_one_stream() -> None:
    one = pantile.lower(SMALL, MACHINE, core=3)
    assert isinstance(one, KernelLowering)
    data = one.to_json()
    stream = list(core_stream(one.launch.kernel, one.launch.works[3]))
    assert one.text() == print_trace(stream)
    assert [{"op": each["op"], "args": each["args"]} for each in data["operations"]] == stream
    assert data["operation_count"] == len(stream) == sum(data["totals"]["instructions"].values())
    every = pantile.lower(SMALL, MACHINE)
    assert isinstance(every, KernelLowering)
    assert every.operation_count == 32 * len(stream)
    assert every.totals.macs == 2 * 512**3 == every.totals.padded_macs
    assert every.totals.moved["GM>L1"] == 32 * (128 + 128) * 512 * 2
    assert every.text().splitlines()[0] == "// core 0"
    some = pantile.lower(SMALL, MACHINE, window=range(70, 75))
    assert [(each["core"], each["index"]) for each in some.to_json()["operations"]] == [
        (0, 70),
        (0, 71),
        (1, 0),
        (1, 1),
        (1, 2),
    ]


def test_a_core_without_work_lists_nothing_and_is_not_simulated() -> None:
    idle = pantile.lower("bmm:b=1,m=64,n=64,k=64", MACHINE, core=31)
    assert idle.text() == ""
    with pytest.raises(OutsideModelError, match="core 31 has no tile to compute: "):
        pantile.simulate("bmm:b=1,m=64,n=64,k=64", MACHINE, core=31)
    with pytest.raises(UsageError, match="there is no core 32"):
        pantile.lower(SMALL, MACHINE, core=32)


def test_every_program_is_proved_right() -> None:
    found = pantile.check("bmm:b=2,m=500,n=512,k=512,dtype=fp16,bias=fp32", MACHINE)
    assert found.ok
    data = found.to_json()
    assert data["findings"] == []
    heads = [line.partition(":")[0] for line in data["proved"]]
    assert heads[:5] == ["coverage", "coverage", "deadlock", "pairing", "races"]
    assert {"capacity", "alignment"} <= set(heads)


def test_what_is_computed_twice_or_never_is_told() -> None:
    launch = launched(SMALL)
    works = list(launch.works)
    works[5] = works[6]
    broken = Launch(launch.kernel, launch.batch, launch.cores, lambda core: works[core])
    first, second = coverage_of(broken).findings
    assert first.sentence == (
        "of 268435456 MACs, not each is computed exactly once: 8388608 never, 8388608 again"
    )
    assert (second.code, second.grade) == ("PT-COVERAGE", "wrong value")


def test_exactly_once_against_counting() -> None:
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        cuts = [
            np.sort(random.choice(np.arange(1, 4), random.integers(0, 3), replace=False)) for _ in range(2)
        ]
        edges = [np.concatenate([[0], each, [4]]) for each in cuts]
        boxes = [
            (m, n, edges[0][at + 1] - m, edges[1][to + 1] - n)
            for at, m in enumerate(edges[0][:-1])
            for to, n in enumerate(edges[1][:-1])
        ]
        if random.random() < 0.5:
            at = random.integers(len(boxes))
            boxes[at] = tuple(np.add(boxes[at], random.integers(0, 2, 4)).tolist())
        count = np.zeros((8, 8), int)
        for m, n, rows, columns in boxes:
            count[m : m + rows, n : n + columns] += 1
        wanted = np.zeros((8, 8), int)
        wanted[:4, :4] = 1
        table = np.array(boxes)
        found = exactly_once([table[:, 0], table[:, 1]], [table[:, 2], table[:, 3]], (4, 4))
        assert found == np.array_equal(count, wanted)
        hits += found
    assert 100 < hits < 300


def test_the_slowest_core_is_the_run_and_all_bounds_hold() -> None:
    ran = pantile.simulate("bmm:b=2,m=500,n=520,k=512,dtype=fp16", MACHINE)
    assert isinstance(ran, KernelRun)
    data = ran.to_json()
    assert data["total_cycles"] == max(each["total_cycles"] for each in data["per_core"])
    assert sum(data["terms"].values()) == data["total_cycles"]
    for core in data["per_core"]:
        assert sum(core["terms"].values()) == core["total_cycles"]
    assert all(bound <= data["total_cycles"] for bound in data["lower_bounds"].values())
    machine = load_machine(MACHINE)
    peak = machine.engine("cube").parameter("macs_per_cycle") * 32
    assert data["lower_bounds"]["macs"] == -(-2 * 500 * 520 * 512 // peak)
    assert 0 < data["utilisation"]["mac"] <= data["utilisation"]["busy"] <= 1
    slowest = data["per_layer"][0]["slowest_core"]
    alone = pantile.simulate("bmm:b=2,m=500,n=520,k=512,dtype=fp16", MACHINE, core=slowest)
    assert alone.to_json()["total_cycles"] == data["total_cycles"]
    assert "bound by" in str(ran)
    assert "as if alone" in str(ran)


def test_a_network_runs_layer_after_layer(mlp: str) -> None:
    ran = pantile.simulate(mlp, MACHINE, planner="asw").to_json()
    layers = ran["per_layer"]
    assert len(layers) == 2
    assert ran["total_ps"] == sum(each["total_ps"] for each in layers)
    assert any(note["code"] == "outside" for note in ran["notes"])


def test_a_trace_has_the_vendor_s_lanes(tmp_path: Path) -> None:
    file = tmp_path / "core0.perfetto-trace"
    ran = pantile.simulate(SMALL, MACHINE, core=0, trace=str(file))
    assert file.stat().st_size > 1000
    units = {each.unit for each in ran.slices()}  # type: ignore[union-attr]
    assert {"CUBE", "MTE1", "MTE2", "FIXP"} <= units
    cores = {each.core for each in pantile.simulate(SMALL, MACHINE).slices()}  # type: ignore[union-attr]
    assert cores == set(range(32))


def kept(tmp_path: Path, change: Any = None, planner: str = "cann") -> str:
    data = pantile.plan(SMALL, MACHINE, planner=planner).to_json()
    if change is not None:
        change(data["parameters"]["tilingData"])
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(data))
    return str(file)


@pytest.mark.parametrize("planner", ["cann", "asw"])
def test_a_plan_s_file_stands_for_itself(tmp_path: Path, planner: str) -> None:
    file = kept(tmp_path, planner=planner)
    again, fresh = (pantile.lower(each, MACHINE, planner=planner, core=0) for each in (file, SMALL))
    assert again.text() == fresh.text()
    assert pantile.check(file, MACHINE).ok
    ran = pantile.simulate(file, MACHINE)
    assert ran.to_json()["planner"] == planner


def test_a_changed_plan_is_lowered_as_it_says_or_refused_with_two_numbers(tmp_path: Path) -> None:
    file = kept(tmp_path, lambda packed: packed.update(baseK=64))
    lowered = pantile.lower(file, MACHINE, core=0)
    assert lowered.to_json()["totals"]["instructions"]["mad"] == 8
    file = kept(tmp_path, lambda packed: packed.update(baseK=512, kL1=512))
    with pytest.raises(PantileError) as caught:
        pantile.lower(file, MACHINE)
    first = str(caught.value).splitlines()[0]
    assert "L0A needs 131072 B of 32768 B, 1 of 2 parts of 65536 B" in first
    file = kept(tmp_path, lambda packed: packed.update(nL1=512, l0cDB=1))
    with pytest.raises(PantileError, match="L0B needs 131072 B of 32768 B"):
        pantile.lower(file, MACHINE)


def test_a_plan_of_other_sizes_is_refused(tmp_path: Path) -> None:
    file = kept(tmp_path, lambda packed: packed.update(batchDimAll=1))
    told = "the plan computes 1 of m512 n512 k512, the product is 2 of m512 n512 k512; plan again"
    with pytest.raises(PantileError, match=told):
        pantile.check(file, MACHINE)


def test_a_part_of_a_plan_s_file_that_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    data = pantile.plan(SMALL, MACHINE).to_json()
    del data["buffering"]
    file.write_text(json.dumps(data))
    with pytest.raises(PantileError, match="a plan without a usable 'buffering'; plan again"):
        pantile.lower(str(file), MACHINE)
    data = pantile.plan(SMALL, MACHINE).to_json()
    del data["parameters"]["tilingData"]["nL1"]
    file.write_text(json.dumps(data))
    with pytest.raises(PantileError, match=r"tilingData\.nL1: expected a whole number .*, got none"):
        pantile.lower(str(file), MACHINE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"baseK": None}, "tilingData.baseK: expected a whole number from 1 to 2^31 - 1, got null"),
        ({"l1BufferNum": None, "mL1": True}, "tilingData.l1BufferNum: expected"),
        ({"kL1": "x"}, "tilingData.kL1: expected a whole number from 1 to 2^31 - 1, got 'x'"),
        ({"l0cDB": 9}, "tilingData.l0cDB: expected 1 or 2, got 9"),
        ([], "tilingData: expected an object, got []"),
        (0, "blockDim: expected a whole number from 1 to 2^31 - 1, got 0"),
    ],
)
@pytest.mark.parametrize("verb", [pantile.lower, pantile.check, pantile.simulate])
def test_a_key_of_a_plan_s_file_that_cannot_be_is_refused(
    tmp_path: Path, verb: Any, change: Any, said: str
) -> None:
    data = pantile.plan(SMALL, MACHINE).to_json()
    parameters = data["parameters"]
    if isinstance(change, dict):
        parameters["tilingData"].update(change)
    else:
        parameters["tilingData" if isinstance(change, list) else "blockDim"] = change
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(data))
    with pytest.raises(WorkloadError) as caught:
        verb(str(file), MACHINE)
    told = str(caught.value)
    assert said in told
    assert "\n" not in told
    if isinstance(change, dict):
        assert all(key in told for key in change)


@pytest.mark.parametrize(
    ("workload", "chunk", "buffers"),
    [
        ("bmm:b=1,m=584,n=27,k=100,dtype=fp16,ta", 100, 2),  # K is padded to 112: four chunks no longer fit
        ("bmm:b=3,m=200,n=320,k=1152,dtype=fp16,bias", None, 2),
    ],
)
def test_chunks_of_asw_leave_room_for_the_bias_and_padding(
    workload: str, chunk: int | None, buffers: int
) -> None:
    launch = launched(workload, "asw")
    kernel = launch.kernel
    assert kernel.l1_buffers == buffers
    assert kernel.chunk_bytes <= kernel.chunk_room
    if chunk is not None:
        assert kernel.chunk == chunk
    assert any("the plan leaves no room in L1" in note.text for note in launch.notes)
    assert pantile.check(workload, MACHINE, planner="asw").ok
