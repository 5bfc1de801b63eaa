"""Byte ranges that the instructions of a core read and write.

Ranges are the hulls of what an instruction touches; a fractal is 512 bytes. Source: ascend-core.md sections
1.6 and 2.7 to 2.8, and the notes on byte ranges that come with the recorded synchronisation cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pantile.targets.ascend.elements import is_forwarded

FRACTAL = 512
BLOCK = 32

ELEMENT_BITS = {
    "half": 16,
    "bfloat16_t": 16,
    "float": 32,
    "int8_t": 8,
    "uint8_t": 8,
    "int32_t": 32,
    "uint64_t": 64,
    "void": 8,
}
"""Width of the elements that pointers name; of packed four-bit data, that of its container."""


class Range(NamedTuple):
    """Bytes *lo* to *hi* of a buffer; *hi* is not among them."""

    buffer: str
    lo: int
    hi: int
    writes: bool


@dataclass(slots=True)
class Registers:
    """What the scalar unit has written so far.

    Attributes:
        fmatrix: Height of the source that ``img2colv2`` of the left operand reads, in rows.
        fmatrix_b: The same of the right operand.
        ctrl: The control register, 0 before anything wrote it.
        adds: Whether copies out of L0C add to what lies in GM.
    """

    fmatrix: int | None = None
    fmatrix_b: int | None = None
    ctrl: int = 0
    adds: bool = False

    def write(self, op: str, args: Mapping[str, Any]) -> None:
        """Take over a register write; other registers change no range."""
        if op == "set_fmatrix":
            self.fmatrix = int(args["value"]) & 0xFFFF
        elif op == "set_fmatrix_b":
            self.fmatrix_b = int(args["value"]) & 0xFFFF
        elif op == "set_ctrl":
            self.ctrl = int(args["value"])
        elif op in ("set_atomic_add", "set_atomic_none"):
            self.adds = op == "set_atomic_add"


class UnsetRegister(Exception):
    """An instruction needs a register that nothing has written; says which."""


def ranges_of(
    op: str, args: Mapping[str, Any], registers: Registers, *, as_recorded: bool = False
) -> list[Range]:
    """Return what an instruction reads and writes, with the registers as they are when it is issued.

    Args:
        op: Its name.
        args: Its arguments.
        registers: The registers.
        as_recorded: Whether to take what the notes on the recorded synchronisation cases say of turning
            loads and of the bias table. They take ``dst_stride`` for a stride; executing the library's
            int8 kernels shows that it is a gap.

    Raises:
        KeyError: If an argument is missing, or names an unknown element type.
        UnsetRegister: If a register that it needs was never written.
    """
    rules = (*_AS_RECORDED, *_RULES) if as_recorded else _RULES
    rule = next(rule for prefix, rule in rules if op.startswith(prefix))
    return [each for each in rule(op, args, registers) if each.hi > each.lo]


def ranges_of_access(args: Mapping[str, Any]) -> list[Range]:
    """Return what an abstract access says that it reads and writes."""
    return [
        Range(at["buf"], at["lo"], at["hi"], writes)
        for key, writes in (("reads", False), ("writes", True))
        for at in args[key]
    ]


def sum_of(args: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return which sum a ``mad`` adds to, if another one of the same sum needs no barrier (1.3 rule 6).

    That is so where the cube's pipeline is longer than the dependence of one fractal of the sum on itself:
    from ten fractals on, counted as the library counts them (section 2.6, step 12), and if the other one goes
    through the same fractals in the same order: the same bytes of L0C, the same rows. Then both are of the
    same size, so that it does not matter whose counts.
    """
    m, n = int(args["m"]), int(args["n"])
    if not is_forwarded(m, n):
        return None
    return args["dst"]["buf"], args["dst"]["off"], _up(m, 16), _up(n, 16)


