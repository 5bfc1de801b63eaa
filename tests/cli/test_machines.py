"""The command ``pantile machines``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pantile.machine import preset_names

if TYPE_CHECKING:
    from conftest import Pantile, WriteMachine

PRESETS = list(preset_names())


def test_the_presets_are_listed_with_or_without_the_word(pantile: Pantile) -> None:
    bare, listed = pantile("machines"), pantile("machines", "list")
    assert bare == listed
    assert [line.split()[0] for line in listed.out.splitlines()] == PRESETS
    as_json = pantile("machines", "list", "--json").object
    assert as_json["schema"] == "pantile/machines/1"
    assert [each["name"] for each in as_json["machines"]] == PRESETS


def test_a_machine_is_shown_with_the_source_of_each_constant(pantile: Pantile) -> None:
    done = pantile("machines", "show", "systolic-ws-8x8")
    assert done.code == 0
    row = next(line for line in done.out.splitlines() if line.startswith("memory.scratchpad.capacity_bytes"))
    assert row.split(maxsplit=3)[1:] == ["64", "KiB", "ONNXim spad_size = 64 (KiB, both halves)"]
    as_json = pantile("machines", "show", "systolic-ws-8x8", "--json").object
    assert (as_json["schema"], as_json["name"]) == ("pantile/machine/1", "systolic-ws-8x8")


def test_files_of_both_kinds_are_shown_and_validated(pantile: Pantile, machine_file: WriteMachine) -> None:
    onnxim = machine_file("mine.json")
    assert pantile("machines", "show", onnxim).out.startswith("mine")
    done = pantile("machines", "validate", onnxim)
    assert (done.code, done.out, done.err) == (0, f"{onnxim}: machine 'mine' is valid\n", "")


def test_every_problem_of_a_file_is_reported_at_its_line(pantile: Pantile) -> None:
    Path("bad.toml").write_text(
        'schema = "pantile/machine/1"\nname = "bad"\n[clock]\nbase = "core"\ncore = "fast"\n'
        "[grid]\ncoers = 1\n"
    )
    done = pantile("machines", "validate", "bad.toml")
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert [line.split(": ")[1] for line in lines[:2]] == ["bad.toml:5:1", "bad.toml:7:1"]
    assert "did you mean 'cores'?" in lines[1]


def test_a_machine_that_cannot_be_timed_is_not_valid(pantile: Pantile, machine_file: WriteMachine) -> None:
    done = pantile("machines", "validate", machine_file(dram_channels=24))
    assert done.code == 2
    assert "family.systolic.channels is 24: expected 1 to 16, 32 or 64" in done.err
