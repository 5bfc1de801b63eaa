"""What is read from a copy must have been moved there: itself, around it, or all of its parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Compute,
    Core,
    Program,
    Range,
    Tile,
    Tiling,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)

CUT = Tiling("ti,oi->to", total=(4, 4, 8), D=(1, 1, 2), T=(2, 2, 2), S=...)
CORE, DDR0 = Core(0, 0), DDR(0)
SRAM0 = SRAM(CORE)


def program(fill: Callable[[Tile], None], read: Callable[[Tile], None] | None = None) -> Program:
    """One thread: each tile is filled and then multiplied child by child, or read otherwise."""

    @thread
    def only() -> None:
        for d in Range(CUT.D):
            tile = Tile(CUT, d, location=CORE)
            start_writing(tile)
            fill(tile)
            finish_writing(tile)
            start_reading(tile)
            if read:
                read(tile)
            else:
                for child in tile.children():
                    compute(child)
            finish_reading(tile)
            destroy(tile)

    return Program(CUT, only)


def load(tile: object) -> None:
    load_store(src=DDR0, dst=SRAM0, tile=tile)  # type: ignore[arg-type]


def load_all_children(tile: Tile) -> None:
    for child in tile.children():
        load(child)


def load_by_operand(tile: Tile) -> None:
    load(tile.X)
    for child in tile.children():
        load(child.W)


@pytest.mark.parametrize("fill", [load, load_all_children, load_by_operand])
def test_a_tile_may_be_filled_whole_or_in_parts(fill: Callable[[Tile], None]) -> None:
    program(fill)
    program(fill, compute)


@pytest.mark.parametrize(
    ("fill", "what"),
    [
        (lambda tile: None, r"X D\(0,0\)/T\(0,0\)"),
        (lambda tile: load(tile.W), r"X D\(0,0\)/T\(0,0\)"),
        (lambda tile: load(tile.X), r"W D\(0,0\)/T\(0,0\)"),
        (lambda tile: load(tile.child((0, 0, 0))), r"X D\(0,0\)/T\(0,1\)"),
        (lambda tile: load(tile) if tile.path[0][2] else None, r"X D\(0,0\)/T\(0,0\)"),
    ],
    ids=["nothing", "one operand", "the other", "one child", "only the second tile"],
)
def test_what_is_missing_is_named(fill: Callable[[Tile], None], what: str) -> None:
    with pytest.raises(ProgramError, match=f"compute reads {what} at sram@.0,0., from a copy into which it"):
        program(fill)


def test_one_missing_part_is_missed_by_what_reads_the_whole() -> None:
    def all_but_one(tile: Tile) -> None:
        for child in list(tile.children())[:-1]:
            load(child)

    program(all_but_one)  # X and W of the last child came with others that share them
    with pytest.raises(ProgramError, match=r"compute reads W D\(0,0\) at sram"):
        program(lambda tile: (load(tile.X), load(tile.child((0, 0, 0)).W), None)[2], compute)


@given(st.sets(st.tuples(*[st.integers(0, 1)] * 3)))
def test_exactly_the_children_whose_operands_came_can_be_read(chosen: set[tuple[int, int, int]]) -> None:
    """Against the sets of operand tiles that were moved."""

    def some(tile: Tile) -> None:
        for index in sorted(chosen):
            load(tile.child(index))

    def read(index: tuple[int, int, int]) -> Callable[[Tile], None]:
        return lambda tile: compute(tile.child(index))

    rows, columns = {(t, i) for t, _, i in chosen}, {(o, i) for _, o, i in chosen}
    for index in [(t, o, i) for t in (0, 1) for o in (0, 1) for i in (0, 1)]:
        there = (index[0], index[2]) in rows and (index[1], index[2]) in columns
        try:
            program(some, read(index))
        except ProgramError:
            assert not there
        else:
            assert there


def test_a_register_holds_only_the_tile_that_its_thread_loaded_last() -> None:
    """Two children are loaded before either is multiplied: the first is gone, under every timing."""

    def both_then_both(tile: Tile) -> None:
        for child in list(tile.children())[:2]:
            load_store(src=SRAM0, dst=Compute(CORE), tile=child)
        for child in list(tile.children())[:2]:
            compute(child)

    def one_by_one(tile: Tile) -> None:
        for child in list(tile.children())[:2]:
            load_store(src=SRAM0, dst=Compute(CORE), tile=child)
            compute(child)

    program(load, one_by_one)
    with pytest.raises(ProgramError, match=r"compute reads X .* which line \d+ has overwritten with another"):
        program(load, both_then_both)
