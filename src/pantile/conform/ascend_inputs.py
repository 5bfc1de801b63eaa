"""The inputs of recorded streams of an Ascend core: calls of ``mma_tile``, launches and products of the GEMM.

A recorded input is what another program ran, so nothing is converted and nothing left out is made up: a size
is a whole number and no text of one, a choice is true or false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pantile.conform.case_inputs import CaseInputs, Size, read_inputs
from pantile.conform.compare import KNOWN
from pantile.conform.faults import wrong_input
from pantile.errors import OutsideModelError
from pantile.targets.ascend.block_call import K_TILE, M_TILE, N_TILE, BlockCall
from pantile.targets.ascend.elements import BIAS_BYTES, ELEMENTS, FRACTAL_ROWS, parts
from pantile.targets.ascend.mma_call import EVENT_NAMES
from pantile.targets.ascend.mma_json import call_of_json
from pantile.targets.ascend.mma_split import split_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pantile.targets.ascend.mma_call import MmaCall

LAST_ADDRESS = 1 << 32
"""What no address in L1 or L0C reaches."""

MOST_LOADS = 200_000
MOST_TILES, MOST_BLOCKS, MOST_CORES = 1_000, 1_000_000, 4096
"""Up to what calls, launches and tables of block orders are computed; recorded ones are far below."""

Count = Annotated[int, Field(ge=0)]
Address = Annotated[int, Field(ge=0, lt=LAST_ADDRESS)]
Four = Annotated[list[Count], Field(min_length=4, max_length=4)]
Event = Annotated[int, Field(ge=-1)]


class _Block(CaseInputs):
    base: Address
    offset: Address
    sizes: Four


class _Operand(_Block):
    strides: Four


class _Bias(_Block):
    dtype: Literal[tuple(BIAS_BYTES)]  # type: ignore[valid-type]
    strides: Four | None = None


class _Call(CaseInputs):
    """One call of ``mma_tile``; its events and the type of its sums are looked at besides."""

    dtype: Literal[tuple(ELEMENTS)]  # type: ignore[valid-type]
    acc_dtype: str
    TA: bool
    TB: bool
    HF32: bool
    init: bool
    m: Count
    k: Count
    n: Count
    ma: _Operand
    mb: _Operand
    mc: _Operand
    bias: _Bias | None
    events: dict[str, Event]
    unit_flag_mode: Annotated[int, Field(ge=0, le=3)]
    unit_flag_group_id: Annotated[int, Field(ge=0, le=99)]
    unit_flag_was_disabled_in: Annotated[int, Field(ge=0, le=1)]


class _Launch(CaseInputs):
    """One core's part of a macro GEMM."""

    dtype: Literal["half", "int8"]
    m: Size
    k: Size
    n: Size
    TA: bool
    TB: bool
    bias: bool
    m_tile: Size
    k_tile: Size
    n_tile: Size
    block_idx: Count
    block_num: Size


class Product(CaseInputs):
    """A product whose blocks are put in an order, and among how many cores."""

    m: Size
    k: Size
    n: Size
    m_tile: Size
    n_tile: Size
    block_num: Size


def call_of_case(recorded: Any) -> tuple[MmaCall, dict[str, Any]]:
    """Return the call that an ``input`` describes, and what of it was read, as known values.

    Raises:
        WrongInput: If something is missing or cannot be an input.
        ProgramError: If the library has no such call.
        OutsideModelError: If it is too long to be listed.
    """
    given = read_inputs(recorded, _Call, "input")
    accumulator = "float" if ELEMENTS[given.dtype].accumulator == "float" else "int32"
    if given.acc_dtype != accumulator:
        raise wrong_input("input.acc_dtype", f"{accumulator}, what {given.dtype} adds up in", given.acc_dtype)
    for name in EVENT_NAMES:
        if name not in given.events:
            raise wrong_input(f"input.events.{name}", "an id, or -1 for none", None)
    for name in given.events:
        if name not in EVENT_NAMES:
            raise wrong_input(f"input.events.{name}", f"one of {', '.join(EVENT_NAMES)}", given.events[name])
    for name in ("ma", "mb", "mc"):
        if 0 in (strides := getattr(given, name).strides)[:3]:
            raise wrong_input(f"input.{name}.strides", "distances of at least 1", strides)
    call = call_of_json(given.model_dump(exclude_none=True))
    loads = _most_loads(call)
    if loads > MOST_LOADS:
        raise OutsideModelError(f"the call is of up to {loads} loads, and at most {MOST_LOADS} are listed")
    return call, _known(_Call)


