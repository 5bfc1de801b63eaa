"""A trial: small integers as inputs of a program, and the output that NumPy computes from them.

The integers are so small that every sum of products is exact in the program's types, in whatever order it is
taken. So a value that differs is a wrong value, and never a matter of rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import OutsideModelError, PantileError
from pantile.program.tables import Kind, Mode
from pantile.simulate.elements import accumulator, decode, encode
from pantile.simulate.semantics import axes_of, operand_dtype
from pantile.workload.dtypes import dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from pantile.program.program import Operand, Program

SEED, LARGEST = 1, 4
"""What the inputs are drawn with, and the largest magnitude that is drawn."""

MOST_MACS, MOST_BYTES, MOST_OPERATIONS = 1 << 26, 1 << 26, 100_000
"""What is carried out in a trial at most."""

_EXACT = {"fp64": 1 << 53, "fp32": 1 << 24, "fp16": 1 << 11, "bf16": 1 << 8}
"""Largest magnitude up to which every integer is exact in a floating type."""


@dataclass(frozen=True, eq=False, slots=True)
class Trial:
    """Inputs, and what must come out.

    Attributes:
        arrays: Inputs by operand.
        output: Name of the output.
        expected: What NumPy computes.
    """

    arrays: Mapping[str, npt.NDArray[Any]]
    output: str
    expected: npt.NDArray[Any]

    def difference(self, got: npt.NDArray[Any]) -> str:
        """Return the first element of *got* that differs from NumPy's, in words; empty if none does.

        >>> made = Trial({}, "Y", np.array([[1, 2], [3, 4]]))
        >>> made.difference(np.array([[1, 2], [5, 5]]))
        'Y[1, 0] is 5, NumPy gives 3 (2 of 4 elements differ)'
        """
        differs = np.asarray(got != self.expected)
        count = int(differs.sum())
        if not count:
            return ""
        at = np.unravel_index(int(differs.argmax()), differs.shape)
        place = ", ".join(str(int(index)) for index in at)
        shown, wanted = _shown(got[at]), _shown(self.expected[at])
        total = differs.size
        return f"{self.output}[{place}] is {shown}, NumPy gives {wanted} ({count} of {total} elements differ)"


def _shown(value: Any) -> str:
    """A number as people write it; what nobody wrote is no number."""
    if np.issubdtype(type(value), np.floating):
        return "nan (never written)" if np.isnan(value) else f"{float(value):.12g}"
    return str(value)


def trial_of(program: Program) -> Trial:
    """Return a trial of a literal program of the tile language: the same for the same program.

    Raises:
        OutsideModelError: If it cannot be carried out, is too large, or would not be exact.
    """
    _require_small(program)
    inputs, output = _inputs_and_output(program)
    magnitude = _magnitude(program, output, inputs)
    random = np.random.default_rng(SEED)
    arrays = {operand.name: _drawn(random, operand, magnitude) for operand in inputs}
    wide = accumulator(operand_dtype(output))
    terms: list[Any] = []
    for operand in inputs:
        terms += [arrays[operand.name].astype(wide), axes_of(program, operand)]
    product = np.asarray(np.einsum(*terms, axes_of(program, output)), wide)
    kind = operand_dtype(output)
    return Trial(arrays, output.name, decode(encode(product, kind), kind).reshape(output.dims))


def _require_small(program: Program) -> None:
    if len(program.pieces) != 1 or program.pieces[0].loops or not program.operands:
        raise OutsideModelError("it does not say what its operations do to values")
    if program.parameters.get("tiling", {}).get("domain"):
        raise OutsideModelError("its domain is no box")
    size = prod(program.extents)
    if size > MOST_MACS:
        raise OutsideModelError(f"{size} MACs are more than the {MOST_MACS} that are executed")
    held = sum(prod(operand.dims) * operand.element_bytes for operand in program.operands)
    if held > MOST_BYTES:
        raise OutsideModelError(f"{held} B of arrays are more than the {MOST_BYTES} that are executed")
    access = program.tables()["access"]
    reach = access["lo"] + (access["rows"] - 1) * access["pitch"] + access["length"]
    kept = sum(int(reach[access["space"] == space].max()) for space in np.unique(access["space"]))
    if kept > 4 * MOST_BYTES:
        raise OutsideModelError(f"memories of {kept} B are more than the {4 * MOST_BYTES} that are executed")
    if program.operations > MOST_OPERATIONS:
        count = program.operations
        raise OutsideModelError(f"{count} operations are more than the {MOST_OPERATIONS} that are executed")


def _inputs_and_output(program: Program) -> tuple[list[Operand], Operand]:
    """The operands; those that computes accumulate are outputs.

    Raises:
        OutsideModelError: If that is not a single one.
    """
    tables = program.tables()
    access = tables["access"]
    computes = tables["op"]["kind"][access["op"]] == Kind.COMPUTE
    written = set(access["operand"][(access["mode"] != Mode.READ) & computes].tolist())
    if len(written) != 1:
        raise OutsideModelError(f"it has {len(written)} outputs")
    (output,) = written
    inputs = [operand for number, operand in enumerate(program.operands) if number != output]
    shapes = [[program.extents[axis] for axis in axes_of(program, operand)] for operand in program.operands]
    read = {axis for operand in inputs for axis in axes_of(program, operand)}
    if shapes != [list(operand.dims) for operand in program.operands] or not read.issuperset(
        axes_of(program, program.operands[output])
    ):
        raise OutsideModelError("its operands are no projections of its iteration space")
    return inputs, program.operands[output]


def _magnitude(program: Program, output: Operand, inputs: list[Operand]) -> int:
    """The largest magnitude for which every sum of products is exact in the types of *output*.

    Raises:
        OutsideModelError: If even ones would be rounded.
    """
    try:
        accumulator(operand_dtype(output))
        kinds = [dtype(operand_dtype(operand)) for operand in (*inputs, output)]
    except PantileError as error:
        raise OutsideModelError(error.problem) from None
    depth = prod(program.extents[axis] for axis, stride in enumerate(output.strides) if not stride)
    exact = _EXACT.get(operand_dtype(output))
    if exact is None:  # integers wrap around, whatever the order
        return LARGEST
    for magnitude in range(LARGEST, 0, -1):
        if depth * magnitude ** len(inputs) <= exact:
            return magnitude
    raise OutsideModelError(f"sums of {depth} products are rounded in {kinds[-1].name}")


def _drawn(random: np.random.Generator, operand: Operand, magnitude: int) -> npt.NDArray[Any]:
    """Integers other than 0 in most places, as elements of an operand."""
    kind = operand_dtype(operand)
    least = 0 if kind.startswith("u") else -magnitude
    values = random.integers(least, magnitude, operand.dims, endpoint=True)
    return decode(encode(values, kind), kind).reshape(operand.dims)
