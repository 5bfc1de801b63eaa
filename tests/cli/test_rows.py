"""Tables on the command line: printed row by row, all bad rows first, a bar where somebody watches."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pantile.cli.rows import emit_rows
from pantile.verbs.arguments import PlanOptions
from pantile.verbs.plan import plan_each

if TYPE_CHECKING:
    import pytest

    from conftest import Pantile

A950 = ("-m", "ascend-950pr")


def table(rows: int) -> str:
    lines = [f"8,{100 + row},{200 + row},64,bf16" for row in range(rows)]
    Path("shapes.csv").write_text("\n".join(["b,m,n,k,dtype", *lines]) + "\n")
    return "shapes.csv"


def test_json_lines_and_a_summary(pantile: Pantile) -> None:
    done = pantile("plan", table(3), *A950, "--json")
    assert (done.code, done.err) == (0, "")
    *rows, summary = done.json
    assert [row["parameters"]["normalized"]["m"] for row in rows] == [100, 101, 102]
    assert all(row["schema"] == "pantile/plan/1" and row["decisions"] for row in rows)
    assert (summary["schema"], summary["workloads"], summary["ok"]) == ("pantile/summary/1", 3, 3)


def test_text(pantile: Pantile) -> None:
    done = pantile("plan", table(2), *A950)
    assert done.out.count("branch     ASW_BASIC") == 2
    assert "\n\nmatmul (8 of m101 n201 k64)\n" in done.out
    assert "GetRebalanceBlock" in pantile("plan", "shapes.csv", *A950, "--explain").out


def test_one_infeasible_row_is_exit_code_1_and_the_others_are_planned(pantile: Pantile) -> None:
    Path("shapes.csv").write_text("b,m,n,k,dtype\n1,5,5,5,bf16\n")
    Path("tiny.toml").write_text(
        Path(__file__, "../../../src/pantile/machine/presets/ascend-950pr.toml")
        .resolve()
        .read_text()
        .replace('value = "512 KiB"', 'value = "512 B"')
    )
    done = pantile("plan", "shapes.csv", "-m", "tiny.toml", "--json")
    assert done.code == 1
    assert done.json[0]["feasible"] is False
    assert done.json[0]["reason"] == "a block of 16 x 16 x 16 needs 2048 B of L1, which has 512 B"
    assert done.json[1]["ok"] == 0


def test_bad_rows_are_told_and_nothing_is_computed(pantile: Pantile) -> None:
    Path("shapes.csv").write_text("b,m,n,k,dtype\n1,5,5,5,bf16\n1,5,5,5,fp64\n1,0,5,5,bf16\n")
    done = pantile("plan", "shapes.csv", *A950, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: shapes.csv:3: dtype must be fp16, bf16 or fp32, got fp64 [PT-WORKLOAD]\n"
        "error: shapes.csv:4:2: m must be at least 1, got 0 [PT-WORKLOAD]\n"
    )


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_where_standard_error_alone_is_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = table(120)
    for out, err, drawn in (
        (io.StringIO(), Terminal(), True),
        (io.StringIO(), io.StringIO(), False),
        (Terminal(), Terminal(), False),
    ):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        count, results = plan_each(path, "ascend-950pr", PlanOptions())
        assert emit_rows(results, count, None)
        assert len(out.getvalue().splitlines()) == 121
        assert bool(err.getvalue()) is drawn