def _most_loads(call: MmaCall) -> int:
    """Return a bound on the loads that a call emits: by strips of an operand, or by squares of bytes."""
    split = split_of(call)
    deep = parts(split.k_part, FRACTAL_ROWS)
    wide = parts(split.sum_rows, FRACTAL_ROWS) + parts(call.n, FRACTAL_ROWS)
    return split.count * (call.a.sizes[1] + call.b.sizes[1] + deep * wide)


def launch_of_case(recorded: Any) -> tuple[BlockCall, dict[str, Any]]:
    """Return the launch that an ``input`` describes, and what of it was read, as known values.

    Raises:
        WrongInput: If something is missing or cannot be an input.
        ProgramError: If the library has no such kernel.
        OutsideModelError: If it has another tile than the library, or is too long to be listed.
    """
    given = read_inputs(recorded, _Launch, "input")
    tile = (given.m_tile, given.k_tile, given.n_tile)
    if tile != (M_TILE, K_TILE, N_TILE):
        wanted = f"{M_TILE} x {K_TILE} x {N_TILE}"
        raise OutsideModelError(f"the library has one tile, {wanted}; the case has {tile}")
    blocks = parts(given.m, M_TILE) * parts(given.n, N_TILE)
    tiles = parts(blocks, given.block_num) * parts(given.k, K_TILE)
    if tiles > MOST_TILES or given.block_num > MOST_CORES:
        raise OutsideModelError(
            f"one of {given.block_num} cores takes {tiles} tiles; "
            f"at most {MOST_TILES} of {MOST_CORES} are listed"
        )
    launch = BlockCall(
        element=ELEMENTS[given.dtype],
        m=given.m,
        n=given.n,
        k=given.k,
        ta=given.TA,
        tb=given.TB,
        has_bias=given.bias,
        block_idx=given.block_idx,
        block_num=given.block_num,
    )
    return launch, _known(_Launch)


def product_of_row(row: Any) -> tuple[Product, dict[str, Any]]:
    """Return the product of one row of a table, and what of the row was read, as known values.

    Raises:
        WrongInput: If something is missing or cannot be an input.
        OutsideModelError: If it has too many blocks, or cores, to be computed.
    """
    given = read_inputs(row, Product)
    blocks = parts(given.m, given.m_tile) * parts(given.n, given.n_tile)
    if blocks > MOST_BLOCKS or given.block_num > MOST_CORES:
        raise OutsideModelError(
            f"{blocks} blocks on {given.block_num} cores; at most {MOST_BLOCKS} on {MOST_CORES} are computed"
        )
    return given, _known(Product)


def require_traces(streams: Mapping[str, Any]) -> None:
    """Check that each of *streams*, by the field that it stands at, holds a list of instructions.

    Raises:
        WrongInput: If one does not.
    """
    for at, stream in streams.items():
        if not isinstance(stream, dict):
            raise wrong_input(at, "an object with a trace", stream)
        field = f"{at}.trace".removeprefix(".")
        if not isinstance(stream.get("trace"), list):
            raise wrong_input(field, "a list of instructions", stream.get("trace"))


def _known(model: type[CaseInputs]) -> dict[str, Any]:
    """Return the names that are read; what else a file has there is then told as unchecked."""
    return dict.fromkeys(model.model_fields, KNOWN)
