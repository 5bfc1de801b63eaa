"""The command ``pantile``."""

from __future__ import annotations

import io
import sys
from operator import methodcaller
from typing import TYPE_CHECKING, Annotated

import typer

from pantile.cli import options
from pantile.cli.machines import machines
from pantile.cli.output import announce_compile, emit, json_text, remark, shown
from pantile.cli.usage import usage_error
from pantile.errors import ManyProblems, PantileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="pantile",
    help="How a matrix product is cut, ordered, checked and timed on tiled accelerators.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(machines, name="machines")

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


@app.callback(invoke_without_command=True)
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        emit(context.get_help())


@app.command()
def plan(
    workload: options.Workload,
    machine: options.Machine,
    planner: options.Planners = None,
    mapping: options.Mapping = None,
    semantics: options.Semantics = None,
    objective: Annotated[str | None, typer.Option("--objective", hidden=True)] = None,
    budget: Annotated[str | None, typer.Option("--budget", hidden=True)] = None,
    dim: options.Dims = None,
    explain: Annotated[bool, typer.Option("--explain", help="print every decision in order")] = False,
    json: options.Json = False,
) -> None:
    """Say how a workload is cut, and why.

    The exit code is 1 if nothing fits.
    """
    from pantile.verbs.arguments import PlanOptions, is_many
    from pantile.verbs.plan import PlanResult, plan_each, refuse_search
    from pantile.verbs.plan import plan as run_plan

    refuse_search(objective=objective, budget=budget)

    if is_many(workload):
        from pantile.cli.rows import emit_rows

        dims = options.read_dims(dim)
        asked = [
            PlanOptions(planner=each, mapping=mapping, semantics=semantics, dims=dims)
            for each in planner or (None,)
        ]
        count, results = plan_each(workload, machine, *asked)
        _finish(emit_rows(results, count, None if json else PlanResult.explain if explain else str))
        return
    result = run_plan(
        workload,
        machine,
        planner=planner,
        mapping=mapping,
        semantics=semantics,
        dims=options.read_dims(dim),
    )
    emit(json_text(result) if json else shown(result, PlanResult.explain if explain else str))
    _finish(result.ok)


@app.command()
def lower(
    workload: options.WorkloadOrPlan,
    machine: options.Machine,
    planner: options.Planner = None,
    mapping: options.Mapping = None,
    semantics: options.Semantics = None,
    dim: options.Dims = None,
    core: options.Core = None,
    window: options.Window = None,
    text: Annotated[bool, typer.Option("--text", help="print one instruction a line")] = False,
    json: options.Json = False,
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="FILE")] = None,
) -> None:
    """List what every core runs.

    Without options it prints totals. --core and --window choose what is listed, as text unless --json is
    given. A listing holds up to 100000 operations.
    """
    from pantile.verbs.lower import lower as run_lower
    from pantile.verbs.result import Many

    if text and json:
        raise UsageError("expected one of --text and --json, got both", mend="leave one of them out")
    result = run_lower(
        workload,
        machine,
        planner=options.read_planner(planner),
        mapping=mapping,
        semantics=semantics,
        dims=options.read_dims(dim),
        core=options.read_core(core),
        window=options.read_window(window),
    )
    listed = text or core is not None or window is not None
    emit(json_text(result) if json else shown(result, methodcaller("text") if listed else str), output)
    for each in result if isinstance(result, Many) else [result]:
        if json and each.left_out:
            remark(f"{each.workload}: {each.left_out} operations left out; choose some with --window A:B")