def _up(value: int, to: int) -> int:
    return -(-value // to) * to


def _element_bytes(pointer: Mapping[str, Any]) -> int:
    return ELEMENT_BITS[pointer["elem"]] // 8


def _at(pointer: Mapping[str, Any], length: int, *, writes: bool) -> Range:
    return Range(pointer["buf"], int(pointer["off"]), int(pointer["off"]) + length, writes)


def _img2col(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    left = op.endswith("ca")
    height = registers.fmatrix if left else registers.fmatrix_b
    if height is None:
        raise UnsetRegister("set_fmatrix" if left else "set_fmatrix_b")
    width = _element_bytes(args["dst"])
    columns = args["step_k"] * width // BLOCK
    return [
        _at(args["dst"], args["step_k"] * args["step_m"] * width, writes=True),
        _at(args["src"], ((columns - 1) * height + args["step_m"]) * BLOCK, writes=False),
    ]


def _load(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    if "_transpose" in op:
        return _load_transposed(op, args)
    more = args["repeat"] - 1
    if more < 0:
        return []
    return [
        _at(args["dst"], (more * (1 + args["dst_gap"]) + 1) * FRACTAL, writes=True),
        _at(args["src"], (more * args["src_stride"] + 1) * FRACTAL, writes=False),
    ]


def _load_transposed(op: str, args: Mapping[str, Any]) -> list[Range]:
    """Two stacked fractals of bytes, or four of half bytes, are turned at once.

    What the trace calls ``dst_stride`` is a gap behind the first fractal of a repeat, in fractals (CANN
    document ``LoadDataWithTranspose``, dstGap).
    """
    return _turned(op, args, 1 + args["dst_stride"])


def _turned(op: str, args: Mapping[str, Any], step: int) -> list[Range]:
    """What a turning load touches whose repeats lie *step* fractals apart in L0."""
    together, more = 4 if op.endswith("_s4") else 2, args["repeat"] - 1
    if more < 0:
        return []
    last = more * step + (together - 1) * (args["dst_frac_stride"] + 1)
    return [
        _at(args["dst"], (last + 1) * FRACTAL, writes=True),
        _at(args["src"], FRACTAL * together * (more * args["src_stride"] + 1), writes=False),
    ]


def _mad(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    """The cube reads L0A and L0B, and L0C unless it starts from zero or from the bias."""
    m, k, n = (int(args[name]) for name in "mkn")
    bits = 4 if op.endswith("_s4") else ELEMENT_BITS[args["src0"]["elem"]]
    depth = _up(k, BLOCK * 8 // bits)
    out = _up(m, 16) * _up(n, 16) * 4
    found = [
        _at(args["src0"], _up(m, 16) * depth * bits // 8, writes=False),
        _at(args["src1"], depth * _up(n, 16) * bits // 8, writes=False),
    ]
    if args["cmatrix_source"]:
        bias = int(args.get("bias_bt_addr", 0))
        found.append(Range("BT", bias, bias + 4 * n, writes=False))
    elif not args["cmatrix_init_val"]:
        found.append(_at(args["dst"], out, writes=False))
    return [*found, _at(args["dst"], out, writes=True)]


def _copy_to_bias(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    lo = int(args["dst_bt_addr"])
    written, read = _bursts(args, "dst_gap", 64), _bursts(args, "src_gap", 64)
    return [Range("BT", lo, lo + written, writes=True), _at(args["src"], read, writes=False)]


def _bursts(args: Mapping[str, Any], gap: str, unit: int) -> int:
    """Bytes from the first to the end of the last of *n_burst* runs of *len_burst* units; one if not said."""
    more, burst = args.get("n_burst", 1) - 1, args["len_burst"]
    return int((more * (burst + args.get(gap, 0)) + burst) * unit)


def _copy_in(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    if "nd2nz" in op:
        width = _element_bytes(args["dst"])
        blocks = -(-args["d_value"] * width // BLOCK)
        length = ((blocks - 1) * args["dst_nz_c0_stride"] + args["n_value"]) * BLOCK
        source = ((args["n_value"] - 1) * args["src_d_value"] + args["d_value"]) * width
        return [_at(args["dst"], length, writes=True), _at(args["src"], source, writes=False)]
    return [
        _at(args["dst"], _bursts(args, "dst_gap", BLOCK), writes=True),
        _at(args["src"], _bursts(args, "src_gap", BLOCK), writes=False),
    ]


def _copy_to_fix(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    return [  # the FP buffer is filled in blocks of 128 bytes
        _at(args["dst"], _bursts(args, "dst_gap", 128), writes=True),
        _at(args["src"], _bursts(args, "src_gap", 128), writes=False),
    ]


def _copy_out(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    rows, columns = int(args["m_size"]), int(args["n_size"])
    reached = (rows - 1) * int(args["dst_stride"]) + columns if args["nz2nd_en"] and rows else rows * columns
    found = [
        _at(args["src"], _up(args["n_size"], 16) * args["src_stride"] * 4, writes=False),
        _at(args["dst"], reached * _element_bytes(args["dst"]), writes=True),
    ]
    if args["quant_pre"] == "VDEQF16":
        found.append(Range("FB", 0, 1, writes=False))
    return found


def _recorded_turn(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    return _turned(op, args, args["dst_stride"])


def _recorded_copy_to_bias(op: str, args: Mapping[str, Any], registers: Registers) -> list[Range]:
    lo, length = int(args["dst_bt_addr"]), 64 * args["len_burst"]
    return [Range("BT", lo, lo + length, writes=True), _at(args["src"], length, writes=False)]


_RULES: tuple[tuple[str, Callable[[str, Mapping[str, Any], Registers], list[Range]]], ...] = (
    ("img2colv2_cbuf_to_c", _img2col),
    ("load_cbuf_to_c", _load),
    ("mad", _mad),
    ("copy_cbuf_to_bt", _copy_to_bias),
    ("copy_gm_to_cbuf", _copy_in),
    ("copy_cbuf_to_fbuf", _copy_to_fix),
    ("copy_matrix_cc_to_gm", _copy_out),
)

_AS_RECORDED: tuple[tuple[str, Callable[[str, Mapping[str, Any], Registers], list[Range]]], ...] = (
    ("load_cbuf_to_ca_transpose", _recorded_turn),
    ("load_cbuf_to_cb_transpose", _recorded_turn),
    ("copy_cbuf_to_bt", _recorded_copy_to_bias),
)
"""What the notes on the recorded synchronisation cases say otherwise."""
