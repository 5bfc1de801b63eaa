"""Instructions of a cube core: one value that is printed, serialised, checked and executed.

An instruction is what recorded cases hold: its name and its arguments in the order of the call. Everything
else is derived from a stream of them, so that there is one notion of what a core runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Instruction = Mapping[str, Any]
"""``{"op": name, "args": {name: value, …}}``; nothing changes one after it was made."""

Kind = Literal["pointer", "int", "bool", "name", "pipe"]


class Parameter(NamedTuple):
    """One argument of a call.

    Attributes:
        name: What recorded cases call it.
        kind: What may stand there.
        buffer: Of a pointer, the buffer that it points into; empty where the call does not say.
    """

    name: str
    kind: Kind
    buffer: str = ""


def _ints(names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, "int") for name in names.split())


def _to(buffer: str, source: str = "L1") -> tuple[Parameter, ...]:
    return (Parameter("dst", "pointer", buffer), Parameter("src", "pointer", source))


_FLAG = (Parameter("src_pipe", "pipe"), Parameter("dst_pipe", "pipe"), Parameter("event_id", "int"))
_WINDOW = _ints("step_k step_m pos_k pos_m stride_w stride_h w_k h_k dilation_w dilation_h")
_WINDOW += tuple(Parameter(name, "bool") for name in ("filter_w", "filter_h", "transpose", "fmatrix_ctrl"))
_WINDOW += _ints("size_channel")
_LOAD = _ints("base_idx repeat src_stride dst_gap sid")
_LOAD += (Parameter("transpose", "bool"), Parameter("addr_mode", "name"))
_TURN = _ints("index_id repeat src_stride dst_stride addr_mode dst_frac_stride")
_BURSTS = _ints("n_burst len_burst src_gap dst_gap")
_ND2NZ = _ints("sid nd_num n_value d_value src_nd_matrix_stride src_d_value dst_nz_c0_stride")
_ND2NZ += _ints("dst_nz_n_stride dst_nz_matrix_stride")
_OPERANDS = (
    Parameter("dst", "pointer", "L0C"),
    Parameter("src0", "pointer", "L0A"),
    Parameter("src1", "pointer", "L0B"),
)
_PRODUCT = _ints("m k n unit_flag")
_PRODUCT += tuple(
    Parameter(name, "bool") for name in ("k_direction_align", "cmatrix_source", "cmatrix_init_val")
)
_OUT = _ints("sid n_size m_size dst_stride src_stride unit_flag_mode")
_OUT += (Parameter("quant_pre", "name"), Parameter("relu_pre", "int"))
_OUT += (Parameter("channel_split", "bool"), Parameter("nz2nd_en", "bool"))

SIGNATURES: dict[str, tuple[Parameter, ...]] = {
    "set_flag": _FLAG,
    "wait_flag": _FLAG,
    "pipe_barrier": (Parameter("pipe", "pipe"),),
    "set_fmatrix": _ints("value"),
    "set_fmatrix_b": _ints("value"),
    "set_ctrl": _ints("value"),
    "set_padding": _ints("value"),
    "set_nd_para": _ints("value"),
    "set_fpc": _ints("value"),
    "set_mask_norm": (),
    "set_atomic_none": (),
    "set_atomic_f32": (),
    "set_atomic_add": (),
    "trap": (),
    "img2colv2_cbuf_to_ca": _to("L0A") + _WINDOW,
    "img2colv2_cbuf_to_cb": _to("L0B") + _WINDOW,
    "load_cbuf_to_ca": _to("L0A") + _LOAD,
    "load_cbuf_to_cb": _to("L0B") + _LOAD,
    "load_cbuf_to_ca_s4": _to("L0A") + _LOAD,
    "load_cbuf_to_cb_s4": _to("L0B") + _LOAD,
    "load_cbuf_to_ca_transpose": _to("L0A") + _TURN,
    "load_cbuf_to_cb_transpose": _to("L0B") + _TURN,
    "load_cbuf_to_cb_transpose_s4": _to("L0B") + _TURN,
    "copy_cbuf_to_bt": (
        *_ints("dst_bt_addr"),
        Parameter("src", "pointer", "L1"),
        *_ints("conv_control"),
        *_BURSTS,
    ),
    "copy_gm_to_cbuf": (*_to("L1", ""), *_ints("sid"), *_BURSTS, Parameter("pad_mode", "name")),
    "copy_gm_to_cbuf_multi_nd2nz_b8": _to("L1", "") + _ND2NZ,
    "copy_gm_to_cbuf_multi_nd2nz_b16": _to("L1", "") + _ND2NZ,
    "copy_gm_to_cbuf_multi_nd2nz_b32s": _to("L1", "") + _ND2NZ,
    "copy_cbuf_to_fbuf": _to("FB") + _BURSTS,
    "copy_matrix_cc_to_gm": _to("", "L0C") + _OUT,
    "mad": _OPERANDS + _PRODUCT,
    "mad_s4": _OPERANDS + _PRODUCT,
}
"""Every known instruction and its arguments, in the order of the call."""

BIAS_ADDRESS = Parameter("bias_bt_addr", "int")
"""A further argument of a ``mad`` that starts from the bias table: it comes before *m*."""


def signature(op: str, argument_count: int | None = None) -> tuple[Parameter, ...]:
    """Return the arguments of *op*; with one more than usual, those of a ``mad`` that names its bias."""
    usual = SIGNATURES[op]
    if op.startswith("mad") and argument_count == len(usual) + 1:
        return (*_OPERANDS, BIAS_ADDRESS, *_PRODUCT)
    return usual


def pointer(buffer: str, offset: int, element: str) -> dict[str, Any]:
    """Return a pointer to byte *offset* of a buffer."""
    return {"buf": buffer, "off": offset, "elem": element}


def call(op: str, *values: object) -> Instruction:
    """Return the instruction *op* with its arguments in order.

    >>> call("set_flag", "PIPE_M", "PIPE_MTE1", 0)
    {'op': 'set_flag', 'args': {'src_pipe': 'PIPE_M', 'dst_pipe': 'PIPE_MTE1', 'event_id': 0}}
    """
    names = signature(op, len(values))
    return {"op": op, "args": {name.name: value for name, value in zip(names, values, strict=True)}}


def set_flag(source: str, destination: str, event: int) -> Instruction:
    """Return the instruction by which pipe *source* raises a flag for *destination*."""
    return call("set_flag", source, destination, event)


def wait_flag(source: str, destination: str, event: int) -> Instruction:
    """Return the instruction by which pipe *destination* waits for a flag from *source*."""
    return call("wait_flag", source, destination, event)


def pipe_barrier(pipe: str) -> Instruction:
    """Return a barrier of one pipe, or of all."""
    return call("pipe_barrier", pipe)
