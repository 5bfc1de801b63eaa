"""From a text of the scheme ``mma-tile`` to a call of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import ManyProblems, PantileError, WorkloadError, raise_all, suggestion
from pantile.targets.ascend.elements import BY_DTYPE
from pantile.targets.ascend.mma_call import EVENT_NAMES, Events, MmaCall
from pantile.targets.ascend.mma_default import L1_BYTES, default_call

if TYPE_CHECKING:
    from pantile.workload.tilecall import TileCall

_BIASES = {"fp16": "half", "fp32": "float", "int32": "int32"}
_SHORT = tuple(name for name in EVENT_NAMES.values() if name != "kloop")


def call_of_text(tile: TileCall, l1_bytes: int = L1_BYTES, event_ids: int | None = None) -> MmaCall:
    """Return the call that a text describes, its operands one after another in L1.

    Events go by the library's names of the arguments, or by those of
    :class:`~pantile.targets.ascend.mma_call.Events`.

    Args:
        tile: The text, taken apart.
        l1_bytes: Bytes of L1.
        event_ids: How many ids a pair of pipes has; without it, any id is taken, for a checker to judge.

    Raises:
        WorkloadError: If the library has no such call; all problems at once.
    """
    problems: list[PantileError] = []
    element = BY_DTYPE.get(tile.dtype.name)
    if element is None:
        allowed = ", ".join(BY_DTYPE)
        problem = f"mma_tile takes {allowed}, got {tile.dtype.name}"
        problems.append(WorkloadError(problem, place=tile.place("dtype")))
    bias = None if tile.bias is None else _BIASES.get(tile.bias.name)
    if tile.bias is not None and bias is None:
        problem = f"a bias of mma_tile is fp16, fp32 or int32, got {tile.bias.name}"
        problems.append(WorkloadError(problem, place=tile.place("bias")))
    events = _events(tile, event_ids, problems)
    raise_all(problems)
    assert element is not None
    try:
        return default_call(
            element,
            tile.m,
            tile.n,
            tile.k,
            ta=tile.transpose_a,
            tb=tile.transpose_b,
            hf32=tile.hf32,
            bias=bias,
            init=tile.init,
            events=events,
            unit_flag=tile.unit_flag,
            l1_bytes=l1_bytes,
        )
    except PantileError as error:
        found = error.problems if isinstance(error, ManyProblems) else (error,)
        raise_all([WorkloadError(each.problem, place=tile.place("m"), mend=each.mend) for each in found])
        raise


def _events(tile: TileCall, event_ids: int | None, problems: list[PantileError]) -> Events:
    """Return the events of a text; adds a problem for every name or id that there is not, or name twice."""
    found: dict[str, int] = {} if tile.kloop is None else {"kloop": tile.kloop}
    place = tile.place("events")
    for name, event in tile.events:
        mine = EVENT_NAMES.get(name, name)
        if mine not in _SHORT:
            mend = suggestion(name, (*_SHORT, *EVENT_NAMES))
            problems.append(WorkloadError(f"unknown event {name!r}", place=place, mend=mend))
        elif mine in found:
            problems.append(WorkloadError(f"event {mine} is given twice, once as {name}", place=place))
        elif event_ids is not None and event >= event_ids:
            problem = f"expected {name} of 0 to {event_ids - 1}, got {event}"
            problems.append(WorkloadError(problem, place=place, mend="leave an event out that is not passed"))
        else:
            found[mine] = event
    return Events(**found)
