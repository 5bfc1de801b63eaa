"""Which branches would take a problem (section 3).

Each gate returns 0 if its branch takes the problem, else the number of the first condition that fails; in
``reasons.py`` stands what each number means. The functions run as they are, or compiled (``fast.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pantile.planners.cann.integers import ceil_div, floor_div, round_up

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

BRANCHES = (
    "BATCH_MATMUL_INPUT_K_EQUAL_ZERO",
    "BATCH_MATMUL_TO_MUL",
    "BATCH_STREAM_K",
    "MERGE_BATCH_BASICAPI",
    "ITER_BATCH_BROADCAST_BASICAPI",
    "ITER_BATCH_BASICAPI",
    "ITER_BATCH",
    "AL1_FULL_LOAD_BASIC",
    "BL1_FULL_LOAD_BASIC",
    "ASW_BASIC",
    "BASE",
)
"""In the order in which they are asked; the first that takes a problem has it."""

ASW_BASIC = BRANCHES.index("ASW_BASIC")

LONGEST_FP32_K = 2_000_000
LEAST_BALANCE = 0.8
"""Share of the cores that must be busy where whole batches do not go through L0 two at a time."""


def equal_batches(f: Figures) -> bool:
    """Whether A and B have the same batch dimensions."""
    return f.a0 == f.b0 and f.a1 == f.b1 and f.a2 == f.b2 and f.a3 == f.b3


def any_strided(f: Figures) -> bool:
    """Whether an input is a view with batch and rows exchanged."""
    return f.strided_a == 1 or f.strided_b == 1


def k_equal_zero(f: Figures) -> int:
    """Whether there is nothing to add up: the output is cleared."""
    if f.nz:
        return 1
    if f.bias_bytes:
        return 2
    if f.k != 0:
        return 3
    return 0


def to_mul(f: Figures) -> int:
    """Whether a product over k = 1 is done elementwise on the vector cores."""
    unit = 32 // f.element_bytes
    if any_strided(f):
        return 1
    if not f.one_dtype:
        return 2
    if f.nz:
        return 3
    if not equal_batches(f):
        return 4
    if f.batch_c < 128:
        return 5
    if f.bias_bytes:
        return 6
    if f.k != 1:
        return 7
    if f.n == 1:
        return 8
    if unit < f.n <= 8 * unit:
        return 9
    if f.n % (8 * unit) == 0:
        return 10
    if mul_bytes(f) > f.ub:
        return 11
    return 0


def mul_bytes(f: Figures) -> int:
    """Bytes in UB of one batch's row, column and product."""
    unit = 32 // f.element_bytes
    rows, columns = round_up(f.m, unit), round_up(f.n, unit)
    return (rows + columns + rows * columns) * f.element_bytes


def stream_k(f: Figures) -> int:
    """Whether K is split over cores."""
    if f.deterministic > 1:
        return 1
    if not equal_batches(f):
        return 2
    if f.batch_bias > 1:
        return 3
    if any_strided(f):
        return 4
    if f.vector_cores != 2 * f.cores:
        return 5
    if f.true_fp32 and f.k > LONGEST_FP32_K:
        return 6
    if round_up(f.k, 256) < stream_least_k(f):
        return 7
    if stream_blocks(f) > f.cores // 2:
        return 8
    return 0


def stream_least_k(f: Figures) -> int:
    """Least K, rounded up to 256, from which on it is split over cores."""
    return max(8192, 256 * f.cores) // f.element_bytes


def stream_blocks(f: Figures) -> int:
    """Blocks of the output that the test for splitting K counts."""
    side = 32 if f.true_fp32 else 256
    return f.batch_c * ceil_div(f.m, side) * ceil_div(f.n, side)


