"""Builds docs/errata-asw.md, or prints single errata with their figures.

python docs/errata/errata_page.py            write the page
python docs/errata/errata_page.py E-21       print one erratum
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

from errata_entries import CHAPTERS, Entry

PAGE = Path(__file__).parents[1] / "errata-asw.md"
_HEAD = """# Errata of the ASW_Basic analysis

What the analysis *ASW_Basic* (version 1.7, the document behind planner `asw`) prints and what is right. Every figure that stands
under *right* is computed by this package when the page is built, and a test builds it anew; figures under *printed* are the
document's. `corrected` follows the right column, `published` the printed one, and `published_5_2` the printed one with r_in as [5.2]
has it. `pantile compare` cites these numbers where they apply to a product.

Built by `python docs/errata/errata_page.py`; with a number, such as `E-21`, it prints that erratum alone. Letters behind a number in the
source's list stand together here.
"""


@cache
def entries() -> dict[str, Entry]:
    """Return every erratum by its number."""
    return {entry.code: entry for _, chapter in CHAPTERS for entry in chapter}


def page() -> str:
    """Return the whole page."""
    parts = [_HEAD]
    for title, chapter in CHAPTERS:
        parts.append(f"## {title}\n")
        parts += [_section(entry) for entry in chapter]
    return "\n".join(parts)


def _section(entry: Entry) -> str:
    lines = [
        f"### {''.join(map(_anchor, codes_of(entry)))}{entry.code} {entry.place}\n",
        f"* printed: {entry.printed}",
        f"* right: {right(entry)}",
    ]
    if entry.command:
        return "\n".join([*lines, "", "```console", f"$ {entry.command}", *_output(entry), "```", ""])
    if entry.figures is not None:
        lines.append(f"* shown by: `python docs/errata/errata_page.py {entry.code}`")
    return "\n".join([*lines, ""])


def codes_of(entry: Entry) -> list[str]:
    """Return the numbers that lead to an erratum: its own, and those with letters."""
    return [entry.code, *(entry.code + letter for letter in entry.letters)]


def _anchor(code: str) -> str:
    return f'<a id="{code.lower()}"></a>'


def right(entry: Entry) -> str:
    """Return what is right, with its figures."""
    return entry.right.format(**_figures(entry.figures)) if entry.figures else entry.right


@cache
def _figures(compute: object) -> dict[str, object]:
    found: dict[str, object] = compute()  # type: ignore[operator]
    return found


def _output(entry: Entry) -> list[str]:
    """Return the output lines of a command that begin as wanted, dots between."""
    from pantile.cli.main import main

    caught = io.StringIO()
    with redirect_stdout(caught):
        main(shlex.split(entry.command)[1:])
    shown: list[str] = []
    missing = list(entry.shows)
    for line in caught.getvalue().splitlines():
        wanted = next((start for start in missing if line.startswith(start)), None)
        if wanted is not None:
            missing.remove(wanted)
            shown.append(line.rstrip())
        elif shown[-1:] != ["…"]:
            shown.append("…")
    if missing:
        raise SystemExit(f"{entry.code}: no line begins with {missing}")
    return shown


def run(arguments: list[str]) -> int:
    """Write the page, or print the errata that are named."""
    if not arguments:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    for code in arguments:
        entry = entries().get(re.sub(r"[a-d]$", "", code))
        if entry is None:
            print(f"no erratum {code!r}; there are {', '.join(sorted(entries()))}", file=sys.stderr)
            return 2
        print(f"{entry.code} {entry.place}\n  printed: {entry.printed}\n  right:   {right(entry)}")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
