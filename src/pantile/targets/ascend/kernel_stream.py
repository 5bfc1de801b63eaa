"""What one core issues for all its tiles: instruction by instruction, and in columns.

Tiles of the same sizes whose turn finds the same places of the buffers issue the same instructions but for
where they begin in GM. So there are few distinct instructions, however long the stream: it is kept as the
number of each and the bytes by which its pointer into GM is moved on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from pantile.targets.ascend.elements import FRACTAL_ROWS, up
from pantile.targets.ascend.kernel import HALVES, counts_of
from pantile.targets.ascend.kernel_tile import Shape, Turn, epilogue, prologue, tile_stream
from pantile.targets.ascend.pipes import REGISTER_WRITES
from pantile.targets.ascend.ranges import ELEMENT_BITS, Registers

if TYPE_CHECKING:
    import numpy.typing as npt

    from pantile.targets.ascend.instructions import Instruction
    from pantile.targets.ascend.kernel import Kernel, Works

TENSORS = ("GM_A", "GM_B", "GM_C", "GM_BIAS")
"""Tensors in GM, by what pointers call them."""

_NONE = len(TENSORS)


class Issued(NamedTuple):
    """A distinct instruction, and the registers that it finds when it is issued."""

    instruction: Instruction
    registers: Registers


@dataclass(frozen=True, eq=False)
class CoreStream(Sequence["Instruction"]):
    """The instructions of one core, in order; each is made when it is asked for.

    Attributes:
        kinds: The distinct instructions, pointers into GM at 0.
        which: For every instruction, its kind.
        moved: For every instruction, the bytes at which its pointer into GM begins.
    """

    kinds: tuple[Issued, ...]
    which: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> Instruction: ...
    @overload
    def __getitem__(self, at: slice) -> CoreStream: ...
    def __getitem__(self, at: int | slice) -> Instruction | CoreStream:
        if isinstance(at, slice):
            return CoreStream(self.kinds, self.which[at], self.moved[at])
        instruction = self.kinds[self.which[at]].instruction
        return _moved(instruction, int(self.moved[at]))

    def __iter__(self) -> Iterator[Instruction]:
        for kind, moved in zip(self.which.tolist(), self.moved.tolist(), strict=True):
            yield _moved(self.kinds[kind].instruction, moved)


def plain_stream(kernel: Kernel, works: Works) -> list[Instruction]:
    """Return what a core issues for *works*, tile after tile: the slow form of :func:`core_stream`."""
    stream, turn = prologue(kernel), Turn(0, 0, 0)
    bases = gm_bases(kernel, works)
    for work, base in zip(works, bases.tolist(), strict=True):
        shape = Shape(int(work["rows"]), int(work["columns"]), int(work["depth"]), bool(work["adds"]))
        for each in tile_stream(kernel, shape, turn):
            at = tensor_of(each)
            stream.append(each if at == _NONE else _moved(each, base[at] + _gm(each)["off"]))
        chunks, steps = counts_of(kernel, shape.depth)
        turn = Turn(
            (turn.chunk + chunks) % kernel.l1_buffers,
            (turn.half + steps) % HALVES,
            (turn.sums + 1) % kernel.sums,
        )
    return stream + epilogue(kernel)


def core_stream(kernel: Kernel, works: Works) -> CoreStream:
    """Return what a core issues for *works*, in columns.

    Args:
        kernel: The product and how it is cut.
        works: Rows of :data:`~pantile.targets.ascend.kernel.WORK`, in the order in which the core takes them.
    """
    maker = _Maker(kernel)
    shapes, numbers = _shapes(kernel, works)
    segments = [
        maker.segment(prologue(kernel)),
        *(
            maker.segment(tile_stream(kernel, Shape(rows, columns, depth, bool(adds)), Turn(*turn)))
            for rows, columns, depth, adds, *turn in shapes
        ),
        maker.segment(epilogue(kernel)),
    ]
    chosen = np.concatenate([[0], numbers + 1, [len(segments) - 1]])
    lengths = np.array([len(each.which) for each in segments])
    firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    counts = lengths[chosen]
    ends = np.cumsum(counts)
    rows = np.arange(ends[-1]) + np.repeat(firsts[chosen] - (ends - counts), counts)
    bases = np.zeros((len(chosen), _NONE + 1), np.int64)
    bases[1:-1, :_NONE] = gm_bases(kernel, works)
    which, moved, tensor = (np.concatenate(column)[rows] for column in zip(*segments, strict=True))
    moved += bases[np.repeat(np.arange(len(chosen)), counts), tensor]
    return CoreStream(tuple(maker.kinds), which, moved)


def gm_bases(kernel: Kernel, works: Works) -> npt.NDArray[np.int64]:
    """Return where each tile begins in A, B, C and the bias, in bytes: one row per tile."""
    m, n, k, width = kernel.m, kernel.n, kernel.k, kernel.element.bytes
    a = works["a_batch"] * m * k + (works["m"] + works["k"] * m if kernel.ta else works["m"] * k + works["k"])
    if kernel.nz:
        block = kernel.element.block
        wide, tall = (k, up(n, FRACTAL_ROWS)) if kernel.tb else (n, up(k, FRACTAL_ROWS))
        along, across = (works["k"], works["n"]) if kernel.tb else (works["n"], works["k"])
        b = works["b_batch"] * up(wide, block) * tall + along * tall + across * block
    else:
        b = works["b_batch"] * n * k + (
            works["n"] * k + works["k"] if kernel.tb else works["n"] + works["k"] * n
        )
    c = works["batch"] * m * n + works["m"] * n + works["n"]
    out = ELEMENT_BITS[kernel.out] // 8
    return np.stack([a * width, b * width, c * out, works["n"] * kernel.bias_bytes], axis=1)


def tensor_of(instruction: Instruction) -> int:
    """Return which of :data:`TENSORS` an instruction points into; their number if none."""
    return next(
        (
            TENSORS.index(value["buf"])
            for value in instruction["args"].values()
            if isinstance(value, dict) and value["buf"] in TENSORS
        ),
        _NONE,
    )


def _gm(instruction: Instruction) -> dict[str, Any]:
    """Return an instruction's pointer into GM."""
    found: dict[str, Any] = next(
        value for value in instruction["args"].values() if isinstance(value, dict) and value["buf"] in TENSORS
    )
    return found


