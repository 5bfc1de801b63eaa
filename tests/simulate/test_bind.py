"""Binding: what every operation uses on a machine, and places that the machine lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pantile.errors import ManyProblems, ProgramError
from pantile.machine import Machine, Table
from pantile.machine.engine import DURATIONS
from pantile.program.tables import Kind, Mode, ResourceKind, Sharing
from pantile.simulate import moves
from pantile.simulate.bind import bind
from pantile.simulate.bound import BoundProgram
from pantile.simulate.links import Link
from pantile.simulate.spaces import Space

Make = Callable[..., Any]
READ, WRITE, UPDATE = Mode


def move(
    b: Any, thread: int, source: str, *targets: str, size: int = 64, operand: int = 0, line: int = 0
) -> int:
    access = [(READ, source, 0, size, 1, 0, operand)]
    access += [(WRITE, target, 0, size, 1, 0, operand) for target in targets]
    return int(b.op(thread, kind=Kind.MOVE, nbytes=size, access=access, line=line))


def uses(bound: BoundProgram, op: int) -> list[tuple[str, int]]:
    rows = bound.use[bound.use["op"] == op]
    return [(bound.resource_names[row["resource"]], int(row["amount"])) for row in rows]


def test_a_move_takes_the_path_between_its_memories(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    op = move(b, b.thread(), "ddr@0", "sram@(0,1)", size=96)
    bound = bind(b.program(), machine(policy="shared", rate_bytes_per_second=64 * 10**9, latency_cycles=20))
    assert uses(bound, op) == [("ddr>sram", 96)]
    row = bound.resources[0]
    assert (row["kind"], row["policy"]) == (ResourceKind.LINK, Sharing.SHARED)
    assert (row["rate"], row["latency"]) == (64 * 10**9, 20_000)
    assert row["quantum"] == 64  # the larger granule of the two memories


def test_the_path_says_its_own_quantum(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    move(b, b.thread(), "ddr@0", "sram@0")
    assert bind(b.program(), machine(granule_bytes=16)).resources["quantum"].tolist() == [16]


def test_an_engine_that_completes_in_order_is_held_and_its_link_is_of_its_core(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    t = b.thread()
    first, second = move(b, t, "sram@(0,1)", "compute@(0,1)"), move(b, t, "sram@(1,1)", "compute@(1,1)")
    bound = bind(b.program(), machine())
    assert uses(bound, first) == [("feed@1", 0), ("sram@(0,1)>compute@(0,1)", 64)]
    assert uses(bound, second) == [("feed@3", 0), ("sram@(1,1)>compute@(1,1)", 64)]
    assert bound.resources["rate"][bound.resource_names.index("feed@1")] == 0


def test_a_multicast_goes_over_a_common_link_once(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    op = move(b, b.thread(), "ddr@0", "sram@(0,0)", "sram@(0,1)", size=32)
    assert uses(bind(b.program(), machine()), op) == [("ddr>sram", 32)]


def test_operands_of_one_move_add_up(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    rows = [(mode, space, 0, size, 1, 0, operand) for operand, size in ((0, 32), (1, 48))
            for mode, space in ((READ, "ddr@0"), (WRITE, "sram@0"))]  # fmt: skip
    op = b.op(b.thread(), kind=Kind.MOVE, access=rows)
    assert uses(bind(b.program(), machine()), op) == [("ddr>sram", 80)]


def test_moves_of_equal_shape_share_nothing_but_their_kind(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    t = b.thread()
    sizes = [32, 64, 32, 96, 64, 32]
    ops = [move(b, t, "ddr@0", "sram@(0,1)", size=size) for size in sizes]
    bound = bind(b.program(), machine())
    assert [uses(bound, op) for op in ops] == [[("ddr>sram", size)] for size in sizes]


def test_moves_whose_hashes_collide_are_told_apart(
    builder: Make, machine: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "_hashed", lambda columns, position, starts: np.zeros(len(starts), np.int64))
    b = builder()
    t = b.thread()
    one, other = move(b, t, "ddr@0", "sram@0", size=32), move(b, t, "sram@0", "ddr@0", size=64)
    bound = bind(b.program(), machine())
    assert (uses(bound, one), uses(bound, other)) == ([("ddr>sram", 32)], [("sram>ddr", 64)])


def test_a_route_gives_links_in_order(builder: Make, machine: Callable[..., Machine]) -> None:
    def route(source: Space, target: Space) -> list[Link] | None:
        if source.kind != target.kind:
            return None
        return [Link(name=f"hop{hop}", rate_bytes_per_second=10**11, policy="exclusive") for hop in (7, 3)]

    b = builder()
    t = b.thread()
    hops, path = move(b, t, "sram@(0,0)", "sram@(1,1)"), move(b, t, "ddr@0", "sram@(0,0)")
    bound = bind(b.program(), machine(), route=route)
    assert uses(bound, hops) == [("hop7", 64), ("hop3", 64)]
    assert uses(bound, path) == [("ddr>sram", 64)]


def test_a_compute_takes_the_array_for_its_macs_and_drains_behind_it(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    """1000 MACs on 64 elements: 16 cycles of 1 ns; the skew of an 8 x 8 array is 14 cycles."""
    b = builder()
    op = b.op(b.thread(), kind=Kind.COMPUTE, macs=1000, engine="compute@(0,1)")
    bound = bind(b.program(), machine())
    assert uses(bound, op) == [("compute@(0,1)", 16_000)]
    assert bound.resources["latency"].tolist() == [14_000]


def test_an_array_that_completes_in_order_is_held_while_it_drains(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    op = b.op(b.thread(), kind=Kind.COMPUTE, macs=1000, engine="compute@(0,1)")
    bound = bind(b.program(), machine(engine={"completes": "in_order"}))
    assert uses(bound, op) == [("compute@(0,1)", 30_000)]
    assert bound.resources["latency"].tolist() == [0]


def test_engines_of_fixed_duration_and_of_a_rate(
    builder: Make, machine: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DURATIONS, "macs", {"macs_per_cycle": DURATIONS["systolic"]["rows"]})
    b = builder()
    op = b.op(b.thread(), kind=Kind.COMPUTE, macs=1000, engine="compute@(0,1)")
    fixed = machine(engine={"duration": "fixed", "parameters": Table({"cycles": 7})})
    assert uses(bind(b.program(), fixed), op) == [("compute@(0,1)", 7_000)]
    rated = machine(engine={"duration": "macs", "parameters": Table({"macs_per_cycle": 300})})
    assert uses(bind(b.program(), rated), op) == [("compute@(0,1)", 4_000)]


def test_a_compute_without_an_engine_happens_where_it_accumulates(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    op = b.op(b.thread(), kind=Kind.COMPUTE, macs=64, access=[(UPDATE, "sram@(1,0)", 0, 64)])
    assert uses(bind(b.program(), machine()), op) == [("compute@(1,0)", 1_000)]


def test_a_duration_of_its_own_overrides_the_engine(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    b.parameters["durations"] = [9, 40]
    t = b.thread()
    compute = b.op(t, kind=Kind.COMPUTE, macs=1000, engine="compute@0", duration=2)
    control = b.op(t, kind=Kind.CONTROL, duration=1)
    bound = bind(b.program(), machine())
    assert uses(bound, compute) == [("compute@0", 40_000)]
    assert bound.ticks.tolist() == [0, 9_000]
    assert control == 1


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("sram@(2,0)", "machine 'mini' has a grid of 2 x 2 cores, none of which is 'sram@(2,0)'"),
        ("sram@4", "machine 'mini' has a grid of 2 x 2 cores, none of which is 'sram@4'"),
        ("ddr@1", "machine 'mini' has one 'ddr' (scope chip), not 'ddr@1'"),
        ("l2@0", "machine 'mini' has no memory 'l2'"),
        ("sram@x", "expected a space such as 'ddr@0' or 'sram@(0,1)', got 'sram@x'"),
    ],
)
def test_a_place_that_the_machine_lacks_is_named_with_its_line(
    builder: Make, machine: Callable[..., Machine], place: str, problem: str
) -> None:
    b = builder()
    b.parameters["files"] = "mesh.py"
    t = b.thread()
    move(b, t, "ddr@0", "sram@0", line=3)
    move(b, t, "ddr@0", place, line=17)
    move(b, t, "ddr@0", place, line=18)
    with pytest.raises(ProgramError) as error:
        bind(b.program(), machine())
    assert str(error.value).startswith(f"mesh.py:17: {problem}")
    assert "\n" not in str(error.value)


def test_every_lack_is_told_in_the_order_of_operations(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    b.parameters["files"] = ["load.py", "multiply.py"]
    first, second = b.thread(), b.thread()
    move(b, first, "ddr@0", "compute@0", line=4)
    b.op(second, kind=Kind.COMPUTE, engine="compute@(3,3)", line=9)
    with pytest.raises(ManyProblems) as error:
        bind(b.program(), machine())
    assert [str(each.place) for each in error.value.problems] == ["load.py:4", "multiply.py:9"]
    assert "no path from 'ddr@0' to 'compute@0'" in str(error.value.problems[0])
    assert "none of which is 'compute@(3,3)'" in str(error.value.problems[1])


@pytest.mark.parametrize(
    ("access", "problem"),
    [
        ([], "a move of 64 B accesses no memory"),
        ([(WRITE, "sram@0", 0, 64)], "a move writes an operand that it reads nowhere"),
        (
            [(READ, "ddr@0", 0, 32), (READ, "sram@0", 0, 32), (WRITE, "sram@1", 0, 64)],
            "one operation moves an operand from two memories",
        ),
    ],
)
def test_moves_that_make_no_sense(
    builder: Make, machine: Callable[..., Machine], access: list[tuple[Any, ...]], problem: str
) -> None:
    b = builder()
    b.op(b.thread(), kind=Kind.MOVE, nbytes=64, access=access)
    with pytest.raises(ProgramError, match=problem):
        bind(b.program(), machine())


def test_a_path_that_its_family_times_cannot_be_bound(builder: Make, machine: Callable[..., Machine]) -> None:
    b = builder()
    move(b, b.thread(), "ddr@0", "sram@0")
    with pytest.raises(ProgramError, match=r"path\.ddr>sram of machine 'mini' has no rate"):
        bind(b.program(), machine(rate_bytes_per_second=None))


def test_a_program_of_synchronisation_alone_uses_nothing(
    builder: Make, machine: Callable[..., Machine]
) -> None:
    b = builder()
    b.op(b.thread())
    bound = bind(b.program(), machine())
    assert (len(bound.use), bound.resource_names) == (0, ())
    assert np.all(bound.ticks == 0)
