"""Provenance is taken out of a document and kept by place."""

from __future__ import annotations

import pytest

from pantile.errors import MachineError
from pantile.machine.provenance import Provenance, lift


def test_own_source_before_the_tables_before_the_files() -> None:
    lifted = lift(
        {
            "source": "file",
            "clock": {"core": 1, "dram": {"value": 2, "source": "own"}},
            "memory": [
                {"name": "l1", "source": "table", "scope": "core", "slots": {"value": 2, "assumed": True}},
                {"name": "l2", "scope": "chip"},
            ],
            "grid": {"shape": [2, 2]},
            "core": [],
        }
    )
    assert lifted.plain == {
        "clock": {"core": 1, "dram": 2},
        "memory": [{"name": "l1", "scope": "core", "slots": 2}, {"name": "l2", "scope": "chip"}],
        "grid": {"shape": [2, 2]},
        "core": [],
    }
    assert lifted.origins == {
        ("clock", "core"): Provenance("file"),
        ("clock", "dram"): Provenance("own"),
        ("memory", 0, "scope"): Provenance("table"),
        ("memory", 0, "slots"): Provenance(assumed=True),
        ("memory", 1, "scope"): Provenance("file"),
        ("grid", "shape"): Provenance("file"),
    }
    assert lifted.problems == []


def test_without_provenance_nothing_changes() -> None:
    document = {"clock": {"core": 1}, "memory": [{"name": "l1"}], "planner": "x"}
    lifted = lift(document)
    assert lifted.plain == document
    assert lifted.origins == {}


def test_what_an_import_kept_is_not_read_as_provenance() -> None:
    document = {"family": {"systolic": {"unread": {"value": 3, "source": "x"}}}}
    assert lift(document).plain == document


@pytest.mark.parametrize(
    ("document", "loc", "problem"),
    [
        ({"clock": {"core": {"value": 1, "sorce": "x"}}}, ("clock", "core"), "a constant has no key 'sorce'"),
        ({"source": ""}, ("source",), "expected a text, got ''"),
        ({"source": 3}, ("source",), "expected a text, got 3"),
        ({"clock": {"assumed": False}}, ("clock", "assumed"), "expected true, got false"),
        (
            {"clock": {"core": {"value": 1, "assumed": "yes"}}},
            ("clock", "core", "assumed"),
            "expected true, got 'yes'",
        ),
    ],
)
def test_provenance_that_says_nothing(document: dict[str, object], loc: object, problem: str) -> None:
    assert [(at, error.problem) for at, error in lift(document).problems] == [(loc, problem)]


def test_texts() -> None:
    assert str(Provenance("a paper")) == "a paper"
    assert str(Provenance(assumed=True)) == "assumed"
    assert str(Provenance("half of what A has", assumed=True)) == "assumed: half of what A has"
    assert Provenance("x", assumed=True).to_json() == {"source": "x", "assumed": True}
    with pytest.raises(MachineError, match="expected a source, or assumed = true"):
        Provenance()
