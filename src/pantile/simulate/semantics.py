"""What the operations of the tile language do to bytes: moves copy, computes multiply and accumulate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import ProgramError
from pantile.program.tables import Kind, Mode
from pantile.simulate.bound import place_of
from pantile.simulate.elements import Bytes, accumulator, decode, encode
from pantile.tiling.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pantile.program.program import Operand, Program
    from pantile.simulate.bound import Rows
    from pantile.tiling.lattice import Inequality

Semantics = Callable[[int, "Rows", "Sequence[Bytes]"], "list[Bytes]"]
"""Given an operation, its rows of ``ACCESS`` and the bytes of each that is read or updated, in order, returns
the bytes of each row that is written or updated, in order."""


def operand_dtype(operand: Operand) -> str:
    """Return the element type of a tensor: what its program says, or floating point of its width."""
    stated = operand.parameters.get("dtype")
    return str(stated) if stated else f"fp{8 * operand.element_bytes}"


def tile_semantics(program: Program, tables: dict[str, Rows]) -> Semantics:
    """Return what the operations of a tile-language program do.

    A move copies the bytes of each operand to every memory that it writes it to. A compute takes the product
    of the elements that its box covers, in the accumulator's type, and adds it to an output that it updates;
    points of the box outside the tiling's domain are left out.
    """
    kinds = tables["op"]["kind"]
    tiling = program.parameters.get("tiling")
    limits = Tiling.from_json(tiling).inequalities if tiling else ()
    boxes = dict(zip(tables["box"]["op"].tolist(), tables["box"], strict=True))

    def outcome(op: int, access: Rows, read: Sequence[Bytes]) -> list[Bytes]:
        if kinds[op] == Kind.MOVE:
            return _move(program, tables, op, access, read)
        if op not in boxes:
            raise _refuse(program, tables, op, "a compute without a box of elements")
        return _compute(program, tables, op, access, read, boxes[op], _mask(limits, boxes[op]))

    return outcome


def _refuse(program: Program, tables: dict[str, Rows], op: int, problem: str) -> ProgramError:
    return ProgramError(problem, place=place_of(program, tables, op))


def _move(
    program: Program, tables: dict[str, Rows], op: int, access: Rows, read: Sequence[Bytes]
) -> list[Bytes]:
    gathered: dict[int, list[Bytes]] = {}
    for row, data in zip(access[access["mode"] != Mode.WRITE], read, strict=True):
        gathered.setdefault(int(row["operand"]), []).append(data)
    whole = {operand: np.concatenate(parts) for operand, parts in gathered.items()}
    taken: dict[tuple[int, int], int] = {}
    written = []
    for row in access[access["mode"] != Mode.READ]:
        target = int(row["operand"]), int(row["space"])
        start, size = taken.get(target, 0), int(row["rows"] * row["length"])
        taken[target] = start + size
        written.append(whole.get(target[0], np.zeros(0, np.uint8))[start : start + size])
    for (operand, _), size in taken.items():
        if size != len(whole.get(operand, ())):
            name = program.operands[operand].name
            count = len(whole.get(operand, ()))
            raise _refuse(program, tables, op, f"a move reads {count} B of {name} and writes {size} B")
    return written


def _compute(
    program: Program,
    tables: dict[str, Rows],
    op: int,
    access: Rows,
    read: Sequence[Bytes],
    box: Any,
    mask: npt.NDArray[np.bool_] | None,
) -> list[Bytes]:
    inputs: dict[int, list[Bytes]] = {}
    sums: list[Bytes] = []
    for row, data in zip(access[access["mode"] != Mode.WRITE], read, strict=True):
        if row["mode"] == Mode.READ:
            inputs.setdefault(int(row["operand"]), []).append(data)
        else:
            sums.append(data)
    outputs = access[access["mode"] != Mode.READ]
    if not len(outputs) or len(np.unique(outputs["operand"])) != 1:
        raise _refuse(program, tables, op, "a compute writes one output, here it is none or several")
    output = program.operands[int(outputs["operand"][0])]
    wide = accumulator(operand_dtype(output))
    arrays, letters = [], []
    for number, parts in sorted(inputs.items()):
        operand = program.operands[number]
        elements = decode(np.concatenate(parts), operand_dtype(operand)).astype(wide)
        arrays.append(_shaped(program, tables, op, elements, operand, box))
        letters.append(axes_of(program, operand))
    if not set(axes_of(program, output)) <= {axis for axes in letters for axis in axes}:
        raise _refuse(program, tables, op, "a compute does not read all inputs of its product")
    if mask is not None:
        arrays.append(mask.astype(wide))
        letters.append(list(range(mask.ndim)))
    product = np.einsum(
        *(each for pair in zip(arrays, letters, strict=True) for each in pair), axes_of(program, output)
    )
    total = np.asarray(product, wide)
    if outputs["mode"][0] == Mode.UPDATE:
        before = decode(np.concatenate(sums), operand_dtype(output)).astype(wide)
        with np.errstate(over="ignore", invalid="ignore"):
            total = total + _shaped(program, tables, op, before, output, box)
    encoded = encode(total, operand_dtype(output))
    sizes = (outputs["rows"] * outputs["length"]).tolist()
    if sum(sizes) != len(encoded):
        problem = f"a compute makes {len(encoded)} B of {output.name} and writes {sum(sizes)} B"
        raise _refuse(program, tables, op, problem)
    return np.split(encoded, np.cumsum(sizes)[:-1])


def _mask(limits: Sequence[Inequality], box: Any) -> npt.NDArray[np.bool_] | None:
    """Return which points of a box are inside the domain; ``None`` if all are."""
    if not limits:
        return None
    axes = len(limits[0][0])
    lo, length = box["lo"][:axes].tolist(), box["length"][:axes].tolist()
    points = [first + index for first, index in zip(lo, np.indices(length, sparse=True), strict=True)]
    inside = np.ones(length, bool)
    for factors, constant in limits:
        inside &= sum(factor * each for factor, each in zip(factors, points, strict=True)) + constant >= 0
    return None if inside.all() else inside


def axes_of(program: Program, operand: Operand) -> list[int]:
    """Axes of the iteration space that an operand has, in the order in which it is stored.

    Of two with one stride the inner one has a single element.
    """
    own = [axis for axis, stride in enumerate(operand.strides) if stride > 0]
    return sorted(own, key=lambda axis: (-operand.strides[axis], -program.extents[axis]))


def _shaped(
    program: Program,
    tables: dict[str, Rows],
    op: int,
    elements: npt.NDArray[Any],
    operand: Operand,
    box: Any,
) -> npt.NDArray[Any]:
    """Elements of an operand as the array of its part of *box*."""
    shape = [int(box["length"][axis]) for axis in axes_of(program, operand)]
    if int(np.prod(shape)) != len(elements):
        expected = " x ".join(map(str, shape))
        problem = f"a compute of {expected} elements of {operand.name} accesses {len(elements)}"
        raise _refuse(program, tables, op, problem)
    return elements.reshape(shape)
