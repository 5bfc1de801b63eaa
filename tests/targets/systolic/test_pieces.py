"""Laws of the pieces of a program, unrolled: numbering, boxes, synchronisation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pantile.program.program import Program
from pantile.program.tables import Kind, Test
from pantile.targets.systolic.config import SystolicConfig
from pantile.targets.systolic.tiles import tiles_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.convolution import Convolution
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, network_of

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
Counts = tuple[LoopCounts, LoopCounts, LoopCounts]


def check_laws(program: Program, *, covers: bool) -> None:
    tables = program.tables()
    ops = tables["op"]
    # Runs of one row hold consecutive numbers: together they are 0 .. n - 1, in listing order.
    numbers = np.concatenate([np.arange(row["id"], row["id"] + row["count"]) for row in ops])
    assert numbers.tolist() == list(range(program.operations))
    assert np.array_equal(ops["id"], ops["listing_index"])
    # Tiles are numbered in creation order, and hold consecutive operations.
    for name, column in (("task", "tile"), ("task", "id"), ("thread", "task"), ("thread", "id")):
        assert tables[name][column].tolist() == list(range(program.tiles))
    assert program.tiles == len(tiles_of(program))
    assert np.all(np.diff(ops["tile"]) >= 0)
    assert np.array_equal(ops["tile"], ops["thread"])
    # Boxes lie inside the iteration space, but for surplus stages, which hold nothing.
    boxes = tables["box"]
    assert np.array_equal(boxes["op"], ops["id"])
    width = len(program.axes)
    stop = boxes["lo"][:, :width] + boxes["length"][:, :width]
    assert np.all(boxes["lo"] >= 0)
    assert np.all((stop <= program.extents) | (boxes["length"][:, :width] == 0))
    # Work is conserved.
    macs = int(ops["macs"].sum())
    assert macs == program.macs
    if covers:
        assert macs == np.prod(program.extents)
    computes = boxes[ops["kind"] == Kind.COMPUTE]
    assert int(computes["length"][:, :width].prod(axis=1).sum()) == macs
    # Every operation that posts before its start posts the opposite after its finish, moves of nothing apart.
    sync = tables["sync"]
    posts = sync[sync["test"] == Test.POST]
    sums: dict[int, int] = {}
    for op, amount in zip(posts["op"].tolist(), posts["amount"].tolist(), strict=True):
        sums[op] = sums.get(op, 0) + amount
    empty = set(ops["id"][(ops["kind"] == Kind.MOVE) & (ops["bytes"] == 0)].tolist())
    assert {op for op, total in sums.items() if total} <= empty
    # Counters stand once each, and every synchronisation names one.
    assert sorted(tables["counter"]["id"].tolist()) == list(range(len(tables["counter"])))
    assert set(sync["counter"].tolist()) <= set(tables["counter"]["id"].tolist())


@settings(deadline=None, max_examples=60)
@given(data=st.data(), side=st.sampled_from([1, 3, 4]), bias=st.booleans(), batch=st.integers(1, 2))
@pytest.mark.slow
def test_products(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    product_cuts: st.SearchStrategy[Counts],
    data: st.DataObject,
    side: int,
    bias: bool,
    batch: int,
) -> None:
    counts = data.draw(product_cuts)
    total, shape = counts[0], (batch,) if batch > 1 else ()
    product = Matmul(
        m=total.N, k=total.C, n=total.M, a_batch=shape, b_batch=shape, bias="default" if bias else None
    )
    config = config_of(core_height=side, core_width=side)
    check_laws(lowered_counts(network_of(product), counts, config, batch=batch), covers=False)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), side=st.sampled_from([1, 2, 4]))
@pytest.mark.slow
def test_convolutions(
    lowered_counts: Lowered,
    config_of: ConfigOf,
    conv_network: Callable[..., Network],
    convolution_cuts: st.SearchStrategy[tuple[Convolution, Counts]],
    data: st.DataObject,
    side: int,
) -> None:
    conv, counts = data.draw(convolution_cuts)
    config = config_of(core_height=side, core_width=side)
    check_laws(lowered_counts(conv_network(conv), counts, config, semantics="fixed"), covers=True)


def test_one_piece_per_kind_of_tile(lowered: Lowered, config_of: ConfigOf) -> None:
    # N 50 = 24 + 24 + 2, C 70 = 32 + 32 + 6, M 46 = 24 + 22: two kinds along N and M. Along C the first stage
    # begins, the second continues and the last, which is short, stores: three kinds.
    program = lowered("[T] N50 C70 M46 - [O] N3 C3 M2 - [I] N24 C32 M24", config_of())
    assert len(program.pieces) == 2 * 2 * 3
    assert [piece.count for piece in program.pieces] == [2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1]
    assert program.tiles == 18
    firsts = [tuple(loop.first for loop in piece.loops) for piece in program.pieces]
    assert firsts[:3] == [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 2)]
    assert firsts[-1] == (0, 2, 1, 2)


def test_ids_step_by_what_lies_in_between(lowered: Lowered, config_of: ConfigOf) -> None:
    # N32 C8 M8 in N tiles of 16: each has 1 weight + 2 activations, 2 computes, 2 stores: 7 operations.
    program = lowered("[T] N32 C8 M8 - [O] N2 C1 M1 - [I] N16 C8 M8", config_of())
    (piece,) = program.pieces
    steps = {loop.name: loop.ids for loop in piece.loops if loop.count > 1}
    assert steps == {"m": {"op": 7, "tile": 1, "thread": 1, "task": 1}}
    assert piece.instance((0, 1, 0, 0))["op"]["id"].tolist() == list(range(7, 14))
