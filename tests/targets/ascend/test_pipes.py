"""Instructions and their pipes."""

from __future__ import annotations

import pytest

from pantile.targets.ascend.pipes import PIPELINED, PIPES, pipe_of


@pytest.mark.parametrize(
    ("op", "pipe"),
    [
        ("img2colv2_cbuf_to_ca", "PIPE_MTE1"),
        ("load_cbuf_to_cb_transpose_s4", "PIPE_MTE1"),
        ("copy_cbuf_to_bt", "PIPE_MTE1"),
        ("mad_s4", "PIPE_M"),
        ("copy_gm_to_cbuf_multi_nd2nz_b16", "PIPE_MTE2"),
        ("copy_cbuf_to_fbuf", "PIPE_FIX"),
        ("copy_matrix_cc_to_gm", "PIPE_FIX"),
        ("set_fmatrix_b", "PIPE_S"),
        ("trap", "PIPE_S"),
        ("vadd", None),
    ],
)
def test_every_instruction_has_its_pipe(op: str, pipe: str | None) -> None:
    assert pipe_of(op) == pipe


def test_cube_and_vector_overlap_their_instructions() -> None:
    assert set(PIPELINED) == {"PIPE_M", "PIPE_V"}
    assert set(PIPELINED) < set(PIPES)
