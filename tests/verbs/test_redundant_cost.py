"""What redundant waits cost: the run without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
from pantile.program.tables import Test
from pantile.simulate.timeline import simulate
from pantile.verbs import redundant_cost
from pantile.verbs.program_check import check_program
from pantile.verbs.redundant_cost import RedundantCost, without_waits


def ping_pong(slots: int, *, beside: bool = False) -> Program:
    """The ping-pong on chiplet 0; *beside* puts a barrier into every step."""
    tiling = Tiling("ti,oi->to", total=(16, 16, 64), D=(1, 1, 4), S=(16, 16, 16))
    core, buf = Core(0, 0), Buffer(slots=slots)

    @thread
    def load() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            buf.acquire()
            start_writing(tile)
            load_store(src=DDR(0), dst=SRAM(core), tile=tile)
            finish_writing(tile)
            if beside:
                barrier()

    @thread
    def multiply() -> None:
        for d in Range(tiling.D):
            tile = Tile(tiling, d, location=core)
            if beside:
                barrier()
            start_reading(tile)
            compute(tile)
            finish_reading(tile)
            if d.last("i"):
                load_store(src=SRAM(core), dst=DDR(0), tile=tile.Y)
            destroy(tile)
            buf.release()

    return Program(tiling, load, multiply)


def test_a_note_tells_the_cycles_with_and_without() -> None:
    machine = "mesh-2x2"
    report = check_program(ping_pong(1, beside=True), machine)
    notes = [each for each in report.findings if each.code == "PT-REDUNDANT"]
    assert notes
    chosen = load_machine(machine)
    before = simulate(ping_pong(1, beside=True), chosen).cycles
    after = simulate(ping_pong(1), chosen).cycles
    assert before == after  # the barrier waits for what is waited for anyway
    told = f"it costs no time on mesh-2x2: {before} cycles without it, too"
    assert {note.evidence for note in notes} == {told}


def test_what_a_wait_costs_is_the_difference_of_two_runs() -> None:
    """With two slots the acquire orders the slots' reuse; without it the loader runs ahead."""
    made, chosen = ping_pong(1), load_machine("mesh-2x2")
    timeline = simulate(made, chosen)
    acquires = tuple(
        at for at, code in enumerate(made.tables()["op"]["opcode"]) if made.text(code) == "acquire"
    )
    said = RedundantCost(timeline)(acquires)
    freed = simulate(without_waits(made, acquires), chosen)
    assert freed.finished
    assert freed.cycles < timeline.cycles
    saved = timeline.cycles - freed.cycles
    assert said == f"it costs {saved} cycles on mesh-2x2: {timeline.cycles} with it, {freed.cycles} without"


def test_other_waits_on_the_same_counter_wait_as_before() -> None:
    made = ping_pong(1)
    acquires = [at for at, code in enumerate(made.tables()["op"]["opcode"]) if made.text(code) == "acquire"]
    freed = without_waits(made, (acquires[1],))
    sync = freed.tables()["sync"]
    assert len(sync) == len(made.tables()["sync"])
    assert (sync["test"][sync["op"] == acquires[1]], sync["amount"][sync["op"] == acquires[1]]) == (
        Test.POST,
        -1,
    )
    run = simulate(freed, load_machine("mesh-2x2"))
    loads = np.flatnonzero(made.tables()["op"]["opcode"] == made.names.index("load_store"))
    computes = np.flatnonzero(made.tables()["op"]["opcode"] == made.names.index("compute"))
    # Load 1 no longer waits for compute 0; load 2 still waits until two slots were given back.
    assert run.times["start"][loads[1]] < run.times["finish"][computes[0]]
    assert run.times["start"][loads[2]] >= run.times["finish"][computes[1]]


def test_nothing_is_said_where_nothing_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = ping_pong(1)
    assert RedundantCost(simulate(made))((0,)) == ""
    monkeypatch.setattr(redundant_cost, "MOST_SIMULATED", 1)
    said = RedundantCost(simulate(made, load_machine("mesh-2x2")))((0,))
    assert said == "what it costs was not simulated: the program is too long"
