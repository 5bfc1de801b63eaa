"""What only the family knows."""

from __future__ import annotations

import pytest

from pantile.check.program import check_program
from pantile.check.report import Report
from pantile.targets.ascend.buffers import Buffer
from pantile.targets.ascend.findings import core_findings
from pantile.targets.ascend.record import Recorder

M, FIX = "PIPE_M", "PIPE_FIX"
L0C, OUT = Buffer("L0C"), Buffer("GM_C")
BLOCK = 1024


def tiles(*modes: tuple[int, int], blocks: int = 2) -> Report:
    """Products and copies out of the same blocks, one after the other, with their unit flags."""
    core = Recorder("k.py")
    for product, copy in modes:
        core.access(M, writes=L0C[0 : blocks * BLOCK], label="product", cycles=4, unit_flag=product)
        core.access(FIX, reads=L0C[0 : blocks * BLOCK], writes=OUT[0:32], label="copy", unit_flag=copy)
    program = core.tables()
    return check_program(program) + core_findings(program)


def codes(report: Report) -> list[str]:
    return [each.code for each in report.findings if each.severity != "note"]


def test_hand_over_and_back_orders_every_product_and_copy() -> None:
    assert codes(tiles((3, 3), (3, 3))) == []


def test_without_unit_flags_they_race() -> None:
    assert codes(tiles((0, 0))) == ["PT-RACE"]


def test_a_copy_that_waits_for_blocks_that_nobody_gives_hangs() -> None:
    report = tiles((0, 3))
    assert codes(report) == ["PT-DEADLOCK"]
    assert "for unit flag of blocks from PIPE_M" in report.findings[0].sentence
    assert codes(tiles((2, 3))) == ["PT-DEADLOCK"]


def test_a_product_that_waits_for_blocks_that_fix_never_gives_back_hangs() -> None:
    assert codes(tiles((3, 2), (3, 2)))[:1] == ["PT-DEADLOCK"]


def test_blocks_that_fix_keeps_are_a_leak() -> None:
    report = tiles((3, 2))
    (leak,) = [each for each in report.findings if each.code == "PT-LEAK"]
    assert (leak.severity, leak.grade) == ("warning", "leak")
    assert leak.sentence == (
        "operation 0 'product' of PIPE_M (k.py:22) hands 2 blocks of L0C to FIX, which never gives them back"
    )


def test_one_side_alone_on_a_mad_leaves_its_copy_unordered() -> None:
    assert "PT-RACE" in codes(tiles((3, 0)))


def test_a_k_loop_checks_and_hands_over_with_its_last_product() -> None:
    core = Recorder("k.py")
    for mode in (2, 2, 3):
        core.access(M, writes=L0C[0:BLOCK], label="product", cycles=4, unit_flag=mode)
        core.barrier(M)
    core.access(FIX, reads=L0C[0:BLOCK], writes=OUT[0:32], label="copy", unit_flag=3)
    program = core.tables()
    assert codes(check_program(program) + core_findings(program)) == []


@pytest.mark.parametrize("mode", [0, 1])
def test_modes_0_and_1_check_nothing(mode: int) -> None:
    assert "unit_flags" not in recorded(mode).parameters


def recorded(mode: int):  # type: ignore[no-untyped-def]
    core = Recorder("k.py")
    core.access(M, writes=L0C[0:BLOCK], cycles=4, unit_flag=mode)
    return core.tables()
