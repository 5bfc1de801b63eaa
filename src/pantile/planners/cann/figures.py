"""The whole numbers that every decision is made from: a normalised problem on a platform."""

from __future__ import annotations

from typing import NamedTuple


class Figures(NamedTuple):
    """A normalised problem with its platform; sizes in elements, memories in bytes, truths as 0 and 1.

    All fields are whole numbers, so that the rules read the same run by the interpreter or compiled.

    Attributes:
        m: Rows of the output after folding; likewise n and k.
        element_bytes: Bytes of an element of A and B; *out_bytes* of the output.
        bias_bytes: Bytes of an element of the bias; 0 where there is none.
        true_fp32: Whether the inputs are fp32 and stay so; with *hf32* they are rounded first.
        one_dtype: Whether A, B and the output have one type.
        nz: Whether B is FRACTAL_NZ; *nz_allowed* whether that, if so, suits the types.
        strided_a: Whether A is a view with batch and rows exchanged; likewise B.
        dense: Whether both inputs are dense.
        a0: Outermost of A's four batch dimensions, *a3* the innermost; likewise B's.
        batch_c: Product of the output's batch dimensions; likewise A's, B's and the bias's.
        a_row: Stored length of a row of A.
        avoid_tensor: Whether the caller forbids the tensor interface (offset_x is 0x80).
        cores: Cube cores; *vector_cores* vector cores; *soc_cores* what the platform file says.
    """

    m: int
    n: int
    k: int
    transpose_a: int
    transpose_b: int
    element_bytes: int
    out_bytes: int
    bias_bytes: int
    true_fp32: int
    hf32: int
    one_dtype: int
    nz: int
    nz_allowed: int
    strided_a: int
    strided_b: int
    dense: int
    a0: int
    a1: int
    a2: int
    a3: int
    b0: int
    b1: int
    b2: int
    b3: int
    batch_a: int
    batch_b: int
    batch_c: int
    batch_bias: int
    a_row: int
    avoid_tensor: int
    deterministic: int
    cores: int
    vector_cores: int
    soc_cores: int
    l0a: int
    l0b: int
    l0c: int
    l1: int
    ub: int
    bt: int
    l2: int
    cube_freq: int
    ddr_rate: int
    l2_rate: int
