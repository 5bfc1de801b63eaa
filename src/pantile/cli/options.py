"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from pantile.errors import Place, UsageError

Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="gemm:m=32,n=32,k=64 | bmm:b=8,m=..,n=..,k=.. | FILE.onnx[#node] | FILE.csv",
    ),
]
WorkloadOrPlan = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD|PLAN", help="a workload, or a plan that `plan --json` wrote (FILE.json)"
    ),
]
WorkloadOrProgram = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD|PLAN|PROGRAM",
        help="a workload, a plan that `plan --json` wrote, or a program: FILE.py[:name], FILE.json, FILE.txt",
    ),
]
MachineIfPlanned = Annotated[
    str | None,
    typer.Option("-m", "--machine", metavar="MACHINE", help="as elsewhere; a program can do without"),
]
Machine = Annotated[
    str,
    typer.Option(
        "-m", "--machine", metavar="MACHINE", help="a preset, FILE.toml, or an ONNXim configuration FILE.json"
    ),
]
Planner = Annotated[
    list[str] | None,
    typer.Option("-p", "--planner", metavar="PLANNER[:SEMANTICS]", help="default: the machine's own"),
]
Planners = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--planner",
        metavar="PLANNER[:SEMANTICS]",
        help="default: the machine's own; repeat for one plan of each",
    ),
]
Mapping = Annotated[
    str | None,
    typer.Option(
        "--mapping",
        metavar="TEXT|FILE",
        help="'[T] N32 C64 M32 - [O] … - [I] …' or a file of them; "
        "meshes: '[grid] 2x2 [pieces] b1 m2 n2 k4 [slots] 2'",
    ),
]
Semantics = Annotated[
    str | None,
    typer.Option(
        "--semantics",
        metavar="NAME",
        help="onnxim: fixed (default) or faithful; asw: corrected (default), published or published_5_2; "
        "mma-tile: head (default) or seed",
    ),
]
Dims = Annotated[
    list[str] | None,
    typer.Option("--dim", metavar="NAME=V", help="size of a symbolic ONNX dimension; repeat for several"),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
Core = Annotated[
    str | None, typer.Option("--core", metavar="I", help="list the instructions of one core's tiles only")
]
TracedCore = Annotated[
    str | None,
    typer.Option(
        "--core", metavar="I", help="draw one core only; on Ascend machines, simulate that one only"
    ),
]
Window = Annotated[
    str | None, typer.Option("--window", metavar="A:B", help="operations A to B-1 only, counted from 0")
]

_NUMBER = re.compile(r"[0-9]{1,18}")


def read_dims(dims: list[str] | None) -> dict[str, int]:
    """Return the sizes that ``--dim`` options give.

    Raises:
        WorkloadError: If one of them is no assignment of a size.
    """
    if not dims:
        return {}
    from pantile.workload.load import parse_dims

    return parse_dims(dims)


def read_planner(planners: list[str] | None) -> str | None:
    """Return the one planner that ``-p`` names.

    Raises:
        UsageError: If it names several.
    """
    if not planners:
        return None
    if len(planners) > 1:
        raise UsageError(
            f"one planner is used here, got {len(planners)}",
            place=Place("--planner"),
            mend="give -p once; `plan` takes several, `compare` sets two side by side",
        )
    return planners[0]


def read_window(window: str | None) -> range | None:
    """Return the range that ``--window A:B`` names; an end left out is the program's.

    Raises:
        UsageError: If it is no such range.
    """
    if window is None:
        return None
    first, colon, last = (part.strip() for part in window.partition(":"))
    if not colon or not all(_NUMBER.fullmatch(part) or not part for part in (first, last)):
        raise UsageError(
            f"expected A:B with A before B, got {window!r}",
            place=Place("--window"),
            mend="write --window 0:100",
        )
    bounds = range(int(first or 0), int(last or 10**18))
    if not bounds:
        raise UsageError(f"no operation is in {window!r}", place=Place("--window"), mend="put A below B")
    return bounds


def read_budget(budget: str | None) -> int | None:
    """Return the number that ``--budget STATES`` names.

    Raises:
        UsageError: If it is no number.
    """
    if budget is None:
        return None
    if not _NUMBER.fullmatch(budget.strip()):
        raise UsageError(f"expected a number of states, got {budget!r}", place=Place("--budget"))
    return int(budget)


def read_core(core: str | None) -> int | None:
    """Return the number that ``--core I`` names.

    Raises:
        UsageError: If it is no number.
    """
    if core is None:
        return None
    if not _NUMBER.fullmatch(core.strip()):
        raise UsageError(f"expected the number of a core, got {core!r}", place=Place("--core"))
    return int(core)
