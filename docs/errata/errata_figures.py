"""The figures of docs/errata-asw.md, each computed by the package.

Every function computes what one erratum shows; its docstring says on what. Random products are seeded, so that
a page that is built twice is the same.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt, sqrt
from random import Random
from typing import Any

from pantile.machine import load_machine
from pantile.planners.asw.assignment import ASSIGNMENTS, Grid, batches_at_once, group_cores, linear, placed
from pantile.planners.asw.block_order import BlockOrder, diagonal_readers, window_of
from pantile.planners.asw.block_time import BlockTime, TimeModel, x_min
from pantile.planners.asw.cache_model import cache_traffic
from pantile.planners.asw.candidates import candidates_of, k_step
from pantile.planners.asw.chip import Chip, ticks_of, with_symbols
from pantile.planners.asw.entry import entry_of
from pantile.planners.asw.full_load import left_full_load
from pantile.planners.asw.l0_tile import base_tile, side_of
from pantile.planners.asw.l2 import l2_use
from pantile.planners.asw.pipeline import run_stages
from pantile.planners.asw.printed_tail import extra_seconds, most_pieces, table_answer
from pantile.planners.asw.problem import Problem
from pantile.planners.asw.recut import recuts
from pantile.planners.asw.reduction import reduce_cores
from pantile.planners.asw.single_core import SingleCore, traffic_bytes
from pantile.planners.asw.tail import Tail
from pantile.planners.asw.tail_choice import tail_of
from pantile.planners.asw.working_set import panels_per_wave, wave_estimate
from pantile.planners.cann.planner import plan_matmul
from pantile.planners.cann.platform import platform_of
from pantile.workload.text import parse_workload

Figures = dict[str, Any]

CHIP = Chip()
SLOW = replace(CHIP, peak_flops=432_000_000_000_000)
ROUNDED = with_symbols(CHIP, {"Q16": 15_200_000_000_000})
"""The chip of the document's examples, which round the peak of a core to 15.2 TFLOPS."""
TYPICAL = (256, 384, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096)
US = 10**6


def block(m: int, n: int, k_l1: int, rows: int, columns: int) -> SingleCore:
    """A block as stage 2 would return it, for stages that are looked at alone."""
    nothing = {"remainder": 0, "cost": Fraction(0), "traffic_bytes": 0, "feasible_count": 1}
    return SingleCore(m=m, n=n, k_l1=k_l1, rows=rows, columns=columns, **nothing)