def merge_batch(f: Figures) -> int:
    """Whether four batches are stacked in one product of the cube."""
    if any_strided(f):
        return 1
    if f.nz:
        return 2
    if f.bias_bytes:
        return 3
    if f.true_fp32:
        return 4
    if not equal_batches(f):
        return 5
    if f.batch_c < 4 * f.cores:
        return 6
    if round_up(f.k, 32 // f.element_bytes) < 64:
        return 7
    if f.m > f.n:
        return 8
    rows = 4 * round_up(f.m, 16) if f.transpose_a and f.m > 1 else round_up(4 * f.m, 16)
    columns = 4 * round_up(f.n, 16)
    depth = 32 // f.element_bytes
    if f.transpose_a or not f.transpose_b:
        depth = round_up(depth, 16)
    if rows * depth * f.element_bytes * 2 > f.l0a:
        return 9
    if columns * depth * f.element_bytes * 2 > f.l0b:
        return 10
    if rows * columns * 4 * 2 > f.l0c:
        return 11
    return 0


class Whole(NamedTuple):
    """Bytes of one whole batch, in fractal units.

    Attributes:
        a: Of A in L1; likewise *b* and the *bias*.
        c: Of the output in L0C.
    """

    a: int
    b: int
    bias: int
    c: int


def whole_batch(f: Figures) -> Whole:
    """Return what one batch takes of the memories."""
    rows, columns, depth = round_up(f.m, 16), round_up(f.n, 16), round_up(f.k, 16)
    return Whole(
        rows * depth * f.element_bytes,
        columns * depth * f.element_bytes,
        columns * f.bias_bytes,
        rows * columns * 4,
    )


def is_balanced(f: Figures, batches: int) -> bool:
    """Whether the cores are busy enough if each takes so many batches at a time."""
    rounds = ceil_div(ceil_div(f.batch_c, batches), f.cores) * batches
    return rounds == 0 or float(f.batch_c) / float(f.cores) / float(rounds) >= LEAST_BALANCE


class Broadcast(NamedTuple):
    """Where exactly one axis of one side is broadcast.

    Attributes:
        axis: 0 outermost to 3; -1 where it is not so.
        of_a: Whether it is A that is broadcast.
        inner: Product of the broadcast side's dimensions inside the axis.
        other: The other side's dimension on the axis.
    """

    axis: int
    of_a: int
    inner: int
    other: int


def one_axis_broadcast(f: Figures) -> Broadcast:
    """Return the axis that is broadcast, if it is the only one."""
    found, of_a, inner, other = -1, 0, 1, 1
    for axis in range(4):
        a = (f.a0, f.a1, f.a2, f.a3)[axis]
        b = (f.b0, f.b1, f.b2, f.b3)[axis]
        if a == b:
            inner *= a
        elif found >= 0:
            return Broadcast(-1, 0, 1, 1)
        else:
            found, of_a, other, inner = axis, int(a == 1), max(a, b), 1
    return Broadcast(found, of_a, inner, other)


def broadcast_batches(f: Figures, w: Whole, axis: Broadcast) -> int:
    """Return how many batches of a broadcast product go into half of L1 at a time; below 2 none do."""
    single = axis.inner == 1
    half = f.l1 // 2
    if single and axis.of_a:
        batches = floor_div(half - w.a - w.bias, w.b)
    elif single:
        batches = floor_div(half - w.b - w.bias, w.a)
    else:
        batches = floor_div(half - w.bias, w.a + w.b)
    if batches < 2:
        return batches
    batches = min(batches, ceil_div(f.batch_c, f.cores))
    candidates = axis.other if single else axis.inner
    if candidates > 1:
        batches = min(batches, candidates)
        while batches > 1 and candidates % batches != 0:
            batches -= 1
    return batches


def iter_batch_broadcast(f: Figures) -> int:
    """Whether whole batches of a one-sided broadcast are kept in L1."""
    if f.nz:
        return 1
    if not f.dense:
        return 2
    if f.batch_bias > 1:
        return 3
    axis = one_axis_broadcast(f)
    if axis.axis < 0:
        return 4
    if f.batch_c <= f.cores:
        return 5
    w = whole_batch(f)
    if (w.a + w.b + w.bias) * 2 > f.l1:
        return 6
    batches = broadcast_batches(f, w, axis)
    if batches < 2:
        return 7
    a, b, c = floor_div(f.l0a // 2, w.a), floor_div(f.l0b // 2, w.b), floor_div(f.l0c // 2, w.c)
    through = min(a, b, c) >= 1 or (floor_div(f.l0a, w.a) >= 1 and floor_div(f.l0b, w.b) >= 1 and c > 1)
    if not through and not is_balanced(f, batches):
        return 8
    return 0


def iter_batch_basic(f: Figures) -> int:
    """Whether whole batches are kept in L1."""
    if f.strided_a:
        return 1
    if f.nz:
        return 2
    if f.batch_bias > 1:
        return 3
    if not equal_batches(f):
        return 4
    if f.batch_c <= f.cores:
        return 5
    w = whole_batch(f)
    if (w.a + w.b + w.bias) * 2 > f.l1:
        return 6
    batches = floor_div(f.l1 // 2, w.a + w.b + w.bias)
    through = min(floor_div(f.l0a // 2, w.a), floor_div(f.l0b // 2, w.b), floor_div(f.l0c // 2, w.c), batches)
    biased = not f.bias_bytes or floor_div(f.bt // 2, round_up(f.n, 16) * 4) >= 1
    if not (through >= 1 and biased) and not is_balanced(f, batches):
        return 7
    return 0


def iter_batch(f: Figures) -> int:
    """Whether whole batches are kept in L1 by the high-level interface."""
    if any_strided(f):
        return 1
    if f.nz:
        return 2
    if f.batch_bias > 1:
        return 3
    if not equal_batches(f):
        return 4
    w = whole_batch(f)
    batches = floor_div(f.l1, w.a + w.b + w.bias)
    if batches > 1:
        batches = max(min(batches, ceil_div(f.batch_c, f.cores)), 1)
    if batches <= 1:
        return 5
    through = min(floor_div(f.l0a // 2, w.a), floor_div(f.l0b // 2, w.b), floor_div(f.l0c // 2, w.c))
    if through < 1 and not is_balanced(f, floor_div(f.l1 // 2, w.a + w.b)):
        return 6
    return 0


def full_load(
    f: Figures, batch: int, size: int, loaded_bytes: int, other_batch: int, other_size: int, other_bytes: int
) -> int:
    """Whether one side, of *size* rows or columns, stays in L1 while the other goes by."""
    if any_strided(f):
        return 1
    if not f.nz_allowed:
        return 2
    if batch != 1:
        return 3
    if size > 256:
        return 4
    if f.batch_bias > 1:
        return 5
    if batch * loaded_bytes * 2 > f.l1:
        return 6
    if other_batch * other_bytes < f.l1 * f.cores and other_batch * ceil_div(other_size, 256) < 4 * f.cores:
        return 7
    return 0


def asw_basic(f: Figures) -> int:
    """Whether rows and columns alone are cut, in windows."""
    if f.strided_a != f.strided_b:
        return 1
    if not equal_batches(f):
        return 2
    if f.batch_bias > 1:
        return 3
    if not f.nz_allowed:
        return 4
    return 0


def gate(f: Figures, branch: int) -> int:
    """Return 0 if a branch, by its position, takes the problem, else the condition that fails."""
    if branch == 0:
        return k_equal_zero(f)
    if branch == 1:
        return to_mul(f)
    if branch == 2:
        return stream_k(f)
    if branch == 3:
        return merge_batch(f)
    if branch == 4:
        return iter_batch_broadcast(f)
    if branch == 5:
        return iter_batch_basic(f)
    if branch == 6:
        return iter_batch(f)
    if branch == 7:
        w = whole_batch(f)
        return full_load(f, f.batch_a, f.m, w.a, f.batch_b, f.n, w.b)
    if branch == 8:
        w = whole_batch(f)
        return full_load(f, f.batch_b, f.n, w.b, f.batch_a, f.m, w.a)
    if branch == 9:
        return asw_basic(f)
    return 0


def wide_output(f: Figures) -> bool:
    """Whether results leave L0C in pairs of aligned columns (section 3.2)."""
    return f.n > 64 and f.n % 16 != 0 and f.m > 2 and f.m * f.n >= 256


def window_length(cores: int) -> int:
    """Return the largest divisor of *cores* that is not above its square root."""
    length = 1
    for each in range(1, cores + 1):
        if each * each > cores:
            break
        if cores % each == 0:
            length = each
    return length
