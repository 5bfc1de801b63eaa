"""The data of a page: what it shows of one product, its program and its run."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from pantile.program.tables import ReleasedBy
from pantile.targets.systolic.rows import NAMES
from pantile.targets.systolic.stream import TILE_LAYER
from pantile.targets.systolic.timeline import timeline_of
from pantile.verbs.engines import ENGINES
from pantile.verbs.page_figures import page_figures
from pantile.verbs.page_findings import findings_of
from pantile.verbs.page_plan import decisions_of
from pantile.verbs.page_rows import MEMORIES, POSTS, WAITS, page_rows
from pantile.verbs.program_rows import plain
from pantile.verbs.result import VERSION
from pantile.view.pagedata import (
    CANONICAL_LETTERS,
    EngineCard,
    LetterSet,
    Level,
    MemoryCard,
    PageData,
    Term,
    Window,
)
from pantile.view.render import MAX_OPERATIONS

if TYPE_CHECKING:
    from pantile.check.report import Report
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.tiling.plan import Plan
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.listing import Listing
    from pantile.verbs.simulate import Simulation
    from pantile.verbs.systolic import Systolic

LETTERS = (
    CANONICAL_LETTERS,
    LetterSet(
        key="ncm",
        name="ONNXim",
        shown="N C M",
        m="N",
        n="M",
        k="C",
        b="batch",
        operands=("A", "W", "Y"),
    ),
    LetterSet(key="toi", name="tile language", shown="T O I", m="T", n="O", k="I", operands=("X", "W", "Y")),
)
CAUSES = {
    ReleasedBy.PROGRAM: "program order: the operation before it in its tile",
    ReleasedBy.COUNTER: "counter: the block that it waits for",
    ReleasedBy.SLOT: "slot: its tile had to become resident",
    ReleasedBy.ARBITER: "arbiter: another resident tile was served",
    ReleasedBy.RESOURCE: "resource: the array's pipeline was full",
    ReleasedBy.CACHE: "cache",
}
_OPCODES = 4  # the first of the program's names


def page_data(simulation: Simulation, report: Report, listing: Listing, output: str) -> PageData:
    """Return everything that the page of one product shows.

    Args:
        simulation: A run of the product alone, in which the listed operations were recorded, and before
            them those that may have released them.
        report: What the check found.
        listing: The operations to show.
        output: The page's file, for the command that makes it again.
    """
    session = simulation.session
    (layer,) = session.layers()
    config, program = session.config, layer.program
    mine = simulation.stream.tiles[:, TILE_LAYER] == layer.layer  # skip tiles may stand before and behind
    times = timeline_of(simulation.stream, config, simulation.result)
    shown = times[(times["op"] >= listing.window.start) & (times["op"] < listing.window.stop)]
    rows = page_rows(listing, simulation.result.tiles[mine], shown)
    window = _window(session, layer, listing, output)
    return PageData(
        workload=layer.workload,
        machine=session.machine.name,
        planner=f"{layer.plan.planner}, {session.semantics}",
        command=_command(session, layer, output, listing.window if window else None),
        version=VERSION,
        extents=dict(zip(program.axes, program.extents, strict=True)),
        letters=LETTERS,
        figures=page_figures(simulation),
        levels=_levels(layer.plan),
        decisions=decisions_of(layer.plan),
        findings=findings_of(report),
        proved=tuple(map(plain, report.proved)),
        notes=tuple(map(plain, simulation.notes)),
        terms=tuple(Term(name=name, cycles=cycles) for name, cycles in simulation.terms.items() if cycles),
        bound_by=simulation.bound_by,
        memories=_memories(config),
        engines=tuple(EngineCard(name=name, core=core) for core in range(config.cores) for name in ENGINES),
        opcodes=NAMES[:_OPCODES],
        waits=WAITS,
        posts=POSTS,
        causes=tuple(CAUSES[cause] for cause in ReleasedBy),
        tiles=rows.tiles,
        operations=rows.operations,
        accesses=rows.accesses,
        bindings=rows.bindings,
        window=window,
    )


def _window(session: Systolic, layer: PlannedLayer, listing: Listing, output: str) -> Window | None:
    """The part that is shown, and the command that shows what follows it; ``None`` if it is everything."""
    shown, total = listing.window, layer.program.operations
    if len(shown) == total:
        return None
    following = range(shown.stop, min(shown.stop + MAX_OPERATIONS, total)) or range(shown.start)
    return Window(
        start=shown.start,
        total=total,
        command=_command(session, layer, output, following[-MAX_OPERATIONS:]),
    )


def _command(session: Systolic, layer: PlannedLayer, output: str, window: range | None) -> str:
    """The command line that makes the page again, for a shell."""
    words = ["pantile", "view", layer.workload, "-m", session.machine.file or session.machine.name]
    if layer.plan.parameters["source"] == "explicit":
        words += ["--mapping", layer.plan.parameters["mapping"]]
    if session.semantics != "fixed":
        words += ["--semantics", session.semantics]
    for name, size in session.dims.items():
        words += ["--dim", f"{name}={size}"]
    if window is not None:
        words += ["--window", f"{window.start}:{window.stop}"]
    return " ".join(map(quote, [*words, "-o", output]))


def _levels(plan: Plan) -> tuple[Level, ...]:
    tiling = plan.tiling
    if tiling is None:
        return ()
    return tuple(
        Level(
            name=level.name,
            counts=dict(zip(tiling.dimensions, level.factors, strict=True)),
            nominal=dict(zip(tiling.dimensions, sizes, strict=True)),
        )
        for level, sizes in zip(tiling.levels, tiling.nominal_sizes, strict=True)
    )


def _memories(config: SystolicConfig) -> tuple[MemoryCard, ...]:
    """The on-chip memories; of cores that differ the smallest one."""
    halves = (
        min(config.scratchpad_half_bytes(core) for core in range(config.cores)),
        min(config.accumulator_half_bytes(core) for core in range(config.cores)),
    )
    return tuple(
        MemoryCard(name=name, capacity_bytes=half, slots=2, granule_bytes=config.request_bytes)
        for name, half in zip(MEMORIES, halves, strict=True)
    )
