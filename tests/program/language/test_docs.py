"""The program and the listing of docs/tile-language.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pantile.language
from pantile.language import Program

PAGE = (Path(__file__).parents[3] / "docs" / "tile-language.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program() -> Program:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(compile(code, "page.py", "exec"), namespace)
    made = namespace["program"]
    assert isinstance(made, Program)
    return made


def test_the_program_of_the_page_computes_what_numpy_does(kit: SimpleNamespace, program: Program) -> None:
    got, expected = kit.execute(program)
    assert (got == expected).all()


def test_the_listing_of_the_page_is_that_of_its_program(program: Program) -> None:
    shown = [
        line.removeprefix("    ")
        for line in PAGE.partition("## Listing")[2].splitlines()
        if line.startswith("    ")
    ]
    text = program.to_text().splitlines()
    begin = text.index(shown[0])
    assert "W" in text[begin + 4]  # the page leaves the second operand out
    assert [*text[begin : begin + 4], *text[begin + 6 : begin + 10]] == shown


def test_every_name_that_the_page_imports_or_calls_is_there() -> None:
    called = set(re.findall(r"`([A-Za-z_]+)\(", PAGE)) - {"load_store", "to_text"}
    missing = [name for name in called if not hasattr(pantile.language, name) and "_" not in name]
    assert missing == []


@pytest.mark.slow
def test_importing_the_language_loads_nothing_heavy() -> None:
    code = "import pantile.language, sys; print({'numba', 'onnx', 'pydantic', 'typer'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "set()"
