"""Dimension-ordered routes between distributed memories."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import ProgramError
from pantile.language import DDR, SRAM, Compute, Core, Program, Tile, Tiling, compute, load_store, thread
from pantile.machine import load_machine
from pantile.simulate.spaces import Space, parse_space
from pantile.targets.mesh.routes import Topology, mesh_route, steps, topology_of

places = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(places, places)
def test_steps_go_along_the_row_then_along_the_column(start: tuple[int, int], end: tuple[int, int]) -> None:
    links = list(steps(start, end))
    assert len(links) == abs(start[0] - end[0]) + abs(start[1] - end[1])
    at = start
    for here, there in links:
        assert here == at
        assert abs(here[0] - there[0]) + abs(here[1] - there[1]) == 1
        at = there
    assert at == end
    in_column = [here[1] == there[1] for here, there in links]
    assert in_column == sorted(in_column)


@pytest.mark.parametrize(
    ("source", "target", "names"),
    [
        ("ddr@0", "sram@(0,0)", ["ddr@0>(0,0)"]),
        ("ddr@0", "sram@(1,1)", ["ddr@0>(0,0)", "(0,0)>(0,1)", "(0,1)>(1,1)"]),
        ("sram@(1,1)", "ddr@2", ["(1,1)>(1,0)", "(1,0)>ddr@2"]),
        ("sram@(0,1)", "sram@(1,0)", ["(0,1)>(0,0)", "(0,0)>(1,0)"]),
        ("ddr@1", "ddr@2", ["ddr@1>(0,1)", "(0,1)>(0,0)", "(0,0)>(1,0)", "(1,0)>ddr@2"]),
        ("sram@(0,1)", "compute@(0,1)", ["sram@(0,1)>compute@(0,1)"]),
        ("compute@(0,0)", "sram@(0,0)", ["compute@(0,0)>sram@(0,0)"]),
        ("sram@(0,0)", "compute@(0,1)", ["(0,0)>(0,1)", "sram@(0,1)>compute@(0,1)"]),
        ("compute@(0,1)", "ddr@1", ["compute@(0,1)>sram@(0,1)", "(0,1)>ddr@1"]),
        ("sram@3", "sram@(1,0)", ["(1,1)>(1,0)"]),
    ],
)
def test_links_on_a_mesh(source: str, target: str, names: list[str]) -> None:
    route = mesh_route(load_machine("mesh-2x2"))
    links = route(parse_space(source), parse_space(target))
    assert links is not None
    assert [link.name for link in links] == names


@pytest.mark.parametrize(
    ("source", "target", "names"),
    [
        ("ddr@0", "sram@(0,0)", ["ddr@0>(0,0)", "bus"]),
        ("ddr@0", "sram@(3,3)", ["ddr@0>(0,0)", "bus"]),
        ("sram@(1,1)", "sram@(2,0)", ["bus"]),
        ("sram@(1,1)", "ddr@2", ["bus", "(0,2)>ddr@2"]),
        ("sram@(1,1)", "compute@(1,1)", ["sram@(1,1)>compute@(1,1)"]),
    ],
)
def test_links_on_a_bus(source: str, target: str, names: list[str]) -> None:
    route = mesh_route(load_machine("bus-4x4"))
    links = route(parse_space(source), parse_space(target))
    assert links is not None
    assert [link.name for link in links] == names


def test_a_link_has_the_figures_and_the_policy_of_its_path(kit: SimpleNamespace) -> None:
    machine = kit.mesh()
    paths = tuple(
        replace(path, policy="exclusive", granule_bytes=16) if path.label == "path.sram>sram" else path
        for path in machine.paths
    )
    route = mesh_route(replace(machine, paths=paths))
    links = route(Space("ddr", (0,)), Space("sram", (0, 1)))
    assert links is not None
    figures = [
        (link.rate_bytes_per_second, link.latency_ticks, link.policy, link.quantum_bytes) for link in links
    ]
    assert figures == [(32 * 10**9, 100_000, "shared", 64), (64 * 10**9, 10_000, "exclusive", 16)]


def test_memories_may_be_wired_to_some_chiplets_only() -> None:
    topology = Topology(4, 4, wires=(0, 3, 12, 15))
    assert [topology.home(Space("ddr", (number,))) for number in range(4)] == [(0, 0), (0, 3), (3, 0), (3, 3)]
    assert topology.hops(Space("ddr", (3,)), Space("sram", (0, 0))) == 6
    with pytest.raises(ProgramError, match="the machine has memories ddr@0 to ddr@3, not 'ddr@4'"):
        topology.home(Space("ddr", (4,)))


def test_hops_leave_the_wires_out(kit: SimpleNamespace) -> None:
    topology = topology_of(kit.mesh(3, 3))
    assert topology.hops(Space("ddr", (0,)), Space("sram", (0, 0))) == 0
    assert topology.hops(Space("ddr", (0,)), Space("sram", (2, 1))) == 3
    bus = replace(topology, bus=True)
    assert bus.hops(Space("ddr", (0,)), Space("sram", (0, 0))) == 1
    assert bus.hops(Space("sram", (1, 1)), Space("sram", (0, 0))) == 1
    assert bus.hops(Space("sram", (1, 1)), Space("compute", (1, 1))) == 0


def far(number: int, core: Core) -> Program:
    """Return a program that loads from one memory, computes on a core and stores where it loaded from."""
    tiling, there = Tiling("ti,oi->to", total=(4, 4, 4), D=(1, 1, 1), S=(4, 4, 4)), DDR(number)

    @thread
    def work() -> None:
        tile = Tile(tiling, (0, 0, 0), location=core)
        load_store(src=there, dst=SRAM(core), tile=tile)
        load_store(src=SRAM(core), dst=Compute(core), tile=tile)
        compute(tile)
        load_store(src=SRAM(core), dst=there, tile=tile.Y)

    return Program(tiling, work)


def test_check_and_simulate_know_the_routes_of_the_machine() -> None:
    program = far(0, Core(1, 1))
    used = program.simulate("mesh-2x2").timeline.bound.resource_names
    assert used[:3] == ("ddr@0>(0,0)", "(0,0)>(0,1)", "(0,1)>(1,1)")
    assert program.check("mesh-2x2").ok


@pytest.mark.parametrize(
    ("number", "core", "problem"),
    [
        (0, Core(2, 0), "has a grid of 2 x 2 cores, none of which is 'sram@(2,0)'"),
        (4, Core(0, 0), "has a grid of 2 x 2 cores, none of which is 'ddr@4'"),
    ],
)
def test_a_place_that_the_machine_lacks(number: int, core: Core, problem: str) -> None:
    for ask in ("check", "simulate"):
        with pytest.raises(Exception, match="machine 'mesh-2x2' ") as caught:
            getattr(far(number, core), ask)("mesh-2x2")
        assert problem in str(caught.value)
        assert "test_routes.py:" in str(caught.value)
