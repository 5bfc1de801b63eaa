"""Races of recorded programs, carried out in an order that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.check.program import check_program
from pantile.check.report import Finding
from pantile.program.program import Program
from pantile.targets.ascend.alignment import check_alignment
from pantile.targets.ascend.instructions import call, pointer
from pantile.targets.ascend.judge import StreamJudge
from pantile.targets.ascend.trace import program_of_trace

GOLDEN = Path(__file__).parents[2] / "golden" / "sync_cases"


def recorded(name: str) -> Program:
    trace = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["trace"]
    return program_of_trace(trace, name, unit_flags=True)


def races(program: Program) -> list[Finding]:
    report = check_program(program, judge=StreamJudge(program))
    return [each for each in report.findings if each.code == "PT-RACE"]


def test_a_single_buffered_tile_after_a_double_buffered_one_computes_wrong_values_in_revision_seed() -> None:
    (race,) = races(recorded("todo_db_then_sb_seed"))
    assert (race.severity, race.grade) == ("error", "wrong value")
    assert race.sentence.startswith("WAR on L0B [32768, 33280): operation 18 'mad' of PIPE_M")
    assert "operation 24 'img2colv2_cbuf_to_cb' of PIPE_MTE1" in race.sentence
    assert "bytes are wrong" in race.evidence


def test_the_same_program_is_clean_in_revision_head() -> None:
    assert not races(recorded("todo_db_then_sb_head"))


def test_a_bias_loaded_again_leaves_the_same_bytes_and_another_one_does_not() -> None:
    (again,) = races(recorded("bias_reload_seed"))
    assert (again.severity, again.grade) == ("warning", "unordered, equal bytes on this data")
    (another,) = races(recorded("bias_two_tiles_head"))
    assert (another.severity, another.grade) == ("error", "wrong value")


def test_abstract_accesses_are_executed_on_symbols() -> None:
    """They do not say what they compute: each leaves a number that stands for what it read."""
    (race, *_) = races(recorded("r06_wait_after_consumer"))
    assert (race.severity, race.grade) == ("error", "wrong value")
    assert "executed on symbols in that order" in race.evidence


@pytest.mark.parametrize(("offset", "told"), [(0, 0), (512, 0), (256, 1)])
def test_addresses_are_aligned_as_their_buffer_asks(offset: int, told: int) -> None:
    dst, src = pointer("L0A", offset, "half"), pointer("L1", 32, "half")
    stream = [call("load_cbuf_to_ca", dst, src, 0, 1, 1, 0, 0, False, "inc")]
    report = check_alignment(program_of_trace(stream, "t"))
    assert len(report.findings) == told
    for finding in report.findings:
        assert "begins at byte 256 of L0A, which allows multiples of 512" in finding.sentence
        assert finding.mend == "begin at 0 or 512"
