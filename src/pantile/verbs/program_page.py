"""The data of a program's page: what it shows of one run."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from pantile.program.tables import ReleasedBy
from pantile.targets.ascend.trace import FAMILY as ASCEND
from pantile.tiling.plan import Note
from pantile.verbs.core_page import CoreMemories, core_statements
from pantile.verbs.page_findings import findings_of
from pantile.verbs.page_plan import decisions_of
from pantile.verbs.program_axes import roles_of
from pantile.verbs.program_figures import run_figures
from pantile.verbs.program_memories import ProgramMemories
from pantile.verbs.program_rows import ProgramRows, plain
from pantile.verbs.result import VERSION
from pantile.verbs.window import clipped, require_window
from pantile.view.byte_residency import byte_residency
from pantile.view.columns import ACCESSES, BINDINGS, table
from pantile.view.cut import part_of
from pantile.view.pagedata import (
    CANONICAL_LETTERS,
    EngineCard,
    Level,
    PageData,
    PlayedOrder,
    Term,
    Window,
)
from pantile.view.render import MAX_OPERATIONS, refuse_too_many
from pantile.view.residency import BLOCKS, ENTRIES, TOUCHES, Residency

if TYPE_CHECKING:
    from pantile.check.report import Report
    from pantile.program.program import Program
    from pantile.verbs.program_axes import Roles
    from pantile.verbs.shown_run import ShownRun

CAUSES = {
    ReleasedBy.PROGRAM: "program order: the operation before it in its thread",
    ReleasedBy.COUNTER: "counter: what it waits for was posted",
    ReleasedBy.SLOT: "slot",
    ReleasedBy.ARBITER: "arbiter: another thread was served",
    ReleasedBy.RESOURCE: "resource: a link or an engine was busy",
    ReleasedBy.CACHE: "cache",
}

MOST_PLAYED = 8
"""Orders that one page holds beside the run."""

ORDER = Note(
    "page",
    "operations stand in the order in which this run started them; times are rounded up to whole cycles, "
    "--json and --trace have picoseconds",
)
WORDS_ONLY = Note(
    "page",
    "some orders that break a race are told in words only: they are too long, or too many to be played",
)
NO_MATRICES = Note(
    "page", "the program names no matrices: its pipes over time stand where the page of a product has them"
)
TOO_LARGE = Note(
    "page", "memories and matrices are left out: the memories are too large to be followed byte by byte"
)


def require_page(program: Program, operations: int, window: range | None) -> range:
    """Return the rows that the page of a program shows.

    Args:
        program: What ran, or will.
        operations: How many it has.
        window: Rows that were asked for: operations in the order in which they are shown. ``None`` is all.

    Raises:
        OutsideModelError: If it is neither a product of two matrices nor a core program.
        UsageError: If there are too many of them, or none.
    """
    _roles(program)
    if window is None:
        refuse_too_many(operations)
    else:
        require_window(window, operations, most=MAX_OPERATIONS, holder="a page")
    return clipped(window, operations)


def _roles(program: Program) -> Roles | None:
    """Return what the words of a program are on a page; ``None`` for one that names no matrices."""
    return None if program.family == ASCEND else roles_of(program)


def program_page_data(
    run: ShownRun, report: Report, notes: tuple[Note, ...], shown: range, output: str
) -> PageData:
    """Return everything that the page of one run shows.

    Args:
        run: The run.
        report: What the check found on the same machine.
        notes: What the check remarks.
        shown: Rows to show, as :func:`require_page` gives them.
        output: The page's file, for the command that makes it again.
    """
    program, total = run.program, run.timeline.bound.operations
    rows, memories = _rows_and_memories(run, shown)
    lives = _lives(rows, memories)
    part = part_of(rows.operations, rows.tiles[0], lives or _nothing(), shown)
    orders = _orders(run, report, rows)
    window = _window(run, shown, total, output) if len(shown) < total else None
    return PageData(
        workload=run.name,
        machine=run.machine.name,
        planner=run.planner,
        command=_command(run, shown if window else None, output),
        version=VERSION,
        extents=_extents(rows.roles),
        letters=rows.roles.letters(program) if rows.roles else (CANONICAL_LETTERS,),
        figures=run_figures(run),
        levels=_levels(rows.roles),
        decisions=decisions_of(run.plan) if run.plan else (),
        findings=findings_of(report),
        proved=tuple(map(plain, report.proved)),
        notes=_notes(
            (*run.figures.notes, *notes), _untold(report, orders), memories, followed=lives is not None
        ),
        terms=tuple(Term(name=name, cycles=cycles) for name, cycles in run.figures.terms.items() if cycles),
        bound_by=run.figures.bound_by,
        memories=memories.cards if lives else (),
        engines=_engines(run, rows),
        opcodes=rows.texts["opcode"].all,
        waits=rows.texts["waits"].all,
        posts=rows.texts["posts"].all,
        causes=tuple(CAUSES[cause] for cause in ReleasedBy),
        sources=rows.texts["source"].all,
        texts=rows.texts["text"].all,
        tiles=part.tiles,
        operations=part.operations,
        accesses=table(ACCESSES, operation=[], mode=[], operand=[], memory=[], slot=[], tag=[]),
        bindings=table(BINDINGS, tile=[], memory=[], slot=[]),
        residency=part.lives,
        window=window,
        orders=orders,
    )


def _rows_and_memories(run: ShownRun, shown: range) -> tuple[ProgramRows, ProgramMemories | CoreMemories]:
    roles = _roles(run.program)
    if roles is None:
        rows = ProgramRows(run.timeline, None, run.machine, shown, core_statements(run.program))
    else:
        rows = ProgramRows(run.timeline, roles, run.machine, shown)
    return rows, _memories(rows)


def _memories(rows: ProgramRows) -> ProgramMemories | CoreMemories:
    return CoreMemories(rows) if rows.roles is None else ProgramMemories(rows, rows.roles)


def _lives(rows: ProgramRows, memories: ProgramMemories | CoreMemories) -> Residency | None:
    """Who lives where up to the end of the rows shown; ``None`` if memories are too large to be followed."""
    return byte_residency(
        rows.operations,
        memories.ranges,
        memories.endings,
        remainders=rows.roles is None,
    )


def _orders(run: ShownRun, report: Report, rows: ProgramRows) -> tuple[PlayedOrder, ...]:
    """The orders that show findings, the first few of those that fit a page."""
    found: list[PlayedOrder] = []
    for finding, each in enumerate(report.findings):
        if each.order is None or len(each.order) > MAX_OPERATIONS or len(found) == MOST_PLAYED:
            continue
        played = replace(rows, shown=range(len(each.order)), sequence=each.order)
        lives = _lives(played, _memories(played)) or _nothing()
        part = part_of(played.operations, played.tiles[0], lives, played.shown)
        found.append(
            PlayedOrder(finding=finding, operations=part.operations, tiles=part.tiles, lives=part.lives)
        )
    return tuple(found)


def _untold(report: Report, orders: tuple[PlayedOrder, ...]) -> bool:
    """Whether some order that shows a finding cannot be played."""
    return sum(each.order is not None for each in report.findings) > len(orders)


def _notes(
    told: tuple[Note, ...], untold: bool, memories: ProgramMemories | CoreMemories, *, followed: bool
) -> tuple[str, ...]:
    """Return all that the reader must know, each once."""
    remarks = [ORDER, *([WORDS_ONLY] if untold else []), *([] if followed else [TOO_LARGE])]
    if isinstance(memories, CoreMemories):
        remarks.append(NO_MATRICES)
        if memories.left_out:
            remarks.append(Note("page", f"not drawn as memories: {', '.join(memories.left_out)}"))
    return tuple(plain(note) for note in dict.fromkeys((*told, *remarks)))


def _window(run: ShownRun, shown: range, total: int, output: str) -> Window:
    """The part that is shown, and the command that shows what follows it."""
    following = range(shown.stop, min(shown.stop + MAX_OPERATIONS, total)) or range(shown.start)
    return Window(start=shown.start, total=total, command=_command(run, following[-MAX_OPERATIONS:], output))


def _command(run: ShownRun, window: range | None, output: str) -> str:
    """The command line that makes the page again, for a shell."""
    part = [] if window is None else ["--window", f"{window.start}:{window.stop}"]
    return " ".join(map(quote, [*run.command, *part, "-o", output or "PAGE.html"]))


def _extents(roles: Roles | None) -> dict[str, int]:
    if roles is None:
        return {}
    return {page: 1 if axis is None else roles.tiling.total[axis] for page, axis in roles.axis.items()}


def _engines(run: ShownRun, rows: ProgramRows) -> tuple[EngineCard, ...]:
    """Threads stand for engines."""
    threads = run.timeline.bound.tables["thread"]
    names = [run.program.text(int(row["name"])) or str(int(row["id"])) for row in threads]
    return tuple(EngineCard(name=name, core=core) for name, core in zip(names, rows.cores, strict=True))


def _levels(roles: Roles | None) -> tuple[Level, ...]:
    """The levels of the cut, along the page's axes."""
    if roles is None:
        return ()
    tiling, axes = roles.tiling, {page: at for page, at in roles.axis.items() if at is not None}
    return tuple(
        Level(
            name=plain(level.name),
            counts={page: level.factors[at] for page, at in axes.items()},
            nominal={page: sizes[at] for page, at in axes.items()},
        )
        for level, sizes in zip(tiling.levels, tiling.nominal_sizes, strict=True)
    )


def _nothing() -> Residency:
    """Memories in which nothing is followed."""
    made = (
        table(schema, **{spec.name: [] for spec in schema.specs}) for schema in (ENTRIES, BLOCKS, TOUCHES)
    )
    entries, blocks, touches = made
    return Residency(entries=entries, blocks=blocks, touches=touches)
