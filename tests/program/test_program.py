"""Programs: totals over pieces, unrolled tables, JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.program.piece import Loop, Piece
from pantile.program.program import Operand, Program
from pantile.program.tables import BOX, COUNTER, MAX_AXES, OP, TABLES, TASK, Kind, empty_tables


def stage(first_op: int, tile: int, operations: int, macs: int, loops: tuple[Loop, ...]) -> Piece:
    """A tile of one run of computes on counter 0."""
    tables = empty_tables()
    tables["task"] = np.array([(tile, tile, -1, 2)], TASK)
    tables["op"] = np.array(
        [(first_op, tile, 0, first_op, Kind.COMPUTE, 0, tile, operations, 0, macs, 0, -1)], OP
    )
    tables["box"] = np.array([(first_op, 1, 8, (0,) * MAX_AXES, (2, 8, *(0,) * (MAX_AXES - 2)))], BOX)
    tables["counter"] = np.array([(0, 1, -1, 7, 0, 9, 2)], COUNTER)
    return Piece(tables, loops)


def loop(count: int, op: int, tile: int, first: int = 0) -> Loop:
    return Loop(name="m", first=first, count=count, ids={"op": op, "tile": tile, "task": tile}, offset=(2, 0))


def program(pieces: tuple[Piece, ...]) -> Program:
    operand = Operand(
        name="c",
        tensor="y",
        base=512,
        dims=(6, 8),
        element_bytes=4,
        rule="dense",
        strides=(8, 1),
        parameters={"order": [0, 1], "batch_offsets": [0]},
    )
    return Program(
        name="p",
        family="systolic",
        semantics="fixed",
        axes=("m", "k"),
        extents=(6, 8),
        loops=(("m", 3),),
        reductions=("k",),
        names=("GEMM",),
        operands=(operand,),
        pieces=pieces,
        labels=("model: pantile",),
        parameters={"kind": "gemm", "total": {"N": 6}},
    )


# Tiles 0 and 2 are of one kind and between them lies tile 1 of another: operations 0-1, 2-4, 5-6.
INTERLEAVED = (
    stage(0, 0, 2, 16, (loop(2, 5, 2),)),
    stage(2, 1, 3, 20, (loop(1, 5, 2, first=1),)),
)


def test_totals_count_every_instance() -> None:
    example = program(INTERLEAVED)
    assert example.tiles == 3
    assert example.operations == 2 + 3 + 2
    assert example.macs == 2 * 16 + 20


def test_tables_stand_by_number_and_shared_rows_once() -> None:
    tables = program(INTERLEAVED).tables()
    assert tables["op"]["id"].tolist() == [0, 2, 5]
    assert tables["op"]["tile"].tolist() == [0, 1, 2]
    assert tables["task"]["id"].tolist() == [0, 1, 2]
    assert tables["box"]["op"].tolist() == [0, 2, 5]
    assert tables["box"]["lo"][:, 0].tolist() == [0, 0, 2]
    assert tables["counter"]["id"].tolist() == [0]


def test_no_pieces_no_rows() -> None:
    empty = program(())
    assert (empty.tiles, empty.operations, empty.macs) == (0, 0, 0)
    assert {name: (len(rows), rows.dtype) for name, rows in empty.tables().items()} == {
        name: (0, row) for name, row in TABLES.items()
    }


def test_text_of_a_name_column() -> None:
    example = program(INTERLEAVED)
    assert example.text(0) == "GEMM"
    assert example.text(-1) == ""


@given(
    counts=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 30), st.integers(1, 3)), max_size=4),
    labels=st.lists(st.text(max_size=4), max_size=2),
)
def test_json_round_trip(counts: list[tuple[int, int, int]], labels: list[str]) -> None:
    pieces = tuple(
        stage(10 * at, at, operations, macs, (loop(count, 3, 1),))
        for at, (count, macs, operations) in enumerate(counts)
    )
    original = replace(program(pieces), labels=tuple(labels))
    data = json.loads(json.dumps(original.to_json()))
    assert data["schema"] == "pantile/program/1"
    assert Program.from_json(data) == original


def test_a_missing_key_is_named() -> None:
    data = program(INTERLEAVED).to_json()
    del data["extents"]
    with pytest.raises(KeyError, match="extents"):
        Program.from_json(data)
