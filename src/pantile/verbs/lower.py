"""The verb ``lower``: what every core runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pantile.errors import Place, UsageError
from pantile.targets.systolic.totals import Totals, tile_kinds, totals_of
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.listing import MAX_LISTED, Listing
from pantile.verbs.programfile import refuse_programs
from pantile.verbs.result import Many, as_html
from pantile.verbs.sessions import sessions_of, single_or_many
from pantile.verbs.window import clipped, require_window
from pantile.workload.tilecall import is_tile_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.program.program import Program
    from pantile.targets.systolic.instructions import Instruction
    from pantile.tiling.plan import Note
    from pantile.verbs.arguments import MachineLike, WorkloadLike
    from pantile.verbs.families import Lowered, PlannedLayer
    from pantile.verbs.systolic import Systolic


@dataclass(frozen=True, eq=False)
class Lowering:
    """The program of one node.

    Attributes:
        session: The planned network it belongs to.
        workload: Text that names the node again.
        listing: Its instructions.
        notes: Quirks met and labels.
    """

    session: Systolic
    workload: str
    listing: Listing
    notes: tuple[Note, ...]

    @property
    def ok(self) -> bool:
        """A lowering that exists is fine."""
        return True

    @property
    def program(self) -> Program:
        """The program."""
        return self.listing.program

    @cached_property
    def totals(self) -> Totals:
        """Totals of the whole program."""
        return totals_of(self.program, self.session.config)

    @property
    def operation_count(self) -> int:
        """Operations of the program."""
        return self.program.operations

    @property
    def left_out(self) -> int:
        """Operations that :meth:`to_json` leaves out, because no window was asked for and they are many."""
        return self.listing.count if self.listing.count > MAX_LISTED else 0

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``lower --json`` prints; beyond 100 000 operations only with a window."""
        layer = self.listing.layer
        operations = None
        if not self.left_out:
            operations = [
                {"layer": layer, "tile": each.tile, "index": each.place, **each.instruction.to_json()}
                for each in self.listing
            ]
        return {
            **self.session.head("lower", self.workload, self.notes),
            "layer": layer,
            "labels": list(self.program.labels),
            "totals": self.totals.to_json(),
            "tile_kinds": tile_kinds(self.program),
            "operation_count": self.program.operations,
            "operations": operations,
        }

    def text(self) -> str:
        """Return the listing, one instruction a line.

        Raises:
            UsageError: If it has more than 100 000.
        """
        if self.left_out:
            raise UsageError(
                f"{self.left_out} operations, a listing holds at most {MAX_LISTED}",
                place=Place(self.workload),
                mend=f"add --window 0:{MAX_LISTED}, or another range of that length",
            )
        names = ",".join(name for name, _ in self.program.loops)
        lines = [f"# {self.workload}: number, tile ({names}), instruction; <- read, -> written"]
        for each in self.listing:
            where = ",".join(map(str, each.index))
            lines.append(f"{each.number:>7}  ({where})  {_instruction_text(each.instruction)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(
            [self.workload, *_totals_lines(self.totals), *(f"  note          {note}" for note in self.notes)]
        )

    def _repr_html_(self) -> str:
        return as_html(str(self))


def _totals_lines(totals: Totals) -> list[str]:
    opcodes = ", ".join(f"{count} {opcode}" for opcode, count in totals.instructions.items())
    dram = totals.bytes["dram"]
    return [
        f"  regions       {totals.regions}",
        f"  tiles         {totals.tiles}",
        f"  instructions  {opcodes}",
        f"  MACs          {totals.macs} useful, {totals.padded_macs} padded",
        f"  DRAM          {dram['read']} B read, {dram['write']} B written, "
        f"in {totals.requests['read']} + {totals.requests['write']} requests",
    ]


def _instruction_text(instruction: Instruction) -> str:
    entry, moved = f"{instruction.dest_addr:#x}", _span(instruction.src_addrs)
    requests = f"{instruction.size} requests"
    if instruction.opcode == "MOVIN":
        return f"MOVIN         {instruction.operand:<5} {entry} <- dram {moved}  {requests}"
    if instruction.opcode == "MOVOUT":
        return f"MOVOUT        {instruction.operand:<5} {entry} -> dram {moved}  {requests}"
    sizes = f"m{instruction.tile_n} n{instruction.tile_m} k{instruction.tile_k}"
    return f"{instruction.opcode:<13} c     {entry} += {moved}  {sizes}  {instruction.macs} MACs"


def _span(addresses: tuple[int, ...]) -> str:
    """Return a few addresses one by one, many by their first and last."""
    if len(addresses) <= 4:
        return ",".join(f"{address:#x}" for address in addresses)
    return f"{addresses[0]:#x}..{addresses[-1]:#x}"


def lower(
    workload: WorkloadLike,
    machine: MachineLike,
    *,
    planner: str | None = None,
    mapping: str | None = None,
    semantics: str | None = None,
    dims: Mapping[str, int] | None = None,
    core: int | None = None,
    window: range | None = None,
) -> Lowered | Many[Lowered]:
    """Return what the cores of *machine* run for *workload*, which may also be a plan file.

    Args:
        workload: As of :func:`pantile.plan`, or the path of a plan's JSON file.
        machine: As of :func:`pantile.plan`, likewise the next four.
        planner: The planner.
        mapping: An explicit mapping.
        semantics: Which reading of the planner's rules to use.
        dims: Sizes of symbolic dimensions.
        core: List the tiles of this core only.
        window: Numbers of the operations to list, in every program anew.

    Raises:
        PantileError: If the input is at fault, or there is no plan.
    """
    if is_tile_call(workload):
        from pantile.verbs.mma_tile import lower_tile_call, refuse_for_calls

        refuse_for_calls(planner=planner, mapping=mapping, dim=dims, core=core)
        return lower_tile_call(workload, machine, semantics=semantics, window=window)
    refuse_programs(workload, "lower")
    options = PlanOptions(planner=planner, mapping=mapping, semantics=semantics, dims=dims or {})
    sessions = sessions_of(workload, machine, options)
    for session in sessions:
        session.require_core(core)
    layers = sum(len(session.layers()) for session in sessions)
    outside = [note for session in sessions for note in session.outside]
    alone = tuple(outside) if layers == 1 else ()
    results = [each for session in sessions for each in session.lowerings(core, window, alone)]
    if window is not None:
        longest = max(each.operation_count for each in results)
        require_window(window, longest, most=MAX_LISTED, holder="a listing")
    return single_or_many(workload, results, outside)


def lower_layer(
    session: Systolic, layer: PlannedLayer, core: int | None, window: range | None, outside: tuple[Note, ...]
) -> Lowering:
    """Return the program of one layer on a systolic machine, to be listed."""
    program = layer.program
    listing = Listing(program, session.config, layer.layer, core, clipped(window, program.operations))
    return Lowering(session, layer.workload, listing, (*layer.notes, *outside))
