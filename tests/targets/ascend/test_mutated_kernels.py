"""Every flag of twenty kernels dropped, moved or re-numbered; and verdicts tried in random runs."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pantile.targets.ascend.carry_out import carry_out
from pantile.targets.ascend.execute import run_stream
from pantile.targets.ascend.mutation import Verdict, differs, mutate
from pantile.targets.ascend.trace import program_of_trace
from pantile.targets.ascend.trial import trial_memory

from .mutated_kernels import KERNELS
from .queue_machine import random_run

RUNS = 3
"""Random runs of each mutant that is tried."""


def left_by(verdict: Verdict, random: Random) -> list[dict[str, object] | None]:
    """Return what random runs of a mutant leave; nothing of one that stops."""
    stream = verdict.mutant.stream
    lefts: list[dict[str, object] | None] = []
    for _ in range(RUNS):
        run, memory = random_run(stream, random), trial_memory(program_of_trace(stream, "m"))
        if run is not None:
            run_stream(stream, memory, run)
        lefts.append(None if run is None else dict(memory.contents))
    return lefts


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(KERNELS)))
def test_mutants_are_graded_as_they_run(number: int) -> None:
    """A wrong value has a witness that executes so; a harmless mutant leaves the same bytes in any run."""
    program, random = KERNELS[number](), Random(number)
    wanted, found = carry_out(program), mutate(program)
    for verdict in found.verdicts:
        if verdict.fate == "wrong value":
            assert verdict.witness is not None
            mutant = program_of_trace(verdict.mutant.stream, "m", unit_flags=True)
            assert differs(carry_out(mutant, verdict.witness), wanted), verdict.mutant.told
    harmless = [each for each in found.verdicts if each.fate == "harmless" and not found.original]
    for verdict in random.sample(harmless, min(3, len(harmless))):
        for left in left_by(verdict, random):
            assert left is not None, verdict.mutant.told
            assert not differs(left, wanted), verdict.mutant.told  # type: ignore[arg-type]
    hanging = [each for each in found.verdicts if each.told == "under every timing"]
    for verdict in random.sample(hanging, min(3, len(hanging))):
        assert left_by(verdict, random) == [None] * RUNS, verdict.mutant.told
    counts = Counter(each.fate for each in found.verdicts)
    assert min(counts["hang"], counts["wrong value"], counts["leak"], counts["harmless"]) > 0
