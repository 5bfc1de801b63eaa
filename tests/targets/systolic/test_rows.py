"""The rows of one tile."""

from __future__ import annotations

from pantile.program.program import Operand
from pantile.program.tables import Edge, Kind, Mode, SlotRule, Test
from pantile.targets.systolic.rows import (
    ACCUMULATOR,
    DRAM,
    GEMM_PRELOAD,
    NAMES,
    RESIDENT_LIMIT,
    SCRATCHPAD,
    Entries,
    TileRows,
)


def operand(name: str) -> Operand:
    return Operand(
        name=name, tensor=name, base=0, dims=(), element_bytes=2, rule="dense", strides=(), parameters={}
    )


OPERANDS = (operand("a"), operand("b"), operand("c"))


def tile() -> TileRows:
    """A load, two computes as one run, and a store: axes are 0 rows, 1 columns, 2 reduction."""
    rows = TileRows.of(OPERANDS, Entries())
    rows.load("a", SCRATCHPAD, 100, {0: (0, 4), 2: (0, 12)})
    rows.load("b", SCRATCHPAD, 200, {1: (8, 4), 2: (0, 12)})
    box = {0: (0, 4), 1: (8, 4), 2: (0, 12)}
    rows.compute(GEMM_PRELOAD, (100, 200), 300, box, axis=2, step=8, count=2)
    rows.store(300, {0: (0, 4), 1: (8, 4)})
    return rows


def test_operations_count_bytes_and_macs() -> None:
    tables = tile().tables(10, 3, accumulates=False)
    ops = tables["op"]
    assert ops["id"].tolist() == ops["listing_index"].tolist() == [10, 11, 12, 14]
    assert ops["count"].tolist() == [1, 1, 2, 1]
    assert ops["kind"].tolist() == [Kind.MOVE, Kind.MOVE, Kind.COMPUTE, Kind.MOVE]
    assert [NAMES[opcode] for opcode in ops["opcode"]] == ["MOVIN", "MOVIN", "GEMM_PRELOAD", "MOVOUT"]
    assert ops["bytes"].tolist() == [4 * 12 * 2, 4 * 12 * 2, 0, 4 * 4 * 2]
    assert ops["macs"].tolist() == [0, 0, 4 * 4 * 12, 0]
    assert set(ops["tile"].tolist()) == set(ops["thread"].tolist()) == {3}


def test_boxes_leave_axes_out_that_an_operand_lacks() -> None:
    boxes = tile().tables(0, 0, accumulates=False)["box"]
    assert boxes["lo"][:, :3].tolist() == [[0, 0, 0], [0, 8, 0], [0, 8, 0], [0, 8, 0]]
    assert boxes["length"][:, :3].tolist() == [[4, 0, 12], [0, 4, 12], [4, 4, 12], [4, 4, 0]]
    assert boxes["axis"].tolist() == [-1, -1, 2, -1]
    assert boxes["step"].tolist() == [0, 0, 8, 0]


def test_accesses_stand_in_the_order_that_expansion_relies_on() -> None:
    access = tile().tables(0, 0, accumulates=False)["access"]
    assert access[["op", "mode", "space", "lo"]].tolist() == [
        (0, Mode.READ, DRAM, -1),
        (0, Mode.WRITE, SCRATCHPAD, 100),
        (1, Mode.READ, DRAM, -1),
        (1, Mode.WRITE, SCRATCHPAD, 200),
        (2, Mode.READ, SCRATCHPAD, 100),
        (2, Mode.READ, SCRATCHPAD, 200),
        (2, Mode.UPDATE, ACCUMULATOR, 300),
        (4, Mode.READ, ACCUMULATOR, 300),
        (4, Mode.WRITE, DRAM, -1),
    ]


def test_a_block_is_valid_when_it_was_posted_to_and_nothing_is_outstanding() -> None:
    sync = tile().tables(0, 0, accumulates=False)["sync"]
    of_store = [tuple(row)[1:5] for row in sync[sync["op"] == 4].tolist()]
    assert of_store == [(Edge.BEFORE_START, 2, Test.REACH, 1), (Edge.BEFORE_START, 2, Test.ZERO, 0)]
    of_load = [tuple(row)[1:5] for row in sync[sync["op"] == 0].tolist()]
    assert of_load == [(Edge.BEFORE_START, 0, Test.POST, 1), (Edge.AFTER_FINISH, 0, Test.POST, -1)]


def test_a_load_of_nothing_never_completes() -> None:
    # CV11: no response ever makes the block valid.
    rows = TileRows.of(OPERANDS, Entries())
    rows.load("a", SCRATCHPAD, 100, {0: (0, 4), 2: (12, 0)})
    tables = rows.tables(0, 0, accumulates=False)
    assert tables["op"]["bytes"].tolist() == [0]
    assert tables["sync"]["amount"].tolist() == [1]


def test_slots_and_tasks() -> None:
    for accumulates, rule in ((False, SlotRule.ALTERNATE), (True, SlotRule.ALTERNATE_UNLESS_ACCUMULATING)):
        tables = tile().tables(0, 7, accumulates=accumulates)
        assert tables["slot"].tolist() == [(7, SCRATCHPAD, SlotRule.ALTERNATE), (7, ACCUMULATOR, rule)]
        assert tables["task"].tolist() == [(7, 7, -1, RESIDENT_LIMIT)]


def test_entries_are_numbered_by_first_use_and_shared_between_tiles() -> None:
    entries = Entries()
    first, second = TileRows.of(OPERANDS, entries), TileRows.of(OPERANDS, entries)
    for rows, keys in ((first, (500, 600)), (second, (600, 700))):
        for key in keys:
            rows.load("a", SCRATCHPAD, key, {0: (0, 1)})
    assert first.tables(0, 0, accumulates=False)["counter"]["id"].tolist() == [0, 1]
    counters = second.tables(0, 1, accumulates=False)["counter"]
    assert counters[["id", "src", "key"]].tolist() == [(1, SCRATCHPAD, 600), (2, SCRATCHPAD, 700)]
