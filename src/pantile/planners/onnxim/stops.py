"""Where ONNXim does not come through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import MappingError

if TYPE_CHECKING:
    from pantile.errors import Place


class MapperStop(MappingError):
    """The original divides by zero, asserts, exits or never ends on this input.

    Attributes:
        quirk: Number of the quirk, e.g. ``"Q1"``.
        reason: What happens, without the quirk's number.
        refused: Whether ``fixed`` refuses the input as well.
    """

    def __init__(
        self,
        quirk: str,
        reason: str,
        *,
        refused: bool = False,
        mend: str = "use --semantics fixed, or give an explicit mapping",
        place: Place | None = None,
    ) -> None:
        super().__init__(f"{reason} ({quirk})", place=place, mend=mend)
        self.quirk, self.reason, self.refused = quirk, reason, refused
