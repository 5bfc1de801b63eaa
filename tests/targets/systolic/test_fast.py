"""The compiled form equals the plain one, field by field, and ONNXim's recorded runs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pantile.conform.run import conform
from pantile.errors import PantileError, ProgramError
from pantile.program.program import Program
from pantile.targets.systolic import fast, kernel_memory
from pantile.targets.systolic import simulate as choice
from pantile.targets.systolic.channels import channels_of
from pantile.targets.systolic.config import CHANNEL_COUNTS, SystolicConfig
from pantile.targets.systolic.fast import is_compiled, simulate_fast
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.result import SystolicResult
from pantile.targets.systolic.stream import Stream, stream_of
from pantile.tiling.onnxim import LoopCounts
from pantile.workload.matmul import Matmul
from pantile.workload.network import network_of

pytestmark = pytest.mark.slow  # the first of them may compile

Lowered = Callable[..., Program]
ConfigOf = Callable[..., SystolicConfig]
GOLDEN = Path(__file__).parents[2] / "golden" / "onnxim"
SMALL = 300  # instructions: what the plain form runs in a fraction of a second
RUNS_PER_TEST = 250


def _random_runs() -> Any:
    """The generator beside this file; tests are no package."""
    spec = importlib.util.spec_from_file_location("random_runs", Path(__file__).with_name("random_runs.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_runs"] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


random_runs = _random_runs()


def outcome(simulate: Any, stream: Stream, config: Any, record: range | None) -> SystolicResult | str:
    """The result, or the sentence with which the run was refused."""
    try:
        return simulate(stream, config, record=record)
    except PantileError as error:
        return str(error)


def assert_forms_agree(stream: Stream, config: Any, record: range | None = None, hint: object = "") -> bool:
    """Compare both forms; tells whether the run finished."""
    plain = outcome(simulate_plain, stream, config, record)
    compiled = outcome(simulate_fast, stream, config, record)
    if isinstance(plain, str) or isinstance(compiled, str):
        assert plain == compiled, hint
        return False
    for field in fields(plain):
        expected, got = getattr(plain, field.name), getattr(compiled, field.name)
        assert np.array_equal(expected, got), (hint, field.name)
        assert getattr(expected, "dtype", None) == getattr(got, "dtype", None), (hint, field.name)
    return True


def small_runs(first_seed: int, count: int) -> Iterator[tuple[int, Stream, SystolicConfig]]:
    """Yield (seed, stream, config) of the first *count* small runs from *first_seed* on."""
    seed = first_seed
    while count:
        run = random_runs.random_run(seed)
        stream = stream_of(run.layers, run.config)
        if stream.operations <= SMALL:
            yield seed, stream, run.config
            count -= 1
        seed += 1


@pytest.mark.parametrize("batch", range(8))
def test_equals_the_plain_form_on_random_runs(batch: int) -> None:
    """2 000 runs in all: 1 to 5 cores, 1 to 64 channels, 1 to 20 ports, any clocks, latencies, layers."""
    finished = 0
    for seed, stream, config in small_runs(100_000 * batch, RUNS_PER_TEST):
        count = stream.operations
        record = (range(count), range(count // 3, count // 2), None)[seed % 3]
        finished += assert_forms_agree(stream, config, record, seed)
    assert finished > RUNS_PER_TEST * 3 // 4


def test_equals_the_recorded_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small cases too, which otherwise the plain form runs; the longest one is compared elsewhere."""
    monkeypatch.setattr(choice, "PLAIN_WORK", -1)
    files = [file for file in sorted(GOLDEN.rglob("*.json")) if "totals" in file.read_text()]
    found = conform([file for file in files if file.stem != "a8_2048cube"])
    assert found.summary == "54 files, 54 cases: 54 passed, 0 failed, 0 skipped", str(found)


def test_room_is_made_while_the_run_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_memory, "FIRST_RUNS", 1)
    monkeypatch.setattr(kernel_memory, "FIRST_MOVES", 1)
    monkeypatch.setattr(kernel_memory, "FIRST_WINDOWS", 1)
    reasons = set()
    enlarge = kernel_memory.enlarge

    def spy(reason: int, *state: Any) -> Any:
        reasons.add(reason)
        return enlarge(reason, *state)

    monkeypatch.setattr(kernel_memory, "enlarge", spy)
    for seed, stream, config in small_runs(900_000, 60):
        assert_forms_agree(stream, config, hint=seed)
    assert len(reasons) == 4  # runs, FIFO, nodes, responses


