"""Recorded calls of ``mma_tile``: one call, and what two revisions of the library emit for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.conform.result import CaseOutcome

_REMARKS = ("id", "note", "input")
_REVISIONS = ("head", "seed")


def is_case(value: Any) -> bool:
    """Whether *value* is one call with the stream of at least one revision."""
    if not isinstance(value, dict) or not isinstance(value.get("input"), dict):
        return False
    return "ma" in value["input"] and any(isinstance(value.get(name), dict) for name in _REVISIONS)


def check_case(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of one case; it is the file's only one."""
    from pantile.conform.case import case_name, outcome_of

    def streams() -> dict[str, Any]:
        return {**dict.fromkeys(_REMARKS, KNOWN), **_streams(value["input"])}

    return [outcome_of(case_name(value, stem), value, streams, field="input", wanted="a call of mma_tile")]


def _streams(recorded: dict[str, Any]) -> dict[str, Any]:
    from pantile.targets.ascend.mma_json import call_of_json
    from pantile.targets.ascend.mma_tile import REVISIONS, mma_tile

    call = call_of_json(recorded)
    found: dict[str, Any] = {}
    for revision in REVISIONS:
        stream = mma_tile(call, revision)
        found[revision] = {
            "commit": KNOWN,
            "trapped": stream.trapped,
            "unit_flag_was_disabled_out": int(stream.was_disabled),
            "trace": list(stream.instructions),
        }
    return found
