"""Streams and programs of whole kernels: columns equal instructions one by one, and both are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.check.program import check_program
from pantile.program.program import Program
from pantile.targets.ascend.alignment import check_alignment
from pantile.targets.ascend.kernel import Kernel
from pantile.targets.ascend.kernel_execute import execute_kernel
from pantile.targets.ascend.kernel_program import program_of_core
from pantile.targets.ascend.kernel_stream import core_stream, plain_stream
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trace_parse import parse_trace
from pantile.targets.ascend.trace_text import print_trace

from .small_kernels import kernel_of, kernels, operands_of, works_in_turn


def resolved(program: Program) -> dict[str, Any]:
    """All rows with their texts and amounts of work in place of numbers."""
    tables, parameters = program.tables(), program.parameters
    text, names = program.text, tables["thread"]["name"]

    def rows(table: str, *columns: str, texts: tuple[str, ...] = ()) -> list[Any]:
        return [
            tuple(text(int(row[each])) if each in texts else int(row[each]) for each in columns)
            for row in tables[table]
        ]

    works = [
        tuple(parameters["works"][model - 1]) if model > 0 else None
        for model in tables["op"]["duration_model"].tolist()
    ]
    space = [parameters["spaces"][each] for each in tables["access"]["space"].tolist()]
    counter = ("id", "src", "dst", "key", "initial", "capacity", "overflow")
    sync = ("op", "edge", "counter", "test", "amount", "group", "shown_as")
    return {
        "threads": [text(int(each)) for each in names],
        "op": rows("op", "id", "thread", "kind", "opcode", "bytes", "macs", "line", texts=("opcode",)),
        "works": works,
        "access": list(zip(rows("access", "op", "mode", "lo", "length", "rows"), space, strict=True)),
        "counter": rows("counter", *counter, texts=("src", "dst")),
        "sync": rows("sync", *sync, texts=("shown_as",)),
        "along": np.array(parameters.get("unit_flags", {}).get("along", [])).tolist(),
        "private": [parameters["spaces"][each] for each in parameters["private"]],
        "accumulating": np.array(parameters["accumulating"]).tolist(),
        "starts": list(parameters["starts"]),
        "lines": list(parameters["lines"]),
        "stream": list(parameters["stream"]),
    }


@given(kernels(), st.integers(1, 2), st.sampled_from((0, 32, 64)))
def test_columns_equal_instructions_one_by_one(kernel: Kernel, batch: int, piece: int) -> None:
    for works in works_in_turn(kernel, batch, 2, piece if kernel.out == "float" else 0):
        stream, plain = core_stream(kernel, works), plain_stream(kernel, works)
        assert list(stream) == plain
        assert [stream[at] for at in (0, len(stream) // 2, -1)] == [
            plain[0],
            plain[len(plain) // 2],
            plain[-1],
        ]
        program = resolved(program_of_core(stream, "core"))
        assert program == resolved(program_of_trace(plain, "core", unit_flags=True))


@given(kernels(), st.integers(1, 3), st.sampled_from((0, 32, 64)))
def test_all_cores_together_give_numpy_s_product(kernel: Kernel, batch: int, piece: int) -> None:
    works = works_in_turn(kernel, batch, 3, piece if kernel.out == "float" else 0)
    a, b, bias = operands_of(kernel, batch, kernel.k)
    found = execute_kernel(kernel, works, a, b, bias)
    wide = np.int64 if kernel.element.bytes == 1 else np.float64
    wanted = a.astype(wide) @ b.astype(wide) + (0 if bias is None else bias)
    assert np.array_equal(found.astype(np.float64), wanted)


@given(kernels(), st.integers(1, 2))
def test_every_access_is_ordered_and_no_flag_is_left(kernel: Kernel, batch: int) -> None:
    """Under both readings of ids: they belong to a pair of pipes, or to their source alone."""
    (works,) = works_in_turn(kernel, batch)
    program = program_of_core(core_stream(kernel, works), "core")
    report = check_program(program, capacities=kernel.capacities, strict_scope=True)
    assert not [each for each in report.findings if each.severity != "note"], str(report)
    assert not [each for each in report.findings if each.code == "PT-SCOPE"], str(report)
    heads = {line.partition(":")[0] for line in report.proved}
    assert {"deadlock", "pairing", "races", "capacity"} <= heads
    assert not check_alignment(program).findings


@pytest.mark.parametrize("unit_flag", [False, True])
def test_sums_of_long_products_go_to_fix_with_the_last_of_them(unit_flag: bool) -> None:
    """64 x 48 is long enough that the next product sees a sum without a barrier between them."""
    kernel = kernel_of(m=64, n=48, k=130, tile_m=64, tile_n=48, unit_flag=unit_flag)
    (works,) = works_in_turn(kernel, 3)
    program = program_of_core(core_stream(kernel, works), "core")
    assert len(program.parameters["accumulating"]) == 3 * 5
    assert "pipe_barrier arrive" not in program.names
    assert check_program(program).ok


def test_a_post_is_not_taken_for_one_at_the_start_of_its_product() -> None:
    """Its end, marked by the flag behind it, has the index there that its start has in its own chain."""
    kernel = kernel_of(bias="half", m=32, n=16, tile_n=16)
    (works,) = works_in_turn(kernel, 2)
    report = check_program(program_of_core(core_stream(kernel, works), "core"))
    assert report.ok, str(report)


def test_what_is_printed_is_read_back() -> None:
    kernel = kernel_of("bf16", out="bfloat16_t", bias="float", ta=True)
    stream = core_stream(kernel, works_in_turn(kernel)[0])
    text = print_trace(stream)
    assert text.splitlines()[0] == "set_atomic_none()"
    assert list(parse_trace(text, "core.txt").instructions) == list(stream)


def test_a_core_without_tiles_only_begins_and_ends() -> None:
    kernel = kernel_of()
    works = works_in_turn(kernel, 1, 5)[4]
    assert len(works) == 0
    assert {each["op"] for each in core_stream(kernel, works)} == {
        "set_atomic_none",
        "set_padding",
        "set_nd_para",
        "set_flag",
        "wait_flag",
    }
    assert list(core_stream(kernel, works)) == plain_stream(kernel, works)


def test_rows_too_long_for_a_stride_are_copied_one_by_one() -> None:
    kernel = kernel_of(m=40, n=20, k=65536, chunk=64, step=32)
    works = works_in_turn(kernel)[0][:1]
    works["depth"] = 64
    copies = [
        each["args"] for each in core_stream(kernel, works) if each["args"].get("dst", {}).get("buf") == "L1"
    ]
    assert [each["n_value"] for each in copies] == [1] * 32 + [64]
    assert [each["src"]["off"] for each in copies[:2]] == [0, 2 * 65536]
    assert [each["dst"]["off"] for each in copies[:2]] == [0, 32]