def test_computes_that_are_passed_over_are_recorded(lowered: Lowered, config_of: ConfigOf) -> None:
    # 60 preloads on one block, 8 cycles apart: all but the first few are one step of the compiled form.
    config = config_of(dram_freq=2000, dram_channels=8)
    stream = stream_of([lowered("[T] N8 C480 M8 - [O] N1 C1 M1 - [I] N8 C480 M8", config)], config)
    assert assert_forms_agree(stream, config, range(stream.operations))
    times = simulate_fast(stream, config, record=range(40, 50)).operations
    assert np.diff(times["finish"]).tolist() == [8] * 9
    assert times["enter"].tolist() == (times["issue"]).tolist()


@pytest.mark.parametrize("columns", [1 << 30, (1 << 30) + 8, (1 << 30) - 4, (1 << 30) - 8, (1 << 29) + 3])
def test_offsets_wrap_around_at_32_bits(columns: int, lowered_counts: Lowered, config_of: ConfigOf) -> None:
    # Q24. Rows of four bytes times this many columns begin close to 2^32 B: they repeat others, overlap
    # them, or cross the end. The mapping covers the first columns only (Q7).
    config = config_of(precision=4, num_cores=2)
    counts = LoopCounts(16, columns, 16), LoopCounts(2, 1, 2), LoopCounts(8, 24, 8)
    program = lowered_counts(network_of(Matmul(m=16, k=columns, n=16)), counts, config, has_bias=False)
    assert assert_forms_agree(stream_of([program], config), config)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        # The half is flushed for the third tile while the first one's bias is on its way.
        ({"dram_channels": 4, "dram_freq": 50}, "[T] N2 C4 M8 - [O] N1 C1 M4 - [I] N2 C2 M2"),
        # The last tile's bias comes after the run has ended.
        (
            {"num_cores": 2, "dram_channels": 4, "dram_freq": 50, "dram_latency": 3},
            "[T] N2 C4 M12 - [O] N1 C1 M6 - [I] N2 C2 M2",
        ),
    ],
)
def test_a_bias_that_nothing_waits_for_is_left_to_the_plain_form(
    changes: dict[str, int], line: str, lowered: Lowered, config_of: ConfigOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(**{"core_height": 2, "core_width": 2, "precision": 4, "dram_latency": 0} | changes)
    stream = stream_of([lowered(line, config, bias=True)], config)
    assert assert_forms_agree(stream, config)
    monkeypatch.setattr(fast, "simulate_plain", lambda *_, **__: "plain")
    assert simulate_fast(stream, config) == "plain"


def test_the_first_of_two_faults_is_told(lowered: Lowered, config_of: ConfigOf) -> None:
    # Both cores take a tile in the first tick. The half of core 1, which has tile 0, is full a tick later.
    config = config_of(num_cores=2, spad_size=1)
    program = lowered("[T] N16 C64 M16 - [O] N1 C1 M2 - [I] N16 C64 M8", config)
    stream = stream_of([program], config)
    assert not assert_forms_agree(stream, config)
    with pytest.raises(ProgramError, match="layer 0 tile 1: the scratchpad half would hold"):
        simulate_fast(stream, config)


@pytest.mark.parametrize("cores", [1, 3])
def test_skip_layers_take_ticks_of_their_own(cores: int, lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of(num_cores=cores)
    program = lowered("[T] N16 C16 M16 - [O] N2 C1 M2 - [I] N8 C16 M8", config)
    assert assert_forms_agree(stream_of([2, program, 1, 4, program, 3], config), config)


@pytest.mark.parametrize("channels", CHANNEL_COUNTS)
def test_channels_are_looked_up(channels: int) -> None:
    numbers = np.arange(0, 1 << 21, 37)
    table = kernel_memory.channel_table(channels)
    assert np.array_equal(table[numbers % len(table)], channels_of(numbers, channels))


def test_a_kernel_that_ran_is_compiled(lowered: Lowered, config_of: ConfigOf) -> None:
    config = config_of()
    stream = stream_of([lowered("[T] N8 C8 M8 - [O] N1 C1 M1 - [I] N8 C8 M8", config)], config)
    simulate_fast(stream, config)
    assert is_compiled()


def test_a_kernel_kept_on_the_disk_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast._kernel.cache_clear()
    try:
        assert is_compiled()  # the tests above left it there
        monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
        fast._kernel.cache_clear()
        assert not is_compiled()
    finally:
        fast._kernel.cache_clear()


def test_without_a_folder_to_keep_it_in_the_kernel_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    fast._kernel.cache_clear()
    try:
        assert not is_compiled()
    finally:
        fast._kernel.cache_clear()
