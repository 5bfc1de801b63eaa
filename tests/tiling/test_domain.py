"""Domains: which points they hold, and the texts that name none."""

from __future__ import annotations

import pytest

from pantile.errors import MappingError
from pantile.tiling.domain import Domain
from pantile.tiling.lattice import count_points


def test_a_triangle_holds_half_of_a_square_and_its_diagonal() -> None:
    """4 + 3 + 2 + 1 of 16."""
    triangle = Domain("t >= o")
    assert count_points(triangle.inequalities("to"), ((0, 4), (0, 4))) == 10
    assert triangle.contains({"t": 3, "o": 3})
    assert not triangle.contains({"t": 2, "o": 3})


def test_a_band_by_one_text_or_by_several() -> None:
    """|t - o| <= 1 on 4 x 4: 4 on the diagonal and 3 on either side."""
    for where in ("-1 <= t - o <= 1", ("t - o <= 1", "o - t <= 1"), "t - o < 2, o - t < 2"):
        assert count_points(Domain(where).inequalities("to"), ((0, 4), (0, 4))) == 10


def test_coefficients_follow_the_order_of_the_dimensions() -> None:
    assert Domain("2*i + t >= 3").inequalities("toi") == (((1, 0, 2), -3),)


def test_nothing_restricts_a_box() -> None:
    assert Domain().is_box
    assert Domain(()).inequalities("toi") == ()
    assert str(Domain()) == "box"
    assert not Domain("t >= o").is_box


def test_equal_texts_are_equal_domains() -> None:
    assert Domain("t >= o") == Domain(("t >= o",))
    assert hash(Domain("t >= o")) == hash(Domain(["t >= o"]))
    assert Domain("t >= o") != Domain("t > o")


def test_a_name_that_is_no_dimension_is_refused() -> None:
    with pytest.raises(MappingError, match="domain 't >= z' names 'z', which is no dimension"):
        Domain("t >= z").inequalities("toi")
