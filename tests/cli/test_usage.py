"""Command lines that cannot be parsed: one line that says what is missing or unknown, and where to look."""

# ruff: noqa: E501  # messages stand here whole, as they are printed

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Pantile

SEED = ("gemm:m=8,n=8,k=8", "-m", "systolic-ws-8x8")
HELP = "see `pantile {} --help`"
LINES = (
    (("pla",), "pantile: no such command 'pla'; did you mean 'plan'?"),
    (("frobnicate",), "pantile: no such command 'frobnicate'; see `pantile --help`"),
    (("sweep", *SEED), "pantile: no such command 'sweep'; see `pantile --help`"),
    (("compare", *SEED), "two planners are compared, got 0; give -p twice"),
    (("machines", "shw"), "pantile machines: no such command 'shw'; did you mean 'show'?"),
    (("plan",), "pantile plan: missing WORKLOAD; " + HELP.format("plan")),
    (("plan", "gemm:m=8,n=8,k=8"), "pantile plan: missing -m/--machine MACHINE; " + HELP.format("plan")),
    (("view", *SEED), "pantile view: missing -o/--output PAGE.html; " + HELP.format("view")),
    (("conform",), "pantile conform: missing PATH; " + HELP.format("conform")),
    (("plan", *SEED, "--jsn"), "pantile plan: no such option: --jsn; did you mean '--json'?"),
    (("simulate", *SEED, "--objective", "x"), "pantile simulate: no such option: --objective; " + HELP.format("simulate")),
    (("plan", *SEED, "more"), "pantile plan: got unexpected extra argument(s) (more); " + HELP.format("plan")),
    (("plan", *SEED, "--mapping"), "pantile: option '--mapping' requires an argument; see `pantile --help`"),
    (("lower", *SEED, "--text", "--json"), "expected one of --text and --json, got both; leave one of them out"),
)  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), LINES, ids=[" ".join(each) for each, _ in LINES])
def test_the_line(arguments: tuple[str, ...], line: str, pantile: Pantile) -> None:
    done = pantile(*arguments)
    assert (done.code, done.out, done.err) == (2, "", f"error: {line} [PT-USAGE]\n")
