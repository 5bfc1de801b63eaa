"""Programs on meshes: right, exact, and no faster than they can be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.check.program import check_program
from pantile.simulate.execute import execute
from pantile.simulate.timeline import simulate
from pantile.targets.mesh.routes import mesh_route, topology_of
from pantile.targets.mesh.traffic import departures, traffic_of

EXCHANGES = ("cannon", "summa", "direct", "skewed")


@st.composite
def cases(draw: st.DrawFn, most: int = 3) -> dict[str, Any]:
    """Cuts that need not divide the sizes, into one round or several."""
    exchange = draw(st.sampled_from(EXCHANGES))
    rows = draw(st.integers(1, most))
    circular = exchange in ("cannon", "skewed")
    columns = rows if circular else draw(st.integers(1, most))
    rounds = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2)]))
    k = rows * draw(st.integers(1, 2)) if circular else draw(st.integers(1, 4))
    counts = (draw(st.integers(1, 2)), rows * rounds[0], columns * rounds[1], k)
    sizes = (counts[0], *(count + draw(st.integers(0, 5)) for count in counts[1:]))
    return {
        "exchange": exchange,
        "grid": (rows, columns),
        "sizes": sizes,
        "pieces": counts,
        "slots": draw(st.integers(2 if exchange == "cannon" else 1, 3)),
        "subscripts": draw(st.sampled_from(["bmk,bkn->bmn", "bkm,bkn->bmn", "bmk,bnk->bmn"])),
    }


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_program_is_right_and_computes_what_numpy_does(kit: SimpleNamespace, case: dict[str, Any]) -> None:
    made = kit.Case(**case)
    program = made.program()
    report = check_program(program)
    assert report.ok, str(report)
    assert not [each for each in report.findings if each.severity == "warning"], str(report)
    machine = kit.mesh(*made.grid)
    timeline = simulate(program, machine, route=mesh_route(machine))
    assert timeline.finished
    assert timeline.total >= max(timeline.lower_bounds.values())
    x, w = made.arrays()
    assert np.array_equal(execute(program, {"x": x, "w": w}, timeline)["Y"], made.expected())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases())
def test_with_exchange_each_element_leaves_its_memory_once_in_a_round_that_needs_it(
    kit: SimpleNamespace, case: dict[str, Any]
) -> None:
    made = kit.Case(**case)
    program = made.program()
    rounds = (made.pieces[2] // made.grid[1], made.pieces[1] // made.grid[0])
    loads = made.grid[::-1] if made.exchange in ("direct", "skewed") else (1, 1)
    for operand, times, everyone in zip("XW", rounds, loads, strict=True):
        assert np.all(departures(program, operand) == times * everyone)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 2**32 - 1))
def test_any_order_that_is_allowed_gives_the_same_values(
    kit: SimpleNamespace, case: dict[str, Any], seed: int
) -> None:
    """Speeds drawn at random stand for other timings: nothing but synchronisation keeps the values right."""
    from dataclasses import replace

    made = kit.Case(**case)
    program, machine, random = made.program(), kit.mesh(*made.grid), np.random.default_rng(seed)
    paths = tuple(
        replace(path, rate_bytes_per_second=int(random.integers(1, 200)) * 10**7, latency_cycles=0)
        for path in machine.paths
    )
    machine = replace(machine, paths=paths)
    timeline = simulate(program, machine, route=mesh_route(machine))
    x, w = made.arrays()
    assert np.array_equal(execute(program, {"x": x, "w": w}, timeline)["Y"], made.expected())


@pytest.mark.parametrize(("exchange", "least"), [("cannon", 2), ("summa", 1), ("direct", 1), ("skewed", 1)])
@pytest.mark.parametrize("side", [2, 3])
def test_the_checker_finds_the_smallest_safe_slot_count(
    kit: SimpleNamespace, exchange: str, least: int, side: int
) -> None:
    verdicts = []
    for slots in (1, 2, 3):
        case = kit.Case(exchange, (side, side), (1, 6, 6, 6), (1, side, side, side), slots)
        report = check_program(case.program())
        assert {each.code for each in report.findings if each.severity != "note"} <= {"PT-DEADLOCK"}
        verdicts.append(report.ok)
    assert verdicts == [slots >= least for slots in (1, 2, 3)]


def test_a_shift_with_one_slot_waits_for_ever_and_says_who_for_whom(kit: SimpleNamespace) -> None:
    case = kit.Case("cannon", (2, 2), (1, 4, 4, 4), (1, 2, 2, 2), slots=1)
    (finding,) = check_program(case.program()).findings
    assert finding.code == "PT-DEADLOCK"
    assert finding.grade == "hang"
    assert "for a free slot of a[0,0]" in finding.sentence
    machine = kit.mesh()
    timeline = simulate(case.program(), machine, route=mesh_route(machine))
    assert not timeline.finished
    assert len(timeline.stuck) == 12


def test_hops_of_cannon_by_hand(kit: SimpleNamespace) -> None:
    """3 x 3: shard (r, k) of a begins at column k - r and then shifts left twice, once around the edge."""
    case = kit.Case("cannon", (3, 3), (1, 3, 3, 3), (1, 3, 3, 3))
    traffic = traffic_of(case.program(), topology_of(kit.mesh(3, 3)))
    skew = [[0, 0, 0], [2, 1, 1], [1, 1, 2]]  # |(k - r) mod 3 - k| by r and k
    shifts = [[3, 3, 2], [2, 3, 3], [3, 2, 3]]  # from the right end 2, else once the whole way back
    one_side = 4 * (np.sum(skew) + np.sum(shifts))
    assert traffic.hop_bytes == 2 * one_side
    assert traffic.passed_bytes == 2 * 4 * 9 * 2
    assert traffic.read_bytes == {"X": 36, "W": 36, "Y": 0}
    assert traffic.written_bytes == {"X": 0, "W": 0, "Y": 36}
    assert traffic.most_hops == 2


def test_one_memory_serves_one_shard(kit: SimpleNamespace) -> None:
    """Cannon's memories each send what they own, whoever begins with it."""
    program = kit.Case("cannon", (3, 3), (1, 6, 6, 6), (1, 3, 3, 3)).program()
    tables, spaces = program.tables(), program.parameters["spaces"]
    reads = tables["access"][tables["access"]["mode"] == 0]
    for number in range(9):
        mine = reads[reads["space"] == spaces.index(f"ddr@{number}")]
        assert sorted(mine["operand"].tolist()) == [0, 1]
        assert [int(row["length"] * row["rows"]) for row in mine] == [16, 16]


