"""What if a resource were faster: the same program on a machine with one rate changed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pantile.errors import Place, UsageError, suggestion
from pantile.program.tables import ResourceKind
from pantile.simulate.engine import run
from pantile.simulate.timeline import Timeline

if TYPE_CHECKING:
    from pantile.simulate.bound import BoundProgram

_FORM = re.compile(r"(?P<resource>.+)=(?P<change>[+-]?[0-9]{1,6}(\.[0-9]{1,4})?)%")
_PLACE = Place("--what-if")
_INSTANCE = re.compile(r"@(\([0-9,]*\)|[0-9]+)")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A change of one rate.

    Attributes:
        text: As it was asked, e.g. ``"ddr>sram=+10%"``.
        resource: A resource; or ``compute`` for all ``compute@…``; or ``link`` or ``engine`` for all of them.
        factor: What its rate is multiplied by.
    """

    text: str
    resource: str
    factor: Fraction


@dataclass(frozen=True, slots=True)
class WhatIfRun:
    """The run with a change.

    Attributes:
        change: What was changed.
        timeline: The run.
    """

    change: WhatIf
    timeline: Timeline


def parse_what_if(text: str) -> WhatIf:
    """Return the change that ``RESOURCE=+10%`` names.

    >>> parse_what_if("ddr>sram=+10%").factor
    Fraction(11, 10)

    Raises:
        UsageError: If it is none, or leaves no rate.
    """
    found = _FORM.fullmatch(text.strip())
    if not found:
        raise UsageError(f"expected RESOURCE=+10%, got {text!r}", place=_PLACE, mend="write 'ddr>sram=+10%'")
    factor = 1 + Fraction(found["change"]) / 100
    if factor <= 0:
        raise UsageError(f"{found['change']}% leaves nothing of a rate", place=_PLACE, mend="take less away")
    return WhatIf(text.strip(), found["resource"].strip(), factor)


def run_what_if(bound: BoundProgram, change: WhatIf) -> WhatIfRun:
    """Return the run of *bound* with the rate of one resource changed; latencies stay.

    Raises:
        UsageError: If nothing is called that, or has no rate of its own.
    """
    mine = _meant(bound, change)
    resources = bound.resources.copy()
    for number in mine:
        resources["rate"][number] = max(1, int(int(resources["rate"][number]) * change.factor))
    changed = replace(bound, resources=resources)
    return WhatIfRun(change, Timeline(changed, run(changed)))


def _meant(bound: BoundProgram, change: WhatIf) -> list[int]:
    """Numbers of the resources that *change* names."""
    kinds = [_INSTANCE.sub("", name) for name in bound.resource_names]
    words = [ResourceKind(kind).name.lower() for kind in bound.resources["kind"].tolist()]
    mine = [
        number
        for number, names in enumerate(zip(bound.resource_names, kinds, words, strict=True))
        if change.resource in names
    ]
    allowed = list(dict.fromkeys((*kinds, *words)))
    if not mine:
        mend = suggestion(change.resource, allowed) if allowed else "the program uses none"
        raise UsageError(f"the program uses no resource {change.resource!r}", place=_PLACE, mend=mend)
    rated = [number for number in mine if np.int64(bound.resources["rate"][number]) > 0]
    if not rated:
        rates = ", ".join(
            dict.fromkeys(kinds[at] for at in range(len(kinds)) if bound.resources["rate"][at] > 0)
        )
        raise UsageError(
            f"{change.resource!r} is only held while something else is served: it has no rate of its own",
            place=_PLACE,
            mend=f"those that have one: {rates}",
        )
    return rated