@app.command()
def check(
    workload: options.WorkloadOrProgram,
    machine: options.MachineIfPlanned = None,
    planner: options.Planner = None,
    mapping: options.Mapping = None,
    semantics: options.Semantics = None,
    dim: options.Dims = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", metavar="STATES", help="states with a choice to walk through; programs only"
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Prove the program right, or show what breaks it.

    The exit code is 1 on an error; warnings and notes do not count.
    """
    from pantile.verbs.check import check as run_check

    result = run_check(
        workload,
        machine,
        planner=options.read_planner(planner),
        mapping=mapping,
        semantics=semantics,
        dims=options.read_dims(dim),
        budget=options.read_budget(budget),
        on_compile=announce_compile,
    )
    emit(json_text(result) if json else str(result))
    _finish(result.ok)


@app.command()
def simulate(
    workload: options.WorkloadOrProgram,
    machine: options.Machine,
    planner: options.Planner = None,
    mapping: options.Mapping = None,
    semantics: options.Semantics = None,
    dim: options.Dims = None,
    core: options.TracedCore = None,
    trace: Annotated[
        str | None, typer.Option("--trace", metavar="FILE", help="write a trace for ui.perfetto.dev")
    ] = None,
    what_if: Annotated[
        list[str] | None,
        typer.Option("--what-if", metavar="RESOURCE=+10%", help="run again with another rate; programs only"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Time the program to the cycle, and say what bounds it.

    The exit code is 1 if it does not come to its end.
    """
    from pantile.verbs.simulate import simulate as run_simulate

    result = run_simulate(
        workload,
        machine,
        planner=options.read_planner(planner),
        mapping=mapping,
        semantics=semantics,
        dims=options.read_dims(dim),
        trace=trace,
        core=options.read_core(core),
        what_if=what_if or (),
        on_compile=announce_compile,
    )
    if trace is not None:
        remark(f"wrote {trace}")
    emit(json_text(result) if json else str(result))
    _finish(result.ok)


@app.command()
def view(
    workload: options.WorkloadOrProgram,
    machine: options.Machine,
    output: Annotated[str, typer.Option("-o", "--output", metavar="PAGE.html", help="the page to write")],
    planner: options.Planner = None,
    mapping: options.Mapping = None,
    semantics: options.Semantics = None,
    dim: options.Dims = None,
    window: options.Window = None,
) -> None:
    """Write a page on which to step through the program."""
    from pantile.verbs.view import view as run_view

    run_view(
        workload,
        machine,
        output,
        planner=options.read_planner(planner),
        mapping=mapping,
        semantics=semantics,
        dims=options.read_dims(dim),
        window=options.read_window(window),
        on_compile=announce_compile,
    )
    remark(f"wrote {output}")


@app.command()
def compare(
    workload: options.Workload,
    machine: options.Machine,
    planner: Annotated[
        list[str] | None,
        typer.Option("-p", "--planner", metavar="PLANNER[:SEMANTICS]", help="give it twice"),
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="closed (default), exact or simulate")
    ] = "closed",
    dim: options.Dims = None,
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="PAGE.html")] = None,
    json: options.Json = False,
) -> None:
    """Set the plans of two planners side by side, and say where they part.

    A star marks what differs. The exit code is 1 if neither has a plan.
    """
    from pantile.verbs.compare import Comparison
    from pantile.verbs.compare import compare as run_compare

    if output is not None and json:
        raise UsageError("expected one of -o and --json, got both", mend="leave one of them out")
    result = run_compare(workload, machine, planners=planner or [], judge=judge, dims=options.read_dims(dim))
    if output is not None:
        from pantile.verbs.compare_page import comparison_page

        if not isinstance(result, Comparison):
            raise UsageError("a page shows a single product", mend="name one node or one row")
        emit(comparison_page(result).rstrip("\n"), output)
    else:
        emit(json_text(result) if json else str(result))
    _finish(result.ok)


@app.command()
def conform(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="case files, or folders of them")],
    json: options.Json = False,
) -> None:
    """Run case files recorded from other programs.

    The exit code is 1 if one differs, or if none was checked.
    """
    from pantile.conform.run import conform as run_conform

    result = run_conform(paths, on_compile=announce_compile)
    emit(json_text(result) if json else str(result))
    _finish(result.ok)


def _finish(ok: bool) -> None:
    if not ok:
        raise typer.Exit(FAILED)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    Exit codes: 0 done; 1 a check failed or there is no plan; 2 bad input, one line on standard error
    per problem; 130 interrupted.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no failure
    sys.exit(main(arguments))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code: int = app(arguments, prog_name="pantile", standalone_mode=False) or 0
    except typer.TyperException as error:
        return _report([usage_error(error)])
    except ManyProblems as error:
        return _report(error.problems)
    except PantileError as error:
        return _report([error])
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # which is also how Typer says it
        remark("interrupted")
    return code


def _report(problems: Sequence[PantileError]) -> int:
    """Print one line per problem and return the exit code."""
    for problem in problems:
        remark(f"error: {problem}")
    return FAILED if all(problem.code == "PT-INFEASIBLE" for problem in problems) else BAD_INPUT


if __name__ == "__main__":
    run()
