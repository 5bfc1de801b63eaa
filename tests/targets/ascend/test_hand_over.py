"""Unit flags: who waits for whom."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.ascend.hand_over import (
    MATRIX,
    OUT,
    Touch,
    Wait,
    blocks_between,
    blocks_of,
    hand_overs,
    mode_of,
)
from pantile.targets.ascend.instructions import call, pointer


def touch(pipe: str, mode: int, *blocks: int) -> Touch:
    return Touch(-1, -1, pipe, mode, blocks)


def test_blocks_of_a_product_go_down_the_columns_of_its_result() -> None:
    mad = call(
        "mad",
        pointer("L0C", 2048, "float"),
        pointer("L0A", 0, "half"),
        pointer("L0B", 0, "half"),
        *(32, 64, 20, 3),
        *(False, False, True),
    )
    assert blocks_of("mad", mad["args"]) == (2, 3, 4, 5)
    assert mode_of("mad", mad["args"]) == 3


def test_blocks_of_a_copy_skip_the_rows_that_it_leaves() -> None:
    args = {"src": {"off": 1024}, "src_stride": 48, "m_size": 17, "n_size": 32, "unit_flag_mode": 2}
    assert blocks_of("copy_matrix_cc_to_gm", args) == (1, 2, 4, 5)
    assert mode_of("copy_matrix_cc_to_gm", args) == 2


def test_blocks_of_byte_ranges_are_those_that_they_meet() -> None:
    assert blocks_between([(1023, 2049), (0, 1)]) == (0, 1, 2)


def test_a_k_loop_hands_over_once_and_the_copy_waits_for_that() -> None:
    """Modes 2, 2, 3 of three products, 3 of the copy: the documents' own example, shortened."""
    found = hand_overs([*(touch(MATRIX, mode, 0, 1) for mode in (2, 2, 3)), touch(OUT, 3, 0, 1)])
    assert found.waits == (Wait(3, 2, 1, 2),)
    assert not found.kept


def test_the_next_tile_waits_until_the_copy_gave_every_block_back() -> None:
    tile = [touch(MATRIX, 3, 0, 1), touch(OUT, 3, 0, 1)]
    assert hand_overs([*tile, *tile]).waits == (Wait(1, 0, 1, 2), Wait(2, 1, 1, 2), Wait(3, 2, 1, 2))


def test_a_copy_of_some_blocks_waits_for_those() -> None:
    found = hand_overs([touch(MATRIX, 3, 0, 1, 2, 3), touch(OUT, 3, 1, 2)])
    assert found.waits == (Wait(1, 0, 2, 3),)
    assert found.kept == ((0, 2),)


def test_a_copy_waits_for_ever_where_nobody_hands_over() -> None:
    assert hand_overs([touch(OUT, 3, 0)]).waits == (Wait(0, -1, 1, 1),)
    assert hand_overs([touch(MATRIX, 2, 0), touch(OUT, 3, 0)]).waits == (Wait(1, -1, 1, 1),)


def test_a_product_waits_for_ever_where_the_copy_only_checked() -> None:
    found = hand_overs([touch(MATRIX, 3, 0), touch(OUT, 2, 0), touch(MATRIX, 2, 0)])
    assert found.waits == (Wait(1, 0, 1, 1), Wait(2, -1, 1, 1))


def test_blocks_that_fix_keeps_are_counted() -> None:
    assert hand_overs([touch(MATRIX, 3, 0, 1, 2), touch(OUT, 2, 0, 1, 2)]).kept == ((0, 3),)


def replay(touches: list[Touch]) -> set[int]:
    """Return what never runs: ownership block by block, one instruction at a time, both queues in order."""
    owner: dict[int, str] = defaultdict(lambda: MATRIX)
    queues = {pipe: [at for at, each in enumerate(touches) if each.pipe == pipe] for pipe in (MATRIX, OUT)}
    moved = True
    while moved:
        moved = False
        for pipe, queue in queues.items():
            if queue and all(owner[block] == pipe for block in touches[queue[0]].blocks):
                each = touches[queue.pop(0)]
                for block in each.blocks if each.gives else ():
                    owner[block] = OUT if pipe == MATRIX else MATRIX
                moved = True
    return {at for queue in queues.values() for at in queue}


def ran(touches: list[Touch]) -> set[int]:
    """Return what never runs by the waits that were found."""
    waits: dict[int, set[int]] = defaultdict(set)
    for wait in hand_overs(touches).waits:
        waits[wait.touch].add(wait.giver)
    for pipe in (MATRIX, OUT):
        queue = [at for at, each in enumerate(touches) if each.pipe == pipe]
        for before, after in pairwise(queue):
            waits[after].add(before)
    done: set[int] = set()
    while ready := {at for at in range(len(touches)) if at not in done and waits[at] <= done}:
        done |= ready
    return set(range(len(touches))) - done


@given(
    st.lists(
        st.tuples(
            st.sampled_from([MATRIX, OUT]), st.sampled_from([2, 3]), st.sets(st.integers(0, 2), min_size=1)
        ),
        max_size=8,
    )
)
def test_same_as_ownership_block_by_block(rows: list[tuple[str, int, set[int]]]) -> None:
    touches = [touch(pipe, mode, *sorted(blocks)) for pipe, mode, blocks in rows]
    assert ran(touches) == replay(touches)
