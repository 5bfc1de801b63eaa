"""Files of every sort, side by side."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pantile.conform import kinds
from pantile.conform.kinds import KINDS, Kind
from pantile.conform.result import CaseOutcome
from pantile.conform.run import conform
from pantile.errors import UsageError

GOLDEN = Path(__file__).parents[1] / "golden" / "onnxim"


def test_an_empty_folder_is_not_ok(tmp_path: Path) -> None:
    found = conform([tmp_path])
    assert not found.ok
    assert str(found) == "0 files, 0 cases: 0 passed, 0 failed, 0 skipped; nothing was checked"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "5",
        "null",
        '"config"',
        "{}",
        '{"config": {}}',
        '{"layers": []}',
        '{"cases": []}',
        '{"cases": [5]}',
        '{"config": 5, "layers": []}',
        '{"hw_columns": []}',
        '{"schema": "pantile/plan/1"}',
    ],
)
def test_a_value_of_no_known_kind_is_skipped(text: str, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(text)
    found = conform([tmp_path])
    assert not found.ok
    ((outcome,),) = [file.cases for file in found.files]
    assert outcome.skipped.startswith("of no kind that this version knows (onnxim run, ")


def test_everything_found_is_accounted_for(tmp_path: Path) -> None:
    """A case, a case with a wrong figure, broken JSON, a text, and a case that needs another model."""
    (tmp_path / "sub").mkdir()
    shutil.copy(GOLDEN / "tiny_8x8x8.json", tmp_path)
    value = json.loads((GOLDEN / "tiny_1x1x1.json").read_text())
    value["result"]["total_core_cycles"] += 1
    (tmp_path / "sub" / "wrong.json").write_text(json.dumps(value))
    value["config"]["dram_type"] = "ramulator2"
    (tmp_path / "sub" / "beyond.json").write_text(json.dumps(value))
    (tmp_path / "broken.json").write_text('{"config": ')
    (tmp_path / "README.md").write_text("# Cases\n")
    found = conform([tmp_path])
    assert not found.ok
    data = found.to_json()
    assert (data["files"], data["cases"]) == (5, 3)
    assert data["failed"] == [
        {
            "file": f"{tmp_path}/sub/wrong.json",
            "case": "tiny_1x1x1",
            "field": "result.total_core_cycles",
            "expected": 98,
            "got": 97,
            "why": "",
        }
    ]
    assert [Path(each["file"]).name for each in data["skipped"]] == [
        "README.md",
        "broken.json",
        "beyond.json",
    ]
    assert data["unchecked"] == []
    assert (
        data["summary"]
        == str(found).splitlines()[-1]
        == ("5 files, 3 cases: 1 passed, 1 failed, 1 skipped, 2 files skipped as a whole")
    )
    assert str(found).splitlines()[0] == (
        f"FAILED {tmp_path}/sub/wrong.json tiny_1x1x1: result.total_core_cycles: expected 98, got 97"
    )
    (tmp_path / "sub" / "wrong.json").unlink()
    assert conform([tmp_path]).ok


def test_a_break_on_one_file_is_that_file_s_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(value: object, stem: str, on_compile: object) -> list[CaseOutcome]:
        raise IndexError("list index out of range")

    def matches(value: object) -> bool:
        return isinstance(value, dict) and value["colour"] == "red"

    monkeypatch.setattr(kinds, "KINDS", (Kind("red", matches, broken), *KINDS))
    shutil.copy(GOLDEN / "tiny_8x8x8.json", tmp_path / "right.json")
    (tmp_path / "breaks.json").write_text('{"colour": "red"}')
    (tmp_path / "cannot_be_told.json").write_text("{}")
    value = json.loads((tmp_path / "right.json").read_text())
    (tmp_path / "right.json").write_text(json.dumps({**value, "colour": "blue"}))
    found = conform([tmp_path])
    assert found.counts == {"passed": 1, "failed": 2}
    assert not found.ok
    said = [(each["case"], each["got"], each["why"].split(",")[0]) for each in found.to_json()["failed"]]
    assert said == [
        ("breaks", "IndexError: list index out of range", "a defect of pantile"),
        ("cannot_be_told", "KeyError: 'colour'", "a defect of pantile"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"columns": 5, "rows": []}',
        '{"columns": ["capable_bits"], "rows": 5}',
        '{"columns": ["capable_bits", {}], "rows": [], "meta": {"platforms": []}}',
        '{"cases": [{"input": 5, "platform": 5, "blocks": 5}]}',
    ],
)
def test_a_malformed_file_ends_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(text)
    assert "defect" not in str(conform([tmp_path]))


def test_two_runs_say_the_same(tmp_path: Path) -> None:
    files = [GOLDEN / "tiny_8x8x8.json", GOLDEN / "quirks" / "failures.json"]
    assert json.dumps(conform(files).to_json()) == json.dumps(conform(files).to_json())


def test_a_missing_path_is_an_error() -> None:
    with pytest.raises(UsageError, match="there is no such file or folder"):
        conform([GOLDEN / "tiny_8x8x8.json", "nowhere"])


def test_importing_conform_loads_nothing_heavy() -> None:
    code = (
        "import sys, pantile.conform.run;"
        "print([name for name in ('numba', 'onnx', 'pydantic', 'numpy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
