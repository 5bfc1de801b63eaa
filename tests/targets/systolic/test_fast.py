"""The compiled form equals the plain one, field by field, on random machines and layers."""

from __future__ import annotations

import importlib.util
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pantile.errors import PantileError
from pantile.targets.systolic.fast import is_compiled, simulate_fast
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.result import SystolicResult
from pantile.targets.systolic.stream import Stream, stream_of

_SPEC = importlib.util.spec_from_file_location("random_runs", Path(__file__).with_name("random_runs.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
random_runs = importlib.util.module_from_spec(_SPEC)
__import__("sys").modules["random_runs"] = random_runs
_SPEC.loader.exec_module(random_runs)

SMALL = 400  # instructions: what the plain form runs in a fraction of a second
RUNS_PER_TEST = 250


def outcome(simulate: Any, stream: Stream, config: Any, record: range | None) -> SystolicResult | str:
    """The result, or the sentence with which the run was refused."""
    try:
        return simulate(stream, config, record=record)
    except PantileError as error:
        return str(error)


def window(seed: int, operations: int) -> range | None:
    """Record all instructions, some from the middle, or none."""
    return (range(operations), range(operations // 3, operations // 2), None)[seed % 3]


def small_runs(first_seed: int, count: int) -> Any:
    """Yield (seed, stream, config) of the first *count* small runs from *first_seed* on."""
    found, seed = 0, first_seed
    while found < count:
        try:
            run = random_runs.random_run(seed)
            stream = stream_of(run.layers, run.config)
        except PantileError:
            stream = None  # what cannot be lowered is not a run
        if stream is not None and stream.operations <= SMALL:
            found += 1
            yield seed, stream, run.config
        seed += 1


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(8))
def test_compiled_form_equals_plain_form_on_random_runs(batch: int) -> None:
    """2 000 runs in all: 1 to 5 cores, 1 to 64 channels, 1 to 20 ports, any clocks, latencies, layers."""
    finished = 0
    for seed, stream, config in small_runs(100_000 * batch, RUNS_PER_TEST):
        record = window(seed, stream.operations)
        plain = outcome(simulate_plain, stream, config, record)
        fast = outcome(simulate_fast, stream, config, record)
        if isinstance(plain, str) or isinstance(fast, str):
            assert plain == fast, seed
            continue
        finished += 1
        for field in fields(plain):
            expected, got = getattr(plain, field.name), getattr(fast, field.name)
            assert np.array_equal(expected, got), (seed, field.name)
    assert finished > RUNS_PER_TEST // 2


@pytest.mark.slow
def test_a_compiled_run_is_known_as_compiled() -> None:
    _, stream, config = next(small_runs(7, 1))
    outcome(simulate_fast, stream, config, None)
    assert is_compiled()
