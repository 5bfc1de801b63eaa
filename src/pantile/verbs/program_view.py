"""The verb ``view`` on programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError

if TYPE_CHECKING:
    from pantile.program.program import Program


def view_program(program: Program, **options: object) -> None:
    """Refuse: pages show planned products so far.

    Raises:
        OutsideModelError: Always.
    """
    del options
    raise OutsideModelError(
        f"program {program.name!r}: pages show planned products only", mend="use check or simulate"
    )
