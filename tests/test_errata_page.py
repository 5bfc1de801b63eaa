"""The page of errata says what the package computes, and has every number of the list."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
WITHOUT_LETTERS = {*range(1, 9), *range(10, 25), *range(26, 38), *range(39, 50), 51, 52, 53, 54}
LETTERS = {9: "abcd", 25: "abc", 38: "abcd", 50: "abcd"}
NUMBERS = {f"e-{number:02}" for number in WITHOUT_LETTERS} | {
    f"e-{number:02}{letter}" for number, letters in LETTERS.items() for letter in letters
}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "errata"))
    return importlib.import_module("errata_page")


@pytest.mark.slow
def test_the_page_is_what_the_package_computes(page: ModuleType) -> None:
    written = (ROOT / "docs" / "errata-asw.md").read_text(encoding="utf-8")
    assert page.page() == written, "build it anew: python docs/errata/errata_page.py"


def test_every_number_has_one_anchor() -> None:
    written = (ROOT / "docs" / "errata-asw.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', written)
    assert len(anchors) == len(set(anchors))
    assert set(anchors) >= NUMBERS


def test_every_erratum_that_the_planner_cites_is_on_the_page() -> None:
    written = (ROOT / "docs" / "errata-asw.md").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', written))
    folder = ROOT / "src" / "pantile" / "planners" / "asw"
    cited = {code.lower() for file in folder.glob("*.py") for code in re.findall(r"E-\d\d", file.read_text())}
    assert len(cited) > 20
    assert cited <= anchors


def test_an_erratum_is_printed_alone(page: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert page.run(["E-23"]) == 0
    assert "2.0 block times, 1.125 in groups" in capsys.readouterr().out
    assert page.run(["E-99"]) == 2
    assert "no erratum 'E-99'" in capsys.readouterr().err
