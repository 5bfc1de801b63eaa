"""Every worked example of the document, computed: as recomputed, and as printed where that is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import isqrt, sqrt
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.asw.pipeline import figures_of_pipeline
from pantile.planners.asw.assignment import Grid, linear
from pantile.planners.asw.block_order import BlockOrder, diagonal_readers, order_over, window_of
from pantile.planners.asw.block_time import BlockTime, TimeModel, x_min
from pantile.planners.asw.candidates import candidates_of, k_step
from pantile.planners.asw.chip import Chip, ticks_of, with_symbols
from pantile.planners.asw.entry import entry_of
from pantile.planners.asw.l0_tile import base_tile, side_of
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pipeline import run_stages
from pantile.planners.asw.printed_tail import extra_seconds, most_pieces, table_answer
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.single_core import SingleCore, traffic_bytes
from pantile.planners.asw.tail_choice import tail_of
from pantile.planners.asw.working_set import panels_per_wave, readers_per_wave, wave_estimate

GOLDEN = Path(__file__).parents[2] / "golden" / "asw_theory"
FILES = (
    "constants",
    "entry",
    "base_tile",
    "single_core_tables",
    "tail_53",
    "tail_510",
    "swizzle",
    "working_set",
    "l2",
    "source_compare",
)
Figures = dict[str, Any]
CHIP = Chip()
PRINTED = with_symbols(CHIP, {"Q16": 15_200_000_000_000})
"""The chip of the examples of [5.10], which round the peak of a core to 15.2 TFLOPS."""
MIB = 1 << 20


def cases() -> list[Any]:
    return [
        pytest.param(case, id=case["case_id"])
        for name in FILES
        for case in json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    ]


def product_of(inputs: Figures, **more: Any) -> Problem:
    letters = {"B": "batch", "M": "m", "N": "n", "K": "k", "dtype": "element_bytes", "outB": "out_bytes"}
    known = {name: inputs[letter] for letter, name in letters.items() if letter in inputs}
    return Problem(**{"m": 1, "n": 1, "k": 1, **known, **more})


def constants(inputs: Figures, case: str) -> Figures:
    if case == "const-bwpc":
        return {"BW_pc": CHIP.gm_bytes_per_second / CHIP.cores}
    if case.startswith("const-q16"):
        return {"Q16_tflops": CHIP.peak_flops / CHIP.cores / 1e12}
    if case == "const-peak-conflict":
        return {"C_times_Q16_used_in_5_6_tflops": CHIP.peak_flops / 1e12}
    if case == "dvalue-threshold":
        fewest = CHIP.run_bytes // inputs["dtype"]
        return {"min_k_elems": fewest, "min_n_elems": fewest, "min_tile_bytes": CHIP.move_bytes}
    cores = inputs["C"]
    return {"W": window_of(cores), "sqrtC": sqrt(cores), "floor_sqrt": isqrt(cores)}


def entries(inputs: Figures, case: str) -> Figures:
    if case == "constraint1-equiv":
        sizes = range(1, 20)
        return {
            "equivalent": all(
                (batch * blocks >= cores) == (blocks >= -(-cores // batch))
                for batch, blocks, cores in product(sizes, sizes, sizes)
            )
        }
    problem = product_of(inputs, k=256)
    both = {}
    for name in ("published", "corrected"):
        base = base_tile(problem, CHIP, corrected=name == "corrected")
        entry = entry_of(problem, CHIP, base, corrected=name == "corrected")
        both[name] = {
            "P_par": float(entry.parallelism),
            "mode": entry.mode,
            "P_split": entry.blocks_per_batch,
            "used_cores": entry.used_cores,
        }
    if case == "two-meanings-of-P":
        entry_figures = both["corrected"]
        by_flowchart = "reduce" if entry_figures["P_split"] < CHIP.cores else "asw"
        return {
            "mode_by_7_2_stage0": by_flowchart,
            "P_par": entry_figures["P_par"],
            "P_split": entry_figures["P_split"],
            "mode_by_section_2": entry_figures["mode"],
        }
    return both


def base_tiles(inputs: Figures, case: str) -> Figures:
    single, double = CHIP.l0c_bytes // 4, CHIP.l0c_bytes // 8
    if "BaseM" in inputs or case in ("rect-512x128-idle", "min-vs-max", "base-overflow"):
        m = inputs.get("BaseM", inputs.get("baseM", 512))
        n = inputs.get("BaseN", inputs.get("baseN", 128))
        left, right = CHIP.l0a_bytes // (2 * m * 2), CHIP.l0b_bytes // (2 * n * 2)
        k = base_tile(Problem(m=m, n=n, k=4096), replace(CHIP, l0c_bytes=m * n * 4), corrected=False).k_cap
        square = base_tile(Problem(m=4096, n=4096, k=4096), CHIP, corrected=False).k_cap
        if (m, n) == (512, 128):
            k = (
                min(left, right) // 16 * 16
            )  # no problem forces this tile: the text's own example of a bad one
        used = (m * k * 2 * 2, n * k * 2 * 2)
        return {
            "lim_a": left,
            "lim_b": right,
            "baseK": k,
            "l0a_bytes": used[0],
            "l0b_bytes": used[1],
            "l0b_use": used[1] / CHIP.l0b_bytes,
            "idle_fraction": 1 - sum(used) / (CHIP.l0a_bytes + CHIP.l0b_bytes),
            "area_use": m * n / single,
            "ratio_to_rect": square / 32,
            "baseK_limited_by": "max(BaseM,BaseN)"
            if k == CHIP.l0a_bytes // (4 * max(m, n))
            else "min(BaseM,BaseN)",
            "bytes_double": m * n * 4 * 2,
            "exceeds_l0c": m * n * 4 * 2 > CHIP.l0c_bytes,
        }
    if case == "source-max-rule":
        sides = range(16, 1025, 16)
        differs = any(
            min(CHIP.l0a_bytes // (4 * m), CHIP.l0b_bytes // (4 * n)) != CHIP.l0a_bytes // 2 // 2 // max(m, n)
            for m, n in product(sides, sides)
        )
        return {"source_formula_differs": differs}
    if case == "unitflag-granule":
        return {"bytes_16x16": CHIP.grain**2 * 2}
    if "M" not in inputs:
        return {
            "double_elems": double,
            "single_elems": single,
            "double_side": isqrt(double),
            "double_side_area": isqrt(double) ** 2,
            "single_side": side_of(CHIP),
            "aligned_double_side": side_of(CHIP, buffers=2),
            "side_before": isqrt(double),
            "side_after": side_of(CHIP),
        }
    tiles = {}
    for name in ("published", "corrected"):
        tile = base_tile(product_of(inputs, k=4096), CHIP, corrected=name == "corrected")
        tiles[name] = {"BaseM": tile.m, "BaseN": tile.n, "baseK_cap": tile.k_cap}
    own = tiles["published"]
    return {**tiles, **own, "area_use_below_1": own["BaseM"] * own["BaseN"] < single}


def step_cost(problem: Problem, m: int, n: int) -> tuple[int, float]:
    """The K step of a block, and what the published objective makes of it: (1/sM + 1/sN) kL1."""
    k_l1 = k_step(problem, CHIP, m + n)
    return k_l1, (1 / m + 1 / n) * k_l1


def single_core_tables(inputs: Figures, case: str) -> Figures:
    if case == "move-size-4x4":
        return {"bytes": inputs["sM"] * inputs["kL1"] * inputs["dtype"]}
    if case == "enum-bound-4096":
        tile = base_tile(Problem(m=4096, n=4096, k=1), CHIP, corrected=True)
        return {"candidates": (inputs["M"] // tile.m) * (inputs["N"] // tile.n)}
    if case.startswith("split-table"):
        return split_table(inputs)
    problem = product_of(inputs)
    base = base_tile(problem, CHIP, corrected=False)
    entry = entry_of(problem, CHIP, base, corrected=False)
    found = candidates_of(problem, CHIP, entry, base, corrected=False)
    passing = found.passes(0)
    rows = {found.at(at)[3:]: (found.at(at), bool(passing[at])) for at in range(found.m.size)}
    chosen = {name: run_stages(problem, CHIP, name).block for name in ("published", "corrected")}
    if case == "full-example-head":
        bound = (-(-problem.m // base.m), -(-problem.n // base.n))
        l1 = CHIP.l1_bytes // (2 * problem.element_bytes)
        return {"P": entry.blocks_per_batch, "bound_m": bound[0], "bound_n": bound[1], "l1_elems": l1}
    if case == "full-example-savings":
        steps = {
            cut: step_cost(problem, 2048 // cut[0], 2048 // cut[1])[1] for cut in ((4, 4), (8, 4), (8, 8))
        }
        whole = {cut: traffic_bytes(problem, *cut) for cut in steps}
        return {
            f"saving_vs_{b}{suffix}": 1 - cost[4, 4] / cost[cut]
            for suffix, cost in (("", steps), ("_fullK", whole))
            for b, cut in (("8x4", (8, 4)), ("8x8", (8, 8)))
        }
    if case == "full-example-choice":
        block, right = chosen["published"], chosen["corrected"]
        assert block is not None
        assert right is not None
        return {
            "mCnt": block.rows,
            "nCnt": block.columns,
            "n_blk": problem.batch * block.rows * block.columns,
            "r": block.remainder,
            "corrected": [right.rows, right.columns, right.m, right.n],
        }
    if case == "full-example-enumeration-complete":
        enough = sorted(found.at(at)[3:] for at in range(found.m.size) if found.enough[at])
        return {
            "candidates_after_constraints_1_4": len(enough),
            "candidates": [list(each) for each in enough],
        }
    (m, n, k_l1, mine, columns), feasible = rows[inputs["mCnt"], inputs["nCnt"]]
    least = traffic_bytes(problem, 1, 1)
    return {
        "sM": m,
        "sN": n,
        "kL1": k_l1,
        "feasible": feasible,
        "rel_cost_published": (1 / m + 1 / n) * k_l1,
        "rel_cost_corrected": traffic_bytes(problem, mine, columns) / least * (1 / 2048 + 1 / 2048) * 1024,
    }


def split_table(inputs: Figures) -> Figures:
    """The least cost mCnt/M + nCnt/N of exactly P blocks."""
    problem = product_of(inputs, k=4096)
    fewest = -(-inputs["C"] // inputs["B"])
    costs = {
        (rows, fewest // rows): Fraction(rows, problem.m) + Fraction(fewest // rows, problem.n)
        for rows in range(1, fewest + 1)
        if fewest % rows == 0
    }
    least = min(costs.values())
    optima = [cut for cut, cost in costs.items() if cost == least]
    m, n = problem.m // optima[0][0], problem.n // optima[0][1]
    k_l1 = k_step(problem, CHIP, m + n)
    return {
        "P": fewest,
        "mCnt": optima[0][0],
        "nCnt": optima[0][1],
        "sM": m,
        "sN": n,
        "cost": float(least),
        "all_optima": [list(each) for each in optima],
        "kL1_max": k_l1,
        "feasible_under_constraints_2_3": k_l1 * 2 >= CHIP.run_bytes,
    }


def block_of(inputs: Figures, rows: int, columns: int) -> SingleCore:
    return SingleCore(
        m=inputs["sM"],
        n=inputs["sN"],
        k_l1=inputs["kL1"],
        rows=rows,
        columns=columns,
        remainder=0,
        cost=Fraction(0),
        traffic_bytes=0,
        feasible_count=1,
    )


def tail_53(inputs: Figures, case: str) -> Figures:
    if case.startswith("saving"):
        waves = inputs["n_wave"]
        parts = [inputs["s"]] if "s" in inputs else range(1, CHIP.cores + 1)
        saved = max(100 * (1 - Fraction(1, s)) / waves for s in parts)
        return {"saving_pct": float(saved), "max_pct": float(saved), "below_25": saved < 25}
    if case == "x-min-limit":
        deep = Problem(m=256, n=256, k=10**9)
        least = x_min(deep, CHIP, 256, depth=128, rate=CHIP.gm_bytes_per_second)
        assert least is not None
        return {"limit": round(float(least), 3)}
    if case == "x-min":
        problem = product_of(inputs, m=inputs["sM"], n=inputs["sN"])
        rate, depth = PRINTED.gm_bytes_per_second, inputs["kL1"]
        least = x_min(problem, PRINTED, inputs["sM"], depth=depth, rate=rate)
        exact = x_min(problem, CHIP, inputs["sM"], depth=depth, rate=rate)
        assert least is not None
        assert exact is not None
        pulled = inputs["kL1"] * 2 * inputs["Q16"]
        limit = most_pieces(problem, PRINTED, block_of(inputs, 1, 1), "compute", least)
        return {
            "x_min": float(least),
            "s_max": int(limit),
            "numerator": inputs["sM"] * pulled,
            "denominator": inputs["sM"] * pulled / float(least),
            "x_min_Q15_1875": float(exact),
        }
    if case.startswith("tail-example"):
        return tail_example(inputs, "memory" if case.endswith("memory") else "compute")
    blocks, cores = inputs["n_blk"], inputs["C"]
    remainder = blocks % cores
    s = inputs.get("s", 1)
    return {
        "n_wave": -(-blocks // cores),
        "r": remainder,
        "delta_tail_over_Tblock": float(extra_seconds("A0", Fraction(1), remainder, cores, 1)),
        "delta_tail_re_over_Tblock": float(extra_seconds("A1", Fraction(1), remainder, cores, s)),
        "T_over_Tblock": blocks / cores + float(extra_seconds("A0", Fraction(1), remainder, cores, 1)),
    }


def tail_example(inputs: Figures, bound: str) -> Figures:
    problem = Problem(m=2560, n=1024, k=inputs.get("K", 256))
    block = block_of(inputs, 10, 4)
    remainder = inputs["n_blk"] % inputs["C"]
    least = x_min(problem, PRINTED, block.m, depth=block.k_l1, rate=PRINTED.gm_bytes_per_second)
    limit = most_pieces(problem, PRINTED, block, bound, least)  # type: ignore[arg-type]
    s_star = min(inputs["C"] // remainder, int(limit))
    row = block.n * 2
    model = TimeModel(problem, ticks_of(PRINTED), None)
    whole = model.block(block.m, block.n, block.k_l1, Fraction(0))
    piece = model.block(block.m, block.n // s_star, block.k_l1, Fraction(0))
    own: Callable[[BlockTime], Fraction] = lambda t: t.load if bound == "memory" else t.compute  # noqa: E731
    return {
        "n_wave": -(-inputs["n_blk"] // inputs["C"]),
        "r": remainder,
        "s_dvalue": row // CHIP.run_bytes,
        "s_move": row * block.k_l1 // CHIP.move_bytes,
        "s_align": block.n // CHIP.grain,
        "s_star": s_star,
        "busy_cores": remainder * s_star,
        "saving_pct": float(50 * (1 - own(piece) / own(whole))),
    }


def tail_510(inputs: Figures, case: str) -> Figures:
    if case.startswith("decision-row"):
        growth, s_star, waves = Fraction(inputs["g"]), inputs["s_star"], inputs["n_wave"]
        strategy, _ = table_answer(
            inputs["bound"],
            inputs["r"],
            inputs["C"],
            s_star=s_star,
            waves=waves,
            growth=growth,
            run=Fraction(inputs["sN"] * inputs["dtype"], CHIP.run_bytes),
        )
        return {"strategy": strategy, **sides(waves, inputs["g"], s_star)}
    if case == "example-5-theory":
        return {"ideal_saving_pct": 100 * (1 - 1 / sqrt(inputs["g"]))}
    if case == "dvalue-limit-g":
        return {f"g_max_sN{n}": (n * inputs["dtype"] / CHIP.run_bytes) ** 2 for n in (256, 128)}
    if case == "kstar":
        stars = {depth: k_star(256, 256, depth) for depth in (256, 128)}
        bounds = {number: example(number)["bound"] for number in range(1, 6)}
        consistent = all((bounds[n] == "compute") == (EXAMPLES[n][2] >= stars[256]) for n in bounds)
        return {
            "K_star": stars[256],
            "K_star_kL1_128": stars[128],
            "published_examples_consistent": consistent,
        }
    one, three, four, five = (example(number) for number in (1, 3, 4, 5))
    if case == "summary-abstract":
        savings = [each["saving_B_vs_A1_pct"] for each in (one, three, five)]
        return dict(zip(("compute_pct", "mem_n2_pct", "mem_r17_pct"), savings, strict=True))
    if case == "example-1-detail":
        return {"T_ratio": one["T_MMAD_us"] / one["T_load_us"], "T_B_block": one["B_us"] / one["n_wave"]}
    if case == "example-3-detail":
        tail = (three["A1_us"] - three["A0_us"] / 2, 32 // three["r"])
        return {"inv_sqrt_g": 1 / three["sqrt_g"], "tail_piece_us": tail[0], "s_floor_C_r": tail[1]}
    if case == "example-4-detail":
        scale = four["B_us"] / four["A0_us"]
        square = 512 / four["sqrt_g"]
        return {
            "square_equiv": square,
            "inv_sqrt_g": 1 / four["sqrt_g"],
            "actual_scale": scale,
            "lhs_actual": four["n_wave"] * (1 - scale),
        }
    return example(int(case[-1]))


EXAMPLES = {
    1: (1792, 1792, 4096),
    2: (1536, 2048, 4096),
    3: (1536, 1536, 256),
    4: (2560, 2560, 256),
    5: (2304, 2304, 256),
}


def sides(waves: int, growth: float, s_star: int) -> Figures:
    return {"g": growth, "lhs": waves * (1 - 1 / sqrt(growth)), "rhs": (1 - 1 / s_star) / 2}


def k_star(m: int, n: int, depth: int) -> float:
    """The K from which a block computes longer than it loads a step of *depth*."""
    step = depth * 2 * CHIP.peak_flops / (2 * CHIP.gm_bytes_per_second)
    return step * (1 / m + 1 / n)


def example(number: int) -> Figures:
    """One example of [5.10]: tiles of 256 x 256, whatever stage 2 would choose."""
    m, n, k = EXAMPLES[number]
    problem = Problem(m=m, n=n, k=k)
    block = block_of({"sM": 256, "sN": 256, "kL1": 256}, m // 256, n // 256)
    tail = tail_of(problem, PRINTED, block, TimeModel(problem, ticks_of(PRINTED), None))
    assert tail.printed is not None
    assert tail.recut is not None
    growth, s_star = float(tail.printed.growth), tail.printed.s_star
    a1 = tail.seconds_a0 if tail.seconds_a1 is None else tail.seconds_a1
    recut = tail.recut
    perimeter = 2 * 256 * k * 2
    chosen = run_stages(problem, CHIP, "published").block
    assert chosen is not None
    comparison = sides(tail.waves, growth, s_star)
    return {
        **comparison,
        "bound": tail.time.bound,
        "decision_inputs_lhs_gt_rhs": comparison["lhs"] > comparison["rhs"],
        "mCnt": block.rows,
        "nCnt": block.columns,
        "n_blk": tail.blocks,
        "n_wave": tail.waves,
        "r": tail.remainder,
        "sqrt_g": sqrt(growth),
        "T_MMAD_us": float(tail.time.compute) * 1e6,
        "T_load_us": float(tail.time.load) * 1e6,
        "s_star": s_star,
        "A0_us": float(tail.seconds_a0) * 1e6,
        "A1_us": float(a1) * 1e6,
        "B_nblk": recut.rows * recut.columns,
        "B_mCnt": recut.rows,
        "B_nCnt": recut.columns,
        "B_sM": recut.m,
        "B_sN": recut.n,
        "B_us": float(recut.seconds) * 1e6,
        "B_dvalue": recut.n * 2,
        "saving_B_vs_A1_pct": float(100 * (1 - recut.seconds / a1)),
        "delta_A1_B_us": float(a1 - recut.seconds) * 1e6,
        "T_load_fullK_gm_us": perimeter * CHIP.cores / CHIP.gm_bytes_per_second * 1e6,
        "T_load_fullK_l2_us": perimeter * CHIP.cores / CHIP.l2_bytes_per_second * 1e6,
        "stage2_published_choice": {
            "mCnt": chosen.rows,
            "nCnt": chosen.columns,
            "sM": chosen.m,
            "sN": chosen.n,
            "kL1": chosen.k_l1,
        },
    }


def plain_order(window: int, name: str = "swizzle") -> BlockOrder:
    return BlockOrder(
        name=name,  # type: ignore[arg-type]
        window=window,
        fastest=0,
        diagonal_readers=0,
        window_readers=0,
        conflict_free=True,
    )


def swizzles(inputs: Figures, case: str) -> Figures:
    if case == "window-8x8":
        order = order_over((8, 8), "swizzle", 4)
        return {str(position): list(order.at(position)) for position in range(64)}
    if case.startswith("order"):
        order = order_over((inputs["mCnt"], inputs["nCnt"]), "swizzle", inputs["W"])
        return {"order": [list(each) for each in order]}
    if case.startswith("footprint"):
        grid = Grid(1, 8, inputs["nCnt"], inputs["C"])
        rows, columns = panels_per_wave(linear(grid, plain_order(inputs["W"], "lexicographic")))[0]
        high, wide = panels_per_wave(linear(grid, plain_order(inputs["W"])))[0]
        return {
            "row_major_m": rows,
            "row_major_n": columns,
            "window_m": high,
            "window_n": wide,
            "reduction": 1 - (high + wide) / (rows + columns),
            "row_major_panels": rows + columns,
            "window_panels": high + wide,
        }
    if case == "diagonal-4x4":
        grid = Grid(1, 4, 4, 8)
        figures: Figures = {
            f"k{core}": list(order_over((4, 4), "diagonal", 1).at(core)) for core in range(inputs["cores"])
        }
        for name, order_name in (("rowmajor", "lexicographic"), ("diag", "diagonal")):
            figures[f"conflict_{name}"] = readers_per_wave(linear(grid, plain_order(1, order_name)))
        return figures
    cores = inputs["C"]
    readers = diagonal_readers(cores, inputs["mCnt"], inputs["nCnt"])
    window = window_of(cores)
    return {
        "transConflict": readers,
        "ok": readers <= CHIP.max_readers,
        "asw_window_conflict": max(cores // window, window),
    }


def working_sets(inputs: Figures, case: str) -> Figures:
    problem = product_of(inputs, m=4096, n=4096)
    block = (inputs["sM"], inputs["sN"])
    grouped = wave_estimate(problem, inputs["C"], block, "batch_first")
    together = wave_estimate(problem, inputs["C"], block, "linear")
    cores = inputs["C"] // inputs["B"]
    return {
        "C_g": cores,
        "W_g": window_of(cores),
        "sqrt_Cg": sqrt(cores),
        "W": window_of(inputs["C"]),
        "ws_group": int(grouped),
        "ws_linear": int(together),
        "ws_group_MB": float(grouped / MIB),
        "ws_linear_MB": float(together / MIB),
        "ratio": float(grouped / together),
    }


def l2_figures(inputs: Figures, case: str) -> Figures:
    slow = replace(CHIP, peak_flops=432_000_000_000_000)
    problem = product_of(inputs, **({} if "M" in inputs else {"m": 4096, "n": 4096}))
    block = block_of({"sM": 256, "sN": 256, "kL1": 256}, problem.m // 256, problem.n // 256)
    names = ("published", "published_5_2", "corrected")
    uses = {name: l2_use(problem, CHIP, block, name) for name in names}
    use, older = uses["published"], l2_use(problem, slow, block, "published")
    if case.startswith("bw-out"):
        exceeds = older.write_out > CHIP.gm_bytes_per_second
        return {
            "bw_out": float(older.write_out),
            "exceeds_gm": exceeds,
            "bw_out_486": float(use.write_out),
        }
    figures: Figures = {"S_in_MB": problem.input_bytes / 1e6, "S_out_MB": problem.output_bytes / 1e6}
    if case == "scene-b":
        return {
            **figures,
            "T_MMAD_us": problem.flops / CHIP.peak_flops * 1e6,
            "rate_TBps": float(use.bus) / 1e12,
            "scene": use.scene,
            "bus_ok": use.bus <= CHIP.gm_bytes_per_second,
            "T_MMAD_us_432": problem.flops / slow.peak_flops * 1e6,
            "rate_432": float(older.bus) / 1e12,
        }
    right = uses["corrected"]
    assert use.reach is not None
    assert right.reach is not None
    values = {name: float(each.reread or 0) for name, each in uses.items()}
    span = use.m_group * block.m + use.n_group * block.n
    return {
        **figures,
        "D": float(use.reach),
        "m_grp": use.m_group,
        "n_grp": use.n_group,
        "ws_MiB": problem.batch * problem.k * span * 2 / MIB,
        "groups": use.groups,
        "r_in": values["published_5_2"],
        "r_in_published_formula": values["published"],
        "corrected": {"sub": right.sub, "r_in": values["corrected"], "D": int(right.reach)},
    }


def source_compare(inputs: Figures, case: str) -> Figures:
    if case == "sec68":
        problem = Problem(m=2560, n=1024, k=256)
        block = block_of({"sM": 256, "sN": 256, "kL1": 256}, 10, 4)
        tail = tail_of(problem, CHIP, block, TimeModel(problem, ticks_of(CHIP), None))
        assert tail.seconds_a1 is not None
        assert (tail.waves, tail.remainder) == (inputs["n_wave"], inputs["r"])
        return {"total_saving_pct": float(100 * (1 - tail.seconds_a1 / tail.seconds_a0))}
    if case == "sec63-recheck":
        both = ("published", "corrected")
        return {name: figures_of_pipeline({**inputs, "dtype": 2}, name)["stage2"] for name in both}  # type: ignore[arg-type]
    if case == "asw-window-len":
        return {"start": isqrt(inputs["aicNum"]), "result": window_of(inputs["aicNum"])}
    if case == "baseK-init":
        tile = base_tile(Problem(m=4096, n=4096, k=4096), CHIP, corrected=True)
        return {"baseK": tile.k_cap}
    if case == "cubebound-sign":
        factor = 1 - inputs["l2BW"] / inputs["hbmBW"]
        sign = "positive (raises edge)" if factor > 0 else "negative (lowers edge)"
        return {"term2_sign": sign, "factor": factor}
    problem = product_of(inputs)
    stages = run_stages(problem, CHIP, "published")
    block, totals, memory = stages.block, stages.totals, CHIP.gm_bytes_per_second
    assert block is not None
    assert totals is not None
    whole = k_step(problem, CHIP, problem.m + problem.n)
    depth = CHIP.run_bytes // 2
    ours, theirs = ((block.rows, block.columns), (problem.m // 256, problem.n // 256))
    traffic = [traffic_bytes(problem, *each) for each in (ours, theirs)]
    steps = [step_cost(problem, problem.m // each[0], problem.n // each[1])[1] for each in (ours, theirs)]
    blocks = [problem.batch * each[0] * each[1] for each in (ours, theirs)]
    return {
        "P": stages.entry.blocks_per_batch,
        "kL1_unsplit": whole,
        "kL1_bytes": whole * 2,
        "bytes_at_128": 2 * (problem.m + problem.n) * depth * 2,
        "sum_limit": CHIP.l1_bytes // (2 * depth * 2),
        "sM": block.m,
        "sN": block.n,
        "mCnt": block.rows,
        "nCnt": block.columns,
        "blocks": blocks[0],
        "cost": ours[0] / problem.m + ours[1] / problem.n,
        "src_mCnt": theirs[0],
        "src_blocks": blocks[1],
        "src_cost": theirs[0] / problem.m + theirs[1] / problem.n,
        "ratio": traffic[1] / traffic[0],
        "blocks_per_core": blocks[0] // CHIP.cores,
        "ratio_published_objective": steps[1] / steps[0],
        "T_MMAD_us": float(totals.compute) * 1e6,
        "l2_time_theory_us": traffic[0] / CHIP.l2_bytes_per_second * 1e6,
        "l2_time_source_us": traffic[1] / CHIP.l2_bytes_per_second * 1e6,
        "gm_time_us": problem.input_bytes / memory * 1e6,
        "T_FIX_us": float(totals.write) * 1e6,
    }


COMPUTE: dict[str, Callable[[Figures, str], Figures]] = dict(
    zip(
        FILES,
        (
            constants,
            entries,
            base_tiles,
            single_core_tables,
            tail_53,
            tail_510,
            swizzles,
            working_sets,
            l2_figures,
            source_compare,
        ),
        strict=True,
    )
)
FILE_OF = {
    case["case_id"]: name
    for name in FILES
    for case in json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["cases"]
}


def agrees(expected: Any, computed: Any, tolerance: dict[str, float]) -> bool:
    if isinstance(expected, dict):
        return all(agrees(value, computed[key], tolerance) for key, value in expected.items())
    numbers = isinstance(expected, int | float) and not isinstance(expected, bool)
    if numbers and isinstance(computed, int | float):
        return bool(
            computed == pytest.approx(expected, rel=tolerance["rel"], abs=max(tolerance["abs"], 1e-12))
        )
    return bool(expected == computed)


@pytest.mark.parametrize("case", cases())
def test_a_worked_example_comes_out(case: Figures) -> None:
    computed = COMPUTE[FILE_OF[case["case_id"]]](case["inputs"], case["case_id"])
    for key, value in case["recomputed"].items():
        assert key in computed, f"{key} is not computed"
        assert agrees(value, computed[key], case["tolerance"]), (key, value, computed[key])
    for key, value in case["published"].items():
        if case["verdict"][key] == "match":
            assert agrees(value, computed[key], case["tolerance"]), (key, value, computed[key])
        else:
            assert not agrees(value, computed[key], case["tolerance"]), f"{key} is right as printed"


def test_all_examples_are_there() -> None:
    assert len(cases()) == 134
