"""Ascend cores on the command line: printed traces, their mistakes, one line for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pantile.targets.ascend.trace_file import read_trace

if TYPE_CHECKING:
    from conftest import Pantile

ON = ("-m", "ascend-910b")

PASTED = """\
// printed by a kernel
vadd(1, 2);
set_flag(PIPE_M, PIPE_MTE1, 0);
wait_flag(PIPE_M, PIPE_MTE1, 0);
set_fmatrix(65600);
img2colv2_cbuf_to_ca(0x8000, 0x20, 128, 64, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 128);
"""


def written(text: str, name: str = "trace.txt") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_a_pasted_trace_is_checked(pantile: Pantile) -> None:
    done = pantile("check", written(PASTED), *ON)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "trace.txt on ascend-910b"
    assert "  proved: pairing: 1 flags, every set taken once and before the next" in lines
    assert "  proved: alignment: 2 addresses, each as its buffer allows" in lines
    assert "  note trace: vadd is no known intrinsic and was left out, in line 2" in lines
    assert lines[-1] == "  ok"


def test_every_finding_of_a_trace_stands_at_its_line(pantile: Pantile) -> None:
    wrong = PASTED.replace("0x8000", "0x8100").replace("PIPE_MTE1, 0", "PIPE_MTE1, 8") + "trap();\n"
    done = pantile("check", written(wrong), *ON, "--json")
    assert done.code == 1
    found = {each["code"]: each for each in done.object["findings"]}
    assert found["PT-ALIGN"]["sources"] == ["trace.txt:6"]
    assert found["PT-STATE"]["sources"] == ["trace.txt:7"]
    assert found["PT-EVENT-ID"]["sources"] == ["trace.txt:3", "trace.txt:4"]
    assert done.object["notes"][0]["text"].startswith("vadd is no known intrinsic")


def test_a_race_of_a_trace_is_executed(pantile: Pantile) -> None:
    race = """\
load_cbuf_to_ca(0x0, 0x0, 0, 1, 1, 0, 0, false, inc)
load_cbuf_to_cb(0x0, 0x0, 0, 1, 1, 0, 0, false, inc)
mad(0x0, 0x0, 0x0, 16, 16, 16, 0, false, false, true)
"""
    done = pantile("check", written(race), *ON)
    assert done.code == 1
    assert "error: PT-RACE (wrong value): RAW on L0A [0, 512)" in done.out
    assert "bytes are wrong" in done.out


def test_a_buffer_that_overflows_is_told_with_both_numbers(pantile: Pantile) -> None:
    load = "load_cbuf_to_ca(0xfe00, 0x0, 0, 2, 1, 0, 0, false, inc)\n"
    done = pantile("check", written(load), *ON)
    assert done.code == 1
    assert "PT-CAPACITY: L0A needs 66048 B of 65536 B" in done.out


def test_malformed_lines_are_told_together(pantile: Pantile) -> None:
    done = pantile("check", written("trap()\nwait_flag(PIPE_M)\nset_flag(PIPE_Q, PIPE_M, 0)\n"), *ON)
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: trace.txt:2:1: wait_flag has 3 arguments (src_pipe, dst_pipe, event_id), got 1 [PT-PROGRAM]",
        "error: trace.txt:3:10: argument 1 of set_flag, src_pipe: expected a pipe, got 'PIPE_Q'; "
        "did you mean 'PIPE_V'? [PT-PROGRAM]",
    ]


def test_a_register_never_written_and_no_known_call(pantile: Pantile) -> None:
    done = pantile("check", written(PASTED.replace("set_fmatrix(65600);", "")))
    assert done.code == 2
    assert done.err == (
        "error: trace.txt:6: img2colv2_cbuf_to_ca reads a register never written; "
        "set it before, with set_fmatrix [PT-PROGRAM]\n"
    )
    done = pantile("check", written("vadd(1)\n"))
    assert done.code == 2
    assert "expected calls of known intrinsics, got only others (vadd)" in done.err


def test_a_machine_of_another_family_or_none(pantile: Pantile) -> None:
    done = pantile("check", written(PASTED), "-m", "mesh-2x2")
    assert done.code == 2
    assert "needs an Ascend machine, got 'mesh-2x2'; use -m ascend-910b" in done.err
    done = pantile("check", written(PASTED), "-m", "ascend-910x")
    assert done.code == 2
    assert "unknown machine 'ascend-910x'; did you mean 'ascend-910b'?" in done.err


def test_a_trace_kept_as_json_is_checked_alike(pantile: Pantile) -> None:
    lines = pantile("check", written(PASTED), *ON).out.splitlines()
    Path("trace.json").write_text(json.dumps(read_trace(PASTED, "trace.txt").to_json()), encoding="utf-8")
    assert pantile("check", "trace.json", *ON).out.splitlines() == lines


def test_a_trace_is_timed(pantile: Pantile) -> None:
    done = pantile("simulate", written(PASTED), *ON)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1] == "  4 operations of 3 threads, 0 MACs"
