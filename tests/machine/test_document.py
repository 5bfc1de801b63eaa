"""Documents of machines: whatever stands in them, they give a machine or a message."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import PantileError
from pantile.machine import Machine
from pantile.machine.document import label_of, read_document

PRESET = Path(__file__).parents[2] / "src/pantile/machine/presets/systolic-ws-8x8.toml"
OVERRIDE = {"index": 0, "engine": {"array": {"rows": 16}}, "memory": {"scratchpad": {"slots": 4}}}


def document() -> dict[str, Any]:
    return tomllib.loads(PRESET.read_text()) | {"core": [deepcopy(OVERRIDE)]}


def places(node: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, below in items:
        yield (*at, key)
        yield from places(below, (*at, key))


def holder(whole: Any, place: tuple[Any, ...]) -> Any:
    for key in place[:-1]:
        whole = whole[key]
    return whole


def outcome(changed: dict[str, Any]) -> Machine | str:
    """The machine of a document, or the message that refuses it; any other error is a failure."""
    try:
        return read_document(changed, name="m", file="m.toml")
    except PantileError as error:
        return str(error)


def check(found: Machine | str) -> None:
    if isinstance(found, Machine):
        assert Machine.from_json(found.to_json()) == found
    else:
        assert all(line.startswith("m.toml: ") for line in found.splitlines())


@pytest.mark.parametrize("value", [None, -1, "x", [{}], {"value": 1.5, "name": "x"}])
def test_any_value_in_any_place(value: object) -> None:
    refused = 0
    for place in places(document()):
        changed = document()
        holder(changed, place)[place[-1]] = deepcopy(value)
        found = outcome(changed)
        check(found)
        refused += isinstance(found, str)
    assert refused > 80  # of about 110: the others are texts that may say anything


def test_any_key_may_be_missing() -> None:
    found = []
    for place in places(document()):
        changed = document()
        del holder(changed, place)[place[-1]]
        found.append(outcome(changed))
        check(found[-1])
    assert {type(each) for each in found} == {str, Machine}


@pytest.mark.parametrize(
    ("loc", "label"),
    [
        (("memory", 1, "slots"), "memory.scratchpad.slots"),
        (("memory", 9, "slots"), "memory.#10.slots"),
        (("path", 0), "path.dram>scratchpad"),
        (("core", 0, "engine", "array"), "core.0.engine.array"),
        (("family", "systolic", "channels"), "family.systolic.channels"),
        (("memory",), "memory"),
    ],
)
def test_labels(loc: tuple[Any, ...], label: str) -> None:
    assert label_of(document(), loc) == label


def test_cores_and_shape_are_one_constant() -> None:
    machine = read_document(
        {"name": "m", "clock": {"core": 1}, "grid": {"shape": {"value": [4], "source": "x"}}}
    )
    assert dict(machine.provenance).keys() == {"grid.cores"}
