"""The figures of the three small layouts: full load, block maps, and hidden pieces."""

from __future__ import annotations

from typing import Any

from pantile.conform.asw.inputs import BlockMapInput, PieceInput, ProductInput
from pantile.conform.case_inputs import read_inputs
from pantile.conform.compare import Difference
from pantile.conform.faults import WrongInput
from pantile.planners.asw.assignment import Grid, linear
from pantile.planners.asw.block_order import BlockOrder, diagonal_readers
from pantile.planners.asw.block_time import x_min
from pantile.planners.asw.full_load import left_full_load
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.working_set import panels_per_wave
from pantile.tiling.cut import ceil_div


def figures_of_full_load(inputs: Any) -> dict[str, Any]:
    """Return whether the left operand stays in L1, by theory and by the operator's rule."""
    read = read_inputs(inputs, ProductInput, "inputs")
    found = left_full_load(read.problem, read.chip, bias_batch=read.bias_batch)
    return {
        "theory": found.by_theory,
        "detail": {
            "batch_ok": found.batch_ok,
            "m_ok": found.side_ok,
            "l1_ok": found.l1_ok,
            "loops": found.rounds,
            "loops_ok": found.rounds_ok,
        },
        "source_rule": found.by_source,
    }


def figures_of_mapping(inputs: Any, expected: dict[str, Any]) -> dict[str, Any]:
    """Return the order of all blocks, and who takes which when.

    Two ways of saying which core takes a block are the same where there are fewer blocks than cores.

    Raises:
        WrongInput: If there are not as many blocks as are expected; they are not counted out one by one.
    """
    read = read_inputs(inputs, BlockMapInput, "inputs")
    rows, columns, cores = read.mCnt, read.nCnt, read.C
    grid = Grid(read.B, rows, columns, cores)
    listed = expected["order_swizzle"]
    if not isinstance(listed, list) or len(listed) != grid.blocks:
        got = f"{len(listed)} entries" if isinstance(listed, list) else listed
        raise WrongInput(Difference("expected.order_swizzle", got, f"{grid.blocks} entries"))
    readers = diagonal_readers(cores, rows, columns)
    order = BlockOrder(
        name="swizzle",
        window=read.W,
        fastest=0,
        diagonal_readers=readers,
        window_readers=0,
        conflict_free=True,
    )
    blocks = list(linear(grid, order))
    moduli = {cores, grid.used_cores}
    return {
        "order_swizzle": [[each.batch, each.row, each.column] for each in blocks],
        "core_of_index": _either("i mod", moduli, expected.get("core_of_index")),
        "wave_of_index": _either("i div", moduli, expected.get("wave_of_index")),
        "n_wave": ceil_div(grid.blocks, cores),
        "r": grid.blocks % cores,
        "panels_per_wave": [list(each) for each in panels_per_wave(blocks)],
    }


def _either(operation: str, moduli: set[int], expected: Any) -> str:
    texts = [f"{operation} {modulus}" for modulus in sorted(moduli, reverse=True)]
    return expected if expected in texts else texts[0]


def figures_of_x_min(inputs: Any) -> dict[str, Any]:
    """Return the narrowest piece whose load is hidden, as three ways of counting have it."""
    read = read_inputs(inputs, PieceInput, "inputs")
    chip = read.chip
    problem = Problem(m=read.sM, n=1, k=read.K, element_bytes=read.dtype)
    ways = {
        "published": (read.kL1, chip.gm_bytes_per_second),
        "corrected_l2": (read.K, chip.l2_bytes_per_second),
        "corrected_gm": (read.K, chip.gm_bytes_per_second),
    }
    found = {
        name: x_min(problem, chip, read.sM, depth=depth, rate=rate) for name, (depth, rate) in ways.items()
    }
    return {name: None if value is None else float(value) for name, value in found.items()}
