"""Pages of core programs: figures equal those of JSON, buffers are followed byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pantile
from pantile.errors import UsageError
from pantile.verbs.pagefile import Page
from pantile.verbs.program_check import check_program
from pantile.verbs.program_run import simulate_program
from pantile.verbs.program_view import view_program
from pantile.view.columns import KINDS, MODES
from pantile.view.residency import Residency

EXAMPLES = Path(__file__).parents[2] / "examples" / "ascend"
SEED = EXAMPLES / "two_tiles_seed.txt"
MACHINE = "ascend-910b"
READ, WRITE, UPDATE = (MODES.index(name) for name in ("read", "write", "update"))


@pytest.fixture(scope="module")
def page() -> Page:
    return view_program(SEED, MACHINE)


def lives_of(page: Page) -> Residency:
    assert page.data.residency is not None
    return page.data.residency


def touches(page: Page, row: int) -> set[tuple[str, str, int, int]]:
    """(memory, mode, first byte, end) of what a row touches."""
    lives = lives_of(page)
    found = set()
    for at in np.flatnonzero(lives.touches["operation"] == row).tolist():
        memory = page.data.memories[int(lives.entries["memory"][lives.touches["entry"][at]])].name
        lo, length = int(lives.touches["lo"][at]), int(lives.touches["length"][at])
        found.add((memory, MODES[int(lives.touches["mode"][at])], lo, lo + length))
    return found


def there(page: Page, memory: str, row: int) -> list[tuple[int, int]]:
    """(first byte, end) of what lies in a memory at a row, by address."""
    entries, number = lives_of(page).entries, [each.name for each in page.data.memories].index(memory)
    mine = (entries["memory"] == number) & (entries["opened"] <= row)
    mine &= (entries["closed"] < 0) | (entries["closed"] > row)
    return sorted(
        (lo, lo + size)
        for lo, size in zip(entries["tag"][mine].tolist(), entries["bytes"][mine].tolist(), strict=True)
    )


def row_of(page: Page, operation: int) -> int:
    """The row of the operation that JSON numbers so."""
    return page.data.operations["listed"].tolist().index(operation)


@pytest.mark.parametrize("program", [SEED, EXAMPLES / "two_tiles_head.txt", f"{EXAMPLES}/ping_pong.py:right"])
def test_figures_and_findings_equal_those_of_json(program: Path | str) -> None:
    page, run = view_program(program, MACHINE), simulate_program(program, MACHINE).to_json()
    figures = {each.key: each.value for each in page.data.figures}
    for key in ("operations", "macs", "total_cycles", "total_ps", "bound_by"):
        assert figures[key] == run[key]
    assert (figures["mac_utilisation"], figures["busy_utilisation"]) == tuple(run["utilisation"].values())
    for kind, found in (("lower_bound", run["lower_bounds"]), ("busy_ps", run["busy_ps"]["threads"])):
        mine = {key: value for key, value in figures.items() if key.startswith(f"{kind} ")}
        assert mine == {f"{kind} {name}": value for name, value in found.items()}
    assert {each.name: each.cycles for each in page.data.terms} == {
        name: cycles for name, cycles in run["terms"].items() if cycles
    }
    report = check_program(program, MACHINE)
    assert [(each.code, each.grade, each.operations) for each in page.data.findings] == [
        (each.code, each.grade, each.operations) for each in report.findings
    ]
    assert page.data.proved == report.proved
    assert {str(note) for note in report.notes} <= set(page.data.notes)


def test_engines_are_called_as_the_vendor_calls_pipes(page: Page) -> None:
    assert [each.name for each in page.data.engines] == ["SCALAR", "CUBE", "MTE1"]
    busy = {each.key: each.value for each in page.data.figures if each.key.startswith("busy_ps")}
    assert busy == {"busy_ps SCALAR": 0, "busy_ps CUBE": 570002, "busy_ps MTE1": 824454}


def test_rows_say_what_stands_on_their_lines(page: Page) -> None:
    lines = SEED.read_text().splitlines()
    data, ops = page.data, page.data.operations
    assert ops.count == 40
    for row in range(ops.count):
        file, _, line = data.sources[ops["source"][row]].rpartition(":")
        assert file == "two_tiles_seed.txt"
        assert data.texts[ops["text"][row]] == lines[int(line) - 1]
        assert data.texts[ops["text"][row]].startswith(f"{data.opcodes[ops['opcode'][row]]}(")
    load = row_of(page, 6)
    assert KINDS[ops["kind"][load]] == "load"
    assert ops["bytes"][load] == 32768
    flag = row_of(page, 7)
    assert data.posts[ops["posts"][flag]] == "flag 0 of PIPE_MTE1 to PIPE_M +1"
    assert data.waits[ops["waits"][row_of(page, 8)]] == "flag 0 of PIPE_MTE1 to PIPE_M"


def test_there_are_no_matrices_and_the_page_says_so(page: Page) -> None:
    assert dict(page.data.extents) == {}
    assert page.data.tiles.count == 0
    assert set(page.data.operations["tile"].tolist()) == {-1}
    assert any("names no matrices" in note for note in page.data.notes)


def test_buffers_have_the_capacities_of_the_machine(page: Page) -> None:
    assert {each.name: each.capacity_bytes for each in page.data.memories} == {
        "L1": 524288,
        "L0A": 65536,
        "L0B": 65536,
        "L0C": 131072,
    }
    assert all(each.by_bytes and each.placed and each.slots == 1 for each in page.data.memories)


def test_instructions_touch_the_bytes_that_they_read_and_write(page: Page) -> None:
    hull = 7 * 256 * 32 + 128 * 32  # 8 columns of 256 rows of 32 B, of the last one half
    assert touches(page, row_of(page, 6)) == {
        ("L1", "read", 131072, 131072 + hull),
        ("L0B", "write", 0, 32768),
    }
    assert touches(page, row_of(page, 9)) == {
        ("L0A", "read", 0, 28672),
        ("L0B", "read", 0, 32768),
        ("L0C", "write", 0, 57344),
    }
    assert ("L0C", "update", 0, 57344) in touches(page, row_of(page, 18))  # it goes on with the sum


def test_what_is_read_first_was_there_and_what_is_overwritten_in_part_keeps_the_rest(page: Page) -> None:
    first = row_of(page, 4)
    assert (0, 28672) in there(page, "L1", 0)
    assert there(page, "L0A", first - 1) == []
    assert there(page, "L0A", first) == [(0, 28672)]
    race = row_of(page, 24)  # fills 0:33280 of L0B while operation 18 still reads from 32768 on
    assert there(page, "L0B", race - 1) == [(0, 32768), (32768, 65536)]
    assert there(page, "L0B", race) == [(0, 33280), (33280, 65536)]


def test_global_memory_is_not_drawn() -> None:
    data = view_program(f"{EXAMPLES}/ping_pong.py:right", MACHINE).data
    assert [each.name for each in data.memories] == ["L1", "L0A", "L0C"]
    assert "page: not drawn as memories: GM_C" in data.notes


def test_a_file_and_a_window(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    page: Any = pantile.view(SEED, MACHINE, out, window=range(10, 20))
    assert page.data.operations.count == 10
    assert page.data.command == f"pantile view {SEED} -m {MACHINE} --window 10:20 -o {out}"
    assert page.data.window.command == f"pantile view {SEED} -m {MACHINE} --window 20:40 -o {out}"
    whole = view_program(SEED, MACHINE)
    for row in range(10, 20):
        for memory in ("L1", "L0A", "L0B", "L0C"):
            assert there(page, memory, row - 10) == there(whole, memory, row)
        assert touches(page, row - 10) == touches(whole, row)


def test_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="needs an Ascend machine, got 'mesh-2x2'"):
        view_program(SEED, "mesh-2x2")
