"""Machines, networks of one product, and an independent count of what a tile takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from pantile.planners.onnxim.capacity import Overflow
from pantile.tiling.onnxim import Mapping
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Node, network_of


@dataclass(frozen=True)
class Figures:
    """The planner's view of a machine; the default is golden configuration A8 without its clocks."""

    cores: int = 1
    heights: tuple[int, ...] = (8,)
    widths: tuple[int, ...] = (8,)
    scratchpad_bytes: tuple[int, ...] = (64 * 1024,)
    accumulator_bytes: tuple[int, ...] = (16 * 1024,)
    precision: int = 1
    request_bytes: int = 32


def make_figures(
    cores: int = 1,
    side: int = 8,
    spad_kib: int = 64,
    acc_kib: int = 16,
    precision: int = 1,
    request_bytes: int = 32,
    width: int | None = None,
) -> Figures:
    """Cores that are all alike."""
    return Figures(
        cores,
        (side,) * cores,
        (width or side,) * cores,
        (spad_kib * 1024,) * cores,
        (acc_kib * 1024,) * cores,
        precision,
        request_bytes,
    )


def count_requests(figures: Figures) -> Callable[[Node, Mapping], Overflow | None]:
    """Judge products of one batch tile by tile, as sections 4 and 8 of the specification count.

    Every chunk address is written down and the distinct ones are counted; written for these tests
    without a look at the planner or the target. Only the first and the last tile along N and M are
    looked at.
    """
    height, p, request = figures.heights[0], figures.precision, figures.request_bytes
    step = request // p

    @cache
    def fits(mapping: Mapping, rows_are: int, has_bias: bool) -> Overflow | None:
        total, inner, outer = mapping.total, mapping.inner, mapping.outer

        def blocks(start: int, size: int, stop: int) -> list[tuple[int, int]]:
            return [(at, min(height, stop - at)) for at in range(start, start + size, height) if at < stop]

        def chunks(first: int, rows: int, row_length: int, c0: int, c_size: int) -> int:
            at = {
                (row * row_length + c) * p // request
                for row in range(first, first + rows)
                for c in range(c0, c0 + c_size, step)
            }
            return len(at)

        for n0 in {0, (outer.N - 1) * inner.N}:
            for m0 in {0, (outer.M - 1) * inner.M}:
                n_blocks, m_blocks = blocks(n0, inner.N, total.N), blocks(m0, inner.M, total.M)
                for c0 in range(0, outer.C * inner.C, inner.C):
                    c_size = max(0, min(inner.C, total.C - c0))
                    spad = sum(chunks(m, size, total.C, c0, c_size) for m, size in m_blocks)
                    spad += sum(chunks(n, size, rows_are, c0, c_size) for n, size in n_blocks)
                    if spad * request > figures.scratchpad_bytes[0] // 2:
                        return Overflow("scratchpad", spad * request, figures.scratchpad_bytes[0] // 2)
                    taken = [
                        len(range(0, size, step)) if has_bias and n == n0 else rows
                        for m, size in m_blocks
                        for n, rows in n_blocks
                    ]
                    if sum(taken) * request > figures.accumulator_bytes[0] // 2:
                        needed = sum(taken) * request
                        return Overflow("accumulator", needed, figures.accumulator_bytes[0] // 2)
        return None

    def judge(node: Node, mapping: Mapping) -> Overflow | None:
        assert isinstance(node.computation, Matmul)
        return fits(mapping, node.computation.k, node.op_type == "Gemm")

    return judge


def one_gemm(n: int, c: int, m: int, **more: object) -> Network:
    """A network of one product, in ONNXim's order of letters."""
    return network_of(Matmul(m=n, k=c, n=m, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def figures() -> Callable[..., Figures]:
    return make_figures


@pytest.fixture(scope="session")
def requests() -> Callable[[Figures], Callable[[Node, Mapping], Overflow | None]]:
    return count_requests


@pytest.fixture(scope="session")
def gemm() -> Callable[..., Network]:
    return one_gemm
