"""Where data goes, and what happens when it cannot go there."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pantile.cli.output import emit

if TYPE_CHECKING:
    from conftest import Pantile

SEED = ("gemm:m=32,n=32,k=64", "-m", "systolic-ws-8x8")
COMMAND = str(Path(sys.executable).with_name("pantile"))


def test_a_file_gets_what_the_terminal_would(pantile: Pantile) -> None:
    for option in ("--text", "--json"):
        printed = pantile("lower", *SEED, option).out
        done = pantile("lower", *SEED, option, "-o", "listing")
        assert (done.code, done.out, done.err) == (0, "", "wrote listing\n")
        assert Path("listing").read_text() == printed


def test_a_failure_leaves_the_file_that_was_there(pantile: Pantile) -> None:
    Path("listing").write_text("before")
    assert pantile("lower", "gemm:m=0,n=1,k=1", "-m", "systolic-ws-8x8", "-o", "listing").code == 2
    assert Path("listing").read_text() == "before"
    assert os.listdir() == ["listing"]


UNWRITABLE = (
    ("missing/out", "missing/out: cannot write: there is no folder '{folder}/missing'; create it, or"),
    ("folder", "folder: cannot write: it is a folder; name a file"),
    ("file/out", "file/out: cannot write: there is no folder '{folder}/file'"),
)


@pytest.mark.parametrize(("output", "problem"), UNWRITABLE, ids=[output for output, _ in UNWRITABLE])
@pytest.mark.parametrize(
    "command", [("lower", "-o"), ("simulate", "--trace"), ("view", "-o")], ids=lambda each: each[0]
)
def test_output_that_cannot_be_written_is_bad_input(
    command: tuple[str, str], output: str, problem: str, pantile: Pantile, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    verb, option = command
    done = pantile(verb, *SEED, option, output)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: " + problem.format(folder=os.path.realpath(tmp_path)))
    assert done.err.endswith("[PT-OUTPUT]\n")
    assert done.err.count("\n") == 1


def run(shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which ``$P`` is the command and its usual arguments follow as ``$A``."""
    known = {**os.environ, "P": COMMAND, "A": " ".join(SEED), **environment}
    return subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=known, timeout=60)


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_failure() -> None:
    long = "$P lower gemm:m=320,n=320,k=64 -m systolic-ws-8x8 --text"  # far more than a pipe holds
    for command in (f"{long} | head -1", "$P plan $A --explain | true"):
        done = run(f"{command}; echo ${{PIPESTATUS[0]}}")
        assert done.stdout.splitlines()[-1] == "0"
        assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_standard_output_is_one_line() -> None:
    done = run("$P plan $A > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: standard output: cannot write: no space left on device [PT-OUTPUT]\n"


@pytest.mark.slow
def test_a_terminal_that_lacks_a_letter_still_shows_the_rest() -> None:
    done = run("$P plan $A --explain", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "[tile_I \\xb7 tile_J; tile_I=1, tile_J=1]" in done.stdout


def test_control_characters_of_a_name_stay_on_one_line(pantile: Pantile) -> None:
    done = pantile("plan", "two\nlines\x1b[31m.onnx", "-m", "systolic-ws-8x8")
    assert done.err == "error: two\\nlines\\x1b[31m.onnx: there is no such file [PT-WORKLOAD]\n"


def test_an_interruption_waits_until_a_line_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that asks us to stop while we write gets the whole line, and then we stop."""
    written: list[str] = []

    class Interrupting(io.StringIO):
        def write(self, text: str) -> int:
            if not written:
                os.kill(os.getpid(), signal.SIGINT)
            written.append(text)
            return len(text)

    monkeypatch.setattr("sys.stdout", Interrupting())
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        emit('{"whole": true}')
    assert "".join(written) == '{"whole": true}\n'
    assert signal.getsignal(signal.SIGINT) is before
