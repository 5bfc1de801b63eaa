"""Running a program on a machine: bound to its resources by its family, or over the routes of a topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.simulate.bind import bind
from pantile.simulate.engine import LARGE, is_compiled, run
from pantile.simulate.queries import simulate_dynamic
from pantile.simulate.spaces import core_index
from pantile.simulate.timeline import Timeline
from pantile.targets.ascend.timing import bind_core
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.verbs.families import route_of
from pantile.verbs.programfile import dynamic_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.program.program import Program


def timed(program: Program, machine: Machine, on_compile: Callable[[], None] = lambda: None) -> Timeline:
    """Return the run of *program* on *machine*; of one that asks at run time, with what it then did.

    Args:
        program: What runs.
        machine: What it runs on.
        on_compile: Called before anything is compiled.

    Raises:
        PantileError: If the machine lacks a place or a way that the program names; each such one.
    """
    if program.family == ASCEND:
        bound = bind_core(program, machine)
    else:
        source, route = dynamic_source(program), route_of(machine)
        if source is not None:
            return simulate_dynamic(source, machine, route=route)
        bound = bind(program, machine, route=route)
    if bound.operations > LARGE and not is_compiled():
        on_compile()
    return Timeline(bound, run(bound))


def cores_of_threads(timeline: Timeline) -> list[int]:
    """Return the machine's number of every thread's core; 0 where a thread belongs to none."""
    machine, known = timeline.bound.machine, timeline.bound.program.parameters.get("cores", ())
    assert machine is not None
    places = timeline.bound.tables["thread"]["core"].tolist()
    return [core_index(tuple(known[at]), machine) or 0 if 0 <= at < len(known) else 0 for at in places]
