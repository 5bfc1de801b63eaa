"""The figures of a run under the names and in the form of ONNXim's case files (docs/conformance.md)."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN
from pantile.conform.onnxim.graph import shape_of
from pantile.targets.systolic.rows import GEMM, GEMM_PRELOAD, MOVIN, MOVOUT, NAMES
from pantile.targets.systolic.stream import LAYER_TILE_START, LAYER_TILE_STOP
from pantile.targets.systolic.tiles import tiles_of
from pantile.targets.systolic.totals import totals_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pantile.conform.onnxim.inputs import RunInputs
    from pantile.program.program import Program
    from pantile.targets.systolic.result import SystolicResult
    from pantile.targets.systolic.stream import Stream
    from pantile.verbs.families import PlannedLayer
    from pantile.verbs.systolic import Systolic

LETTERS = "NCM"
_LOOPS = {"N": "m", "M": "n", "C": "k"}
_ADDRESSES = {"input": "a", "weight": "b", "bias": "bias", "output": "c"}
_COUNTED = {"n_movin": "MOVIN", "n_preload": "GEMM_PRELOAD", "n_movout": "MOVOUT"}
_MEASURED = {
    "read_reqs": "read_requests",
    "write_reqs": "write_requests",
    "issued_core": "core",
    "issue_cycle": "issue_cycle",
    "finish_cycle": "finish_cycle",
    "spad_id": "scratchpad_half",
    "accum_spad_id": "accumulator_half",
}
"""Columns of a file's tiles, and of the simulation's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Rerun:
    """A case as this program ran it.

    Attributes:
        inputs: What the file gives.
        session: The planned network.
        layers: Its layers in file order, which is that of execution.
        stream: What ran.
        result: What was measured.
    """

    inputs: RunInputs
    session: Systolic
    layers: tuple[PlannedLayer, ...]
    stream: Stream
    result: SystolicResult


def layer_figures(rerun: Rerun) -> list[dict[str, Any]]:
    """Return the entries of ``layers``."""
    return [_layer(rerun, at) for at in range(len(rerun.layers))]


def _layer(rerun: Rerun, at: int) -> dict[str, Any]:
    given, planned = rerun.inputs.layers[at], rerun.layers[at]
    parameters = planned.plan.parameters
    activation = planned.node.inputs[0]
    dims = rerun.session.network.tensor(activation).dims
    bases = {operand.name: operand.base for operand in planned.program.operands}
    counts = {
        key: {letter: parameters[key][letter] for letter in LETTERS} for key in ("total", "outer", "inner")
    }
    return {
        **dict.fromkeys(("node", "has_bias", "transA", "transB", "weight_shape"), KNOWN),
        **shape_of(given, dims),
        "onnxim_has_bias": parameters["has_bias"],
        "precision": rerun.session.config.precision,
        "mapping": {
            "line": KNOWN,
            # A layer that reuses an earlier one's automatic mapping was mapped automatically.
            "source": "explicit" if parameters["source"] == "explicit" else "auto",
            **counts,
        },
        "addresses": {key: bases.get(operand) for key, operand in _ADDRESSES.items()},
    }


def total_figures(rerun: Rerun) -> dict[str, int]:
    """Return ``totals``, counted from the programs and not from the run."""
    sums: Counter[str] = Counter({NAMES[opcode]: 0 for opcode in (MOVIN, GEMM_PRELOAD, GEMM, MOVOUT)})
    for layer in rerun.layers:
        totals = totals_of(layer.program, rerun.session.config)
        sums.update(totals.instructions)
        sums["tiles"] += totals.tiles
        sums["macs"] += totals.macs
        sums["read_requests"] += totals.requests["read"]
        sums["write_requests"] += totals.requests["write"]
    return dict(sums)


def tile_figures(rerun: Rerun) -> list[dict[str, int]]:
    """Return all tiles in creation order, each by its columns."""
    rows: list[dict[str, int]] = []
    for at, layer in enumerate(rerun.layers):
        start, stop = rerun.stream.layers[at][[LAYER_TILE_START, LAYER_TILE_STOP]].tolist()
        measured = rerun.result.tiles[start:stop]
        columns = [measured[name].tolist() for name in _MEASURED.values()]
        for number, (planned, *run) in enumerate(
            zip(_planned_tiles(layer.program, rerun.session.config.cores), *columns, strict=True)
        ):
            rows.append({"layer": at, "tile": number, **planned, **dict(zip(_MEASURED, run, strict=True))})
    return rows


def _planned_tiles(program: Program, cores: int) -> list[dict[str, int]]:
    kinds = [_kind_counts(program, place) for place in range(len(program.pieces))]
    depth = {letter: [name for name, _ in program.loops].index(loop) for letter, loop in _LOOPS.items()}
    tiles = tiles_of(program)
    return [
        {
            **{letter: index[depth[letter]] for letter in _LOOPS},
            "accum": accumulates,
            "core_id": region % cores,
            **kinds[piece],
        }
        for piece, region, accumulates, index in tiles[["piece", "region", "accumulates", "index"]].tolist()
    ]


def _kind_counts(program: Program, place: int) -> dict[str, int]:
    ops = program.pieces[place].tables["op"]
    counted: Counter[str] = Counter()
    for opcode, count in ops[["opcode", "count"]].tolist():
        counted[NAMES[opcode]] += count
    return {**{key: counted[opcode] for key, opcode in _COUNTED.items()}, "macs": int(ops["macs"].sum())}


def tiles_digest(rows: Sequence[dict[str, int]], columns: Sequence[str]) -> str:
    """Return ``tiles_sha256``: of all rows, values joined by comma, rows by newline."""
    text = "\n".join(",".join(str(row[column]) for column in columns) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def result_figures(rerun: Rerun) -> dict[str, Any]:
    """Return ``result``."""
    result, tiles = rerun.result, rerun.stream.layers
    names = result.cores.dtype.names or ()
    return {
        "total_core_cycles": result.core_ticks,
        "total_icnt_cycles": result.noc_ticks,
        "total_dram_cycles": result.dram_ticks,
        "dram_requests_per_channel": result.requests_per_channel.tolist(),
        "layers": [
            {
                "layer": at,
                "start_cycle": int(result.layer_start[at]),
                "finish_cycle": int(result.layer_finish[at]),
                "tiles": int(tiles[at, LAYER_TILE_STOP] - tiles[at, LAYER_TILE_START]),
            }
            for at in range(len(rerun.layers))
        ],
        # Products leave the vector unit alone.
        "cores": [
            {"core": core, "vector_active_cycle": 0, **dict(zip(names, counters, strict=True))}
            for core, counters in enumerate(result.cores.tolist())
        ],
    }


def request_figures(rerun: Rerun) -> list[dict[str, int]]:
    """Return ``memory_requests``; the simulation must have recorded them."""
    requests = rerun.result.requests
    names = requests.dtype.names or ()
    return [{"id": at, **dict(zip(names, row, strict=True))} for at, row in enumerate(requests.tolist())]
