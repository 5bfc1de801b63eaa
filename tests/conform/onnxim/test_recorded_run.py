"""A recorded run passes as it is, and fails wherever one figure of it is another."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pantile.conform.result import CaseOutcome

GOLDEN = Path(__file__).parents[2] / "golden" / "onnxim"

Golden = Callable[[str], Any]
Run = Callable[[Any], CaseOutcome]

INPUTS = {"config", "input_shape", "topology", "node", "has_bias", "transB", "weight_shape", "line"}
REMARKS = {"name", "source", "notes", "onnxim_log_tail", "tiles_note", "tile_columns"}

RUNS = (
    "tiny_8x16x8_bias",  # instructions with their times, memory requests, a bias
    "mlp_chain_a8_32x64x48x16",  # two layers
    "tiny_16x8x32_c4_explicit",  # four cores
    "quirks/q6_outerC_too_big",  # moves without a request, tiles that accumulate
    "tpu_c4_128cube",  # moves of so many requests that the file has their digest
)


def leaves(value: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every scalar."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, below in pairs:
            yield from leaves(below, (*steps, key))
    else:
        yield steps


def field_of(steps: tuple[Any, ...], value: Any) -> str:
    """Return the field that a place in a file is; a tile's values are named by column."""
    if steps[0] == "tiles":
        return f"tiles[{steps[1]}].{value['tile_columns'][steps[2]]}"
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps]
    return "".join(parts).removeprefix(".")


def kinds_of_figures(name: str) -> list[object]:
    """One place for every kind of figure of a file: the last one, for it is the farthest in."""
    value = json.loads((GOLDEN / f"{name}.json").read_text())
    places: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for steps in leaves(value):
        if steps[0] not in REMARKS and not INPUTS & set(steps):
            tile_column = steps[0] == "tiles"
            kind = tuple(0 if isinstance(step, int) and not tile_column else step for step in steps)
            places[(kind[0], kind[2]) if tile_column else kind] = steps
    return [pytest.param(name, steps, id=f"{name}-{field_of(steps, value)}") for steps in places.values()]


def changed(figure: Any) -> Any:
    """Another value of the same type, as close as can be."""
    if isinstance(figure, bool):
        return not figure
    if isinstance(figure, int):
        return figure + 1
    return f"{figure}x" if isinstance(figure, str) else 0


@pytest.mark.parametrize(("name", "steps"), [case for name in RUNS for case in kinds_of_figures(name)])
def test_one_wrong_figure_is_found_and_named(
    name: str, steps: tuple[Any, ...], golden: Golden, outcome: Run
) -> None:
    value = golden(name)
    holder = value
    for step in steps[:-1]:
        holder = holder[step]
    right = holder[steps[-1]]
    holder[steps[-1]] = changed(right)
    difference = outcome(value).difference
    assert difference is not None
    assert (difference.field, difference.expected, difference.got) == (
        field_of(steps, value),
        changed(right),
        right,
    )


def test_every_kind_of_figure_is_changed() -> None:
    """Counted by hand: of the layer 5, its mapping 10, its addresses 4; 7 totals; 18 columns of tiles;
    4 results, 4 of a layer, 12 of a core; a digest; of an instruction 10, a list of addresses, 7 times;
    14 of a request.
    """
    kinds = Counter(
        str(case.id).split("-")[1].split("[")[0].split(".")[0]  # type: ignore[attr-defined]
        for case in kinds_of_figures("tiny_8x16x8_bias")
    )
    assert kinds == {
        "layers": 19, "totals": 7, "tiles": 18, "result": 20, "instructions_sha256": 1,
        "instructions": 18, "memory_requests": 14,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "change", "field"),
    [
        ("dram_latency", 11, "tiles[0].finish_cycle"),
        ("icnt_latency", 0, "tiles[0].finish_cycle"),
        ("core_freq", 900, "tiles[0].finish_cycle"),
        ("dram_req_size", 64, "totals.read_requests"),
        ("precision", 2, "layers[0].precision"),
        ("num_cores", 2, "tiles[0].issued_core"),  # the layer counter moves the tile to core 1
        ("core_height", 4, "totals.MOVIN"),  # blocks of four rows
    ],
)
def test_another_configuration_gives_other_figures(
    key: str, change: int, field: str, golden: Golden, outcome: Run
) -> None:
    value = golden("tiny_8x16x8_bias")
    value["config"][key] = change
    if key == "core_height":
        value["config"]["core_width"] = change
    difference = outcome(value).difference
    assert difference is not None
    assert difference.field == field


