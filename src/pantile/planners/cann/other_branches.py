"""What branches other than ASW_BASIC are launched with, as far as sections 3 and 12 go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.planners.cann import gates, stages
from pantile.planners.cann.asw_basic import WORKSPACE_BYTES
from pantile.planners.cann.full_load import BASE, full_load
from pantile.planners.cann.integers import ceil_div, round_down, round_up
from pantile.planners.cann.key import TilingKey
from pantile.planners.cann.run_info import RunInfo

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

_STREAM_WORKSPACE_BYTES = 32 * 256 * 256 * 4
_WIDE_OUTPUT = 2
"""L0C leaves in pairs of aligned columns (1:2 aligned fixpipe)."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a branch's kernel is launched.

    Attributes:
        branch: The branch.
        key: Which kernel; ``None`` where a field of it is not known.
        cores: On how many cores (blockDim).
        workspace_bytes: Of global memory.
        run_info: The source's state; ``None`` where the rules for it are not known.
    """

    branch: str
    key: TilingKey | None
    cores: int
    workspace_bytes: int = WORKSPACE_BYTES
    run_info: RunInfo | None = None


def launch(f: Figures, branch: str) -> Launch:
    """Return how *branch* is launched for a problem that it takes; not for ASW_BASIC."""
    number = gates.BRANCHES.index(branch)
    trans = {"a_trans": f.transpose_a, "b_trans": f.transpose_b}
    wide = _WIDE_OUTPUT if gates.wide_output(f) else 0
    if number == 0:
        info = RunInfo(used_core_num=f.vector_cores)
        return Launch(branch, TilingKey(api_level=stages.BASIC, model=2), f.vector_cores, run_info=info)
    if number == 1:
        return Launch(branch, TilingKey(api_level=stages.BASIC, batch_model=2), f.vector_cores)
    if number == 2:
        key = TilingKey(api_level=stages.TENSOR, **trans, model=1, l0c2out=wide)
        workspace = WORKSPACE_BYTES + _STREAM_WORKSPACE_BYTES
        return Launch(branch, key, f.cores, workspace, stream_k(f))
    if number == 3:
        return Launch(branch, TilingKey(api_level=stages.BASIC, **trans, batch_model=3), f.cores)
    if number == 4:
        model = 6 if gates.one_axis_broadcast(f).of_a else 7
        return Launch(branch, TilingKey(api_level=stages.TENSOR, **trans, batch_model=model), f.cores)
    if number == 5:
        return Launch(branch, None, f.cores)  # how its results leave L0C is not known, and is part of the key
    if number == 6:
        return Launch(branch, TilingKey(api_level=stages.HIGH, **trans, batch_model=1), f.cores)
    if number in (7, 8):
        info = full_load(f, loads_a=number == 7)
        key = TilingKey(api_level=stages.interface(f), **trans, full_load=number - 6)
        return Launch(branch, key, info.used_core_num, run_info=info)
    high = gates.any_strided(f) or stages.split_length(f) > 0
    level, model = (stages.HIGH, 0) if high else (stages.TENSOR, 5)
    info = base(f)
    return Launch(branch, TilingKey(api_level=level, **trans, batch_model=model), f.cores, run_info=info)


def stream_k(f: Figures) -> RunInfo:
    """Return the state after BATCH_STREAM_K: K is split over the cores that blocks leave idle."""
    share = f.cores // f.batch_c
    m_count, n_count = (_raised(ceil_div(size, BASE), share) for size in (f.m, f.n))
    base_m, base_n = round_up(ceil_div(f.m, m_count), 16), round_up(ceil_div(f.n, n_count), 16)
    k_count = max(share // (m_count * n_count), 1)
    single_k = ceil_div(f.k, k_count)
    unit = 128 // f.element_bytes if not f.transpose_a or f.transpose_b else 16
    most = 65536 // 2 // f.element_bytes // max(base_m, base_n)
    depth = min(single_k, round_down(most, unit))
    steps = stages.k_steps(f, base_m, base_n, depth)
    return _stepped(f, base_m, base_n, depth, steps, single_k=single_k, k_count=k_count)


def base(f: Figures) -> RunInfo:
    """Return the state after BASE: the block of ResetBase, with no search."""
    depth = 128 // f.element_bytes
    return _stepped(f, BASE, BASE, depth, stages.k_steps(f, BASE, BASE, depth), single_k=f.k, k_count=1)


def _raised(count: int, share: int) -> int:
    """Return a count of blocks, raised to half the share of cores where that leaves few of them idle."""
    return share // 2 if share // 3 < count < share // 2 else count


def _stepped(
    f: Figures, base_m: int, base_n: int, depth: int, steps: int, *, single_k: int, k_count: int
) -> RunInfo:
    return RunInfo(
        used_core_num=f.cores,
        single_core_m=base_m,
        single_core_n=base_n,
        single_core_k=single_k,
        base_m=base_m,
        base_n=base_n,
        base_k=depth,
        step_ka=steps,
        step_kb=steps,
        depth_a1=2 * steps,
        depth_b1=2 * steps,
        db_l0c=1,
        tail_k_cnt=k_count,
        inner_batch=stages.inner_batch(f),
    )
