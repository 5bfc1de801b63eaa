"""Whatever a trace or a call of ``mma_tile`` says, the answer is an exit code and one line per problem."""

# ruff: noqa: RUF005  # words stand here as they are typed

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pantile.ascend import L0A, L1, MTE1, Core, M, function
from pantile.cli.main import main
from pantile.targets.ascend.trace_file import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable

quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

TRACE = """\
set_flag(PIPE_M, PIPE_MTE1, 0)
wait_flag(PIPE_M, PIPE_MTE1, 0)
copy_gm_to_cbuf_multi_nd2nz_b16((__cbuf__ half*)0x0, (__gm__ half*)GM_A, 0, 1, 16, 16, 0, 16, 16, 1, 0)
pipe_barrier(PIPE_ALL)
set_fmatrix(65552)
img2colv2_cbuf_to_ca((__ca__ half*)0x0, (__cbuf__ half*)0x0, 16, 16, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 16)
load_cbuf_to_cb((__cb__ half*)0x0, (__cbuf__ half*)0x0, 0, 1, 1, 0, 0, true, inc)
copy_cbuf_to_bt(0, (__cbuf__ float*)0x0, 0, 1, 1, 0, 0)
mad((__cc__ float*)0x0, (__ca__ half*)0x0, (__cb__ half*)0x0, 16, 16, 16, 3, false, true, false)
copy_matrix_cc_to_gm((__gm__ half*)GM_C, (__cc__ float*)0x0, 0, 16, 16, 16, 16, 3, F322F16, 0, false, true)
"""
NUMBERS = st.sampled_from(
    ["0", "1", "2", "7", "9", "17", "4096", "65536", "0xffffffff", "99999999999999999999"]
)
WORDS = st.one_of(
    NUMBERS, st.sampled_from(["-1", "true", "PIPE_S", "PIPE_FIX", "x", "", "(", "(__cc__ int8_t*)0x20"])
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def assert_well_answered(arguments: list[str], folder: Path) -> None:
    out, err, before = io.StringIO(), io.StringIO(), os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    finally:
        os.chdir(before)
    assert code in (0, 1, 2)
    assert bool(err.getvalue()) is (code == 2)
    for line in err.getvalue().splitlines():
        assert line.startswith("error: ")
        assert line.endswith("]")


@pytest.mark.slow
@quick
@given(data=st.data())
def test_any_arguments_of_a_trace(data: st.DataObject, folder: Path) -> None:
    lines = TRACE.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        words = lines[at].split(", ")
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(WORDS)
        lines[at] = ", ".join(words)
    (folder / "t.txt").write_text("\n".join(lines))
    assert_well_answered(["check", "t.txt", "-m", "ascend-910b"], folder)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value but the whole."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    inner = [place for key in keys for place in places(value[key], (*path, key))]
    return [path, *inner] if path else inner


def emitted() -> Any:
    """A program with two calls of a function that says what it needs, and a finding about an id."""

    @function(needs=[(M, MTE1, 0)], leaves=[(M, MTE1, 0)])
    def load(core: Core) -> None:
        core.wait(M, MTE1, 0)
        core.access(MTE1, reads=L1[0:64], writes=L0A[0:64])
        core.set(M, MTE1, 0)

    core = Core()
    core.alloc(MTE1, M)
    core.set(M, MTE1, 0)
    for _ in range(2):
        load(core)
    core.wait(M, MTE1, 0)
    return core.program().to_json()


@pytest.mark.slow
@pytest.mark.parametrize("made", [lambda: read_trace(TRACE, "t.txt").to_json(), emitted])
@quick
@given(data=st.data())
def test_any_parameters_of_a_trace_kept_as_json(
    made: Callable[[], Any], data: st.DataObject, folder: Path
) -> None:
    whole = json.loads(json.dumps(made()))
    *path, last = data.draw(st.sampled_from(places(whole["parameters"])))
    inner = whole["parameters"]
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(st.sampled_from([0, -1, 2**63, None, "x", [], {}, 1.5, ["a"]]))
    (folder / "t.json").write_text(json.dumps(whole))
    assert_well_answered(["check", "t.json"], folder)


TOKENS = st.sampled_from(
    [
        "m=0",
        "n=17",
        "k=2147483647",
        "n=1000",
        "dtype=int4",
        "dtype=fp32",
        "ta",
        "tb",
        "hf32",
        "bias=fp16",
        "init=0",
    ]
    + [
        "unit_flag=3",
        "kloop=99999",
        "events=back0:7+l1a_wait:2147483647",
        "events=back0:0+back1:0",
        "x",
        "m=-1",
    ]
)


@pytest.mark.slow
@quick
@given(tokens=st.lists(TOKENS, max_size=5), verb=st.sampled_from(["lower", "check"]))
@example(tokens=["m=0", "n=2147483647"], verb="lower")
def test_any_call(tokens: list[str], verb: str, folder: Path) -> None:
    given_keys = {token.partition("=")[0] for token in tokens}
    rest = [
        each for each in ("m=33", "n=48", "k=80", "dtype=fp16") if each.partition("=")[0] not in given_keys
    ]
    assert_well_answered([verb, "mma-tile:" + ",".join([*rest, *tokens]), "-m", "ascend-910b"], folder)
