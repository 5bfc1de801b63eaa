"""From a recorded call to the planner's own values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.planners.cann.normalise import LARGEST, figures_of, normalise
from pantile.planners.cann.platform import CUBE_FREQ_MHZ, DDR_RATE, L2_RATE, Platform
from pantile.planners.cann.problem import ND, NZ, OperatorProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_MEMORIES = {
    "l0a": "l0ASize",
    "l0b": "l0BSize",
    "l0c": "l0CSize",
    "l1": "l1Size",
    "ub": "ubSize",
    "bt": "btSize",
    "l2": "l2Size",
}


class NotSaid(Exception):
    """A recorded input leaves open what decides; says what."""


def platform_of_case(table: Mapping[str, Any]) -> Platform:
    """Return the platform of a case, in the words of its file."""
    cores = int(table["aicNum"])
    return Platform(
        cores=cores,
        vector_cores=int(table["aivNum"]),
        soc_cores=_number(table, "ai_core_cnt", cores),
        cube_freq=_number(table, "cube_freq", CUBE_FREQ_MHZ),
        ddr_rate=_number(table, "ddr_rate", DDR_RATE),
        l2_rate=_number(table, "l2_rate", L2_RATE),
        **{name: int(table[key]) for name, key in _MEMORIES.items()},
    )


def _number(table: Mapping[str, Any], key: str, otherwise: int) -> int:
    """Return a rate; what is no decimal number counts as left out, as in the source."""
    text = str(table.get(key, ""))
    return int(text) if text.isascii() and text.isdigit() else otherwise


def problem_of_case(table: Mapping[str, Any]) -> OperatorProblem:
    """Return the operator's call of a case.

    Raises:
        NotSaid: If the inputs are views, but not which.
    """
    a_strides, b_strides = _shape(table.get("a_stride")), _shape(table.get("b_stride"))
    if not table.get("contiguous", True) and a_strides is None and b_strides is None:
        raise NotSaid("it says that the inputs are views, but not with which strides")
    bias = _shape(table.get("bias_shape"))
    a_dtype = str(table.get("a_dtype", table.get("dtype")))
    return OperatorProblem(
        a_shape=_shape(table["a_shape"]) or (),
        b_shape=_shape(table["b_shape"]) or (),
        c_shape=_shape(table["c_shape"]) or (),
        transpose_a=bool(table["adj_x1"]),
        transpose_b=bool(table["adj_x2"]),
        a_dtype=a_dtype,
        b_dtype=str(table.get("b_dtype", a_dtype)),
        c_dtype=str(table.get("c_dtype", a_dtype)),
        bias_shape=bias,
        bias_dtype=str(table.get("bias_dtype") or a_dtype) if bias is not None else None,
        hf32=bool(table.get("enable_hf32", False)),
        offset_x=int(table.get("offset_x") or 0),
        deterministic_level=int(table.get("deterministic_level") or 0),
        a_format=_format(table.get("a_format")),
        b_format=_format(table.get("b_format", table.get("format"))),
        c_format=_format(table.get("c_format")),
        a_strides=a_strides,
        b_strides=b_strides,
    )


def normalised_case(table: Mapping[str, Any], platform: Mapping[str, Any]) -> tuple[Normalised, Figures]:
    """Return the problem of a case, normalised, and its figures.

    Raises:
        PantileError: If the operator refuses it.
        NotSaid: If it is not said whole.
    """
    given = normalise(problem_of_case(table))
    return given, figures_of(given, platform_of_case(platform))


def refused_by_all(given: Normalised) -> str:
    """Return why every branch refuses a folded problem; empty where none has a reason to."""
    sizes = {"m": given.m, "n": given.n}
    return next((f"{name} is {size}, above {LARGEST}" for name, size in sizes.items() if size > LARGEST), "")


def _shape(value: Any) -> tuple[int, ...] | None:
    return None if value is None else tuple(int(size) for size in value)


def _format(value: Any) -> str:
    return NZ if value is not None and str(value).upper() in (NZ, "NZ") else ND
