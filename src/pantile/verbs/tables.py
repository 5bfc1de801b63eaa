"""Runs as text: a table of layers, and the terms that sum to the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.verbs.layer_times import LayerTimes
    from pantile.verbs.simulate import Simulation

COLUMNS = (
    "layer",
    "shape",
    "mapping",
    "tiles",
    "instructions",
    "requests",
    "MACs",
    "padded MACs",
    "DRAM bytes",
    "cycles",
    "share",
    "MAC util",
    "busy",
    "bound by",
)


def simulation_text(simulation: Simulation) -> str:
    """Return a run as text: layers, total, terms, notes."""
    session = simulation.session
    name = session.network.source or simulation.workload
    lines = [f"{name} on {session.machine.name} ({session.semantics})"]
    rows = [_layer_row(layer, simulation.total_cycles) for layer in simulation.layers]
    own = sum(bool(layer.planned.program.labels) for layer in simulation.layers)
    if len(rows) == 1:
        lines += [f"  {name:<13} {cell}" for name, cell in zip(COLUMNS[1:], rows[0][1:], strict=True)]
    else:
        lines += aligned(COLUMNS, rows)
    lines += _total_lines(simulation)
    if own and len(rows) > 1:
        others = "; the others are ONNXim's own, cycle for cycle" if own < len(rows) else ""
        lines.append(f"  * model: pantile{others}")
    return "\n".join([*lines, *(f"  note {note}" for note in simulation.notes)])


def _layer_row(layer: LayerTimes, total_cycles: int) -> tuple[str, ...]:
    """The cells of one layer, in the order of :data:`COLUMNS`; a star marks Pantile's own models."""
    totals, planned = layer.totals, layer.planned
    return (
        planned.node.name + (" *" if planned.program.labels else ""),
        str(planned.node.computation),
        planned.plan.parameters["mapping"].split(" - ", 1)[1],
        str(totals.tiles),
        str(sum(totals.instructions.values())),
        str(sum(totals.requests.values())),
        str(totals.macs),
        str(totals.padded_macs),
        str(sum(totals.bytes["dram"].values())),
        str(layer.cycles),
        f"{layer.cycles / total_cycles:.1%}",
        f"{layer.mac_utilisation:.1%}",
        f"{layer.busy:.1%}",
        layer.bound_by,
    )


def _total_lines(simulation: Simulation) -> list[str]:
    """The total as the sum of its terms, and what bounds it."""
    used = {name: cycles for name, cycles in simulation.terms.items() if cycles}
    terms = " + ".join(f"{name} {cycles}" for name, cycles in used.items())
    bounds = ", ".join(f"{name} {cycles}" for name, cycles in simulation.lower_bounds.items())
    microseconds = simulation.total_cycles / simulation.session.config.core_hz * 1e6
    use = simulation.utilisation
    return [
        f"  total {simulation.total_cycles} cycles ({microseconds:.2f} us) = {terms}",
        f"  bound by {simulation.bound_by}; MAC utilisation {use['mac']:.1%}, array busy {use['busy']:.1%}",
        f"  lower bounds: {bounds}",
    ]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines: texts to the left, figures to the right.

    >>> aligned(("name", "n"), [("a", "12")])
    ['  name   n', '  a     12']
    """
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    right = [all(row[at][:1].isdigit() for row in rows) for at in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        parts = (
            f"{cell:>{width}}" if to_right else f"{cell:<{width}}"
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return ("  " + "  ".join(parts)).rstrip()

    return [line(header), *(line(row) for row in rows)]
