"""Programs from files: what does not fit together is said, whatever it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import PantileError
from pantile.language import DDR, SRAM, Core, Program, Range, Tile, Tiling, compute, load_store, thread
from pantile.program.language.load import load_program
from pantile.program.program import Program as Tables
from pantile.program.validate import is_literal, problems_of
from pantile.targets.ascend.trace import program_of_trace

GOLDEN = Path(__file__).parents[1] / "golden" / "sync_cases"


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The JSON of a small program."""
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(2, 2, 4))

    @thread
    def work() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=Core(0, 0))
            load_store(src=DDR(0), dst=SRAM(Core(0, 0)), tile=tile)
            compute(tile)
            load_store(src=SRAM(Core(0, 0)), dst=DDR(0), tile=tile)

    return Program(tiling, work).to_json()


def cell(table: str, column: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change of a cell of a table's first row."""

    def change(data: dict[str, Any]) -> None:
        rows = data["pieces"][0]["tables"][table]
        rows["rows"][0][rows["columns"].index(column)] = value

    return change


def key(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change of a key of the program, or of its parameters."""

    def change(data: dict[str, Any]) -> None:
        (data if name in data else data["parameters"])[name] = value

    return change


PROBLEMS: dict[str, Callable[[dict[str, Any]], None]] = {
    "table 'op': ids are not 0, 1, 2": cell("op", "id", 7),
    "table 'op', row 0: there is no thread 3": cell("op", "thread", 3),
    "table 'op', row 0: there is no name 999": cell("op", "opcode", 999),
    "table 'op', row 0: kind 9 means nothing": cell("op", "kind", 9),
    "table 'op': a duration model that is none of 0": cell("op", "duration_model", 4),
    "parameters: durations are no counts": key("durations", [5, [1, -1]]),
    "table 'access': rows do not stand in the order of operations": cell("access", "op", 5),
    "table 'access', row 0: there is no space 8": cell("access", "space", 8),
    "table 'access', row 0: there is no operand -1": cell("access", "operand", -1),
    "table 'access': lo is outside 0 to": cell("access", "lo", -8),
    "table 'access': a range holds no whole elements": cell("access", "length", 7),
    "table 'access': a range reaches beyond": cell("access", "lo", (1 << 44) - 1),
    "table 'access': rows is outside 1 to": cell("access", "rows", 0),
    "table 'box': a box leaves the iteration space": cell("box", "lo", [99, 0, 0, 0, 0, 0, 0]),
    "threads belong to tasks": cell("thread", "task", 0),
    "'name' is no text": key("name", 5),
    "extents are not one count per axis": key("extents", [4, 4]),
    "names and axes are not all texts": key("axes", ["t", "o", 1]),
    "operand 0 has no name": lambda data: data["operands"][0].update(dims=[4, -8]),
    "there is no space 1": key("spaces", ["ddr@0"]),
    "parameters: spaces are no list of texts": key("spaces", [1, 2]),
    "parameters: files are neither a text nor a list": key("files", 5),
    "parameters: works are no pairs of a kind and an amount": key("works", [["l1>l0a", -1]]),
    "parameters: life 0 is no [space, first byte": key("lives", [[0, 0, 4, 0, 10**6]]),
    "parameters: lives are no list": key("lives", 0),
    "parameters: private are no list of counts": key("private", [None]),
    "parameters: forwarding are no list of counts": key("forwarding", {}),
    "parameters: tiling: 3 totals for 2 dimensions": lambda data: data["parameters"]["tiling"].update(
        dimensions=["t", "o"]
    ),
    "parameters: tiling is none: KeyError 'dimensions'": key("tiling", {"total": [1]}),
    "parameters: tiling is none: AttributeError": lambda data: data["parameters"]["tiling"].update(
        subscripts=5
    ),
    "not a whole program: OverflowError": cell("op", "kind", 10**9),
    "not a whole program: KeyError 'axes'": lambda data: data.pop("axes"),
    "not a whole program: AttributeError": key("pieces", [{"loops": [], "tables": []}]),
    "its pieces repeat: it was lowered from a product": lambda data: data.update(pieces=data["pieces"] * 2),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_one_line_says_what_does_not_fit(problem: str, whole: dict[str, Any], tmp_path: Path) -> None:
    data = json.loads(json.dumps(whole))
    PROBLEMS[problem](data)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(data))
    with pytest.raises(PantileError) as caught:
        load_program(path)
    lines = str(caught.value).splitlines()
    assert any(problem in line for line in lines), lines
    assert all(line.startswith(f"{path}: ") and line.endswith("[PT-PROGRAM]") for line in lines)


def test_what_is_recorded_fits(whole: dict[str, Any]) -> None:
    program = Tables.from_json(json.loads(json.dumps(whole)))
    assert is_literal(program)
    assert problems_of(program) == []


def test_traces_fit() -> None:
    cases = [json.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.json"))]
    traces = [case["trace"] for case in cases if isinstance(case, dict) and "trace" in case]
    assert len(traces) > 20
    assert [problems_of(program_of_trace(trace)) for trace in traces] == [[]] * len(traces)