def _moved(instruction: Instruction, offset: int) -> Instruction:
    """Return an instruction with its pointer into GM, if it has one, at *offset*."""
    return {
        "op": instruction["op"],
        "args": {
            name: {**value, "off": offset} if isinstance(value, dict) and value["buf"] in TENSORS else value
            for name, value in instruction["args"].items()
        },
    }


def _shapes(kernel: Kernel, works: Works) -> tuple[list[list[int]], npt.NDArray[np.int64]]:
    """Return the distinct tiles (sizes, adds, turns) and for every tile which it is."""
    depths, place = np.unique(works["depth"], return_inverse=True)
    counts = np.array([counts_of(kernel, depth) for depth in depths.tolist()], np.int64).reshape(-1, 2)[place]
    before = np.cumsum(counts, axis=0) - counts
    columns = [works["rows"], works["columns"], works["depth"], works["adds"]]
    columns += [before[:, 0] % kernel.l1_buffers, before[:, 1] % HALVES, np.arange(len(works)) % kernel.sums]
    rows, which = np.unique(np.stack(columns, axis=1).astype(np.int64), axis=0, return_inverse=True)
    return rows.tolist(), which.reshape(-1)


class _Segment(NamedTuple):
    """Instructions of one distinct tile: kinds, offsets in GM from its first elements, tensors."""

    which: npt.NDArray[np.int32]
    moved: npt.NDArray[np.int64]
    tensor: npt.NDArray[np.int64]


class _Maker:
    """Numbers distinct instructions."""

    def __init__(self, kernel: Kernel) -> None:
        self.kinds: list[Issued] = []
        self._numbers: dict[str, int] = {}
        self._registers = Registers()

    def segment(self, stream: list[Instruction]) -> _Segment:
        """Return instructions in columns; registers are as those before left them."""
        rows = [self._row(each) for each in stream]
        which, moved, tensor = zip(*rows, strict=True)
        return _Segment(np.array(which, np.int32), np.array(moved, np.int64), np.array(tensor, np.int64))

    def _row(self, each: Instruction) -> tuple[int, int, int]:
        if each["op"] in REGISTER_WRITES:
            self._registers = replace(self._registers)
            self._registers.write(each["op"], each["args"])
        tensor = tensor_of(each)
        offset = 0 if tensor == _NONE else int(_gm(each)["off"])
        plain = each if tensor == _NONE else _moved(each, 0)
        key = f"{plain} {self._registers if _reads_registers(each['op']) else ''}"
        if key not in self._numbers:
            self._numbers[key] = len(self.kinds)
            self.kinds.append(Issued(plain, self._registers))
        return self._numbers[key], offset, tensor


def _reads_registers(op: str) -> bool:
    return op.startswith(("img2colv2", "mad", "copy_matrix"))
