"""The verb ``lower`` on plans for Ascend machines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import Place, UsageError
from pantile.targets.ascend.kernel_program import program_of_core
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.kernel_totals import KernelTotals, totals_of_core
from pantile.targets.ascend.trace_text import print_trace
from pantile.verbs.listing import MAX_LISTED
from pantile.verbs.result import as_html
from pantile.verbs.window import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.program.program import Program
    from pantile.targets.ascend.instructions import Instruction
    from pantile.targets.ascend.kernel_stream import CoreStream
    from pantile.tiling.plan import Note
    from pantile.verbs.ascend import Ascend
    from pantile.verbs.ascend_kernels import Launch


@dataclass(frozen=True, eq=False)
class KernelLowering:
    """What the cores run for one node.

    Attributes:
        session: The planned network it belongs to.
        workload: Text that names the node again.
        layer: Its position among the layers.
        launch: The kernel and which core computes what.
        core: The core that is listed; all, one after another, if ``None``.
        window: Numbers of the instructions to list; all if ``None``.
        notes: Remarks.
    """

    session: Ascend
    workload: str
    layer: int
    launch: Launch
    core: int | None
    window: range | None
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """A lowering that exists is fine."""
        return True

    @property
    def program(self) -> Program:
        """The program of the core that is listed, of core 0 if all are."""
        core = self.core or 0
        return program_of_core(self._stream(core), f"{self.workload} core {core}")

    @cached_property
    def totals(self) -> KernelTotals:
        """Totals of all cores, or of the one that is listed."""
        kernel = self.launch.kernel
        found = KernelTotals()
        for alike in self.launch.classes:
            counted = len(alike) if self.core is None else int(self.core in alike)
            if counted:
                found += totals_of_core(kernel, self.launch.works[alike[0]]) * counted
        return found

    @property
    def operation_count(self) -> int:
        """Instructions of what is listed, before any window."""
        return self.totals.instructions.total()

    @property
    def _listed(self) -> range:
        return clipped(self.window, self.operation_count)

    @property
    def left_out(self) -> int:
        """Instructions that :meth:`to_json` leaves out, because no window was asked for and they are many."""
        return len(self._listed) if len(self._listed) > MAX_LISTED else 0

    def _stream(self, core: int) -> CoreStream:
        """Return what a core runs; one without work runs nothing."""
        works = self.launch.works[core]
        stream = core_stream(self.launch.kernel, works)
        return stream if len(works) else stream[:0]

    def _chosen(self) -> Iterator[tuple[int, int, CoreStream]]:
        """Yield core, first number and listed instructions of every core that has any in the window."""
        listed, done = self._listed, 0
        for core in range(self.launch.cores) if self.core is None else [self.core]:
            if done >= listed.stop:
                return
            stream = self._stream(core)
            begin, end = max(listed.start - done, 0), min(listed.stop - done, len(stream))
            if begin < end:
                yield core, begin, stream[begin:end]
            done += len(stream)

    def operations(self) -> Iterator[tuple[int, int, Instruction]]:
        """Yield core, number within the core and instruction of everything that is listed."""
        for core, first, stream in self._chosen():
            for number, instruction in enumerate(stream, first):
                yield core, number, instruction

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``lower --json`` prints; beyond 100 000 instructions only with a window."""
        kernel, launch = self.launch.kernel, self.launch
        listed = None
        if not self.left_out:
            listed = [{"core": core, "index": number, **each} for core, number, each in self.operations()]
        return {
            **self.session.head("lower", self.workload, self.notes),
            "layer": self.layer,
            "core": self.core,
            "kernel": kernel.to_json(),
            "totals": self.totals.to_json(),
            "tile_kinds": self._tile_kinds(),
            "core_kinds": [
                {"cores": list(alike), "tiles": len(launch.works[alike[0]])} for alike in launch.classes
            ],
            "operation_count": self.operation_count,
            "operations": listed,
        }

    def _tile_kinds(self) -> list[dict[str, int]]:
        """Sizes of tiles over a piece of K, and how many of them all cores compute."""
        works = np.concatenate(self.launch.works)
        sizes, counts = np.unique(works[["rows", "columns", "depth"]], return_counts=True)
        return [
            {"m": int(m), "n": int(n), "k": int(k), "count": int(count)}
            for (m, n, k), count in zip(sizes.tolist(), counts.tolist(), strict=True)
        ]

    def text(self) -> str:
        """Return the listing as a CPU-trace build prints it, one intrinsic a line.

        Raises:
            UsageError: If it has more than 100 000 lines.
        """
        if self.left_out:
            raise UsageError(
                f"{self.left_out} operations, a listing holds at most {MAX_LISTED}",
                place=Place(self.workload),
                mend=f"add --core I, or --window 0:{MAX_LISTED}, or another range of that length",
            )
        parts = [(core, print_trace(stream)) for core, _, stream in self._chosen()]
        if self.core is not None:
            return "\n".join(text for _, text in parts)
        return "\n".join(f"// core {core}\n{text}" for core, text in parts)

    def __str__(self) -> str:
        kernel, totals, launch = self.launch.kernel, self.totals, self.launch
        counts = ", ".join(f"{count} {op}" for op, count in sorted(totals.instructions.items()))
        busy = sum(map(len, launch.classes))
        scope = f"core {self.core}" if self.core is not None else f"{busy} of {launch.cores} cores"
        moved = ", ".join(f"{way} {amount} B" for way, amount in totals.moved.items())
        lines = [
            f"{self.workload} on {self.session.machine.name} ({self.session.planner}), {scope}",
            f"  kernel        {kernel}",
            f"  programs      {len(launch.classes)} distinct, of {busy} cores",
            f"  tiles         {totals.tiles}",
            f"  instructions  {counts}",
            f"  MACs          {totals.macs} useful, {totals.padded_macs} padded",
            f"  moves         {moved or 'none'}",
        ]
        return "\n".join([*lines, *(f"  note          {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_html(str(self))
