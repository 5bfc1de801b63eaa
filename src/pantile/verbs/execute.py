"""The verb ``execute``: what a program computes on real arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import Place, UsageError
from pantile.verbs.program import execute_program
from pantile.verbs.programfile import is_program
from pantile.workload.tilecall import is_tile_call

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pantile.verbs.programfile import ProgramLike


def execute(
    program: ProgramLike | str, /, **arrays: npt.ArrayLike
) -> npt.NDArray[np.generic] | dict[str, npt.NDArray[np.generic]]:
    """Return the output of *program* for arrays given by operand, ``execute(program, x=..., w=...)``.

    Args:
        program: A program of the tile language, or the file of one; or a call ``mma-tile:…`` of revision
            ``head``, which takes ``a``, ``b``, and ``c`` or ``bias`` if it adds to them.
        arrays: The inputs, by name in any case; none is transposed.

    Returns:
        The output; all of them by name, if there are several.

    Raises:
        PantileError: If that is no program, an array is missing or of another shape, or the program stops.
    """
    if is_tile_call(program):
        from pantile.verbs.mma_tile import execute_tile_call

        return execute_tile_call(program, arrays)
    if not is_program(program):
        raise UsageError(
            "expected a program: a value, FILE.py[:name], FILE.json, FILE.txt or mma-tile:…",
            place=Place(str(program)),
            mend="products that are planned are checked and simulated, not executed",
        )
    return execute_program(program, arrays)
