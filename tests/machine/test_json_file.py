"""Machine files in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.errors import MachineError
from pantile.machine.json_file import read_json, read_json_machine
from pantile.machine.presets import load_preset


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", ": expected a JSON object, got a list"),
        ("{", ":1:2: expected JSON: expecting property name enclosed in double quotes"),
        ('{"a": 1,\n "a": 2}', ": key 'a' stands twice in one object"),
        ("[" * 100_000, ": expected JSON, got lists or objects nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", ": expected JSON, got a number of too many digits"),
        ("", ":1:1: expected JSON: expecting value"),
    ],
)
def test_what_is_no_object(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(MachineError) as caught:
        read_json(path)
    assert str(caught.value) == f"{path}{message} [PT-MACHINE]"


def test_a_machine_that_pantile_wrote(tmp_path: Path) -> None:
    machine = load_preset("systolic-ws-8x8")
    path = tmp_path / "a.json"
    path.write_text(json.dumps(machine.to_json()))
    again = read_json_machine(path)
    assert again == machine
    assert str(again.place("clock.core")) == str(path)


def test_other_objects_are_taken_for_onnxim(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"num_cores": 0}')
    with pytest.raises(
        Exception, match=r"a\.json: num_cores: expected a whole number from 1 to 65536, got 0"
    ):
        read_json_machine(path)
