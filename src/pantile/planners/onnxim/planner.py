"""Plans a network as ONNXim maps it: an explicit line, else an earlier layer's result, else the mapper.

Source: onnxim-model.md section 3, onnxim-conv.md C2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pantile.errors import ManyProblems, PantileError, Place, raise_all
from pantile.planners.onnxim.capacity import BUFFERS, log_budget
from pantile.planners.onnxim.conv import automatic_convolution
from pantile.planners.onnxim.explicit import check_explicit
from pantile.planners.onnxim.fixed import Outcome, automatic_gemm, repeating_letters, too_large
from pantile.planners.onnxim.layer import Layer, check_reduction, convolution_layer, gemm_layer
from pantile.planners.onnxim.levels import order_of, tiling_of
from pantile.planners.onnxim.lines import check_lines
from pantile.planners.onnxim.stops import MapperStop
from pantile.planners.onnxim.table import Entry, MappingTable
from pantile.planners.onnxim.terms import predicted_terms
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import format_mapping
from pantile.tiling.plan import NodePlan, Plan
from pantile.workload.convolution import Convolution

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.onnxim.capacity import Overflow, SystolicFigures
    from pantile.planners.onnxim.table import Source
    from pantile.tiling.onnxim import LoopCounts, Mapping, Semantics
    from pantile.tiling.plan import Note
    from pantile.workload.network import Network, Node

    Fits = Callable[[Node, Mapping], Overflow | None]

PLANNER = "onnxim"


def plan_network(
    network: Network,
    config: SystolicFigures,
    *,
    mapping_file: tuple[Mapping, ...] | None = None,
    semantics: Semantics = "fixed",
    fits: Fits,
) -> tuple[NodePlan, ...]:
    """Return one plan per node, in file order.

    One mapping table serves the whole network, so that layers of equal counts share a mapping.

    Args:
        network: What is computed.
        config: The machine's figures; tiles are cut for core 0's array and memories.
        mapping_file: Explicit mappings, in file order.
        semantics: ``fixed`` or ``faithful``.
        fits: Judges a tile of a mapping for a node exactly, in whole requests.

    Raises:
        MappingError: If an explicit mapping loses or repeats work or does not fit, or the automatic
            mapper does not come through; all problems of all nodes together.
        WorkloadError: If a node's sizes are outside the limits.
    """
    _check_precision(config)
    lines = mapping_file or ()
    session = _Session(network, config, MappingTable(lines), semantics, fits)
    plans: list[NodePlan] = []
    problems: list[PantileError] = []
    for node in network.nodes:
        try:
            plans.append(_plan_node(session, node))
        except PantileError as problem:
            said = {str(each) for each in problems}  # one line of a file may serve many nodes
            problems += [each for each in _placed(problem, network, node) if str(each) not in said]
    unused, notes = check_lines(lines, session.table, session.totals, semantics)
    raise_all([*problems, *unused])
    return _with_notes(plans, notes)


@dataclass(frozen=True)
class _Session:
    """What planning one network holds on to; table and totals fill up on the way."""

    network: Network
    config: SystolicFigures
    table: MappingTable
    semantics: Semantics
    fits: Fits
    totals: dict[str, LoopCounts] = field(default_factory=dict)


def _check_precision(config: SystolicFigures) -> None:
    if config.precision > config.request_bytes:
        raise MapperStop(
            "Q22",
            f"an element of {config.precision} B is larger than a memory request of {config.request_bytes} B",
            refused=True,
            mend="raise dram_req_size, or lower precision",
        )


def _placed(problem: PantileError, network: Network, node: Node) -> tuple[PantileError, ...]:
    """Return the problems of one node; those without a place of their own get the node's."""
    problems = problem.problems if isinstance(problem, ManyProblems) else (problem,)
    source = network.source or network.name
    for each in problems:
        each.place = each.place or Place(source if len(network.nodes) == 1 else f"{source}#{node.name}")
    return tuple(problems)


def _with_notes(plans: list[NodePlan], notes: list[Note]) -> tuple[NodePlan, ...]:
    """Add notes about the whole mapping file to the first plan."""
    for at, each in enumerate(plans):
        if notes and each.plan is not None:
            plan = replace(each.plan, notes=(*each.plan.notes, *notes))
            return (*plans[:at], replace(each, plan=plan), *plans[at + 1 :])
    return tuple(plans)


def _plan_node(session: _Session, node: Node) -> NodePlan:
    log = DecisionLog()
    computation = node.computation
    if computation is None or node.outside:
        return NodePlan(node, None, node.outside or f"{node.op_type} is outside the model")
    if isinstance(computation, Convolution):
        if computation.groups != 1:
            reason = f"a convolution of {computation.groups} groups, on which ONNXim stops (onnxim-conv C7)"
            return NodePlan(node, None, reason)
        layer = convolution_layer(computation, log)
    else:
        layer = gemm_layer(node, session.network, session.semantics, log)
    session.totals[node.name] = layer.total
    total = layer.total
    if (total.Q != total.P or total.S != total.R) and session.table.lookup(total) is None:
        reason = (
            f"no automatic mapping for an output of {total.Q}x{total.P}, kernel {total.S}x{total.R}: "
            "both must be square, or an explicit mapping given (CV4)"
        )
        return NodePlan(node, None, reason)
    figures = (session.config.heights, session.config.widths, session.config.scratchpad_bytes)
    if any(len(set(each)) > 1 for each in (*figures, session.config.accumulator_bytes)):
        log.note("Q10", "cores differ: tiles are cut for core 0 and placed on all cores")
    outcome, source = _choose(session, node, layer, log)
    return NodePlan(node, _plan_of(session, layer, outcome, source, log))


