"""The verbs on programs, as :class:`pantile.language.Program` calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.simulate.execute import execute
from pantile.simulate.queries import simulate_dynamic
from pantile.verbs.program_check import ProgramCheck, check_program
from pantile.verbs.program_run import ProgramRun, simulate_program
from pantile.verbs.program_view import view_program
from pantile.verbs.programfile import dynamic_source, program_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from pantile.verbs.programfile import ProgramLike

__all__ = [
    "ProgramCheck",
    "ProgramRun",
    "check_program",
    "execute_program",
    "simulate_program",
    "view_program",
]


def execute_program(
    program: ProgramLike, arrays: Mapping[str, npt.ArrayLike]
) -> npt.NDArray[np.generic] | dict[str, npt.NDArray[np.generic]]:
    """Return the output of *program* for *arrays* by operand, or all outputs by name if there are several.

    A program that asks at run time is carried out as it runs without a machine.

    Raises:
        PantileError: If an array is missing or has another shape, or the program gets stuck.
    """
    asked = program_of(program)
    source = dynamic_source(asked)
    if source is None:
        outputs = execute(asked, arrays)
    else:
        timeline = simulate_dynamic(source)
        outputs = execute(timeline.bound.program, arrays, timeline if timeline.finished else None)
    return next(iter(outputs.values())) if len(outputs) == 1 else outputs
