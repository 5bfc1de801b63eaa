"""What the page says, in every way of reading it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pantile.view.columns import ACCESSES, BINDINGS, OPERATIONS, TILES, table
from pantile.view.pagedata import Finding, Window
from pantile.view.render import write_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any as Screen  # tests/view/browser/conftest.py, which cannot be imported

    from playwright.sync_api import Browser, BrowserContext

    from pantile.view.pagedata import PageData

pytestmark = pytest.mark.slow


def test_overview_of_the_seed_case(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page)
    rows = [" ".join(row.split()) for row in page.locator("#overview .figures tr").all_text_contents()]
    expected = {
        "output regions": "4= 2 m × 2 n",
        "tiles": "8= 2 m × 2 n × 2 k",
        "computes a tile": "16= 2 m × 2 n × 4 k",
        "compute instructions in all": "128= 8 tiles × 16 a tile",
        "MACs of an instruction": "512= 8 m × 8 n × 8 k",
        "MACs of a tile": "8192 MACs",
        "operations in all": "176",
    }
    for name, value in expected.items():
        assert f"{name}{value}" in rows
    assert page.locator(".big", has_text="MACs in all").text_content() == "65536MACs in all"
    assert page.text(".badge") == "✓ No finding"
    assert page.title() == "gemm:m=32,n=32,k=64 · systolic-ws-8x8 · Pantile"


def test_a_factor_explains_itself_and_leads_into_the_program(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page)
    page.locator("#overview .factor", has_text="2 k").click()
    assert "k = 64 is cut into pieces of 32" in page.text("#inspector")
    assert "k 0:32" in page.text("#inspector")
    page.locator("#inspector li", has_text="k 32:64").locator("button").click()
    assert page.position() == "operation 21 of 176, tile (0, 0, 1), block n 0:8 · k 32:64"


def test_position_in_words(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=122")
    assert page.position() == ("operation 122 of 176, tile (1, 0, 1), micro-tile m 16:24 · n 8:16 · k 40:48")
    assert page.locator("#scrub").get_attribute("aria-valuetext") == page.position()


def test_states_in_program_order(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=1")
    assert page.legend() == {"not on chip": "A 8 · B 7 · C 16", "loading": "B 1"}
    page.keyboard.press("Shift+ArrowRight")  # operation 21: tile 0 has computed, tile 1 begins to load
    assert page.legend() == {
        "not on chip": "A 6 · B 5 · C 12", "loading": "B 1", "resident": "A 2 · B 2", "partial": "C 4",
    }  # fmt: skip
    page.goto(page.url.split("#")[0] + "#v=1&s=steps&op=122")
    # Tiles 0 to 3 are written back (8 blocks of C); of tile (1, 0, *) two blocks are complete, one is
    # being added to, one has four of its eight contributions.
    assert page.legend() == {
        "not on chip": "C 4",
        "resident": "A 3 · B 3",
        "in use": "A 1 · B 1 · C 1",
        "partial": "C 1",
        "done": "C 2",
        "written back": "C 8",
        "dropped": "A 4 · B 4",
    }
    page.keyboard.press("End")
    assert page.legend()["writing back"] == "C 1"
    assert page.legend()["written back"] == "C 15"
    assert "C: 1 writing back, 15 written back" in (
        page.locator("#matrices").get_attribute("aria-label") or ""
    )


def test_memories_show_slots_occupants_bytes_and_pending(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page, "#v=1&s=steps&op=5")
    slots = [" ".join(each.split()) for each in page.locator("#memories .slot").all_inner_texts()]
    assert slots[0].startswith("slot 0 free 0 of 32768 B")
    assert slots[1].startswith("slot 1 tile (0, 0, 0) in use 1024 of 32768 B (3.13 %)")
    assert (
        "B[k 0:32, n 0:8] 256 B in use A[m 0:8, k 0:32] 256 B in use A[m 8:16, k 0:32] 256 B resident"
        in slots[1]
    )
    assert "C[m 0:8, n 0:8] 256 B in use; partial, 0 of 8, 1 pending" in slots[3]


def test_by_cycles_operations_overlap(seed_page: PageData, show: Callable[..., Screen]) -> None:
    operations = seed_page.operations
    load = int(operations["start_cycle"][3])  # the fourth load has been asked for, none has arrived
    assert load < int(operations["finish_cycle"][0])
    page = show(seed_page, f"#v=1&s=steps&by=cycle&t={load}")
    assert page.legend()["loading"] == "A 2 · B 2"
    assert page.text("#memories .entry >> nth=0").endswith("loading, up to 8 pending")
    assert page.position().startswith(f"cycle {load} of {int(operations['finish_cycle'].max())}")
    assert page.selected()[0] == 4  # the operation issued last before it
    page.locator("#scrub").focus()
    page.keyboard.press("ArrowRight")
    assert page.position().startswith(f"cycle {load + 1} of")
    page.wait_for_url(f"**#v=1&s=steps&by=cycle&t={load + 1}")
    start, finish = (int(operations[f"{name}_cycle"][4]) for name in ("issue", "finish"))
    under_way = [
        op
        for op in range(176)
        if operations["issue_cycle"][op] <= finish - 1 < operations["finish_cycle"][op]
    ]
    page.goto(page.url.split("#")[0] + f"#v=1&s=steps&by=cycle&t={finish - 1}")
    assert start < finish
    rows = page.locator("#list .row.phase-1")
    assert {int(each) for each in rows.locator(".row-number").all_inner_texts()} <= {
        op + 1 for op in under_way
    }
    assert rows.count() > 1


def test_letters_relabel_every_screen(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=122")
    page.locator("label", has_text="N C M").click()
    assert page.position().endswith("micro-tile N 16:24 · M 8:16 · C 40:48")
    assert page.text("#equation").startswith("Y[N 16:24, M 8:16] += A[N 16:24, C 40:48] · W[C 40:48, M 8:16]")
    assert set(page.legend()) >= {"in use", "done"}
    assert not re.search(r"\b[mnk] \d+:\d+", page.text("#main") + page.text("#inspector"))
    page.keyboard.press("1")
    overview = page.text("#overview")
    assert "8 = 2 N × 2 M × 2 C" in overview
    assert "(N·C + M·C)·precision" in overview
    assert not re.search(r"\d [mnk]\b", overview)
    page.locator("label", has_text="T O I").click()
    assert "8 = 2 T × 2 O × 2 I" in page.text("#overview")
    assert page.evaluate("location.hash") == "#v=1&op=122&x=toi"


def test_names_are_characters(make_page: Callable[..., PageData], show: Callable[..., Screen]) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    finding = Finding(code=hostile, severity="error", sentence=hostile, evidence=hostile, mend=hostile)
    data = make_page({"m": 8, "n": 8, "k": 8}, {"m": 8, "n": 8, "k": 8}, workload=hostile)
    data = replace(
        data, machine="</script><b>bold</b>", planner=hostile, opcodes=(hostile,) * 3, waits=(hostile,) * 2,
        findings=(finding,), notes=("{q} $& @@head@@",),
    )  # fmt: skip
    page = show(data)
    assert page.text("h1") == hostile
    assert "</script><b>bold</b>" in page.text(".identity")
    assert "{q} $& @@head@@" in page.text("#overview")
    page.keyboard.press("2")
    assert hostile in page.text("#list")
    assert page.locator("img, b").count() == 0
    assert page.title().startswith(hostile)


def test_without_decompression_a_sentence(
    seed_page: PageData, context: BrowserContext, show: Callable[..., Screen]
) -> None:
    context.add_init_script("delete globalThis.DecompressionStream")
    page = show(seed_page, ready="#fatal:not([hidden])")
    assert page.text("#fatal").startswith("This page cannot show itself here: its figures are compressed")
    assert "Firefox 113" in page.text("#fatal")
    assert not page.locator("#app").is_visible()


def test_without_scripts_a_sentence(seed_page: PageData, browser: Browser, tmp_path: Path) -> None:
    write_page(seed_page, tmp_path / "page.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("noscript p").is_visible()
    assert "Allow scripts for this file" in page.locator("noscript p").inner_text()
    context.close()


def test_the_seed_case_by_table_alone(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page)
    page.keyboard.press("t")
    totals = [" ".join(row.split()) for row in page.locator("dialog tbody tr").all_inner_texts()]
    assert "tiles 8 2 m × 2 n × 2 k" in totals
    assert "MACs in all 65536 MACs" in totals
    page.get_by_role("button", name="Operations", exact=True).click()
    rows = page.locator("dialog tbody tr").all_text_contents()
    assert len(rows) == 100
    page.get_by_role("button", name="Next rows").click()
    rows += page.locator("dialog tbody tr").all_text_contents()
    assert [sum(name in row for row in rows) for name in ("MOVIN", "GEMM_PRELOAD", "MOVOUT")] == [32, 128, 16]
    page.locator("dialog tbody tr", has_text="122(1, 0, 1)").get_by_role("button").click()
    assert page.position().startswith("operation 122 of 176")
    page.keyboard.press("t")
    page.get_by_role("button", name="Blocks of the matrices").click()
    blocks = [" ".join(row.split()) for row in page.locator("dialog tbody tr").all_inner_texts()]
    assert len(blocks) == 32
    assert "C m 16:24 · n 8:16 in use 5 8 go" in blocks
    assert "C m 24:32 · n 8:16 partial 4 8 go" in blocks
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    saved = download.value.path().read_text(encoding="utf-8").splitlines()
    assert saved[0] == "matrix,region,state,contributions done,contributions"
    assert "C,m 16:24 · n 8:16,in use,5,8" in saved
    page.keyboard.press("Escape")
    page.wait_for_url("**#v=1&s=steps&op=122")


@pytest.mark.parametrize(("width", "height"), [(900, 700), (640, 450)])
def test_narrow_windows_need_no_sideways_scrolling(
    width: int, height: int, seed_page: PageData, show: Callable[..., Screen]
) -> None:
    """640 by 450 is what a 1280 by 900 window has left at 200 % zoom."""
    page = show(seed_page, "#v=1&s=steps&op=122")
    page.set_viewport_size({"width": width, "height": height})
    for screen in ("1", "2"):
        page.keyboard.press(screen)
        wide = page.evaluate(
            "['html', '#main', '#inspector', '#top'].filter((each) => {"
            "const node = document.querySelector(each); return node.scrollWidth > node.clientWidth + 1; })"
        )
        assert wide == []
    assert page.locator("#play").is_visible()


def test_chinese_and_back(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=122")
    page.locator("#language").click()
    assert page.position() == "操作 122 / 176, 分块 (1, 0, 1), 微块 m 16:24 · n 8:16 · k 40:48"
    assert page.evaluate("document.documentElement.lang") == "zh"
    assert page.locator("#language:focus").count() == 1
    page.locator("#language").click()
    assert page.position().startswith("operation 122 of 176")


def test_roles_and_names(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=122")
    grid = page.get_by_role("grid", name="Instructions")
    assert grid.get_attribute("aria-rowcount") == "176"
    active = grid.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    assert page.locator(f"#{active}").get_attribute("aria-rowindex") == "122"
    assert page.get_by_role("tab", name="Steps").get_attribute("aria-controls") == "steps"
    assert page.get_by_role("slider", name="Position").count() == 1
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=img]')].filter((node) => "
        "!(node.ariaLabel || node.textContent.trim() || node.labels?.length)).map((node) => node.outerHTML)"
    )
    assert nameless == []
    page.locator("#tab-steps").focus()
    page.keyboard.press("ArrowUp")
    assert page.locator("#tab-overview:focus").get_attribute("aria-selected") == "true"


def test_a_window_numbers_its_operations_as_the_whole_program_does(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    window = Window(start=500, total=9000, command="pantile view X -m Y --window 0:176")
    finding = Finding(code="PT-RACE", severity="error", sentence="two", operations=(400, 510))
    page = show(replace(seed_page, window=window, findings=(finding,)), "#v=1&s=steps&op=600")
    assert page.position().startswith("operation 600 of 9000")
    page.keyboard.press("Home")
    assert page.position().startswith("operation 501 of 9000")
    page.keyboard.press("1")
    assert "176 of the program's 9000 operations, 501 to 676" in page.text(".notice")
    assert page.locator("#findings button").all_inner_texts() == ["operation 511"]  # the other is not here


def test_no_operations_and_no_times(seed_page: PageData, show: Callable[..., Screen]) -> None:
    none: list[int] = []
    empty = replace(
        seed_page,
        operations=table(OPERATIONS, kind=none, opcode=none, engine=none, tile=none),
        accesses=table(ACCESSES, operation=none, mode=none, operand=none, memory=none, slot=none, tag=none),
        bindings=table(BINDINGS, tile=none, memory=none, slot=none),
        tiles=table(TILES, core=none),
    )
    page = show(empty, "#v=1&s=steps&op=5")
    assert page.text("#steps") == "The program has no operation."
    for key in ("ArrowRight", "Shift+ArrowRight", "]", ".", "u", "n", "Space", "End", "Home"):
        page.keyboard.press(key)
    for key in ("t", "Escape", "1", "2"):
        page.keyboard.press(key)
    bare = {name: seed_page.operations[name] for name in ("kind", "opcode", "engine", "tile", "operand")}
    untimed = show(
        replace(empty, operations=table(OPERATIONS, **bare), tiles=seed_page.tiles), "#v=1&s=steps&by=cycle"
    )
    assert untimed.text("#note") == "by=cycle is not known; shown instead: op"
    untimed.keyboard.press("ArrowRight")
    assert untimed.position() == "operation 2 of 176, tile (0, 0, 0)"


def test_a_batch_shows_the_element_of_the_selected_operation(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    ops = seed_page.operations
    batched = {name: ops[name] for name in ops.columns} | {
        "b_start": [int(op >= 88) for op in range(176)],
        "b_size": [1] * 176,
    }
    data = replace(seed_page, operations=table(OPERATIONS, **batched), extents={**seed_page.extents, "b": 2})
    page = show(data, "#v=1&s=steps&op=100")
    assert "batch element 2 of 2" in page.text("#under")
    assert "b 1:2" in page.position()
