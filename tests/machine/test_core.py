"""Overrides of single cores."""

from __future__ import annotations

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.core import CoreOverride
from pantile.machine.table import Table


def test_quantities_become_base_units() -> None:
    table = {"index": 1, "memory": {"l1": {"capacity_bytes": "1 KiB"}}, "engine": {"array": {"rows": 16}}}
    core = CoreOverride.from_table(table)
    assert core == CoreOverride(
        1, Table({"memory": {"l1": {"capacity_bytes": 1024}}, "engine": {"array": {"rows": 16}}})
    )
    assert CoreOverride.from_table(core.to_json()) == core
    assert core.label == "core.1"


def test_what_is_no_quantity_is_left_for_the_machine_to_refuse() -> None:
    core = CoreOverride.from_table({"index": 0, "memory": {"l1": {"slots": "two", "slot": 2}}})
    assert core.changes.table("memory", "l1") == {"slots": "two", "slot": 2}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "core.index: missing: the core whose keys are overridden, from 0"),
        ({"index": -1}, "core.index: expected a whole number from 0, got -1"),
        ({"index": 0, "engines": {}}, "core.0.engines: nothing reads this key; did you mean 'engine'?"),
        ({"index": 0, "engine": 3}, "core.0.engine: expected a table of names, got 3"),
        (
            {"index": 2, "engine": {"array": 16}},
            "core.2.engine.array: expected a table such as { rows = 16 }",
        ),
    ],
)
def test_what_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        CoreOverride.from_table(table)
    assert message in str(caught.value)
