"""Executing a stream: what each instruction does to the bytes of a core's buffers.

An instruction reads when it starts and its writes arrive when it finishes, so that the same stream can
be carried out in any legal order. Registers are taken as they are when it is issued, in program order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pantile.errors import Place, ProgramError
from pantile.simulate.execute import FINISH, START, WHOLE
from pantile.targets.ascend import moves
from pantile.targets.ascend.cube import multiply
from pantile.targets.ascend.pipes import REGISTER_WRITES
from pantile.targets.ascend.ranges import Registers, UnsetRegister

if TYPE_CHECKING:
    from pantile.targets.ascend.instructions import Instruction
    from pantile.targets.ascend.memory import Memory, Write

_EFFECTS: tuple[tuple[str, moves.Effect], ...] = (
    ("img2colv2_cbuf_to_c", moves.copy_window),
    ("load_cbuf_to_c", moves.load_fractals),
    ("mad", multiply),
    ("copy_cbuf_to_bt", moves.copy_bias),
    ("copy_gm_to_cbuf", moves.copy_bursts),
    ("copy_cbuf_to_fbuf", moves.copy_bursts),
    ("copy_matrix_cc_to_gm", moves.copy_out),
)
_SYNC = frozenset({"set_flag", "wait_flag", "pipe_barrier"})


def run_stream(
    stream: Sequence[Instruction],
    memory: Memory,
    order: Iterable[int | tuple[int, str]] | None = None,
    name: str = "stream",
) -> None:
    """Carry out a stream on *memory*, which it changes.

    Args:
        stream: The instructions.
        memory: Buffers and tensors.
        order: Positions in the order in which instructions take effect, or positions with what happens there:
            ``start``, ``finish`` or ``whole``. Without it, that of the stream. It is taken to be legal.
        name: What messages call the stream.

    Raises:
        ProgramError: If an instruction reaches beyond a buffer, needs a register never written, or traps.
        OutsideModelError: If one is not covered.
    """
    registers = _registers_at_issue(stream)
    under_way: dict[int, list[Write]] = {}
    for event in range(len(stream)) if order is None else order:
        at, what = event if isinstance(event, tuple) else (event, WHOLE)
        if what != FINISH:
            under_way[at] = _effect(stream[at], registers[at], memory, Place(name, at + 1))
        if what != START:
            for write in under_way.pop(at):
                _arrive(write, memory, stream[at], Place(name, at + 1))


def _registers_at_issue(stream: Sequence[Instruction]) -> list[Registers]:
    """Return the registers that each instruction finds."""
    found, now = [], Registers()
    for each in stream:
        if each["op"] in REGISTER_WRITES:
            now = replace(now)
            now.write(each["op"], each["args"])
        found.append(now)
    return found


def _effect(instruction: Instruction, registers: Registers, memory: Memory, place: Place) -> list[Write]:
    op, args = instruction["op"], instruction["args"]
    if op == "trap":
        raise ProgramError("the program traps here", place=place)
    if op in _SYNC or op in REGISTER_WRITES:
        return []
    effect = next((effect for prefix, effect in _EFFECTS if op.startswith(prefix)), None)
    if effect is None:
        raise ProgramError(f"expected an instruction of a cube core, got {op!r}", place=place)
    try:
        return effect(op, args, registers, memory)
    except UnsetRegister as error:
        mend = f"set it before, with {error}"
        raise ProgramError(f"{op} reads a register never written", place=place, mend=mend) from None
    except ProgramError as error:
        raise ProgramError(f"{op}: {error.problem}", place=place, mend=error.mend) from None
    except KeyError as error:
        raise ProgramError(f"{op} lacks {error.args[0]!r}, or does not know it", place=place) from None
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ProgramError(f"{op} has an argument of another type: {error}", place=place) from None


def _arrive(write: Write, memory: Memory, instruction: Instruction, place: Place) -> None:
    try:
        memory.write(write)
    except ProgramError as error:
        raise ProgramError(f"{instruction['op']}: {error.problem}", place=place, mend=error.mend) from None
