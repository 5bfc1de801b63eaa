"""A comparison as a page of its own: nothing is loaded from anywhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pantile.verbs.compare_text import aspect_text, value_text

if TYPE_CHECKING:
    from pantile.tiling.plan import Decision
    from pantile.verbs.compare import Comparison, Side

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
body { color: #1d2330; background: #fff }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem }
tr { border-top: 1px solid #d5d9e2 }
tr.parts td:first-child { border-left: 4px solid #c2410c; font-weight: 600 }
code { font-size: .93em }
details { margin: .8rem 0 }
.lost { color: #6b7280 }
h2 { font-size: 1.1rem }
@media (prefers-color-scheme: dark) {
  body { background: #14171f; color: #e3e6ee }
  tr { border-color: #333a49 }
  .lost { color: #9aa3b5 }
}
"""


def comparison_page(comparison: Comparison) -> str:
    """Return one HTML document with both plans, where they part, the errata, and both decision logs."""
    title = f"{comparison.workload} on {comparison.machine}"
    names = "".join(f"<th scope='col'>{escape(side.name)}</th>" for side in comparison.sides)
    rows = "".join(_dimension(comparison, name) for name in comparison.dimensions) + _judged(comparison)
    states = "".join(
        f"<p><strong>{escape(side.name)}</strong>: {escape(side.state)}</p>"
        for side in comparison.sides
        if side.state
    )
    states += "".join(
        f"<p>{escape(side.name)}: {escape(str(note))}</p>" for side in comparison.sides for note in side.notes
    )
    errata = "".join(f"<li>{escape(str(note))}</li>" for note in comparison.errata)
    logs = "".join(_log(side) for side in comparison.sides)
    first = comparison.first
    parting = f"They part at: <strong>{escape(first)}</strong>." if first else "They do not part."
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style><body>"
        f"<h1>{escape(title)}</h1><p>{escape(comparison.shape)}. {parting}</p>{states}"
        f"<table><thead><tr><th scope='col'>dimension</th>{names}</tr></thead><tbody>{rows}</tbody></table>"
        + (f"<h2>Errata that show on this product</h2><ul>{errata}</ul>" if errata else "")
        + f"<h2>Decisions</h2>{logs}</body></html>\n"
    )


def _dimension(comparison: Comparison, name: str) -> str:
    kind = " class='parts'" if comparison.parts(name) else ""
    cells = "".join(f"<td>{escape(aspect_text(side.aspects.get(name)))}</td>" for side in comparison.sides)
    return f"<tr{kind}><td>{escape(name)}</td>{cells}</tr>"


def _judged(comparison: Comparison) -> str:
    cells = []
    for side in comparison.sides:
        found = side.judged
        text = f"{float(found.seconds) * 1e6:.2f} us, bound by {found.bound}" if found else "-"
        cells.append(f"<td>{escape(text)}</td>")
    return f"<tr><td>judge {escape(comparison.judge)}</td>{''.join(cells)}</tr>"


def _log(side: Side) -> str:
    decisions = side.plan.decisions if side.plan else ()
    body = "".join(_decision(each) for each in decisions)
    heading = f"{escape(side.name)}: {len(decisions)} decisions"
    return f"<details><summary>{heading}</summary><ul>{body}</ul></details>"


def _decision(decision: Decision) -> str:
    lost = "".join(f"<br><span class='lost'>not {escape(each)}</span>" for each in decision.rejected)
    value = escape(value_text(decision.value))
    formula = f" <code>{escape(decision.formula)}</code>" if decision.formula else ""
    return f"<li>{escape(decision.stage)}: {escape(decision.name)} = {value}{formula}{lost}</li>"
