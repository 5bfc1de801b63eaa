"""The demonstration: where every cycle of two real networks' products goes on a systolic NPU.

Run it with ``make demo``. It simulates a BERT-base encoder layer (projections and MLP, sequence 128) and
the ResNet-50 that ships inside the ``onnx`` package, cycle by cycle, prints a table per layer, and writes
a page on which to step through the first product and a trace for ui.perfetto.dev.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import onnx
from onnx import TensorProto, helper

import pantile

MACHINE = "systolic-ws-128x128-c4"
OUT = Path("out")
HIDDEN, INNER, SEQUENCE = 768, 3072, 128
RESNET = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"


def declared(name: str, shape: tuple[int, int]) -> onnx.TensorProto:
    """Return a weight whose values lie in a file that is not there: no timing depends on them."""
    weight = onnx.TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=shape)
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="weights-left-out.bin")
    return weight


def bert_layer() -> onnx.ModelProto:
    """Return the products of one BERT-base encoder layer; attention itself is left out."""
    products = {  # what each reads, and its weight
        "query": ("hidden", (HIDDEN, HIDDEN)),
        "key": ("hidden", (HIDDEN, HIDDEN)),
        "value": ("hidden", (HIDDEN, HIDDEN)),
        "attention_output": ("value_out", (HIDDEN, HIDDEN)),
        "intermediate": ("attention_output_out", (HIDDEN, INNER)),
        "output": ("intermediate_out", (INNER, HIDDEN)),
    }
    nodes = [
        helper.make_node("MatMul", [source, f"{name}_weight"], [f"{name}_out"], name=name)
        for name, (source, _) in products.items()
    ]
    weights = [declared(f"{name}_weight", shape) for name, (_, shape) in products.items()]
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT16, ["sequence", HIDDEN])
    results = [helper.make_tensor_value_info("output_out", TensorProto.FLOAT16, ["sequence", HIDDEN])]
    graph = helper.make_graph(nodes, "bert-base-layer", [hidden], results, initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def main() -> None:
    """Run the demonstration."""
    OUT.mkdir(exist_ok=True)
    bert = OUT / "bert-base-layer.onnx"
    bert.write_bytes(bert_layer().SerializeToString())

    started = time.perf_counter()
    compiling = []
    # Large enough for the compiled form; what it computes does not matter here.
    pantile.simulate("gemm:m=512,n=512,k=512", "systolic-ws-8x8", on_compile=lambda: compiling.append(True))
    compiled = time.perf_counter()
    print(f"compilation: {compiled - started:.1f} s" + ("" if compiling else " (found compiled)"))

    for workload, dims in ((bert, {"sequence": SEQUENCE}), (RESNET, {})):
        run = pantile.simulate(workload, MACHINE, dims=dims)
        print(f"\n{run}")
        reports = pantile.check(workload, MACHINE, dims=dims)
        errors = sum(not report.ok for report in reports)
        warned = sum(bool(report.report.findings) for report in reports)
        print(f"  checked {len(reports)} programs: {errors} wrong, {warned} that another timing could break")

    page, trace = OUT / "bert-query.html", OUT / "bert-base-layer.perfetto-trace"
    pantile.view(f"{bert}#query", MACHINE, page, dims={"sequence": SEQUENCE})
    pantile.simulate(bert, MACHINE, dims={"sequence": SEQUENCE}, trace=trace)
    print(f"\npage:  {page}  (open it in a browser)")
    print(f"trace: {trace}  (open it at ui.perfetto.dev)")
    print(f"demonstration: {time.perf_counter() - compiled:.1f} s after compilation")


if __name__ == "__main__":
    sys.exit(main())
