"""Which of a page's axes and matrices the dimensions and operands of a tile-language program are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError
from pantile.tiling.tiling import Tiling
from pantile.view.pagedata import CANONICAL_LETTERS, LetterSet

if TYPE_CHECKING:
    from pantile.program.program import Program

PAGE_AXES = "bmnk"


@dataclass(frozen=True, slots=True)
class Roles:
    """What a program's own words are on a page.

    Attributes:
        tiling: How the product is cut.
        axis: Position of each page axis among the program's dimensions; ``None`` where it has none.
        operands: Numbers of the left, the right and the output matrix.
    """

    tiling: Tiling
    axis: dict[str, int | None]
    operands: tuple[int, int, int]

    def letters(self, program: Program) -> tuple[LetterSet, ...]:
        """Return the program's own letters, and the canonical ones if these are others."""
        names = {
            page: CANONICAL_LETTERS.b if at is None else program.axes[at] for page, at in self.axis.items()
        }
        for page, at in self.axis.items():
            if at is None:
                names[page] = f"({page})"
        own = LetterSet(
            key="own",
            name="the program's own",
            shown=" ".join(names[page] for page in "mnk" if self.axis[page] is not None),
            operands=tuple(program.operands[number].name for number in self.operands),  # type: ignore[arg-type]
            **names,
        )
        return (own,) if own.shown == CANONICAL_LETTERS.shown else (own, CANONICAL_LETTERS)


def roles_of(program: Program) -> Roles:
    """Return what the dimensions and operands of *program* are on a page.

    Raises:
        OutsideModelError: If it is no product of two matrices: a dimension too many, or operands.
    """
    if "tiling" not in program.parameters or len(program.operands) != 3:
        raise OutsideModelError(
            f"pages show products of two matrices, {program.name!r} has {len(program.operands)} operands",
            mend="use check, or simulate --trace",
        )
    tiling = Tiling.from_json(program.parameters["tiling"])
    left, right, output = (
        {axis for axis, stride in enumerate(operand.strides) if stride}
        if any(operand.strides)
        else set[int]()
        for operand in program.operands
    )
    found = {
        "b": left & right & output,
        "m": (left & output) - right,
        "n": (right & output) - left,
        "k": (left & right) - output,
    }
    placed = sum(len(axes) for axes in found.values())
    if placed != len(program.axes) or any(len(axes) > 1 for axes in found.values()):
        raise OutsideModelError(
            f"pages show products of two matrices, {program.name!r} is {tiling.subscripts}",
            mend="use check, or simulate --trace",
        )
    return Roles(tiling, {page: min(axes, default=None) for page, axes in found.items()}, (0, 1, 2))
