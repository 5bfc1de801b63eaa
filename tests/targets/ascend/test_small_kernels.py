"""Every flag of twenty kernels of this lowering dropped, moved or re-numbered; each mutant graded."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pantile.program.program import Program
from pantile.targets.ascend.carry_out import carry_out
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.mutants import mutants_of
from pantile.targets.ascend.mutation import Mutation, differs, mutate
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trial import trial_memory

from .queue_machine import random_run
from .small_kernels import MUTATED, kernel_of, mutated, works_in_turn

QUICKER = (7, 12)
"""Kernels of few flags, of which the usual run judges all mutants; ``make test-full`` those of all twenty."""


def test_twenty_kernels_of_all_kinds() -> None:
    kernels = [kernel_of(element, **rest) for element, rest in MUTATED]
    assert len(kernels) == 20
    assert {(each.ta, each.tb) for each in kernels} == {(a, b) for a in (False, True) for b in (False, True)}
    assert {each.element.name for each in kernels} == {"half", "bf16", "float", "int8"}
    assert {each.l1_buffers for each in kernels} == {1, 2, 4}
    assert {(each.sums, each.hands_over) for each in kernels} == {(1, True), (1, False), (2, False)}
    assert {each.guards_bias for each in kernels} == {False, True}
    assert all(len(works_in_turn(each)[0]) > 1 for each in kernels)


def test_some_mutants_of_a_kernel_are_wrong_and_show_it() -> None:
    """A sample of what the slow test does for all."""
    program = mutated(8)
    some = Random(1).sample(list(mutants_of(program.parameters["stream"])), 25)
    found = mutate(program, mutants=some)
    assert found.original == ()
    check_witnesses(program, found)


def check_witnesses(program: Program, found: Mutation) -> None:
    """Of every wrong value there is an order that leaves other bytes than the program itself."""
    wanted, wrong = carry_out(program), 0
    for verdict in found.verdicts:
        if verdict.fate == "wrong value":
            assert verdict.witness is not None
            mutant = program_of_trace(verdict.mutant.stream, "m", unit_flags=True)
            assert differs(carry_out(mutant, verdict.witness), wanted), verdict.mutant.told
            wrong += 1
    assert wrong


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.slow if number in QUICKER else pytest.mark.full)
        for number in range(len(MUTATED))
    ],
)
def test_mutants_are_graded_as_they_run(number: int) -> None:
    """A wrong value has a witness that executes so; a harmless mutant leaves the same bytes in random runs.

    Such runs know no unit flags: of kernels without.
    """
    program, random = mutated(number), Random(number)
    found = mutate(program)
    print(found)
    assert found.original == ()
    check_witnesses(program, found)
    counts = Counter(each.fate for each in found.verdicts)
    assert counts["undecided"] == 0
    assert min(counts["hang"], counts["harmless"]) > 0
    if "unit_flags" in program.parameters:
        return
    wanted = carry_out(program)
    harmless = [each for each in found.verdicts if each.fate == "harmless"]
    for verdict in random.sample(harmless, min(3, len(harmless))):
        stream = verdict.mutant.stream
        run, memory = random_run(stream, random), trial_memory(program_of_trace(stream, "m"))
        assert run is not None, verdict.mutant.told
        run_stream(stream, memory, run)
        assert not differs(memory.contents, wanted), verdict.mutant.told
