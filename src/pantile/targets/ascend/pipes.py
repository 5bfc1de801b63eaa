"""Pipes: the in-order issue streams of a core, and which instructions run on which.

Source: ascend-core.md sections 1.2 and 1.3.
"""

from __future__ import annotations

SCALAR = "PIPE_S"
ALL = "PIPE_ALL"

PIPES = (SCALAR, "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX")
"""In the order in which a core's threads are declared."""

PIPELINED = ("PIPE_V", "PIPE_M")
"""Pipes whose instructions overlap; the others are taken to complete in order."""

LANES = {
    "PIPE_S": "SCALAR",
    "PIPE_V": "VECTOR",
    "PIPE_M": "CUBE",
    "PIPE_MTE1": "MTE1",
    "PIPE_MTE2": "MTE2",
    "PIPE_MTE3": "MTE3",
    "PIPE_FIX": "FIXP",
}
"""What the vendor's simulator and profiler call each pipe in a timeline."""

EVENT_IDS = 8
"""Ids that every pair of pipes has: 0 to 7."""

REGISTER_WRITES = frozenset(
    {
        "set_fmatrix",
        "set_fmatrix_b",
        "set_ctrl",
        "set_mask_norm",
        "set_atomic_none",
        "set_atomic_f32",
        "set_atomic_add",
        "set_padding",
        "set_nd_para",
        "set_fpc",
        "trap",
    }
)
"""What the scalar unit does itself; an instruction takes the registers as they are when it is issued."""

_PREFIXES = (
    ("img2colv2_cbuf_to_c", "PIPE_MTE1"),
    ("load_cbuf_to_c", "PIPE_MTE1"),
    ("copy_cbuf_to_bt", "PIPE_MTE1"),
    ("mad", "PIPE_M"),
    ("copy_gm_to_cbuf", "PIPE_MTE2"),
    ("copy_cbuf_to_fbuf", "PIPE_FIX"),
    ("copy_matrix_cc_to_gm", "PIPE_FIX"),
)


def pipe_of(op: str) -> str | None:
    """Return the pipe that runs an instruction, or ``None`` if it is not known.

    >>> pipe_of("load_cbuf_to_ca_transpose"), pipe_of("set_ctrl"), pipe_of("vadd")
    ('PIPE_MTE1', 'PIPE_S', None)
    """
    if op in REGISTER_WRITES:
        return SCALAR
    return next((pipe for prefix, pipe in _PREFIXES if op.startswith(prefix)), None)
