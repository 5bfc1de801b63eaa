"""What a plan of ``cann`` says of a kernel, read once and whole: its file may have been changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.errors import OutsideModelError, WorkloadError

if TYPE_CHECKING:
    from pantile.tiling.plan import Plan

_MOST = (1 << 31) - 1
"""No size in CANN's structures is beyond this."""

_TILING = dict.fromkeys(("m", "n", "k", "mL1", "nL1", "kL1", "baseK", "l1BufferNum"), (1, _MOST))
_TILING |= {"l0cDB": (1, 2), "batchDimAll": (1, _MOST), "innerBatch": (0, _MOST)}
_LAUNCH = {"blockDim": (1, _MOST), "splitK": (0, _MOST)}


class Packed(NamedTuple):
    """Keys of a plan that a kernel is made of; those of ``tilingData`` come first.

    Attributes:
        sizes: ``m``, ``n``, ``k`` and ``batchDimAll``: what is computed.
        tile: ``mL1`` and ``nL1``, ``kL1`` and ``baseK``: how it is cut.
        l1_buffers: ``l1BufferNum``.
        sums: ``l0cDB``.
        inner_batch: ``innerBatch``.
        cores: ``blockDim``.
        split: ``splitK``.
    """

    sizes: tuple[int, int, int, int]
    tile: tuple[int, int, int, int]
    l1_buffers: int
    sums: int
    inner_batch: int
    cores: int
    split: int


def packed_of(plan: Plan) -> Packed:
    """Return what a plan of ``cann`` says of its kernel.

    Raises:
        OutsideModelError: If its branch packs nothing of the kind.
        WorkloadError: If a key is missing, or has a value that cannot be; all of them in one line.
    """
    tiling = plan.parameters.get("tilingData")
    if tiling is None:
        branch = plan.parameters.get("branch", "of this plan")
        raise OutsideModelError(
            f"branch {branch} is known by how it is launched, not by what its cores compute",
            mend="use pantile plan, or -p asw",
        )
    if not isinstance(tiling, Mapping):
        raise WorkloadError(
            f"tilingData: expected an object, got {_short(tiling)}", mend="plan again, or mend the file"
        )
    wrong = [*_wrong(tiling, _TILING, "tilingData."), *_wrong(plan.parameters, _LAUNCH, "")]
    if wrong:
        raise WorkloadError("; ".join(wrong), mend="plan again, or mend the file")
    return Packed(
        sizes=(tiling["m"], tiling["n"], tiling["k"], tiling["batchDimAll"]),
        tile=(tiling["mL1"], tiling["nL1"], tiling["kL1"], tiling["baseK"]),
        l1_buffers=tiling["l1BufferNum"],
        sums=tiling["l0cDB"],
        inner_batch=tiling["innerBatch"],
        cores=plan.parameters["blockDim"],
        split=plan.parameters["splitK"],
    )


def _wrong(given: Mapping[str, Any], ranges: Mapping[str, tuple[int, int]], prefix: str) -> list[str]:
    """Return what is wrong with the whole numbers that stand in *given*."""
    return [
        f"{prefix}{name}: expected {_range(*bounds)}, got {_short(given[name]) if name in given else 'none'}"
        for name, bounds in ranges.items()
        if type(given.get(name)) is not int or not bounds[0] <= given[name] <= bounds[1]
    ]


def _range(low: int, high: int) -> str:
    if high == _MOST:
        return f"a whole number from {low} to 2^31 - 1"
    return f"{low} or {high}"


def _short(value: object) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
