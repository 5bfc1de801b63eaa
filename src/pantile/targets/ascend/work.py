"""How much work an instruction is: bytes over a way between two buffers, or steps of the cube.

A step of the cube is one product of 16 x 32 B by 32 B x 16. What a unit of work costs is the machine's to say
(:mod:`pantile.targets.ascend.timing`).

Source: ascend-core.md section 5, and the arguments of sections 2.7, 2.8 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.targets.ascend.elements import BLOCK_BYTES, FRACTAL_BYTES, FRACTAL_ROWS, parts
from pantile.targets.ascend.ranges import ELEMENT_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pantile.targets.ascend.ranges import Range

CUBES = {
    "cube int4": 16384,
    "cube int8": 8192,
    "cube 2-byte": 4096,
    "cube HF32": 2048,
    "cube fp32": 2048,
}
"""Work of the cube by what its operands are, and the multiply-accumulates of one step of it."""

CYCLES, UNSAID = "cycles", "unsaid"
"""Work that goes over no way: cycles that the user states, or nothing that could be told."""

GLOBAL = "GM"
"""What names of buffers in global memory begin with."""


STREAMED = " streamed"
"""What follows the name of a way where more of the same move comes right behind: its latency is not waited
for."""


class Work(NamedTuple):
    """Work of one kind.

    Attributes:
        kind: A way such as ``"L1>L0A"``, or one of the words above.
        amount: Bytes that arrive, steps, or cycles.
    """

    kind: str
    amount: int


def work_of(op: str, args: Mapping[str, Any], *, hf32: bool = False) -> Work:
    """Return the work of a known instruction of a pipe other than the scalar one.

    Args:
        op: Its name.
        args: Its arguments.
        hf32: Whether the control register rounds fp32 operands to HF32 when it is issued.
    """
    rule = next(rule for prefix, rule in _RULES if op.startswith(prefix))
    work = rule(op, args)
    return work._replace(kind="cube HF32") if hf32 and work.kind == "cube fp32" else work


def access_work(pipe: str, ranges: Sequence[Range], cycles: int | None) -> Work:
    """Return the work of an abstract access: the cycles it states, or the bytes that it moves one way."""
    if cycles is not None:
        return Work(CYCLES, cycles)
    written = [each for each in ranges if each.writes]
    sources = {each.buffer for each in ranges if not each.writes}
    targets = {each.buffer for each in written}
    if pipe in ("PIPE_M", "PIPE_V", "PIPE_S") or len(sources) != 1 or len(targets) != 1:
        return Work(UNSAID, 0)
    return Work(way(sources.pop(), targets.pop()), sum(each.hi - each.lo for each in written))


def without_last(work: Work, pieces: int) -> tuple[Work, Work]:
    """Return the work of all equal pieces of a move but the last, and that of the last one.

    >>> without_last(Work("L0C>GM", 2048), 4)
    (Work(kind='L0C>GM streamed', amount=1536), Work(kind='L0C>GM', amount=512))
    """
    last = work.amount // pieces
    kind = work.kind + STREAMED if ">" in work.kind else work.kind
    return Work(kind, work.amount - last), work._replace(amount=last)


def way(source: str, target: str) -> str:
    """Return what a way between two buffers is called; tensors lie in global memory.

    >>> way("GM_A", "L1"), way("L1", "L0B")
    ('GM>L1', 'L1>L0B')
    """
    source, target = (GLOBAL if each.startswith(GLOBAL) else each for each in (source, target))
    return f"{source}>{target}"


def _window(op: str, args: Mapping[str, Any]) -> Work:
    width = ELEMENT_BITS[args["dst"]["elem"]] // 8
    return Work(_ends(args), args["step_k"] * args["step_m"] * width)


def _load(op: str, args: Mapping[str, Any]) -> Work:
    turned = 1 if "_transpose" not in op else 4 if op.endswith("_s4") else 2
    return Work(_ends(args), FRACTAL_BYTES * turned * args["repeat"])


def _bias(op: str, args: Mapping[str, Any]) -> Work:
    return Work(way(args["src"]["buf"], "BT"), 64 * args["len_burst"] * args["n_burst"])


def _scales(op: str, args: Mapping[str, Any]) -> Work:
    return Work(_ends(args), 128 * args["len_burst"] * args["n_burst"])


def _copy_in(op: str, args: Mapping[str, Any]) -> Work:
    if "nd2nz" in op:
        width = ELEMENT_BITS[args["dst"]["elem"]] // 8
        return Work(_ends(args), args["nd_num"] * args["n_value"] * args["d_value"] * width)
    return Work(_ends(args), BLOCK_BYTES * args["len_burst"] * args["n_burst"])


def _copy_out(op: str, args: Mapping[str, Any]) -> Work:
    width = ELEMENT_BITS[args["dst"]["elem"]] // 8
    return Work(_ends(args), args["n_size"] * args["m_size"] * width)


def _product(op: str, args: Mapping[str, Any]) -> Work:
    """Steps as the derived estimate of section 5 counts them."""
    bits = 4 if op.endswith("_s4") else ELEMENT_BITS[args["src0"]["elem"]]
    depth = parts(args["k"] * bits, 8 * BLOCK_BYTES)
    steps = parts(args["m"], FRACTAL_ROWS) * parts(args["n"], FRACTAL_ROWS) * depth
    return Work({4: "cube int4", 8: "cube int8", 16: "cube 2-byte", 32: "cube fp32"}[bits], steps)


def _ends(args: Mapping[str, Any]) -> str:
    return way(args["src"]["buf"], args["dst"]["buf"])


_RULES: tuple[tuple[str, Callable[[str, Mapping[str, Any]], Work]], ...] = (
    ("img2colv2_cbuf_to_c", _window),
    ("load_cbuf_to_c", _load),
    ("mad", _product),
    ("copy_cbuf_to_bt", _bias),
    ("copy_cbuf_to_fbuf", _scales),
    ("copy_gm_to_cbuf", _copy_in),
    ("copy_matrix_cc_to_gm", _copy_out),
)
