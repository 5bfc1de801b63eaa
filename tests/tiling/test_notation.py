"""Tilings as users write them."""

from __future__ import annotations

import copy
import pickle

import pytest

from pantile.errors import MappingError, WorkloadError
from pantile.tiling.domain import Domain
from pantile.tiling.notation import tiling
from pantile.tiling.tiling import Tiling
from pantile.workload.einsum import Einsum
from pantile.workload.matmul import Matmul

PING_PONG = tiling("ti,oi->to", total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16))
"""The tiling of section 8."""


def test_the_spec_s_tiling() -> None:
    assert PING_PONG.dimensions == ("t", "o", "i")
    assert [level.name for level in PING_PONG.levels] == ["D", "T", "S"]
    assert PING_PONG.nominal_sizes == ((16, 16, 32), (8, 8, 16), (1, 1, 1))
    assert PING_PONG.volume == 32 * 32 * 128


def test_operands_are_projections_of_the_space() -> None:
    """Section 1: X drops O, W drops T, Y drops I, which is the reduction."""
    assert PING_PONG.operands == {"X": "ti", "W": "oi", "Y": "to"}
    assert PING_PONG.reductions == ("i",)


def test_the_sum_may_be_left_out_as_in_section_2() -> None:
    assert tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=(8, 8, 16)) == PING_PONG


def test_one_level_may_be_left_out() -> None:
    assert tiling(total=(32, 32, 128), D=(2, 2, 4), T=(2, 2, 2), S=...) == PING_PONG


def test_letters_are_the_users_and_batch_is_one_more_dimension() -> None:
    cut = tiling("bmk,bkn->bmn", total={"b": 3, "m": 8, "n": 8, "k": 8}, D={"b": 3, "k": 2}, S=...)
    assert cut.dimensions == ("b", "m", "n", "k")
    assert cut.operands == {"X": "bmk", "W": "bkn", "Y": "bmn"}
    assert [level.factors for level in cut.levels] == [(3, 1, 1, 2), (1, 8, 8, 4)]


def test_a_product_brings_its_own_sizes() -> None:
    cut = tiling(Matmul(m=32, n=16, k=64), D=(1, 2, 2, 4), S=...)
    assert (cut.dimensions, cut.total) == (("b", "m", "n", "k"), (1, 32, 16, 64))
    assert tiling(Einsum("ti,oi->to", (4, 5, 6)), S=...).total == (4, 5, 6)


def test_an_operand_is_moved_at_the_levels_that_name_it() -> None:
    """Section 2: X=("D", "S"); the others are moved at every level."""
    cut = tiling(total=(8, 8, 8), D=(2, 2, 2), T=(2, 2, 2), S=..., X=("D", "S"), W="D")
    assert [cut.moves_at("X", level) for level in "DTS"] == [True, False, True]
    assert [cut.moves_at("W", level) for level in "DTS"] == [True, False, False]
    assert [cut.moves_at("Y", level) for level in "DTS"] == [True, True, True]


def test_a_domain_restricts_the_space() -> None:
    """A 4 x 4 triangle of 10 times 3."""
    cut = tiling(total=(4, 4, 3), domain=Domain("t >= o"), D=(2, 2, 1), S=...)
    assert cut.volume == 30
    assert tiling(total=(4, 4, 3), domain=Domain(), D=(2, 2, 1), S=...).volume == 48


@pytest.mark.parametrize(
    "cut",
    [
        PING_PONG,
        tiling(total=(30, 7, 9), D=([4, 10], 2, 1), T=(2, 1, 3), S=..., X=("D", "S")),
        tiling(total=(4, 4, 3), domain=Domain(("t >= o", "t - o < 3")), D=(2, 2, 1), S=...),
    ],
)
def test_json_copies_and_pickles_are_equal(cut: Tiling) -> None:
    assert cut.is_even == (cut is PING_PONG)  # what is derived must not travel along
    assert cut.offset(0, (0, 0, 0))[0] == (0, 0, 0)
    assert Tiling.from_json(cut.to_json()) == cut
    assert pickle.loads(pickle.dumps(cut)) == copy.deepcopy(cut) == cut


def test_it_prints_itself() -> None:
    cut = tiling(total=(30, 7, 9), D=([4, 10], 2, 1), S=..., domain=Domain("t >= o"))
    assert str(cut) == "ti,oi->to t=30, o=7, i=9 D=([4, 10], 2, 1) S=(20, 4, 9) where t >= o"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"total": (4, 4)}, "total needs one whole number for each of t, o, i, got (4, 4)"),
        ({"total": (4, 4, "x")}, "total needs one whole number for each of t, o, i, got (4, 4, 'x')"),
        ({}, "total needs one whole number for each of t, o, i, got None"),
        ({"total": {"t": 4, "o": 4, "z": 4}}, "total names 'z', which is no dimension"),
        ({"total": (4, -4, 4)}, "total must not be negative, got t=4, o=-4, i=4"),
        (
            {"total": (4, 4, 4), "X": (2, 2, 2)},
            "X is an operand, and needs the names of the levels at which it moves, got (2, 2, 2)",
        ),
        ({"total": (4, 4, 4), "X": ("Q",), "S": ...}, "operand X cannot move at 'Q', which is no level"),
        ({"total": (4, 4, 4), "X": (), "S": ...}, "operand X must move at one level or at several, got ()"),
        (
            {"total": (4, 4, 4), "X": ("S", "S"), "S": ...},
            "operand X must move at one level or at several, got ('S', 'S')",
        ),
        (
            {"total": (4, 4, 4), "axis": (2, 2, 2), "S": ...},
            "a level cannot be called 'axis': every tiling has an attribute of that name",
        ),
        (
            {"total": (4, 4, 4), "total_": ..., "T": ...},
            "levels 'total_' and 'T' both leave out the factor of t; of 4 elements only one can be inferred",
        ),
        ({"total": (4, 4, 4)}, "a tiling needs at least one level, got none"),
        (
            {"total": (4, 4, 4), "S": ..., "domain": Domain("t >= 9")},
            "domain 't >= 9' holds no point of t=4, o=4, i=4",
        ),
        (
            {"total": (4, 4, 4), "S": ..., "domain": Domain("m >= 9")},
            "domain 'm >= 9' names 'm', which is no dimension",
        ),
        (
            {"total": (32, 4, 4), "D": (2, 1, 1), "T": (2, 1, 1), "S": (6, 4, 4)},
            "factors of t cover 24 of 32 elements (D 2 × T 2 × S 6)",
        ),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - one problem or several
        tiling(**arguments)  # type: ignore[arg-type]
    problems = getattr(caught.value, "problems", (caught.value,))
    assert problems[0].problem == problem


def test_sizes_given_twice_are_refused() -> None:
    with pytest.raises(MappingError, match=r"has sizes of its own, .* total was given too"):
        tiling(Einsum("ti,oi->to", (4, 5, 6)), total=(4, 5, 6), S=...)


def test_a_sum_that_is_none_is_refused() -> None:
    with pytest.raises(WorkloadError, match="expected two operands and an output"):
        tiling("ti->to", total=(4, 4, 4), S=...)


def test_an_unknown_level_or_dimension_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="a tiling has no 'Q'; its levels are D, T, S"):
        _ = PING_PONG.Q
    with pytest.raises(MappingError, match="no level 'Q'"):
        PING_PONG.level("Q")
    with pytest.raises(MappingError, match="no dimension 'z'"):
        PING_PONG.axis("z")
