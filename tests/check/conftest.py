"""Programs of the systolic family to check, and faults to plant in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pantile.program.piece import Piece
from pantile.program.program import Program
from pantile.targets.systolic.allocate import tensor_addresses
from pantile.targets.systolic.lower import lower
from pantile.tiling.onnxim import LoopCounts, parse_mapping
from pantile.tiling.plan import Plan
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, Tensor, network_of


def lower_counts(
    network: Network,
    counts: tuple[LoopCounts, LoopCounts, LoopCounts],
    *,
    side: int = 8,
    batch: int = 1,
) -> Program:
    """The program of a network's only node on one array of side x side, with elements of one byte."""
    (node,) = network.nodes
    total, outer, inner = (each.to_json() for each in counts)
    parameters = {
        "kind": "conv" if isinstance(node.computation, Convolution) else "gemm",
        "total": total,
        "outer": outer,
        "inner": inner,
        "has_bias": node.op_type == "Gemm",
        "batch": batch,
    }
    plan = Plan(planner="onnxim", semantics="faithful", parameters=parameters)
    machine: Any = SimpleNamespace(
        heights=(side,), widths=(side,), precision=1, request_bytes=32, layout="NHWC"
    )
    return lower(node, plan, network, tensor_addresses(network, 1, wrap=False), machine)


def lower_line(line: str, *, bias: bool = False, side: int = 8, batch: int = 1) -> Program:
    """The program of a product under one line of the mapping notation."""
    mapping = parse_mapping(line, semantics="faithful")
    total, shape = mapping.total, (batch,) if batch > 1 else ()
    product = Matmul(
        m=total.N, n=total.M, k=total.C, a_batch=shape, b_batch=shape, bias="default" if bias else None
    )
    counts = (total, mapping.outer, mapping.inner)
    return lower_counts(network_of(product), counts, side=side, batch=batch)


def lower_convolution(
    conv: Convolution, counts: tuple[LoopCounts, LoopCounts, LoopCounts], *, side: int = 8
) -> Program:
    node = Node(name="conv", op_type="Conv", inputs=("x", "w"), outputs=("y",), computation=conv)
    tensors = (
        Tensor("w", (conv.out_channels, conv.in_channels, *conv.kernel), "initializer"),
        Tensor("x", (conv.batch, conv.height, conv.width, conv.in_channels), "input"),
        Tensor("y", (conv.batch, conv.out_height, conv.out_width, conv.out_channels), "intermediate"),
    )
    return lower_counts(Network(name="conv", nodes=(node,), tensors=tensors), counts, side=side)


def with_piece(program: Program, place: int, piece: Piece) -> Program:
    pieces = list(program.pieces)
    pieces[place] = piece
    return replace(program, pieces=tuple(pieces))


def drop_operation(program: Program, place: int, row: int) -> Program:
    """Leave out one row of operations of a piece, with all that belongs to it."""
    piece = program.pieces[place]
    op = piece.tables["op"]["id"][row]
    column = {"op": "id", "box": "op", "access": "op", "sync": "op", "use": "op"}
    tables = {
        name: rows[rows[column[name]] != op] if name in column else rows
        for name, rows in piece.tables.items()
    }
    return with_piece(program, place, Piece(tables, piece.loops))


def with_boxes(program: Program, place: int, boxes: np.ndarray) -> Program:
    """Give a piece other boxes."""
    piece = program.pieces[place]
    return with_piece(program, place, Piece({**piece.tables, "box": boxes}, piece.loops))


def shift_tile(program: Program, place: int, axis: int, by: int) -> Program:
    """Move the boxes of all computes and stores of a piece."""
    piece = program.pieces[place]
    tables = {name: rows.copy() for name, rows in piece.tables.items()}
    boxes = tables["box"]
    boxes["lo"][:, axis] += np.where(boxes["length"][:, axis] > 0, by, 0)
    return with_piece(program, place, Piece(tables, piece.loops))


@pytest.fixture(scope="session")
def lowered() -> Callable[..., Program]:
    return lower_line


@pytest.fixture(scope="session")
def lowered_counts() -> Callable[..., Program]:
    return lower_counts


@pytest.fixture(scope="session")
def lowered_convolution() -> Callable[..., Program]:
    return lower_convolution


@pytest.fixture(scope="session")
def dropped() -> Callable[..., Program]:
    return drop_operation


@pytest.fixture(scope="session")
def shifted() -> Callable[..., Program]:
    return shift_tile


@pytest.fixture(scope="session", name="with_boxes")
def with_boxes_fixture() -> Callable[..., Program]:
    return with_boxes
