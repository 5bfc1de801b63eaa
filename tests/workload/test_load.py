from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from onnx import helper

from pantile.errors import PantileError, UsageError, WorkloadError
from pantile.workload.load import load_workload, parse_dims
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import onnx

    from conftest import BuildModel

    Save = Callable[[onnx.ModelProto], str]


@pytest.fixture
def model(build: BuildModel, save: Save) -> str:
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="a#b")
    return save(build([node], {"x": ["rows", 3]}, ["y"], {"w": [3, 4]}))


def test_a_text_is_one_network() -> None:
    (network,) = load_workload("gemm:m=2,n=3,k=4")
    assert network.nodes[0].computation == Matmul(m=2, n=3, k=4)
    assert network.source == "gemm:m=2,n=3,k=4"


def test_a_table_is_a_network_for_every_row(tmp_path: Path) -> None:
    path = tmp_path / "layers.CSV"
    path.write_text("m,n,k,name\n1,2,3,fc\n\n4,5,6,\n")
    first, second = load_workload(path)
    assert (first.name, first.source, first.macs) == ("fc", f"{path}:2", 6)
    assert (second.name, second.source, second.macs) == ("matmul", f"{path}:4", 120)


def test_an_onnx_file_is_one_network(model: str) -> None:
    (network,) = load_workload(model, dims={"rows": 5})
    assert network.macs == 60


def test_a_node_follows_the_first_hash_after_the_suffix(model: str) -> None:
    (network,) = load_workload(f"{model}#a#b", dims={"rows": 5})
    assert network.source == f"{model}#a#b"
    with pytest.raises(WorkloadError, match="there is no node ''"):
        load_workload(f"{model}#", dims={"rows": 5})


def test_a_scheme_wins_over_a_suffix() -> None:
    with pytest.raises(WorkloadError, match="unknown key 'file'"):
        load_workload("gemm:m=1,n=1,k=1,file=a.csv")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("missing.onnx", "missing.onnx: there is no such file"),
        ("missing.onnx#node", "missing.onnx: there is no such file"),
        ("missing.csv", "missing.csv: there is no such file"),
        ("model.onx", "expected gemm:…, bmm:…, FILE.onnx or FILE.csv, got 'model.onx'"),
        ("", "expected gemm:…, bmm:…, FILE.onnx or FILE.csv, got ''"),
        ("gem:m=1", "gem:m=1:1: unknown scheme 'gem'; did you mean 'gemm'?"),
        (
            "mma-tile:m=1",
            "mma-tile:m=1:1: mma-tile: is one call of a library",
        ),
        ("bmm:a=2x3x4,b=3x4x5", "bmm:a=2x3x4,b=3x4x5:13: batches 2 and 3 do not broadcast"),
    ],
)
def test_refuses_in_one_line(text: str, line: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PantileError) as caught:
        load_workload(text)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["gemm:m=1,n=1,k=1", "layers.csv"])
def test_dimensions_belong_to_onnx_files(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_workload(text, dims={"batch": 1})
    assert str(caught.value) == (
        f"dimensions can be bound in an ONNX file only, got batch for {text!r}; leave --dim out [PT-USAGE]"
    )


def test_reads_dimensions() -> None:
    assert parse_dims([]) == {}
    assert parse_dims(["batch=8", " past = 0", "a=b=3"]) == {"batch": 8, "past": 0, "a=b": 3}


def test_refuses_every_wrong_dimension() -> None:
    with pytest.raises(PantileError) as caught:
        parse_dims(["batch", "=3", "n=x", "n=1", "n=2", "k=-1", "j=2147483648"])
    assert [text.removesuffix(" [PT-WORKLOAD]") for text in str(caught.value).splitlines()] == [
        "expected NAME=SIZE, got 'batch'; write --dim batch=8",
        "expected NAME=SIZE, got '=3'; write --dim batch=8",
        "dimension 'n' must be an integer, got 'x'; write a whole number from 0 to 2147483647",
        "dimension 'n' is bound twice, got 'n=2'",
        "dimension 'k' must be at least 0, got -1",
        "dimension 'j' must be at most 2147483647 (2^31 - 1), got 2147483648",
    ]


def test_importing_does_not_load_onnx() -> None:
    code = (
        "import pkgutil, sys, pantile.workload as w\n"
        "for found in pkgutil.iter_modules(w.__path__): __import__(f'pantile.workload.{found.name}')\n"
        "sys.exit(bool({'onnx', 'numpy', 'numba', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
