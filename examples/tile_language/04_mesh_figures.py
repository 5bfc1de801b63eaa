"""The figures of docs/mesh.md: what worked example 4 shows, measured.

python examples/tile_language/04_mesh_figures.py
"""

from dataclasses import replace
from importlib import import_module
from itertools import product

import numpy as np

from pantile.language import Program
from pantile.machine import Machine, load_machine
from pantile.program.tables import Kind
from pantile.targets.mesh.routes import topology_of
from pantile.targets.mesh.traffic import departures, traffic_of

example = import_module("04_mesh")

TOTAL = (64, 64, 64)
HOW = (example.Cannon, example.Summa, example.Direct)


def verdicts() -> None:
    """What the checker says of 1, 2 and 3 slots."""
    print("slots       1            2            3")
    for side, how in product((2, 4), HOW):
        found = []
        for slots in (1, 2, 3):
            report = example.mesh(how(side), TOTAL, slots).check(f"mesh-{side}x{side}")
            errors = [each.code for each in report.findings if each.severity == "error"]
            found.append(f"{', '.join(errors) or 'safe':<11}")
        print(f"{named(how):<6} {side}x{side}  {'  '.join(found)}".rstrip())


def named(how: type) -> str:
    """Return the name of a variant."""
    return how.__name__.lower()


def times() -> None:
    """Time, how often elements leave the memories, and how far they go."""
    print("            cycles  X leaves  W leaves  passed on  hops (B x links)  longest way")
    for side, how in product((2, 4), HOW):
        machine, program = load_machine(f"mesh-{side}x{side}"), example.mesh(how(side), TOTAL, slots=2)
        traffic, cycles = traffic_of(program, topology_of(machine)), program.simulate(machine).timeline.cycles
        often = [sorted({int(count) for count in departures(program, name).flat}) for name in "XW"]
        leaves = "  ".join(f"{'/'.join(map(str, each)) + ' times':<8}" for each in often)
        far = f"{traffic.passed_bytes:>7} B  {traffic.hop_bytes:>16}  {traffic.most_hops:>11}"
        print(f"{named(how):<6} {side}x{side}  {cycles:>6}  {leaves}  {far}")


def with_fast_memories(name: str) -> Machine:
    """Return a machine whose memories off chip are as fast as the bus: only what is between them limits."""
    machine = load_machine(name)
    fast = [
        replace(path, rate_bytes_per_second=512 * 10**9) if path.origin == "ddr" else path
        for path in machine.paths
    ]
    return replace(machine, paths=tuple(fast))


def done_at(program: Program, machine: Machine) -> tuple[int, np.ndarray]:
    """Return the cycles of a run, and the cycle at which every chiplet has multiplied its last tile."""
    timeline = program.simulate(machine).timeline
    ops, side = timeline.bound.tables["op"], machine.grid.shape[0]
    cores = timeline.bound.tables["thread"]["core"][ops["thread"]]
    computes = ops["kind"] == Kind.COMPUTE
    last = [timeline.times["finish"][computes & (cores == core)].max() // 1000 for core in range(side**2)]
    return timeline.cycles, np.array(last).reshape(side, side)


def compare(label: str, program: Program, machines: list[Machine]) -> None:
    """Print a line for each machine."""
    for machine in machines:
        cycles, done = done_at(program, machine)
        span = f"{done.min():>4} .. {done.max():<4}"
        print(f"{label:<11}  {machine.name:<8}  {cycles:>6}  {span}   {' '.join(map(str, done.max(axis=0)))}")


def bus_against_mesh() -> None:
    """The same mapping on a bus and on a mesh: columns cut evenly, and so that the first gets more."""
    print("             machine   cycles  chiplets done  by column")
    fast = [with_fast_memories(name) for name in ("bus-4x4", "mesh-4x4")]
    for columns in (None, [22, 36, 50], [28, 40, 52], [34, 44, 54]):
        widths = np.diff([0, *(columns or [16, 32, 48]), 64]).tolist()
        program = example.mesh(example.Central(4), TOTAL, slots=2, columns=columns)
        compare(" ".join(map(str, widths)), program, fast)
    for how in (example.Direct, example.Cannon):
        both = [load_machine(name) for name in ("bus-4x4", "mesh-4x4")]
        compare(named(how), example.mesh(how(4), TOTAL, slots=2), both)


if __name__ == "__main__":
    verdicts()
    print()
    times()
    print()
    bus_against_mesh()
