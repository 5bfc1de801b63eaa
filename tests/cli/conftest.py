"""Runs the command line in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pantile.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        """The objects on standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def object(self) -> dict[str, Any]:
        """The single object on standard output."""
        (only,) = self.json
        return only


class Pantile(Protocol):
    def __call__(self, *arguments: str) -> Outcome: ...


@pytest.fixture
def pantile(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pantile:
    """A function that runs ``pantile ARGUMENTS`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(list(arguments))
        return Outcome(code, *capsys.readouterr())

    return run
