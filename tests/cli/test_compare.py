"""``pantile compare`` on the command line: what it prints, writes and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.cli.main import main

SMALL = ["compare", "bmm:b=1,m=1536,n=1536,k=256", "-m", "ascend-950pr"]
BOTH = ["-p", "cann", "-p", "asw"]


def test_it_prints_both_plans_and_where_they_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, *BOTH]) == 0
    assert "they part at: base tile" in capsys.readouterr().out


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, *BOTH, "--json", "--judge", "exact"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "pantile/compare/1"


def test_a_page_is_written_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main([*SMALL, *BOTH, "-o", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"wrote {page}\n"


def test_a_table_prints_one_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "shapes.csv"
    table.write_text("b,m,n,k\n8,2048,2048,1024\n1,1536,1536,256\n")
    asked = ["compare", str(table), "-m", "ascend-950pr", *BOTH]
    assert main([*asked, "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["schema"] for line in lines] == ["pantile/compare/1"] * 2 + ["pantile/summary/1"]
    assert main([*asked, "-o", str(tmp_path / "page.html")]) == 2
    assert "a page shows a single product" in capsys.readouterr().err


def test_no_plan_on_either_side_is_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    both = ["-p", "asw:published", "-p", "asw:published_5_2"]
    assert main(["compare", "bmm:b=7,m=768,n=896,k=640", "-m", "ascend-950pr", *both]) == 1
    assert "multiple of 256" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["-p", "asw"],
        [],
        [*BOTH, "--judge", "fair"],
        [*BOTH, "-o", "page.html", "--json"],
        ["-p", "asw", "-p", "cannon"],
    ],
)
def test_what_cannot_be_compared_is_one_line_and_exit_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("error: ")
