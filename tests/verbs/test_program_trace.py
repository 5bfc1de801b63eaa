"""Traces of programs: what every thread did, and what it waited for."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pantile.errors import UsageError
from pantile.verbs import program_trace
from pantile.verbs.program_run import simulate_program
from pantile.verbs.program_trace import slices_of_program

PING_PONG = Path(__file__).parents[2] / "examples" / "tile_language" / "03_pingpong.py"


def test_bars_of_a_thread_follow_one_another_and_tell_where_they_stand() -> None:
    timeline = simulate_program(PING_PONG, "mesh-2x2").timeline
    slices = list(slices_of_program(timeline))
    for thread in ("load", "multiply"):
        mine = [each for each in slices if each.unit == thread]
        assert all(one.finish_ps <= other.start_ps for one, other in pairwise(mine))
        work = sum(each.finish_ps - each.start_ps for each in mine if not each.name.startswith("wait: "))
        assert work == timeline.thread_busy[thread]
    waits = {each.name for each in slices if each.name.startswith("wait: ")}
    assert {"wait: acquire", "wait: start_reading"} <= waits
    assert sum(int(each.details["macs"]) for each in slices) == 131072
    assert all(str(each.details["source"]).startswith(f"{PING_PONG}:") for each in slices)
    assert {each.core for each in slices} == {1}


def test_a_program_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_trace, "TRACED_OPERATIONS", 10)
    timeline = simulate_program(PING_PONG, "mesh-2x2").timeline
    with pytest.raises(UsageError, match="a trace holds 10 operations at most, the program has 388"):
        list(slices_of_program(timeline))
