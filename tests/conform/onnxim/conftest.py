"""The recorded cases, and case files changed in a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.result import CaseOutcome
from pantile.conform.run import conform

GOLDEN = Path(__file__).parents[2] / "golden" / "onnxim"


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """Return the value of a golden file, a new one with every call."""

    def load(name: str) -> Any:
        return json.loads((GOLDEN / f"{name}.json").read_text())

    return load


@pytest.fixture
def outcomes(tmp_path: Path) -> Callable[[Any], tuple[CaseOutcome, ...]]:
    """Return the outcomes of a file that holds a value."""

    def run(value: Any) -> tuple[CaseOutcome, ...]:
        file = tmp_path / "case.json"
        file.write_text(json.dumps(value))
        (found,) = conform([file]).files
        return found.cases

    return run


@pytest.fixture
def outcome(outcomes: Callable[[Any], tuple[CaseOutcome, ...]]) -> Callable[[Any], CaseOutcome]:
    """Return the outcome of a file of one case."""

    def run(value: Any) -> CaseOutcome:
        (found,) = outcomes(value)
        return found

    return run
