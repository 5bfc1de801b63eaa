"""The arguments of one call of ``mma_tile``.

Source: ascend-core.md section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from pantile.errors import PantileError, ProgramError, raise_all
from pantile.targets.ascend.elements import BIAS_BYTES, ELEMENTS, Element

if TYPE_CHECKING:
    from pantile.targets.ascend.memref import Memref

ABSENT = -1
"""An event that the caller did not pass."""

UNIT_FLAG_GROUPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Event ids that the caller passes, by who waits for whom; ``-1`` where there is none.

    Attributes:
        l1a_wait: MTE2 to MTE1: the left operand is in L1. Likewise *l1b_wait* for the right one.
        l1a_set: MTE1 to MTE2: the left operand in L1 is used up. Likewise *l1b_set*.
        kloop: Number of the iteration of the loops around the call; it chooses the half of L0 to begin with.
        back0: M to MTE1: the first half of L0 is used up. Likewise *back1* for the second half.
    """

    l1a_wait: int = ABSENT
    l1b_wait: int = ABSENT
    l1a_set: int = ABSENT
    l1b_set: int = ABSENT
    kloop: int = ABSENT
    back0: int = ABSENT
    back1: int = ABSENT


EVENT_NAMES = {
    "mmad_l1_wait_l1a_event": "l1a_wait",
    "mmad_l1_wait_l1b_event": "l1b_wait",
    "l1a_wait_mmad_l1_event": "l1a_set",
    "l1b_wait_mmad_l1_event": "l1b_set",
    "kloop_db_cond": "kloop",
    "back_pipe_m_pipe_mte1_db_event0": "back0",
    "back_pipe_m_pipe_mte1_db_event1": "back1",
}
"""The library's names of the arguments, and the attributes of :class:`Events` that hold them."""


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias in L1.

    Attributes:
        dtype: One of :data:`~pantile.targets.ascend.elements.BIAS_BYTES`.
        block: Where it lies.
    """

    dtype: str
    block: Memref

    @property
    def bytes(self) -> int:
        """Width of one element."""
        return BIAS_BYTES[self.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class MmaCall:
    """One call. Of int4, *k* and *n* count bytes, each of which holds two elements.

    Attributes:
        element: Type of both operands.
        ta: Whether the left operand is stored k by m.
        tb: Whether the right operand is stored n by k.
        hf32: Whether the cube rounds fp32 operands to HF32.
        init: Whether the sum starts anew.
        m: Rows of the result, likewise its columns *n* and the reduction *k*; each may be 0.
        a: Left operand in L1.
        b: Right operand in L1.
        c: Result in L0C.
        bias: Bias in L1, if there is one.
        events: Event ids.
        unit_flag: Mode of the hand-over between M and FIX, 0 to 3.
        unit_flag_group: Which state byte of the hand-over belongs to the call.
        was_disabled: What that byte says: an earlier call took the hand-over back.

    Raises:
        ProgramError: If it is no call that the library has; all problems at once.
    """

    element: Element
    ta: bool = False
    tb: bool = False
    hf32: bool = False
    init: bool = True
    m: int
    n: int
    k: int
    a: Memref
    b: Memref
    c: Memref
    bias: Bias | None = None
    events: Events = Events()
    unit_flag: int = 0
    unit_flag_group: int = 0
    was_disabled: bool = False

    def __post_init__(self) -> None:
        raise_all(self._problems())

    def _problems(self) -> list[PantileError]:
        problems: list[PantileError] = []

        def require(holds: bool, problem: str, mend: str | None = None) -> None:
            if not holds:
                problems.append(ProgramError(f"mma_tile: {problem}", mend=mend))

        is_int4, name = self.element.is_int4, self.element.dtype
        require(not (is_int4 and self.ta), "int4 has no transposed left operand", "leave ta out")
        require(not (is_int4 and self.bias), "int4 has no bias", "leave the bias out")
        fp32 = self.element is ELEMENTS["float"]
        require(not self.hf32 or fp32, f"hf32 rounds fp32 operands, got {name}", "leave hf32 out")
        for letter, size in (("m", self.m), ("n", self.n), ("k", self.k)):
            require(size >= 0, f"expected {letter} of at least 0, got {size}")
        for each in fields(self.events):
            value = getattr(self.events, each.name)
            require(value >= ABSENT, f"expected {each.name} of at least 0, or -1 for none, got {value}")
        if self.bias is not None and not is_int4:
            allowed = ("int32",) if self.element is ELEMENTS["int8"] else ("float", "half")
            known = self.bias.dtype in allowed
            require(
                known,
                f"a bias of {name} is {' or '.join(allowed)}, got {self.bias.dtype}",
                "give another type",
            )
        require(0 <= self.unit_flag <= 3, f"expected a unit flag of 0 to 3, got {self.unit_flag}")
        group = self.unit_flag_group
        require(0 <= group < UNIT_FLAG_GROUPS, f"expected a unit-flag group of 0 to 99, got {group}")
        return problems
