"""Windows: which operations of a program are meant, by their numbers."""

from __future__ import annotations

from pantile.errors import Place, UsageError


def require_window(window: range, operations: int, *, most: int, holder: str) -> None:
    """Check that *window* names operations of a program, and not too many.

    Args:
        window: Numbers of operations; it may reach beyond the program's end.
        operations: How many the program has.
        most: How many may be named.
        holder: What holds them, for the message.

    Raises:
        UsageError: If none is named, or too many are.
    """
    place = Place("--window")
    if window.step != 1 or window.start < 0:
        raise UsageError(f"expected consecutive numbers from 0, got {window}", place=place)
    named = clipped(window, operations)
    if not named:
        raise UsageError(
            f"the program has operations 0 to {operations - 1}, got a window from {window.start}",
            place=place,
            mend="put the window inside",
        )
    if len(named) > most:
        raise UsageError(
            f"{len(named)} operations, {holder} holds at most {most}",
            place=place,
            mend=f"write --window {named.start}:{named.start + most}",
        )


def clipped(window: range | None, operations: int) -> range:
    """Return the part of *window* that lies in a program of so many *operations*; ``None`` is all of it."""
    if window is None:
        return range(operations)
    return range(window.start, max(window.start, min(window.stop, operations)))
