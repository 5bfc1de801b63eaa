"""Figures of single layers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pantile.targets.systolic.config import systolic_config
from pantile.targets.systolic.result import TERMS
from pantile.verbs.layer_times import ACTIVE_TERMS, largest, mac_utilisation, named_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine


def test_terms_by_name() -> None:
    assert named_terms(range(9)) == dict(zip(TERMS, range(9), strict=True))
    assert [TERMS[at] for at in ACTIVE_TERMS] == ["compute", "drain"]


def test_of_equal_terms_the_first_is_the_largest() -> None:
    assert largest({"compute": 3, "drain": 5, "fill": 5}) == "drain"


def test_mac_utilisation_counts_every_element_of_every_core(machine: Callable[..., Machine]) -> None:
    config = systolic_config(machine(num_cores=2))
    assert mac_utilisation(64, config, 1) == 0.5
    uneven = replace(config, heights=(8, 4), widths=(8, 4))
    assert mac_utilisation(80, uneven, 2) == 0.5
    assert mac_utilisation(1, config, 0) == 0.0
