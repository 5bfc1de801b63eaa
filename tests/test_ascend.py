"""Core programs through the public module."""

from __future__ import annotations

import doctest
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pantile.ascend import (
    FIX,
    L0A,
    L0C,
    L1,
    MTE1,
    Core,
    Flag,
    M,
    Program,
    contract_of,
    function,
    tensor,
    tile_call,
)
from pantile.errors import ManyProblems, PantileError
from pantile.machine import Table, load_machine
from pantile.program.program import Program as Tables

HALF = 32768


@function
def tile(core: Core, half: int, ready: int) -> None:
    """Bring half of L0A, multiply, and give the half back."""
    mine = slice(half * HALF, (half + 1) * HALF)
    core.wait(M, MTE1, half)
    core.access(MTE1, reads=L1[0:HALF], writes=L0A[mine], label="load")
    core.set(MTE1, M, ready)
    core.wait(MTE1, M, ready)
    core.access(M, reads=L0A[mine], writes=L0C[0:65536], label="multiply", cycles=512)
    core.barrier(M)
    core.set(M, MTE1, half)


def kernel(ids: tuple[int, int] = (0, 1), tiles: int = 4) -> Program:
    """Double-buffered tiles; *ids* are those by which M learns that a half is there."""
    core = Core("k.py")
    for half in (0, 1):
        core.set(M, MTE1, half)
    for at in range(tiles):
        tile(core, at % 2, ids[at % 2])
    for half in (0, 1):
        core.wait(M, MTE1, half)
    core.set(M, FIX, 0)
    core.wait(M, FIX, 0)
    core.access(FIX, reads=L0C[0:65536], writes=tensor("C")[0:HALF], label="store")
    return core.program()


def codes(report: Any) -> set[str]:
    return {each.code for each in report.findings if each.severity != "note"}


def test_a_double_buffered_kernel_is_proved_right() -> None:
    report = kernel().check("ascend-910b")
    assert report.ok
    assert not codes(report)
    assert any(sentence.startswith("races: ") for sentence in report.proved)


def test_one_id_for_both_halves_can_be_set_twice_and_hang() -> None:
    """What revision head of the library does (spec 4.3.2), in a kernel of one's own."""
    assert codes(kernel((0, 0)).check()) == {"PT-DOUBLE-SET", "PT-DEADLOCK"}


def test_findings_stand_at_the_lines_of_the_source() -> None:
    found = kernel((0, 0)).check().to_json()["findings"]
    double = next(each for each in found if each["code"] == "PT-DOUBLE-SET")
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    lines = [int(place.rpartition(":")[2]) for place in double["sources"]]
    assert {source[line - 1].strip() for line in lines} == {
        "core.set(MTE1, M, ready)",
        "core.wait(MTE1, M, ready)",
    }


def test_contracts_are_inferred_from_calls() -> None:
    first, second = kernel().contracts()
    assert first.contract.needs == first.contract.leaves == ((Flag(M, MTE1, 0), 1),)
    assert second.contract.needs == second.contract.leaves == ((Flag(M, MTE1, 1), 1),)
    assert len(first.lines) == 2
    program = kernel()
    made = program.calls[0]
    assert contract_of(program.instructions[made.begin : made.end]) == first.contract


def test_a_caller_that_forgets_to_raise_a_flag_is_told_of_it() -> None:
    core = Core("k.py")
    core.set(M, MTE1, 0)
    tile(core, 0, 0)
    tile(core, 1, 1)
    core.wait(M, MTE1, 0)
    report = core.program().check()
    assert "tile needs flag 1 of PIPE_M to PIPE_MTE1 up, and its caller has not raised it" in str(report)


def test_it_takes_as_long_as_its_products_and_what_it_cannot_hide(tmp_path: Path) -> None:
    """By hand, at 1.8 GHz: a load is 128 + 28 cycles, four products 2048; the store 256 + 20."""
    run = kernel().simulate("ascend-910b", trace=tmp_path / "k.perfetto-trace")
    assert run.total_cycles == pytest.approx(156 + 4 * 512 + 276, abs=2)
    assert run.bound_by == "compute"
    assert (tmp_path / "k.perfetto-trace").stat().st_size > 0


def test_text_is_a_printed_trace_and_reads_back() -> None:
    program = kernel()
    text = program.to_text()
    assert text.splitlines()[:5] == [
        "set_flag(PIPE_M, PIPE_MTE1, 0)",
        "set_flag(PIPE_M, PIPE_MTE1, 1)",
        f"// call tile, line {program.calls[0].line}",
        "wait_flag(PIPE_M, PIPE_MTE1, 0)",
        "access(PIPE_MTE1, load, reads=L1[0:32768], writes=L0A[0:32768])",
    ]
    again = Program.from_text(text, "k.py")
    assert list(again.instructions) == list(program.instructions)
    assert again.calls == program.calls
    assert again.to_text() == text
    assert again.check().ok