def test_tiles_left_out_are_covered_by_a_digest(golden: Golden, outcome: Run) -> None:
    value = golden("mlp_chain_a8_32x64x48x16")
    rows = value["tiles"]
    assert len(rows) > 2
    text = "\n".join(",".join(map(str, row)) for row in rows)
    value["tiles"], value["tiles_sha256"] = [rows[0], rows[-1]], hashlib.sha256(text.encode()).hexdigest()
    assert outcome(value).status == "passed"

    value["tiles"][1][5] += 1
    difference = outcome(value).difference
    assert difference is not None
    assert difference.field == f"tiles[1].{value['tile_columns'][5]}"
    value["tiles"][1][5] -= 1

    value["tiles"].append([9] * len(rows[0]))
    difference = outcome(value).difference
    assert difference is not None
    assert (difference.field, difference.got) == ("tiles[2]", None)
    value["tiles"].pop()

    value["tiles_sha256"] = "0" * 64
    difference = outcome(value).difference
    assert difference is not None
    assert difference.field == "tiles_sha256"


def test_without_a_digest_every_tile_must_be_listed(golden: Golden, outcome: Run) -> None:
    value = golden("mlp_chain_a8_32x64x48x16")
    value["tiles"].pop()
    difference = outcome(value).difference
    assert difference is not None
    assert difference.field == "tiles"


def test_long_lists_of_requests_are_compared_by_digest(golden: Golden, outcome: Run) -> None:
    value = golden("tpu_c4_128cube")
    at, row = next((at, row) for at, row in enumerate(value["instructions"]) if "src_sha256" in row)
    for key in ("src_count", "src_first", "src_last", "src_sha256"):
        right = row[key]
        row[key] = changed(right)
        difference = outcome(value).difference
        assert difference is not None
        assert (difference.field, difference.got) == (f"instructions[{at}].{key}", right)
        row[key] = right


def test_what_nothing_computes_is_unchecked(golden: Golden, outcome: Run) -> None:
    value = golden("tiny_8x16x8_bias")
    value["energy"] = {"total": 5}
    value["config"]["colour"] = "blue"
    value["layers"][0]["mapping"]["cost"] = 1
    value["result"]["cores"][0]["temperature"] = 300
    value["tile_columns"].append("energy")
    for row in value["tiles"]:
        row.append(7)
    for row in value["instructions"]:
        row["energy"] = 1
    found = outcome(value)
    assert found.status == "passed"
    assert found.unchecked == (
        "config.colour",
        "layers[].mapping.cost",
        "tiles[].energy",
        "result.cores[].temperature",
        "instructions[].energy",
        "energy",
    )


def test_keys_of_single_cores_that_nothing_reads_are_unchecked(golden: Golden, outcome: Run) -> None:
    value = golden("quirks/q10_hetero_cores")
    value["config"]["per_core"][1]["colour"] = "blue"
    found = outcome(value)
    assert found.status == "passed"
    assert found.unchecked == ("config.per_core_1.colour",)


def test_a_digest_over_an_unknown_column_is_unchecked(golden: Golden, outcome: Run) -> None:
    value = golden("tiny_8x16x8_bias")
    value["tile_columns"].append("energy")
    for row in value["tiles"]:
        row.append(7)
    value["tiles_sha256"] = "0" * 64
    assert outcome(value).unchecked == ("tiles[].energy", "tiles_sha256")


