"""A run as a trace file for ui.perfetto.dev."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import UsageError
from pantile.program.tables import ReleasedBy
from pantile.targets.systolic.instructions import tile_instructions
from pantile.targets.systolic.stream import TILE_KIND, TILE_LAYER, TILE_OP, TILE_STEP
from pantile.targets.systolic.timeline import timeline_of
from pantile.verbs.engines import ENGINES, engine_of
from pantile.view.trace import Slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from pantile.program.program import Program
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.instructions import Instruction
    from pantile.verbs.simulate import Simulation
    from pantile.verbs.systolic import Systolic

TRACED_OPERATIONS = 500_000
"""Operations that a trace holds at most."""


def require_traceable(session: Systolic) -> range:
    """Return the numbers of the operations to record for a trace of one run.

    Raises:
        UsageError: If the run is too long to trace.
    """
    operations = sum(program.operations for program in session.programs.values())
    if operations > TRACED_OPERATIONS:
        raise UsageError(
            f"a trace holds {TRACED_OPERATIONS} operations at most, the run has {operations}",
            mend="trace one node, or a smaller product",
        )
    return range(operations)


def slices_of(simulation: Simulation, core: int | None = None) -> Iterator[Slice]:
    """Yield one slice per recorded operation, in program order.

    A transfer lasts from its requests' entering the FIFO to its last response, a compute from its start
    in the array to its finish.

    Args:
        simulation: A run in which every operation was recorded.
        core: The core to draw; ``None`` draws all.
    """
    stream, result, config = simulation.stream, simulation.result, simulation.session.config
    rows = timeline_of(stream, config, result)
    programs = simulation.session.execution()
    first_kinds = _first_kinds(programs)
    for position, tile in enumerate(stream.tiles):
        program, ran_on = programs[int(tile[TILE_LAYER])], int(result.tiles["core"][position])
        if isinstance(program, int) or (core is not None and ran_on != core):
            continue
        kind = int(tile[TILE_KIND]) - first_kinds[int(tile[TILE_LAYER])]
        for number, instruction in enumerate(
            tile_instructions(program, kind, tile[TILE_STEP:], config), int(tile[TILE_OP])
        ):
            row = rows[number - result.first_operation]
            details = {"node": program.name, "tile": position, **_details(instruction, row, config)}
            yield Slice(
                core=ran_on,
                unit=ENGINES[engine_of(instruction.opcode)],
                name=f"{instruction.opcode} {instruction.operand}".strip(),
                start_ps=int(row["start"]) * config.core_ps,
                finish_ps=max(int(row["finish"]), int(row["start"])) * config.core_ps,
                details=details,
            )


def _first_kinds(programs: list[Program | int]) -> list[int]:
    """Number of the first kind of tile of every layer, among those of the whole stream."""
    counts = [0 if isinstance(program, int) else len(program.pieces) for program in programs]
    return [sum(counts[:at]) for at in range(len(counts))]


def _details(instruction: Instruction, row: np.void, config: SystolicConfig) -> dict[str, int | str]:
    moved = not instruction.compute_size
    return {
        "operation": int(row["op"]),
        "bytes": instruction.size * config.request_bytes if moved else 0,
        "macs": instruction.macs,
        "issued_cycle": int(row["issue"]),
        "released_by": ReleasedBy(int(row["released_by"])).name.lower(),
        "releaser": int(row["releaser"]),
    }