def _choose(session: _Session, node: Node, layer: Layer, log: DecisionLog) -> tuple[Outcome, Source]:
    """Return the mapping by the original's order: explicit line, earlier result, automatic mapper."""
    entry = session.table.lookup(layer.total)
    if entry is not None:
        if entry.source == "explicit":
            _check_explicit_entry(session, node, layer, entry, log)
            return Outcome(entry.mapping), "explicit"
        if _reusable(session, node, layer, entry, log):
            return Outcome(entry.mapping), "table"
    _log_lookup("automatic", layer, log)
    noted = len(log.notes)
    fits = partial(session.fits, node)
    computation, config, semantics = node.computation, session.config, session.semantics
    if isinstance(computation, Convolution):
        outcome = automatic_convolution(layer.total, computation, config, fits, log, semantics)
        window = (computation.strides[0], computation.pads[0])
        if outcome.mapping is not None and semantics == "faithful" and outcome.mapping.inner.C == 1:
            raise MapperStop("CV5", "inner C = 1 aborts ONNXim")
    else:
        outcome, window = automatic_gemm(layer.total, config, fits, log, semantics), (1, 1)
    if outcome.mapping is not None:
        check_reduction(layer, outcome.mapping, config.request_bytes // config.precision)
        notes = tuple(log.notes[noted:])
        session.table.store(Entry(outcome.mapping, "table", node.name, window, notes))
    return outcome, "automatic"


def _check_explicit_entry(
    session: _Session, node: Node, layer: Layer, entry: Entry, log: DecisionLog
) -> None:
    """Check an explicit line for one node.

    Raises:
        MappingError: If it loses or repeats work, hangs the original or does not fit.
    """
    mapping, config = entry.mapping, session.config
    _log_lookup("explicit", layer, log, f"automatic mapper: {mapping.place or 'a line'} has these totals")
    if mapping.place and not mapping.text.strip():
        log.note("Q16", f"{mapping.place} is blank, which ONNXim reads as this mapping")
    check_explicit(mapping, layer, config, session.semantics, log)
    check_reduction(layer, mapping, config.request_bytes // config.precision)
    overflow = session.fits(node, mapping)
    if overflow is not None:
        raise too_large(mapping, overflow, mend="raise the counts of [O] and lower those of [I]")


def _reusable(session: _Session, node: Node, layer: Layer, entry: Entry, log: DecisionLog) -> bool:
    """Whether an earlier layer's mapping serves this one too; under ``fixed`` it must also be right.

    Raises:
        MappingError: Under ``faithful``, if it is too large for a product.
    """
    is_gemm = layer.kind == "gemm"
    overflow = session.fits(node, entry.mapping)
    if overflow is not None and is_gemm and session.semantics == "faithful":
        raise too_large(entry.mapping, overflow, mend="use --semantics fixed, or give an explicit mapping")
    repeats = is_gemm and repeating_letters(entry.mapping, session.config.heights[0])
    if overflow is not None or (repeats and session.semantics == "fixed"):
        return False
    check_reduction(layer, entry.mapping, session.config.request_bytes // session.config.precision)
    _log_lookup("table", layer, log, f"automatic mapper: layer {entry.owner!r} has the same counts")
    for note in entry.notes:
        log.note(note.code, note.text)
    computation = node.computation
    if isinstance(computation, Convolution) and entry.window != (computation.strides[0], computation.pads[0]):
        stride, padding = entry.window
        log.note("CV9", f"the mapping is that of {entry.owner!r} with stride {stride} and padding {padding}")
    return True


def _log_lookup(source: Source, layer: Layer, log: DecisionLog, *rejected: str) -> None:
    log.stage = "lookup"
    order = "an explicit line, else an earlier layer of the same counts, else the automatic mapper"
    log.add("source", source, order, {"key": str(layer.total)}, rejected=rejected)


def _plan_of(session: _Session, layer: Layer, outcome: Outcome, source: Source, log: DecisionLog) -> Plan:
    config, mapping = session.config, outcome.mapping
    parameters: dict[str, Any] = {
        "kind": layer.kind,
        "source": source,
        "total": layer.total.to_json(),
        "has_bias": layer.has_bias,
        "batch": layer.batch,
    }
    if mapping is None:
        return Plan(
            planner=PLANNER,
            semantics=session.semantics,
            feasible=False,
            reason=f"no mapping fits: for the smallest tile {outcome.overflow}",
            parameters=parameters,
            decisions=tuple(log.decisions),
            notes=tuple(log.notes),
        )
    if layer.kind == "gemm":
        log_budget(mapping, config, log)
    log.stage = "budget"
    granule = {"request_bytes": config.request_bytes}
    log.add("requests", True, "the entries of a tile, in whole requests, fit a half of their memory", granule)
    parameters["mapping"] = format_mapping(mapping)
    parameters["outer"] = mapping.outer.to_json()
    parameters["inner"] = mapping.inner.to_json()
    return Plan(
        planner=PLANNER,
        semantics=session.semantics,
        tiling=tiling_of(layer, mapping, config),
        order=order_of(layer),
        cores=_placement(layer, config.cores),
        buffering={"scratchpad": BUFFERS, "accumulator": BUFFERS},
        parameters=parameters,
        predicted=dict(predicted_terms(layer, mapping, config)),
        decisions=tuple(log.decisions),
        notes=tuple(log.notes),
    )


def _placement(layer: Layer, cores: int) -> str:
    """Say in words which core takes which tile."""
    if cores == 1:
        return "all tiles on core 0"
    stages = "k" if layer.kind == "gemm" else "s, r and c"
    return (
        f"regions in order of creation on {cores} cores in turn, shifted by one core per layer; "
        f"all {stages} tiles of a region on one core"
    )
