"""Inputs on which ONNXim crashes, exits or hangs, through a written configuration file.

``fixed`` computes them right or refuses them with the violated limit; ``faithful`` is one line each.
Data: tests/golden/onnxim/quirks/failures.json, recorded by running ONNXim a1e86296e080.
"""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Pantile, WriteMachine

FILE = Path(__file__).parents[1] / "golden/onnxim/quirks/failures.json"
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in json.loads(FILE.read_text())["cases"]}
OTHER = "use --semantics fixed, or give an explicit mapping"
SMALLER = "raise the counts of [O] and lower those of [I]"

COMPUTED = {
    "Q1a": "Q1",
    "Q1b": "Q1",
    "Q1c": "Q1",
    "Q2a": "Q2a",
    "Q2b": "Q2b",
    "Q4": "Q4",
    "Q11": "Q11",
    "Q13": "Q13",
    "Q20": None,
}
"""Cases that ``fixed`` computes, and the quirk that it notes."""
LARGE = ("Q2a", "Q2b")
"""Those that the plain form of the simulation would be too slow for."""


def divided_by_zero(letter: str, inner: int, cores: int, side: int) -> str:
    cause = f"cut into {cores} tiles for {cores} cores, is aligned down to 0 on an array of {side}"
    return f"inner {letter} = {inner}, {cause}, and the mapper divides by it (Q1); {OTHER}"


FAITHFUL = {
    "Q1a": divided_by_zero("M", 6, 4, 8),
    "Q1b": divided_by_zero("N", 32, 4, 128),
    "Q1c": divided_by_zero("M", 5, 16, 8),
    "Q2a": "a tile N200 C8 M200 is too large: 12800 B of scratchpad are needed, a half holds 8192 B (Q2); "
    + OTHER,
    "Q2b": "an operand's share of a scratchpad half is 16 blocks of 8x8, below the 45 along a tile, so that "
    "db_max_tile_k is 0 and the mapper divides by it (Q2b); " + OTHER,
    "Q4": "[O] N2 of [I] N16 goes past 16 rows, and ONNXim never ends on a tile without rows (Q4); "
    "lower [O] N to 1, or use --semantics fixed",
    "Q4b": "[O] N0 leaves a layer without work, on which ONNXim never ends (Q4b); give N at least 1",
    "Q11": "transA = 1: ONNXim's index is out of bound (Q11); use --semantics fixed",
    "Q13": "ONNXim addresses activations of 2 or 3 dims, got 1x2x8x16 (Q13); use --semantics fixed",
    "Q20": "two spaces in a row, on which ONNXim stops (Q20); leave one space, or use --semantics fixed",
}
"""What ``faithful`` says of the cases that it alone refuses, or in other words."""

BOTH = {
    "Q2c": "core_config.core_0.accum_spad_size: expected a whole number from 1 to 4398046511104, got 0",
    "Q2d": f"a tile N64 C8 M64 is too large: 4096 B of scratchpad are needed, a half holds 2048 B (Q2); {SMALLER}",
    "Q2e": "a tile N256 C8 M256 is too large: 262144 B of accumulator are needed, a half holds 8192 B (Q2); "
    + SMALLER,
    "Q14": "family.systolic.channels is 24: expected 1 to 16, 32 or 64, the counts that the address hash exists "
    "for (quirk Q14)",
    "Q19": "the automatic mapping needs a square array, got 8 rows and 16 columns (Q19); give an explicit mapping: "
    '--mapping "[T] N16 C16 M16 - [O] … - [I] …"',
    "Q21": "family.systolic.core_type of core 0 is 'systolic_os': only 'systolic_ws' is modelled, and ONNXim "
    "computes with no other (quirk Q21)",
    "Q22": "family.systolic.precision_bytes is 64: expected at most memory.dram.granule_bytes, the request size of "
    "32 bytes (quirk Q22)",
}
"""What both semantics refuse."""
FIXED = {"Q4b": "expected a count between 1 and 2147483647, got 'N0'; give N a count in that range"}
"""What ``fixed`` says of the rest."""
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in LARGE]


def command(case: dict[str, Any], machine_file: WriteMachine) -> tuple[str, ...]:
    """Workload and options of a case."""
    rows, depth, columns = case["gemm"]
    workload = f"gemm:m={rows},n={columns},k={depth}"
    if case.get("transA"):
        workload = f"bmm:a={depth}x{rows},b={depth}x{columns},ta"
    if "input_shape" in case:
        workload = f"bmm:a={'x'.join(map(str, case['input_shape']))},b={depth}x{columns}"
    mapping = ("--mapping", case["mapping"]) if case["mapping"] else ()
    return workload, "-m", machine_file(**case["config"]), *mapping


def test_every_case_of_the_file_is_judged() -> None:
    assert set(COMPUTED) | set(BOTH) | set(FIXED) == set(CASES)
    assert set(FAITHFUL) | set(BOTH) == set(CASES)


@pytest.mark.parametrize("name", [*(name for name in COMPUTED if name not in LARGE), *SLOW])
def test_what_fixed_computes_is_right_and_noted(
    name: str, pantile: Pantile, machine_file: WriteMachine
) -> None:
    case = CASES[name]
    arguments = command(case, machine_file)
    rows, depth, columns = case["gemm"]
    report = pantile("check", *arguments, "--json")
    assert report.code == 0, report.out + report.err
    assert f"coverage: {rows * depth * columns} MACs, each computed exactly once" in report.object["proved"]
    assert f"coverage: {rows * columns} outputs, each stored exactly once" in report.object["proved"]
    run = pantile("simulate", *arguments, "--json").object
    assert run["per_layer"][0]["macs"] == rows * depth * columns
    assert max(run["lower_bounds"].values()) <= run["total_cycles"]
    codes = {note["code"] for note in run["notes"]}
    assert codes - {"model"} == ({COMPUTED[name]} if COMPUTED[name] else set())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("verb", ["plan", "simulate"])
def test_what_faithful_says(name: str, verb: str, pantile: Pantile, machine_file: WriteMachine) -> None:
    done = pantile(verb, *command(CASES[name], machine_file), "--semantics", "faithful")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f": {(FAITHFUL | BOTH)[name]} [PT-" in done.err


@pytest.mark.parametrize("name", [*BOTH, *FIXED])
@pytest.mark.parametrize("verb", ["plan", "simulate"])
def test_what_fixed_refuses(name: str, verb: str, pantile: Pantile, machine_file: WriteMachine) -> None:
    done = pantile(verb, *command(CASES[name], machine_file))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f": {(FIXED | BOTH)[name]} [PT-" in done.err
