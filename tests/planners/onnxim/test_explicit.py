"""Explicit mappings: what is refused, where it points, how much it says is lost, and what is noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pantile.errors import ManyProblems, MappingError
from pantile.planners.onnxim.explicit import check_explicit
from pantile.planners.onnxim.layer import Layer
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping, Semantics, parse_mapping
from pantile.tiling.plan import Note


def checked(line: str | Mapping, machine: Any, semantics: Semantics, **layer: Any) -> list[Note]:
    mapping = parse_mapping(line, semantics=semantics) if isinstance(line, str) else line
    log = DecisionLog()
    defaults = {"kind": "gemm", "total": mapping.total}
    check_explicit(mapping, Layer(**(defaults | layer)), machine, semantics, log)
    return log.notes


def refusals(line: str | Mapping, machine: Any, semantics: Semantics = "fixed", **layer: Any) -> list[str]:
    with pytest.raises((MappingError, ManyProblems)) as caught:
        checked(line, machine, semantics, **layer)
    return str(caught.value).splitlines()


GOOD = [
    "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16",
    "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24",
    "[T] N16 C20 M16 - [O] N1 C2 M1 - [I] N16 C10 M16",  # C may have any size
    "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N10 C16 M16",  # the second block of 8 reaches the end
    "[T] N7 C5 M3 - [O] N1 C1 M1 - [I] N7 C5 M3",
    "[T] N7 C5 M3 - [O] N1 C1 M1 - [I] N100 C100 M100",
]


@pytest.mark.parametrize("semantics", ["fixed", "faithful"])
@pytest.mark.parametrize("line", GOOD)
def test_what_computes_every_output_once_passes(
    line: str, semantics: Semantics, figures: Callable[..., Any]
) -> None:
    assert checked(line, figures(), semantics) == []


def test_q7_lost_work_is_counted_per_token(figures: Callable[..., Any]) -> None:
    """16^3 with one tile of 8^3: each loop alone loses half of the 4096 MACs."""
    line = "[T] N16 C16 M16 - [O] N1 C1 M1 - [I] N8 C8 M8"
    assert refusals(line, figures()) == [
        "--mapping:1:23: [O] N1 of [I] N8 covers 8 of 16 rows: 2048 of 4096 MACs are lost (Q7); "
        "raise [O] N to 2 [PT-MAPPING]",
        "--mapping:1:26: [O] C1 of [I] C8 covers 8 of 16 reduction elements: 2048 of 4096 MACs are lost, "
        "and none of 256 outputs is stored (Q7); raise [O] C to 2 [PT-MAPPING]",
        "--mapping:1:29: [O] M1 of [I] M8 covers 8 of 16 columns: 2048 of 4096 MACs are lost (Q7); "
        "raise [O] M to 2 [PT-MAPPING]",
    ]
    assert [note.code for note in checked(line, figures(), "faithful")] == ["Q7"] * 3


def test_q8_repeated_work_is_counted(figures: Callable[..., Any]) -> None:
    """20^3 in tiles of 10: blocks 0-8, 8-16, 10-18, 18-20, so 6 rows twice, 6 · 20 · 20 = 2400 MACs."""
    line = "[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10"
    first, second = refusals(line, figures())
    assert first == (
        "--mapping:1:38: [I] N10 is no multiple of 8, the array's rows, so tiles overlap: "
        "2400 MACs are repeated (Q8); write [I] N16 and [O] N2 [PT-MAPPING]"
    )
    assert second.startswith("--mapping:1:46: [I] M10 ")
    assert [note.code for note in checked(line, figures(), "faithful")] == ["Q8", "Q8"]


def test_q6_surplus_reduction_tiles_store_again(figures: Callable[..., Any]) -> None:
    line = "[T] N16 C16 M16 - [O] N1 C3 M1 - [I] N16 C16 M16"
    assert refusals(line, figures(), batch=2) == [
        "--mapping:1:26: [O] C3 of [I] C16 goes past 16 reduction elements: each of 512 outputs is stored "
        "3 times (Q6); lower [O] C to 1 [PT-MAPPING]"
    ]
    assert [note.code for note in checked(line, figures(), "faithful")] == ["Q6"]


def test_q4_surplus_row_tiles_are_dropped_or_hang(figures: Callable[..., Any]) -> None:
    line = "[T] N16 C16 M16 - [O] N2 C1 M1 - [I] N16 C16 M16"
    (note,) = checked(line, figures(), "fixed")
    assert str(note) == (
        "Q4: 1 of 2 tiles along N are empty and dropped, the core counter advances; ONNXim never ends on them"
    )
    assert refusals(line, figures(), "faithful") == [
        "--mapping:1:23: [O] N2 of [I] N16 goes past 16 rows, and ONNXim never ends on a tile without rows "
        "(Q4); lower [O] N to 1, or use --semantics fixed [PT-MAPPING]"
    ]


def test_q5_surplus_column_tiles_are_dropped(figures: Callable[..., Any]) -> None:
    line = "[T] N16 C16 M16 - [O] N1 C1 M2 - [I] N16 C16 M16"
    expected = [Note("Q5", "1 of 2 tiles along M are empty and dropped, the core counter advances")]
    assert checked(line, figures(), "fixed") == expected
    assert checked(line, figures(), "faithful") == expected


@pytest.mark.parametrize("semantics", ["fixed", "faithful"])
@pytest.mark.parametrize(("section", "outer", "inner"), [("O", 0, 16), ("I", 1, 0)])
def test_q4b_a_zero_is_refused(
    semantics: Semantics, section: str, outer: int, inner: int, figures: Callable[..., Any]
) -> None:
    mapping = Mapping(LoopCounts(16, 16, 16), LoopCounts(outer, 1, 1), LoopCounts(inner, 16, 16))
    assert refusals(mapping, figures(), semantics) == [
        f"[{section}] N0 leaves a layer without work, on which ONNXim never ends (Q4b); "
        "give N at least 1 [PT-MAPPING]"
    ]


def test_decisions_show_how_far_every_loop_reaches(figures: Callable[..., Any]) -> None:
    mapping, log = parse_mapping(GOOD[1]), DecisionLog()
    check_explicit(mapping, Layer(kind="gemm", total=mapping.total), figures(), "fixed", log)
    assert [(each.name, each.value) for each in log.decisions] == [
        ("covered N", 50),
        ("covered C", 70),
        ("covered M", 46),
    ]
    assert log.decisions[2].inputs == {"T": 46, "O": 2, "I": 24, "tiles": 2, "reach": 24}


def test_repeated_letters_are_noted(figures: Callable[..., Any]) -> None:
    (note,) = checked("[T] N7 N8 C8 M8 - [O] N1 - [I] N8 C8 M8", figures(), "fixed")
    assert str(note) == "Q20: --mapping:1:8: N is given twice, 8 replaces 7"


CONVOLUTION = "[T] N1 C16 M16 S3 R3 Q12 P20 - [O] N1 C2 M2 Q2 P3 - [I] N1 C8 M8 S3 R3 Q8 P8"


@pytest.mark.parametrize("semantics", ["fixed", "faithful"])
def test_convolutions_are_judged_alike(semantics: Semantics, figures: Callable[..., Any]) -> None:
    """Their loops are clipped in Pantile's model, so that no inner size overlaps the next tile."""
    assert checked(CONVOLUTION, figures(), semantics, kind="conv") == []
    odd = CONVOLUTION.replace("Q2 P3", "Q3 P4").replace("Q8 P8", "Q5 P6")
    assert checked(odd, figures(), semantics, kind="conv") == []
    surplus = refusals(CONVOLUTION.replace("[O] N1 C2", "[O] N1 C3"), figures(), semantics, kind="conv")
    assert surplus == [
        "--mapping:1:39: [O] C3 of [I] C8 goes past 16 reduction elements: ONNXim's last tile is empty and "
        "nothing is stored (CV15); lower [O] C to 2 [PT-MAPPING]"
    ]
    (lost,) = refusals(CONVOLUTION.replace("S3 R3 Q8", "S2 R3 Q8"), figures(), semantics, kind="conv")
    # 12·20·16·16·3·3 = 552960 MACs, a third of them on the third kernel row.
    assert "[O] S1 of [I] S2 covers 2 of 3 kernel rows: 184320 of 552960 MACs are lost (Q7)" in lost
    (note,) = checked(CONVOLUTION.replace("Q2 P3", "Q4 P3"), figures(), semantics, kind="conv")
    assert str(note) == "Q5: 2 of 4 tiles along Q are empty and dropped, the core counter advances"


def test_cv5_one_inner_channel_stops_the_original(figures: Callable[..., Any]) -> None:
    line = "[T] N1 C1 M8 S3 R3 Q8 P8 - [O] N1 - [I] N1 C1 M8 S3 R3 Q8 P8"
    assert checked(line, figures(), "fixed", kind="conv") == []
    assert "CV5" in refusals(line, figures(), "faithful", kind="conv")[0]