def tail(problem: Problem, chip: Chip, *, two_level: bool = False, size: int = 256) -> Tail:
    """Stage 4 from square blocks of *size*, whatever stage 2 would choose."""
    rows, columns = -(-problem.m // size), -(-problem.n // size)
    delivered = Fraction(problem.input_bytes) if two_level else None
    model = TimeModel(problem, ticks_of(chip), delivered)
    return tail_of(problem, chip, block(size, size, k_step(problem, chip, 2 * size), rows, columns), model)


def us(seconds: Fraction | None) -> float:
    """Microseconds."""
    assert seconds is not None
    return float(seconds * US)


def plain_order(name: str, window: int) -> BlockOrder:
    """An order of blocks without the figures of a chip."""
    counts = {"fastest": 0, "diagonal_readers": 0, "window_readers": 0}
    return BlockOrder(name=name, window=window, conflict_free=True, **counts)  # type: ignore[arg-type]


def random_products(count: int, seed: int, low: int, high: int, k: tuple[int, ...]) -> list[Problem]:
    """Products of any whole sizes within bounds that fill the cores."""
    random = Random(seed)
    found: list[Problem] = []
    while len(found) < count:
        problem = Problem(
            batch=random.randint(1, 64),
            m=random.randint(low, high),
            n=random.randint(low, high),
            k=random.choice(k),
        )
        if problem.batch * problem.m * problem.n * 4 >= CHIP.cores * CHIP.l0c_bytes:
            found.append(problem)
    return found


def typical_products() -> list[Problem]:
    """Typical sizes squared, three depths and three batches, where they fill the cores."""
    return [
        Problem(batch=batch, m=m, n=n, k=k)
        for batch in (1, 8, 32)
        for k in (256, 1024, 4096)
        for m in TYPICAL
        for n in TYPICAL
        if batch * m * n * 4 >= CHIP.cores * CHIP.l0c_bytes
    ]


def peaks() -> Figures:
    """What 432 and 486 TFLOPS make of the figures of [5.6]."""
    scene = Problem(batch=8, m=4096, n=4096, k=512)
    cut = block(256, 256, 256, 16, 16)
    found: Figures = {}
    for name, chip in (("old", SLOW), ("new", CHIP)):
        for k in (512, 256):
            use = l2_use(replace(scene, k=k), chip, cut, "published")
            found[f"out{k}_{name}"] = float(use.write_out) / 1e9
        found[f"mmad_{name}"] = scene.flops / chip.peak_flops * US
        found[f"bus_{name}"] = float(l2_use(scene, chip, cut, "published").bus) / 1e12
    return found


def units() -> Figures:
    """Capacities and sizes in both units."""
    scene = Problem(batch=8, m=4096, n=4096, k=512)
    return {
        "q16": CHIP.peak_flops / CHIP.cores / 1e12,
        "l2": CHIP.l2_bytes,
        "mb": scene.input_bytes / 1e6,
        "mib": scene.input_bytes >> 20,
        "share": CHIP.gm_bytes_per_second / CHIP.cores / 1e9,
        "out_mb": scene.output_bytes / 1e6,
        "fix": scene.output_bytes / CHIP.gm_bytes_per_second * US,
        "l0c": CHIP.grain**2 * 4,
        "out": CHIP.grain**2 * 2,
    }


def write_rate() -> dict[str, Any]:
    """E-40."""
    problem = Problem(batch=8, m=2048, n=2048, k=1024)
    totals = run_stages(problem, CHIP).totals
    assert totals is not None
    written = problem.output_bytes
    return {
        "written": written,
        "write": float(totals.write) * 1e6,
        "rate": written / float(totals.write) / 1e12,
    }


def two_meanings() -> Figures:
    """8 x 2048 x 2048, and 64 x 32 x 32."""
    wide, small = Problem(batch=8, m=2048, n=2048, k=1024), Problem(batch=64, m=32, n=32, k=256)
    found: Figures = {}
    for name, problem in (("wide", wide), ("small", small)):
        for reading in ("published", "corrected"):
            base = base_tile(problem, CHIP, corrected=reading == "corrected")
            entry = entry_of(problem, CHIP, base, corrected=reading == "corrected")
            found[f"{name}_filled"] = float(entry.parallelism)
            found[f"{name}_split"] = entry.blocks_per_batch
            found[f"{name}_{reading}"] = entry.used_cores
    return found


def reduction() -> Figures:
    """31 x 64 x 32 x 256 on the published number of cores and on one for each batch, published loads."""
    problem = Problem(batch=31, m=64, n=32, k=256)
    base = base_tile(problem, CHIP, corrected=False)
    entry = entry_of(problem, CHIP, base, corrected=False)
    few = reduce_cores(problem, CHIP, entry, base, corrected=False)
    all_cores = reduce_cores(problem, CHIP, replace(entry, used_cores=31), base, corrected=False)
    assert few is not None
    assert all_cores is not None
    return {
        "few": us(few.total - few.drain),
        "many": us(all_cores.total - all_cores.drain),
        "cores": few.cores,
    }


def tie_on_bounds() -> Figures:
    """A block whose computing and loading take equally long."""
    time = BlockTime(Fraction(1), Fraction(1), Fraction(0))
    return {"bound": time.bound}


def l0_sides() -> Figures:
    """Sides of squares that L0C holds, and the tile that the text calls a bad one."""
    area = CHIP.l0c_bytes // 4
    sides = range(16, 1025, 16)
    same = all(
        min(CHIP.l0a_bytes // (4 * m), CHIP.l0b_bytes // (4 * n)) == CHIP.l0a_bytes // 4 // max(m, n)
        for m in sides
        for n in sides
    )
    k = min(CHIP.l0a_bytes // (4 * 512), CHIP.l0b_bytes // (4 * 128)) // 16 * 16
    used = (512 + 128) * k * 4
    narrow = base_tile(Problem(m=128, n=4096, k=256), CHIP, corrected=False)
    rounding = [base_tile(Problem(m=100, n=4096, k=256), CHIP, corrected=each).m for each in (False, True)]
    return {
        "double": isqrt(area // 2),
        "aligned": side_of(CHIP, buffers=2),
        "single": side_of(CHIP),
        "big": 362 * 362 * 4 // 1024,
        "k": k,
        "limit": "max" if k == CHIP.l0a_bytes // 4 // 512 else "min",
        "same": "equal" if same else "different",
        "idle": 100 * (1 - used / (CHIP.l0a_bytes + CHIP.l0b_bytes)),
        "full": 100 * narrow.m * narrow.n / area,
        "tile": f"{narrow.m} x {narrow.n}",
        "down": rounding[0],
        "up": rounding[1],
        "left": 100 - rounding[0],
    }


def full_example() -> Figures:
    """[5.2]'s 8 x 2048 x 2048 x 1024: its candidates, and what the objective makes of three of them."""
    problem = Problem(batch=8, m=2048, n=2048, k=1024)
    base = base_tile(problem, CHIP, corrected=False)
    entry = entry_of(problem, CHIP, base, corrected=False)
    found = candidates_of(problem, CHIP, entry, base, corrected=False)
    cuts = ((4, 4), (8, 4), (8, 8))
    step = [
        (1 / (2048 // m) + 1 / (2048 // n)) * k_step(problem, CHIP, 2048 // m + 2048 // n) for m, n in cuts
    ]
    whole = [traffic_bytes(problem, *cut) for cut in cuts]
    chosen = {name: run_stages(problem, CHIP, name).block for name in ("published", "corrected")}  # type: ignore[arg-type]
    printed, right = chosen["published"], chosen["corrected"]
    assert printed is not None
    assert right is not None
    return {
        "enough": int(found.enough.sum()),
        "pass": int(found.passes(0).sum()),
        "printed_us": us(printed.cost),
        "whole_us": us(right.cost),
        "step84": 100 * (1 - step[0] / step[1]),
        "step88": 100 * (1 - step[0] / step[2]),
        "whole84": 100 * (1 - whole[0] / whole[1]),
        "whole88": 100 * (1 - whole[0] / whole[2]),
        "blocks": printed.rows * printed.columns,
        "least": entry.blocks_per_batch,
    }


def objective() -> Figures:
    """Both objectives on the same aligned candidates, over typical products."""
    worse, most, total = 0, 0.0, 0
    for problem in typical_products():
        base = base_tile(problem, CHIP, corrected=True)
        entry = entry_of(problem, CHIP, base, corrected=True)
        found = candidates_of(problem, CHIP, entry, base, corrected=True)
        at = found.passes(0).nonzero()[0]
        if not at.size:
            continue
        m, n, k = (column[at].astype(float) for column in (found.m, found.n, found.k_l1))
        step = (m + n) * k / (m * n)
        traffic = found.columns[at] * problem.m + found.rows[at] * problem.n
        printed = int(traffic[step <= step.min() * (1 + 1e-12)].min())
        total += 1
        if printed > traffic.min():
            worse += 1
            most = max(most, 100 * (printed / int(traffic.min()) - 1))
    return {"worse": worse, "total": total, "most": most}


def loads() -> Figures:
    """What a block of 256 and one of 512 load with all of k, against what they compute."""
    problem = Problem(m=4096, n=4096, k=4096)
    found: Figures = {}
    for size in (256, 512):
        compute = 2 * size * size * problem.k * ROUNDED.cores / ROUNDED.peak_flops
        bytes_ = 2 * size * problem.k * 2
        found[f"gm{size}"] = bytes_ * CHIP.cores / CHIP.gm_bytes_per_second / compute
        if size == 256:
            found["l2_us"] = bytes_ * CHIP.cores / CHIP.l2_bytes_per_second * US
            found["compute_us"] = compute * US
    found["edge"] = CHIP.peak_flops * 2 / (2 * CHIP.l2_bytes_per_second)
    found["edge_core"] = 1 / found["edge"] * CHIP.cores
    return found


def multiples() -> Figures:
    """Products without any published plan: of any sizes, of multiples of 128, and narrow ones."""
    any_size = random_products(300, 12, 256, 8192, (512, 1024, 4096))
    aligned = [replace(each, m=-(-each.m // 128) * 128, n=-(-each.n // 128) * 128) for each in any_size]
    narrow = [replace(each, m=Random(each.m).randint(16, 255)) for each in any_size]
    narrow = [each for each in narrow if each.batch * each.m * each.n * 4 >= CHIP.cores * CHIP.l0c_bytes]

    def share(problems: list[Problem]) -> float:
        lacking = [each for each in problems if not run_stages(each, CHIP, "published").feasible]
        return 100 * len(lacking) / len(problems)

    corrected = [each for each in [*any_size, *narrow] if not run_stages(each, CHIP).feasible]
    return {
        "any": share(any_size),
        "aligned": share(aligned),
        "narrow": share(narrow),
        "corrected": len(corrected),
        "products": len(any_size),
        "narrow_products": len(narrow),
    }


def shallow() -> Figures:
    """Products of k = 64."""
    problems = random_products(500, 13, 256, 8192, (64,))
    printed = sum(not run_stages(each, CHIP, "published").feasible for each in problems)
    return {"lacking": printed, "total": len(problems), "run": 64 * 2}


def ties() -> Figures:
    """A product on which several blocks cost the same."""
    for problem in typical_products():
        base = base_tile(problem, CHIP, corrected=True)
        entry = entry_of(problem, CHIP, base, corrected=True)
        found = candidates_of(problem, CHIP, entry, base, corrected=True)
        at = found.passes(0).nonzero()[0]
        traffic = found.columns[at] * problem.m + found.rows[at] * problem.n
        best = at[traffic == traffic.min()] if at.size else at
        rest = [problem.batch * int(found.rows[each] * found.columns[each]) % CHIP.cores for each in best]
        if 0 in rest and any(rest):
            chosen = run_stages(problem, CHIP).block
            assert chosen is not None
            return {
                "shape": f"{problem.batch} x {problem.m} x {problem.n} x {problem.k}",
                "rest": max(rest),
                "chosen": chosen.remainder,
            }
    raise AssertionError("no tie among typical products")


def first_table() -> Figures:
    """The rows of [5.2]'s first table: 2048 x 512 in as few blocks as there must be."""
    problem = Problem(m=2048, n=512, k=4096)
    costs = {(rows, 8 // rows): rows / 2048 + 8 // rows / 512 for rows in (1, 2, 4, 8)}
    least = min(costs.values())
    return {
        "k32": k_step(problem, CHIP, 2048 + 512),
        "k16": k_step(problem, CHIP, 1024 + 512),
        "bytes32": k_step(problem, CHIP, 2048 + 512) * 2,
        "bytes16": k_step(problem, CHIP, 1024 + 512) * 2,
        "tied": " and ".join(f"({m},{n})" for (m, n), cost in costs.items() if cost == least),
        "cost": least,
    }


def unsplit() -> Figures:
    """33 x 512 x 512 x 1024 whole and in quarters, published loads."""
    problem = Problem(batch=33, m=512, n=512, k=1024)
    whole, quarters = tail(problem, ROUNDED, size=512), tail(problem, ROUNDED)
    return {
        "whole": us(whole.seconds_a0),
        "quarters": us(quarters.seconds_a0),
        "saved": float(100 * (1 - quarters.seconds_a0 / whole.seconds_a0)),
        "waves": quarters.waves,
    }


def l2_time() -> Figures:
    """Typical products whose blocks take longer through L2 than memory takes to deliver."""
    stages = [run_stages(each, CHIP) for each in typical_products()]
    totals = [each.totals for each in stages if each.totals is not None]
    slower = [
        each for each in totals if each.l2 is not None and each.memory is not None and each.l2 > each.memory
    ]
    return {
        "slower": len(slower),
        "total": len(totals),
        "factor": CHIP.l2_bytes_per_second / CHIP.gm_bytes_per_second,
    }


def batch_first() -> Figures:
    """31 cores by the formula, and three grids by simulated caches and by counting."""
    one = Problem(batch=2, m=1, n=1, k=1, element_bytes=1)
    panels = [int(wave_estimate(one, 31, (1, 1), how)) for how in ASSIGNMENTS]
    small = Problem(batch=2, m=3 * 512, n=10 * 64, k=512)
    shared = Problem(batch=8, m=21 * 256, n=38 * 256, k=8192, b_batch=1)
    capacity = Fraction(3, 4) * (small.left_bytes + small.right_bytes)
    moved = {}
    for name, problem, grid, size, held in (
        ("small", small, Grid(2, 3, 10, 4), (512, 64), capacity),
        ("shared", shared, Grid(8, 21, 38, 32), (256, 256), CHIP.l2_bytes),
    ):
        order = plain_order("swizzle", window_of(grid.cores))
        for how in ASSIGNMENTS:
            moved[f"{name}_{how}"] = float(
                cache_traffic(problem, placed(grid, order, how), size, held).delivered
            )
    widths = (Fraction(1), Fraction(1), Fraction(1, 8))
    grid = Grid(2, 1, 3, 4)
    for how in ASSIGNMENTS:
        cores = [Fraction(0)] * 4
        for each in placed(grid, plain_order("lexicographic", 1), how):
            cores[each.core] += widths[each.column]
        moved[f"edge_{how}"] = float(max(cores))
    worse = sum(
        wave_estimate(replace(one, batch=batch), 32, (m, n), "linear")
        > wave_estimate(replace(one, batch=batch), 32, (m, n), "batch_first")
        for batch in range(2, 33)
        for m in (16, 256, 4096)
        for n in (16, 256, 4096)
    )
    return {
        "linear31": panels[0],
        "first31": panels[1],
        "worse32": worse,
        "shared_mib": shared.right_bytes >> 20,
        **moved,
    }


def straddling() -> Figures:
    """Waves of 32 cores over 4 batches of 32 to 199 blocks each, and groups of 5 batches."""
    found = [Grid(4, 1, blocks, 32) for blocks in range(32, 200)]
    over = 0
    for grid in found:
        touched: dict[int, set[int]] = {}
        for each in linear(grid, plain_order("lexicographic", 4)):
            touched.setdefault(each.wave, set()).add(each.batch)
        over += max(map(len, touched.values())) > 1
    few = Grid(64, 1, 5, 32)
    groups = Grid(5, 8, 8, 32)
    return {
        "over": over,
        "total": len(found),
        "bound": batches_at_once(few),
        "printed": -(-32 // 5),
        "cores": " ".join(str(group_cores(groups, group)) for group in range(5)),
    }


def windows() -> Figures:
    """Every grid of 4 to 32 blocks squared that fills 32 cores, waves in window order."""
    grids = [Grid(1, m, n, 32) for m in range(4, 33) for n in range(4, 33) if m * n >= 32]
    most: list[int] = []
    rows: list[int] = []
    for grid in grids:
        most.append(max(map(sum, panels_per_wave(linear(grid, plain_order("swizzle", 4))))))
        rows.append(max(map(sum, panels_per_wave(linear(grid, plain_order("lexicographic", 4))))))
    small = Grid(1, 8, 8, 32)
    wave = [
        sum(panels_per_wave(linear(small, plain_order(name, 4)))[0]) for name in ("lexicographic", "swizzle")
    ]
    return {
        "grids": len(grids),
        "above": sum(each > 12 for each in most),
        "whole": sum(grid.columns * 4 % 32 == 0 and grid.rows % 4 == 0 for grid in grids),
        "largest": max(most),
        "worse": sum(a > b for a, b in zip(most, rows, strict=True)),
        "row_major": wave[0],
        "window": wave[1],
        "readers": 32 // window_of(32),
        "diagonal": diagonal_readers(32, 8, 8),
    }


def groups() -> Figures:
    """[5.6]'s example in three readings, and a product on which the closed form loses."""
    problem = Problem(batch=64, m=2048, n=2048, k=1024)
    cut = block(256, 256, 256, 8, 8)
    reread = {name: l2_use(problem, CHIP, cut, name) for name in ("published", "published_5_2", "corrected")}  # type: ignore[arg-type]
    deep = Problem(batch=1, m=2048, n=65536, k=8192)
    stages = run_stages(deep, CHIP)
    assert stages.l2 is not None
    assert stages.l2.closed_form is not None
    assert stages.l2.reread is not None
    return {
        "printed": float(reread["published"].reread or 0),
        "by52": float(reread["published_5_2"].reread or 0),
        "right": float(reread["corrected"].reread or 0),
        "groups": reread["published"].groups,
        "mib": (problem.left_bytes + problem.right_bytes) >> 20,
        "shape": f"{deep.m} x {deep.n} x {deep.k}",
        "closed": float(stages.l2.closed_form[2]),
        "best": float(stages.l2.reread),
    }


def hidden_pieces() -> Figures:
    """[5.3]'s x_min, and its two tail examples."""
    problem = Problem(m=256, n=256, k=1024)
    least = x_min(problem, ROUNDED, 256, depth=128, rate=ROUNDED.gm_bytes_per_second)
    assert least is not None
    cut = block(256, 256, 128, 1, 1)
    limit = most_pieces(problem, ROUNDED, cut, "compute", least)
    deep = x_min(replace(problem, k=10**9), CHIP, 256, depth=128, rate=CHIP.gm_bytes_per_second)
    assert deep is not None
    tall = Problem(m=2560, n=1024, k=256)
    memory = tail_of(tall, CHIP, block(256, 256, 128, 10, 4), TimeModel(tall, ticks_of(CHIP), None))
    assert memory.seconds_a1 is not None
    return {
        "least": float(least),
        "pieces": int(limit),
        "limit": round(float(deep), 4),
        "saved": float(100 * (1 - memory.seconds_a1 / memory.seconds_a0)),
        "bound": memory.time.bound,
    }


def strategy_b() -> Figures:
    """Tails of random products from blocks of 256: how often B has a cut, and of whole tiles."""
    tails = possible = whole = undivided = 0
    for problem in random_products(600, 17, 256, 4096, (1024,)):
        found = tail(problem, CHIP)
        if not found.remainder:
            continue
        tails += 1
        undivided += found.waves * CHIP.cores % problem.batch > 0
        if found.recut is not None:
            possible += 1
            whole += found.recut.m % 256 == 0 and found.recut.n % 256 == 0
    return {"tails": tails, "possible": possible, "whole": whole, "undivided": undivided}


def examples() -> Figures:
    """The five examples of [5.10], blocks of 256 and published loads."""
    shapes = {
        1: (1792, 1792, 4096),
        2: (1536, 2048, 4096),
        3: (1536, 1536, 256),
        4: (2560, 2560, 256),
        5: (2304, 2304, 256),
    }
    found: Figures = {}
    for number, (m, n, k) in shapes.items():
        each = tail(Problem(m=m, n=n, k=k), ROUNDED)
        assert each.printed is not None
        found[f"waves{number}"] = each.waves
        found[f"a0_{number}"] = us(each.seconds_a0)
        found[f"a1_{number}"] = us(each.seconds_a1 or each.seconds_a0)
        found[f"b_{number}"] = us(each.seconds_b)
        growth = float(each.printed.growth)
        found[f"lhs{number}"] = each.waves * (1 - 1 / sqrt(growth))
        found[f"rhs{number}"] = (1 - 1 / each.printed.s_star) / 2
    four = run_stages(Problem(m=2560, n=2560, k=256), CHIP, "published").block
    assert four is not None
    two = tail(Problem(m=1536, n=2048, k=4096), ROUNDED).recut
    assert two is not None
    found["choice"] = f"{four.rows} x {four.columns} blocks of {four.m} x {four.n}"
    found["choice_r"] = four.remainder
    found["ideal5"] = 100 * (1 - 1 / sqrt(96 / 81))
    found["more2"] = 64 * (two.m + two.n) / (48 * 512)
    three = Problem(m=1536, n=1536, k=256)
    roomy = replace(ROUNDED, l1_bytes=1 << 20)  # so that a step is all of k
    same, fewer = recuts(three, roomy, TimeModel(three, ticks_of(roomy), None), 2)
    assert same is not None
    assert fewer is not None
    found["fewer"] = f"{fewer.rows} x {fewer.columns} blocks of {fewer.m} x {fewer.n}"
    found["fewer_us"] = us(fewer.seconds)
    found["same_us"] = us(same.seconds)
    return found


def unreachable() -> Figures:
    """The memory rows of the decision table over every combination of waves, remainder and pieces."""
    tried = picked = 0
    for waves in range(2, 130):
        for remainder in range(1, 32):
            growth = Fraction(waves * 32, (waves - 1) * 32 + remainder)
            for s_star in range(2, 32 // remainder + 1):
                answer, _ = table_answer(
                    "memory", remainder, 32, s_star=s_star, waves=waves, growth=growth, run=Fraction(1000)
                )
                tried += 1
                picked += answer == "A1"
    return {"tried": tried, "picked": picked}


def counterexamples() -> Figures:
    """The claims about A0, A1 and B, each on the product that breaks it; blocks of 256."""
    found: Figures = {}
    for name, problem, two_level in (
        ("divides", Problem(m=768, n=2816, k=2048), True),
        ("a0", Problem(m=5952, n=2288, k=128), False),
        ("b_worse", Problem(batch=8, m=4535, n=2097, k=128), False),
        ("b_a1", Problem(batch=16, m=1792, n=768, k=16384), False),
        ("b_a1_short", Problem(batch=4, m=2304, n=2304, k=1536), False),
    ):
        each = tail(problem, CHIP, two_level=two_level)
        found[f"{name}_a0"] = us(each.seconds_a0)
        found[f"{name}_a1"] = us(each.seconds_a1 or each.seconds_a0)
        found[f"{name}_b"] = us(each.seconds_b)
        found[f"{name}_r"] = each.remainder
        limit = 1 if each.x_min is None else max(1, int(256 / each.x_min))
        found[f"{name}_s"] = min(32 // each.remainder, limit)
        assert each.recut is not None
        found[f"{name}_tile"] = f"{each.recut.m} x {each.recut.n}"
        if each.printed is not None:
            found[f"{name}_table"] = each.printed and each.strategy
    twice = 63 / 32 + float(extra_seconds("A0", Fraction(1), 31, 32, 1))
    found["counted"] = 63 / 32 + 1
    found["right"] = twice
    return found


def source() -> Figures:
    """What the operator computes, and how [6]'s comparison comes out."""
    problem = Problem(batch=64, m=2048, n=2048, k=512)
    steps = [(2 / size) * k_step(problem, CHIP, 2 * size) for size in (512, 256)]
    traffic = [traffic_bytes(problem, 2048 // size, 2048 // size) for size in (512, 256)]
    ratio = CHIP.l2_bytes_per_second / CHIP.gm_bytes_per_second
    few = Problem(m=128, n=20000, k=512)
    full = left_full_load(few, CHIP)
    platform = platform_of(load_machine("ascend-950pr"))
    long = plan_matmul(parse_workload("bmm:b=100,m=31,n=7069,k=48,dtype=fp16,tb"), platform).parameters
    small = plan_matmul(parse_workload("bmm:b=2,m=300,n=300,k=1024,dtype=bf16"), platform).parameters
    return {
        "objective": steps[1] / steps[0],
        "ratio": traffic[1] / traffic[0],
        "mmad": problem.flops / CHIP.peak_flops * US,
        "ours": traffic[0] / CHIP.l2_bytes_per_second * US,
        "theirs": traffic[1] / CHIP.l2_bytes_per_second * US,
        "factor": 1 - ratio,
        "k64": -(1 + ratio) / 64,
        "k4096": -(1 + ratio) / 4096,
        "rounds": full.rounds,
        "theory": "no" if not full.by_theory else "yes",
        "by_source": "yes" if full.by_source else "no",
        "base": f"{long['runInfo']['baseM']} x {long['runInfo']['baseN']}",
        "k_l1": long["tilingData"]["kL1"],
        "k_bytes": long["tilingData"]["kL1"] * 2,
        "tails": f"{long['tilingData']['mTailCnt']} and {long['tilingData']['nTailCnt']}",
        "used": small["runInfo"]["usedCoreNum"],
        "launched": small["blockDim"],
        "api": long["tilingKey"]["apiLevel"],
        "branch": small["branch"],
    }
