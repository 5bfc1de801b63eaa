"""What a mesh machine must have."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pantile.errors import MachineError, ManyProblems
from pantile.machine import Grid, Machine, load_machine
from pantile.targets.mesh.config import mesh_config


def test_figures_of_a_preset() -> None:
    config = mesh_config(load_machine("mesh-4x4"))
    assert (config.rows, config.columns, config.chiplets) == (4, 4, 16)
    assert (config.sram_bytes, config.slots, config.precision) == (1 << 20, 2, 4)
    assert (config.array, config.core_hz) == ((16, 16), 10**9)
    assert (config.ddr_rate, config.link_rate) == (32 * 10**9, 64 * 10**9)
    assert config.wired_one_to_one
    assert (config.topology, mesh_config(load_machine("bus-4x4")).topology) == ("mesh", "bus")


def with_family(machine: Machine, **constants: object) -> Machine:
    table = type(machine.family)({"mesh": {**machine.family.table("mesh"), **constants}})
    return replace(machine, family=table)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda m: replace(m, grid=Grid((4,)), provenance=()), "grid.cores: expected rows and columns"),
        (
            lambda m: replace(m, memories=(replace(m.memories[0], scope="chip"), *m.memories[1:])),
            "memory.ddr.scope: expected 'core', one for each chiplet, got 'chip'",
        ),
        (
            lambda m: replace(
                m, paths=(replace(m.paths[0], rate_bytes_per_second=None), *m.paths[1:]), provenance=()
            ),
            "path.ddr>sram: expected a rate in bytes per second on a mesh machine, got no rate",
        ),
        (
            lambda m: replace(m, paths=(*m.paths[:2], *m.paths[3:]), provenance=()),
            "path.sram>sram: expected a rate in bytes per second on a mesh machine, got no such path",
        ),
        (
            lambda m: replace(m, engines=m.engines[:1], provenance=()),
            "expected one engine of duration 'systolic', got 0",
        ),
        (lambda m: with_family(m, wires=(0, 7)), "family.mesh.wires: there is no chiplet 7, expected 0 to 3"),
        (
            lambda m: with_family(m, wires=(0, 1, 2, 3, 0)),
            "family.mesh.wires: expected at most 4 memories, one for each chiplet, got 5",
        ),
    ],
)
def test_what_is_no_mesh(change: object, problem: str) -> None:
    machine: Machine = change(load_machine("mesh-2x2"))  # type: ignore[operator]
    with pytest.raises(MachineError) as caught:
        mesh_config(machine)
    assert problem in str(caught.value)


def test_all_problems_at_once() -> None:
    machine = with_family(load_machine("mesh-2x2"), wires=(9,))
    with pytest.raises(ManyProblems) as caught:
        mesh_config(replace(machine, engines=machine.engines[:1], provenance=()))
    assert len(caught.value.problems) == 2


def test_the_smallest_chiplet_counts(kit: SimpleNamespace) -> None:
    document = kit.mesh().to_json()
    document["core"] = [{"index": 2, "memory": {"sram": {"capacity_bytes": 4096, "slots": 1}}}]
    config = mesh_config(Machine.from_json(document))
    assert (config.sram_bytes, config.slots) == (4096, 1)


def test_a_machine_of_another_family() -> None:
    with pytest.raises(MachineError, match="machine 'systolic-ws-8x8' has no family 'mesh'"):
        mesh_config(load_machine("systolic-ws-8x8"))
