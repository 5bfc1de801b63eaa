"""Options that choose what is planned, listed and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pantile.cli.options import read_core, read_dims, read_window
from pantile.errors import PantileError

if TYPE_CHECKING:
    from conftest import Pantile, WriteOnnx

SEED = ("gemm:m=32,n=32,k=64", "-m", "systolic-ws-8x8")
MAPPING = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def numbers(text: str) -> list[int]:
    """Numbers of the operations in a listing."""
    return [int(line.split()[0]) for line in text.splitlines() if not line.startswith("#")]


def test_window_lists_half_open_ranges_and_an_end_left_out_is_the_programs(pantile: Pantile) -> None:
    listed = {text: numbers(pantile("lower", *SEED, "--window", text).out) for text in ("3:6", "149:", ":2")}
    assert listed == {"3:6": [3, 4, 5], "149:": [149, 150, 151], ":2": [0, 1]}
    assert numbers(pantile("lower", *SEED, "--window", "150:999999999999").out) == [150, 151]


def test_window_of_json_holds_the_same_operations(pantile: Pantile) -> None:
    whole = pantile("lower", *SEED, "--json").object["operations"]
    assert pantile("lower", *SEED, "--json", "--window", "140:").object["operations"] == whole[140:]


def test_core_lists_the_tiles_that_run_there(pantile: Pantile) -> None:
    machine = "systolic-ws-8x8-c4"
    command = ("lower", SEED[0], "-m", machine, "--mapping", MAPPING)
    whole = pantile(*command, "--text").out.splitlines()
    by_core = [numbers(pantile(*command, "--core", str(core)).out) for core in range(4)]
    assert sorted(number for listed in by_core for number in listed) == numbers("\n".join(whole))
    # Four regions of two tiles each go to the cores in turn, the first layer's first one to core 1.
    tiles = [{whole[1 + number].split()[1] for number in listed} for listed in by_core]
    assert tiles[1] == {"(0,0,0,0)", "(0,0,0,1)"}
    assert tiles[0] == {"(0,1,1,0)", "(0,1,1,1)"}


def test_window_and_core_together(pantile: Pantile) -> None:
    command = ("lower", SEED[0], "-m", "systolic-ws-8x8-c4", "--mapping", MAPPING)
    on_core = numbers(pantile(*command, "--core", "2").out)
    some = pantile(*command, "--core", "2", "--window", "50:60")
    assert numbers(some.out) == [number for number in on_core if 50 <= number < 60]


def test_a_mapping_is_a_text_or_a_file(pantile: Pantile) -> None:
    Path("net.mapping").write_text(f"{MAPPING}\n[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8\n")
    by_text, by_file = (
        pantile("plan", *SEED, "--mapping", given, "--json").object for given in (MAPPING, "net.mapping")
    )
    assert by_text["parameters"]["mapping"] == MAPPING
    assert by_file["notes"] == [{"code": "mapping", "text": "net.mapping:2: no node has the totals N8 C8 M8"}]
    for each in (by_text, by_file):  # the decisions name the place
        each.update(notes=[], decisions=[])
    assert by_file == by_text


def test_semantics_are_named_in_the_result(pantile: Pantile) -> None:
    assert pantile("plan", *SEED, "--json").object["semantics"] == "fixed"
    faithful = pantile("plan", *SEED, "--semantics", "faithful", "--json").object
    assert faithful["semantics"] == "faithful"


def test_dimensions_are_bound(pantile: Pantile, onnx_file: WriteOnnx) -> None:
    net = onnx_file([("MatMul", "product", ["x", "w"], "y")], {"x": ["batch", "seq", 32]}, {"w": [32, 24]})
    bound = ("--dim", "batch=2", "--dim", "seq=8")
    plan = pantile("plan", net, "-m", "systolic-ws-8x8", *bound, "--json").object
    assert plan["total"] == {"m": 16, "n": 24, "k": 32}
    assert plan["dims"] == {"batch": 2, "seq": 8}


def test_a_trace_may_draw_one_core(pantile: Pantile) -> None:
    command = ("simulate", SEED[0], "-m", "systolic-ws-8x8-c4", "--mapping", MAPPING, "--trace", "t")
    sizes = []
    for core in ((), ("--core", "1"), ("--core", "2")):
        assert pantile(*command, *core).code == 0
        sizes.append(Path("t").stat().st_size)
    assert sizes[1] == pytest.approx(sizes[2], rel=0.1)
    assert sizes[0] > 3 * sizes[1]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [("0:3", range(3)), (" 4 : 9 ", range(4, 9)), (":", range(10**18)), ("007:8", range(7, 8))],
)
def test_windows_that_are_read(text: str, bounds: range) -> None:
    assert read_window(text) == bounds


@pytest.mark.parametrize("text", ["", "5", "a:b", "1:2:3", "-1:4", "1.5:2", "٣:٤", "9" * 5000 + ":"])
def test_windows_that_are_not(text: str) -> None:
    with pytest.raises(PantileError, match=r"^--window: expected A:B with A before B, got"):
        read_window(text)


@pytest.mark.parametrize("text", ["5:5", "5:2"])
def test_windows_that_hold_nothing(text: str) -> None:
    with pytest.raises(PantileError, match=f"^--window: no operation is in '{text}'; put A below B"):
        read_window(text)


def test_cores_are_numbers() -> None:
    assert (read_core(None), read_core("12")) == (None, 12)
    for text in ("", "x", "-1", "1.0", "9" * 5000):
        with pytest.raises(PantileError, match=r"^--core: expected the number of a core, got"):
            read_core(text)


def test_no_dimension_is_bound_by_default() -> None:
    assert read_dims(None) == read_dims([]) == {}
    assert read_dims(["a=1", "b=2"]) == {"a": 1, "b": 2}
