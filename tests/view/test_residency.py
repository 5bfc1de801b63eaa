"""Entries come to life, are dropped, and hold what their operations say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.view.columns import ACCESSES, BINDINGS, OPERATIONS, TILES, table
from pantile.view.residency import contributions, residency

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.view.columns import Table
    from pantile.view.pagedata import PageData

LOAD, COMPUTE, STORE = 0, 1, 2
A, B, C, BIAS = 1, 2, 3, 4
READ, WRITE, UPDATE = 0, 1, 2


def rows(made: Table, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(made[name].tolist() for name in names), strict=True))


def test_the_seed_case_in_full(seed_page: PageData) -> None:
    lives = residency(seed_page.operations, seed_page.accesses, seed_page.bindings, seed_page.tiles)
    # Per tile 2 blocks of A and 2 of B; per output region 4 blocks of C, kept over both stages.
    assert lives.entries.count == 8 * 4 + 4 * 4
    assert np.bincount(lives.blocks["operand"]).tolist() == [0, 8, 8, 16]  # 4 x 2, 2 x 4, 4 x 4
    first = rows(lives.entries, "memory", "slot", "operand", "opened", "closed")[:4]
    # Tile 0 fills half 1: weights, activations, activations, weights. Tile 2, which begins with
    # operation 44, takes half 1 again and drops them.
    assert first == [(0, 1, B, 0, 44), (0, 1, A, 1, 44), (0, 1, A, 2, 44), (0, 1, B, 3, 44)]
    outputs = [row for row in rows(lives.entries, "operand", "opened", "closed") if row[0] == C]
    assert outputs[:4] == [(C, 4, 88), (C, 8, 88), (C, 12, 88), (C, 16, 88)]  # until tile 4 takes the half


def test_a_dropped_tag_comes_to_life_again() -> None:
    operations = table(
        OPERATIONS, kind=[LOAD] * 3, opcode=[0] * 3, engine=[0] * 3, tile=[0, 1, 2], operand=[A] * 3,
        m_size=[8] * 3, k_start=[0, 8, 16], k_size=[8] * 3, issue_cycle=[1, 5, 9],
    )  # fmt: skip
    accesses = table(
        ACCESSES, operation=[0, 1, 2], mode=[WRITE] * 3, operand=[A] * 3, memory=[0] * 3, slot=[1, 0, 1],
        tag=[7] * 3, granules=[2] * 3, bytes=[64] * 3,
    )  # fmt: skip
    tiles = table(TILES, issue_cycle=[0, 1, 8])
    bindings = table(BINDINGS, tile=[0, 1, 2], memory=[0] * 3, slot=[1, 0, 1])
    entries = residency(operations, accesses, bindings, tiles).entries
    assert rows(entries, "opened", "closed", "opened_cycle", "closed_cycle") == [
        (0, 2, 1, 8),
        (1, -1, 5, -1),
        (2, -1, 9, -1),
    ]
    assert rows(entries, "k_start", "granules", "bytes") == [(0, 2, 64), (8, 2, 64), (16, 2, 64)]


def test_another_core_has_memories_of_its_own() -> None:
    operations = table(OPERATIONS, kind=[0, 0], opcode=[0, 0], engine=[0, 1], tile=[0, 1], operand=[A, A])
    accesses = table(
        ACCESSES, operation=[0, 1], mode=[1, 1], operand=[A, A], memory=[0, 0], slot=[0, 0], tag=[7, 7]
    )
    bindings = table(BINDINGS, tile=[0, 1], memory=[0, 0], slot=[0, 0])
    entries = residency(operations, accesses, bindings, table(TILES, core=[0, 1])).entries
    assert rows(entries, "core", "opened", "closed") == [(0, 0, -1), (1, 1, -1)]


def one_tile(
    kinds: list[int], modes: list[int], operands: list[int], **boxes: list[int]
) -> tuple[Table, ...]:
    """A tile whose operations all touch one tag of one slot."""
    count = len(kinds)
    operations = table(
        OPERATIONS,
        kind=kinds,
        opcode=[0] * count,
        engine=[0] * count,
        tile=[0] * count,
        operand=operands,
        **boxes,
    )
    accesses = table(
        ACCESSES, operation=range(count), mode=modes, operand=operands, memory=[0] * count, slot=[0] * count,
        tag=[7] * count,
    )  # fmt: skip
    return operations, accesses, table(BINDINGS, tile=[0], memory=[0], slot=[0]), table(TILES, core=[0])


def test_a_bias_row_that_is_added_to_becomes_an_output_block() -> None:
    made = one_tile(
        [LOAD, COMPUTE], [WRITE, UPDATE], [BIAS, C],
        m_size=[0, 8], n_start=[16, 16], n_size=[8, 8], k_size=[0, 4],
    )  # fmt: skip
    lives = residency(*made)
    assert rows(lives.entries, "operand", "m_size", "n_start", "n_size", "k_size", "opened") == [
        (C, 8, 16, 8, 0, 0)
    ]
    assert rows(lives.blocks, "operand", "m_size", "n_start", "n_size") == [(C, 8, 16, 8)]


def test_a_bias_row_alone_is_no_block_of_a_matrix() -> None:
    lives = residency(*one_tile([LOAD], [WRITE], [BIAS], n_size=[8]))
    assert (lives.entries["block"].tolist(), lives.blocks.count) == ([-1], 0)


def test_in_a_window_an_entry_first_read_was_there_before() -> None:
    made = one_tile([COMPUTE, COMPUTE], [READ, READ], [A, A], m_size=[8, 8], k_start=[0, 8], k_size=[8, 8])
    columns = ("opened", "opened_cycle", "k_start", "k_size")
    # Never seen filled, it holds at least what its readers use: k 0:8 and 8:16.
    assert rows(residency(*made, windowed=True).entries, *columns) == [(-1, -1, 0, 16)]
    assert rows(residency(*made).entries, *columns) == [(0, -1, 0, 16)]


def test_in_a_window_a_continued_sum_was_there_before() -> None:
    made = one_tile([COMPUTE], [UPDATE], [C], m_size=[8], n_size=[8], stage=[3], stage_count=[8])
    assert residency(*made, windowed=True).entries["opened"].tolist() == [-1]


def test_contributions_count_the_computations_of_each_output_block(seed_page: PageData) -> None:
    stage, count = contributions(seed_page.operations)
    # Two reduction stages of 32 in steps of 8: eight contributions to each block.
    assert stage[:9].tolist() == [-1, -1, -1, -1, 0, 1, 2, 3, 0]
    assert stage[24:28].tolist() == [4, 5, 6, 7]  # tile 1 goes on where tile 0 stopped
    assert set(count.tolist()) == {0, 8}


def test_contributions_agree_with_counting_one_by_one(make_page: Callable[..., PageData]) -> None:
    operations = make_page({"m": 20, "n": 12, "k": 40}, {"m": 12, "n": 8, "k": 12}).operations
    names = [f"{axis}_{part}" for axis in "bmn" for part in ("start", "size")]
    boxes = rows(operations, *names)
    computes = [op for op in range(operations.count) if operations["kind"][op] == COMPUTE]
    expected = [
        sum(boxes[other] == boxes[op] for other in computes if other < op) if op in set(computes) else -1
        for op in range(operations.count)
    ]
    stage, count = contributions(operations)
    assert stage.tolist() == expected
    assert all(count[op] == sum(boxes[other] == boxes[op] for other in computes) for op in computes)


def test_no_operations_no_entries() -> None:
    empty: list[int] = []
    operations = table(OPERATIONS, kind=empty, opcode=empty, engine=empty, tile=empty)
    accesses = table(
        ACCESSES, operation=empty, mode=empty, operand=empty, memory=empty, slot=empty, tag=empty
    )
    bindings = table(BINDINGS, tile=empty, memory=empty, slot=empty)
    lives = residency(operations, accesses, bindings, table(TILES, core=empty))
    assert (lives.entries.count, lives.blocks.count, lives.touches.count) == (0, 0, 0)
    assert [each.tolist() for each in contributions(operations)] == [[], []]
