"""Lines of a mapping file that no node uses.

ONNXim passes them over without a word. ``fixed`` refuses a file of which no line is used, for then the
mapping that was asked for is not the one that is planned; single lines are noted under both semantics,
because a file may serve several networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import MappingError
from pantile.tiling.onnxim import LETTERS
from pantile.tiling.plan import Note

if TYPE_CHECKING:
    from pantile.errors import PantileError
    from pantile.planners.onnxim.table import MappingTable
    from pantile.tiling.onnxim import LoopCounts, Mapping, Semantics


def check_lines(
    lines: tuple[Mapping, ...], table: MappingTable, totals: dict[str, LoopCounts], semantics: Semantics
) -> tuple[list[PantileError], list[Note]]:
    """Return problems and notes about unused and overridden lines.

    Args:
        lines: The file.
        table: Built from it.
        totals: Counts of every node that was looked up, by node name.
        semantics: Whether a wholly unused file is a problem.
    """
    notes = [
        Note(
            "mapping", f"{earlier.place or earlier} is replaced by {later.place or later} of the same totals"
        )
        for earlier, later in table.overridden
    ]
    wanted = set(totals.values())
    unused = [line for line in lines if line.total not in wanted]
    if semantics == "fixed" and totals and len(unused) == len(lines):
        return [_unmatched(line, totals) for line in unused], notes
    notes += [
        Note("mapping", f"{line.place or line}: no node has the totals {line.total}") for line in unused
    ]
    return [], notes


def _unmatched(line: Mapping, totals: dict[str, LoopCounts]) -> PantileError:
    def differing(total: LoopCounts) -> list[str]:
        return [letter for letter in LETTERS if total[letter] != line.total[letter]]

    name, nearest = min(totals.items(), key=lambda each: len(differing(each[1])))
    return MappingError(
        f"no node has the totals {line.total}, the nearest is {name!r} with {nearest}",
        place=line.at("T", differing(nearest)[0]),
        mend=f"write [T] {nearest}",
    )
