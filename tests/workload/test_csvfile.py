from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pantile.errors import ManyProblems, PantileError, WorkloadError
from pantile.workload.csvfile import COLUMNS, read_csv, read_csv_rows
from pantile.workload.dtypes import DTYPES
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Table = Callable[[str | bytes], str]

HEADER = "b,m,n,k,dtype,ta,tb,bias,name"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    def write(content: str | bytes) -> str:
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def lines(path: str) -> list[str]:
    """The lines of the error that *path* raises, without its folder and code."""
    with pytest.raises(PantileError) as caught:
        read_csv(path)
    folder = path.removesuffix("t.csv")
    return [
        line.removeprefix(folder).removesuffix(" [PT-WORKLOAD]") for line in str(caught.value).splitlines()
    ]


def test_reads_every_column(table: Table) -> None:
    path = table(f"{HEADER}\n8,32,48,64,bf16,1,true,fp32,scores\n,1,2,3,,0,FALSE,1,\n1,1,2,3,,,,,\n")
    assert read_csv(path) == (
        Matmul(
            m=32,
            n=48,
            k=64,
            a_batch=(8,),
            b_batch=(8,),
            dtype=DTYPES["bf16"],
            bias=DTYPES["fp32"],
            transpose_a=True,
            transpose_b=True,
            name="scores",
        ),
        Matmul(m=1, n=2, k=3, bias="default"),
        Matmul(m=1, n=2, k=3),
    )


def test_columns_come_in_any_order_and_the_optional_ones_may_be_missing(table: Table) -> None:
    assert read_csv(table("k, name ,m,n\n3,fc,1,2\n")) == (Matmul(m=1, n=2, k=3, name="fc"),)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_any_line_end_and_a_byte_order_mark(table: Table, newline: str, mark: str) -> None:
    path = table(mark + newline.join(("m,n,k", "1,2,3", "", " , ,", "4,5,6")))
    assert read_csv_rows(path) == ((2, Matmul(m=1, n=2, k=3)), (5, Matmul(m=4, n=5, k=6)))


def test_a_quoted_cell_may_hold_commas_and_lines(table: Table) -> None:
    path = table('m,n,k,name\n1,2,3,"a,b\nc ""d"""\n4,5,6,e\n')
    assert [(line, product.name) for line, product in read_csv_rows(path)] == [(2, 'a,b\nc "d"'), (4, "e")]


def test_every_bad_cell_is_reported_with_line_and_cell(table: Table) -> None:
    path = table(f"{HEADER}\n0,0,x,2147483648,int9,2,yes,fp3,\n\n1,1,2,3,,,,,ok\n,-1,,0,,,,,\n")
    integer = "; write a whole number from 1 to 2147483647"
    assert lines(path) == [
        "t.csv:2:1: b must be at least 1, got 0",
        "t.csv:2:2: m must be at least 1, got 0",
        "t.csv:2:3: n must be an integer, got 'x'" + integer,
        "t.csv:2:4: k must be at most 2147483647 (2^31 - 1), got 2147483648",
        "t.csv:2:5: unknown dtype 'int9'; did you mean 'int8'?",
        "t.csv:2:6: ta must be 0, 1, false, true or empty, got '2'",
        "t.csv:2:7: tb must be 0, 1, false, true or empty, got 'yes'",
        "t.csv:2:8: bias must be 0, 1, false, true, empty or a dtype, got 'fp3'; did you mean 'fp32'?",
        "t.csv:5:2: m must be at least 1, got -1",
        "t.csv:5:3: n must be an integer, got ''" + integer,
        "t.csv:5:4: k must be at least 1, got 0",
    ]


def test_batches_may_be_products_over_nothing(table: Table) -> None:
    path = table("b,m,n,k\n2,3,5,0\n1,3,5,0\n")
    batches = [Matmul(m=3, n=5, k=0, a_batch=batch, b_batch=batch) for batch in ((2,), ())]
    assert read_csv(path) == tuple(batches)
    assert lines(table("b,m,n,k\n,3,5,0\n")) == ["t.csv:2:4: k must be at least 1, got 0"]


def test_cells_are_counted_as_they_stand_in_the_file(table: Table) -> None:
    assert lines(table("k,n,m\n0,1,0\n")) == [
        "t.csv:2:1: k must be at least 1, got 0",
        "t.csv:2:3: m must be at least 1, got 0",
    ]


