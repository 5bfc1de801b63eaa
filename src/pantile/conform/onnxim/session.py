"""Planning a case as ONNXim does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pantile.conform.onnxim.graph import network_of_run
from pantile.errors import ManyProblems, PantileError
from pantile.machine.onnxim import onnxim_machine
from pantile.machine.table import Table
from pantile.verbs.systolic import Systolic, plan_systolic

if TYPE_CHECKING:
    from pantile.conform.onnxim.inputs import RunInputs
    from pantile.machine import Machine
    from pantile.workload.network import Network

SEMANTICS = "faithful"


def plan_run(inputs: RunInputs) -> Systolic:
    """Return the case planned, every layer with a feasible plan.

    Raises:
        WrongInput: If the inputs do not fit one another.
        PantileError: Where a plan is refused, as ONNXim does not come through.
    """
    machine = onnxim_machine(inputs.config, "onnxim")
    network = network_of_run(inputs)
    lines = [layer.mapping.line for layer in inputs.layers if layer.mapping.line is not None]
    if lines:
        session = _plan_with(lines, network, machine)
    else:
        session = plan_systolic(network, machine, mapping=None, semantics=SEMANTICS)
    session.require_plans()
    return session


def _plan_with(lines: list[str], network: Network, machine: Machine) -> Systolic:
    """Plan with a mapping file of *lines*; a text will not do, for a line may be blank (Q16)."""
    with TemporaryDirectory(prefix="pantile-") as folder:
        file = Path(folder) / "mapping"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        try:
            return plan_systolic(network, machine, mapping=str(file), semantics=SEMANTICS)
        except PantileError as error:
            problems = error.problems if isinstance(error, ManyProblems) else (error,)
            for problem in problems:  # that file is gone when anyone reads of it
                if problem.place is not None and problem.place.path == str(file):
                    problem.place = replace(problem.place, path="mapping line")
            raise


def unread_keys(machine: Machine) -> tuple[str, ...]:
    """Return the keys of a case's configuration that nothing reads."""
    unread = machine.family_table("systolic").table("unread")
    return tuple(
        f"config.{key}.{below}" if below else f"config.{key}"
        for key, value in unread.items()
        for below in (value if isinstance(value, Table) else ("",))
    )
