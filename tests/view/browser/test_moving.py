"""Moving about the page: keys, addresses, search, playing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pantile.view.pagedata import Finding
from pantile.view.render import write_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any as Screen  # tests/view/browser/conftest.py, which cannot be imported

    from playwright.sync_api import Browser, BrowserContext

    from pantile.view.pagedata import PageData

pytestmark = pytest.mark.slow


def test_the_seed_case_by_keyboard_alone(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page)
    page.keyboard.press("2")
    seen = [page.selected()]
    for _ in range(175):
        page.keyboard.press("ArrowRight")
        seen.append(page.selected())
    assert [row[0] for row in seen] == list(range(1, 177))
    first, second = seen[:20], seen[20:44]
    assert [row[1:] for row in first[:4]] == [
        ("MOVIN", "B[k 0:32, n 0:8]"),
        ("MOVIN", "A[m 0:8, k 0:32]"),
        ("MOVIN", "A[m 8:16, k 0:32]"),
        ("MOVIN", "B[k 0:32, n 8:16]"),
    ]
    assert [row[1] for row in first[4:]] == ["GEMM_PRELOAD"] * 16
    assert first[4][2] == "m 0:8 · n 0:8 · k 0:8"
    assert [row[1] for row in second] == ["MOVIN"] * 4 + ["GEMM_PRELOAD"] * 16 + ["MOVOUT"] * 4
    assert page.position().startswith("operation 176 of 176, tile (1, 1, 1)")
    page.keyboard.press("ArrowRight")
    assert page.text("#note") == "There is no further one."
    page.keyboard.press("Home")
    tiles = [page.position()]
    for _ in range(7):
        page.keyboard.press("Shift+ArrowRight")
        tiles.append(page.position())
    starts = [re.match(r"operation (\d+) of 176, tile (\(.*?\))", each) for each in tiles]
    assert [(int(found[1]), found[2]) for found in starts if found] == [
        (1, "(0, 0, 0)"), (21, "(0, 0, 1)"), (45, "(0, 1, 0)"), (65, "(0, 1, 1)"),
        (89, "(1, 0, 0)"), (109, "(1, 0, 1)"), (133, "(1, 1, 0)"), (153, "(1, 1, 1)"),
    ]  # fmt: skip


def test_keys_walk_by_stage_engine_and_cause_and_go_anywhere(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page, "#v=1&s=steps&op=8")

    def after(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return page.position().split(",")[0]

    assert after("]") == "operation 25 of 176"  # from stage 4 of the first block to its stage 5, in tile 1
    assert after("]", "]", "]", "]") == "operation 41 of 176"  # past stage 8 to the store of the block
    assert after("[") == "operation 28 of 176"
    assert after(".") == "operation 29 of 176"
    assert after(",", ",") == "operation 27 of 176"
    assert after("u") == "operation 26 of 176"
    assert after("h") == "operation 25 of 176"
    assert after("l") == "operation 26 of 176"
    assert after("Home", "]") == "operation 1 of 176"
    assert page.text("#note") == "Only operations on an output block have reduction stages."
    page.keyboard.press("g")
    page.keyboard.type("tile 1,1,1")
    page.keyboard.press("Enter")
    assert page.position().startswith("operation 153 of 176, tile (1, 1, 1)")
    page.keyboard.press("g")
    page.keyboard.type("9 9")
    page.keyboard.press("Enter")
    assert "is no operation number" in page.text("#go-problem")
    page.keyboard.press("Escape")
    assert after("End") == "operation 176 of 176"
    page.keyboard.press("1")
    assert page.locator("#tab-overview").get_attribute("aria-selected") == "true"


ADDRESSES = [
    "",
    "#v=1&f=3.0",
    "#v=1&s=steps&op=122",
    "#v=1&s=steps&op=44&x=ncm&th=dark",
    "#v=1&s=steps&by=cycle&t=333",
    "#v=1&s=steps&op=90&q=store+tile%3A1%2C*%2C1",
    "#v=1&s=steps&op=150&tbl=operations&p=1",
    "#v=1&s=steps&op=17&tbl=entries",
    "#v=1&s=steps&op=999&x=abc",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_reloading_an_address_gives_the_same_pixels(
    address: str, seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page, address)
    before = page.screenshot()
    page.reload()
    page.wait_for_selector("#app:not([hidden])")
    assert page.screenshot() == before


def test_an_address_reached_by_hand_reloads_to_the_same_pixels(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page)
    for key in ("2", "Shift+ArrowRight", "]", "ArrowRight", "ArrowRight", "."):
        page.keyboard.press(key)
    page.wait_for_url("**#v=1&s=steps&op=24")
    before = page.screenshot()
    page.reload()
    page.wait_for_selector("#app:not([hidden])")
    assert page.screenshot() == before


def test_back_and_forward_undo_jumps_not_steps(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page)
    page.keyboard.press("2")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**#v=1&s=steps&op=4")
    page.keyboard.press("End")
    page.go_back()
    assert page.position().startswith("operation 4 of 176")
    page.go_back()
    assert page.locator("#tab-overview").get_attribute("aria-selected") == "true"
    page.go_forward()
    page.go_forward()
    assert page.position().startswith("operation 176 of 176")


def test_what_an_address_asks_for_in_vain_is_said(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=999&lang=fr&colour=red")
    assert page.position().startswith("operation 176 of 176")
    assert page.text("#note") == (
        "lang=fr is not known; shown instead: en op=999 is out of range; shown instead: 176"
    )
    page.keyboard.press("ArrowLeft")
    assert not page.locator("#note").is_visible()


def test_search_finds_marks_and_walks(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps")
    page.keyboard.press("/")
    page.keyboard.type("store tile:1,*,1")
    assert page.text("#matches") == "– of 8"
    page.keyboard.press("Enter")
    assert page.position().startswith("operation 129 of 176, tile (1, 0, 1)")
    page.locator("#list").focus()
    page.keyboard.press("n")
    assert page.position().startswith("operation 130 of 176")
    page.keyboard.press("N")
    page.keyboard.press("N")
    assert page.position().startswith("operation 176 of 176")  # round the corner
    assert page.locator("#list .row.match").count() == 4
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    page.locator("#search").fill("macs>=512 core:0 op:1-20")
    assert page.text("#matches").endswith("of 16")
    page.locator("#search").fill("colour:red")
    assert page.text("#matches").startswith("colour:red is not understood")


def test_letters_stay_out_of_text_fields_and_can_be_switched_off(
    seed_page: PageData, show: Callable[..., Screen]
) -> None:
    page = show(seed_page, "#v=1&s=steps")
    page.locator("#search").focus()
    page.keyboard.type("lll ")
    page.keyboard.press("ArrowLeft")
    assert page.position().startswith("operation 1 of 176")
    page.locator("#search").fill("")
    page.locator("#list").focus()
    page.keyboard.press("?")
    page.get_by_label("Letter and sign keys act on the picture").uncheck()
    page.keyboard.press("Escape")
    page.locator("#list").focus()
    page.keyboard.press("l")
    assert page.position().startswith("operation 1 of 176")
    page.keyboard.press("ArrowRight")
    assert page.position().startswith("operation 2 of 176")
    page.keyboard.press("Control+ArrowRight")
    assert page.position().startswith("operation 2 of 176")


def test_findings_lead_to_their_operations(seed_page: PageData, show: Callable[..., Screen]) -> None:
    finding = Finding(
        code="PT-RACE", severity="warning", sentence="a store could overtake a contribution along {k}",
        operations=(40, 43), evidence="pending 1", grade="timing-dependent", mend="wait for 0",
    )  # fmt: skip
    page = show(replace(seed_page, findings=(finding,)))
    assert page.text(".badge") == "! 1 warning"
    assert "a store could overtake a contribution along k" in page.text("#findings")
    page.get_by_role("button", name="operation 41").click()
    assert page.position().startswith("operation 41 of 176")
    page.keyboard.press("n")
    assert page.position().startswith("operation 44 of 176")


def test_playing_runs_to_the_end_and_keeps_quiet(seed_page: PageData, show: Callable[..., Screen]) -> None:
    page = show(seed_page, "#v=1&s=steps&op=160&sp=64")
    page.evaluate(
        "globalThis.said = []; const live = document.getElementById('live');"
        "new MutationObserver(() => said.push(live.textContent)).observe(live, { childList: true })"
    )
    page.keyboard.press("Space")
    page.wait_for_selector("#play[title=Pause]")
    page.wait_for_selector("#play[title=Play]")
    assert page.position().startswith("operation 176 of 176")
    said = page.evaluate("said")
    assert {each for each in said if each} == {page.position()}  # only the place where it stopped
    page.keyboard.press("ArrowLeft")
    assert page.text("#live").startswith("operation 175 of 176")


def test_what_changed_flashes_once_unless_motion_is_unwelcome(
    seed_page: PageData, browser: Browser, tmp_path: Path
) -> None:
    write_page(seed_page, tmp_path / "page.html")
    for motion, name in (("no-preference", "flash"), ("reduce", "none")):
        context = browser.new_context(reduced_motion=motion)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri() + "#v=1&s=steps&op=4")
        page.wait_for_selector("#app:not([hidden])")
        running = "getComputedStyle(document.getElementById('flash')).animationName"
        assert page.evaluate(running) == "none"  # nothing flashes on opening
        page.keyboard.press("ArrowRight")
        assert page.evaluate(running) == name
        assert page.locator("#memories .entry.flashing").count() == 4  # the load, both sources, the sum
        context.close()


def test_copying(seed_page: PageData, context: BrowserContext, show: Callable[..., Screen]) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = show(seed_page, "#v=1&s=steps&op=122")
    page.get_by_role("button", name="Copy command").click()
    page.wait_for_selector("#note:has-text('Copied.')")
    assert page.evaluate("navigator.clipboard.readText()") == seed_page.command
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_selector("#note:has-text('Copied.')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