def test_json_keeps_everything() -> None:
    program = kernel((0, 0))
    again = Program.from_json(json.loads(json.dumps(program.to_json())))
    assert again == program
    assert str(again.check()) == str(program.check())
    assert Program.of(Tables.from_json(program.to_json())).contracts() == program.contracts()


@pytest.mark.parametrize("lost", ["stream", "works", "starts"])
def test_a_program_that_lost_its_trace_is_refused(lost: str) -> None:
    data = kernel().to_json()
    data["parameters"] = {key: value for key, value in data["parameters"].items() if key != lost}
    for verb in ("check", "simulate"):
        with pytest.raises(PantileError, match=f"a core program lacks {lost}"):
            getattr(Program.from_json(data), verb)("ascend-910b")


def test_recorded_instructions_make_a_program_too() -> None:
    program = Program.from_instructions(kernel().instructions, "k")
    assert program.check().ok
    assert repr(program) == f"<core program k: {program.operations} operations>"


def test_malformed_accesses_are_told_with_what_was_expected() -> None:
    text = "\n".join(
        [
            "access(PIPE_M)",
            "access(PIPE_M, x, reads=L0A[5:5])",
            "access(PIPE_M, x, bytes=7)",
            "access(PIPE_M, x, cycles=many)",
        ]
    )
    with pytest.raises(ManyProblems) as refused:
        Program.from_text(text, "t.txt")
    lines = str(refused.value).splitlines()
    assert [line.split(": ")[0] for line in lines[-4:]] == [f"t.txt:{at}:1" for at in range(1, 5)]
    assert "bytes such as L0A[0:512]" in lines[-3]


@pytest.mark.parametrize("label", ["", "a, b", "x // y", "f(x)"])
def test_labels_that_could_not_be_read_back_are_refused(label: str) -> None:
    with pytest.raises(PantileError, match="expected a label"):
        Core().access(M, label=label)


ROOT = Path(__file__).parents[1]


def test_the_program_of_the_docs_is_right() -> None:
    page = (ROOT / "docs/ascend-sync.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    namespace: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "page.py", "exec"), namespace)
    program = namespace["program"]
    assert program.check("ascend-910b").ok
    assert program.name == "page.py"
    assert len(program.contracts()) == 1


@pytest.mark.slow
def test_the_mutants_of_the_docs_are_graded_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = doctest.testfile(str(ROOT / "docs/ascend-sync.md"), module_relative=False)
    assert (results.attempted, results.failed) == (3, 0)


def test_calls_of_mma_tile_are_placed_where_they_are_said_to_lie() -> None:
    call = tile_call("fp16", 16, 32, 64, a=512, b=4096, c=1024, bias=("float", 8192), back0=3, init=False)
    assert (call.a.base, call.b.base, call.c.base) == (512, 4096, 1024)
    assert call.bias is not None
    assert call.bias.block.base == 8192
    assert (call.events.back0, call.events.back1, call.init) == (3, -1, False)
    with pytest.raises(PantileError, match="unknown element type 'fp61'"):
        tile_call("fp61", 1, 1, 1)


def test_ids_go_as_far_as_the_machine_says() -> None:
    """The old training chips have 0 to 3 (spec 1.4); alloc of a core with four ids runs out after four."""
    core = Core("k.py")
    core.set(M, MTE1, 5)
    core.wait(M, MTE1, 5)
    machine = load_machine("ascend-910b")
    table = Table({**machine.family_table("ascend"), "event_ids": 4})
    older = replace(machine, family=Table({"ascend": table}), provenance=())
    assert codes(core.program().check(machine)) == set()
    assert codes(core.program().check(older)) == {"PT-EVENT-ID"}
    small = Core("k.py", event_ids=4)
    events = [small.alloc(M, MTE1) for _ in range(5)]
    assert [each.id for each in events] == [0, 1, 2, 3, 4]
    assert "4 there are, 4 are held" in str(small.program().check())


def test_one_id_of_a_source_towards_two_pipes_is_a_note() -> None:
    core = Core("k.py")
    core.set(M, MTE1, 0)
    core.set(M, FIX, 0)
    core.wait(M, MTE1, 0)
    core.wait(M, FIX, 0)
    report = core.program().check()
    assert report.ok
    assert [each.severity for each in report.findings if each.code == "PT-SCOPE"] == ["note"]


def test_a_flag_from_a_pipe_to_itself_orders_it_as_a_barrier_does() -> None:
    def product_twice(flag: bool) -> Any:
        core = Core("k.py")
        core.access(M, writes=L0C[0:1024], label="product", cycles=1)
        if flag:
            core.set(M, M, 0)
            core.wait(M, M, 0)
        core.access(M, reads=L0C[0:1024], writes=L0C[0:1024], label="add", cycles=1)
        return core.program().check()

    assert codes(product_twice(flag=False)) == {"PT-RACE"}
    assert codes(product_twice(flag=True)) == set()
