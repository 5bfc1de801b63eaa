"""One recorded run: planned, lowered and simulated again, and compared figure by figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pantile.conform.case_inputs import read_inputs
from pantile.conform.compare import KNOWN, Comparison, Difference, compare
from pantile.conform.faults import WrongInput, defect
from pantile.conform.onnxim.figures import (
    Rerun,
    layer_figures,
    request_figures,
    result_figures,
    tile_figures,
    tiles_digest,
    total_figures,
)
from pantile.conform.onnxim.inputs import RunInputs
from pantile.conform.onnxim.listing import instruction_figures
from pantile.conform.onnxim.scope import outside_config, outside_layers
from pantile.conform.onnxim.session import plan_run, unread_keys
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import MachineError, PantileError
from pantile.targets.systolic.plain import simulate_plain
from pantile.targets.systolic.simulate import simulate
from pantile.targets.systolic.stream import stream_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pantile.verbs.systolic import Systolic

_REMARKS = ("name", "source", "notes", "onnxim_log_tail", "tiles_note", "tile_columns")
_INPUTS = ("input_shape", "topology")
_COMPLETES = "a run that completes"


def run_outcome(value: dict[str, Any], stem: str, on_compile: Callable[[], None]) -> CaseOutcome:
    """Return how one recorded run compares.

    Args:
        value: The file's value.
        stem: What the case is called if it bears no name.
        on_compile: Called before the simulation is compiled.
    """
    named = value.get("name")
    case = named if isinstance(named, str) and named else stem
    reason = outside_config(value["config"]) or outside_layers(value["layers"])
    if reason:
        return CaseOutcome(case=case, skipped=reason)
    stage = "layers"
    try:
        inputs = read_inputs(value, RunInputs)
        session = plan_run(inputs)
        stage = "result"
        rerun = _run(inputs, session, value, on_compile)
        return judged(case, _compared(value, rerun))
    except WrongInput as error:
        return CaseOutcome(case=case, difference=error.difference)
    except PantileError as error:
        field = "config" if isinstance(error, MachineError) else stage
        return CaseOutcome(case=case, difference=Difference(field, _COMPLETES, str(error), "it was refused"))
    except Exception as error:  # a crash on one case is that case's failure, and must not hide the others
        return CaseOutcome(case=case, difference=defect(error, stage, _COMPLETES))


def _run(
    inputs: RunInputs, session: Systolic, wanted: Collection[str], on_compile: Callable[[], None]
) -> Rerun:
    """Simulate a planned case, recording what the file lists and no more."""
    layers = tuple(sorted(session.layers(), key=lambda each: each.layer))
    assert [each.node for each in layers] == list(session.network.nodes)  # so that layers have file numbers
    operations = sum(each.program.operations for each in layers)
    record = range(operations) if "instructions" in wanted else None
    if "memory_requests" in wanted:
        stream = stream_of(session.execution(), session.config)
        result = simulate_plain(stream, session.config, record=record, requests=True)
    else:
        stream, result = simulate(session.execution(), session.config, record=record, on_compile=on_compile)
    return Rerun(inputs=inputs, session=session, layers=layers, stream=stream, result=result)


def _compared(value: dict[str, Any], rerun: Rerun) -> Comparison:
    computed: dict[str, Any] = {
        **dict.fromkeys((*_REMARKS, *_INPUTS), KNOWN),
        "config": dict.fromkeys(value["config"], KNOWN),
        "layers": layer_figures(rerun),
        "totals": total_figures(rerun),
        "result": result_figures(rerun),
    }
    if "instructions" in value or "instructions_sha256" in value:
        rows, computed["instructions_sha256"] = instruction_figures(rerun, listed="instructions" in value)
        computed["instructions"] = rows
    if "memory_requests" in value:
        computed["memory_requests"] = request_figures(rerun)
    recorded = dict(value)
    if "tiles" in value or "tiles_sha256" in value:
        listed, tiles = _tiles(value, tile_figures(rerun))
        computed |= tiles
        if "tiles" in value:
            recorded["tiles"] = listed
    found = compare(recorded, computed)
    return replace(found, unchecked=(*unread_keys(rerun.session.machine), *found.unchecked))


def _tiles(value: dict[str, Any], mine: list[dict[str, int]]) -> tuple[list[Any], dict[str, Any]]:
    """Return the file's tiles by column, and what was computed for ``tiles`` and ``tiles_sha256``.

    A file with a digest of all tiles may list some of them only.

    Raises:
        WrongInput: If columns or rows are none.
    """
    columns, rows = value.get("tile_columns"), value.get("tiles", [])
    if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
        raise WrongInput(Difference("tile_columns", "a list of names", columns))
    if not isinstance(rows, list):
        raise WrongInput(Difference("tiles", "a list of rows", rows))
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise WrongInput(Difference(f"tiles[{at}]", f"a row of {len(columns)} values", row))
    listed = [dict(zip(columns, row, strict=True)) for row in rows]
    if "tiles_sha256" not in value:
        return listed, {"tiles": mine}
    by_number = {f"{tile['layer']} {tile['tile']}": tile for tile in mine}
    named = [f"{row.get('layer')} {row.get('tile')}" for row in listed]
    computed: dict[str, Any] = {"tiles": [by_number.get(name) for name in named]}
    if not mine or mine[0].keys() >= set(columns):
        computed["tiles_sha256"] = tiles_digest(mine, columns)
    return listed, computed
