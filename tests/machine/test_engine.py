"""Engines."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.engine import Engine
from pantile.machine.table import Table


def array(**changes: Any) -> Engine:
    parameters = Table({"rows": 8, "columns": 16})
    given = {"name": "array", "scope": "core", "completes": "pipelined", "duration": "systolic"}
    return Engine(**given | {"parameters": parameters} | changes)


def test_parameters_stand_beside_the_other_keys() -> None:
    table = array(queue_depth=4).to_json()
    assert table == {
        "name": "array",
        "scope": "core",
        "completes": "pipelined",
        "queue_depth": 4,
        "duration": "systolic",
        "rows": 8,
        "columns": 16,
    }
    assert Engine.from_table(table) == array(queue_depth=4)
    assert Engine.from_table(array().to_json()) == array()
    assert array().parameter("columns") == 16


def test_engines_without_parameters() -> None:
    mover = array(name="mover", duration="transfer", parameters=Table())
    assert Engine.from_table(mover.to_json()) == mover
    assert array(duration="fixed", parameters=Table({"cycles": 0})).parameter("cycles") == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": Table({"rows": 8})}, "engine.array.columns: missing: width of the array"),
        (
            {"parameters": Table({"rows": 0, "columns": 8})},
            "engine.array.rows: expected a whole number from 1",
        ),
        (
            {"parameters": Table({"rows": 8, "columns": 8, "cols": 8})},
            "engine.array.cols: nothing reads this key; did you mean 'columns'?",
        ),
        ({"duration": "systolics"}, "got 'systolics'; did you mean 'systolic'?"),
        ({"completes": "later"}, "expected 'in_order' or 'pipelined', got 'later'"),
        ({"queue_depth": 0}, "engine.array.queue_depth: expected a whole number from 1, got 0"),
        ({"scope": 3}, "expected 'core' or 'chip' or 'grid', got 3"),
    ],
)
def test_what_no_engine_can_be(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        array(**changes)
    assert message in str(caught.value)


def test_overrides() -> None:
    assert array().with_changes({"rows": 16}).parameters == {"rows": 16, "columns": 16}
    assert array().with_changes({"queue_depth": 2}).queue_depth == 2
    assert array(queue_depth=3).with_changes({"rows": 1}).queue_depth == 3
    with pytest.raises(ConstantError, match=r"engine\.array\.duration: nothing reads this key"):
        array().with_changes({"duration": "fixed"})
    with pytest.raises(ConstantError, match="got 0"):
        array().with_changes({"rows": 0})
