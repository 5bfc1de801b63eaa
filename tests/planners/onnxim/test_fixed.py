"""What ``fixed`` plans where the original's mapper fails: right, aligned, and never without an end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pantile.errors import MappingError
from pantile.planners.onnxim.capacity import Overflow
from pantile.planners.onnxim.fixed import Cut, automatic_gemm, cut_until_it_fits
from pantile.planners.onnxim.gemm import gemm_mapping
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts, Mapping

TABLE = json.loads((Path(__file__).parents[2] / "golden/onnxim/mapping_table.json").read_text())
MACHINES = {row[0]: row[1:] for row in TABLE["hw"]}
CRASHES = [row for row in TABLE["gemm"] if isinstance(row[4], str)]


def roomy(mapping: Mapping) -> None:
    """Everything fits."""


def at_most(nc: int, nm: int) -> Callable[[Mapping], Overflow | None]:
    """Elements of both operands, and of the sums, of one nominal tile."""

    def fits(mapping: Mapping) -> Overflow | None:
        i = mapping.inner
        operands, sums = (i.N + i.M) * i.C, i.N * i.M
        if operands > nc:
            return Overflow("scratchpad", operands, nc)
        return Overflow("accumulator", sums, nm) if sums > nm else None

    return fits


def stores_and_macs(
    mapping: Mapping, height: int
) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, ...]]]:
    """Section 4 of the specification, element by element: what is stored, and what is multiplied."""
    total, outer, inner = mapping.total, mapping.outer, mapping.inner
    stores: Counter[tuple[int, int]] = Counter()
    macs: Counter[tuple[int, ...]] = Counter()
    for n, m, c in product(range(outer.N), range(outer.M), range(outer.C)):
        c0 = c * inner.C
        ks = range(c0, min(c0 + inner.C, total.C))
        for ms, ns in product(range(0, inner.M, height), range(0, inner.N, height)):
            columns = range(m * inner.M + ms, min(total.M, m * inner.M + ms + height))
            rows = range(n * inner.N + ns, min(total.N, n * inner.N + ns + height))
            macs.update(product(rows, columns, ks))
            if c0 + inner.C >= total.C:
                stores.update(product(rows, columns))
    return stores, macs


def aligned_and_minimal(mapping: Mapping, side: int) -> bool:
    """Inner sizes are multiples of the side, and tiles are as many as are needed."""
    return all(
        mapping.inner[letter] % side == 0
        and (mapping.outer[letter] - 1) * mapping.inner[letter] < mapping.total[letter]
        and mapping.outer[letter] * mapping.inner[letter] >= mapping.total[letter]
        for letter in "NCM"
    )


@pytest.mark.parametrize("name", sorted({row[0] for row in CRASHES}))
def test_shapes_on_which_the_original_crashes(name: str, figures: Callable[..., Any]) -> None:
    machine = figures(*MACHINES[name])
    for row in CRASHES:
        if row[0] != name:
            continue
        total, log = LoopCounts(*row[1:4]), DecisionLog()
        with pytest.raises(MapperStop):
            automatic_gemm(total, machine, roomy, DecisionLog(), "faithful")
        outcome = automatic_gemm(total, machine, roomy, log, "fixed")
        assert outcome.mapping is not None
        assert aligned_and_minimal(outcome.mapping, machine.heights[0])
        assert [note.code for note in log.notes] == ["Q1"]


@given(
    total=st.builds(LoopCounts, st.integers(1, 24), st.integers(1, 24), st.integers(1, 24)),
    cores=st.integers(1, 7),
    side=st.integers(1, 9),
    memories=st.tuples(st.integers(8, 2000), st.integers(8, 4000)),
    limits=st.tuples(st.integers(1, 300), st.integers(1, 150)),
)
@example(total=LoopCounts(13, 17, 19), cores=4, side=8, memories=(65536, 16384), limits=(4096, 512))  # Q1
@example(total=LoopCounts(6, 6, 6), cores=1, side=6, memories=(65536, 16384), limits=(4096, 512))  # Q9
@example(total=LoopCounts(20, 20, 20), cores=1, side=8, memories=(256, 8192), limits=(4096, 512))  # Q2b
def test_every_output_exactly_once_or_two_numbers(
    total: LoopCounts,
    cores: int,
    side: int,
    memories: tuple[int, int],
    limits: tuple[int, int],
    figures: Callable[..., Any],
) -> None:
    spad, acc = memories
    like = type(figures())
    machine = like(cores, (side,) * cores, (side,) * cores, (spad,) * cores, (acc,) * cores, 1, 32)
    fits, log = at_most(*limits), DecisionLog()
    if acc // (side * 4 * 2) < side:  # Q2c: not one block
        with pytest.raises(MapperStop, match="Q2c"):
            automatic_gemm(total, machine, fits, log, "fixed")
        return
    outcome = automatic_gemm(total, machine, fits, log, "fixed")
    if outcome.mapping is None:
        assert outcome.overflow is not None
        assert outcome.overflow.needed_bytes > outcome.overflow.capacity_bytes
        smallest = Mapping(total, total, LoopCounts(side, side, side))
        assert fits(smallest) == outcome.overflow
        return
    assert fits(outcome.mapping) is None
    stores, macs = stores_and_macs(outcome.mapping, side)
    assert stores == Counter(product(range(total.N), range(total.M)))
    assert macs == Counter(product(range(total.N), range(total.M), range(total.C)))
    try:
        original = automatic_gemm(total, machine, fits, DecisionLog(), "faithful").mapping
    except MappingError:
        original = None
    if original is None or original != outcome.mapping:
        assert aligned_and_minimal(outcome.mapping, side)
        assert {note.code for note in log.notes} & {"Q1", "Q2a", "Q2b", "Q9"}
    if original is not None and stores_and_macs(original, side) == (stores, macs):
        assert outcome.mapping == original


def test_q1_inner_sizes_are_rounded_up(figures: Callable[..., Any]) -> None:
    """13x17x19 on 4 cores: M in 4 tiles of ceil(24 / 4) = 6, rounded up to 8, so 3 tiles."""
    log = DecisionLog()
    outcome = automatic_gemm(LoopCounts(13, 17, 19), figures(cores=4), roomy, log, "fixed")
    assert str(outcome.mapping) == "[T] N13 C17 M19 - [O] N1 C1 M3 - [I] N16 C24 M8"
    rounded = [(each.name, each.value) for each in log.decisions if each.stage == "fixed"]
    assert rounded == [("inner N", 16), ("inner M", 8), ("inner C", 24)]
    assert str(log.notes[0]) == (
        "Q1: ONNXim: inner M = 6, cut into 4 tiles for 4 cores, is aligned down to 0 on an array of 8, and "
        "the mapper divides by it; here inner sizes are rounded up to multiples of 8 and cut until they "
        "fit"
    )


def test_q9_a_side_of_six_takes_one_tile(figures: Callable[..., Any]) -> None:
    log = DecisionLog()
    outcome = automatic_gemm(LoopCounts(6, 6, 6), figures(side=6), roomy, log, "fixed")
    assert outcome.mapping == Mapping(LoopCounts(6, 6, 6), LoopCounts(1, 1, 1), LoopCounts(6, 6, 6))
    faithful = automatic_gemm(LoopCounts(6, 6, 6), figures(side=6), roomy, log, "faithful")
    assert faithful.mapping is not None
    assert faithful.mapping.inner == LoopCounts(2, 2, 2)


def test_q9_stays_where_nothing_overlaps(figures: Callable[..., Any]) -> None:
    """12 - (12 & 11) = 4 along C alone is exact: 4x12x4 has one tile along N and M, of 4 and of 4."""
    machine = figures(side=12)
    log = DecisionLog()
    mapping = gemm_mapping(LoopCounts(4, 12, 4), machine, DecisionLog())
    assert mapping.inner == LoopCounts(4, 4, 4)
    assert automatic_gemm(LoopCounts(4, 12, 4), machine, roomy, log, "fixed").mapping == mapping
    assert log.notes == []


def test_q2a_cuts_the_largest_inner_size_first() -> None:
    """Ties go C, N, M; a step changes the inner size, as adding tiles one by one would."""
    log = DecisionLog()
    total = LoopCounts(40, 40, 40)
    cuts = {letter: Cut(40, 8, 1, padded=True) for letter in "NMC"}
    outcome = cut_until_it_fits(total, cuts, at_most(16 * 24, 1000), log)
    steps = [(each.name, each.value) for each in log.decisions]
    # 5 blocks: 2 tiles of 3, 3 tiles of 2, 5 tiles of 1.
    assert steps == [
        ("outer C", 2), ("outer N", 2), ("outer M", 2), ("outer C", 3), ("outer N", 3), ("outer M", 3),
        ("outer C", 5),
    ]  # fmt: skip
    assert outcome.mapping == Mapping(total, LoopCounts(3, 5, 3), LoopCounts(16, 8, 16))
    assert log.decisions[0].rejected == (
        "inner N40 C40 M40: 3200 B of scratchpad are needed, a half holds 384 B",
    )


@given(st.integers(1, 300), st.integers(1, 9), st.integers(1, 40))
def test_a_finer_cut_is_where_one_more_tile_at_a_time_arrives(total: int, grain: int, outer: int) -> None:
    cut = Cut(total, grain, outer, padded=True)
    if cut.grains == 1:
        return
    tiles = outer
    while Cut(total, grain, tiles, padded=True).inner == cut.inner:
        tiles += 1
    assert cut.finer() == Cut(total, grain, tiles, padded=True)


def test_the_largest_sizes_end_soon() -> None:
    """2^28 blocks along each loop: about two steps per square root, not one per tile."""
    log = DecisionLog()
    total = LoopCounts(2**31 - 1, 2**31 - 1, 2**31 - 1)
    cuts = {letter: Cut(2**31 - 1, 8, 2**26, padded=True) for letter in "NMC"}
    outcome = cut_until_it_fits(total, cuts, at_most(1, 1), log)
    assert outcome.overflow == Overflow("scratchpad", 128, 1)
    assert [each.name for each in log.decisions] == ["outer C", "outer N", "outer M"] * 3  # 4 blocks to 1


def test_a_tile_too_large_under_faithful_is_an_error(figures: Callable[..., Any]) -> None:
    with pytest.raises(MappingError) as caught:
        automatic_gemm(LoopCounts(32, 64, 32), figures(), at_most(100, 100), DecisionLog(), "faithful")
    assert str(caught.value) == (
        "a tile N32 C64 M32 is too large: 4096 B of scratchpad are needed, a half holds 100 B (Q2); "
        "use --semantics fixed, or give an explicit mapping [PT-MAPPING]"
    )


@pytest.mark.parametrize(("machine", "quirk"), [({"acc_kib": 0}, "Q2c"), ({"width": 16}, "Q19")])
def test_machines_that_both_semantics_refuse(
    machine: dict[str, int], quirk: str, figures: Callable[..., Any]
) -> None:
    for semantics in ("fixed", "faithful"):
        with pytest.raises(MapperStop) as caught:
            automatic_gemm(LoopCounts(8, 8, 8), figures(**machine), roomy, DecisionLog(), semantics)
        assert caught.value.quirk == quirk
