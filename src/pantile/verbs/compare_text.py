"""A comparison for people: two columns, then where the plans part and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pantile.tiling.plan import Decision
    from pantile.verbs.aspects import Aspect
    from pantile.verbs.compare import Comparison, Side

_WIDTH = 40


def comparison_text(comparison: Comparison) -> str:
    """Return the two plans in columns; a star marks a dimension in which they differ."""
    a, b = comparison.sides
    lines = [f"{comparison.workload} on {comparison.machine} ({comparison.shape})", _row("", a.name, b.name)]
    for name in comparison.dimensions:
        mark = "* " if comparison.parts(name) else "  "
        values = [aspect_text(side.aspects.get(name)) for side in comparison.sides]
        lines += _rows(mark + name, *values)
    lines += [f"  {side.name}: {side.state}" for side in comparison.sides if side.state]
    for side in comparison.sides:
        lines += [f"  {side.name}: {note}" for note in side.notes]
    lines += _judged_lines(comparison)
    lines += _parting_lines(comparison)
    lines += [f"  {note}" for note in comparison.errata]
    return "\n".join(lines)


def aspect_text(aspect: Aspect | None) -> str:
    """Return the figures of one plan in one dimension."""
    if aspect is None:
        return "-"
    return ", ".join(f"{name} {value_text(value)}" for name, value in aspect.value.items())


def value_text(value: Any) -> str:
    """Return a figure for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{name} {value_text(each)}" for name, each in value.items()) + ")"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _row(name: str, a: str, b: str) -> str:
    return f"  {name:<20}{a:<{_WIDTH}}  {b}".rstrip()


def _rows(name: str, a: str, b: str) -> list[str]:
    """Return one dimension on as many lines as its longer text needs."""
    left, right = _folded(a), _folded(b)
    count = max(len(left), len(right))
    left += [""] * (count - len(left))
    right += [""] * (count - len(right))
    return [_row(name if at == 0 else "", left[at], right[at]) for at in range(count)]


def _folded(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _judged_lines(comparison: Comparison) -> list[str]:
    """Say what the judge makes of both, and how far they are apart."""
    sides = comparison.sides
    if not any(side.plan for side in sides):
        return []
    lines = _rows(f"  judge {comparison.judge}", *(_judged(side) for side in sides))
    a, b = (side.judged for side in sides)
    if a is not None and b is not None and a.seconds != b.seconds:
        quicker = sides[0] if a.seconds < b.seconds else sides[1]
        less, more = sorted((a.seconds, b.seconds))
        lines.append(f"  {quicker.name} takes {float(100 * (1 - less / more)):.1f} % less")
    return lines


def _judged(side: Side) -> str:
    if side.judged is None:
        return "-"
    return f"{float(side.judged.seconds) * 1e6:.2f} us, bound by {side.judged.bound}"


def _parting_lines(comparison: Comparison) -> list[str]:
    first = comparison.first
    if not first:
        return ["  they do not part"]
    lines = [f"  they part at: {first}"]
    for side, decision in zip(comparison.sides, comparison.decisions_at(first), strict=True):
        if decision is not None:
            lines.append(f"    {side.name}: {_decision(decision)}")
    return lines


def _decision(decision: Decision) -> str:
    value = value_text(decision.value)
    lost = "" if decision.value else "".join(f"; {each}" for each in decision.rejected)
    return f"{decision.stage}, {decision.name} = {value}   [{decision.formula}]{lost}"
