"""What ``--json`` prints: every key of the contract, of its type, and no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import pantile as pantile_package

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Pantile, WriteOnnx

SEED = "gemm:m=32,n=32,k=64"
MAPPING = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"


def closed(**properties: Any) -> dict[str, Any]:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def many(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
COUNTS = {"type": "object", "additionalProperties": COUNT}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
WAYS = closed(read=COUNT, write=COUNT)
NOTES = many(closed(code=TEXT, text=TEXT))
TERM_NAMES = (
    *("compute", "drain", "fill", "wait-load", "wait-store"),
    *("wait-slot", "wait-flag", "issue", "idle"),
)
TERMS = closed(**dict.fromkeys(TERM_NAMES, COUNT))
TOTALS = {
    "regions": COUNT,
    "tiles": COUNT,
    "instructions": COUNTS,
    "macs": COUNT,
    "padded_macs": COUNT,
    "bytes": closed(dram=WAYS, scratchpad=WAYS, accumulator=WAYS),
    "useful_bytes": WAYS,
    "requests": WAYS,
}


def head(verb: str) -> dict[str, Any]:
    """The keys that every object has."""
    return {
        "schema": {"const": f"pantile/{verb}/1"},
        "version": {"const": "0.1.0"},
        "workload": TEXT,
        "machine": {"const": "systolic-ws-8x8"},
        "planner": {"const": "onnxim"},
        "semantics": {"enum": ["fixed", "faithful"]},
        "notes": NOTES,
    }


PLAN = closed(
    **head("plan"),
    feasible={"type": ["boolean", "null"]},
    reason=TEXT,
    total=COUNTS,
    levels=many(closed(name=TEXT, factors=COUNTS, nominal_size=COUNTS)),
    order=many(TEXT),
    cores=TEXT,
    buffering=COUNTS,
    parameters={"type": "object"},
    predicted=COUNTS,
    decisions=many(
        closed(stage=TEXT, name=TEXT, inputs={"type": "object"}, formula=TEXT, value={}, rejected=many(TEXT))
    ),
    node=TEXT,
    outside=TEXT,
    macs=COUNT,
    dims=COUNTS,
)
INSTRUCTION = {
    "layer": COUNT,
    "tile": COUNT,
    "index": COUNT,
    "op": {"enum": ["MOVIN", "GEMM_PRELOAD", "GEMM", "MOVOUT"]},
    **dict.fromkeys(("dest_addr", "size", "compute_size", "tile_m", "tile_k", "tile_n"), COUNT),
}
FEW = closed(**INSTRUCTION, src_addrs={**many(COUNT), "maxItems": 16})
MANY = closed(**INSTRUCTION, src_count=COUNT, src_first=COUNT, src_last=COUNT, src_sha256=TEXT)
LOWER = closed(
    **head("lower"),
    layer=COUNT,
    labels=many(TEXT),
    totals=closed(**TOTALS),
    tile_kinds=many(
        closed(
            tiles=COUNT,
            first=COUNTS,
            counts=COUNTS,
            nominal_size=COUNTS,
            actual_size=COUNTS,
            instructions=COUNTS,
            macs=COUNT,
        )
    ),
    operation_count=COUNT,
    operations={"anyOf": [many({"anyOf": [FEW, MANY]}), {"type": "null"}]},
)
CHECK = closed(
    **head("check"),
    ok={"type": "boolean"},
    findings=many(
        closed(
            code=TEXT,
            severity={"enum": ["error", "warning", "note"]},
            sentence=TEXT,
            operations=many(COUNT),
            evidence=TEXT,
            grade=TEXT,
            mend=TEXT,
        )
    ),
    proved=many(TEXT),
)
CORE_COUNTS = (
    *("core", "matmul_active_cycle", "memory_idle_cycle", "core_idle_cycle", "systolic_active_cycle"),
    *("total_cycle", "read_responses", "write_responses"),
    *("systolic_inst_issue_count", "systolic_preload_issue_count"),
)
UTILISATION = closed(mac=SHARE, busy=SHARE)
LAYER = closed(
    node=TEXT,
    op_type=TEXT,
    shape=TEXT,
    model={"enum": ["onnxim", "pantile"]},
    labels=many(TEXT),
    mapping=TEXT,
    **TOTALS,
    start_cycle=COUNT,
    finish_cycle=COUNT,
    cycles=COUNT,
    terms=TERMS,
    utilisation=UTILISATION,
    bound_by={"enum": list(TERM_NAMES)},
)
SIMULATE = closed(
    **head("simulate"),
    total_cycles=COUNT,
    total_seconds={"type": "number", "exclusiveMinimum": 0},
    noc_cycles=COUNT,
    dram_cycles=COUNT,
    dram_requests_per_channel=many(COUNT),
    terms=TERMS,
    bound_by={"enum": list(TERM_NAMES)},
    lower_bounds=closed(macs=COUNT, array=COUNT, issue=COUNT, ports=COUNT, dram=COUNT),
    utilisation=UTILISATION,
    per_core=many(
        closed(**dict.fromkeys(CORE_COUNTS, COUNT), systolic_bubble_cycle={"type": "integer"}, terms=TERMS)
    ),
    per_layer=many(LAYER),
)
SUMMARY = closed(
    schema={"const": "pantile/summary/1"}, version={"const": "0.1.0"}, workloads=COUNT, ok=COUNT, notes=NOTES
)
SCHEMAS = {"plan": PLAN, "lower": LOWER, "check": CHECK, "simulate": SIMULATE}


@pytest.fixture
def wanted(request: pytest.FixtureRequest, mlp: str, onnx_file: WriteOnnx, tmp_path: Path) -> list[str]:
    """The workload of a test, and the options that go with it."""
    table = tmp_path / "table.csv"
    table.write_text("m,n,k,name\n16,16,16,square\n8,24,8,wide\n")
    conv = onnx_file(
        [("Conv", "conv", ["p", "w"], "q", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})],
        {"p": [1, 8, 8, 8]},
        {"w": [16, 8, 3, 3]},
        name="conv.onnx",
    )
    return {
        "automatic": [SEED],
        "explicit": [SEED, "--mapping", MAPPING],
        "faithful and wrong": [SEED, "--mapping", MAPPING.replace("C2", "C3"), "--semantics", "faithful"],
        "batch": ["bmm:b=3,m=8,n=8,k=8"],
        "table": [str(table)],
        "network": [mlp],
        "convolution": [conv],
    }[request.param]


CASES = ["automatic", "explicit", "faithful and wrong", "batch", "table", "network", "convolution"]


@pytest.mark.parametrize("wanted", CASES, indirect=True)
@pytest.mark.parametrize("verb", SCHEMAS)
def test_keys_and_types_are_those_of_the_contract(verb: str, wanted: list[str], pantile: Pantile) -> None:
    done = pantile(verb, *wanted, "-m", "systolic-ws-8x8", "--json")
    assert done.code == (verb == "check" and "faithful" in wanted), done.err
    *objects, last = done.json
    if last["schema"] == "pantile/summary/1":
        jsonschema.validate(last, SUMMARY)
        assert last["workloads"] == len(objects)
    else:
        objects.append(last)
    assert objects
    for each in objects:
        jsonschema.validate(each, SCHEMAS[verb])


@pytest.mark.parametrize("wanted", ["automatic", "batch", "table", "network"], indirect=True)
@pytest.mark.parametrize("verb", SCHEMAS)
def test_python_gives_the_same_objects(verb: str, wanted: list[str], pantile: Pantile) -> None:
    (workload,) = wanted
    made = getattr(pantile_package, verb)(workload, "systolic-ws-8x8").to_json()
    printed = pantile(verb, workload, "-m", "systolic-ws-8x8", "--json").json
    assert printed == json.loads(json.dumps(made if isinstance(made, list) else [made]))


@pytest.mark.parametrize("verb", SCHEMAS)
def test_one_workload_is_one_object(verb: str, pantile: Pantile) -> None:
    assert pantile(verb, SEED, "-m", "systolic-ws-8x8", "--json").object["workload"] == SEED


@pytest.mark.parametrize("verb", SCHEMAS)
@pytest.mark.parametrize("rows", [1, 2])
def test_a_table_is_one_object_a_row_and_a_summary(
    verb: str, rows: int, pantile: Pantile, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text("m,n,k\n" + "16,16,16\n8,24,8\n"[: 9 * rows])
    *objects, summary = pantile(verb, "table.csv", "-m", "systolic-ws-8x8", "--json").json
    workloads = ["gemm:m=16,n=16,k=16", "gemm:m=8,n=24,k=8"][:rows]
    assert [each["workload"] for each in objects] == workloads
    assert (summary["workloads"], summary["ok"]) == (rows, rows)


def test_of_a_network_plan_has_one_object_per_node_and_simulate_one_in_all(
    pantile: Pantile, mlp: str
) -> None:
    *plans, _ = pantile("plan", mlp, "-m", "systolic-ws-8x8", "--json").json
    assert [each["node"] for each in plans] == ["up", "relu", "down"]
    assert [each["feasible"] for each in plans] == [True, None, True]
    assert plans[1]["outside"] == "Relu is no product"
    run = pantile("simulate", mlp, "-m", "systolic-ws-8x8", "--json").object
    assert run["workload"] == mlp
    assert [each["node"] for each in run["per_layer"]] == ["up", "down"]


@pytest.mark.parametrize("verb", ["lower", "check"])
def test_nodes_without_a_program_are_named_in_the_summary(verb: str, pantile: Pantile, mlp: str) -> None:
    *objects, summary = pantile(verb, mlp, "-m", "systolic-ws-8x8", "--json").json
    assert [each["workload"] for each in objects] == [f"{mlp}#up", f"{mlp}#down"]
    text = "1 node (relu), 0.0% of the known MACs: Relu is no product"
    assert summary["notes"] == [{"code": "outside", "text": text}]


def test_terms_sum_to_the_total_of_the_run_every_core_and_every_layer(pantile: Pantile, mlp: str) -> None:
    run = pantile("simulate", mlp, "-m", "systolic-ws-8x8", "--json").object
    total = run["total_cycles"]
    assert sum(run["terms"].values()) == total
    assert all(sum(core["terms"].values()) == total for core in run["per_core"])
    assert all(sum(layer["terms"].values()) == layer["cycles"] for layer in run["per_layer"])
    assert sum(layer["cycles"] for layer in run["per_layer"]) == total
    assert run["terms"][run["bound_by"]] == max(run["terms"].values())
    assert max(run["lower_bounds"].values()) <= total


def test_operations_beyond_the_limit_are_left_out_and_it_says_so(pantile: Pantile) -> None:
    workload = "gemm:m=512,n=1024,k=512"
    done = pantile("lower", workload, "-m", "systolic-ws-8x8", "--json")
    assert done.object["operations"] is None
    count = done.object["operation_count"]
    assert done.err == f"{workload}: {count} operations left out; choose some with --window A:B\n"
    some = pantile("lower", workload, "-m", "systolic-ws-8x8", "--json", "--window", "3:5").object
    assert [each["index"] for each in some["operations"]] == [3, 4]


def test_json_is_plain_ascii(pantile: Pantile) -> None:
    assert pantile("plan", SEED, "-m", "systolic-ws-8x8", "--json").out.isascii()
