"""A whole matrix product on cube cores, as a plan cuts it: what every core's program is made from.

A tile of the result is computed at a time. K runs through L1 in chunks of both operands, several of which
L1 holds, and through the two halves of L0A and L0B in steps; the sum stays in L0C until it is whole. The
template library that was recorded is that of 220x cores; for other cores this lowering is Pantile's own, in
the library's instructions.

Source of the order of moves: cann-asw-basic.md section 11.5, ascend-core.md sections 2.7, 2.8 and 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import CapacityError, OutsideModelError, PantileError, ProgramError, raise_all
from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_ROWS, Element, parts, up
from pantile.targets.ascend.memory import BUFFERS_220X
from pantile.targets.ascend.memref import left_extents, right_extents, sum_extents
from pantile.targets.ascend.ranges import ELEMENT_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Works = npt.NDArray[np.void]

MOST_CHUNKS = 4
"""Chunks of L1 that flags tell apart: half of the ids of a pair of pipes."""

HALVES = 2
"""Halves of L0A and of L0B, of which MTE1 fills one while the cube reads the other."""

WORK = np.dtype(
    [
        ("batch", "i8"),
        ("a_batch", "i8"),
        ("b_batch", "i8"),
        ("m", "i8"),
        ("n", "i8"),
        ("k", "i8"),
        ("rows", "i8"),
        ("columns", "i8"),
        ("depth", "i8"),
        ("adds", "?"),
    ]
)
"""One tile of the result over one piece of K, in elements: batch elements, starts, sizes.

