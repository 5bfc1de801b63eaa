"""Every command that the README and the docs show is run, and prints what stands below it."""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from pantile.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_LEFT_OUT = "…"


@dataclass(frozen=True)
class Shown:
    """A command and the lines printed below it."""

    page: str
    command: str
    lines: tuple[str, ...]


def shown_commands() -> list[Shown]:
    """All commands of all pages."""
    found = []
    for page in PAGES:
        for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                command, *lines = part.rstrip("\n").split("\n")
                found.append(Shown(page.name, command, tuple(line.rstrip() for line in lines)))
    return found


def matches(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Whether *printed* is what is shown; a line of dots stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == _LEFT_OUT:
        return any(matches(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0].rstrip() and matches(shown[1:], printed[1:])


@pytest.mark.parametrize("shown", shown_commands(), ids=lambda shown: f"{shown.page}: {shown.command[:40]}")
def test_a_command_prints_what_its_page_shows(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(shown.command)
    assert words[0] == "pantile", "only the project's own command is shown with its output"
    main(words[1:])
    printed = capsys.readouterr()
    lines = [*printed.out.rstrip("\n").split("\n"), *printed.err.rstrip("\n").split("\n")]
    assert matches(shown.lines, [line for line in lines if line]), printed.out


def test_the_readme_shows_commands() -> None:
    assert sum(shown.page == "README.md" for shown in shown_commands()) >= 4


def test_python_examples_of_the_readme_hold() -> None:
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert results.attempted > 0
    assert results.failed == 0
