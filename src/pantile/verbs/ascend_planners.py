"""The planners for Ascend machines, in the form in which the verbs ask them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from pantile.planners.asw import planner as asw
from pantile.planners.asw.chip import chip_of
from pantile.planners.asw.problem import problem_of as asw_problem_of
from pantile.planners.cann import planner as cann
from pantile.planners.cann.normalise import normalise
from pantile.planners.cann.platform import FAMILY, platform_of
from pantile.planners.cann.problem import problem_of as cann_problem_of
from pantile.tiling.plan import Note

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.machine import Machine
    from pantile.planners.asw.l2 import Semantics
    from pantile.tiling.plan import Plan
    from pantile.workload.matmul import Matmul


CANN_ARCHITECTURE = "dav-3510"
"""Cores whose rules planner ``cann`` has; a machine that does not say what its cores are has these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AscendPlanner:
    """One planner.

    Attributes:
        name: What users call it.
        semantics: Its readings, the default first.
        require: Raise unless a machine has what the planner reads.
        refuse: Raise if the planner does not take a product on a machine, without planning it.
        on: Return the function that plans a product on a machine in one of the readings.
    """

    name: str
    semantics: tuple[str, ...]
    require: Callable[[Machine], object]
    refuse: Callable[[Matmul, Machine], object]
    on: Callable[[Machine, str], Callable[[Matmul], Plan]]


def _cann_on(machine: Machine, semantics: str) -> Callable[[Matmul], Plan]:
    plan = partial(cann.plan_matmul, platform=platform_of(machine))
    architecture = machine.family_table(FAMILY).get("architecture", CANN_ARCHITECTURE)
    if architecture == CANN_ARCHITECTURE:
        return plan
    text = (
        f"these are the rules of the operator for {CANN_ARCHITECTURE} cores with this machine's memories; on "
        f"{machine.name}, which is {architecture}, the operator follows others, which are not modelled"
    )

    def with_note(product: Matmul) -> Plan:
        found = plan(product)
        return replace(found, notes=(Note("chip", text), *found.notes))

    return with_note


def _asw_on(machine: Machine, semantics: str) -> Callable[[Matmul], Plan]:
    return partial(asw.plan_product, machine=machine, semantics=cast("Semantics", semantics))


def _refuse_cann(product: Matmul, machine: Machine) -> None:
    normalise(cann_problem_of(product))


def _refuse_asw(product: Matmul, machine: Machine) -> None:
    chip_of(machine, asw_problem_of(product, asw.DEFAULT_DTYPE).element_bytes)


ASCEND_PLANNERS = {
    planner.name: planner
    for planner in (
        AscendPlanner(
            name=cann.PLANNER,
            semantics=(cann.SEMANTICS,),
            require=platform_of,
            refuse=_refuse_cann,
            on=_cann_on,
        ),
        AscendPlanner(
            name=asw.PLANNER,
            semantics=asw.SEMANTICS,
            require=chip_of,
            refuse=_refuse_asw,
            on=_asw_on,
        ),
    )
}
"""Every planner for Ascend machines by its name, the default first."""
