"""The verb ``view`` as a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import pantile
from pantile.errors import OutputError
from pantile.verbs.result import as_html
from pantile.verbs.view import MAX_FRAMED_BYTES, Page

if TYPE_CHECKING:
    from pathlib import Path

A8 = "systolic-ws-8x8"


@pytest.fixture
def page(seed: tuple[str, str], tmp_path: Path) -> Page:
    workload, mapping = seed
    return pantile.view(workload, A8, tmp_path / "page.html", mapping=mapping)


def test_the_file_holds_the_page(page: Page, tmp_path: Path) -> None:
    assert (tmp_path / "page.html").read_text() == page.html
    assert page.size_bytes == (tmp_path / "page.html").stat().st_size
    assert page.ok


def test_text_says_what_was_written(page: Page, seed: tuple[str, str], tmp_path: Path) -> None:
    out, size = tmp_path / "page.html", page.size_bytes
    assert str(page) == f"{out}: 176 of 176 operations of {seed[0]} on {A8}, {size} B"
    part = pantile.view(seed[0], A8, out, mapping=seed[1], window=range(10, 30))
    assert str(part).startswith(f"{out}: 20 of 176 operations of ")
    assert part.to_json()["first_operation"] == 10


def test_json_holds_the_figures_of_the_run(page: Page, seed: tuple[str, str]) -> None:
    made = page.to_json()
    run = pantile.simulate(seed[0], A8, mapping=seed[1])
    assert (made["schema"], made["workload"], made["operations"]) == ("pantile/page/1", seed[0], 176)
    assert made["figures"]["total_cycles"] == run.total_cycles
    assert made["figures"]["macs"] == 65536
    assert made["command"] == page.data.command


def test_a_notebook_frames_pages_up_to_a_size(page: Page) -> None:
    framed = page._repr_html_()
    assert framed.startswith(as_html(str(page)) + "<iframe ")
    assert "&lt;!doctype html&gt;" in framed
    large = replace(page, html="x" * (MAX_FRAMED_BYTES + 1))
    assert large._repr_html_() == as_html(str(large))


def test_the_same_page_twice_is_the_same_bytes(page: Page, seed: tuple[str, str], tmp_path: Path) -> None:
    again = pantile.view(seed[0], A8, tmp_path / "page.html", mapping=seed[1])
    assert again.html == page.html


def test_a_page_that_cannot_be_written(seed: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        pantile.view(seed[0], A8, tmp_path / "none/page.html", mapping=seed[1])
