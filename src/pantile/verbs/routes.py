"""The routes of machines whose topology decides them; everywhere else the machine's paths do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.targets.mesh.config import FAMILY as MESH
from pantile.targets.mesh.routes import mesh_route

if TYPE_CHECKING:
    from pantile.machine import Machine
    from pantile.simulate.links import Route

_ROUTES = {MESH: mesh_route}
"""What gives the routes of a machine, by the family that it belongs to."""


def route_of(machine: Machine) -> Route | None:
    """Return what gives the links between two memories of *machine*; ``None`` leaves that to its paths.

    Raises:
        MachineError: If it belongs to a family with routes, and lacks what they need; all problems at once.
    """
    made = (make for family, make in _ROUTES.items() if family in machine.family)
    make = next(made, None)
    return make(machine) if make else None
