"""Worked example 3 on a machine: with 1, 2 and 3 slots its timelines equal closed forms and a recurrence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from pantile.check.program import check_program
from pantile.program.tables import Kind

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "tile_language" / "03_pingpong_slots.py"
TILES = 16


@pytest.fixture(scope="module")
def example() -> SimpleNamespace:
    return SimpleNamespace(**run_path(str(EXAMPLE)))


def exact(load: int, multiply: int, store: int) -> tuple[int, int, int]:
    """Picoseconds of a load, of a tile's moves and computes, and of a store, with all roundings."""
    rates = 4096 * 10**9 // load, 1024 * 10**9 // store
    loads, stores = (-(-size * 10**12 // rate) for size, rate in zip((4096, 1024), rates, strict=True))
    return loads, 8 * (multiply // 8 * 1000 + 2), stores


def finishes(slots: int, load: int, multiply: int, store: int) -> tuple[list[int], list[int]]:
    """When each load and tile ends: a load waits for the one before and its slot, a tile for its load."""
    loaded, done = [0] * TILES, [0] * TILES
    for at in range(TILES):
        free = done[at - slots] if at >= slots else 0
        loaded[at] = max(loaded[at - 1] if at else 0, free) + load
        own = multiply + store * (at % 4 == 3)
        done[at] = max(done[at - 1] if at else 0, loaded[at]) + own
    return loaded, done


CASES = [(32, 48, 16), (48, 48, 8), (72, 48, 16), (80, 48, 24), (56, 48, 32), (8, 800, 8), (800, 8, 16)]


@pytest.mark.parametrize("slots", [1, 2, 3, 4])
@pytest.mark.parametrize("times", CASES)
def test_timelines_are_those_of_the_recurrence(example: Any, slots: int, times: Sequence[int]) -> None:
    timeline = example.run(slots, *times)
    loaded, done = finishes(slots, *exact(*times))
    table = timeline.bound.tables["op"]
    loads = timeline.times["finish"][(table["thread"] == 0) & (table["kind"] == Kind.MOVE)]
    assert loads.tolist() == loaded
    destroys = timeline.times["finish"][table["opcode"] == timeline.bound.program.names.index("destroy")]
    assert destroys.tolist() == done
    assert timeline.total == done[-1]
    assert timeline.total >= max(timeline.lower_bounds.values())


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("times", CASES)
def test_closed_forms_are_exact_to_the_picosecond(example: Any, slots: int, times: Sequence[int]) -> None:
    form = example.closed_form(slots, *exact(*times))
    jitter = slots > 1 and times[1] < times[0] < times[1] + times[2]
    assert (form is None) == jitter
    if form is not None:
        assert example.run(slots, *times).total == form


def test_a_third_slot_gains_only_where_tiles_are_unequal(example: Any) -> None:
    """Loads of 56 hide behind 48 + 32 of every fourth tile, if the loader may run two tiles ahead."""
    for times in CASES:
        two, three = (example.run(slots, *times).total for slots in (2, 3))
        assert (three < two) == (times == (56, 48, 32))
    assert [round(example.run(slots, 56, 48, 32).total / 1000) for slots in (1, 2, 3)] == [1792, 1048, 976]


def test_the_page_shows_what_the_example_prints(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    example.main()
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"03_pingpong_slots.py` prints:\n\n```text\n(.*?)```", page, re.DOTALL)
    assert blocks == [capsys.readouterr().out]


def test_forgetting_release_is_a_deadlock_of_both_threads() -> None:
    path = EXAMPLE.with_name("03_pingpong.py")
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert [line.strip() for line in lines].count("buf.release()") == 1
    namespace: dict[str, Any] = {"__name__": "example"}
    broken = text.replace("            buf.release()\n", "")
    exec(compile(broken, "ping.py", "exec"), namespace)
    report = check_program(namespace["program"])
    (finding,) = report.findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-DEADLOCK", "error", "hang")
    waits = {
        thread: int(line)
        for thread, line in re.findall(r"of (load|multiply) \(ping\.py:(\d+)\)", finding.sentence)
    }
    found = {thread: broken.splitlines()[line - 1].strip() for thread, line in waits.items()}
    assert found == {"load": "buf.acquire()", "multiply": "start_reading(tile)"}
    assert finding.mend == "release every slot of buffer0 that is acquired"