``adds`` says that a piece before it left its sum in GM, to which this one is added."""

_BURST = 64
"""Bytes of one burst into the bias table."""

_QUANTISED = {"half": "F322F16", "bfloat16_t": "F322BF16"}
_ACCUMULATED = {"float": ("half", "bfloat16_t", "float"), "int32_t": ("int32_t",)}
_BIASES = {"float": ("half", "bfloat16_t", "float"), "int32_t": ("int32_t",)}


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A product, and how its tiles are computed.

    Attributes:
        element: Type of both operands.
        out: What a pointer to the result is declared as; *bias* likewise, ``""`` without one.
        m: Rows of one product of the batch, likewise columns *n* and the reduction *k*.
        ta: Whether left operands are stored k by m.
        tb: Whether right operands are stored n by k.
        nz: Whether right operands lie in GM as columns of fractals.
        hf32: Whether the cube rounds fp32 operands to HF32.
        tile_m: Most rows of a tile; *tile_n* its columns.
        chunk: K of both operands that L1 is filled with at a time.
        step: K that a half of L0 holds.
        l1_buffers: Chunks that L1 holds.
        sums: Tiles that L0C holds, 1 or 2.
        unit_flag: Whether M and FIX hand a sum over block by block; only where L0C holds a single tile.
        capacities: Bytes of each buffer.

    Raises:
        PantileError: If a tile does not fit, or the sizes are none that loads can take; all problems at once,
            those of capacity first.
    """

    element: Element
    out: str
    bias: str = ""
    m: int
    n: int
    k: int
    ta: bool = False
    tb: bool = False
    nz: bool = False
    hf32: bool = False
    tile_m: int
    tile_n: int
    chunk: int
    step: int
    l1_buffers: int = 2
    sums: int = 1
    unit_flag: bool = True
    capacities: Mapping[str, int] = field(default_factory=lambda: dict(BUFFERS_220X))

    def __post_init__(self) -> None:
        raise_all(list(self._problems()))

    @property
    def hands_over(self) -> bool:
        """Whether sums go from M to FIX by unit flags; bytes are padded to blocks that FIX never takes."""
        return self.unit_flag and self.sums == 1 and self.element.bytes > 1

    @property
    def guards_bias(self) -> bool:
        """Whether the bias table needs a flag of its own.

        A tile of several steps has waited for the half of L0 of the product that read the table before.
        """
        return bool(self.bias) and self.k <= self.step

    @cached_property
    def left_bytes(self) -> int:
        """Bytes of L1 that a chunk of the left operand takes."""
        rows, depth = min(self.tile_m, self.m), min(self.chunk, self.k)
        return self._bytes(left_extents(self.element, rows, depth, transposed=self.ta))

    @cached_property
    def right_bytes(self) -> int:
        """Bytes of L1 that a chunk of the right operand takes."""
        columns, depth = min(self.tile_n, self.n), min(self.chunk, self.k)
        return self._bytes(right_extents(self.element, columns, depth, transposed=self.tb))

    @property
    def bias_bytes(self) -> int:
        """Bytes of one element of the bias; 0 without one."""
        return ELEMENT_BITS[self.bias] // 8 if self.bias else 0

    @cached_property
    def chunk_bytes(self) -> int:
        """Bytes of L1 that both operands of a chunk and the bias of a tile take."""
        return self.left_bytes + self.right_bytes + up(min(self.tile_n, self.n) * self.bias_bytes, _BURST)

    @property
    def chunk_room(self) -> int:
        """Bytes of L1 that each chunk has."""
        return self.capacities["L1"] // self.l1_buffers // BLOCK_BYTES * BLOCK_BYTES

    @property
    def quantised(self) -> str:
        """How FIX converts a sum on its way out."""
        return _QUANTISED.get(self.out, "NoQuant")

    def l0_address(self, half: int, buffer: str) -> int:
        """Return where a half of L0A or L0B begins."""
        return half * (self.capacities[buffer] // HALVES)

    def sum_address(self, turn: int) -> int:
        """Return where the sum of a tile lies in L0C."""
        return turn * (self.capacities["L0C"] // self.sums)

    def to_json(self) -> dict[str, Any]:
        """Return the kernel as a part of what ``lower --json`` prints."""
        return {
            "element": self.element.name,
            "out": self.out,
            "bias": self.bias or None,
            "tile": {"m": self.tile_m, "n": self.tile_n},
            "chunk": self.chunk,
            "step": self.step,
            "l1_buffers": self.l1_buffers,
            "sums": self.sums,
            "unit_flag": self.hands_over,
        }

    def __str__(self) -> str:
        turns = "unit flag" if self.hands_over else f"{self.sums} in L0C"
        return (
            f"tiles {self.tile_m} x {self.tile_n} of {self.out}, K in chunks of {self.chunk} "
            f"({self.l1_buffers} in L1) and steps of {self.step} (2 in L0), {turns}"
        )

    def padded(self, rows: int, columns: int) -> tuple[int, int]:
        """Return rows and columns of a tile in whole blocks of L0C."""
        outer_n, outer_m, _, _ = sum_extents(self.element, rows, columns, ta=self.ta, tb=self.tb)
        return outer_m * FRACTAL_ROWS, outer_n * FRACTAL_ROWS

    def _bytes(self, extents: tuple[int, int, int, int]) -> int:
        first, second, third, fourth = extents
        return first * second * third * fourth * self.element.bytes

    def _problems(self) -> Iterator[PantileError]:
        named = ("m", "n", "k", "tile_m", "tile_n", "chunk", "step", "l1_buffers", "sums")
        low = [name for name in named if getattr(self, name) < 1]
        if low:
            values = ", ".join(f"{name} {getattr(self, name)}" for name in low)
            yield ProgramError(f"expected sizes of at least 1, got {values}")
            return
        yield from self._capacity_problems()
        yield from self._unsupported()
        grain = max(FRACTAL_ROWS, self.element.block)
        for name, size, whole in (
            ("tile_m", self.tile_m, self.m),
            ("tile_n", self.tile_n, self.n),
            ("chunk", self.chunk, self.k),
            ("step", self.step, self.k),
        ):
            of = FRACTAL_ROWS if name.startswith("tile") else grain
            if size % of and size < whole:
                problem = f"{name} must be a multiple of {of}, or all of {whole}, got {size}"
                yield ProgramError(problem, mend=f"make it {up(size, of)}")

    def _capacity_problems(self) -> Iterator[PantileError]:
        """Yield what overflows, L0 first: there the tile itself is too large."""
        rows, columns = self.padded(min(self.tile_m, self.m), min(self.tile_n, self.n))
        depth = up(min(self.step, self.chunk, self.k), self._deep)
        sized = (("L0A", rows), ("L0B", columns))
        needs: list[tuple[str, int, int, str]] = [
            (
                buffer,
                size * depth * self.element.bytes,
                HALVES,
                f"{size} x {depth} elements of {self.element.bytes} B",
            )
            for buffer, size in sized
        ]
        needs.append(("L0C", rows * columns * 4, self.sums, f"{rows} x {columns} sums of 4 B"))
        what = "a chunk of both operands" + (" and the bias" if self.bias else "")
        needs.append(("L1", self.chunk_bytes, self.l1_buffers, what))
        if self.bias:
            needs.append(("BT", up(min(self.tile_n, self.n) * 4, _BURST), 1, "the bias of a tile"))
        for buffer, need, shares, why in needs:
            if buffer not in self.capacities:
                yield OutsideModelError(f"the machine has no memory {buffer.lower()!r} in a core")
            elif need > self.capacities[buffer] // shares:
                share = f", 1 of {shares} parts of {self.capacities[buffer]} B," if shares > 1 else ""
                problem = f"{buffer} needs {need} B of {self.capacities[buffer] // shares} B{share} for {why}"
                yield CapacityError(problem, mend="make the tile smaller")

    @property
    def _deep(self) -> int:
        """What K is padded to in L0."""
        return FRACTAL_ROWS if self.element.bytes == 4 and self.ta else self.element.block

    def _unsupported(self) -> Iterator[PantileError]:
        accumulator = self.element.accumulator
        if self.element.is_int4:
            yield OutsideModelError("kernels of int4 operands are not lowered")
        if self.out not in _ACCUMULATED[accumulator]:
            allowed = " or ".join(_ACCUMULATED[accumulator])
            yield OutsideModelError(f"sums of {accumulator} leave a core as {allowed}, got {self.out}")
        if self.bias and self.bias not in _BIASES[accumulator]:
            allowed = " or ".join(_BIASES[accumulator])
            yield OutsideModelError(f"a bias added to {accumulator} is {allowed}, got {self.bias}")
        if self.l1_buffers > MOST_CHUNKS:
            problem = f"{MOST_CHUNKS} ids tell chunks of L1 apart, got {self.l1_buffers} chunks"
            yield OutsideModelError(problem)
        if self.nz and self.element.bytes == 1:
            yield OutsideModelError("right operands of bytes are lowered from rows, got fractals (nz)")


def counts_of(kernel: Kernel, depth: int) -> tuple[int, int]:
    """Return how many chunks and how many steps a reduction of *depth* takes."""
    whole, rest = divmod(depth, kernel.chunk)
    steps = whole * parts(kernel.chunk, kernel.step) + parts(rest, kernel.step)
    return whole + (rest > 0), steps


def works_of(rows: list[tuple[Any, ...]]) -> Works:
    """Return rows of :data:`WORK`."""
    return np.array(rows, WORK)
