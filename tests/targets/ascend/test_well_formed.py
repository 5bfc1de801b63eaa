"""What no argument of an instruction can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import ProgramError
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.well_formed import wrong_arguments

GOLDEN = Path(__file__).parents[2] / "golden"


def test_every_recorded_instruction_is_well_formed() -> None:
    count = 0
    for folder in ("mma_tile", "gemm_core", "sync_cases"):
        for path in (GOLDEN / folder).glob("*.json"):
            case = json.loads(path.read_text(encoding="utf-8"))
            streams = [case, case["head"], case["seed"]] if "head" in case else [case]
            for stream in streams if isinstance(case, dict) else ():
                for each in stream.get("trace", ()):
                    assert wrong_arguments(each["op"], each["args"]) == []
                    count += 1
    assert count > 5000


FLAG = {"src_pipe": "PIPE_V", "dst_pipe": "PIPE_M", "event_id": 0}
HERE = {"buf": "UB", "lo": 0, "hi": 8}


@pytest.mark.parametrize("event", [0.5, "0", True, None, [0]])
def test_an_id_is_a_whole_number(event: Any) -> None:
    with pytest.raises(ProgramError, match=r"set_flag: event_id is no whole number but"):
        program_of_trace([{"op": "set_flag", "args": {**FLAG, "event_id": event}}])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"lo": 8}, "writes[0] holds no byte: lo is 8, hi is 8"),
        ({"lo": 9}, "writes[0] holds no byte: lo is 9, hi is 8"),
        ({"buf": 3}, "writes[0] names no buffer but 3"),
        ({"lo": 0.5}, "writes[0] is of no whole numbers: lo is 0.5, hi is 8"),
        ({"hi": True}, "writes[0] is of no whole numbers: lo is 0, hi is True"),
    ],
)
def test_a_byte_range_is_whole_and_holds_a_byte(change: dict[str, Any], problem: str) -> None:
    args = {"pipe": "PIPE_V", "reads": [], "writes": [HERE | change]}
    assert wrong_arguments("access", args) == [problem]
    with pytest.raises(ProgramError):
        program_of_trace([{"op": "access", "args": args}])


def test_everything_wrong_is_told_at_once() -> None:
    args = {"pipe": "PIPE_V", "label": 3, "reads": {}, "writes": [7, {"buf": "UB"}], "cycles": "9"}
    assert len(wrong_arguments("access", args)) == 5


def test_choices_and_pointers() -> None:
    pointer = {"buf": "L0C", "off": 0, "elem": "float"}
    assert wrong_arguments("mad", {"dst": pointer, "cmatrix_source": 1, "cmatrix_init_val": False}) == []
    assert len(wrong_arguments("mad", {"dst": {**pointer, "off": "0"}, "cmatrix_source": 2, "m": 1.0})) == 3
    assert len(wrong_arguments("mad", {"dst": 0, "cmatrix_source": "no", "bias_bt_addr": "x"})) == 3


@pytest.mark.parametrize("mode", [4, 7, -1])
def test_a_unit_flag_is_one_of_four_modes(mode: int) -> None:
    said = f"unit_flag: expected a mode of 0 to 3, got {mode}"
    assert wrong_arguments("mad", {"unit_flag": mode}) == [said]
    assert wrong_arguments("access", {"unit_flag": mode}) == [said]
    assert wrong_arguments("copy_matrix_cc_to_gm", {"unit_flag_mode": mode}) == [
        f"unit_flag_mode: expected a mode of 0 to 3, got {mode}"
    ]
    assert wrong_arguments("mad", {"unit_flag": 3}) == []
