"""The page that names a test for each statement of the tile language names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tile-language-tests.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_is_named_is_there(file: str) -> None:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {name for named, name in NAMED if named == file} <= functions


def test_every_statement_has_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    rows = [line for line in rows if line != "| statement | test |"]
    assert len(rows) > 60
    assert all("::test_" in line for line in rows)
    assert [int(each) for each in re.findall(r"^## (\d+) ", PAGE, re.MULTILINE)] == list(range(1, 13))
