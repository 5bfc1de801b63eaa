"""From a recorded call to the planner's own values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from pantile.conform.case_inputs import CaseInputs, read_inputs
from pantile.conform.faults import wrong_input
from pantile.errors import OutsideModelError
from pantile.planners.cann.normalise import LARGEST, figures_of, normalise
from pantile.planners.cann.platform import CUBE_FREQ_MHZ, DDR_RATE, L2_RATE, Platform
from pantile.planners.cann.problem import ND, NZ, OperatorProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.planners.cann.figures import Figures
    from pantile.planners.cann.normalise import Normalised

_LARGEST_WORD = 2**64 - 1
"""The source counts in unsigned words of 64 bits."""

# In less than this, sizes that the rules round down to 16 come to 0, and are then divided by (a chip of this
# generation has eight times as much, or more).
_LEAST_L0, _LEAST_L0C, _LEAST_L1 = 8192, 32768, 16384

Count = Annotated[int, Field(ge=1, le=_LARGEST_WORD)]
L0 = Annotated[int, Field(ge=_LEAST_L0, le=_LARGEST_WORD)]
L0C = Annotated[int, Field(ge=_LEAST_L0C, le=_LARGEST_WORD)]
L1 = Annotated[int, Field(ge=_LEAST_L1, le=_LARGEST_WORD)]
Shape = list[int]


def _decimal(value: Any) -> Any:
    """Return a rate of the platform file; what is no decimal number counts as left out, as in the source."""
    if isinstance(value, list | dict):
        return value
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else None


Rate = Annotated[Count | None, BeforeValidator(_decimal)]


class PlatformInput(CaseInputs):
    """The platform of a call, in the words of its file.

    Memories are in bytes, those of a core per core. No rate may be 0: the source would divide by it.
    """

    aicNum: Annotated[int, Field(ge=1, le=LARGEST)]  # noqa: N815  # these are the file's own names
    aivNum: Annotated[int, Field(ge=0, le=LARGEST)]  # noqa: N815
    l0ASize: L0  # noqa: N815
    l0BSize: L0  # noqa: N815
    l0CSize: L0C  # noqa: N815
    l1Size: L1  # noqa: N815
    ubSize: Count  # noqa: N815
    btSize: Count  # noqa: N815
    l2Size: Count  # noqa: N815
    ai_core_cnt: Rate = None
    cube_freq: Rate = None
    ddr_rate: Rate = None
    l2_rate: Rate = None


class CallInput(CaseInputs):
    """One call of the operator: shapes as stored, attributes, types, formats.

    Sizes may be any whole numbers: which of them the operator takes is for its own checks to say.
    """

    a_shape: Shape
    b_shape: Shape
    c_shape: Shape
    adj_x1: bool
    adj_x2: bool
    dtype: str | None = None
    a_dtype: str | None = None
    b_dtype: str | None = None
    c_dtype: str | None = None
    bias_shape: Shape | None = None
    bias_dtype: str | None = None
    enable_hf32: bool | None = None
    offset_x: int | None = None
    deterministic_level: int | None = None
    format: str | None = None
    a_format: str | None = None
    b_format: str | None = None
    c_format: str | None = None
    contiguous: bool = True
    a_stride: Shape | None = None
    b_stride: Shape | None = None


def platform_of_case(table: Any) -> Platform:
    """Return the platform of a case.

    Raises:
        WrongInput: If a figure of it is missing or cannot be one.
    """
    read = read_inputs(table, PlatformInput, "platform")
    return Platform(
        cores=read.aicNum,
        vector_cores=read.aivNum,
        soc_cores=read.ai_core_cnt or read.aicNum,
        cube_freq=read.cube_freq or CUBE_FREQ_MHZ,
        ddr_rate=read.ddr_rate or DDR_RATE,
        l2_rate=read.l2_rate or L2_RATE,
        l0a=read.l0ASize,
        l0b=read.l0BSize,
        l0c=read.l0CSize,
        l1=read.l1Size,
        ub=read.ubSize,
        bt=read.btSize,
        l2=read.l2Size,
    )


def problem_of_case(table: Any, at: str = "input") -> OperatorProblem:
    """Return the operator's call of a case, which stands at a field of it.

    Raises:
        WrongInput: If an input is missing or cannot be one.
        OutsideModelError: If the inputs are views, but not which.
    """
    read = read_inputs(table, CallInput, at)
    if not read.contiguous and read.a_stride is None and read.b_stride is None:
        raise OutsideModelError("it says that the inputs are views, but not with which strides")
    element = read.a_dtype or read.dtype
    if element is None:
        raise wrong_input(f"{at}.a_dtype".removeprefix("."), "a type", None)
    bias = _shape(read.bias_shape)
    return OperatorProblem(
        a_shape=tuple(read.a_shape),
        b_shape=tuple(read.b_shape),
        c_shape=tuple(read.c_shape),
        transpose_a=read.adj_x1,
        transpose_b=read.adj_x2,
        a_dtype=element,
        b_dtype=read.b_dtype or element,
        c_dtype=read.c_dtype or element,
        bias_shape=bias,
        bias_dtype=(read.bias_dtype or element) if bias is not None else None,
        hf32=bool(read.enable_hf32),
        offset_x=read.offset_x or 0,
        deterministic_level=read.deterministic_level or 0,
        a_format=_format(read.a_format),
        b_format=_format(read.b_format or read.format),
        c_format=_format(read.c_format),
        a_strides=_shape(read.a_stride),
        b_strides=_shape(read.b_stride),
    )


def normalised_case(table: Any, platform: Any, at: str = "input") -> tuple[Normalised, Figures]:
    """Return the problem of a case, normalised, and its figures.

    Raises:
        WrongInput: If an input is missing or cannot be one.
        PantileError: If the operator refuses it, or if it is not said whole.
    """
    given = normalise(problem_of_case(table, at))
    return given, figures_of(given, platform_of_case(platform))


def refused_by_all(given: Normalised) -> str:
    """Return why every branch refuses a folded problem; empty where none has a reason to."""
    sizes = {"m": given.m, "n": given.n}
    return next((f"{name} is {size}, above {LARGEST}" for name, size in sizes.items() if size > LARGEST), "")


def _shape(value: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


def _format(value: str | None) -> str:
    return NZ if value is not None and value.upper() in (NZ, "NZ") else ND
