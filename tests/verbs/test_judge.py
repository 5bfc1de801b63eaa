"""Races graded by what they do to values: the table of docs/checker.md, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pantile.check.order import happens_before
from pantile.check.races import races_of
from pantile.language import (
    DDR,
    SRAM,
    Buffer,
    Core,
    Program,
    Range,
    Tile,
    Tiling,
    barrier,
    compute,
    destroy,
    finish_reading,
    finish_writing,
    load_store,
    start_reading,
    start_writing,
    thread,
)
from pantile.machine import load_machine
from pantile.simulate.execute import execute
from pantile.simulate.timeline import Timeline, simulate
from pantile.simulate.trial import Trial, trial_of
from pantile.verbs import judge as judging
from pantile.verbs.judge import ValueJudge
from pantile.verbs.program_check import check_program

if TYPE_CHECKING:
    from pantile.check.report import Finding

MACHINE = """
name = "{name}"
[clock]
core = "1 GHz"
[[memory]]
name = "ddr"
scope = "chip"
[[memory]]
name = "sram"
scope = "core"
[[engine]]
name = "dma"
scope = "chip"
completes = "pipelined"
duration = "transfer"
[[engine]]
name = "array"
scope = "core"
completes = "pipelined"
duration = "fixed"
cycles = {compute}
[[path]]
from = "ddr"
to = "sram"
engine = "dma"
rate_bytes_per_second = "1 GB/s"
[[path]]
from = "sram"
to = "ddr"
engine = "dma"
rate_bytes_per_second = "1 GB/s"
"""

MakeMachine = Callable[[str], str]


@pytest.fixture
def machine(tmp_path: Any) -> MakeMachine:
    """Writes a machine whose array takes its time (``slow``) or none (``fast``)."""

    def write(name: str) -> str:
        path = tmp_path / f"{name}.toml"
        path.write_text(MACHINE.format(name=name, compute={"slow": 500, "fast": 0}[name]))
        return str(path)

    return write


def program(*, waits: bool = True, early: bool = False, stores: bool = True) -> Program:
    """A loader and a multiplier; the slot may be given back before it is read, or nobody wait for loads."""
    tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), T=(1, 1, 2), S=(2, 2, 2))
    core, ddr = Core(0, 0), DDR(0)
    sram, buf = SRAM(core), Buffer(slots=2)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            buf.acquire()
            start_writing(tile)
            load_store(src=ddr, dst=sram, tile=tile)
            finish_writing(tile)

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            if waits:
                start_reading(tile)
            if early:
                buf.release()
            for t in Range(tiling.T):
                compute(tile.child(t))
            if waits:
                finish_reading(tile)
            if stores and d.last("i"):
                load_store(src=sram, dst=ddr, tile=tile.Y)
            destroy(tile)
            if not early:
                buf.release()

    return Program(tiling, load, multiply)


def timeline_of(made: Program, machine: str) -> Timeline:
    return simulate(made, load_machine(machine))


def races(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(each.grade, each.severity) for each in findings if each.code == "PT-RACE"]


def test_a_witness_that_computes_a_wrong_value_is_an_error() -> None:
    report = check_program(program(early=True))
    assert races(report.findings) == [("wrong value", "error")]
    (finding,) = (each for each in report.findings if each.code == "PT-RACE")
    assert "executed on small integers (seed 1) in that order, Y[0, 0] is " in finding.evidence
    assert "WAR on sram@(0,0)" in finding.sentence


def test_the_value_told_is_that_of_the_witness() -> None:
    made = program(early=True)
    (race,) = races_of(made, happens_before(made)).races
    trial = trial_of(made)
    got = execute(made, trial.arrays, race.witness)["Y"]  # type: ignore[arg-type]
    at = tuple(int(index[0]) for index in np.nonzero(got != trial.expected))
    (finding,) = (each for each in check_program(made).findings if each.code == "PT-RACE")
    told = f"Y[{at[0]}, {at[1]}] is {got[at]:.12g}, NumPy gives {trial.expected[at]:.12g}"
    assert told in finding.evidence


def test_right_on_the_machine_and_breakable_is_a_warning(machine: MakeMachine) -> None:
    report = check_program(program(early=True), machine("fast"))
    assert races(report.findings) == [("timing-dependent", "warning")]
    (finding,) = (each for each in report.findings if each.code == "PT-RACE")
    assert finding.evidence.endswith("; on fast they run in the right order, by its timing alone")
    assert "Y[0, 0] is " in finding.evidence  # what another timing gives
    assert [str(note) for note in report.notes] == [
        "values: executed as it runs on fast, the output is NumPy's"
    ]


def test_a_run_that_breaks_is_an_error(machine: MakeMachine) -> None:
    report = check_program(program(early=True), machine("slow"))
    assert not report.ok
    assert races(report.findings) == [("wrong value", "error")]
    (finding,) = (each for each in report.findings if each.code == "PT-RACE")
    trial, timeline = trial_of(report.program), timeline_of(report.program, machine("slow"))
    difference = trial.difference(execute(report.program, trial.arrays, timeline)["Y"])
    assert difference
    assert finding.evidence.endswith(difference)
    assert "on slow operation " in finding.evidence


def test_equal_bytes_are_a_warning() -> None:
    """Two threads load the same tile into the same register: it does not matter who comes last."""
    tiling = Tiling("ti,oi->to", total=(2, 2, 2), D=(1, 1, 1), S=(2, 2, 2))
    tile, sram = Tile(tiling, (0, 0, 0), location=Core(0, 0)), SRAM(Core(0, 0))

    @thread
    def one() -> None:
        load_store(src=DDR(0), dst=sram, tile=tile)
        barrier()

    @thread
    def other() -> None:
        load_store(src=DDR(0), dst=sram, tile=tile)
        barrier()
        compute(tile)
        load_store(src=sram, dst=DDR(0), tile=tile.Y)

    report = check_program(Program(tiling, one, other))
    assert report.ok
    assert races(report.findings) == [("unordered, equal bytes on this data", "warning")]
    assert "WAW on sram@(0,0)" in report.findings[0].sentence
    assert (
        "executed on small integers (seed 1) in that order, the output is NumPy's"
        in report.findings[0].evidence
    )


def test_what_is_not_executed_says_so(machine: MakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = program(early=True, stores=False)
    (finding,) = (each for each in check_program(made).findings if each.code == "PT-RACE")
    assert (finding.grade, finding.severity) == ("timing-dependent", "error")
    assert finding.evidence.endswith("not executed: what it computes and stores is not the whole product")
    fast = check_program(made, machine("fast"))
    assert races(fast.findings) == [("timing-dependent", "warning")]
    assert any(str(note).startswith("values: the run on fast was not executed: what") for note in fast.notes)
    assert races(check_program(made, machine("slow")).findings) == [("timing-dependent", "error")]
    monkeypatch.setattr(judging, "MOST_EXECUTED", 10)
    (finding,) = (each for each in check_program(program(early=True)).findings if each.code == "PT-RACE")
    assert finding.evidence.endswith("not executed: 0 operations were executed for other findings")


def test_a_right_program_executes_to_numpys_output(machine: MakeMachine) -> None:
    report = check_program(program(), machine("slow"))
    assert report.ok
    assert not report.findings
    assert [note.code for note in report.notes] == ["values"]


def test_without_waiting_for_loads_every_timing_that_computes_first_is_wrong() -> None:
    report = check_program(program(waits=False))
    (finding,) = (each for each in report.findings if each.code == "PT-RACE")
    assert (finding.grade, finding.severity) == ("wrong value", "error")
    assert "RAW on sram@(0,0)" in finding.sentence
    assert "is nan (never written)" in finding.evidence


def test_a_wrong_value_without_a_race_is_told_too(machine: MakeMachine) -> None:
    made = program()
    judge = ValueJudge(made, timeline_of(made, machine("slow")))
    assert isinstance(judge.trial, Trial)
    judge.__dict__["trial"] = replace(judge.trial, expected=judge.trial.expected + 1)
    finding = judge.finding_of_run(())
    assert finding is not None
    assert (finding.code, finding.severity, finding.grade) == ("PT-STATE", "error", "wrong value")
    assert (
        "the run on slow itself computes a wrong value on small integers (seed 1): Y[0, 0]"
        in finding.sentence
    )
    assert judge.finding_of_run((finding,)) is None
