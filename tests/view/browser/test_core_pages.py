"""Pages of core programs in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pantile.verbs.program_view import view_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from typing import Any as Screen  # tests/view/browser/conftest.py, which cannot be imported

pytestmark = pytest.mark.slow

SEED = Path(__file__).parents[3] / "examples" / "ascend" / "two_tiles_seed.txt"
MACHINE = "ascend-910b"


@pytest.fixture(scope="module")
def seed() -> Any:
    return view_program(SEED, MACHINE).data


def row_of(data: Any, operation: int) -> int:
    """The number on the page of the operation that JSON numbers so."""
    return int(data.operations["listed"].tolist().index(operation)) + 1


def test_overview_reads_what_simulate_and_check_say(seed: Any, show: Callable[..., Screen]) -> None:
    page = show(seed)
    figures = {each.key: each.value for each in seed.figures}
    assert page.locator(".big", has_text="cycles").text_content() == f"{figures['total_cycles']}cycles"
    assert "1 error" in page.text(".badge")
    assert "SCALAR busy 0 ps" in page.text("#overview")
    assert "CUBE busy 570 002 ps".replace(" ", "") in page.text("#overview").replace(" ", "")
    assert "names no matrices" in page.text("#overview")
    assert page.locator("#top fieldset").count() == 0  # without axes no letters


def test_a_finding_leads_to_both_operations_at_their_lines(seed: Any, show: Callable[..., Screen]) -> None:
    page = show(seed)
    (finding,) = seed.findings
    jumps = page.locator("#findings .jumps button")
    for at, (operation, line) in enumerate(zip(finding.operations, (22, 29), strict=True)):
        number = row_of(seed, operation)
        assert jumps.nth(at).inner_text() == (
            f"operation {number} ({operation} in JSON), two_tiles_seed.txt:{line}"
        )
    jumps.nth(1).click()
    assert page.position() == f"operation {row_of(seed, 24)} of 40"
    assert "two_tiles_seed.txt:29" in page.text("#inspector")


def test_steps_show_text_line_bytes_waits_and_posts(seed: Any, show: Callable[..., Screen]) -> None:
    page = show(seed, f"#v=1&s=steps&op={row_of(seed, 6)}")
    row = page.text("#list .row.selected")
    assert "img2colv2_cbuf_to_cb MTE1" in row
    assert SEED.read_text().splitlines()[9] in row
    assert "two_tiles_seed.txt:10 · 32768 B" in row
    assert page.text("#equation") == SEED.read_text().splitlines()[9]
    assert "reads L1 131072:192512" in page.text("#inspector")
    assert "fills L0B 0:32768" in page.text("#inspector")
    page.goto(page.url.split("#")[0] + f"#v=1&s=steps&op={row_of(seed, 8)}")
    assert "waits for flag 0 of PIPE_MTE1 to PIPE_M" in page.text("#list .row.selected")
    page.goto(page.url.split("#")[0] + f"#v=1&s=steps&op={row_of(seed, 7)}")
    assert "posts flag 0 of PIPE_MTE1 to PIPE_M +1" in page.text("#list .row.selected")


def test_buffers_show_what_lies_where_and_what_is_touched(seed: Any, show: Callable[..., Screen]) -> None:
    page = show(seed, f"#v=1&s=steps&op={row_of(seed, 24)}")
    buffer = page.locator("#memories .memory", has=page.locator("h4", has_text="L0B"))
    assert [" ".join(each.split()) for each in buffer.locator(".entry-region").all_inner_texts()] == [
        "0:33280",
        "33280:65536",
    ]
    assert "filling" in buffer.locator(".entry").first.inner_text()
    bar = buffer.locator(".bytes")
    assert bar.get_attribute("aria-label") == "L0B: ranges that hold something: 2; fills 0:33280"
    width, frame = bar.bounding_box()["width"], bar.locator(".touched-write").bounding_box()
    assert frame["width"] == pytest.approx(width * 33280 / 65536, abs=1.5)
    assert buffer.locator(".range").count() == 2
    assert page.locator("#matrices").count() == 0


def test_lanes_stand_for_pipes_and_lead_to_operations(seed: Any, show: Callable[..., Screen]) -> None:
    operations = seed.operations
    mad = row_of(seed, 18) - 1
    middle = int(operations["start_cycle"][mad] + operations["finish_cycle"][mad]) // 2
    page = show(seed, f"#v=1&s=steps&by=cycle&t={middle}")
    words = page.locator("#lanes").get_attribute("aria-label")
    assert words.startswith("SCALAR: -; CUBE: mad; MTE1: img2colv2_cbuf_to_cb")
    assert "from cycle 0 to 1769" in page.text("#under")
    box = page.locator("#lanes").bounding_box()
    lane = [each.name for each in seed.engines].index("CUBE")
    x = box["x"] + 76 + (box["width"] - 88) * middle / 1769
    page.mouse.click(x, box["y"] + 6 + 28 * lane + 14)
    assert page.selected()[:2] == (mad + 1, "mad")
    page.keyboard.press(".")
    assert page.selected()[2] == "CUBE"


def test_the_whole_of_it_by_keyboard_and_table(seed: Any, show: Callable[..., Screen]) -> None:
    page = show(seed, "#v=1&s=steps&op=1")
    for key in ("ArrowRight", "Shift+ArrowRight", "]", "u", "End", "Home", "l", "n"):
        page.keyboard.press(key)
    assert page.position().startswith(f"operation {row_of(seed, 18)} of 40")
    for table in ("figures", "tiles", "operations", "blocks", "entries"):
        page.goto(page.url.split("#")[0] + f"#v=1&s=steps&op=30&tbl={table}")
        assert page.locator("dialog[open] h2").count() == 1
    page.goto(page.url.split("#")[0] + "#v=1&s=steps&op=30&tbl=operations")
    assert SEED.read_text().splitlines()[2] in page.text("dialog[open]")


def test_every_text_is_shown_as_its_characters(show: Callable[..., Screen], tmp_path: Path) -> None:
    odd = "<img src=x onerror=alert(1)>"
    file = tmp_path / f"{odd}.txt"
    file.write_text("set_flag(PIPE_M, PIPE_MTE1, 0)\nwait_flag(PIPE_M, PIPE_MTE1, 0)\n")
    page = show(view_program(file, MACHINE).data, "#v=1&s=steps&op=1&lang=zh")
    assert page.locator("h1").inner_text().endswith(f"{odd}.txt")
    assert f"{odd}.txt:1" in page.text("#list .row.selected")
    assert page.locator("img").count() == 0


def test_a_window_says_what_it_holds(show: Callable[..., Screen]) -> None:
    data = view_program(SEED, MACHINE, window=range(20, 30)).data
    page = show(data)
    assert "This page holds 10 of the program's 40 operations, 21 to 30." in page.text("#overview")
    assert "--window 30:40" in page.text("#overview")
    page.goto(page.url.split("#")[0] + "#v=1&s=steps&op=21")
    assert page.position() == "operation 21 of 40"
    page.keyboard.press("End")
    assert page.position() == "operation 30 of 40"


def test_a_jump_out_of_a_window_is_none(show: Callable[..., Screen]) -> None:
    page = show(view_program(SEED, MACHINE, window=range(10)).data)
    assert "18 in JSON, not on this page" in page.text("#findings")
    assert page.locator("#findings .jumps button").count() == 0


def test_playing_the_order_that_breaks_it_ends_on_the_overwritten_bytes(
    seed: Any, show: Callable[..., Screen]
) -> None:
    page = show(seed, "#v=1&by=cycle&t=100")
    (order,) = seed.orders
    listed = order.operations["listed"].tolist()
    assert listed[-1] == 18
    assert 24 in listed
    page.get_by_role("button", name="play the order that shows it").click()
    assert "Not the run: a legal order that shows PT-RACE" in page.text("#order")
    assert page.position() == f"operation {listed.index(24)} of {len(listed)}"
    page.keyboard.press("ArrowRight")
    assert page.selected()[:2] == (listed.index(24) + 1, "img2colv2_cbuf_to_cb")
    page.locator("#speed").select_option("64")
    page.locator("#play").click()
    page.wait_for_url(f"**op={len(listed)}**")  # the address follows playing
    assert page.position() == f"operation {len(listed)} of {len(listed)}"
    assert page.selected()[1] == "mad"
    assert "two_tiles_seed.txt:22" in page.text("#inspector")
    buffer = page.locator("#memories .memory", has=page.locator("h4", has_text="L0B"))
    assert buffer.locator(".entry-region").all_inner_texts() == ["0:33280", "33280:65536"]
    assert buffer.locator(".bytes").get_attribute("aria-label").endswith("reads 32768:65536")
    address = page.url
    assert "w=1" in address
    page.goto(address.split("#")[0])
    page.goto(address)
    assert page.position() == f"operation {len(listed)} of {len(listed)}"
    page.locator("#order button").click()
    assert page.position() == f"operation {row_of(seed, 18)} of 40"
    assert page.locator("#order").count() == 0
    page.go_back()
    assert page.position() == f"operation {len(listed)} of {len(listed)}"


LOAD = "load_cbuf_to_ca((__ca__ half*){to:#x}, (__cbuf__ half*)0x0, 0, 64, 1, 0, 0, false, inc)\n"


def test_what_reaches_beyond_a_buffer_says_so(show: Callable[..., Screen], tmp_path: Path) -> None:
    file = tmp_path / "over.txt"
    file.write_text(LOAD.format(to=0xF000))
    page = show(view_program(file, MACHINE).data, "#v=1&s=steps&op=1")
    buffers = page.locator("#memories .memory")
    assert "reaches beyond the end" in buffers.filter(has_text="L0A").inner_text()
    assert "61440:94208" in buffers.filter(has_text="L0A").inner_text()
    assert "reaches beyond" not in buffers.filter(has_text="L1").inner_text()


def test_memories_too_large_to_be_followed_are_left_out(show: Callable[..., Screen], tmp_path: Path) -> None:
    file = tmp_path / "far.txt"
    file.write_text(LOAD.format(to=0x7FFFFFFF000))
    page = show(view_program(file, MACHINE).data, "#v=1&s=steps&op=1")
    assert page.locator("#memories .memory").count() == 0
    page.keyboard.press("1")
    assert "too large to be followed byte by byte" in page.text("#overview")
