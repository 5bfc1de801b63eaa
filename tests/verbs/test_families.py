"""Which family plans for a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pantile.errors import PantileError, UsageError
from pantile.machine import Table, load_machine
from pantile.verbs.families import families_of, family_of, planner_of

if TYPE_CHECKING:
    from conftest import WriteMachine


def test_the_machine_names_its_planner() -> None:
    machine = load_machine("systolic-ws-8x8")
    assert planner_of(machine, None) == planner_of(machine, "onnxim") == "onnxim"
    assert planner_of(replace(machine, planner=""), None) == "onnxim"
    with pytest.raises(UsageError, match=r"unknown planner 'onxim'; did you mean 'onnxim'\?"):
        planner_of(machine, "onxim")


def test_a_machine_that_cannot_be_timed(machine_file: WriteMachine) -> None:
    def require(machine: str) -> None:
        for family in families_of(load_machine(machine)):
            family.require_supported(load_machine(machine))

    require(machine_file())
    with pytest.raises(PantileError, match="core_type of core 0 is 'systolic_os'"):
        require(machine_file(core_type="systolic_os"))


def test_a_machine_of_no_family_is_left_to_the_planner_to_refuse() -> None:
    machine = replace(load_machine("systolic-ws-8x8"), family=Table(), provenance=())
    assert families_of(machine) == []
    assert family_of(machine, "onnxim").name == "systolic"