def test_more_slots_are_never_slower(kit: SimpleNamespace) -> None:
    machine = kit.mesh(3, 3)
    for exchange in EXCHANGES:
        times = [
            simulate(
                kit.Case(exchange, (3, 3), (1, 30, 30, 30), (1, 3, 3, 6), slots).program(),
                machine,
                route=mesh_route(machine),
            ).total
            for slots in (2, 3, 4)
        ]
        assert times == sorted(times, reverse=True), exchange


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(cases(), st.sampled_from([2, 4, 8]))
def test_more_bandwidth_everywhere_is_never_slower(
    kit: SimpleNamespace, case: dict[str, Any], rate: int
) -> None:
    made = kit.Case(**case)
    program = made.program()
    slow, fast = kit.mesh(*made.grid), kit.mesh(*made.grid, rate=rate)
    times = [simulate(program, each, route=mesh_route(each)).total for each in (slow, fast)]
    assert times[1] <= times[0]


def test_a_bus_runs_the_same_program(kit: SimpleNamespace) -> None:
    case = kit.Case("cannon", (2, 2), (1, 8, 8, 8), (1, 2, 2, 2))
    bus = kit.mesh(topology="bus")
    program = case.program()
    timeline = simulate(program, bus, route=mesh_route(bus))
    x, w = case.arrays()
    assert np.array_equal(execute(program, {"x": x, "w": w}, timeline)["Y"], case.expected())
    assert timeline.resource_busy["bus"] > 0
