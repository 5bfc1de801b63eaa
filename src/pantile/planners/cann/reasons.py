"""Why a branch declines, in words with the figures that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.cann import gates
from pantile.planners.cann.gates import BRANCHES
from pantile.planners.cann.integers import ceil_div, floor_div, round_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.cann.figures import Figures

    Reason = str | Callable[[Figures], str]

_STRIDED = "an input is a strided view"
_NZ = "B is FRACTAL_NZ"
_BIAS = "there is a bias"
_BIAS_BATCHES = "the bias has batches of its own"


def _batches(f: Figures) -> str:
    a, b = ("x".join(map(str, each)) for each in ((f.a0, f.a1, f.a2, f.a3), (f.b0, f.b1, f.b2, f.b3)))
    return f"the batches of A and B differ: {a} and {b}"


def _fewer_batches(least: int) -> Callable[[Figures], str]:
    return lambda f: f"batch {f.batch_c} is not above {least * f.cores} ({f.cores} cores)"


def _l1_twice(f: Figures) -> str:
    w = gates.whole_batch(f)
    return f"a whole batch twice is {2 * (w.a + w.b + w.bias)} B, L1 has {f.l1} B"


def _merged(f: Figures) -> tuple[int, int, int]:
    rows = 4 * round_up(f.m, 16) if f.transpose_a and f.m > 1 else round_up(4 * f.m, 16)
    depth = 32 // f.element_bytes
    return rows, 4 * round_up(f.n, 16), 16 if f.transpose_a or not f.transpose_b else depth


def _merge_l0a(f: Figures) -> str:
    rows, _, depth = _merged(f)
    return f"4 batches of A twice are {rows * depth * f.element_bytes * 2} B, L0A has {f.l0a} B"


def _merge_l0b(f: Figures) -> str:
    _, columns, depth = _merged(f)
    return f"4 batches of B twice are {columns * depth * f.element_bytes * 2} B, L0B has {f.l0b} B"


def _merge_l0c(f: Figures) -> str:
    rows, columns, _ = _merged(f)
    return f"4 batches of the output twice are {rows * columns * 8} B, L0C has {f.l0c} B"


def _balance(f: Figures, batches: int) -> str:
    rounds = ceil_div(ceil_div(f.batch_c, batches), f.cores) * batches
    share = f.batch_c / f.cores / rounds
    least = gates.LEAST_BALANCE
    return (
        f"a batch does not fit L0 twice, and {batches} at a time keep {share:.3f} < {least} of the cores busy"
    )


def _broadcast_count(f: Figures) -> int:
    return gates.broadcast_batches(f, gates.whole_batch(f), gates.one_axis_broadcast(f))


def _basic_balance(f: Figures) -> str:
    w = gates.whole_batch(f)
    return _balance(f, floor_div(f.l1 // 2, w.a + w.b + w.bias))


def _high_balance(f: Figures) -> str:
    w = gates.whole_batch(f)
    return _balance(f, floor_div(f.l1 // 2, w.a + w.b))


def _high_count(f: Figures) -> str:
    w = gates.whole_batch(f)
    fit = floor_div(f.l1, w.a + w.b + w.bias)
    return f"{fit} whole batches fit in L1, {ceil_div(f.batch_c, f.cores)} fall to a core: not 2 at a time"


def _full_load(side: str) -> tuple[Reason, ...]:
    def numbers(f: Figures) -> tuple[int, int, int, int, int, int]:
        w = gates.whole_batch(f)
        return (
            (f.batch_a, f.m, w.a, f.batch_b, f.n, w.b)
            if side == "A"
            else (f.batch_b, f.n, w.b, f.batch_a, f.m, w.a)
        )

    letter = "m" if side == "A" else "n"

    def once(f: Figures) -> str:
        _, _, _, batch, size, each = numbers(f)
        return (
            f"the other side is {batch * each} B, below L1 x cores = {f.l1 * f.cores} B, and "
            f"{batch * ceil_div(size, 256)} blocks, below {4 * f.cores}"
        )

    return (
        _STRIDED,
        "the types do not suit FRACTAL_NZ",
        lambda f: f"{side} has {numbers(f)[0]} batches, not 1",
        lambda f: f"{letter} = {numbers(f)[1]} is above 256",
        _BIAS_BATCHES,
        lambda f: f"{side} twice is {2 * numbers(f)[2]} B, L1 has {f.l1} B",
        once,
    )


_REASONS: dict[str, tuple[Reason, ...]] = {
    "BATCH_MATMUL_INPUT_K_EQUAL_ZERO": (_NZ, _BIAS, lambda f: f"k = {f.k}, not 0"),
    "BATCH_MATMUL_TO_MUL": (
        _STRIDED,
        "inputs and output differ in type",
        _NZ,
        _batches,
        lambda f: f"batch {f.batch_c} is below 128",
        _BIAS,
        lambda f: f"k = {f.k}, not 1",
        "n = 1",
        lambda f: f"n = {f.n} is between {32 // f.element_bytes} and {256 // f.element_bytes}",
        lambda f: f"n = {f.n} is a multiple of {256 // f.element_bytes}",
        lambda f: f"one batch takes {gates.mul_bytes(f)} B, UB has {f.ub} B",
    ),
    "BATCH_STREAM_K": (
        lambda f: f"deterministic level {f.deterministic} is above 1",
        _batches,
        _BIAS_BATCHES,
        _STRIDED,
        lambda f: f"{f.vector_cores} vector cores are not 2 x {f.cores}",
        lambda f: f"fp32 with k = {f.k}, above {gates.LONGEST_FP32_K}",
        lambda f: f"k = {f.k} rounded up to 256 is {round_up(f.k, 256)}, below {gates.stream_least_k(f)}",
        lambda f: f"{gates.stream_blocks(f)} blocks are above half of {f.cores} cores",
    ),
    "MERGE_BATCH_BASICAPI": (
        _STRIDED,
        _NZ,
        _BIAS,
        "the inputs are fp32",
        _batches,
        lambda f: f"batch {f.batch_c} is below {4 * f.cores} (4 x {f.cores} cores)",
        lambda f: f"k = {f.k} padded to 32 B is below 64",
        lambda f: f"m = {f.m} is above n = {f.n}",
        _merge_l0a,
        _merge_l0b,
        _merge_l0c,
    ),
    "ITER_BATCH_BROADCAST_BASICAPI": (
        _NZ,
        "an input is not dense",
        _BIAS_BATCHES,
        "not exactly one axis of one side is broadcast",
        _fewer_batches(1),
        _l1_twice,
        lambda f: f"{_broadcast_count(f)} batches at a time are below 2",
        lambda f: _balance(f, _broadcast_count(f)),
    ),
    "ITER_BATCH_BASICAPI": (
        "A is a strided view",
        _NZ,
        _BIAS_BATCHES,
        _batches,
        _fewer_batches(1),
        _l1_twice,
        _basic_balance,
    ),
    "ITER_BATCH": (_STRIDED, _NZ, _BIAS_BATCHES, _batches, _high_count, _high_balance),
    "AL1_FULL_LOAD_BASIC": _full_load("A"),
    "BL1_FULL_LOAD_BASIC": _full_load("B"),
    "ASW_BASIC": (
        "one input is a strided view and the other is not",
        _batches,
        _BIAS_BATCHES,
        "the types do not suit FRACTAL_NZ",
    ),
}


def reason(f: Figures, branch: int, condition: int) -> str:
    """Return why a branch, by its position, declines: condition is what its gate returned."""
    found = _REASONS[BRANCHES[branch]][condition - 1]
    return found if isinstance(found, str) else found(f)
