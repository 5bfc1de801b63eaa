"""Programs that the general engine cannot time are refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pantile.errors import ProgramError
from pantile.program.tables import TABLES, Edge, Kind, Test
from pantile.simulate import engine
from pantile.simulate.bound import BoundProgram, unit_time

Make = Callable[..., Any]


def changed(b: Any, table: str, **columns: Any) -> BoundProgram:
    """The program with some columns of a table overwritten."""
    program = b.program()
    tables = {name: rows.copy() for name, rows in program.tables().items()}
    for column, values in columns.items():
        tables[table][column] = values
    return BoundProgram(program, tables, ticks=np.zeros(len(tables["op"]), np.int64))


def two_operations(builder: Make) -> Any:
    b = builder()
    t, c = b.thread(), b.counter()
    b.op(t, [(Edge.AFTER_FINISH, c, Test.POST, 1)])
    b.op(t, [(Edge.BEFORE_START, c, Test.TAKE, 1)])
    return b


@pytest.mark.parametrize(
    ("table", "columns", "problem"),
    [
        ("op", {"id": [0, 5]}, "ids in the table 'op' are not 0, 1, 2"),
        ("op", {"thread": [0, 1]}, "table 'op' names a thread that does not exist"),
        ("op", {"count": [1, 3]}, "rows stand for several operations"),
        ("sync", {"counter": [0, 7]}, "table 'sync' names a counter that does not exist"),
        ("sync", {"op": [1, 0]}, "rows of the table 'sync' do not stand in the order of operations"),
        ("sync", {"amount": [1, -1]}, "a wait takes a negative amount"),
        ("sync", {"edge": [Edge.ALONG, Edge.ALONG]}, "only posts can be spread along an operation"),
    ],
)
def test_rows_that_the_engine_cannot_carry_out(
    builder: Make, table: str, columns: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ProgramError, match=problem):
        changed(two_operations(builder), table, **columns)


def test_posts_along_one_operation_come_in_equal_numbers(builder: Make) -> None:
    b = builder()
    c = b.counter()
    along = [(Edge.ALONG, c, Test.POST, chunks) for chunks in (2, 3)]
    b.op(b.thread(), along, ticks=5)
    with pytest.raises(ProgramError, match="must come in equal numbers"):
        b.bound()


def test_tasks_are_left_to_their_family(builder: Make) -> None:
    b = two_operations(builder)
    program = b.program()
    tables = {name: rows.copy() for name, rows in program.tables().items()}
    tables["thread"]["task"] = 0
    tables["task"] = np.array([(0, 0, 0, 1)], TABLES["task"])
    with pytest.raises(ProgramError, match="timed by its own family"):
        BoundProgram(program, tables, ticks=np.zeros(2, np.int64))


def test_without_a_machine_moves_and_computes_take_one_tick(builder: Make) -> None:
    b = builder()
    t = b.thread()
    for kind in Kind:
        b.op(t, kind=kind)
    assert unit_time(b.program()).ticks.tolist() == [1, 1, 0, 0]


@pytest.mark.slow
def test_the_engine_is_chosen_by_size_and_by_what_is_compiled(builder: Make) -> None:
    b = builder()
    t = b.thread()
    for _ in range(engine.SMALL + 1):
        b.op(t, ticks=1)
    bound = b.bound()
    times = engine.run_compiled(bound).times
    assert engine.is_compiled()
    assert np.array_equal(times, engine.run(bound).times)
    assert times["finish"][-1] == engine.SMALL + 1
