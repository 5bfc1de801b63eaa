"""A recorded call of ``mma_tile`` as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pantile.errors import ProgramError, suggestion
from pantile.targets.ascend.elements import BIAS_BYTES, ELEMENTS
from pantile.targets.ascend.memref import Extents, Memref, dense
from pantile.targets.ascend.mma_call import EVENT_NAMES, Bias, Events, MmaCall

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = TypeVar("Value")


def call_of_json(recorded: Mapping[str, Any]) -> MmaCall:
    """Return the call that the ``input`` of a recorded case describes.

    Raises:
        ProgramError: If it names an unknown type, or is no call that the library has.
        KeyError: If it lacks an argument.
    """
    bias = recorded.get("bias")
    events = recorded["events"]
    return MmaCall(
        element=_known(ELEMENTS, recorded["dtype"], "dtype"),
        ta=bool(recorded["TA"]),
        tb=bool(recorded["TB"]),
        hf32=bool(recorded["HF32"]),
        init=bool(recorded["init"]),
        m=int(recorded["m"]),
        n=int(recorded["n"]),
        k=int(recorded["k"]),
        a=_memref(recorded["ma"]),
        b=_memref(recorded["mb"]),
        c=_memref(recorded["mc"]),
        bias=None if bias is None else _bias(bias),
        events=Events(**{mine: int(events[theirs]) for theirs, mine in EVENT_NAMES.items()}),
        unit_flag=int(recorded.get("unit_flag_mode", 0)),
        unit_flag_group=int(recorded.get("unit_flag_group_id", 0)),
        was_disabled=bool(recorded.get("unit_flag_was_disabled_in", 0)),
    )


def json_of_call(call: MmaCall) -> dict[str, Any]:
    """Return a call as the ``input`` of a recorded case has it: the inverse of :func:`call_of_json`."""
    events = {theirs: getattr(call.events, mine) for theirs, mine in EVENT_NAMES.items()}
    bias = None
    if call.bias is not None:
        block = call.bias.block
        bias = {
            "dtype": call.bias.dtype,
            "base": block.base,
            "offset": block.offset,
            "sizes": list(block.sizes),
        }
    return {
        "dtype": call.element.name,
        "acc_dtype": "float" if call.element.accumulator == "float" else "int32",
        "TA": call.ta,
        "TB": call.tb,
        "HF32": call.hf32,
        "init": call.init,
        "m": call.m,
        "k": call.k,
        "n": call.n,
        "ma": _block(call.a),
        "mb": _block(call.b),
        "mc": _block(call.c),
        "bias": bias,
        "events": events,
        "unit_flag_mode": call.unit_flag,
        "unit_flag_group_id": call.unit_flag_group,
        "unit_flag_was_disabled_in": int(call.was_disabled),
    }


def _block(block: Memref) -> dict[str, Any]:
    return {
        "base": block.base,
        "offset": block.offset,
        "sizes": list(block.sizes),
        "strides": list(block.strides),
    }


def _memref(recorded: Mapping[str, Any]) -> Memref:
    sizes = _four(recorded["sizes"])
    strides = _four(recorded["strides"]) if "strides" in recorded else dense(0, sizes).strides
    return Memref(int(recorded["base"]), int(recorded["offset"]), sizes, strides)


def _four(values: Any) -> Extents:
    first, second, third, fourth = (int(value) for value in values)
    return first, second, third, fourth


def _bias(recorded: Mapping[str, Any]) -> Bias:
    _known(BIAS_BYTES, recorded["dtype"], "bias dtype")
    return Bias(str(recorded["dtype"]), _memref(recorded))


def _known(table: Mapping[str, Value], name: Any, what: str) -> Value:
    if name not in table:
        raise ProgramError(f"unknown {what} {name!r}", mend=suggestion(str(name), table))
    return table[name]
