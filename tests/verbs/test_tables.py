"""Runs as text."""

from __future__ import annotations

import pantile
from pantile.verbs.tables import COLUMNS, aligned


def test_columns_of_figures_stand_to_the_right() -> None:
    assert aligned(("name", "n", "share"), [("long name", "7", "1.0%"), ("a", "1200", "99.0%")]) == [
        "  name          n  share",
        "  long name     7   1.0%",
        "  a          1200  99.0%",
    ]


def test_a_single_product_is_a_list_of_its_figures() -> None:
    lines = str(pantile.simulate("gemm:m=32,n=32,k=64", "systolic-ws-8x8")).splitlines()
    assert lines[0] == "gemm:m=32,n=32,k=64 on systolic-ws-8x8 (fixed)"
    rows = dict(line.strip().split("  ", 1) for line in lines[1 : len(COLUMNS)])
    assert [name.strip() for name in rows] == list(COLUMNS[1:])
    assert {name: cell.strip() for name, cell in rows.items()}["mapping"] == "[O] N1 C1 M1 - [I] N32 C64 M32"
    assert lines[len(COLUMNS)].startswith("  total 1249 cycles")


def test_a_network_is_a_table_whose_shares_are_of_the_total(mlp: str) -> None:
    run = pantile.simulate(mlp, "systolic-ws-8x8")
    header, *rows = str(run).splitlines()[1:4]
    ends = [header.index(name) + len(name) for name in ("cycles", "share")]
    for row, layer in zip(rows, run.layers, strict=True):
        cycles, share = row[: ends[0]].split()[-1], row[: ends[1]].split()[-1]
        assert int(cycles) == layer.cycles
        assert share == f"{layer.cycles / run.total_cycles:.1%}"
