"""Why a branch declines: in words, with the figures that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.planners.cann import gates
from pantile.planners.cann.gates import BRANCHES
from pantile.planners.cann.integers import ceil_div, floor_div, round_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.planners.cann.figures import Figures


class Declined(NamedTuple):
    """Why a branch does not take a product.

    Attributes:
        condition: Which of the branch's conditions fails first, counted from 1.
        of: How many it has.
        text: What is wrong.
        figures: What was looked at, by name; empty where a fact decides alone.
    """

    condition: int
    of: int
    text: str
    figures: dict[str, Any]


class _Said(NamedTuple):
    text: str
    figures: dict[str, Any]


if TYPE_CHECKING:
    Reason = str | Callable[[Figures], _Said]


def _say(text: str, **figures: Any) -> _Said:
    """Return a sentence with its figures put in by name."""
    return _Said(text.format(**figures), figures)


_STRIDED = "an input is a strided view"
_NZ = "B is FRACTAL_NZ"
_BIAS = "there is a bias"
_BIAS_BATCHES = "the bias has batches of its own"


def _batches(f: Figures) -> _Said:
    a, b = ("x".join(map(str, each)) for each in ((f.a0, f.a1, f.a2, f.a3), (f.b0, f.b1, f.b2, f.b3)))
    return _say("the batches of A and B differ: {a} and {b}", a=a, b=b)


def _broadcast_axes(f: Figures) -> _Said:
    if gates.equal_batches(f):
        return _say("A and B have the same batches, {batch}: none is left to broadcast", batch=f.batch_c)
    sides = ((f.a0, f.b0), (f.a1, f.b1), (f.a2, f.b2), (f.a3, f.b3))
    axes = sum(a != b for a, b in sides)
    return _say("{axes} axes of batches are broadcast, not exactly one", axes=axes)


def _fewer_batches(least: int) -> Callable[[Figures], _Said]:
    return lambda f: _say(
        "batch {batch} is not above {least} ({cores} cores)",
        batch=f.batch_c,
        least=least * f.cores,
        cores=f.cores,
    )


def _l1_twice(f: Figures) -> _Said:
    w = gates.whole_batch(f)
    return _say("a whole batch twice is {twice} B, L1 has {l1} B", twice=2 * (w.a + w.b + w.bias), l1=f.l1)


def _merged(f: Figures) -> tuple[int, int, int]:
    rows = 4 * round_up(f.m, 16) if f.transpose_a and f.m > 1 else round_up(4 * f.m, 16)
    depth = 32 // f.element_bytes
    return rows, 4 * round_up(f.n, 16), 16 if f.transpose_a or not f.transpose_b else depth


def _merge_l0a(f: Figures) -> _Said:
    rows, _, depth = _merged(f)
    twice = rows * depth * f.element_bytes * 2
    return _say("4 batches of A twice are {twice} B, L0A has {l0a} B", twice=twice, l0a=f.l0a)


def _merge_l0b(f: Figures) -> _Said:
    _, columns, depth = _merged(f)
    twice = columns * depth * f.element_bytes * 2
    return _say("4 batches of B twice are {twice} B, L0B has {l0b} B", twice=twice, l0b=f.l0b)


def _merge_l0c(f: Figures) -> _Said:
    rows, columns, _ = _merged(f)
    return _say(
        "4 batches of the output twice are {twice} B, L0C has {l0c} B", twice=rows * columns * 8, l0c=f.l0c
    )


def _balance(f: Figures, batches: int) -> _Said:
    rounds = ceil_div(ceil_div(f.batch_c, batches), f.cores) * batches
    return _say(
        "a batch does not fit L0 twice, and {at_a_time} at a time keep {share:.3f} < {least} of the cores "
        "busy",
        at_a_time=batches,
        share=f.batch_c / f.cores / rounds,
        least=gates.LEAST_BALANCE,
    )


def _broadcast_count(f: Figures) -> int:
    return gates.broadcast_batches(f, gates.whole_batch(f), gates.one_axis_broadcast(f))


def _basic_balance(f: Figures) -> _Said:
    w = gates.whole_batch(f)
    return _balance(f, floor_div(f.l1 // 2, w.a + w.b + w.bias))


def _high_balance(f: Figures) -> _Said:
    w = gates.whole_batch(f)
    return _balance(f, floor_div(f.l1 // 2, w.a + w.b))


def _high_count(f: Figures) -> _Said:
    w = gates.whole_batch(f)
    return _say(
        "of whole batches L1 holds {fit} and a core gets {share}: not 2 at a time",
        fit=floor_div(f.l1, w.a + w.b + w.bias),
        share=ceil_div(f.batch_c, f.cores),
    )


def _stream_depth(f: Figures) -> _Said:
    return _say(
        "k = {k} rounded up to 256 is {rounded}, below max(8192, 256 x {cores} cores) B / {element_bytes} B "
        "= {least}",
        k=f.k,
        rounded=round_up(f.k, 256),
        cores=f.cores,
        element_bytes=f.element_bytes,
        least=gates.stream_least_k(f),
    )


def _full_load(side: str) -> tuple[Reason, ...]:
    letter = "m" if side == "A" else "n"

    def loaded(f: Figures) -> tuple[int, int, int]:
        w = gates.whole_batch(f)
        return (f.batch_a, f.m, w.a) if side == "A" else (f.batch_b, f.n, w.b)

    def once(f: Figures) -> _Said:
        w = gates.whole_batch(f)
        batch, size, each = (f.batch_b, f.n, w.b) if side == "A" else (f.batch_a, f.m, w.a)
        return _say(
            "the other side is {bytes} B, below L1 x cores = {least_bytes} B, and of blocks {blocks}, below "
            "{least}",
            bytes=batch * each,
            least_bytes=f.l1 * f.cores,
            blocks=batch * ceil_div(size, 256),
            least=4 * f.cores,
        )

    return (
        _STRIDED,
        "the types do not suit FRACTAL_NZ",
        lambda f: _say("{side} has {batches} batches, not 1", side=side, batches=loaded(f)[0]),
        lambda f: _say("{axis} = {size} is above 256", axis=letter, size=loaded(f)[1]),
        _BIAS_BATCHES,
        lambda f: _say(
            "{side} twice is {twice} B, L1 has {l1} B", side=side, twice=2 * loaded(f)[2], l1=f.l1
        ),
        once,
    )


_REASONS: dict[str, tuple[Reason, ...]] = {
    "BATCH_MATMUL_INPUT_K_EQUAL_ZERO": (_NZ, _BIAS, lambda f: _say("k = {k}, not 0", k=f.k)),
    "BATCH_MATMUL_TO_MUL": (
        _STRIDED,
        "inputs and output differ in type",
        _NZ,
        _batches,
        lambda f: _say("batch {batch} is below 128", batch=f.batch_c),
        _BIAS,
        lambda f: _say("k = {k}, not 1", k=f.k),
        "n = 1",
        lambda f: _say(
            "n = {n} is between {above} and {most}",
            n=f.n,
            above=32 // f.element_bytes,
            most=256 // f.element_bytes,
        ),
        lambda f: _say("n = {n} is a multiple of {unit}", n=f.n, unit=256 // f.element_bytes),
        lambda f: _say("one batch takes {bytes} B, UB has {ub} B", bytes=gates.mul_bytes(f), ub=f.ub),
    ),
    "BATCH_STREAM_K": (
        lambda f: _say("deterministic level {level} is above 1", level=f.deterministic),
        _batches,
        _BIAS_BATCHES,
        _STRIDED,
        lambda f: _say(
            "{vector_cores} vector cores are not 2 x {cores}", vector_cores=f.vector_cores, cores=f.cores
        ),
        lambda f: _say("fp32 with k = {k}, above {most}", k=f.k, most=gates.LONGEST_FP32_K),
        _stream_depth,
        lambda f: _say(
            "{blocks} blocks are above half of {cores} cores", blocks=gates.stream_blocks(f), cores=f.cores
        ),
    ),
    "MERGE_BATCH_BASICAPI": (
        _STRIDED,
        _NZ,
        _BIAS,
        "the inputs are fp32",
        _batches,
        lambda f: _say(
            "batch {batch} is below {least} (4 x {cores} cores)",
            batch=f.batch_c,
            least=4 * f.cores,
            cores=f.cores,
        ),
        lambda f: _say("k = {k} padded to 32 B is below 64", k=f.k),
        lambda f: _say("m = {m} is above n = {n}", m=f.m, n=f.n),
        _merge_l0a,
        _merge_l0b,
        _merge_l0c,
    ),
    "ITER_BATCH_BROADCAST_BASICAPI": (
        _NZ,
        "an input is not dense",
        _BIAS_BATCHES,
        _broadcast_axes,
        _fewer_batches(1),
        _l1_twice,
        lambda f: _say("{at_a_time} at a time is below 2 batches", at_a_time=_broadcast_count(f)),
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


def declined(f: Figures, branch: int, condition: int) -> Declined:
    """Return why a branch, by its position, declines: condition is what its gate returned."""
    conditions = _REASONS[BRANCHES[branch]]
    found = conditions[condition - 1]
    said = _Said(found, {}) if isinstance(found, str) else found(f)
    return Declined(condition, len(conditions), said.text, said.figures)
