"""The data of a page, and the verb ``view``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pantile
from pantile.errors import OutsideModelError, UsageError
from pantile.program.tables import ReleasedBy
from pantile.targets.systolic.timeline import timeline_of
from pantile.verbs.listing import Listing
from pantile.verbs.page import CAUSES
from pantile.verbs.page_rows import contributions
from pantile.verbs.simulate import simulate_session
from pantile.view.columns import KINDS
from pantile.view.residency import contributions as counted_contributions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import WriteOnnx
    from pantile.machine import Machine
    from pantile.view.pagedata import PageData

A8 = "systolic-ws-8x8"
LOAD, COMPUTE, STORE = (KINDS.index(name) for name in ("load", "compute", "store"))
CORNER = ("gemm:m=50,n=46,k=70", "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24")


@pytest.fixture
def view(tmp_path: Path) -> Callable[..., PageData]:
    """A function that makes the page of a workload and returns its data."""

    def make(
        workload: str, mapping: str | None = None, machine: str | Machine = A8, **more: object
    ) -> PageData:
        return pantile.view(workload, machine, tmp_path / "page.html", mapping=mapping, **more).data

    return make


def test_steps_of_the_worked_example(seed: tuple[str, str], view: Callable[..., PageData]) -> None:
    page = view(*seed)
    operations, tiles = page.operations, page.tiles
    assert (operations.count, tiles.count) == (176, 8)
    first = operations["tile"] == 0
    assert operations["kind"][first].tolist() == [LOAD] * 4 + [COMPUTE] * 16
    assert [page.opcodes[at] for at in operations["opcode"][:5]] == ["MOVIN"] * 4 + ["GEMM_PRELOAD"]
    assert operations["operand"][:4].tolist() == [2, 1, 1, 2]  # weight, activation, activation, weight
    second = operations["tile"] == 1
    assert operations["kind"][second].tolist() == [LOAD] * 4 + [COMPUTE] * 16 + [STORE] * 4
    assert [int(tiles[f"{axis}_index"][7]) for axis in "mnk"] == [1, 1, 1]
    assert page.extents == {"b": 1, "m": 32, "n": 32, "k": 64}


def test_the_corner_tile_shows_nominal_and_actual_size(view: Callable[..., PageData]) -> None:
    page = view(*CORNER)
    last = {name: int(column[-1]) for name, column in page.tiles.columns.items()}
    assert [last[f"{axis}_nominal"] for axis in "mnk"] == [24, 24, 32]
    assert [last[f"{axis}_size"] for axis in "mnk"] == [2, 22, 6]
    assert [last[f"{axis}_start"] for axis in "mnk"] == [48, 24, 64]
    mine = (page.operations["tile"] == page.tiles.count - 1) & (page.operations["kind"] == COMPUTE)
    assert page.operations["macs"][mine].tolist() == [96, 96, 72]


def test_operations_carry_the_figures_of_the_listing_and_the_run(view: Callable[..., PageData]) -> None:
    page = view(*CORNER)
    listed = pantile.lower(CORNER[0], A8, mapping=CORNER[1]).to_json()["operations"]
    assert page.operations["macs"].sum() == 50 * 46 * 70
    assert page.operations["tile"].tolist() == [each["tile"] for each in listed]
    assert [page.opcodes[at] for at in page.operations["opcode"]] == [each["op"] for each in listed]
    run = pantile.simulate(CORNER[0], A8, mapping=CORNER[1])
    assert page.tiles["issue_cycle"].tolist() == run.result.tiles["issue_cycle"].tolist()
    assert page.tiles["finish_cycle"].tolist() == run.result.tiles["finish_cycle"].tolist()
    assert sum(term.cycles for term in page.terms) == run.total_cycles
    assert page.operations["finish_cycle"].max() <= run.total_cycles


def test_the_boxes_of_all_computes_cover_the_product_once(view: Callable[..., PageData]) -> None:
    page = view(*CORNER)
    done = np.zeros((50, 46, 70), int)
    columns = [page.operations[f"{axis}_{part}"] for axis in "mnk" for part in ("start", "size")]
    for at in np.flatnonzero(page.operations["kind"] == COMPUTE):
        m, rows, n, width, k, depth = (int(column[at]) for column in columns)
        done[m : m + rows, n : n + width, k : k + depth] += 1
    assert (done == 1).all()


sizes = st.integers(1, 24)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(sizes, sizes, sizes),
    inner=st.tuples(*[st.sampled_from([8, 16, 24])] * 2, sizes),
    cores=st.integers(1, 3),
)
def test_causes_and_contributions_are_consistent(
    shape: tuple[int, int, int],
    inner: tuple[int, int, int],
    cores: int,
    machine: Callable[..., Machine],
    view: Callable[..., PageData],
) -> None:
    m, n, k = shape
    outer = [-(-total // size) for total, size in zip(shape, inner, strict=True)]
    sections = (("T", shape), ("O", outer), ("I", inner))
    mapping = " - ".join(f"[{name}] N{rows} C{steps} M{cols}" for name, (rows, cols, steps) in sections)
    page = view(f"gemm:m={m},n={n},k={k}", mapping, machine(num_cores=cores))
    ops = page.operations
    stage, total = counted_contributions(ops)
    assert ops["stage"].tolist() == stage.tolist()
    assert ops["stage_count"].tolist() == total.tolist()
    assert (ops["issue_cycle"] <= ops["start_cycle"]).all()
    assert (ops["start_cycle"] <= ops["finish_cycle"]).all()
    order = list(ReleasedBy)
    released = np.flatnonzero(ops["releaser"] >= 0)
    for at in released:
        releaser, cause = int(ops["releaser"][at]), order[int(ops["cause"][at])]
        # What released it had finished, or in program order left, before it was issued.
        event = "issue_cycle" if cause == ReleasedBy.PROGRAM else "finish_cycle"
        assert ops[event][releaser] < ops["issue_cycle"][at]
        if cause == ReleasedBy.PROGRAM:
            assert releaser == at - 1
            assert ops["tile"][releaser] == ops["tile"][at]
        if cause == ReleasedBy.COUNTER:
            assert ops["kind"][releaser] in ((LOAD,) if ops["kind"][at] == COMPUTE else (LOAD, COMPUTE))
        if cause == ReleasedBy.RESOURCE:
            assert ops["kind"][releaser] == ops["kind"][at] == COMPUTE
            assert ops["engine"][releaser] == ops["engine"][at]
    arbiter = ops["cause"] == ReleasedBy.ARBITER
    assert (ops["releaser"][arbiter] == -1).all()


def test_an_operation_is_issued_when_it_is_ready_or_when_its_turn_comes(
    machine: Callable[..., Machine],
) -> None:
    for cores in (1, 3):
        lowered = pantile.lower(CORNER[0], machine(num_cores=cores), mapping=CORNER[1])
        run = simulate_session(lowered.session, record=range(lowered.program.operations))
        rows = timeline_of(run.stream, lowered.session.config, run.result)
        waited = rows["issue"] > rows["ready"]
        assert (rows["issue"] >= rows["ready"]).all()
        assert (waited == (rows["released_by"] == ReleasedBy.ARBITER)).all()
        assert waited.any()


def test_contributions_are_counted_over_all_reduction_tiles() -> None:
    # Reduction tiles of 20 steps, 3 computes each, on an array of 8: not ceil(40 / 8) = 5 in all.
    lowered = pantile.lower("gemm:m=8,n=8,k=40", A8, mapping="[T] N8 C40 M8 - [O] N1 C2 M1 - [I] N8 C20 M8")
    before, total = contributions(lowered.program, lowered.listing.tile_rows)
    assert (before.tolist(), total.tolist()) == ([0, 3], [6, 6])


def test_a_window_holds_part_of_a_program_and_names_the_rest(view: Callable[..., PageData]) -> None:
    whole, part = view(*CORNER), view(*CORNER, window=range(60, 100))
    assert part.operations.count == 40
    assert part.window is not None
    assert (part.window.start, part.window.total) == (60, whole.operations.count)
    assert f"--window 100:{whole.operations.count}" in part.window.command
    assert "--window 60:100" in part.command
    assert whole.window is None
    assert [each.value for each in part.figures] == [each.value for each in whole.figures]


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_a_window_shows_what_the_whole_page_shows_there(
    cores: int, machine: Callable[..., Machine], view: Callable[..., PageData]
) -> None:
    chip = machine(num_cores=cores)
    whole = view(*CORNER, chip)
    count = whole.operations.count
    for start, stop in ((0, 5), (60, 100), (200, 260), (count - 30, count)):
        part = view(*CORNER, chip, window=range(start, stop))
        for name, column in whole.operations.columns.items():
            if name not in ("releaser", "tile"):
                assert part.operations[name].tolist() == column[start:stop].tolist(), name
        releaser = whole.operations["releaser"][start:stop]
        moved = np.where((releaser >= start) & (releaser < stop), releaser - start, -1)
        assert part.operations["releaser"].tolist() == moved.tolist()
        first = int(whole.operations["tile"][start])
        assert (part.operations["tile"] + first).tolist() == whole.operations["tile"][start:stop].tolist()


def test_the_command_makes_the_page_again(onnx_file: WriteOnnx, tmp_path: Path) -> None:
    net = onnx_file([("MatMul", "p", ["x", "w"], "y")], {"x": ["seq", 32]}, {"w": [32, 24]})
    out = tmp_path / "a page.html"
    mapping = "[T] N40 C32 M24 - [O] N1 C1 M1 - [I] N40 C32 M24"
    page = pantile.view(net, A8, out, dims={"seq": 40}, mapping=mapping, semantics="faithful").data
    assert page.command == (
        f"pantile view '{net}#p' -m systolic-ws-8x8 --mapping '{mapping}' --semantics faithful "
        f"--dim seq=40 -o '{out}'"
    )
    assert out.read_text().startswith("<!doctype html>")


def test_skip_tiles_beside_the_product_shift_nothing(
    onnx_file: WriteOnnx, view: Callable[..., PageData]
) -> None:
    net = onnx_file(
        [("Relu", "relu", ["x"], "r"), ("MatMul", "p", ["r", "w"], "y"), ("Relu", "last", ["y"], "z")],
        {"x": [32, 64]},
        {"w": [64, 32]},
    )
    page = view(net, semantics="faithful")
    run = pantile.simulate(net, A8, semantics="faithful")
    assert page.tiles["issue_cycle"].tolist() == run.result.tiles["issue_cycle"][1:2].tolist()
    assert [note for note in page.notes if note.startswith("outside")]


def test_findings_and_proofs_are_those_of_check(seed: tuple[str, str], view: Callable[..., PageData]) -> None:
    workload, mapping = seed
    report = pantile.check(workload, A8, mapping=mapping).report
    page = view(workload, mapping)
    assert page.proved == report.proved
    assert [(each.code, each.operations) for each in page.findings] == [
        (each.code, each.operations) for each in report.findings
    ]


def test_every_cause_has_a_text(seed: tuple[str, str], view: Callable[..., PageData]) -> None:
    assert set(CAUSES) == set(ReleasedBy)
    page = view(*seed)
    assert [page.causes[cause] for cause in ReleasedBy] == [CAUSES[cause] for cause in ReleasedBy]


def test_braces_of_names_are_no_letters(onnx_file: WriteOnnx, view: Callable[..., PageData]) -> None:
    net = onnx_file(
        [("MatMul", "p", ["x", "w"], "y"), ("Relu", "{m}", ["y"], "z")], {"x": [8, 8]}, {"w": [8, 8]}
    )
    assert any("(m)" in note for note in view(net).notes)


def test_what_a_page_cannot_show(mlp: str, onnx_file: WriteOnnx, view: Callable[..., PageData]) -> None:
    with pytest.raises(UsageError, match="a page shows one product, got 2"):
        view(mlp)
    conv = onnx_file(
        [("Conv", "c", ["p", "w"], "q", {"kernel_shape": [1, 1]})], {"p": [1, 8, 8, 8]}, {"w": [16, 8, 1, 1]}
    )
    with pytest.raises(OutsideModelError, match="pages show products only, got a convolution"):
        view(conv)
    with pytest.raises(UsageError, match="a page shows at most 10000; add --window 0:10000"):
        view("gemm:m=512,n=512,k=512")
    with pytest.raises(UsageError, match="the program has operations 0 to 151, got a window from 152"):
        view("gemm:m=32,n=32,k=64", window=range(152, 160))


def test_a_listing_is_a_value_of_its_own(seed: tuple[str, str]) -> None:
    lowered = pantile.lower(seed[0], A8, mapping=seed[1])
    again = Listing(lowered.program, lowered.session.config, 0, None, range(176))
    assert list(again) == list(lowered.listing)
