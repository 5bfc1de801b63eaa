"""Lines of a mapping file that serve no node."""

from __future__ import annotations

from pantile.planners.onnxim.lines import check_lines
from pantile.planners.onnxim.table import MappingTable
from pantile.tiling.onnxim import LoopCounts, Semantics, read_mapping_file

USED = "[T] N8 C8 M8 - [O] N1 - [I] N8 C8 M8"
UNUSED = "[T] N8 C16 M8 - [O] N1 - [I] N8 C16 M8"
TOTALS = {"other": LoopCounts(1, 2, 3), "near": LoopCounts(8, 8, 8)}


def found(text: str, semantics: Semantics) -> tuple[list[str], list[str]]:
    lines = read_mapping_file(text, "f.mapping", semantics)
    problems, notes = check_lines(lines, MappingTable(lines), TOTALS, semantics)
    return [str(problem) for problem in problems], [str(note) for note in notes]


def test_a_used_line_is_not_remarked_on() -> None:
    assert found(USED, "fixed") == ([], [])
    assert found("", "fixed") == ([], [])


def test_a_file_of_which_nothing_is_used_is_refused_under_fixed() -> None:
    problem = (
        "f.mapping:1:8: no node has the totals N8 C16 M8, the nearest is 'near' with N8 C8 M8; "
        "write [T] N8 C8 M8 [PT-MAPPING]"
    )
    assert found(UNUSED, "fixed") == ([problem], [])
    assert found(UNUSED, "faithful") == ([], ["mapping: f.mapping:1: no node has the totals N8 C16 M8"])


def test_single_unused_lines_are_noted() -> None:
    note = "mapping: f.mapping:2: no node has the totals N8 C16 M8"
    assert found(f"{USED}\n{UNUSED}\n", "fixed") == ([], [note])


def test_a_replaced_line_is_noted() -> None:
    note = "mapping: f.mapping:1 is replaced by f.mapping:2 of the same totals"
    assert found(f"{USED}\n{USED}\n", "fixed") == ([], [note])
