"""The figures of the three small layouts: full load, block maps, and hidden pieces."""

from __future__ import annotations

from typing import Any

from pantile.conform.asw.inputs import chip_of_case, problem_of_case
from pantile.planners.asw.assignment import Grid, linear
from pantile.planners.asw.block_order import BlockOrder, diagonal_readers
from pantile.planners.asw.block_time import x_min
from pantile.planners.asw.full_load import left_full_load
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.working_set import panels_per_wave
from pantile.tiling.cut import ceil_div


def figures_of_full_load(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return whether the left operand stays in L1, by theory and by the operator's rule."""
    found = left_full_load(
        problem_of_case(inputs), chip_of_case(inputs), bias_batch=inputs.get("bias_batch", 1)
    )
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


def figures_of_mapping(inputs: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Return the order of all blocks, and who takes which when.

    Two ways of saying which core takes a block are the same where there are fewer blocks than cores.
    """
    rows, columns, cores = inputs["mCnt"], inputs["nCnt"], inputs["C"]
    grid = Grid(inputs["B"], rows, columns, cores)
    readers = diagonal_readers(cores, rows, columns)
    order = BlockOrder(
        name="swizzle",
        window=inputs["W"],
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


def figures_of_x_min(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the narrowest piece whose load is hidden, as three ways of counting have it."""
    chip = chip_of_case(inputs)
    problem = Problem(m=inputs["sM"], n=1, k=inputs["K"], element_bytes=inputs["dtype"])
    ways = {
        "published": (inputs["kL1"], chip.gm_bytes_per_second),
        "corrected_l2": (inputs["K"], chip.l2_bytes_per_second),
        "corrected_gm": (inputs["K"], chip.gm_bytes_per_second),
    }
    found = {
        name: x_min(problem, chip, inputs["sM"], depth=depth, rate=rate)
        for name, (depth, rate) in ways.items()
    }
    return {name: None if value is None else float(value) for name, value in found.items()}
