"""What becomes of mutants, against walking through interleavings one event at a time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from pantile.program.program import Program
from pantile.targets.ascend.carry_out import carry_out
from pantile.targets.ascend.elements import BY_DTYPE
from pantile.targets.ascend.mma_call import Events
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import mma_tile
from pantile.targets.ascend.mutants import mutants_of
from pantile.targets.ascend.mutation import FATES, Mutation, differs, judge_mutant, mutate
from pantile.targets.ascend.symbols import symbols_left
from pantile.targets.ascend.trace import program_of_trace

from .queue_machine import random_run

CASES = Path(__file__).parents[2] / "golden/sync_cases"


def case(name: str) -> Program:
    recorded = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return program_of_trace(recorded["trace"], name, unit_flags=True)


def ping_pong(tiles: int = 3) -> list[dict[str, Any]]:
    """Two slots of UB: MTE2 fills one while MTE3 empties the other."""

    def access(pipe: str, label: str, key: str, slot: int) -> dict[str, Any]:
        span = {"buf": "UB", "lo": 32 * slot, "hi": 32 * slot + 32}
        spans = {"reads": [], "writes": [], key: [span]}
        return {"op": "access", "args": {"pipe": pipe, "label": label, **spans}}

    def flag(op: str, src: str, dst: str, event: int) -> dict[str, Any]:
        return {"op": op, "args": {"src_pipe": src, "dst_pipe": dst, "event_id": event}}

    full, free = ("PIPE_MTE2", "PIPE_MTE3"), ("PIPE_MTE3", "PIPE_MTE2")
    stream = [flag("set_flag", *free, slot) for slot in range(2)]
    for tile in range(tiles):
        slot = tile % 2
        stream += [
            flag("wait_flag", *free, slot),
            access("PIPE_MTE2", f"load {tile}", "writes", slot),
            flag("set_flag", *full, slot),
            flag("wait_flag", *full, slot),
            access("PIPE_MTE3", f"store {tile}", "reads", slot),
            flag("set_flag", *free, slot),
        ]
    return stream + [flag("wait_flag", *free, slot) for slot in range(2)]


@pytest.mark.slow
def test_verdicts_hold_in_random_interleavings() -> None:
    """Harmless mutants end and leave the same bytes in all runs; of wrong ones some run does not."""
    stream, random = ping_pong(), Random(3)
    wanted = symbols_left(stream, range(len(stream)))
    seen = Counter[str]()
    for mutant in mutants_of(stream):
        verdict = judge_mutant(mutant, "m", range(1, len(stream) + 1), wanted)
        runs = [random_run(mutant.stream, random) for _ in range(60)]
        lefts = ["hang" if run is None else differs(symbols_left(mutant.stream, run), wanted) for run in runs]
        if verdict.fate in ("harmless", "leak"):
            assert not any(lefts), (mutant.told, lefts)
        if verdict.fate == "wrong value":
            assert any(left not in ("", "hang") for left in lefts), mutant.told
        if verdict.told == "under every timing":
            assert set(lefts) == {"hang"}, mutant.told
        if any(left not in ("", "hang") for left in lefts):
            assert verdict.fate in ("hang", "wrong value"), (mutant.told, verdict)
        seen[verdict.fate] += 1
    assert {"harmless", "wrong value", "hang"} <= set(seen)


@pytest.fixture(scope="module")
def three_tiles() -> Mutation:
    return mutate(program_of_trace(ping_pong(), "p"))


def test_a_wrong_value_comes_with_an_order_that_executes_so(three_tiles: Mutation) -> None:
    program = program_of_trace(ping_pong(), "p")
    wrong = [each for each in three_tiles.verdicts if each.fate == "wrong value"]
    assert wrong
    for each in wrong:
        mutant = program_of_trace(each.mutant.stream, "m", unit_flags=True)
        assert each.witness is not None
        assert differs(carry_out(mutant, each.witness), carry_out(program))


def test_dropping_a_pair_takes_an_order_away_and_nothing_else(three_tiles: Mutation) -> None:
    """Without one a slot is loaded too early, or stored too early; nothing needs the first and last ones.

    With one-bit flags the same mutants can also lose a set, and hang.
    """
    pairs = [each for each in three_tiles.verdicts if each.mutant.change == "pair dropped"]
    assert Counter("wrong value" in each.fates for each in pairs) == {True: 4, False: 4}
    assert Counter(each.fate for each in pairs) == {"hang": 4, "harmless": 4}


def test_the_table_adds_up() -> None:
    found = mutate(program_of_trace(ping_pong(2), "two tiles"))
    lines = str(found).splitlines()
    assert lines[0] == f"two tiles: {len(found.verdicts)} mutants"
    assert int(lines[-1].split()[-1]) == len(found.verdicts)
    assert sum(found.count("dropped", fate) for fate in FATES) == 12


def test_what_the_original_does_is_not_held_against_its_mutants() -> None:
    found = mutate(case("x_event_leak"))
    assert "leak" in found.original
    assert not any(set(found.original) & set(each.fates) - {"hang"} for each in found.verdicts)


def test_the_executor_is_the_callers() -> None:
    """One that sees nothing finds no wrong value: what is left of races is that they are unordered."""
    blind = mutate(
        program_of_trace(ping_pong(), "p"), execute=lambda program, order: {"UB": np.zeros(1, np.uint8)}
    )
    fates = Counter(each.fate for each in blind.verdicts)
    assert fates["wrong value"] == 0
    assert fates["unordered, equal bytes on this data"] > 0


@pytest.mark.slow
def test_flags_of_a_recorded_tile_are_all_needed_or_proved_not_to_be() -> None:
    """On real bytes: a self-contained call of two parts in both halves of L0."""
    call = default_call(BY_DTYPE["fp16"], 64, 64, 600, events=Events())
    program = program_of_trace(mma_tile(call, "seed").instructions, "tile", unit_flags=True)
    found = mutate(program)
    assert not found.original
    assert _wrong_are_executed(found, program)
    assert {"hang", "wrong value", "harmless"} <= {each.fate for each in found.verdicts}


def _wrong_are_executed(found: Mutation, program: Program) -> bool:
    wanted = carry_out(program)
    return all(
        each.witness is not None
        and bool(differs(carry_out(program_of_trace(each.mutant.stream, "m"), each.witness), wanted))
        for each in found.verdicts
        if each.fate == "wrong value"
    )
