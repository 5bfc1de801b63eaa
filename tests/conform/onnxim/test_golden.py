"""Every recorded run of ONNXim comes out the same, figure by figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.conform.run import conform
from pantile.targets.systolic.simulate import PLAIN_WORK

GOLDEN = Path(__file__).parents[2] / "golden" / "onnxim"


def recorded_runs() -> list[object]:
    """Files of one run each; those that only the compiled simulation finishes soon are slow."""
    cases = []
    for file in sorted(GOLDEN.rglob("*.json")):
        value = json.loads(file.read_text())
        if "totals" in value:
            work = sum(count for key, count in value["totals"].items() if key not in ("tiles", "macs"))
            mark = pytest.mark.full if file.stem == "a8_2048cube" else pytest.mark.slow
            cases.append(pytest.param(file, marks=mark if work > PLAIN_WORK else (), id=file.stem))
    return cases


@pytest.mark.parametrize("file", recorded_runs())
def test_a_recorded_run_comes_out_the_same(file: Path) -> None:
    found = conform([file])
    assert found.ok, str(found)
    assert found.summary == "1 file, 1 case: 1 passed, 0 failed, 0 skipped"


def test_all_runs_are_there() -> None:
    assert len(recorded_runs()) == 55


def test_mapping_tables_come_out_the_same() -> None:
    """726 products, 98 of which crash the original, and 36 convolutions."""
    found = conform([GOLDEN / "mapping_table.json"])
    assert found.summary == "1 file, 762 cases: 762 passed, 0 failed, 0 skipped", str(found)


def test_inputs_that_stop_the_original_are_refused() -> None:
    found = conform([GOLDEN / "quirks" / "failures.json"])
    assert found.summary == "1 file, 17 cases: 17 passed, 0 failed, 0 skipped", str(found)
