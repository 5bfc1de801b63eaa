"""The command as a whole: typical use, exit codes, what goes where."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Pantile, WriteMachine

SEED = ("gemm:m=32,n=32,k=64", "-m", "systolic-ws-8x8")
MAPPING = ("--mapping", "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16")
COMMAND = str(Path(sys.executable).with_name("pantile"))
COMMANDS = ("plan", "lower", "check", "simulate", "view", "conform", "machines")


def test_plan_prints_the_cut(pantile: Pantile) -> None:
    done = pantile("plan", *SEED, *MAPPING)
    assert (done.code, done.err) == (0, "")
    assert "  tile       2 m x 2 n x 2 k, each m16 n16 k32\n" in done.out
    assert "  predicted  8 tiles, 4 regions, 128 compute instructions, 65536 macs" in done.out


def test_explain_adds_every_decision_with_formula_and_inputs(pantile: Pantile) -> None:
    done = pantile("plan", *SEED, "--explain")
    assert done.out.startswith(pantile("plan", *SEED).out)
    assert "    db_max_tile_i_j = 5   [floor(sqrt(db_mats_in_acc)); db_mats_in_acc=32]\n" in done.out


def test_lower_prints_totals_or_the_listing(pantile: Pantile) -> None:
    totals = pantile("lower", *SEED, *MAPPING)
    assert totals.code == 0
    assert "  instructions  32 MOVIN, 128 GEMM_PRELOAD, 16 MOVOUT\n" in totals.out
    listing = pantile("lower", *SEED, *MAPPING, "--text").out.splitlines()
    assert len(listing) == 1 + 176  # a heading and 176 operations
    loads = [line.split()[3] for line in listing[1:5]]
    assert loads == ["b", "a", "a", "b"]  # weight, activation, activation, weight
    assert listing[5].split()[-2:] == ["512", "MACs"]


def test_check_of_a_right_program_is_0_and_of_a_wrong_one_1(pantile: Pantile) -> None:
    right = pantile("check", *SEED, *MAPPING)
    assert right.code == 0
    assert "  proved: coverage: 65536 MACs, each computed exactly once\n" in right.out
    surplus = MAPPING[1].replace("C2", "C3")
    wrong = pantile("check", *SEED, "--mapping", surplus, "--semantics", "faithful")
    assert (wrong.code, wrong.err) == (1, "")
    assert "  error: PT-COVERAGE (wrong value): of 1024 outputs, 1024 outputs stored again\n" in wrong.out


def test_simulate_prints_the_total_as_the_sum_of_its_terms(pantile: Pantile) -> None:
    done = pantile("simulate", *SEED)
    assert (done.code, done.err) == (0, "")
    total, terms = re.search(r"total (\d+) cycles .* = (.*)\n", done.out).groups()
    assert int(total) == 1249
    assert sum(int(term.split()[1]) for term in terms.split(" + ")) == 1249


def test_simulate_of_a_network_prints_a_row_per_layer(pantile: Pantile, mlp: str) -> None:
    done = pantile("simulate", mlp, "-m", "systolic-ws-8x8")
    header, up, down = (line.split() for line in done.out.splitlines()[1:4])
    assert header[:6] == ["layer", "shape", "mapping", "tiles", "instructions", "requests"]
    assert (up[0], down[0]) == ("up", "down")
    assert "  note outside: 1 node (relu), 0.0% of the known MACs: Relu is no product\n" in done.out


def test_view_writes_the_page_and_prints_no_data(pantile: Pantile) -> None:
    done = pantile("view", *SEED, *MAPPING, "-o", "page.html")
    assert (done.code, done.out, done.err) == (0, "", "wrote page.html\n")
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_trace_is_written_and_remarked_on_stderr(pantile: Pantile) -> None:
    done = pantile("simulate", *SEED, "--trace", "run.trace", "--json")
    assert (done.code, done.err) == (0, "wrote run.trace\n")
    assert done.object["total_cycles"] == 1249
    assert Path("run.trace").stat().st_size > 1000


def test_conform_of_a_recorded_case(pantile: Pantile) -> None:
    case = Path(__file__).parents[1] / "golden/onnxim/tiny_8x8x8.json"
    done = pantile("conform", str(case))
    assert done.code == 0, done.out + done.err
    assert "1 passed" in done.out
    assert pantile("conform", "--json", str(case)).object["schema"] == "pantile/conform/1"


def test_conform_of_nothing_to_check_is_1(pantile: Pantile, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert pantile("conform", "empty").code in (1, 2)


def test_no_plan_is_1_with_the_two_numbers(pantile: Pantile, machine_file: WriteMachine) -> None:
    machine = machine_file(spad_size=1, core_width=16, core_height=16)
    plan = pantile("plan", "gemm:m=16,n=16,k=64", "-m", machine)
    assert plan.code == 1
    # 16 rows and 16 columns of 16 B each, 64 B apart, take a request of 32 B.
    reason = "no mapping fits: for the smallest tile 1024 B of scratchpad are needed, a half holds 512 B"
    assert plan.out == f"matmul (m16 n16 k64): infeasible: {reason}\n"
    for verb in ("lower", "check", "simulate"):
        done = pantile(verb, "gemm:m=16,n=16,k=64", "-m", machine)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"error: gemm:m=16,n=16,k=64: {reason} [PT-INFEASIBLE]\n"


def test_several_products_without_a_plan_are_all_named_and_still_1(
    pantile: Pantile, machine_file: WriteMachine, mlp: str
) -> None:
    machine = machine_file(spad_size=1, core_width=16, core_height=16)
    done = pantile("simulate", mlp, "-m", machine)
    assert done.code == 1
    assert [line.split(": ")[1] for line in done.err.splitlines()] == [f"{mlp}#up", f"{mlp}#down"]


def test_no_command_prints_the_help(pantile: Pantile) -> None:
    bare, asked = pantile(), pantile("--help")
    assert (bare.code, asked.code) == (0, 0)
    assert bare.out.split() == asked.out.split()
    assert all(f"\n  {name} " in asked.out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_no_option_that_is_not_built(command: str, pantile: Pantile) -> None:
    text = pantile(command, "--help").out
    assert text.startswith(f"Usage: pantile {command}")
    for later in ("--objective", "--judge", "execute"):
        assert later not in text
    if command not in ("conform", "machines"):
        options = {"-m", "-p", "--mapping", "--semantics", "--dim"}
        assert options <= set(re.findall(r"(?<![\w-])--?[a-z]+", text))


def test_options_of_the_contract_are_there(pantile: Pantile) -> None:
    wanted = {
        "plan": {"--explain", "--json"},
        "compare": {"-m", "-p", "--judge", "-o", "--json", "--dim"},
        "lower": {"--core", "--window", "--text", "--json", "-o"},
        "check": {"--budget", "--json"},
        "simulate": {"--core", "--trace", "--what-if", "--json"},
        "view": {"-o", "--window"},
        "conform": {"--json"},
    }
    for command, options in wanted.items():
        assert options <= set(re.findall(r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", pantile(command, "--help").out))


@pytest.mark.slow
def test_the_entry_point_and_the_module_run_main() -> None:
    for command in ([COMMAND], [sys.executable, "-m", "pantile.cli.main"]):
        done = subprocess.run(
            [*command, "simulate", *SEED], capture_output=True, text=True, check=True, timeout=60
        )
        assert "total 1249 cycles" in done.stdout
        assert done.stderr == ""


@pytest.mark.slow
def test_an_interrupt_is_130(tmp_path: Path) -> None:
    fifo = tmp_path / "never-ends.csv"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [COMMAND, "plan", str(fifo), "-m", "systolic-ws-8x8"],
        stderr=subprocess.PIPE,
        text=True,
        # A suite run in the background is started with interrupts ignored, and so would its children be.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with fifo.open("w"):  # opens as soon as the command does
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
