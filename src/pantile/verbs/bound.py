"""Which model times a program: its family's, or the general one of paths and engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.simulate.bind import bind
from pantile.targets.ascend.timing import bind_core
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.verbs.routes import route_of

if TYPE_CHECKING:
    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.bound import BoundProgram


def bound_of(program: Program, machine: Machine) -> BoundProgram:
    """Return *program* with what its operations take on *machine*.

    Raises:
        PantileError: If the machine lacks a place, a way or a figure that the program needs; all of them.
    """
    if program.family == ASCEND:
        return bind_core(program, machine)
    return bind(program, machine, route=route_of(machine))
