"""The example traces are what the library's revisions emit for two tiles, and checked as the pages say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pantile.check.report import Finding
from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.instructions import set_flag, wait_flag
from pantile.targets.ascend.mma_call import Events
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import REVISIONS, Revision, mma_tile
from pantile.targets.ascend.trace_file import read_trace
from pantile.targets.ascend.trace_text import print_trace
from pantile.verbs.ascend_check import report_on_trace

EXAMPLES = Path(__file__).parents[3] / "examples" / "ascend"
BACK = ("PIPE_M", "PIPE_MTE1")


def two_tiles(revision: Revision) -> str:
    """A tile in two halves of L0, then one that takes L0 whole, under flags that their caller passes."""
    half, events = ELEMENTS["half"], Events(back0=0, back1=1)
    first = default_call(half, 112, 128, 256, events=events)
    second = default_call(half, 16, 1040, 32, events=events)
    second = replace(second, c=replace(second.c, base=4 * first.c.elements))
    parts = [
        f"// mma_tile of AscendNPU-IR, revision {revision}: 112 x 128 x 256 in two halves of L0,",
        "// then 16 x 1040 x 32 in one; the caller passes flags 0 and 1 of PIPE_M to PIPE_MTE1",
        print_trace([set_flag(*BACK, 0), set_flag(*BACK, 1)]),
        "// first tile",
        print_trace(mma_tile(first, revision).instructions),
        "// second tile",
        print_trace(mma_tile(second, revision).instructions),
        "// caller",
        print_trace([wait_flag(*BACK, 0), wait_flag(*BACK, 1)]),
    ]
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_example_is_what_the_revision_emits(revision: Revision) -> None:
    assert (EXAMPLES / f"two_tiles_{revision}.txt").read_text(encoding="utf-8") == two_tiles(revision)


def errors(revision: Revision) -> list[Finding]:
    report, notes = report_on_trace(read_trace(two_tiles(revision), "two_tiles.txt"), None)
    assert not notes
    return [each for each in report.findings if each.severity == "error"]


def test_seed_overwrites_what_the_first_tile_still_reads() -> None:
    (race,) = errors("seed")
    assert (race.code, race.grade) == ("PT-RACE", "wrong value")
    assert race.sentence.startswith("WAR on L0B [32768, 33280): operation 18 'mad' of PIPE_M")


def test_head_orders_the_tiles_and_can_lose_a_flag() -> None:
    assert {each.code for each in errors("head")} <= {"PT-DOUBLE-SET", "PT-DEADLOCK"}
