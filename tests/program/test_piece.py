"""Pieces: rows that stand once, moved along their loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pantile.program.piece import Loop, Piece
from pantile.program.tables import ACCESS, BOX, MAX_AXES, OP, SYNC, THREAD, Kind, Test, empty_tables


def piece(loops: tuple[Loop, ...] = ()) -> Piece:
    """A move and a run of three computes on one counter: operations 5 and 6 to 8, in tile 2."""
    tables = empty_tables()
    tables["thread"] = np.array([(2, -1, -1, 0, -1, 2)], THREAD)
    tables["op"] = np.array(
        [
            (5, 2, 0, 5, Kind.MOVE, 0, 2, 1, 64, 0, 0, -1),
            (6, 2, 1, 6, Kind.COMPUTE, 1, 2, 3, 0, 96, 1, -1),
        ],
        OP,
    )
    move, compute = ((0, 16, 0), (0, 4, 0)), ((0, 16, 32), (1, 4, 24))
    tables["box"] = np.array([box(5, *move), box(6, *compute)], BOX)
    tables["access"] = np.array([(5, 0, 9, -1, 64, 1, 0, -1, -1, 0)], ACCESS)
    tables["sync"] = np.array([(5, 0, 3, Test.POST, 1, -1, -1)], SYNC)
    return Piece(tables, loops)


def box(op: int, lo: tuple[int, ...], length: tuple[int, ...]) -> tuple[Any, ...]:
    rest = (0,) * (MAX_AXES - len(lo))
    return (op, -1, 0, (*lo, *rest), (*length, *rest))


ROWS = Loop(name="m", first=1, count=3, ids={"op": 40, "tile": 4, "thread": 4, "task": 4}, offset=(0, 16, 0))
STAGES = Loop(name="k", first=0, count=2, ids={"op": 4, "tile": 1, "thread": 1, "task": 1}, offset=(0, 0, 24))


def test_a_literal_piece_is_its_own_only_instance() -> None:
    literal = piece()
    assert literal.count == 1
    assert list(literal.indices()) == [()]
    assert all(np.array_equal(rows, literal.tables[name]) for name, rows in literal.instance(()).items())


def test_runs_count_in_full() -> None:
    assert piece((ROWS,)).operations == 1 + 3


def test_indices_run_from_the_first_with_the_last_loop_fastest() -> None:
    repeated = piece((ROWS, STAGES))
    assert repeated.count == 6
    assert list(repeated.indices()) == [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]


def test_ids_move_by_the_sum_of_all_loops() -> None:
    # Index (3, 1) lies two rows and one stage beyond the first: 2 * 40 + 4 operations, 2 * 4 + 1 tiles.
    moved = piece((ROWS, STAGES)).instance((3, 1))
    assert moved["op"]["id"].tolist() == [5 + 84, 6 + 84]
    assert moved["op"]["listing_index"].tolist() == [5 + 84, 6 + 84]
    assert moved["op"]["tile"].tolist() == moved["op"]["thread"].tolist() == [2 + 9, 2 + 9]
    assert moved["thread"][["id", "task"]].tolist() == [(11, 11)]
    assert moved["box"]["op"].tolist() == [89, 90]
    assert moved["access"]["op"].tolist() == moved["sync"]["op"].tolist() == [89]
    # The counter belongs to no tile, and has no step.
    assert moved["sync"]["counter"].tolist() == [3]


def test_coordinates_move_along_the_axes_that_a_row_has() -> None:
    moved = piece((ROWS, STAGES)).instance((3, 1))["box"]
    # The move lacks the last axis (length 0), the compute the first (and no loop moves that).
    assert moved["lo"][:, :3].tolist() == [[0, 16 + 32, 0], [0, 16 + 32, 32 + 24]]
    assert moved["length"][:, :3].tolist() == [[0, 4, 0], [1, 4, 24]]


def test_absent_ids_stay_absent() -> None:
    tables = empty_tables()
    tables["thread"] = np.array([(2, -1, -1, 0, -1, -1)], THREAD)
    moved = Piece(tables, (ROWS,)).instance((2,))
    assert moved["thread"][["id", "task"]].tolist() == [(6, -1)]


def test_an_instance_is_a_copy_and_the_piece_read_only() -> None:
    repeated = piece((ROWS,))
    repeated.instance((2,))["op"]["id"][:] = 0
    assert repeated.tables["op"]["id"].tolist() == [5, 6]
    with pytest.raises(ValueError, match="read-only"):
        repeated.tables["op"]["id"][0] = 0


def test_equal_by_value() -> None:
    assert piece((ROWS,)) == piece((ROWS,))
    assert piece((ROWS,)) != piece((STAGES,))
    other = piece((ROWS,))
    tables = {name: rows.copy() for name, rows in other.tables.items()}
    tables["box"]["lo"][1, 2] += 1
    assert Piece(tables, (ROWS,)) != other
    assert piece() != "piece"


def test_json_round_trip_leaves_empty_tables_out() -> None:
    repeated = piece((ROWS, STAGES))
    data = repeated.to_json()
    assert sorted(data["tables"]) == ["access", "box", "op", "sync", "thread"]
    assert data["loops"][0] == {
        "name": "m",
        "first": 1,
        "count": 3,
        "ids": {"op": 40, "tile": 4, "thread": 4, "task": 4},
        "offset": [0, 16, 0],
    }
    assert Piece.from_json(data) == repeated
