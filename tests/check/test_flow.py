"""Reads that find what they mean, sums that are whole when they are stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pantile.check.program import check_program
from pantile.errors import ProgramError
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
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
from pantile.program.piece import Piece
from pantile.program.program import Program as Rows

CORE, OFF_CHIP = Core(0, 0), DDR(0)
LOCAL = SRAM(CORE)


def cut(steps: int = 2) -> Tiling:
    return Tiling("ti,oi->to", total=(2, 2, 2 * steps), D=(1, 1, steps), S=(2, 2, 2))


def one_thread(*calls: str, steps: int = 2, after: tuple[str, ...] = ("store",)) -> Program:
    """A program of one thread that makes *calls* at every step, and *after* at the end."""
    tiling = cut(steps)

    def make(call: str, tile: Any) -> None:
        if call == "load":
            load_store(src=OFF_CHIP, dst=LOCAL, tile=tile)
        elif call == "compute":
            compute(tile)
        else:
            load_store(src=LOCAL, dst=OFF_CHIP, tile=tile.Y)

    @thread
    def one() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE)
            for call in calls:
                make(call, tile)
        for call in after:
            make(call, tile)

    return Program(tiling, one)


def ping_pong(*calls: str, store_after: bool = False, early: bool = False) -> Program:
    """Two slots; *calls* are what the second thread does with every child."""
    tiling, buffer = (
        Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), T=(2, 2, 2), S=(1, 1, 2)),
        Buffer(slots=2),
    )

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE)
            buffer.acquire()
            if early:
                load_store(src=OFF_CHIP, dst=LOCAL, tile=tile)
            start_writing(tile)
            if not early:
                load_store(src=OFF_CHIP, dst=LOCAL, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=CORE)
            start_reading(tile)
            if store_after and d.last("i"):
                load_store(src=LOCAL, dst=OFF_CHIP, tile=tile.Y)
            for t in Range(tiling.T):
                child = tile.child(t)
                for call in calls:
                    if call == "load":
                        load_store(src=LOCAL, dst=Compute(CORE), tile=child)
                    else:
                        compute(child)
            finish_reading(tile)
            if not store_after and d.last("i"):
                load_store(src=LOCAL, dst=OFF_CHIP, tile=tile.Y)
            destroy(tile)
            buffer.release()

    return Program(tiling, load, multiply)


@pytest.mark.parametrize("program", [one_thread("load", "compute"), ping_pong("load", "compute")])
def test_a_program_in_order_is_right(program: Program) -> None:
    assert check_program(program).findings == ()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (one_thread("compute", "load"), "reads bytes that nothing has written"),
        (one_thread("load", "compute", after=("compute",)), "MACs computed again"),
        (one_thread("store", "load", "compute", after=()), "reads bytes that nothing has written"),
        (ping_pong("load", "compute", store_after=True), "stores sums of"),
    ],
)
def test_data_out_of_order_is_told(program: Program, said: str) -> None:
    report = check_program(program)
    assert not report.ok
    assert any(said in each.sentence and each.grade == "wrong value" for each in report.findings), report


def test_the_wrong_tile_is_told() -> None:
    plain = Rows.from_json(one_thread("load", "compute").to_json())
    box = plain.tables()["box"].copy()
    box["lo"][[0, 2]] = box["lo"][[2, 0]]  # each load brings what the other should
    wrong = replace(plain, pieces=(Piece(plain.tables() | {"box": box}),))
    found = check_program(wrong).findings
    assert "reads another tile: what operation 0 'load_store' of one" in found[0].sentence


def test_a_copy_written_before_its_birth_is_told_though_values_are_right() -> None:
    (found,) = check_program(ping_pong("load", "compute", early=True)).findings
    assert "reads an unborn copy" in found.sentence
    assert (found.severity, found.grade) == ("error", "")


def test_an_engine_that_computes_before_it_loads_is_refused() -> None:
    with pytest.raises(ProgramError, match="has overwritten with another tile"):
        ping_pong("compute", "load")


@pytest.mark.parametrize("compiled", [False, True])
def test_compiled_finds_the_same(compiled: bool) -> None:
    program = ping_pong("load", "compute", early=True)
    assert check_program(program, compiled=compiled).findings == check_program(program).findings


@pytest.mark.parametrize("steps", [1, 2])
def test_an_output_stored_twice_is_stored_again(steps: int) -> None:
    report = check_program(one_thread("load", "compute", steps=steps, after=("store", "store")))
    (again,) = report.findings
    assert again.sentence == "of 4 outputs, 4 outputs stored again"
    assert (again.code, again.severity, again.grade) == ("PT-COVERAGE", "error", "")


@pytest.mark.parametrize("calls", [("load",), ()])
def test_a_program_that_computes_nothing_says_so(calls: tuple[str, ...]) -> None:
    (found,) = check_program(one_thread(*calls, after=())).findings
    assert found.sentence == "of 16 MACs, 16 MACs never computed: the program computes nothing"
