"""Pages of tile-language programs in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.verbs.program_view import view_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from typing import Any as Screen  # tests/view/browser/conftest.py, which cannot be imported

pytestmark = pytest.mark.slow

PING_PONG = Path(__file__).parents[3] / "examples" / "tile_language" / "03_pingpong.py"
MESH = "mesh-2x2"


@pytest.fixture(scope="module")
def ping_pong() -> Any:
    return view_program(PING_PONG, MESH)


def test_overview_reads_what_simulate_says(ping_pong: Any, show: Callable[..., Screen]) -> None:
    page = show(ping_pong.data)
    figures = {each.key: each.value for each in ping_pong.data.figures}
    assert page.title() == "ping-pong with 2 slots · mesh-2x2 · Pantile"
    assert page.locator(".big", has_text="cycles").text_content() == f"{figures['total_cycles']}cycles"
    assert page.text(".badge") == "✓ No finding"
    rows = [" ".join(row.split()) for row in page.locator("#overview .figures tr").all_text_contents()]
    terms = {term.name: term.cycles for term in ping_pong.data.terms}
    assert any(row.startswith("drain bound by") and str(terms["drain"]) in row for row in rows)
    assert "D2 t × 2 o × 4 i16 t · 16 o · 32 i" in rows
    assert "sram@(0,1)62 × 4096 B, 4 × 1024 B1 B" in rows
    page.locator("#letters-mnk").check(force=True)
    assert "2 m × 2 n × 4 k" in page.text("#overview")


def test_steps_walk_through_the_run(ping_pong: Any, show: Callable[..., Screen]) -> None:
    page = show(ping_pong.data, "#v=1&s=steps&op=1")
    assert page.position() == "operation 1 of 388"
    assert "waits for a free slot of buffer0" in page.text("#list .row.selected")
    assert "source 03_pingpong.py:" in page.text("#inspector")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    number, opcode, region = page.selected()
    operations = ping_pong.data.operations
    row = number - 1
    assert opcode == ping_pong.data.opcodes[operations["opcode"][row]]
    first_load = operations["listed"].tolist().index(2)
    page.goto(page.url.split("#")[0] + f"#v=1&s=steps&op={first_load + 1}")
    assert page.selected()[1:] == ("load_store", "t 0:16 · o 0:16 · i 0:32")
    assert page.legend()["loading"] == "X 1 · W 1"
    slots = [" ".join(each.split()) for each in page.locator("#memories .slot").all_inner_texts()]
    assert slots[0].startswith("bytes 0:4096 tile (0, 0, 0) filling 4096 of 4096 B")
    assert slots[1].startswith("bytes 4096:8192 free 0 of 4096 B")
    assert "number in JSON 2" in page.text("#inspector")
    page.keyboard.press("End")
    assert page.legend() == {"written back": "Y 16", "dropped": "X 40 · W 40"}
    del region


def test_by_cycles_the_load_of_the_next_tile_runs_beside_the_computes(
    ping_pong: Any, show: Callable[..., Screen]
) -> None:
    operations, opcodes = ping_pong.data.operations, ping_pong.data.opcodes
    loads = [
        op
        for op in range(operations.count)
        if opcodes[operations["opcode"][op]] == "load_store" and operations["engine"][op] == 0
    ]
    computes = [op for op in range(operations.count) if opcodes[operations["opcode"][op]] == "compute"]
    moments = [
        int(operations["start_cycle"][op]) + 1
        for op in computes
        if any(
            operations["start_cycle"][load]
            < operations["start_cycle"][op]
            < operations["finish_cycle"][load] - 2
            for load in loads
        )
    ]
    assert moments  # two slots overlap
    page = show(ping_pong.data, f"#v=1&s=steps&by=cycle&t={moments[0]}")
    legend = page.legend()
    assert "X 1" in legend["loading"]
    assert "Y 1" in legend["in use"]


def test_tables_say_where_operations_stand(ping_pong: Any, show: Callable[..., Screen]) -> None:
    page = show(ping_pong.data, "#v=1&s=steps&op=1&tbl=operations")
    text = page.text("dialog[open]")
    assert "03_pingpong.py:43" in text
    assert "number in JSON" in text


def test_findings_lead_to_their_operations(show: Callable[..., Screen], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    text = PING_PONG.read_text()
    for statement in ("start_reading(tile)", "finish_reading(tile)"):
        text = text.replace(f"            {statement}\n", "")
    wrong.write_text(text)
    data = view_program(wrong, MESH).data
    (finding,) = (each for each in data.findings if each.code == "PT-RACE")
    page = show(data)
    assert "1 error" in page.text(".badge")
    assert "PT-RACE" in page.text("#findings")
    assert "NumPy gives" in page.text("#findings")
    rows = [data.operations["listed"].tolist().index(op) for op in finding.operations]
    for row, op in zip(rows, finding.operations, strict=True):
        label = f"operation {row + 1} ({op} in JSON)" if row != op else f"operation {row + 1}"
        assert label in page.text("#findings")
    page.locator("#findings .jumps button").first.click()
    assert page.position().startswith(f"operation {rows[0] + 1} of {data.operations.count}")
    page.keyboard.press("n")
    assert page.position().startswith("operation ")


def test_playing_the_order_that_breaks_a_race_ends_on_the_overwritten_tile(
    show: Callable[..., Screen], tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.py"
    text = PING_PONG.read_text()
    for statement in ("start_reading(tile)", "finish_reading(tile)"):
        text = text.replace(f"            {statement}\n", "")
    wrong.write_text(text)
    data = view_program(wrong, MESH).data
    (order,) = data.orders
    finding = data.findings[order.finding]
    late, early = finding.operations
    listed = order.operations["listed"].tolist()
    assert listed[-1] == late
    page = show(data)
    page.get_by_role("button", name="play the order that shows it").click()
    assert page.position().startswith(f"operation {max(1, listed.index(early))} of {len(listed)}")
    page.keyboard.press("End")
    assert page.position().startswith(f"operation {len(listed)} of {len(listed)}")
    assert f"number in JSON {late}" in page.text("#inspector")
    assert page.locator("#matrices").count() == 1


def test_a_planned_product_of_a_mesh(show: Callable[..., Screen], tmp_path: Path) -> None:
    made: Any = pantile.view("gemm:m=64,n=64,k=64", "mesh-2x2", tmp_path / "mesh.html")
    page = show(made.data, "#v=1&s=steps")
    assert page.title() == "gemm:m=64,n=64,k=64 · mesh-2x2 · Pantile"
    page.keyboard.press("End")
    assert page.legend()["written back"] == "Y 3"
    assert page.legend()["writing back"] == "Y 1"  # the last operation is under way
    page.keyboard.press("1")
    assert "How the planner decided" in page.text("#overview")
    assert "2 notes" in page.text(".badge")
    assert made.data.proved


def test_a_window_of_a_program(show: Callable[..., Screen]) -> None:
    data = view_program(PING_PONG, MESH, window=range(200, 260)).data
    page = show(data, "#v=1&s=steps&op=230")
    whole = show(view_program(PING_PONG, MESH).data, "#v=1&s=steps&op=230")
    assert page.position() == whole.position()
    assert page.selected() == whole.selected()
    assert page.locator("#memories").inner_text() == whole.locator("#memories").inner_text()
