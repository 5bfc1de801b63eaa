"""Another rate: the same program on a machine that has it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from pantile.errors import UsageError
from pantile.machine import load_machine
from pantile.program.language.load import load_program
from pantile.verbs.program_run import simulate_program
from pantile.verbs.what_if import parse_what_if

PING_PONG = Path(__file__).parents[2] / "examples" / "tile_language" / "03_pingpong.py"


@pytest.mark.parametrize(
    ("text", "resource", "factor"),
    [
        ("ddr>sram=+10%", "ddr>sram", Fraction(11, 10)),
        (" a=b=-12.5% ", "a=b", Fraction(7, 8)),
        ("compute@(0,1)=100%", "compute@(0,1)", Fraction(2)),
    ],
)
def test_what_is_read(text: str, resource: str, factor: Fraction) -> None:
    found = parse_what_if(text)
    assert (found.resource, found.factor) == (resource, factor)


@pytest.mark.parametrize("text", ["", "ddr", "ddr=", "ddr=10", "=10%", "ddr=ten%", "ddr=1e3%", "ddr=10%%"])
def test_what_is_not(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--what-if: expected RESOURCE=\+10%, got "):
        parse_what_if(text)


def test_nothing_may_be_left_of_a_rate() -> None:
    with pytest.raises(UsageError, match="-100% leaves nothing of a rate"):
        parse_what_if("link=-100%")


def test_it_is_the_run_on_a_machine_with_that_rate() -> None:
    program, machine = load_program(PING_PONG), load_machine("mesh-2x2")
    found = simulate_program(program, machine, what_if=["sram>compute=+100%"])
    path = next(each for each in machine.paths if (each.origin, each.destination) == ("sram", "compute"))
    faster = replace(path, rate_bytes_per_second=2 * (path.rate_bytes_per_second or 0))
    twice = replace(machine, paths=tuple(faster if each is path else each for each in machine.paths))
    changed = simulate_program(program, twice)
    assert found.to_json()["what_if"] == [
        {
            "change": "sram>compute=+100%",
            "total_cycles": changed.total_cycles,
            "total_ps": changed.timeline.total,
            "saved_cycles": found.total_cycles - changed.total_cycles,
        }
    ]
    assert changed.total_cycles < found.total_cycles
    assert f"  what if sram>compute=+100%: {changed.total_cycles} cycles, " in str(found)


def test_what_the_program_does_not_use_is_refused() -> None:
    with pytest.raises(UsageError, match=r"uses no resource 'dram'; did you mean 'ddr>\(0,0\)'|allowed here"):
        simulate_program(load_program(PING_PONG), "mesh-2x2", what_if=["dram=+10%"])