def test_the_line_after_a_cell_of_two_lines_is_counted_right(table: Table) -> None:
    assert lines(table('m,n,k,name\n1,2,3,"a\nb"\n1,2,x,c\n'))[0].startswith(
        "t.csv:4:3: k must be an integer"
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ["t.csv: the file is empty; begin it with b,m,n,k,dtype,ta,tb,bias,name"]),
        ("\n \n", ["t.csv: the file is empty; begin it with b,m,n,k,dtype,ta,tb,bias,name"]),
        ("\nm,n,k\n", ["t.csv:2: the table has no rows; add a row such as 32,32,64"]),
        ("m,n,k\n1,2\n1,2,3,4\n", ["t.csv:2: expected 3 cells, got 2", "t.csv:3: expected 3 cells, got 4"]),
        ("m,n,k,nmae\n1,2,3,a\n", ["t.csv:1:4: unknown column 'nmae'; did you mean 'name'?"]),
        ("m,n,K\n1,2,3\n", ["t.csv:1:3: unknown column 'K'; did you mean 'k'?"]),
        ("m,n,k,\n1,2,3,4\n", [f"t.csv:1:4: unknown column ''; allowed here: {', '.join(sorted(COLUMNS))}"]),
        ("m,n,k,m\n1,2,3,4\n", ["t.csv:1:4: column m stands twice"]),
        (
            "m,dtype\n1,int8\n",
            [f"t.csv:1: the header lacks n, k; begin the file with a header such as {HEADER}"],
        ),
        (
            "1,2,3\n4,5,6\n",
            [
                "t.csv:1: expected a header with m, n and k, got '1,2,3';"
                f" begin the file with a header such as {HEADER}"
            ],
        ),
        (
            "m;n;k\n1;2;3\n",
            ["t.csv:1: expected a header with m, n and k, got 'm;n;k'; separate cells by commas"],
        ),
        (
            'm,n,k\n1,"2,3\n4,5,6\n',
            [
                "t.csv:2: not comma-separated cells: unexpected end of data;"
                " close every quote, and write a quote inside a quoted cell twice"
            ],
        ),
        (b"m,n,k\n1,2,3\n1,\0,3\n", ["t.csv:3: expected text, got a NUL byte; save the table as UTF-8 text"]),
        (b"m,n,k\n1,\xe9,3\n", ["t.csv:2: expected UTF-8, got the byte 0xe9; save the table as UTF-8 text"]),
        ("m,n,k".encode("utf-16"), ["t.csv:1: expected text, got a NUL byte; save the table as UTF-8 text"]),
    ],
)
def test_refuses(table: Table, content: str | bytes, expected: list[str]) -> None:
    assert lines(table(content)) == expected


def test_one_bad_cell_is_one_error_and_several_are_many(table: Table) -> None:
    with pytest.raises(WorkloadError):
        read_csv(table("m,n,k\n0,1,1\n"))
    with pytest.raises(ManyProblems):
        read_csv(table("m,n,k\n0,0,1\n"))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="there is no such file"):
        read_csv(str(tmp_path / "none.csv"))


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map(str.strip)
rows = st.fixed_dictionaries(
    {
        "b": st.integers(1, 9),
        "m": st.integers(1, 2**31 - 1),
        "n": st.integers(1, 99),
        "k": st.integers(1, 99),
        "dtype": st.sampled_from(["", *DTYPES]),
        "ta": st.booleans(),
        "tb": st.booleans(),
        "bias": st.sampled_from(["", "1", *DTYPES]),
        "name": words,
    }
)


@given(st.lists(rows, min_size=1, max_size=4), st.permutations(COLUMNS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(table: Table, written: list[dict[str, object]], order: list[str]) -> None:
    sheet = io.StringIO(newline="")
    writer = csv.DictWriter(sheet, order)
    writer.writeheader()
    writer.writerows(written)
    for row, product in zip(written, read_csv(table(sheet.getvalue())), strict=True):
        assert [product.batch, product.m, product.n, product.k] == [row[letter] for letter in "bmnk"]
        assert (product.transpose_a, product.transpose_b, product.name) == (row["ta"], row["tb"], row["name"])
        assert str(product.dtype or "") == row["dtype"]
        assert {None: "", "default": "1"}.get(product.bias, str(product.bias)) == row["bias"]
