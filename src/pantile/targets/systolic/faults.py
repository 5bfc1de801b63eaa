"""Where a run cannot go on: the original prints a panic and exits, or never ends."""

from __future__ import annotations

from typing import Never

from pantile.errors import ProgramError

_MEMORIES = ("scratchpad", "accumulator")


def does_not_fit(layer: int, tile: int, space: int, needed_bytes: int, half_bytes: int) -> Never:
    """Raise for an entry that does not fit into its half beside those already there.

    Args:
        layer: Layer number, in execution order.
        tile: Position of the tile in the stream.
        space: 0 scratchpad, 1 accumulator.
        needed_bytes: Bytes that the half would hold with the entry, in whole requests.
        half_bytes: Bytes of one half.
    """
    raise ProgramError(
        f"layer {layer} tile {tile}: the {_MEMORIES[space]} half would hold {needed_bytes} B "
        f"of {half_bytes} B",
        mend="make the tile smaller",
    )


def allocated_twice(layer: int, tile: int, space: int) -> Never:
    """Raise for a load into an entry that exists already."""
    raise ProgramError(
        f"layer {layer} tile {tile}: a load into an entry of the {_MEMORIES[space]} that exists"
    )


def never_ends(layer: int, tile: int) -> Never:
    """Raise for a run in which nothing can happen any more while a tile is resident."""
    raise ProgramError(
        f"layer {layer} tile {tile}: never finishes; no event is outstanding that could release it"
    )
