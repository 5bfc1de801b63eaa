"""The verb ``check`` on plans for Ascend machines: every distinct core program, and what all cores cover."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.boxes import cover_of
from pantile.check.report import Finding, Report
from pantile.verbs.ascend_check import report_on_trace
from pantile.verbs.ascend_run import core_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.targets.ascend.kernel import Works
    from pantile.verbs.ascend_kernels import Launch


def report_on_launch(
    name: str, launch: Launch, machine: Machine, on_compile: Callable[[], None] = lambda: None
) -> Report:
    """Return whether all cores together compute the product once, and each is right under every timing.

    Cores whose programs differ only in where they begin in GM are checked once.

    Raises:
        PantileError: If a program is too long.
    """
    report = coverage_of(launch)
    parts = [
        (alike, report_on_trace(core_program(name, launch, alike[0]), machine, on_compile=on_compile)[0])
        for alike in launch.classes
    ]
    findings = tuple(
        replace(each, sentence=f"{_cores(alike)}: {each.sentence}")
        for alike, part in parts
        for each in part.findings
    )
    return report + Report(findings, _proved(parts))


def _cores(alike: tuple[int, ...]) -> str:
    return f"core {alike[0]}" + (f" and {len(alike) - 1} alike" if len(alike) > 1 else "")


def _proved(parts: list[tuple[tuple[int, ...], Report]]) -> tuple[str, ...]:
    """Return every statement that holds for all programs, as it is told of the first one."""
    by_kind: dict[str, list[str]] = {}
    for _, part in parts:
        for line in part.proved:
            by_kind.setdefault(_kind(line), []).append(line)
    told = f" ({_cores(parts[0][0])}" + (f"; likewise {len(parts) - 1} other programs)" if parts[1:] else ")")
    return tuple(lines[0] + told for lines in by_kind.values() if len(lines) == len(parts))


def _kind(line: str) -> str:
    """Return what a statement is about: its heading, of capacities with the memory."""
    return " ".join(line.split()[: 2 if line.startswith("capacity") else 1])


def coverage_of(launch: Launch) -> Report:
    """Return whether every product is computed exactly once, and every result first written, not added to."""
    kernel, works = launch.kernel, np.concatenate(launch.works)
    extents = (launch.batch, kernel.m, kernel.n, kernel.k)
    report = _verdict(works, extents, "MACs", "computed")
    return report + _verdict(works[~works["adds"]], extents[:3], "results", "written")


def _verdict(works: Works, extents: tuple[int, ...], what: str, how: str) -> Report:
    starts = [works[name].astype(np.int64) for name in ("batch", "m", "n", "k")[: len(extents)]]
    sizes = [np.ones(len(works), np.int64), works["rows"], works["columns"], works["depth"]]
    total = int(np.prod(np.array(extents, object)))
    if exactly_once(starts, sizes[: len(extents)], extents):
        return Report(proved=(f"coverage: {total} {what}, each {how} exactly once by one core",))
    rows = np.stack([*starts, *sizes[: len(extents)]], axis=1).tolist()
    boxes = [
        tuple(((at, at + size),) for at, size in zip(row[: len(extents)], row[len(extents) :], strict=True))
        for row in rows
    ]
    cover = cover_of(extents, boxes)
    missing = "" if cover is None else f": {cover.missing} never, {cover.repeated} again"
    finding = Finding(
        code="PT-COVERAGE",
        severity="error",
        sentence=f"of {total} {what}, not each is {how} exactly once{missing}",
        grade="wrong value",
        mend="plan again: the tiles of all cores must cover the product once",
    )
    return Report((finding,))


def exactly_once(starts: list[np.ndarray], sizes: list[np.ndarray], extents: tuple[int, ...]) -> bool:
    """Return whether boxes cover a space exactly once.

    Their corners are added up with alternating signs: what is left is the number of boxes on every corner of
    the space alone if, and only if, the boxes cover it once.

    Args:
        starts: By axis, where each box begins.
        sizes: By axis, how long it is.
        extents: Of the space.
    """
    axes, boxes = len(extents), len(starts[0])
    if not boxes:
        return False
    corners, signs = [], []
    for ends in np.ndindex(*(2,) * axes):
        corner = np.stack([starts[axis] + ends[axis] * sizes[axis] for axis in range(axes)], axis=1)
        corners.append(corner)
        signs.append(np.full(boxes, (-1) ** sum(ends)))
    places, which = np.unique(np.concatenate(corners), axis=0, return_inverse=True)
    left = np.zeros(len(places), np.int64)
    np.add.at(left, which.reshape(-1), np.concatenate(signs))
    kept = left != 0
    found = dict(zip(map(tuple, places[kept].tolist()), left[kept].tolist(), strict=True))
    wanted = {
        tuple(end * extent for end, extent in zip(ends, extents, strict=True)): (-1) ** sum(ends)
        for ends in np.ndindex(*(2,) * axes)
    }
    return found == wanted
