"""The tables of a program's page: operations in the order of a run, and the tiles of the outermost level."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.naming import Naming
from pantile.program.tables import Kind, Test
from pantile.simulate.classes import STORE
from pantile.verbs.program_run import cycles_of
from pantile.verbs.timing import cores_of_threads
from pantile.view.columns import KINDS, OPERANDS, OPERATIONS, TILES, Table, table
from pantile.view.residency import contributions

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from pantile.machine import Machine
    from pantile.program.program import Program
    from pantile.simulate.timeline import Timeline
    from pantile.tiling.tiling import Tiling
    from pantile.verbs.program_axes import Roles

    Ints = npt.NDArray[np.int64]

_KIND = {
    Kind.COMPUTE: KINDS.index("compute"),
    Kind.SYNC: KINDS.index("sync"),
    Kind.CONTROL: KINDS.index("control"),
}


class Texts:
    """Texts behind an index column, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the index of *text*; -1 where there is none."""
        return self._numbers.setdefault(text, len(self._numbers)) if text else -1

    @property
    def all(self) -> tuple[str, ...]:
        """All texts, by index."""
        return tuple(self._numbers)


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """The rows of one run's page.

    Attributes:
        timeline: The run.
        roles: Which axes and matrices are which; ``None`` where the program names none.
        machine: What it ran on.
        shown: Rows of the page; others have no texts.
        statement: What an operation is, as its file writes it, where opcode and sizes do not say it.
        sequence: Operations in another order than the run's, which then is what the rows show: without times.
        texts: Texts of the columns ``opcode``, ``waits``, ``posts``, ``source`` and ``text``.
    """

    timeline: Timeline
    roles: Roles | None
    machine: Machine
    shown: range
    statement: Callable[[int], str] = lambda _: ""
    sequence: Ints | None = None
    texts: dict[str, Texts] = field(
        default_factory=lambda: {name: Texts() for name in ("opcode", "waits", "posts", "source", "text")}
    )

    @property
    def program(self) -> Program:
        """What ran."""
        return self.timeline.bound.program

    @cached_property
    def order(self) -> Ints:
        """Numbers of all operations as they are shown: those that happened by their start, then the rest."""
        ranks = self.timeline.times["order"].astype(np.int64)
        if self.sequence is not None:
            return np.concatenate([self.sequence, np.setdiff1d(np.arange(len(ranks)), self.sequence)])
        return np.argsort(np.where(ranks < 0, len(ranks), ranks), kind="stable")

    @cached_property
    def happened(self) -> npt.NDArray[np.bool_]:
        """Whether every operation happens, by its number."""
        if self.sequence is None:
            found: npt.NDArray[np.bool_] = self.timeline.times["start"] >= 0
            return found
        return np.isin(np.arange(len(self.order)), self.sequence)

    def concerns(self, op: Ints) -> npt.NDArray[np.bool_]:
        """Whether operations happen before the rows shown end; others change nothing there."""
        concerned: npt.NDArray[np.bool_] = self.happened[op] & (self.row_of[op] < self.shown.stop)
        return concerned

    @cached_property
    def row_of(self) -> Ints:
        """Row of every operation."""
        rows = np.empty(len(self.order), np.int64)
        rows[self.order] = np.arange(len(rows))
        return rows

    @cached_property
    def boxes(self) -> dict[str, Ints]:
        """Columns of the box of every operation, by row; of size 0 where it has none."""
        if self.roles is None:
            return {f"{page}_{part}": self._none + 1 for page in "bmnk" for part in ("start", "size")}
        tables = self.timeline.bound.tables
        lo, size = np.zeros((2, len(self.order), tables["box"]["lo"].shape[-1]), np.int64)
        rows = self.row_of[tables["box"]["op"]]
        lo[rows], size[rows] = tables["box"]["lo"], tables["box"]["length"]
        boxed = np.zeros(len(self.order), bool)
        boxed[rows] = True
        columns = {}
        for page, axis in self.roles.axis.items():
            columns[f"{page}_start"] = lo[:, axis] if axis is not None else np.zeros(len(boxed), np.int64)
            columns[f"{page}_size"] = size[:, axis] if axis is not None else boxed.astype(np.int64)
        return columns

    @cached_property
    def tiles(self) -> tuple[Table, Ints]:
        """Tiles of the outermost level in the order in which they are begun, and the row of each operation's.

        An operation that lies in no single one, such as an acquire, has none: -1.
        """
        if self.roles is None:
            return table(TILES, b_index=[]), self._none
        tiling = self.roles.tiling
        cuts = {page: _edges(tiling, axis) for page, axis in self.roles.axis.items()}
        size, inside = self.boxes, self.boxes["m_size"] + self.boxes["n_size"] + self.boxes["k_size"] > 0
        index = {}
        for page, edges in cuts.items():
            start, stop = size[f"{page}_start"], size[f"{page}_start"] + size[f"{page}_size"]
            index[page] = np.searchsorted(edges, start, side="right") - 1
            inside &= stop <= edges[np.minimum(index[page] + 1, len(edges) - 1)]
        keys = np.stack([index[page] for page in "bmnk"], axis=1)
        found, first, inverse = np.unique(keys[inside], axis=0, return_index=True, return_inverse=True)
        turn = np.argsort(first, kind="stable")
        place = np.empty(len(turn), np.int64)
        place[turn] = np.arange(len(turn))
        rows = np.full(len(inside), -1, np.int64)
        rows[inside] = place[inverse.reshape(-1)]
        columns: dict[str, Ints] = {}
        for at, page in enumerate("bmnk"):
            mine, axis = found[turn, at], self.roles.axis[page]
            columns[f"{page}_index"] = mine
            columns[f"{page}_start"] = cuts[page][mine]
            columns[f"{page}_size"] = cuts[page][mine + 1] - cuts[page][mine]
            nominal = 1 if axis is None else tiling.nominal_sizes[0][axis]
            columns[f"{page}_nominal"] = np.full(len(mine), nominal)
        columns |= self._tile_times(rows, len(turn))
        return table(TILES, **columns), rows

    def _tile_times(self, rows: Ints, count: int) -> dict[str, Ints]:
        """When the first operation of each tile was begun and the last one ended; and whose core that was."""
        issue, finish, core = (np.full(count, -1, np.int64) for _ in range(3))
        threads = self.timeline.bound.tables["op"]["thread"][self.order]
        for row in np.flatnonzero(rows >= 0)[::-1].tolist():
            begun = int(self.cycles["asked"][row])
            issue[rows[row]] = begun if begun >= 0 else issue[rows[row]]
            finish[rows[row]] = max(finish[rows[row]], int(self.cycles["finish"][row]))
            core[rows[row]] = self.cores[int(threads[row])]
        return {"issue_cycle": issue, "finish_cycle": finish, "core": core}

    @cached_property
    def cycles(self) -> dict[str, Ints]:
        """Times by row in cycles, rounded up; -1 where something did not happen."""
        if self.sequence is not None:
            return dict.fromkeys(("asked", "start", "finish"), self._none)
        times = self.timeline.times[self.order]
        return {
            name: np.array(
                [-1 if at < 0 else cycles_of(at, self.machine) for at in times[name].tolist()], np.int64
            )
            for name in ("asked", "start", "finish")
        }

    @cached_property
    def cores(self) -> list[int]:
        """The machine's number of every thread's core."""
        return cores_of_threads(self.timeline)

    @cached_property
    def operations(self) -> Table:
        """Rows of ``OPERATIONS``, all of them."""
        bound, order = self.timeline.bound, self.order
        ops, times = bound.tables["op"][order], self.timeline.times[order]
        columns: dict[str, npt.ArrayLike] = dict(self.boxes)
        columns["kind"] = self._kinds(ops)
        columns["opcode"] = [
            self.texts["opcode"].number(self.program.text(at) or "?") for at in ops["opcode"].tolist()
        ]
        columns |= {"engine": ops["thread"], "tile": self.tiles[1], "operand": self._operand()}
        columns |= {"bytes": ops["bytes"], "macs": ops["macs"]}
        columns |= {
            f"{name}_cycle": self.cycles[key]
            for name, key in (("issue", "asked"), ("start", "start"), ("finish", "finish"))
        }
        timed = (times["start"] >= 0) & (self.sequence is None)
        releaser = times["releaser"].astype(np.int64)
        columns["releaser"] = np.where(timed & (releaser >= 0), self.row_of[np.maximum(releaser, 0)], -1)
        columns["cause"] = np.where(timed, times["released_by"], -1)
        columns |= self._sync_texts()
        columns |= {"listed": order, "source": self._sources(), "text": self._statements()}
        made = table(OPERATIONS, **columns)
        if self.roles is None:
            return made
        stage, stage_count = contributions(made)
        return table(OPERATIONS, **{**made.columns, "stage": stage, "stage_count": stage_count})

    def _kinds(self, ops: npt.NDArray[np.void]) -> list[int]:
        away = self.timeline.classes.move[self.order] == STORE
        moves = [KINDS.index("store" if each else "load") for each in away.tolist()]
        return [_KIND.get(kind, moves[row]) for row, kind in enumerate(ops["kind"].tolist())]

    def _operand(self) -> Ints:
        """The matrix that an operation moves, where it is a single one."""
        access = self.timeline.bound.tables["access"]
        found = np.zeros(len(self.order), np.int64)
        if self.roles is None:
            return found
        several = np.zeros(len(self.order), bool)
        names = [OPERANDS.index("none")] * len(self.program.operands)
        for name, number in zip("abc", self.roles.operands, strict=True):
            names[number] = OPERANDS.index(name)
        for op, operand in zip(access["op"].tolist(), access["operand"].tolist(), strict=True):
            row, mine = int(self.row_of[op]), names[operand]
            several[row] |= found[row] not in (0, mine)
            found[row] = mine
        found[several] = 0
        return found

    def _sync_texts(self) -> dict[str, list[int]]:
        """What every operation waits for, and what it posts, in words."""
        naming, sync = Naming(self.program), self.timeline.bound.tables["sync"]
        waits: dict[int, dict[str, None]] = {}
        posts: dict[int, dict[str, None]] = {}
        for row in sync[self._is_shown(self.row_of[sync["op"]])]:
            counter, amount = int(row["counter"]), int(row["amount"])
            if row["test"] == Test.POST:
                posts.setdefault(int(row["op"]), {})[f"{naming.counter(counter)} {amount:+d}"] = None
            else:
                waits.setdefault(int(row["op"]), {})[naming.wanted(counter)] = None
        found = {}
        for name, texts in (("waits", waits), ("posts", posts)):
            words = [", ".join(texts.get(op, ())) for op in self.order.tolist()]
            found[name] = [self.texts[name].number(plain(text)) for text in words]
        return found

    def _sources(self) -> Ints:
        naming = Naming(self.program)
        return self._texts_of("source", naming.place)

    def _statements(self) -> Ints:
        return self._texts_of("text", self.statement)

    def _texts_of(self, column: str, text: Callable[[int], str]) -> Ints:
        """Numbers of the texts of operations, by row; of rows that are not shown -1."""
        found = self._none.copy()
        for row in self.shown:
            found[row] = self.texts[column].number(text(int(self.order[row])))
        return found

    @cached_property
    def _none(self) -> Ints:
        """A column in which nothing is meant."""
        return np.full(len(self.order), -1, np.int64)

    def _is_shown(self, rows: Ints) -> npt.NDArray[np.bool_]:
        return (rows >= self.shown.start) & (rows < self.shown.stop)


def _edges(tiling: Tiling, axis: int | None) -> Ints:
    """Where the outermost level cuts an axis, from 0 to its end."""
    if axis is None:
        return np.array([0, 1])
    count = tiling.pieces(0, tiling.total)[axis]
    starts = [tiling.piece(0, axis, at)[0] for at in range(count)]
    return np.array([*starts, tiling.total[axis]], np.int64)


def plain(value: object) -> str:
    """Return a text in which no brace can be taken for a letter of the page's notation."""
    return str(value).replace("{", "(").replace("}", ")")
