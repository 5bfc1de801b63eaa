"""From a plan to a program: tiles and instructions on a systolic NPU.

Source: onnxim-model.md section 4, onnxim-conv.md C3 and C4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import OutsideModelError
from pantile.program.program import Program
from pantile.targets.systolic.blocks import require_blocks_fit
from pantile.targets.systolic.convolution import REDUCTIONS, convolution_loops, convolution_pieces
from pantile.targets.systolic.gemm import gemm_loops, gemm_pieces
from pantile.targets.systolic.operands import (
    CONVOLUTION_AXES,
    GEMM_AXES,
    convolution_operands,
    gemm_operands,
)
from pantile.targets.systolic.rows import NAMES
from pantile.workload.convolution import Convolution

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Operand
    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.pieces import LoopSpec
    from pantile.tiling.plan import Plan
    from pantile.workload.network import Network, Node

FAMILY = "systolic"
_CANONICAL = {"N": "m", "C": "k", "M": "n"}


def lower(
    node: Node, plan: Plan, network: Network, addresses: dict[str, int], config: SystolicConfig
) -> Program:
    """Return what the cores run for one planned node.

    Args:
        node: A node of *network* that has a computation.
        plan: A feasible plan for it; its parameters hold the loop counts in ONNXim's letters.
        network: Declares the tensors.
        addresses: Address of every tensor.
        config: The machine.

    Raises:
        OutsideModelError: If the computation is grouped; under ``fixed`` semantics, if an array is smaller
            than the blocks.
    """
    counts = [plan.parameters[each] for each in ("total", "outer", "inner")]
    build = _convolution if plan.parameters["kind"] == "conv" else _product
    program = build(node, plan, network, addresses, config, counts)
    if plan.semantics == "fixed":
        require_blocks_fit(program, config)
    return program


def _product(
    node: Node,
    plan: Plan,
    network: Network,
    addresses: dict[str, int],
    config: SystolicConfig,
    counts: list[dict[str, int]],
) -> Program:
    total, outer, inner = ({_CANONICAL[at]: each[at] for at in _CANONICAL} for each in counts)
    side, width, batch = config.heights[0], config.precision, plan.parameters["batch"]
    operands = gemm_operands(
        node,
        network,
        addresses,
        total,
        batch=batch,
        has_bias=plan.parameters["has_bias"],
        element_bytes=width,
    )
    loops = gemm_loops(total, outer, inner, batch=batch, side=side)
    pieces = gemm_pieces(loops, inner, operands, side=side, element_bytes=width)
    extents = {"b": batch, **total}
    return _program(node, plan, GEMM_AXES, extents, loops, ("k",), operands, pieces)


def _convolution(
    node: Node,
    plan: Plan,
    network: Network,
    addresses: dict[str, int],
    config: SystolicConfig,
    counts: list[dict[str, int]],
) -> Program:
    conv = node.computation
    assert isinstance(conv, Convolution)
    if conv.groups != 1:
        raise OutsideModelError(f"{node.name}: {conv.groups} groups; the systolic model has groups of 1 only")
    total, outer, inner = ({letter.lower(): count for letter, count in each.items()} for each in counts)
    operands = convolution_operands(
        node,
        network,
        addresses,
        element_bytes=config.precision,
        channels_last=config.layout != "NCHW",
    )
    loops = convolution_loops(conv, total, outer, inner)
    pieces = convolution_pieces(
        conv,
        loops,
        inner,
        operands,
        width=config.widths[0],
        element_bytes=config.precision,
        request_bytes=config.request_bytes,
    )
    return _program(node, plan, CONVOLUTION_AXES, total, loops, REDUCTIONS, operands, pieces)


def _program(
    node: Node,
    plan: Plan,
    axes: tuple[str, ...],
    extents: dict[str, int],
    loops: tuple[LoopSpec, ...],
    reductions: tuple[str, ...],
    operands: tuple[Operand, ...],
    pieces: tuple[Piece, ...],
) -> Program:
    return Program(
        name=node.name,
        family=FAMILY,
        semantics=plan.semantics,
        axes=axes,
        extents=tuple(extents[axis] for axis in axes),
        loops=tuple((loop.name, loop.count) for loop in loops),
        reductions=reductions,
        names=NAMES,
        operands=operands,
        pieces=pieces,
        labels=tuple(note.text for note in plan.notes if note.code == "model"),
        parameters=plan.parameters,
    )
