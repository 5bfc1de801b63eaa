"""The arguments of one core's launch of the macro GEMM, and the sizes that follow from them.

Source: ascend-core.md sections 3 and 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from pantile.errors import PantileError, ProgramError, raise_all
from pantile.targets.ascend.elements import ELEMENTS, FRACTAL_ROWS, Element, up

M_TILE, K_TILE, N_TILE = 256, 256, 128
"""The library's only tile."""

SCALE_BYTES = 8
_MOST = (1 << 32) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCall:
    """One launch: core *block_idx* of *block_num*, operands and result in row order in GM.

    Attributes:
        element: Type of both operands: half, or int8 with scales behind it.
        m: Rows of the result; likewise columns *n* and reduction *k*.
        ta: Whether the left operand is stored k by m.
        tb: Whether the right operand is stored n by k.
        has_bias: Whether a bias of the accumulator's type is added.
        block_idx: The core.
        block_num: How many cores share the blocks.

    Raises:
        ProgramError: If the library has no such kernel; all problems at once.
    """

    element: Element
    m: int
    n: int
    k: int
    ta: bool = False
    tb: bool = False
    has_bias: bool = False
    block_idx: int = 0
    block_num: int = 1

    def __post_init__(self) -> None:
        problems: list[PantileError] = []
        if self.element.name not in ("half", "int8"):
            allowed = "operands of half or int8"
            problems.append(ProgramError(f"gemm block: expected {allowed}, got {self.element.name}"))
        for name, least in (("m", 1), ("n", 1), ("k", 1), ("block_idx", 0), ("block_num", 1)):
            value = getattr(self, name)
            if not least <= value <= _MOST:
                allowed = f"{name} of {least} to {_MOST}"
                problems.append(ProgramError(f"gemm block: expected {allowed}, got {value}"))
        raise_all(problems)

    @property
    def has_scales(self) -> bool:
        """Whether results are scaled down to half on the way out."""
        return self.element is ELEMENTS["int8"]

    @property
    def accumulator_bytes(self) -> int:
        """Width of an element of the sum, and of the bias."""
        return 4

    @property
    def l1_base(self) -> int:
        """Byte address in L1 at which tiles begin: bias and scales lie before it."""
        bias = 2048 if self.has_bias else 0
        return bias + (4096 if self.has_scales else 0)

    @property
    def scale_base(self) -> int:
        """Byte address in L1 at which the scales lie."""
        return 2048 if self.has_bias else 0

    @property
    def half_bytes(self) -> tuple[int, int]:
        """Bytes in L1 of a tile of the left and of the right operand."""
        return M_TILE * K_TILE * self.element.bytes, N_TILE * K_TILE * self.element.bytes

    def addresses(self, half: int) -> tuple[int, int]:
        """Return where the tiles of one half of L1 lie: the left operand's, the right one's."""
        left, right = self.half_bytes
        start = self.l1_base + half * (left + right)
        return start, start + left


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the result on one core.

    Attributes:
        row: Its place along M, in blocks; *column* along N.
        column: Its place along N.
        m: Its rows; *n* its columns.
        n: Its columns.
        m_padded: Rows as loads pad them; *n_padded* columns.
        n_padded: Columns as loads pad them.
    """

    row: int
    column: int
    m: int
    n: int
    m_padded: int
    n_padded: int


def block_at(launch: BlockCall, row: int, column: int) -> Block:
    """Return the block in a row and column of blocks, cut at the edges."""
    m = min(M_TILE, launch.m - row * M_TILE)
    n = min(N_TILE, launch.n - column * N_TILE)
    block = launch.element.block
    return Block(
        row,
        column,
        m,
        n,
        up(m, block if launch.ta else FRACTAL_ROWS),
        up(n, FRACTAL_ROWS if launch.tb else block),
    )
