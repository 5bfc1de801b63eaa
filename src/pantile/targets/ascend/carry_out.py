"""Carrying out the stream of a program in an order of its operations, on real bytes or on symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.forwarded import sums_by_operation
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.symbols import symbols_left
from pantile.targets.ascend.trial import SEED, trial_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.program.program import Program
    from pantile.simulate.elements import Bytes


def is_abstract(program: Program) -> bool:
    """Whether the program of a trace has instructions that do not say what they compute."""
    return any(each["op"] == "access" for each in program.parameters["stream"])


def data_of(program: Program) -> str:
    """Say what the program is carried out on."""
    return "on symbols" if is_abstract(program) else f"on random bytes (seed {SEED})"


def carry_out(
    program: Program, operations: np.ndarray | None = None, capacities: Mapping[str, int] = BUFFERS_220X
) -> dict[str, Bytes]:
    """Return what the program of a trace leaves in every buffer and tensor.

    Args:
        program: The program; its parameters keep the stream.
        operations: All operations in a legal order; without it, that of the stream.
        capacities: Bytes of each buffer.

    Raises:
        ProgramError: If an instruction reaches beyond a buffer, needs a register never written, or traps.
        OutsideModelError: If one is not covered.
    """
    stream = program.parameters["stream"]
    places = range(len(stream)) if operations is None else _places(program, operations)
    if is_abstract(program):
        return symbols_left(stream, places)
    memory = trial_memory(program, capacities)
    run_stream(stream, memory, places, program.name)
    return memory.contents


def _places(program: Program, operations: np.ndarray) -> list[int]:
    """Return the places in the stream of *operations*; a barrier is several of them, and moves nothing.

    A long product is seen by others of the same sum though nothing orders their ends: they keep their order.
    """
    ops = operations.copy()
    sums = sums_by_operation(program.parameters["accumulating"], program.operations)[ops]
    slots = np.flatnonzero(sums >= 0)
    mine = sums[slots]
    ops[slots[np.argsort(mine, kind="stable")]] = ops[slots][np.lexsort((ops[slots], mine))]
    places = np.searchsorted(program.parameters["starts"], ops, side="right") - 1
    return list(dict.fromkeys(places.tolist()))
