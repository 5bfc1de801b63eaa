"""What a page is made of: plain values that know no family.

Whoever makes a page fills a :class:`PageData`; the page lays it out and
computes no result of its own. In every *lettered* text (marked so below)
``{m}``, ``{n}``, ``{k}`` and ``{b}`` stand for the axis, and the page puts
the letter of the chosen notation there. All other texts are shown character
by character. Operation numbers in values count from 0, as in ``--json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.view.columns import Table
    from pantile.view.residency import Residency

AXES = ("b", "m", "n", "k")
"""The canonical axes, in the order in which the columns name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterSet:
    """One notation for the four axes.

    Attributes:
        key: Short name in the address, e.g. ``"ncm"``.
        name: Whose letters these are, shown in the switch's description.
        shown: The letters in that notation's own order, e.g. ``"N C M"``.
        m: Letter of the output rows.
        n: Letter of the output columns.
        k: Letter of the reduction.
        b: Letter of the batch.
        operands: Names of the left, right and output matrix.
    """

    key: str
    name: str
    shown: str
    m: str
    n: str
    k: str
    b: str = "b"
    operands: tuple[str, str, str] = ("A", "B", "C")


CANONICAL_LETTERS = LetterSet(key="mnk", name="BLAS", shown="m n k", m="m", n="n", k="k")


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One factor of a count, e.g. the first 2 of "8 tiles = 2 m × 2 n × 2 k".

    Attributes:
        count: The factor itself.
        axis: The axis that it cuts, or ``""``.
        noun: What is counted where there is no axis, e.g. ``"tiles"``.
        sentence: Why it has this value; lettered.
        pieces: Half-open element ranges along *axis*, if they can be listed.
    """

    count: int
    axis: str = ""
    noun: str = ""
    sentence: str = ""
    pieces: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of the Overview.

    Attributes:
        key: Stable name, as in ``--json``; the page translates the ones it knows.
        label: English label for the rest.
        value: The figure; a share is a float between 0 and 1 with unit ``"share"``.
        unit: ``"B"``, ``"cycles"``, ``"MACs"``, ``"share"`` ... or ``""``.
        factors: Their product is *value*.
        headline: Shown large at the top.
    """

    key: str
    label: str
    value: int | float | str
    unit: str = ""
    factors: tuple[Factor, ...] = ()
    headline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of the cut: *counts* pieces of *nominal* elements, by axis."""

    name: str
    counts: Mapping[str, int]
    nominal: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An alternative that lost, and why; both lettered."""

    value: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One step of the planner: *formula* over *inputs* gave *value*; all texts lettered."""

    stage: str
    name: str
    value: str
    formula: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding of the check.

    Attributes:
        code: E.g. ``"PT-RACE"``.
        severity: ``"error"``, ``"warning"`` or ``"note"``.
        sentence: What is the matter; lettered.
        operations: Numbers of the operations involved.
        evidence: The figures that show it; lettered.
        grade: How sure and how bad, e.g. ``"timing-dependent"``.
        mend: What to change; lettered.
    """

    code: str
    severity: str
    sentence: str
    operations: tuple[int, ...] = ()
    evidence: str = ""
    grade: str = ""
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A named part of the total; the terms of a page sum to its total cycles."""

    name: str
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """An on-chip memory as every core has it.

    Attributes:
        name: Its name.
        capacity_bytes: Size of one slot.
        slots: Number of its slots.
        granule_bytes: Bytes of a request.
        placed: Whether it is one instance, whose name says where it is.
        slot_names: What slots are called, where they are no mere numbers.
        slot_bytes: Their sizes, where these differ.
        by_bytes: Whether it is drawn from its first byte to its last, each entry where it lies; its one slot
            is the whole.
    """

    name: str
    capacity_bytes: int
    slots: int = 1
    granule_bytes: int = 1
    placed: bool = False
    slot_names: tuple[str, ...] = ()
    slot_bytes: tuple[int, ...] = ()
    by_bytes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCard:
    """A unit that carries out operations, on *core*."""

    name: str
    core: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a longer program the page holds.

    Attributes:
        start: Number of the first operation held.
        total: Operations in the whole program.
        command: The command that shows the rest, or another part.
    """

    start: int
    total: int
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedOrder:
    """An order other than the run's, which shows what a finding says.

    Attributes:
        finding: Place of the finding among the page's.
        operations: :data:`pantile.view.columns.OPERATIONS` in that order, without times.
        tiles: The tiles that they meet.
        lives: What memories hold in that order.
    """

    finding: int
    operations: Table
    tiles: Table
    lives: Residency


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """Everything one page shows.

    Attributes:
        workload: Its text, as the user wrote it.
        machine: Name of the machine.
        planner: Planner and semantics in words.
        command: The exact command line that makes this page.
        version: Version of the program that made it.
        extents: Length of each axis of the product, keyed by :data:`AXES`; empty where the program names no
            matrices, so that its engines over time are drawn in their place.
        letters: Notations for the switch; the first is the default.
        figures: Totals, in reading order.
        levels: From the whole product down to one operation.
        decisions: In the order in which they were taken.
        findings: Of the check; an empty tuple is an all-clear when *proved* is not empty.
        proved: What the check proved, one sentence each; lettered.
        notes: Anything the reader must know; lettered.
        terms: Parts of the total cycles.
        bound_by: Name of the term that binds, or ``""``.
        memories: Index = the ``memory`` column.
        engines: Index = the ``engine`` column.
        opcodes: Index = the ``opcode`` column.
        waits: Texts behind the ``waits`` column; lettered.
        posts: Texts behind the ``posts`` column; lettered.
        causes: Texts behind the ``cause`` column; lettered.
        tiles: :data:`pantile.view.columns.TILES`.
        operations: :data:`pantile.view.columns.OPERATIONS`.
        accesses: :data:`pantile.view.columns.ACCESSES`.
        bindings: :data:`pantile.view.columns.BINDINGS`.
        sources: Index = the ``source`` column: file and line, as messages write them.
        texts: Index = the ``text`` column: statements as their file writes them.
        residency: What memories hold, where accesses and bindings do not say it.
        window: Set where the program is longer than the page.
        orders: Orders that show findings, to be played instead of the run.
    """

    workload: str
    machine: str
    planner: str
    command: str
    version: str
    extents: Mapping[str, int]
    tiles: Table
    operations: Table
    accesses: Table
    bindings: Table
    letters: tuple[LetterSet, ...] = (CANONICAL_LETTERS,)
    figures: tuple[Figure, ...] = ()
    levels: tuple[Level, ...] = ()
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()
    proved: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    bound_by: str = ""
    memories: tuple[MemoryCard, ...] = ()
    engines: tuple[EngineCard, ...] = ()
    opcodes: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    posts: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    residency: Residency | None = None
    window: Window | None = None
    orders: tuple[PlayedOrder, ...] = ()
