"""The data of a program's page: what it shows of one run of a tile-language program."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError, UsageError
from pantile.program.tables import ReleasedBy
from pantile.tiling.plan import Note
from pantile.verbs.program_axes import roles_of
from pantile.verbs.program_memories import ProgramMemories
from pantile.verbs.program_rows import ProgramRows, plain
from pantile.verbs.result import VERSION
from pantile.view.byte_residency import byte_residency
from pantile.view.columns import ACCESSES, BINDINGS, table
from pantile.view.pagedata import EngineCard, Figure, Finding, Level, PageData, Term
from pantile.view.render import MAX_OPERATIONS
from pantile.view.residency import BLOCKS, ENTRIES, TOUCHES, Residency

if TYPE_CHECKING:
    from pantile.check.report import Report
    from pantile.verbs.program_axes import Roles
    from pantile.verbs.program_run import ProgramRun

CAUSES = {
    ReleasedBy.PROGRAM: "program order: the operation before it in its thread",
    ReleasedBy.COUNTER: "counter: what it waits for was posted",
    ReleasedBy.SLOT: "slot",
    ReleasedBy.ARBITER: "arbiter: another thread was served",
    ReleasedBy.RESOURCE: "resource: a link or an engine was busy",
    ReleasedBy.CACHE: "cache",
}

ORDER = Note(
    "page",
    "operations stand in the order in which this run started them; times are rounded up to whole cycles, "
    "--json and --trace have picoseconds",
)
WORDS_ONLY = Note("page", "the order that breaks a race is told in words; the steps are those of this run")
TOO_LARGE = Note(
    "page", "memories and matrices are left out: the memories are too large to be followed byte by byte"
)


def require_page(run: ProgramRun) -> Roles:
    """Return what the words of a program are on a page that can show it.

    Raises:
        OutsideModelError: If it is no product of two matrices, or too long.
    """
    count = run.timeline.bound.operations
    if count > MAX_OPERATIONS:
        raise OutsideModelError(
            f"a page shows programs of at most {MAX_OPERATIONS} operations, {run.name!r} has {count}",
            mend="use simulate --trace, or cut a smaller product the same way",
        )
    return roles_of(run.program)


def program_page_data(
    run: ProgramRun, report: Report, notes: tuple[Note, ...], command: list[str]
) -> PageData:
    """Return everything that the page of one run shows.

    Args:
        run: The run.
        report: What the check found on the same machine.
        notes: What the check remarks.
        command: The command line that makes the page again, as words.

    Raises:
        OutsideModelError: If pages cannot show the program.
        UsageError: If it was run without a machine.
    """
    roles, machine = require_page(run), run.timeline.bound.machine
    if machine is None:
        raise UsageError("a page shows a run on a machine, got none", mend="name the machine")
    rows = ProgramRows(run.timeline, roles, machine)
    operations, memories = rows.operations, ProgramMemories(rows)
    lives = byte_residency(operations, memories.ranges, memories.endings)
    remarks = [ORDER, *([WORDS_ONLY] if report.findings else []), *([] if lives else [TOO_LARGE])]
    extents = {page: 1 if axis is None else roles.tiling.total[axis] for page, axis in roles.axis.items()}
    return PageData(
        workload=run.name,
        machine=run.machine,
        planner=f"a program, {run.program.semantics}",
        command=" ".join(map(quote, command)),
        version=VERSION,
        extents=extents,
        letters=roles.letters(run.program),
        figures=_figures(run),
        levels=_levels(roles),
        findings=_findings(report),
        proved=tuple(map(plain, report.proved)),
        notes=tuple(plain(note) for note in dict.fromkeys((*run.notes, *notes, *remarks))),
        terms=tuple(Term(name=name, cycles=cycles) for name, cycles in run.terms.items() if cycles),
        bound_by=run.bound_by,
        memories=memories.cards,
        engines=_engines(run, rows),
        opcodes=rows.texts["opcode"].all,
        waits=rows.texts["waits"].all,
        posts=rows.texts["posts"].all,
        causes=tuple(CAUSES[cause] for cause in ReleasedBy),
        sources=rows.texts["source"].all,
        tiles=rows.tiles[0],
        operations=operations,
        accesses=table(ACCESSES, operation=[], mode=[], operand=[], memory=[], slot=[], tag=[]),
        bindings=table(BINDINGS, tile=[], memory=[], slot=[]),
        residency=lives or _nothing(),
    )


def _engines(run: ProgramRun, rows: ProgramRows) -> tuple[EngineCard, ...]:
    """Threads stand for engines."""
    threads = run.timeline.bound.tables["thread"]
    names = [run.program.text(int(row["name"])) or str(int(row["id"])) for row in threads]
    return tuple(EngineCard(name=name, core=core) for name, core in zip(names, rows.cores, strict=True))


def _figures(run: ProgramRun) -> tuple[Figure, ...]:
    """Totals: those of ``simulate --json`` under the same names."""
    use = run.utilisation
    shares = [
        (f"{name}_utilisation", label, use[name])
        for name, label in (("mac", "MAC utilisation"), ("busy", "engines busy"))
    ]
    what_ifs = [
        Figure(
            key=f"what_if {each.change.text}",
            label=f"cycles if {plain(each.change.text)}",
            value=each.timeline.cycles,
            unit="cycles",
        )
        for each in run.what_ifs
    ]
    return (
        Figure(
            key="operations", label="operations in all", value=run.timeline.bound.operations, headline=True
        ),
        Figure(key="macs", label="MACs in all", value=run.program.macs, unit="MACs", headline=True),
        Figure(key="total_cycles", label="cycles", value=run.total_cycles, unit="cycles", headline=True),
        Figure(key="total_ps", label="picoseconds", value=run.timeline.total, unit="ps"),
        *(
            Figure(key=key, label=label, value=value, unit="share")
            for key, label, value in shares
            if value is not None
        ),
        Figure(key="bound_by", label="bound by", value=run.bound_by),
        *(
            Figure(
                key=f"lower_bound {name}", label=f"lower bound: {plain(name)}", value=cycles, unit="cycles"
            )
            for name, cycles in run.lower_bounds.items()
        ),
        *what_ifs,
    )


def _levels(roles: Roles) -> tuple[Level, ...]:
    """The levels of the cut, along the page's axes."""
    tiling, axes = roles.tiling, {page: at for page, at in roles.axis.items() if at is not None}
    return tuple(
        Level(
            name=plain(level.name),
            counts={page: level.factors[at] for page, at in axes.items()},
            nominal={page: sizes[at] for page, at in axes.items()},
        )
        for level, sizes in zip(tiling.levels, tiling.nominal_sizes, strict=True)
    )


def _findings(report: Report) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            code=each.code,
            severity=each.severity,
            sentence=plain(each.sentence),
            operations=each.operations,
            evidence=plain(each.evidence),
            grade=each.grade,
            mend=plain(each.mend),
        )
        for each in report.findings
    )


def _nothing() -> Residency:
    """Memories in which nothing is followed."""
    made = (
        table(schema, **{spec.name: [] for spec in schema.specs}) for schema in (ENTRIES, BLOCKS, TOUCHES)
    )
    entries, blocks, touches = made
    return Residency(entries=entries, blocks=blocks, touches=touches)
