"""Memories."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.machine.checks import ConstantError
from pantile.machine.memory import Memory


def scratchpad(**changes: Any) -> Memory:
    return Memory(**{"name": "scratchpad", "scope": "core", "capacity_bytes": 65_536, "slots": 2} | changes)


def test_slots_divide_the_capacity_equally() -> None:
    assert scratchpad().slot_bytes == 32_768
    assert scratchpad(slots=1).slot_bytes == 65_536
    assert scratchpad(capacity_bytes=None).slot_bytes is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"slots": 3},
            "memory.scratchpad.slots: 3 slots do not divide 65536 B; make capacity_bytes a multiple",
        ),
        ({"slots": 0}, "memory.scratchpad.slots: expected a whole number from 1, got 0"),
        ({"capacity_bytes": 0}, "memory.scratchpad.capacity_bytes: expected a whole number from 1, got 0"),
        ({"granule_bytes": -1}, "memory.scratchpad.granule_bytes: expected a whole number from 1, got -1"),
        ({"capacity_bytes": 2**63}, "expected at most 9223372036854775807"),
        ({"scope": "chp"}, "expected 'core' or 'chip' or 'grid', got 'chp'; did you mean 'chip'?"),
        ({"name": "a b"}, "memory.name: expected a name of letters, digits, _ and -, got 'a b'"),
    ],
)
def test_what_no_memory_can_be(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConstantError) as caught:
        scratchpad(**changes)
    assert message in str(caught.value)


def test_a_table_with_units() -> None:
    table = {"name": "l1", "scope": "chip", "capacity_bytes": "1 MiB", "granule_bytes": "32 B"}
    memory = Memory(name="l1", scope="chip", capacity_bytes=1_048_576, slots=1, granule_bytes=32)
    assert Memory.from_table(table) == memory
    assert Memory.from_table(memory.to_json()) == memory


def test_without_a_capacity_the_table_has_none() -> None:
    memory = Memory(name="dram", scope="chip")
    assert memory.to_json() == {"name": "dram", "scope": "chip", "slots": 1, "granule_bytes": 1}
    assert Memory.from_table(memory.to_json()) == memory


def test_unknown_keys_of_a_table() -> None:
    with pytest.raises(ConstantError, match=r"memory\.l1\.slot: nothing reads .* mean 'slots'\?"):
        Memory.from_table({"name": "l1", "scope": "chip", "slot": 1})


def test_overrides() -> None:
    assert scratchpad().with_changes({"capacity_bytes": "128 KiB"}).slot_bytes == 65_536
    assert scratchpad().with_changes({}) == scratchpad()
    with pytest.raises(ConstantError, match="scope: nothing reads this key"):
        scratchpad().with_changes({"scope": "chip"})
    with pytest.raises(ConstantError, match="65537 B"):
        scratchpad().with_changes({"capacity_bytes": 65_537})
