"""The table of mappings that one network's layers share.

Source: onnxim-model.md section 3. The original's ordered map compares keys by a rule that lets some
convolutions find an entry with other counts (Q10 and the addition to CV9). Here a key is exactly its seven
counts: padding, stride and core take no part, so that layers of equal counts share one mapping (CV9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.tiling.onnxim import LoopCounts, Mapping
    from pantile.tiling.plan import Note

Source = Literal["explicit", "table", "automatic"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A mapping with where it came from.

    Attributes:
        mapping: The mapping.
        source: ``"explicit"`` for a line of the mapping file, ``"table"`` for an earlier layer's result.
        owner: Name of the node it was decided for; empty for an explicit line.
        window: Stride and padding of that node, which the mapper looked at; of a product both are 1.
        notes: What was noted when it was decided.
    """

    mapping: Mapping
    source: Source
    owner: str = ""
    window: tuple[int, int] = (1, 1)
    notes: tuple[Note, ...] = ()


class MappingTable:
    """Mappings by their total counts; of two lines with equal totals the later one counts.

    Attributes:
        overridden: Lines that a later one replaces, each with that one.
    """

    def __init__(self, lines: Iterable[Mapping] = ()) -> None:
        self._entries: dict[LoopCounts, Entry] = {}
        self.overridden: list[tuple[Mapping, Mapping]] = []
        for line in lines:
            earlier = self._entries.get(line.total)
            if earlier:
                self.overridden.append((earlier.mapping, line))
            self._entries[line.total] = Entry(line, "explicit")

    def lookup(self, total: LoopCounts) -> Entry | None:
        """Return the entry of a layer with these counts, if there is one."""
        return self._entries.get(total)

    def store(self, entry: Entry) -> None:
        """Keep an automatic result, so that later layers of the same counts reuse it.

        A result that an earlier layer left, but that a later one could not use, stays.
        """
        self._entries.setdefault(entry.mapping.total, entry)
