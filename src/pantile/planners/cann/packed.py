"""The 25 words that the basic kernels are given (section 9)."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTiling:
    """BatchMatMulV3BasicTilingData; the fields in the order of their words.

    The four from *mmad_param* to *ub_db* share one word, the first in its lowest byte.
    """

    used_core_num: int
    m: int
    n: int
    k: int
    m_l1: int
    n_l1: int
    k_l1: int
    base_m: int
    base_n: int
    base_k: int
    sk_single_core_k: int
    m_tail_cnt: int = 1
    n_tail_cnt: int = 1
    m_base_tail_split_cnt: int = 1
    n_base_tail_split_cnt: int = 1
    m_tail_main: int = 0
    n_tail_main: int = 0
    mmad_param: int
    l1_buffer_num: int
    l0c_db: int
    ub_db: int
    l2_cache_disable: int
    slice_m: int
    src_nd_stride: int = 1
    row_stride: int
    inner_batch: int
    batch_dim_all: int
    batch_x3: int = 1

    def to_json(self) -> dict[str, int]:
        """Return the fields under the source's names."""
        return {name: getattr(self, field) for field, name in _NAMES.items()}

    @property
    def words(self) -> list[int]:
        """The 32-bit words, as signed numbers."""
        values = list(self.to_json().values())
        bytes_ = sum(value << (8 * at) for at, value in enumerate(values[17:21]))
        words = [*values[:17], bytes_, *values[21:]]
        return [((word + 2**31) % 2**32) - 2**31 for word in words]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.upper() if part in ("l1", "db") else part.capitalize() for part in rest)


_NAMES = {each.name: _camel(each.name) for each in fields(PackedTiling)}
