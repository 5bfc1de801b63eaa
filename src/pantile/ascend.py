"""Core programs as kernels emit them: ``from pantile.ascend import Core, L0A, L1, M, MTE1, function, …``.

    core = Core()
    ready = core.alloc(MTE1, M)
    core.access(MTE1, reads=L1[0:32768], writes=L0A[0:32768], label="load")
    core.set(ready)
    core.wait(ready)
    core.access(M, reads=L0A[0:32768], writes=L0C[0:65536], label="multiply", cycles=512)
    core.release(ready)
    program = core.program()
    program.check()

docs/ascend-sync.md teaches it.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Self
from typing import Any as Anything

from pantile.errors import ProgramError, suggestion
from pantile.program.program import Program as Tables
from pantile.targets.ascend.access_text import call_lines
from pantile.targets.ascend.buffers import Buffer, Bytes, tensor
from pantile.targets.ascend.calls import Call, FunctionContract, call_of_json, contracts_of
from pantile.targets.ascend.contracts import Contract, contract_of
from pantile.targets.ascend.elements import BY_DTYPE
from pantile.targets.ascend.events import Event, Flag
from pantile.targets.ascend.mma_call import Events, MmaCall
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import Revision, mma_tile
from pantile.targets.ascend.mutation import Mutation, mutate
from pantile.targets.ascend.pipes import ALL
from pantile.targets.ascend.record import Recorder, function
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trace_file import read_trace
from pantile.targets.ascend.trace_text import print_instruction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pantile.targets.ascend.instructions import Instruction

__all__ = [
    "ALL",
    "BT",
    "FB",
    "FIX",
    "L0A",
    "L0B",
    "L0C",
    "L1",
    "MTE1",
    "MTE2",
    "MTE3",
    "UB",
    "Buffer",
    "Bytes",
    "Contract",
    "Core",
    "Event",
    "Flag",
    "FunctionContract",
    "M",
    "Program",
    "S",
    "V",
    "contract_of",
    "function",
    "tensor",
    "tile_call",
]

S, V, M = "PIPE_S", "PIPE_V", "PIPE_M"
MTE1, MTE2, MTE3, FIX = "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX"
L1, L0A, L0B, L0C = Buffer("L1"), Buffer("L0A"), Buffer("L0B"), Buffer("L0C")
BT, FB, UB = Buffer("BT"), Buffer("FB"), Buffer("UB")


def tile_call(
    dtype: str,
    m: int,
    n: int,
    k: int,
    *,
    a: int = 0,
    b: int = 131072,
    c: int = 0,
    bias: tuple[str, int] | None = None,
    **options: Anything,
) -> MmaCall:
    """Return a call of ``mma_tile`` with its blocks where they are said to lie.

    Args:
        dtype: Type of both operands: fp16, bf16, fp32, int8 or int4.
        m: Rows of the result.
        n: Columns of the result.
        k: The reduction.
        a: Byte in L1 at which the left operand begins.
        b: Byte in L1 at which the right one begins.
        c: Byte in L0C at which the sum begins.
        bias: Type of the bias, and the byte in L1 at which it begins.
        options: As of ``mma_tile``: ta, tb, hf32, init, unit_flag, and the events, such as ``back0=0``.

    Raises:
        ProgramError: If the library has no such call.
    """
    if dtype not in BY_DTYPE:
        raise ProgramError(f"unknown element type {dtype!r}", mend=suggestion(dtype, BY_DTYPE))
    events = Events(**{name: options.pop(name) for name in Events.__dataclass_fields__ if name in options})
    made = default_call(BY_DTYPE[dtype], m, n, k, events=events, bias=bias[0] if bias else None, **options)
    made = replace(made, a=replace(made.a, base=a), b=replace(made.b, base=b), c=replace(made.c, base=c))
    if bias is None or made.bias is None:
        return made
    return replace(made, bias=replace(made.bias, block=replace(made.bias.block, base=bias[1])))


class Program(Tables):
    """What one core runs: instructions of its pipes, flags and barriers between them."""

    __slots__ = ()

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """Return a core program's tables as a program that can be asked."""
        program = object.__new__(cls)
        fields = {name: getattr(tables, name) for name in Tables.__dataclass_fields__}
        Tables.__init__(program, **fields)
        return program

    @classmethod
    def from_instructions(cls, instructions: Sequence[Instruction], name: str = "trace") -> Self:
        """Return the program of a stream of instructions; their lines are their places in it, from 1.

        Raises:
            ProgramError: If one is not known or lacks an argument; all of them.
        """
        return cls.of(program_of_trace(instructions, name, unit_flags=True))

    @classmethod
    def from_json(cls, data: dict[str, Anything]) -> Self:
        """Rebuild a program from :meth:`to_json`'s object."""
        return cls.of(Tables.from_json(data))

    @classmethod
    def from_text(cls, text: str, name: str = "trace") -> Self:
        """Rebuild a program from :meth:`to_text`'s text, or from what a CPU-trace build printed.

        Raises:
            ProgramError: If a line is malformed, or none is known; all of them.
        """
        return cls.of(read_trace(text, name))

    def to_text(self) -> str:
        """Return the program as a printed trace, one instruction a line, calls as comments around theirs.

        Declared contracts and what was found about event ids are not part of it; JSON keeps them.
        """
        calls, lines = self.calls, []
        for position, each in enumerate(self.instructions):
            lines += [*call_lines(calls, position), print_instruction(each)]
        return "\n".join([*lines, *call_lines(calls, len(self.instructions)), ""])

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of functions, outer ones before those within them."""
        return tuple(call_of_json(each) for each in self.parameters.get("calls", ()))

    @property
    def instructions(self) -> Sequence[Mapping[str, Anything]]:
        """The instruction stream, in program order."""
        found: Sequence[Mapping[str, Anything]] = self.parameters["stream"]
        return found

    def contracts(self) -> tuple[FunctionContract, ...]:
        """Return what each function needs up and leaves up, as inferred from every call of it."""
        return contracts_of(self.instructions, self.calls)

    def check(self, machine: object = None, **options: Anything) -> Anything:
        """Return the report of all checks.

        Args:
            machine: Says the sizes of buffers, ids per pair of pipes, and what redundant flags cost.
            options: As of :func:`pantile.check`.
        """
        return _verb("check_program")(self, machine, **options)

    def simulate(self, machine: object, **options: Anything) -> Anything:
        """Return when each operation happens on one core of *machine*, and why not earlier."""
        return _verb("simulate_program")(self, machine, **options)

    def mutate(self, **options: Anything) -> Mutation:
        """Return what becomes of the program when one flag is dropped, moved or re-numbered; see its text.

        Args:
            options: As of :func:`pantile.targets.ascend.mutation.mutate`.
        """
        return mutate(self, **options)

    def __repr__(self) -> str:
        return f"<core program {self.name}: {self.operations} operations>"


class Core(Recorder):
    """A core that is told what to do; :meth:`program` returns all of it as a program."""

    def mma_tile(self, call: MmaCall, revision: Revision = "head") -> None:
        """Issue what a revision of the template library's ``mma_tile`` does for a call, as one call of it."""
        self.include(mma_tile(call, revision).instructions, name="mma_tile", library=True)

    def program(self) -> Program:
        """Return the program of all that was emitted so far.

        Raises:
            ProgramError: If an instruction lacks an argument or names what a core has not; all of them.
        """
        return Program.of(self.tables())


def _verb(name: str) -> Anything:
    """Return a verb on programs; verbs are loaded when they are first asked for."""
    return getattr(import_module("pantile.verbs.program"), name)
