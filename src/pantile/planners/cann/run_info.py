"""The tiling's state in the source, which every branch starts from and fills in part."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The source's run info; sizes in elements, defaults those of the source.

    Attributes:
        used_core_num: Cores that have work.
        single_core_m: Rows of what a core does at a time; likewise columns and reduction.
        base_m: Rows of a block in L0; likewise columns and reduction.
        step_ka: Base depths in one chunk of A in L1; likewise of B.
        depth_a1: Chunks of A in L1, in base depths; likewise of B.
        db_l0c: Blocks that L0C holds; *ub_db* those of UB.
        l1_buffer_num: Chunks of both inputs that L1 holds.
        inner_batch: Batches between two rows of a strided view.
        cube_bound_param: 1 / baseM + 1 / baseN before the last clamp; *cube_bound_edge* its bound.
        iter_batch_l1: Batches in L1 at a time; likewise in L0.
        merge_batch_l0: Batches stacked in one product of the cube.
        tail_k_cnt: Cores that share one block's reduction.
    """

    used_core_num: int = 1
    single_core_m: int = 1
    single_core_n: int = 1
    single_core_k: int = 1
    base_m: int = 1
    base_n: int = 1
    base_k: int = 1
    step_ka: int = 1
    step_kb: int = 1
    depth_a1: int = 1
    depth_b1: int = 1
    step_m: int = 1
    step_n: int = 1
    iterate_order: int = 0
    db_l0c: int = 0
    l1_buffer_num: int = 2
    m_base_tail_split_cnt: int = 1
    n_base_tail_split_cnt: int = 1
    tail_m_cnt: int = 1
    tail_n_cnt: int = 1
    tail_k_cnt: int = 1
    m_tail_main: int = 0
    n_tail_main: int = 0
    ub_db: int = 1
    inner_batch: int = 0
    cube_bound_param: float = 0.0
    cube_bound_edge: float = 0.0
    iter_batch_l1: int = 1
    iter_batch_l0: int = 1
    iter_batch: int = 0
    batch_out_num: int = 1
    merge_batch_l0: int = 1

    def to_json(self) -> dict[str, int | float]:
        """Return the fields under the source's names."""
        return {name: getattr(self, field) for field, name in _NAMES.items()}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_SPELLED = {
    "step_ka": "stepKa",
    "db_l0c": "dbL0C",
    "tail_m_cnt": "tailMCnt",
    "ub_db": "ubDB",
}
_NAMES = {each.name: _SPELLED.get(each.name, _camel(each.name)) for each in fields(RunInfo)}
