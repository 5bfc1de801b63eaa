"""Waits that nothing ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.ready import check_ready
from pantile.program.program import Program
from pantile.program.tables import SlotRule, Test
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution

Lowered = Callable[..., Program]
MAIN = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def test_every_wait_is_provided_for(lowered: Lowered) -> None:
    report = check_ready(lowered(MAIN))
    assert report.ok
    # Per tile 4 runs of computes that wait for two blocks each; in the four last stages 4 stores more.
    assert report.proved == (f"readiness: {8 * 8 + 4 * 4} waits, each for a block that is provided before",)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    "line",
    [
        "[T] N16 C16 M16 - [O] N1 C3 M1 - [I] N16 C16 M16",  # Q6: surplus stages load and compute nothing
        "[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24",
        "[T] N20 C20 M20 - [O] N2 C2 M2 - [I] N10 C10 M10",  # Q8
    ],
)
def test_lowered_programs_are_ready(lowered: Lowered, line: str, bias: bool) -> None:
    assert check_ready(lowered(line, bias=bias)).ok


@pytest.mark.parametrize(("row", "operand", "waits"), [(0, "weight", 2), (1, "activation", 2)])
@pytest.mark.parametrize(("place", "stage"), [(0, "first"), (1, "last")])
def test_a_dropped_load_leaves_its_computes_waiting(
    lowered: Lowered, dropped: Lowered, place: int, stage: str, row: int, operand: str, waits: int
) -> None:
    # Loads stand in the order weight, activation, activation, weight; each block serves two runs of computes.
    # That the other stage loads a block under the same key does not help: its half is another.
    report = check_ready(dropped(lowered(MAIN), place, row))
    assert len(report.findings) == waits, (stage, operand)
    for finding in report.findings:
        assert (finding.code, finding.severity, finding.grade) == ("PT-STATE", "error", "hang")
        assert "waits for a block that nothing provides, in 4 tiles of its kind" in finding.sentence
    assert not report.ok


def test_the_waiting_operations_are_named(lowered: Lowered, dropped: Lowered) -> None:
    # Tile 0: 4 loads, then runs of four computes at 4, 8, 12, 16; the second weight serves columns 8 to 15.
    report = check_ready(dropped(lowered(MAIN), 0, 3))
    assert [finding.operations for finding in report.findings] == [(12,), (16,)]
    assert report.findings[0].sentence.startswith("operation 12 waits")


def test_a_store_of_a_block_that_nobody_computes_waits_for_ever(lowered: Lowered, dropped: Lowered) -> None:
    program = lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8")
    # 2 loads, 1 compute, 1 store: without the compute, the store waits.
    (finding,) = check_ready(dropped(program, 0, 2)).findings
    assert finding.operations == (3,)


def test_a_store_may_rely_on_an_earlier_stage_but_not_on_a_later_one(lowered: Lowered) -> None:
    # Q6: the surplus stage stores what the true one computed.
    program = lowered("[T] N8 C8 M8 - [O] N1 C2 M1 - [I] N8 C8 M8")
    true, surplus = program.pieces
    assert check_ready(program).ok

    def at(piece_loops: tuple, index: int) -> tuple:
        return tuple(replace(loop, first=index) if loop.name == "k" else loop for loop in piece_loops)

    swapped = (replace(true, loops=at(true.loops, 1)), replace(surplus, loops=at(surplus.loops, 0)))
    report = check_ready(replace(program, pieces=swapped))
    assert [finding.sentence.split(",")[0] for finding in report.findings] == [
        f"operation {surplus.tables['op']['id'][-1]} waits for a block that nothing provides"
    ]


def test_a_window_in_the_padding_alone_never_becomes_valid(lowered_convolution: Lowered) -> None:
    # CV11: a 1 x 1 kernel over one row of padding; output row 0 reads row -1 alone, as does row 5 row 4.
    conv = Convolution(
        batch=1, in_channels=8, out_channels=8, height=4, width=4, kernel=(1, 1), pads=(1, 0, 1, 0)
    )
    total = LoopCounts(1, 8, 8, 1, 1, 6, 4)
    counts = (total, LoopCounts(1, 1, 1, Q=6), LoopCounts(1, 8, 8, Q=1, P=4))
    report = check_ready(lowered_convolution(conv, counts))
    assert not report.ok
    # Tile 0 loads the window and one kernel block, and computes the one block of 4 outputs.
    first = report.findings[0]
    assert (
        first.sentence == "operation 2 waits for 1 events of a block that never come, in 1 tiles of its kind"
    )
    whole = (total, LoopCounts(1, 1, 1), LoopCounts(1, 8, 8, Q=6, P=4))
    assert check_ready(lowered_convolution(conv, whole)).ok


def by_hand(program: Program) -> tuple[int, set[int]]:
    """Waits of the whole program, and operations that wait in vain, tile after tile of the unrolled program.

    A scratchpad block belongs to its tile, an accumulator block to its region.
    """
    tables = program.tables()
    tiles = dict(zip(tables["op"]["id"].tolist(), tables["op"]["tile"].tolist(), strict=True))
    rule = SlotRule.ALTERNATE_UNLESS_ACCUMULATING
    continues = {task for task, _, each in tables["slot"].tolist() if each == rule}
    memory = dict(zip(tables["counter"]["id"].tolist(), tables["counter"]["src"].tolist(), strict=True))
    kept = {each for _, each, found in tables["slot"].tolist() if found == rule}
    waits, vain = 0, set()
    posted: set[int] = set()
    tile = -1
    for op, _, counter, test, amount, _, _ in tables["sync"].tolist():
        if tiles[op] != tile:
            tile = tiles[op]
            posted = {each for each in posted if tile in continues and memory[each] in kept}
        if test == Test.POST and amount > 0:
            posted.add(counter)
        elif test == Test.REACH:
            waits += 1
            if counter not in posted:
                vain.add(op)
    return waits, vain


@settings(deadline=None)
@given(
    total=st.tuples(*[st.integers(1, 20)] * 3),
    inner=st.tuples(*[st.integers(1, 12)] * 3),
    outer=st.tuples(*[st.integers(1, 4)] * 3),
    bias=st.booleans(),
    drop=st.one_of(st.none(), st.tuples(st.integers(0, 20), st.integers(0, 30))),
)
def test_per_kind_as_tile_by_tile(
    lowered: Lowered,
    dropped: Lowered,
    total: tuple[int, int, int],
    inner: tuple[int, int, int],
    outer: tuple[int, int, int],
    bias: bool,
    drop: tuple[int, int] | None,
) -> None:
    sections = (
        " ".join(f"{letter}{count}" for letter, count in zip("NCM", counts, strict=True))
        for counts in (total, outer, inner)
    )
    line = " - ".join(f"[{name}] {section}" for name, section in zip("TOI", sections, strict=True))
    program = lowered(line, bias=bias, side=4)
    if drop:
        place = drop[0] % len(program.pieces)
        program = dropped(program, place, drop[1] % len(program.pieces[place].tables["op"]))
    waits, vain = by_hand(program)
    report = check_ready(program)
    assert report.ok == (not vain)
    # Every finding stands for one operation in each tile of its kind.
    found = report.findings
    named = {each.operations[0]: int(each.sentence.split(" in ")[1].split()[0]) for each in found}
    assert set(named) <= vain
    assert sum(named.values()) == len(vain)
    if not vain:
        assert report.proved[0].startswith(f"readiness: {waits} waits")
