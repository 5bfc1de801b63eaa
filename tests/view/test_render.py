"""The page as a file: self-contained, exact, the same for the same values."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pantile.errors import OutputError, UsageError
from pantile.view.columns import ACCESSES, BINDINGS, OPERATIONS, TILES, table
from pantile.view.pagedata import Figure, Window
from pantile.view.render import MAX_OPERATIONS, render_page, write_page

if TYPE_CHECKING:
    from pathlib import Path

    from pantile.view.pagedata import PageData


class Parts(HTMLParser):
    """Tags in order, and the text of each script and style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[-1] += data


def head_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="head">(.*?)</script>', page, re.DOTALL)
    assert found
    head = json.loads(found[1])
    assert isinstance(head, dict)
    return head


def test_policy_allows_nothing_but_the_style_and_script_that_stand_there(seed_page: PageData) -> None:
    parts = Parts(render_page(seed_page))
    policy = next(a["content"] for tag, a in parts.tags if a.get("http-equiv") == "Content-Security-Policy")
    style, _, _, script = parts.texts
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_nothing_points_outside_the_file(seed_page: PageData) -> None:
    page = render_page(seed_page)
    loading = [a for _, attributes in Parts(page).tags for a in attributes if a in ("src", "href", "srcset")]
    assert loading == []
    assert not re.search(r"https?://|url\(|@import|\beval\(|new Function|innerHTML|insertAdjacentHTML", page)


def test_names_cannot_end_their_script_element(seed_page: PageData) -> None:
    hostile = "</script><script>alert(1)</script><!--"
    page = render_page(replace(seed_page, workload=hostile, machine=hostile, command=hostile))
    assert len([tag for tag, _ in Parts(page).tags if tag == "script"]) == 3
    assert head_of(page)["workload"] == hostile


def test_head_carries_the_values_and_describes_the_columns(seed_page: PageData) -> None:
    head = head_of(render_page(seed_page))
    assert head["schema"] == "pantile/view/1"
    assert (head["workload"], head["extents"]) == ("gemm:m=32,n=32,k=64", {"b": 1, "m": 32, "n": 32, "k": 64})
    tiles = next(figure for figure in head["figures"] if figure["key"] == "tiles")
    assert (tiles["value"], [(f["count"], f["axis"]) for f in tiles["factors"]]) == (
        8,
        [(2, "m"), (2, "n"), (2, "k")],
    )
    assert {each["name"]: each["rows"] for each in head["tables"]} == {
        "operations": 176, "tiles": 8, "bindings": 16, "touches": 32 + 3 * 128 + 16, "entries": 48,
        "blocks": 32,
    }  # fmt: skip
    assert head["tables"][0]["columns"][0] == {
        "name": "kind", "type": "int", "unit": "index of KINDS", "width": 1,
    }  # fmt: skip


def test_figures_too_large_for_a_browser_travel_as_digits(seed_page: PageData) -> None:
    figures = (
        Figure(key="macs", label="MACs", value=2**93),
        Figure(key="tiles", label="tiles", value=2**53 - 1),
    )
    head = head_of(render_page(replace(seed_page, figures=figures)))
    assert [figure["value"] for figure in head["figures"]] == [str(2**93), 2**53 - 1]


def test_same_values_same_page(seed_page: PageData) -> None:
    assert render_page(seed_page) == render_page(replace(seed_page))


def test_names_written_into_the_page_are_not_taken_for_places_in_the_template(seed_page: PageData) -> None:
    assert head_of(render_page(replace(seed_page, workload="@@script@@")))["workload"] == "@@script@@"


def many_operations(count: int) -> dict[str, Any]:
    zeros = np.zeros(count, dtype=np.int64)
    none: list[int] = []
    return {
        "operations": table(OPERATIONS, kind=zeros, opcode=zeros, engine=zeros, tile=zeros),
        "accesses": table(
            ACCESSES, operation=none, mode=none, operand=none, memory=none, slot=none, tag=none
        ),
        "bindings": table(BINDINGS, tile=none, memory=none, slot=none),
        "tiles": table(TILES, core=[0]),
    }


def test_the_largest_page_and_one_operation_more(seed_page: PageData) -> None:
    render_page(replace(seed_page, **many_operations(MAX_OPERATIONS)))
    with pytest.raises(UsageError) as caught:
        render_page(replace(seed_page, **many_operations(MAX_OPERATIONS + 1)))
    assert str(caught.value) == (
        "the program has 10001 operations, a page shows at most 10000; "
        "add --window 0:10000, or another range of that length [PT-USAGE]"
    )


def test_window_travels(seed_page: PageData) -> None:
    window = Window(start=500, total=9000, command="pantile view … --window 700:900")
    assert head_of(render_page(replace(seed_page, window=window)))["window"] == {
        "start": 500, "total": 9000, "command": "pantile view … --window 700:900",
    }  # fmt: skip


def test_an_index_that_points_at_nothing_is_our_fault(seed_page: PageData) -> None:
    with pytest.raises(AssertionError, match="column 'opcode' leaves \\[0, 2\\)"):
        render_page(replace(seed_page, opcodes=("MOVIN", "GEMM_PRELOAD")))


def test_written_page_is_the_rendered_one(seed_page: PageData, tmp_path: Path) -> None:
    write_page(seed_page, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == render_page(seed_page)


def test_unwritable_page_is_one_line(seed_page: PageData, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder") as caught:
        write_page(seed_page, tmp_path / "missing" / "page.html")
    assert "\n" not in str(caught.value)