def test_inputs_alone_are_no_case_that_passes(golden: Golden, outcome: Run) -> None:
    value = golden("tiny_8x8x8")
    inputs = {key: value[key] for key in ("config", "input_shape", "topology")}
    layer = {key: value["layers"][0][key] for key in ("node", "weight_shape")}
    found = outcome({**inputs, "layers": [layer], "energy": 5})
    assert (found.status, found.unchecked) == ("skipped", ("energy",))
    assert found.case == "case"  # named after its file


def test_a_line_that_the_original_stops_on_is_a_failing_case(golden: Golden, outcome: Run) -> None:
    value = golden("quirks/q6_outerC_too_big")
    value["layers"][0]["mapping"]["line"] = "[T] N16 C16 M16 - [O] N2 C1 M1 - [I] N16 C16 M16"
    difference = outcome(value).difference
    assert difference is not None
    assert (difference.field, difference.expected) == ("layers", "a run that completes")
    assert "mapping line:1:23: [O] N2 of [I] N16 goes past 16 rows" in difference.got


@pytest.mark.parametrize(
    ("key", "change"),
    [("dram_type", "ramulator2"), ("icnt_type", "booksim2"), ("scheduler", "time_multiplex")],
)
def test_a_model_that_is_not_there_skips_the_case(
    key: str, change: str, golden: Golden, outcome: Run
) -> None:
    value = golden("tiny_8x8x8")
    value["config"][key] = change
    found = outcome(value)
    assert (found.case, found.status) == ("tiny_8x8x8", "skipped")
    assert found.skipped == f"config.{key} is {change!r}: of these models only 'simple' is there"


@pytest.mark.parametrize("node", ["Conv", "FusedConv", "Relu"])
def test_a_layer_that_is_no_product_skips_the_case(node: str, golden: Golden, outcome: Run) -> None:
    value = golden("mlp_chain_a8_32x64x48x16")
    value["layers"][1]["node"] = node
    assert outcome(value).skipped == f"layers[1] is {node}: the exact model has MatMul, Gemm, FusedGemm alone"


@pytest.mark.parametrize(
    ("steps", "change", "field"),
    [
        (("config", "dram_type"), "magic", "config"),
        (("config", "num_cores"), 0, "config"),
        (("config", "precision"), None, "config"),
        (("input_shape",), None, "input_shape"),
        (("input_shape",), [8, 0], "input_shape[1]"),
        (("input_shape",), [8], "input_shape"),
        (("input_shape",), [8.0, 8], "input_shape[0]"),
        (("topology",), "ring", "topology"),
        (("layers",), [], "layers"),
        (("layers",), 5, "layers"),
        (("layers", 0), 5, "layers[0]"),
        (("layers", 0, "node"), 5, "layers[0].node"),
        (("layers", 0, "weight_shape"), [9, 8], "layers[0].weight_shape"),
        (("layers", 0, "mapping"), {"line": 5}, "layers[0].mapping.line"),
        (("tile_columns",), None, "tile_columns"),
        (("tiles",), {}, "tiles"),
        (("tiles", 0), [1, 2], "tiles[0]"),
        (("result",), [], "result"),
        (("instructions", 0), None, "instructions[0]"),
    ],
)
def test_a_file_that_is_no_run_fails_and_names_the_place(
    steps: tuple[Any, ...], change: Any, field: str, golden: Golden, outcome: Run
) -> None:
    value = golden("tiny_8x8x8")
    holder = value
    for step in steps[:-1]:
        holder = holder[step]
    holder[steps[-1]] = change
    difference = outcome(value).difference
    assert difference is not None
    assert difference.field == field
    assert "defect" not in difference.why


def test_missing_inputs_are_named(golden: Golden, outcome: Run) -> None:
    value = golden("tiny_8x8x8")
    del value["layers"][0]["weight_shape"]
    difference = outcome(value).difference
    assert difference is not None
    assert (difference.field, difference.got) == ("layers[0].weight_shape", None)
    assert difference.why == "an input of the case"
