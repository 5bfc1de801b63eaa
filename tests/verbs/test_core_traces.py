"""Traces of Ascend cores as inputs of ``simulate`` and ``view``."""

from __future__ import annotations

from pathlib import Path

import pytest

import pantile
from pantile.errors import UsageError
from pantile.verbs.program_view import view_program

MAD = "mad((__cc__ float*)0x0, (__ca__ half*)0x0, (__cb__ half*)0x0, 16, 16, 16, 0, false, false, true)\n"


def written(folder: Path, text: str) -> str:
    path = folder / "trace.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_run_ends_at_the_trap(tmp_path: Path) -> None:
    path = written(tmp_path, f"{MAD}trap()\n{MAD}{MAD}")
    found = pantile.simulate(path, "ascend-910b").to_json()
    alone = pantile.simulate(written(tmp_path, f"{MAD}trap()\n"), "ascend-910b").to_json()
    for key in ("operations", "macs", "total_ps", "terms", "lower_bounds", "per_core", "utilisation"):
        assert found[key] == alone[key], key
    (note,) = found["notes"]
    assert note["code"] == "trap"
    assert note["text"].endswith("trace.txt:2: 2 instructions after it did not run")
    assert alone["notes"] == []


def test_a_page_shows_no_finding_of_what_did_not_run(tmp_path: Path) -> None:
    path = written(tmp_path, f"{MAD}trap()\n{MAD}")
    assert [each.code for each in pantile.check(path, "ascend-910b").report.findings] == [
        "PT-STATE",
        "PT-RACE",
    ]
    page = str(view_program(path, "ascend-910b")._repr_html_())
    assert "PT-STATE" in page
    assert "PT-RACE" not in page


def test_a_run_says_what_was_left_out_and_assumed(tmp_path: Path) -> None:
    untyped = MAD.replace("(__ca__ half*)", "")
    path = written(tmp_path, f"{untyped}vadd(1)\n")
    notes = pantile.simulate(path, "ascend-910b").notes
    assert [str(each)[:30] for each in notes] == [
        "trace: vadd is no known intrin",
        "trace: pointers without a type",
    ]
    assert set(notes) <= set(pantile.check(path, "ascend-910b").notes)


@pytest.mark.parametrize("machine", ["mesh-2x2", "systolic-ws-8x8"])
def test_a_trace_needs_an_ascend_machine(tmp_path: Path, machine: str) -> None:
    path = written(tmp_path, MAD)
    for verb in (pantile.check, pantile.simulate, view_program):
        with pytest.raises(UsageError, match="a trace of an Ascend core needs an Ascend machine"):
            verb(path, machine)
