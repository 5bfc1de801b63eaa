"""Printed traces: what is printed is read back, and barer prints are read as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pantile.errors import ManyProblems, ProgramError
from pantile.targets.ascend.instructions import pointer
from pantile.targets.ascend.trace_parse import parse_trace
from pantile.targets.ascend.trace_text import is_trace, print_trace

GOLDEN = Path(__file__).parents[2] / "golden"


def recorded_streams() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for file in sorted((GOLDEN / "mma_tile").glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        found |= {f"{file.stem}-{revision}": case[revision]["trace"] for revision in ("head", "seed")}
    for file in sorted((GOLDEN / "gemm_core").glob("[!s]*.json")):
        found[file.stem] = json.loads(file.read_text(encoding="utf-8"))["trace"]
    return found


def test_every_recorded_stream_is_read_back_from_its_text() -> None:
    streams = recorded_streams()
    assert len(streams) == 117
    for name, stream in streams.items():
        text = print_trace(stream)
        read = parse_trace(text, name)
        assert json.dumps(list(read.instructions)) == json.dumps(stream)  # true is not 1
        assert print_trace(read.instructions) == text
        assert read.lines == tuple(range(1, len(stream) + 1))
        assert not read.unknown
        assert not read.untyped


def test_what_is_printed() -> None:
    assert print_trace([]) == ""
    lines = print_trace(recorded_streams()["half_bias_half-head"]).splitlines()
    assert lines[0] == "set_flag(PIPE_M, PIPE_MTE1, 0)"
    assert lines[3] == "set_fmatrix(65600)"
    assert lines[4] == (
        "img2colv2_cbuf_to_ca((__ca__ half*)0x0, (__cbuf__ half*)0x0, 128, 64, 0, 0, 1, 1, 1, 1, 1, 1, "
        "false, false, false, false, 128)"
    )
    assert lines[7] == "copy_cbuf_to_bt(0, (__cbuf__ half*)0x7f000, 1, 1, 3, 0, 0)"
    assert lines[10].endswith("64, 128, 80, 0, false, true, false)")


def test_a_barer_print_is_read() -> None:
    text = """
    // a kernel's trace
    wait_flag(2, 3, EVENT_ID1);
    set_fmatrix(65600); # as high as the tile
    img2colv2_cbuf_to_ca(0x8000, 0x200, 128, 64, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 128);

    // elements: float
    load_cbuf_to_cb(0, 4096, 0, 8, 1, 0, 0, 0, inc)
    load_cbuf_to_cb_transpose(0, 4096, 0, 8, 1, 0, 0, 0)
    """
    read = parse_trace(text, "t.txt")
    assert [each["op"] for each in read.instructions] == [
        "wait_flag",
        "set_fmatrix",
        "img2colv2_cbuf_to_ca",
        "load_cbuf_to_cb",
        "load_cbuf_to_cb_transpose",
    ]
    assert read.instructions[0]["args"] == {"src_pipe": "PIPE_M", "dst_pipe": "PIPE_MTE1", "event_id": 1}
    assert read.instructions[2]["args"]["dst"] == pointer("L0A", 0x8000, "half")
    assert read.instructions[3]["args"]["src"] == pointer("L1", 4096, "float")
    assert read.instructions[4]["args"]["dst"] == pointer("L0B", 0, "int8_t")  # its name says so
    assert read.lines == (3, 4, 5, 8, 9)
    assert read.untyped == (5, 8)


def test_sums_have_four_bytes_whatever_was_declared() -> None:
    product = "mad(0, 0, 0, 16, 16, 16, 0, 0, 0, 1)"
    (half,) = parse_trace(product, "t").instructions
    assert [half["args"][name]["elem"] for name in ("dst", "src0")] == ["float", "half"]
    (byte,) = parse_trace(f"// elements: int8_t\n{product}", "t").instructions
    assert [byte["args"][name]["elem"] for name in ("dst", "src0")] == ["int32_t", "int8_t"]


def test_tensors_in_global_memory_keep_their_names() -> None:
    call = "copy_gm_to_cbuf({to}, {source}, 0, 1, 4, 0, 0, PAD_NONE)"
    typed = call.format(to="(__cbuf__ float*)0x40", source="(__gm__ float*)GM_BIAS+0x200")
    (copied,) = parse_trace(typed, "t").instructions
    assert copied["args"]["src"] == pointer("GM_BIAS", 0x200, "float")
    assert print_trace([copied]) == typed
    (bare,) = parse_trace(call.format(to="64", source="0xabc"), "t").instructions
    assert bare["args"]["src"] == pointer("GM", 0xABC, "half")


def test_unknown_intrinsics_are_left_out_and_listed() -> None:
    read = parse_trace("vadd(1, f(2, 3))\ntrap()\nvadd(0)\nscalar_thing()", "t")
    assert read.unknown == (("vadd", (1, 3)), ("scalar_thing", (4,)))
    assert [each["op"] for each in read.instructions] == ["trap"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("set_flag PIPE_M", "t.txt:2:3: expected NAME(ARGUMENT, …), got 'set_flag PIPE_M'"),
        ("set_flag(PIPE_M", "t.txt:2:3: expected NAME(ARGUMENT, …), got 'set_flag(PIPE_M'"),
        (
            "set_flag(PIPE_M, PIPE_MTE1)",
            "t.txt:2:3: set_flag has 3 arguments (src_pipe, dst_pipe, event_id), got 2",
        ),
        ("trap(1)", "t.txt:2:3: trap has 0 arguments (none), got 1"),
        (
            "set_flag(PIPE_M, PIPE_MTE9, 0)",
            "t.txt:2:20: argument 2 of set_flag, dst_pipe: expected a pipe, got 'PIPE_MTE9'",
        ),
        (
            "set_flag(2, 9, 0)",
            "t.txt:2:15: argument 2 of set_flag, dst_pipe: expected a pipe, got '9'",
        ),
        (
            "wait_flag(PIPE_M, PIPE_MTE1, x)",
            "t.txt:2:32: argument 3 of wait_flag, event_id: expected a number of at least 0, got 'x'",
        ),
        (
            "copy_cbuf_to_bt(0, (__ca__ half*)0x0, 1, 1, 3, 0, 0)",
            "t.txt:2:22: argument 2 of copy_cbuf_to_bt, src: expected a pointer into L1 (__cbuf__), got",
        ),
        (
            "copy_cbuf_to_bt(0, (__cbuf__ huge*)0x0, 1, 1, 3, 0, 0)",
            "t.txt:2:22: argument 2 of copy_cbuf_to_bt, src: expected a pointer to a known element type",
        ),
        ("// elements: huge", "t.txt:2:16: expected an element type, got 'huge'"),
    ],
)
def test_a_malformed_line_is_told_with_what_was_expected(line: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_trace(f"trap()\n  {line}", "t.txt")
    assert str(caught.value).startswith(message)


def test_all_malformed_lines_are_told_together() -> None:
    with pytest.raises(ManyProblems) as caught:
        parse_trace("what\nset_flag(1, 2)\nvadd(1)\nset_flag(9, x, y)", "t")
    assert [str(each.place) for each in caught.value.problems] == [
        "t:1:1",
        "t:2:1",
        "t:4:10",
        "t:4:13",
        "t:4:16",
    ]


def test_a_trace_is_told_from_other_text() -> None:
    assert is_trace("\n// x\nvadd(1);\n  wait_flag(PIPE_M, PIPE_MTE1, 0);")
    assert not is_trace("vadd(1)")
    assert not is_trace("the set_flag(PIPE_M, PIPE_MTE1, 0) of a text")
    assert not is_trace("")
