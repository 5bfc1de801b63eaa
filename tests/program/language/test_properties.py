"""Laws over random tilings, loop orders and ways to wait: values, coverage, exact counts, two lowerings."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

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
from pantile.program.tables import Kind, Mode, Test

pytestmark = pytest.mark.slow

DDR0, CORE0 = DDR(0), Core(0, 0)
SRAM0, ENGINE = SRAM(CORE0), Compute(CORE0)


@dataclass(frozen=True)
class Shape:
    """What a random program looks like."""

    einsum: str
    total: tuple[int, ...]
    outer: tuple[int, ...]
    inner: tuple[int, ...]
    outer_order: tuple[int, ...]
    inner_order: tuple[int, ...]
    slots: int
    copies: str
    engine: bool
    reuse: bool
    store: str
    threads: int
    singly: bool


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    einsum = draw(st.sampled_from(["ti,oi->to", "it,io->ot", "bti,boi->bto", "tij,oij->to"]))
    count = len({letter for letter in einsum if letter.isalpha()})
    sizes = st.tuples(*[st.integers(1, 5)] * count)
    cuts = st.tuples(*[st.integers(1, 2)] * count)
    orders = st.permutations(range(count)).map(tuple)
    threads = draw(st.integers(1, 2))
    copies = draw(st.sampled_from(["bundle", "operands"] + ["registers"] * (threads == 1)))
    return Shape(
        einsum,
        draw(sizes),
        draw(cuts),
        draw(cuts),
        draw(orders),
        draw(orders),
        draw(st.integers(0, 3)),
        copies,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from(["last", "spill", "name"])),
        threads,
        draw(st.booleans()),
    )


def build(shape: Shape, **options: Any) -> Program:
    tiling = Tiling(shape.einsum, total=shape.total, D=shape.outer, T=shape.inner, S=...)
    buffer = Buffer(slots=shape.slots) if shape.slots else None
    reductions = tiling.reductions
    level: Any = tiling.D
    outer = [level.index(tiling.dimensions[axis]) for axis in shape.outer_order]

    def named(tile: Tile) -> list[Any]:
        return {"bundle": [tile], "operands": [tile.X, tile.W], "registers": []}[shape.copies]

    def fill(tile: Tile) -> None:
        if buffer:
            buffer.acquire()
        for each in named(tile):
            start_writing(each)
        parts = [tile.X, tile.W] if shape.singly else [tile]
        if shape.singly and shape.store == "spill" and any(tile.start[tiling.axis(r)] for r in reductions):
            parts.append(tile.Y)  # what is moved by name says itself that partial sums come back
        for part in parts:
            load_store(src=DDR0, dst=SRAM0, tile=part, reuse=shape.reuse)
        for each in named(tile):
            finish_writing(each)

    def use(tile: Tile) -> None:
        if shape.copies != "registers":
            start_reading(tile)
        inner: Any = tiling.T
        order = [inner.index(tiling.dimensions[axis]) for axis in shape.inner_order]
        for t in Range(*order, within=tile):
            child = tile.child(t)
            if shape.engine:
                load_store(src=SRAM0, dst=ENGINE, tile=child, reuse=shape.reuse)
            compute(child)
        if shape.copies != "registers":
            finish_reading(tile)
        last = all(
            tile.stop[tiling.axis(letter)] == tiling.total[tiling.axis(letter)] for letter in reductions
        )
        if shape.store == "spill":
            load_store(src=SRAM0, dst=DDR0, tile=tile, spill=True)
        elif shape.store == "last" and last:
            load_store(src=SRAM0, dst=DDR0, tile=tile)
        elif shape.store == "name" and last:
            load_store(src=SRAM0, dst=DDR0, tile=tile.Y)
        for each in named(tile):
            destroy(each)
        if buffer:
            buffer.release()

    @thread
    def all_in_one() -> None:
        for d in Range(*outer):
            tile = Tile(tiling, d, location=CORE0)
            fill(tile)
            use(tile)

    @thread
    def load() -> None:
        for d in Range(*outer):
            fill(Tile(tiling, d, location=CORE0))

    @thread
    def multiply() -> None:
        for d in Range(*outer):
            use(Tile(tiling, d, location=CORE0))

    chosen = [all_in_one] if shape.threads == 1 else [load, multiply]
    return Program(tiling, *chosen, dtype="int32", **options)


def waits_for_a_store(shape: Shape) -> bool:
    """Whether the loader would have to wait until partial sums are stored, which nothing here makes it do."""
    return shape.threads == 2 and shape.store == "spill"


@settings(max_examples=80, deadline=None)
@given(shapes())
def test_execution_by_bytes_equals_numpy(kit: SimpleNamespace, shape: Shape) -> None:
    assume(not waits_for_a_store(shape))
    got, expected = kit.execute(build(shape))
    assert np.array_equal(got, expected)


@settings(max_examples=80, deadline=None)
@given(shapes())
def test_every_point_is_computed_once_and_counts_are_exact(shape: Shape) -> None:
    program = build(shape)
    tables = program.tables()
    covered = np.zeros(program.extents, np.int64)
    for op, box in zip(tables["op"], tables["box"], strict=True):
        assert box["op"] == op["id"]
        if op["kind"] == Kind.COMPUTE:
            lo, length = (box[name][: len(program.axes)].tolist() for name in ("lo", "length"))
            covered[tuple(slice(first, first + size) for first, size in zip(lo, length, strict=True))] += 1
            assert op["macs"] == prod(length)
    assert (covered == 1).all()
    access = tables["access"]
    moves = np.isin(access["op"], tables["op"]["id"][tables["op"]["kind"] == Kind.MOVE])
    for mode in (Mode.READ, Mode.WRITE):
        mine = access[moves & (access["mode"] == mode)]
        sizes = np.bincount(mine["op"], mine["length"] * mine["rows"], minlength=program.operations)
        assert (sizes == tables["op"]["bytes"]).all()


@settings(max_examples=80, deadline=None)
@given(shapes())
def test_tables_keep_their_order_and_point_at_one_another(shape: Shape) -> None:
    program = build(shape)
    tables = program.tables()
    count = program.operations
    for name in ("op", "thread", "counter"):
        assert tables[name]["id"].tolist() == list(range(len(tables[name])))
    for name in ("sync", "access", "box"):
        assert (np.diff(tables[name]["op"]) >= 0).all()
        assert ((tables[name]["op"] >= 0) & (tables[name]["op"] < count)).all()
    assert (np.diff(tables["op"]["thread"]) >= 0).all()
    assert ((tables["sync"]["counter"] >= 0) & (tables["sync"]["counter"] < len(tables["counter"]))).all()
    assert (tables["access"]["lo"] >= 0).all()
    assert (tables["access"]["space"] < len(program.parameters["spaces"])).all()
    assert tables["sync"]["amount"][tables["sync"]["test"] == Test.TAKE].min(initial=1) >= 1


@settings(max_examples=80, deadline=None)
@given(shapes())
def test_statement_by_statement_it_means_the_same_as_in_columns(kit: SimpleNamespace, shape: Shape) -> None:
    program = build(shape)
    with build(shape, dynamic=True).start() as run:
        for number in range(shape.threads):
            steps = list(run.steps(number))
            assert kit.step_words(program, steps, run.counter) == kit.row_words(program, number)
        assert run.program().pieces == program.pieces


@settings(max_examples=40, deadline=None)
@given(shapes())
def test_text_and_json_read_back_to_equal_tables(shape: Shape) -> None:
    program = build(shape)
    assert Program.from_text(program.to_text()) == program
    assert Program.from_json(program.to_json()) == program
    assert program.tables()["op"] is program.pieces[0].tables["op"]
