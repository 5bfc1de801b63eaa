"""Tables are immutable values."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.errors import MachineError
from pantile.machine.table import Table

scalars = st.one_of(st.booleans(), st.integers(), st.text(), st.floats(allow_nan=False))
values = st.recursive(
    scalars, lambda below: st.lists(below) | st.dictionaries(st.text(), below), max_leaves=12
)


@settings(max_examples=30)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_plain_values_and_back(items: dict[str, object]) -> None:
    table = Table(items)
    assert table.to_json() == items
    assert Table(table.to_json()) == table
    assert hash(Table(items)) == hash(table)
    assert pickle.loads(pickle.dumps(table)) == table


def test_a_later_change_of_the_source_does_not_show() -> None:
    sizes = [1, 2]
    table = Table({"sizes": sizes})
    sizes.append(3)
    assert table["sizes"] == (1, 2)


def test_tables_below() -> None:
    table = Table({"engine": {"array": {"rows": 16}}, "rows": 8})
    assert table.table("engine", "array") == {"rows": 16}
    assert table.table("engine", "mover") == {}
    assert table.table("rows") == {}
    assert repr(table.table("engine", "array")) == "Table({'rows': 16})"


@pytest.mark.parametrize("value", [None, {1}, [None], {"below": object}])
def test_other_values_are_refused_by_key(value: object) -> None:
    with pytest.raises(MachineError, match=r"^(odd|below): expected a number, text, true, false"):
        Table({"odd": value})
