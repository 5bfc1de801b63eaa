"""Paths."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.path import Path


def load(**changes: Any) -> Path:
    return Path(**{"origin": "dram", "destination": "l1", "engine": "mover"} | changes)


def test_a_table_with_units() -> None:
    table = {
        "from": "dram",
        "to": "l1",
        "engine": "mover",
        "rate_bytes_per_second": "1.6 TB/s",
        "latency_cycles": 0,
        "clock": "noc",
        "policy": "exclusive",
        "granule_bytes": "64 B",
    }
    path = load(
        rate_bytes_per_second=1_600_000_000_000,
        latency_cycles=0,
        clock="noc",
        policy="exclusive",
        granule_bytes=64,
    )
    assert Path.from_table(table) == path
    assert Path.from_table(path.to_json()) == path


def test_what_is_not_said_stays_unsaid() -> None:
    assert load().to_json() == {"from": "dram", "to": "l1", "engine": "mover", "policy": "shared"}
    assert Path.from_table(load().to_json()) == load()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate_bytes_per_second": 0}, "path.dram>l1.rate_bytes_per_second: expected a whole number from 1"),
        ({"latency_cycles": -1}, "path.dram>l1.latency_cycles: expected a whole number from 0, got -1"),
        ({"granule_bytes": 0}, "path.dram>l1.granule_bytes: expected a whole number from 1, got 0"),
        ({"policy": "share"}, "expected 'shared' or 'exclusive', got 'share'; did you mean 'shared'?"),
        ({"origin": ""}, "path.from: expected a name"),
        ({"destination": 1}, "path.to: expected a name"),
        ({"engine": "a b"}, "path.dram>l1.engine: expected a name"),
        ({"clock": "a b"}, "path.dram>l1.clock: expected a name"),
    ],
)
def test_what_no_path_can_be(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        load(**changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"to": "l1"}, "path.from: expected a name of letters, digits, _ and -, got nothing"),
        ({"from": "a", "to": "b", "engine": "c", "rate": 1}, "path.a>b.rate: nothing reads this key"),
        ({"from": "a", "to": "b", "engine": "c", "rate_bytes_per_second": "1 TB"}, "got '1 TB'"),
    ],
)
def test_tables_that_are_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        Path.from_table(table)
    assert message in str(caught.value)
