"""The command ``pantile machines``."""

from __future__ import annotations

from typing import Annotated

import typer

from pantile.cli import options
from pantile.cli.output import emit, json_text

machines = typer.Typer(help="List machines, show one, or validate a file.", rich_markup_mode=None)


@machines.callback(invoke_without_command=True)
def _default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_machines(json=False)


@machines.command("list")
def list_machines(json: options.Json = False) -> None:
    """List the machines that come with Pantile."""
    from pantile.machine import list_machines as all_machines

    found = all_machines()
    emit(json_text(found) if json else str(found))


@machines.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="a preset, or a machine file")],
    json: options.Json = False,
) -> None:
    """Show a machine, each constant with its source."""
    from pantile.machine import load_machine

    machine = load_machine(name)
    emit(json_text(machine) if json else str(machine))


@machines.command()
def validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="FILE.toml, or an ONNXim FILE.json")],
) -> None:
    """Read a machine file and report every problem in it."""
    from pantile.machine import load_machine
    from pantile.verbs.families import families_of

    machine = load_machine(file)
    for family in families_of(machine):
        family.require_supported(machine)
    emit(f"{file}: machine {machine.name!r} is valid")
