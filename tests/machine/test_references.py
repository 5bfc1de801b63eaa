"""The parts of a machine must fit one another, however it was made."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import MachineError, ManyProblems
from pantile.machine import Clock, CoreOverride, Engine, Grid, Machine, Memory, Path, Provenance, Table


def machine(**changes: Any) -> Machine:
    array = Engine(
        name="array",
        scope="core",
        completes="pipelined",
        duration="systolic",
        parameters=Table({"rows": 8, "columns": 8}),
    )
    given: dict[str, Any] = {
        "name": "m",
        "clocks": (Clock("core", 10**9),),
        "memories": (Memory(name="l1", scope="core", capacity_bytes=64, slots=2),),
        "engines": (array,),
        "paths": (Path(origin="l1", destination="l1", engine="array"),),
        "grid": Grid((2,)),
    }
    return Machine(**given | changes)


def override(index: int, **changes: object) -> tuple[CoreOverride, ...]:
    return (CoreOverride(index, Table(changes)),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clocks": ()}, "clock: expected at least one clock, got none"),
        ({"base_clock": "noc"}, "clock.base: there is no clock 'noc'; allowed here: core"),
        ({"engines": ()}, "path.l1>l1.engine: there is no engine 'array'; no engine is declared"),
        (
            {"paths": (Path(origin="l1", destination="l1", engine="array", clock="cor"),)},
            "path.l1>l1.clock: there is no clock 'cor'; did you mean 'core'?",
        ),
        (
            {"paths": (Path(origin="l1", destination="l1", engine="array"),) * 2},
            "path.l1>l1.to: there is another path from 'l1' to 'l1'",
        ),
        ({"family": Table({"systolik": {}})}, "family.systolik: there is no family 'systolik'; did you mean"),
        ({"family": Table({"systolic": 3})}, "family.systolic: expected a table, got 3"),
        ({"cores": override(2)}, "core.index: expected a core from 0 to 1, got 2"),
        ({"cores": override(1) * 2}, "core.index: there is another table for core 1"),
        (
            {"cores": override(1, memory={"l2": {"slots": 1}})},
            "core.1.memory.l2: there is no memory 'l2'; allowed here: l1",
        ),
        (
            {"cores": override(1, memory={"l1": {"slots": 3}})},
            "core.1.memory.l1.slots: 3 slots do not divide 64 B; make capacity_bytes a multiple of slots",
        ),
        (
            {"cores": override(1, engine={"array": {"row": 3}})},
            "core.1.engine.array.row: nothing reads this key; did you mean 'rows'?",
        ),
        (
            {"cores": override(1, family={"systolic": {"channels": 3}})},
            "core.1.family.systolic: there is no family 'systolic'; no family is declared",
        ),
        (
            {"provenance": (("clock.noc", Provenance("x")),)},
            "provenance.clock.noc: there is no such constant",
        ),
    ],
)
def test_what_does_not_fit(changes: dict[str, object], message: str) -> None:
    with pytest.raises(MachineError) as caught:
        machine(**changes)
    assert str(caught.value).startswith(message)


def test_all_of_it_at_once() -> None:
    with pytest.raises(ManyProblems) as caught:
        machine(base_clock="noc", memories=(Memory(name="a", scope="core"),) * 2)
    assert [problem.problem for problem in caught.value.problems] == [
        "clock.base: there is no clock 'noc'",
        "memory.name: there is another memory of this name, 'a'",
        "path.l1>l1.from: there is no memory 'l1'",
        "path.l1>l1.to: there is no memory 'l1'",
    ]


def test_only_parts_of_a_core_can_be_overridden() -> None:
    memories = (Memory(name="l1", scope="chip", capacity_bytes=64),)
    with pytest.raises(
        MachineError, match=r"core\.1\.memory\.l1: expected a part of scope 'core', got one of"
    ):
        machine(memories=memories, cores=override(1, memory={"l1": {"slots": 1}}))
