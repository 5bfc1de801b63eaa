"""What a workload runs on: memories, engines, paths, clocks and the grid of cores."""

from pantile.machine.clock import Clock
from pantile.machine.core import CoreOverride
from pantile.machine.engine import Engine
from pantile.machine.grid import Grid
from pantile.machine.machine import Machine
from pantile.machine.memory import Memory
from pantile.machine.path import Path
from pantile.machine.presets import MachineList, list_machines, load_machine, preset_names
from pantile.machine.provenance import Provenance
from pantile.machine.table import Table

__all__ = [
    "Clock",
    "CoreOverride",
    "Engine",
    "Grid",
    "Machine",
    "MachineList",
    "Memory",
    "Path",
    "Provenance",
    "Table",
    "list_machines",
    "load_machine",
    "preset_names",
]
