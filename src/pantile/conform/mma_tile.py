"""Recorded calls of ``mma_tile``: one call, and what two revisions of the library emit for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN, Whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome

_REMARKS = ("id", "note")
_REVISIONS = ("head", "seed")


def is_case(value: Any) -> bool:
    """Whether *value* is one call, and speaks of a revision of the library."""
    return isinstance(value, dict) and "input" in value and any(name in value for name in _REVISIONS)


def check_case(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one case; it is the file's only one."""
    from pantile.conform.case import case_name, outcome_of

    def streams() -> dict[str, Any]:
        return {**dict.fromkeys(_REMARKS, KNOWN), **_streams(value)}

    return [outcome_of(case_name(value, stem), value, streams, field="input", wanted="a call of mma_tile")]


def _streams(value: dict[str, Any]) -> dict[str, Any]:
    """Return what the call emits; of its inputs, those that are read.

    Raises:
        WrongInput: If one cannot be an input, or a revision comes without its trace.
        OutsideModelError: If the call is too long to be listed.
    """
    from pantile.conform.ascend_inputs import call_of_case, require_traces
    from pantile.targets.ascend.mma_tile import REVISIONS, mma_tile

    call, read = call_of_case(value["input"])
    require_traces({name: value[name] for name in REVISIONS if name in value})
    found: dict[str, Any] = {"input": read}
    for revision in REVISIONS:
        stream = mma_tile(call, revision)
        found[revision] = {
            "commit": KNOWN,
            "trapped": stream.trapped,
            "unit_flag_was_disabled_out": int(stream.was_disabled),
            "trace": Whole(list(stream.instructions)),
        }
    return found
