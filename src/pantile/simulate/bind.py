"""Binding: which engines and links each operation of a program uses on a machine.

A move takes the links between the memories that it reads and writes, with its bytes; a compute takes an
engine, with the ticks that the engine's duration model gives its MACs; a synchronisation takes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import gt
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import PantileError, ProgramError, raise_all
from pantile.program.tables import USE, Kind
from pantile.simulate.bound import BoundProgram, Ints, Rows, place_of
from pantile.simulate.moves import move_kinds, transfers_of
from pantile.simulate.resources import Resources
from pantile.simulate.work import cycles_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.machine import Engine, Machine
    from pantile.program.program import Program
    from pantile.simulate.links import Route


def bind(program: Program, machine: Machine, *, route: Route | None = None) -> BoundProgram:
    """Return *program* with the resources that its operations use on *machine*.

    Args:
        program: A literal program whose ``parameters["spaces"]`` name its memory instances.
        machine: Its memories, engines and paths.
        route: Gives the links between two memories where the machine's paths alone do not say.

    Raises:
        ProgramError: If an operation is at a place, or takes a way, that the machine lacks; each such
            place or way once, with the line of the first operation.
    """
    binder = _Binder(program, program.tables(), Resources(machine, route))
    moves = binder.moves()
    computes = binder.computes()
    raise_all([error for _, error in sorted(binder.problems, key=lambda each: each[0])])
    use = np.concatenate([moves, computes])
    return BoundProgram(
        program=program,
        tables=binder.tables,
        machine=machine,
        resources=binder.resources.rows(),
        resource_names=binder.resources.names,
        use=use[np.argsort(use["op"], kind="stable")],
        ticks=binder.least_ticks(),
        arbiter_ticks=np.full(len(binder.tables["arbiter"]), cycles_ticks(1, machine), np.int64),
    )


@dataclass(slots=True)
class _Binder:
    program: Program
    tables: dict[str, Rows]
    resources: Resources
    problems: list[tuple[int, PantileError]] = field(default_factory=list)

    def _report(self, op: int, problem: str, mend: str | None = None) -> None:
        place = place_of(self.program, self.tables, op)
        if problem not in [error.problem for _, error in self.problems]:
            self.problems.append((op, ProgramError(problem, place=place, mend=mend)))

    def _space(self, index: int) -> str:
        spaces = self.program.parameters.get("spaces", ())
        if not 0 <= index < len(spaces):
            raise ProgramError(f"the program's parameters do not name space {index}")
        return str(spaces[index])

    def moves(self) -> Rows:
        """Rows of ``USE`` of all moves."""
        ops = self.tables["op"]
        lost = (ops["kind"] == Kind.MOVE) & (ops["bytes"] > 0)
        lost[self.tables["access"]["op"]] = False
        for op in np.flatnonzero(lost)[:1].tolist():
            self._report(op, f"a move of {ops['bytes'][op]} B accesses no memory")
        kinds = move_kinds(self.tables)
        firsts = zip(kinds.firsts.tolist(), kinds.rows.tolist(), strict=True)
        uses = [self._carried(op, self.tables["access"][slice(*rows)]) for op, rows in firsts]
        return _spread(kinds.ops, kinds.kind, uses)

    def _carried(self, op: int, access: Rows) -> list[tuple[int, int]]:
        """What the move *op* takes; nothing, and a problem, where the machine does not let it."""
        try:
            transfers = [
                (each.operand, self._space(each.source), self._space(each.target), each.bytes)
                for each in transfers_of(access)
            ]
            return self.resources.carry(transfers)
        except PantileError as error:
            self._report(op, error.problem, error.mend)
            return []

    def computes(self) -> Rows:
        """Rows of ``USE`` of all computes."""
        mine = np.flatnonzero(self.tables["op"]["kind"] == Kind.COMPUTE)
        found = [np.zeros(0, USE)]
        places = self._compute_places(mine)
        for place in np.unique(places).tolist():
            here = np.flatnonzero(places == place)
            try:
                engine, name = self.resources.engine(self._place_name(place))
                self._require_fits(engine, name)
                kinds, kind = self._kinds(mine[here])
                uses = [self._computed(engine, name, *each) for each in kinds.tolist()]
            except PantileError as error:
                self._report(int(mine[here[0]]), error.problem, error.mend)
                continue
            found.append(_spread(mine[here], kind, uses))
        return np.concatenate(found)

    def _computed(self, engine: Engine, name: str, macs: int, model: int) -> list[tuple[int, int]]:
        """What a compute of *macs* takes on the instance *name* of an engine."""
        cycles = self._cycles(model) if model > 0 else None
        if isinstance(cycles, list):
            return self.resources.run_of_array(engine, name, *cycles)
        return [(self.resources.occupied(engine, name), self.resources.ticks(engine, macs, cycles))]

    def _require_fits(self, engine: Engine, name: str) -> None:
        """Refuse an array that is larger than the machine's.

        Raises:
            ProgramError: With both sizes.
        """
        for array in self.program.parameters.get("arrays", ()):
            has = [engine.parameter(side) for side in ("rows", "columns") if engine.duration == "systolic"]
            wants = list(array["sides"].values())
            if array["engine"] == name and has and (len(wants) > 2 or any(map(gt, wants, has))):
                raise ProgramError(
                    f"the program's array of {' x '.join(map(str, wants))} units does not fit {name} of "
                    f"machine {self.resources.machine.name!r}, which has {' x '.join(map(str, has))}",
                    mend="cut the level of the array smaller",
                )

    def _compute_places(self, mine: Ints) -> Ints:
        """Where each compute happens: the name of its engine, or -2 less the space that it accumulates in."""
        engines = self.tables["op"]["engine"][mine].astype(np.int64)
        if np.all(engines >= 0):
            return engines
        access = self.tables["access"]
        last = np.searchsorted(access["op"], mine, side="right") - 1
        has = (last >= 0) & (engines < 0)
        has[has] = access["op"][last[has]] == mine[has]
        engines[has] = -2 - access["space"][last[has]]
        return engines

    def _place_name(self, place: int) -> str:
        if place == -1:
            raise ProgramError("a compute names no engine and accesses no memory")
        return self.program.text(place) if place >= 0 else self._space(-2 - place)

    def _kinds(self, ops: Ints) -> tuple[Ints, Ints]:
        """Distinct MACs and duration models of *ops*, and which each has."""
        table = self.tables["op"]
        pairs = np.stack([table["macs"][ops], table["duration_model"][ops].astype(np.int64)], axis=1)
        if np.all(pairs == pairs[0]):
            return pairs[:1], np.zeros(len(ops), np.int64)
        kinds, inverse = np.unique(pairs, axis=0, return_inverse=True)
        return kinds, inverse.ravel()

    def least_ticks(self) -> Ints:
        """Ticks of operations, other than computes, that say how many cycles they take."""
        ops = self.tables["op"]
        ticks = np.zeros(len(ops), np.int64)
        for op in np.flatnonzero((ops["duration_model"] > 0) & (ops["kind"] != Kind.COMPUTE)).tolist():
            cycles = self._cycles(int(ops["duration_model"][op]))
            assert isinstance(cycles, int)  # only arrays have two figures
            ticks[op] = cycles_ticks(cycles, self.resources.machine)
        return ticks

    def _cycles(self, model: int) -> int | list[int]:
        """Cycles of a duration model: ``parameters["durations"]`` lists them, counted from 1.

        Two figures are those of an array: after how many it takes the next run, and how many a run takes.
        """
        cycles = self.program.parameters["durations"][model - 1]
        return [int(each) for each in cycles] if isinstance(cycles, list) else int(cycles)


def _spread(ops: Ints, kind: Ints, uses: Sequence[Sequence[tuple[int, int]]]) -> Rows:
    """Rows of ``USE``: each of *ops* has the *uses* of its kind, in their order."""
    counts = np.array([len(each) for each in uses], np.int64)[kind]
    flat = np.array([use for each in uses for use in each], np.int64).reshape(-1, 2)
    starts = np.cumsum([0, *(len(each) for each in uses)])
    use = np.zeros(int(counts.sum()), USE)
    use["op"] = np.repeat(ops, counts)
    use["position"] = np.arange(len(use)) - np.repeat(np.cumsum(counts) - counts, counts)
    which = np.repeat(starts[kind], counts) + use["position"]
    use["resource"], use["amount"] = flat[which, 0], flat[which, 1]
    return use
