"""Core programs keep the trace that they were made of; what a file says of it may be anything."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pantile.ascend import L0A, L1, MTE1, Core, M, Program, function
from pantile.errors import ManyProblems, ProgramError
from pantile.program.program import Program as Tables
from pantile.targets.ascend.kept_trace import require_trace


@function(needs=[(M, MTE1, 0)], leaves=[(M, MTE1, 0)])
def load(core: Core) -> None:
    core.wait(M, MTE1, 0)
    core.access(MTE1, reads=L1[0:64], writes=L0A[0:64])
    core.set(M, MTE1, 0)


def emitted() -> Program:
    """Two calls from one line, with a finding about an id that is never given back."""
    core = Core()
    core.alloc(MTE1, M)
    core.set(M, MTE1, 0)
    for _ in range(2):
        load(core)
    core.wait(M, MTE1, 0)
    return core.program()


@pytest.fixture
def whole() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(emitted().to_json()))
    return read


def test_an_emitted_program_passes_as_it_was_kept(whole: dict[str, Any]) -> None:
    assert len(whole["parameters"]["calls"]) == 2
    assert whole["parameters"]["emission"]
    assert len(set(whole["parameters"]["lines"])) < len(whole["parameters"]["lines"])
    require_trace(Tables.from_json(whole), rows=True)


CHANGES: list[tuple[str, Any, str]] = [
    ("stream", 0, "lacks stream"),
    ("lines", None, "lacks lines"),
    ("starts", "x", "lacks starts"),
    ("accumulating", 3, "lacks accumulating"),
    ("event_ids", "8", "lacks event_ids"),
    ("lines", [1], "another number of instructions than of lines"),
    ("remarks", "text", "remarks are no list"),
    ("remarks", [3], r"remarks\[0\] is not a text"),
    ("calls", 0, "calls are no list"),
    ("calls", [{}, 7], r"calls\[0\] is not a call of a function, nor are 1 others"),
    ("emission", {}, "emission are no list"),
    ("emission", [None], r"emission\[0\] is not a finding"),
]


@pytest.mark.parametrize(("name", "value", "problem"), CHANGES)
def test_what_is_no_trace_is_told_in_a_line(
    whole: dict[str, Any], name: str, value: Any, problem: str
) -> None:
    whole["parameters"][name] = value
    with pytest.raises(ProgramError, match=problem) as raised:
        require_trace(Tables.from_json(whole))
    assert "pantile.ascend" in str(raised.value.mend)


@pytest.mark.parametrize("of", ["calls", "emission"])
@pytest.mark.parametrize("value", [None, -1, 1 << 40, "x", [], {}, 1.5])
def test_every_field_of_calls_and_findings_counts(whole: dict[str, Any], of: str, value: Any) -> None:
    """A value that happens to be one there is left alone: a text in place of a text."""
    for field, right in whole["parameters"][of][0].items():
        if (
            isinstance(value, type(right))
            and not isinstance(right, int)
            and field not in ("code", "severity")
        ):
            continue
        if field == "line" and isinstance(value, int):
            continue
        changed = copy.deepcopy(whole)
        changed["parameters"][of][0][field] = value
        if field == "declared" and value is None:
            continue
        with pytest.raises(ProgramError, match=rf"{of}\[0\] is not"):
            require_trace(Tables.from_json(changed))
        del changed["parameters"][of][0][field]
        with pytest.raises(ProgramError):
            require_trace(Tables.from_json(changed))


def test_rows_of_another_trace_are_refused(whole: dict[str, Any]) -> None:
    whole["parameters"]["stream"][1]["args"]["event_id"] = 1
    require_trace(Tables.from_json(whole))
    with pytest.raises(ProgramError, match="not those of the stream"):
        require_trace(Tables.from_json(whole), rows=True)


def test_wrong_instructions_are_all_told(whole: dict[str, Any]) -> None:
    stream = whole["parameters"]["stream"]
    stream[0], stream[1] = 3, {"op": "set_flag", "args": {}}
    with pytest.raises(ManyProblems):
        require_trace(Tables.from_json(whole), rows=True)
