"""The published JSON Schema agrees with what is read."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from pantile.machine.presets import load_preset, preset_names
from pantile.machine.schema import machine_schema, schema_problems, write_machine_schema

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs/schema/machine-1.json"
PRESETS = ROOT / "src/pantile/machine/presets"


def test_the_published_file_is_current(tmp_path: Path) -> None:
    write_machine_schema(tmp_path / "schema.json")
    assert PUBLISHED.read_text() == (tmp_path / "schema.json").read_text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(machine_schema())


@pytest.mark.parametrize("name", preset_names())
def test_presets_follow_it(name: str) -> None:
    validator = jsonschema.Draft202012Validator(machine_schema())
    validator.validate(tomllib.loads((PRESETS / f"{name}.toml").read_text()))
    document = load_preset(name).to_json()
    del document["provenance"]
    validator.validate(json.loads(json.dumps(document)))
    assert schema_problems(document) == []


@pytest.mark.parametrize(
    "change",
    [
        {"planer": "x"},
        {"schema": "pantile/machine/2"},
        {"clock": {"core": "1 GHZ"}},
        {"clock": {"core": {"value": 1, "sorce": "x"}}},
        {"memory": [{"name": "a b", "scope": "core"}]},
        {"memory": [{"name": "a"}]},
        {"memory": [{"name": "a", "scope": "core", "slots": 0}]},
        {"engine": [{"name": "a", "scope": "core", "completes": "in_order", "duration": "fast"}]},
        {
            "engine": [
                {"name": "a", "scope": "core", "completes": "in_order", "duration": "fixed", "cycels": 1}
            ]
        },
        {"path": [{"from": "a", "to": "b"}]},
        {"grid": {"cores": 0}},
        {"family": {"systolik": {}}},
        {"family": {"systolic": {"core_type": "systolic_ws"}}},
        {"core": [{"engine": {}}]},
    ],
)
def test_it_refuses_what_is_refused(change: dict[str, object]) -> None:
    validator = jsonschema.Draft202012Validator(machine_schema())
    document = {"clock": {"core": 1}}
    assert validator.is_valid(document)
    assert not validator.is_valid(document | change)
