"""The verbs on programs of the tile language: check, simulate, execute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.check.program import BUDGET
from pantile.check.program import check_program as find_faults
from pantile.errors import OutsideModelError
from pantile.simulate.bind import bind
from pantile.simulate.engine import run
from pantile.simulate.execute import execute
from pantile.simulate.spaces import parse_space
from pantile.simulate.timeline import Timeline
from pantile.verbs.arguments import MachineLike, machine_of
from pantile.verbs.families import route_of
from pantile.verbs.result import as_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from pantile.check.report import Report
    from pantile.program.program import Program


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One run of a program on a machine.

    Attributes:
        name: The program's name.
        machine: The machine's name.
        timeline: When each operation happened, and why not earlier.
    """

    name: str
    machine: str
    timeline: Timeline

    @property
    def ok(self) -> bool:
        """Whether every operation happened."""
        return self.timeline.finished

    def to_json(self) -> dict[str, Any]:
        """Return the timeline's JSON-able description."""
        return {"program": self.name, "machine": self.machine, **self.timeline.to_json()}

    def __str__(self) -> str:
        return f"{self.name} on {self.machine}\n{self.timeline}"

    def _repr_html_(self) -> str:
        return as_html(str(self))


def check_program(program: Program, *, machine: MachineLike | None = None, budget: int = BUDGET) -> Report:
    """Return whether *program* is right under every timing.

    Args:
        program: A static program.
        machine: Where its memories' capacities come from; without one, peaks are given and not judged.
        budget: States with a choice that may be walked through.

    Raises:
        PantileError: If the machine is at fault, or lacks a place that the program names.
    """
    capacities = {}
    if machine is not None:
        chosen = machine_of(machine)
        bind(program, chosen, route=route_of(chosen))  # refuses places that the machine lacks
        memories = {memory.name: memory for memory in chosen.memories}
        for name in program.parameters["spaces"]:
            memory = memories.get(parse_space(name).kind)
            if memory is not None and memory.capacity_bytes is not None:
                capacities[name] = memory.capacity_bytes
    return find_faults(program, budget=budget, capacities=capacities)


def simulate_program(program: Program, machine: MachineLike) -> ProgramRun:
    """Return when each operation of *program* happens on *machine*.

    Raises:
        PantileError: If the machine is at fault, or lacks a place that the program names.
    """
    chosen = machine_of(machine)
    bound = bind(program, chosen, route=route_of(chosen))
    return ProgramRun(program.name, chosen.name, Timeline(bound, run(bound)))


def execute_program(
    program: Program, arrays: Mapping[str, npt.ArrayLike]
) -> npt.NDArray[np.generic] | dict[str, npt.NDArray[np.generic]]:
    """Return the output of *program* for *arrays* by operand, or all outputs by name if there are several.

    Raises:
        PantileError: If an array is missing or has another shape, or the program gets stuck.
    """
    outputs = execute(program, arrays)
    return next(iter(outputs.values())) if len(outputs) == 1 else outputs


def view_program(program: Program, **options: object) -> None:
    """Refuse: pages show planned products so far.

    Raises:
        OutsideModelError: Always.
    """
    del options
    raise OutsideModelError(
        f"program {program.name!r}: pages show planned products only", mend="use check or simulate"
    )
