"""ASW_BASIC: rows and columns are cut, in seven stages (sections 4 to 11)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pantile.planners.cann import stages
from pantile.planners.cann.block_order import BlockOrder, reduction_pieces
from pantile.planners.cann.block_search import Search, search_block
from pantile.planners.cann.integers import ceil_div, round_up
from pantile.planners.cann.key import TilingKey
from pantile.planners.cann.packed import PackedTiling
from pantile.planners.cann.run_info import RunInfo

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

WORKSPACE_BYTES = 20 * 2**20


@dataclass(frozen=True)
class AswBasic:
    """What ASW_BASIC makes of a problem, every intermediate.

    Attributes:
        figures: The problem on its platform.
        search: The search for the base block.
        base_m: Rows of the base block, clamped; likewise columns and depth.
        steps: Base depths in one chunk of L1; 0 where not even one fits.
    """

    figures: Figures
    search: Search
    base_m: int
    base_n: int
    base_k: int
    steps: int

    @property
    def tiles(self) -> int:
        """Tiles that the host counts: with A's batches."""
        f = self.figures
        return f.batch_a * ceil_div(f.m, self.base_m) * ceil_div(f.n, self.base_n)

    @property
    def used_cores(self) -> int:
        """Cores that have work; the kernel is launched on all of them."""
        return min(self.tiles, self.figures.cores)

    @property
    def chunk(self) -> int:
        """Reduction length of a chunk in L1 as the kernel is told (kL1); it may exceed k."""
        return self.base_k * min(self.steps, stages.MOST_PACKED_STEPS)

    @property
    def buffers(self) -> int:
        """Chunks of both inputs in L1."""
        return stages.l1_buffers(self.figures, self.base_m, self.base_n, self.base_k * self.steps)

    @property
    def adjusted_n(self) -> int:
        """Columns of the base block after AdjustOpTiling, which caps it where there is a bias."""
        f = self.figures
        return min(self.base_n, max(f.bt, 256)) if f.bias_bytes else self.base_n

    @property
    def m_l1(self) -> int:
        """Rows of a tile in L1."""
        return min(round_up(self.figures.m, 16), self.base_m)

    @property
    def n_l1(self) -> int:
        """Columns of a tile in L1."""
        return min(round_up(self.figures.n, 16), self.base_n)

    @property
    def key(self) -> TilingKey:
        """Which kernel runs."""
        f = self.figures
        return TilingKey(api_level=stages.interface(f), a_trans=f.transpose_a, b_trans=f.transpose_b)

    @property
    def run_info(self) -> RunInfo:
        """The source's state when the branch has run."""
        f, best = self.figures, self.search.best
        return RunInfo(
            used_core_num=self.used_cores,
            single_core_m=self.base_m,
            single_core_n=self.base_n,
            single_core_k=f.k,
            base_m=self.base_m,
            base_n=self.base_n,
            base_k=self.base_k,
            step_ka=self.steps,
            step_kb=self.steps,
            depth_a1=2 * self.steps,
            depth_b1=2 * self.steps,
            db_l0c=stages.l0c_buffers(f, self.base_m, self.base_n),
            l1_buffer_num=self.buffers,
            ub_db=stages.ub_buffers(f, self.base_m, self.base_n),
            inner_batch=stages.inner_batch(f),
            cube_bound_param=best.param,
            cube_bound_edge=best.edge,
        )

    @cached_property
    def packed(self) -> PackedTiling:
        """What the kernel is given."""
        f = self.figures
        return PackedTiling(
            used_core_num=self.used_cores,
            m=f.m,
            n=f.n,
            k=f.k,
            m_l1=self.m_l1,
            n_l1=self.n_l1,
            k_l1=self.chunk,
            base_m=self.base_m,
            base_n=self.adjusted_n,
            base_k=self.base_k,
            sk_single_core_k=f.k,
            mmad_param=f.hf32,
            l1_buffer_num=self.buffers,
            l0c_db=stages.l0c_buffers(f, self.base_m, self.base_n),
            ub_db=stages.ub_buffers(f, self.base_m, self.base_n),
            l2_cache_disable=stages.l2_bypass(f, self.m_l1, self.n_l1, self.chunk),
            slice_m=self.base_m,
            row_stride=1 if f.transpose_a else f.a_row,
            inner_batch=stages.inner_batch(f),
            batch_dim_all=f.batch_c,
        )

    @property
    def order(self) -> BlockOrder:
        """Who does which block when."""
        pieces = reduction_pieces(self.figures.k, stages.split_length(self.figures))
        return BlockOrder(self.figures, self.m_l1, self.n_l1, pieces)


def asw_basic(f: Figures) -> AswBasic:
    """Return what ASW_BASIC makes of a problem, whether or not its branch is the one taken; k is not 0."""
    search = search_block(f)
    m = min(round_up(f.m, 16), search.best.m)
    n = min(round_up(f.n, 16), search.best.n)
    depth = stages.base_depth(f, m, n)
    return AswBasic(f, search, m, n, depth, stages.k_steps(f, m, n, depth))
