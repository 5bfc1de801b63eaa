"""The figures of a program's page: totals, and how long every thread was busy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.verbs.program_rows import plain
from pantile.view.pagedata import Figure

if TYPE_CHECKING:
    from pantile.verbs.shown_run import ShownRun


def run_figures(run: ShownRun) -> tuple[Figure, ...]:
    """Return the totals of a run: those of ``simulate --json`` under the same names."""
    timeline, figures = run.timeline, run.figures
    cycles = "cycles"
    return (
        Figure(key="operations", label="operations in all", value=timeline.bound.operations, headline=True),
        Figure(key="macs", label="MACs in all", value=run.program.macs, unit="MACs", headline=True),
        Figure(key="total_cycles", label=cycles, value=figures.total_cycles, unit=cycles, headline=True),
        Figure(key="total_ps", label="picoseconds", value=timeline.total, unit="ps"),
        *_shares(run),
        Figure(key="bound_by", label="bound by", value=figures.bound_by),
        *(
            Figure(key=f"lower_bound {name}", label=f"lower bound: {plain(name)}", value=value, unit=cycles)
            for name, value in figures.lower_bounds.items()
        ),
        *(
            Figure(key=f"busy_ps {name}", label=f"{plain(name)} busy", value=ticks, unit="ps")
            for name, ticks in timeline.thread_busy.items()
        ),
        *(
            Figure(
                key=f"what_if {each.change.text}",
                label=f"cycles if {plain(each.change.text)}",
                value=each.timeline.cycles,
                unit=cycles,
            )
            for each in run.what_ifs
        ),
    )


def _shares(run: ShownRun) -> list[Figure]:
    use = run.figures.utilisation
    return [
        Figure(key=f"{name}_utilisation", label=label, value=share, unit="share")
        for name, label in (("mac", "MAC utilisation"), ("busy", "engines busy"))
        if (share := use[name]) is not None
    ]
