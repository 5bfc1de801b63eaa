"""Machines by name or file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pantile.errors import MachineError
from pantile.machine.document import build_document

if TYPE_CHECKING:
    from pantile.machine.machine import Machine

_FOLDER = os.path.join(os.path.dirname(__file__), "presets")  # pathlib costs a tenth of a preset's time


def preset_names() -> tuple[str, ...]:
    """Return the names of the machines that come with Pantile, sorted."""
    return tuple(sorted(entry[:-5] for entry in os.listdir(_FOLDER) if entry.endswith(".toml")))


def load_machine(text: str | os.PathLike[str]) -> Machine:
    """Return the machine that *text* names: a preset, a TOML file or a JSON file.

    A JSON file is what :meth:`Machine.to_json` wrote if it has a key ``schema``, else an ONNXim
    configuration.

    Raises:
        MachineError: If it names none of them, or the file has one problem.
        ManyProblems: If the file has several.
    """
    if not isinstance(text, str | os.PathLike):
        raise MachineError(f"a machine is the name of a preset or a path, got {text!r}")
    name = os.fspath(text)
    if name in preset_names():
        return load_preset(name)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".toml":
        from pantile.machine.toml import read_machine  # presets need none of it

        return read_machine(name)
    if suffix == ".json":
        from pantile.machine.json_file import read_json_machine  # presets need none of it

        return read_json_machine(name)
    near = get_close_matches(name, preset_names(), n=1)
    question = f"did you mean {near[0]!r}? " if near else ""
    mend = f"{question}presets are {', '.join(preset_names())}; or give a FILE.toml or FILE.json"
    raise MachineError(f"unknown machine {name!r}", mend=mend)


def load_preset(name: str) -> Machine:
    """Return the preset called *name*, one of :func:`preset_names`."""
    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as file:
        return build_document(tomllib.load(file))


@dataclass(frozen=True, slots=True)
class MachineList:
    """The machines that come with Pantile.

    Attributes:
        machines: In the order of their names.
    """

    machines: tuple[Machine, ...]

    def to_json(self) -> dict[str, object]:
        """Return name, description, planner and number of cores of each."""
        rows = [
            {
                "name": machine.name,
                "description": machine.description,
                "planner": machine.planner,
                "cores": machine.grid.cores,
            }
            for machine in self.machines
        ]
        return {"schema": "pantile/machines/1", "machines": rows}

    def __str__(self) -> str:
        width = max((len(machine.name) for machine in self.machines), default=0)
        return "\n".join(f"{machine.name:{width}}  {machine.description}" for machine in self.machines)


def list_machines() -> MachineList:
    """Return every preset."""
    return MachineList(tuple(load_preset(name) for name in preset_names()))
