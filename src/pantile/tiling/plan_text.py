"""A plan for people: its cut, its order, what it is predicted to take, and its remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pantile.tiling.plan import Plan

_SECONDS = "_seconds"
_DIGITS = 6


def plan_lines(plan: Plan) -> list[str]:
    """Return the lines of a feasible plan; the figures of its JSON stand there unrounded."""
    lines = []
    if "mapping" in plan.parameters:
        lines.append(f"  mapping    {plan.parameters['mapping']}  ({plan.parameters['source']})")
    if "branch" in plan.parameters:
        lines.append(f"  branch     {plan.parameters['branch']}")
    if plan.tiling is not None:
        dimensions = plan.tiling.dimensions
        for level, sizes in zip(plan.tiling.levels, plan.tiling.nominal_sizes, strict=True):
            pairs = zip(dimensions, level.factors, strict=True)
            cut = " x ".join(f"{factor} {name}" for name, factor in pairs)
            nominal = " ".join(f"{name}{size}" for name, size in zip(dimensions, sizes, strict=True))
            lines.append(f"  {level.name:<10} {cut}, each {nominal}")
    lines.append(
        f"  order      {' > '.join(plan.order)}; {plan.cores}" if plan.order else f"  cores      {plan.cores}"
    )
    figures = ", ".join(figure_text(name, value) for name, value in plan.predicted.items())
    lines.append(f"  predicted  {figures}")
    lines += [f"  note       {note}" for note in plan.notes]
    return lines


def figure_text(name: str, value: Any) -> str:
    """Return one predicted figure in words.

    >>> [figure_text(*each) for each in (("total_seconds", 1.7381686538778e-05), ("tiles_in_last_round", 1))]
    ['17.3817 us total', '1 tile in last round']
    """
    if name.endswith(_SECONDS):
        return f"{value * 1e6:.{_DIGITS}g} us {name.removesuffix(_SECONDS).replace('_', ' ')}"
    words = name.split("_")
    if value == 1:
        at = next((at for at, word in enumerate(words) if word.endswith("s")), None)
        if at is not None:
            words[at] = words[at].removesuffix("s")
    number = f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
    return f"{number} {' '.join(words)}"
