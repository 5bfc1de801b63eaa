"""Pages of programs: figures equal those of JSON, rows stand in the order of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pantile
from pantile.errors import OutsideModelError, UsageError
from pantile.language import DDR, SRAM, Core, Program, Range, Tile, Tiling, compute, load_store, thread
from pantile.program.language.load import load_program
from pantile.verbs import program_page
from pantile.verbs.program_axes import roles_of
from pantile.verbs.program_check import check_program
from pantile.verbs.program_run import simulate_program
from pantile.verbs.program_view import view_program
from pantile.view import render
from pantile.view.columns import KINDS

if TYPE_CHECKING:
    from pantile.verbs.pagefile import Page

PING_PONG = Path(__file__).parents[2] / "examples" / "tile_language" / "03_pingpong.py"
MESH = "mesh-2x2"


@pytest.fixture(scope="module")
def page() -> Page:
    return view_program(PING_PONG, MESH)


def nest(sum_of: str, total: tuple[int, ...], size: tuple[int, ...]) -> Program:
    """A nest of one level for any sum."""
    tiling = Tiling(sum_of, total=total, D=..., S=size)

    @thread
    def work() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=Core(0, 0))
            load_store(src=DDR(0), dst=SRAM(Core(0, 0)), tile=tile)
            compute(tile)
            load_store(src=SRAM(Core(0, 0)), dst=DDR(0), tile=tile)

    return Program(tiling, work)


def test_figures_equal_those_of_json(page: Page) -> None:
    run = simulate_program(PING_PONG, MESH).to_json()
    figures = {each.key: each.value for each in page.data.figures}
    for key in ("operations", "macs", "total_cycles", "total_ps", "bound_by"):
        assert figures[key] == run[key]
    assert (figures["mac_utilisation"], figures["busy_utilisation"]) == tuple(run["utilisation"].values())
    assert {
        key.removeprefix("lower_bound "): value for key, value in figures.items() if key.startswith("lower")
    } == run["lower_bounds"]
    busy = {
        key.removeprefix("busy_ps "): value for key, value in figures.items() if key.startswith("busy_ps")
    }
    assert busy == run["busy_ps"]["threads"]
    assert {term.name: term.cycles for term in page.data.terms} == {
        name: n for name, n in run["terms"].items() if n
    }
    assert page.to_json()["figures"] == figures
    assert page.to_json()["schema"] == "pantile/page/1"


def test_findings_equal_those_of_the_check(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.data.proved == check_program(PING_PONG, MESH).proved
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        PING_PONG.read_text()
        .replace("            start_reading(tile)\n", "")
        .replace("            finish_reading(tile)\n", "")
    )
    shown, found = view_program(wrong, MESH), check_program(wrong, MESH)
    assert [(each.code, each.grade, each.operations) for each in shown.data.findings] == [
        (each.code, each.grade, each.operations) for each in found.findings
    ]
    assert not any("told in words" in note for note in shown.data.notes)
    (order,), (race,) = shown.data.orders, (each for each in found.findings if each.order is not None)
    assert shown.data.findings[order.finding].operations == race.operations
    assert order.operations["listed"].tolist() == race.order.tolist()
    late, early = race.operations
    assert race.order.tolist().index(early) < race.order.tolist().index(late) == len(race.order) - 1
    assert set(order.operations["start_cycle"].tolist()) == {-1}
    entries, touches = order.lives.entries, order.lives.touches
    read = touches["entry"][touches["operation"] == race.order.tolist().index(early)]
    assert (entries["closed"][read] == len(race.order) - 1).sum() == 2  # X and W, read before they are filled
    monkeypatch.setattr(program_page, "MOST_PLAYED", 0)
    bare = view_program(wrong, MESH).data
    assert bare.orders == ()
    assert any("told in words only" in note for note in bare.notes)


def test_rows_stand_in_the_order_of_the_run(page: Page) -> None:
    run, ops = simulate_program(PING_PONG, MESH), page.data.operations
    times = run.timeline.times
    assert sorted(ops["listed"].tolist()) == list(range(ops.count))
    assert (np.diff(times["start"][ops["listed"]]) >= 0).all()
    assert times["order"][ops["listed"]].tolist() == list(range(ops.count))
    starts = -(-times["start"][ops["listed"]] // 1000)  # cycles of 1 GHz, rounded up
    assert ops["start_cycle"].tolist() == starts.tolist()
    released = ops["releaser"] >= 0
    assert (ops["listed"][ops["releaser"][released]] == times["releaser"][ops["listed"][released]]).all()


def test_rows_say_what_operations_do_and_where_they_stand(page: Page) -> None:
    data, ops = page.data, page.data.operations
    program = load_program(PING_PONG)
    row = ops["listed"].tolist().index(2)  # the first load
    assert data.opcodes[ops["opcode"][row]] == "load_store"
    assert KINDS[ops["kind"][row]] == "load"
    line = 1 + PING_PONG.read_text().splitlines().index(
        "            load_store(src=ddr, dst=sram, tile=tile)"
    )
    assert data.sources[ops["source"][row]] == f"03_pingpong.py:{line}"
    assert data.engines[ops["engine"][row]].name == "load"
    assert ops["macs"].sum() == program.macs
    begin = ops["listed"].tolist().index(0)
    assert data.waits[ops["waits"][begin]] == "a free slot of buffer0"
    last = ops["listed"].tolist().index(program.operations - 1)
    assert data.posts[ops["posts"][last]] == "free slots of buffer0 +1"
    stores = ops["kind"] == KINDS.index("store")
    assert stores.sum() == 4


def test_tiles_are_those_of_the_outermost_level(page: Page) -> None:
    tiles, data = page.data.tiles, page.data
    assert tiles.count == 2 * 2 * 4
    assert {name: set(tiles[f"{name}_size"].tolist()) for name in "mnk"} == {"m": {16}, "n": {16}, "k": {32}}
    assert dict(data.extents) == {"b": 1, "m": 32, "n": 32, "k": 128}
    assert (data.letters[0].m, data.letters[0].n, data.letters[0].k) == ("t", "o", "i")
    assert data.letters[0].operands == ("X", "W", "Y")
    assert [level.name for level in data.levels] == ["D", "T", "S"]
    assert set(tiles["core"].tolist()) == {1}


def test_slots_are_the_ranges_that_copies_take_up_in_turn(page: Page) -> None:
    sram, registers = page.data.memories
    assert (sram.name, sram.slots, sram.slot_bytes) == ("sram@(0,1)", 6, (4096, 4096, 1024, 1024, 1024, 1024))
    assert sram.slot_names[:2] == ("bytes 0:4096", "bytes 4096:8192")
    assert (registers.name, registers.slot_bytes) == ("compute@(0,1)", (512, 512))
    lives = page.data.residency
    assert lives is not None
    mine = lives.entries["memory"] == 0
    loads = mine & (lives.entries["operand"] < 3)
    assert loads.sum() == 2 * 16  # X and W of 16 tiles
    assert set(lives.entries["slot"][loads].tolist()) == {0, 1}
    assert (lives.entries["closed"][loads] > lives.entries["opened"][loads]).all()  # all are destroyed


def test_every_output_ends_complete(page: Page) -> None:
    ops = page.data.operations
    computes = ops["kind"] == KINDS.index("compute")
    assert set(ops["stage_count"][computes].tolist()) == {8}  # 4 tiles of 2 steps along i
    assert computes.sum() == 16 * 8


def test_ragged_and_irregular_cuts() -> None:
    made = view_program(nest("ti,oi->to", (5, 7, 6), (2, 4, 4)), MESH).data.tiles
    assert {name: sorted(set(made[f"{name}_size"].tolist())) for name in "mnk"} == {
        "m": [1, 2],
        "n": [3, 4],
        "k": [2, 4],
    }
    assert made["m_nominal"].tolist() == [2] * made.count
    assert made.count == 3 * 2 * 2


def test_a_batch_is_an_axis_and_other_sums_are_refused() -> None:
    batched = nest("bti,boi->bto", (2, 4, 4, 4), (1, 2, 2, 4))
    assert dict(view_program(batched, MESH).data.extents) == {"b": 2, "m": 4, "n": 4, "k": 4}
    vector = nest("ti,i->t", (4, 4), (2, 2))
    assert dict(view_program(vector, MESH).data.extents) == {"b": 1, "m": 4, "n": 1, "k": 4}
    with pytest.raises(
        OutsideModelError, match="pages show products of two matrices, 'test_program_view' is tsi,oi->tso"
    ):
        roles_of(nest("tsi,oi->tso", (4, 4, 4, 4), (2, 2, 2, 2)))


def test_what_cannot_be_shown_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="a page shows a run on a machine, got none"):
        load_program(PING_PONG).show()  # type: ignore[attr-defined]
    monkeypatch.setattr(program_page, "byte_residency", lambda *_, **__: None)
    data = view_program(PING_PONG, MESH).data
    assert any("memories and matrices are left out" in note for note in data.notes)
    monkeypatch.setattr(render, "MAX_OPERATIONS", 100)
    with pytest.raises(
        UsageError, match="has 388 operations, a page shows at most 100; add --window 0:100, or another"
    ):
        view_program(PING_PONG, MESH)


def alive(page: Page, row: int) -> list[tuple[int, ...]]:
    """(memory, tag, bytes, operand, m_start, n_start, k_start) of all that is there at a row."""
    assert page.data.residency is not None
    entries = page.data.residency.entries
    there = (entries["opened"] <= row) & ((entries["closed"] < 0) | (entries["closed"] > row))
    names = ("memory", "tag", "bytes", "operand", "m_start", "n_start", "k_start")
    return sorted(zip(*(entries[name][there].tolist() for name in names), strict=True))


@pytest.mark.parametrize("window", [range(100, 150), range(1), range(380, 500)])
def test_a_window_holds_what_the_whole_page_holds_there(page: Page, window: range) -> None:
    part = view_program(PING_PONG, MESH, window=window)
    rows = range(window.start, min(window.stop, 388))
    whole, ops = page.data.operations, part.data.operations
    assert ops.count == len(rows)
    for name in set(ops.columns) - {"tile", "releaser", "waits", "posts", "source"}:
        assert ops[name].tolist() == whole[name][rows.start : rows.stop].tolist()
    for at, row in enumerate(rows):
        assert alive(part, at) == alive(page, row)
        for name, texts in (("waits", "waits"), ("posts", "posts"), ("source", "sources")):
            mine = getattr(part.data, texts)[ops[name][at]] if ops[name][at] >= 0 else ""
            same = getattr(page.data, texts)[whole[name][row]] if whole[name][row] >= 0 else ""
            assert mine == same
        if ops["tile"][at] >= 0:
            (tile, same_tile) = (int(ops["tile"][at]), int(whole["tile"][row]))
            for name in part.data.tiles.columns:
                assert part.data.tiles[name][tile] == page.data.tiles[name][same_tile]
        if ops["releaser"][at] >= 0:
            assert ops["releaser"][at] + rows.start == whole["releaser"][row]
        else:
            assert whole["releaser"][row] not in rows
    assert part.data.figures == page.data.figures
    assert part.to_json()["first_operation"] == rows.start
    assert f"--window {rows.start}:{rows.stop} -o PAGE.html" in part.data.command
    assert part.data.window is not None
    assert part.data.window.total == 388


def test_a_window_outside_the_program() -> None:
    with pytest.raises(
        UsageError, match="--window: the program has operations 0 to 387, got a window from 388"
    ):
        view_program(PING_PONG, MESH, window=range(388, 400))


def test_show_returns_the_page_and_view_writes_it(page: Page, tmp_path: Path) -> None:
    program = load_program(PING_PONG)
    shown = program.show(machine=MESH)  # type: ignore[attr-defined]
    assert shown.output == ""
    assert str(shown).startswith(
        "a page, not written: 388 of 388 operations of ping-pong with 2 slots on mesh-2x2"
    )
    assert "<iframe" in shown._repr_html_()
    out = tmp_path / "page.html"
    written: Any = pantile.view(PING_PONG, MESH, out)
    assert out.read_text() == written.html
    assert written.data.command == f"pantile view {PING_PONG} -m mesh-2x2 -o {out}"
    assert json.dumps(written.to_json())
    again: Any = pantile.view(PING_PONG, MESH, out)
    assert again.html == written.html
    some: Any = pantile.view(PING_PONG, MESH, out, window=range(5))
    assert some.data.operations.count == 5


def test_a_run_that_gets_stuck_still_has_a_page(tmp_path: Path) -> None:
    stuck = tmp_path / "stuck.py"
    stuck.write_text(PING_PONG.read_text().replace("            buf.release()\n", ""))
    data = view_program(stuck, MESH).data
    assert data.findings[0].code == "PT-DEADLOCK"
    never = data.operations["start_cycle"] < 0
    assert never.any()
    assert never.argmax() == (~never).sum()  # what never happened stands at the end
