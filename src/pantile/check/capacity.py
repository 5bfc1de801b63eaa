"""Does what is resident fit?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.check.report import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The fullest that one memory slot gets.

    Attributes:
        memory: Its name.
        counted_bytes: Bytes as the modelled program counts them, in whole granules.
        physical_bytes: Bytes of the elements themselves.
        capacity_bytes: Bytes of the slot.
        operation: An operation of the tile that fills it.
    """

    memory: str
    counted_bytes: int
    physical_bytes: int
    capacity_bytes: int
    operation: int


def check_capacity(usages: Iterable[Usage]) -> Report:
    """Check both countings of every memory; only the program's own decides whether it runs."""
    report = Report()
    for usage in usages:
        both = f"{usage.counted_bytes} B in granules, {usage.physical_bytes} B of elements"
        if usage.counted_bytes > usage.capacity_bytes:
            finding = Finding(
                code="PT-CAPACITY",
                severity="error",
                sentence=f"{usage.memory}: a tile needs {usage.counted_bytes} B of {usage.capacity_bytes} B",
                operations=(usage.operation,),
                evidence=both,
                grade="hang",
                mend="make the tile smaller",
            )
            report += Report((finding,))
        elif usage.physical_bytes > usage.capacity_bytes:
            finding = Finding(
                code="PT-CAPACITY",
                severity="warning",
                sentence=f"{usage.memory}: the model's count fits, but a tile's elements take "
                f"{usage.physical_bytes} B of {usage.capacity_bytes} B",
                operations=(usage.operation,),
                evidence=both,
                mend="make the tile smaller before building hardware from it",
            )
            report += Report((finding,))
        else:
            report += Report(
                proved=(f"capacity: {usage.memory} slot of {usage.capacity_bytes} B: at most {both}",)
            )
    return report
