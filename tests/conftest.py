"""Machines and networks as files, for the tests of the verbs and of the command line."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

# The suite decides by the code alone: the same examples every time, however slow the machine.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


A8: dict[str, Any] = {
    "num_cores": 1,
    "core_freq": 1000,
    "core_width": 8,
    "core_height": 8,
    "spad_size": 64,
    "accum_spad_size": 16,
    "dram_type": "simple",
    "dram_freq": 400,
    "dram_channels": 2,
    "dram_req_size": 32,
    "dram_latency": 10,
    "icnt_type": "simple",
    "icnt_latency": 1,
    "icnt_freq": 2000,
    "icnt_injection_ports_per_core": 1,
    "precision": 1,
    "layout": "NHWC",
    "scheduler": "simple",
}
"""Configuration A8 of onnxim-model.md section 14, with the keys of a core beside the others."""
PER_CORE = (
    "core_type",
    "core_width",
    "core_height",
    "spad_size",
    "accum_spad_size",
    "sram_width",
    "vector_process_bit",
)


@pytest.fixture(scope="session")
def mutation() -> ModuleType:
    """The module ``mutation.py`` beside this file: mutants of any program, graded."""
    spec = importlib.util.spec_from_file_location("mutation", Path(__file__).with_name("mutation.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutation"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


class WriteMachine(Protocol):
    def __call__(self, name: str = ..., **changes: Any) -> str: ...


class WriteOnnx(Protocol):
    def __call__(
        self,
        nodes: Sequence[tuple[Any, ...]],
        inputs: Mapping[str, Sequence[int | str]],
        weights: Mapping[str, Sequence[int]] = ...,
        name: str = ...,
    ) -> str: ...


@pytest.fixture
def machine_file(tmp_path: Path) -> WriteMachine:
    """Writes an ONNXim configuration: A8 with changes, the same for all cores; returns its path."""

    def write(name: str = "machine.json", **changes: Any) -> str:
        flat = A8 | {"core_type": "systolic_ws"} | changes
        core = {key: flat.pop(key) for key in PER_CORE if key in flat}
        flat["core_config"] = {f"core_{at}": core for at in range(flat["num_cores"])}
        path = tmp_path / name
        path.write_text(json.dumps(flat))
        return str(path)

    return write


@pytest.fixture
def onnx_file(tmp_path: Path) -> WriteOnnx:
    """Writes a model of nodes (operator, name, inputs, output[, attributes]); returns its path."""
    from onnx import TensorProto, helper, save

    def write(
        nodes: Sequence[tuple[Any, ...]],
        inputs: Mapping[str, Sequence[int | str]],
        weights: Mapping[str, Sequence[int]] | None = None,
        name: str = "net.onnx",
    ) -> str:
        made = [
            helper.make_node(operator, operands, [output], name=node, **(more[0] if more else {}))
            for operator, node, operands, output, *more in nodes
        ]
        held = []
        for weight, dims in (weights or {}).items():
            # Values do not matter, so there are none.
            location = TensorProto.EXTERNAL
            tensor = TensorProto(name=weight, data_type=TensorProto.FLOAT, dims=dims, data_location=location)
            tensor.external_data.add(key="location", value="left-out.bin")
            held.append(tensor)
        infos = [helper.make_tensor_value_info(key, TensorProto.FLOAT, dims) for key, dims in inputs.items()]
        result = helper.make_tensor_value_info(nodes[-1][3], TensorProto.FLOAT, None)
        graph = helper.make_graph(made, "test", infos, [result], held)
        path = tmp_path / name
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
        return str(path)

    return write


@pytest.fixture
def mlp(onnx_file: WriteOnnx) -> str:
    """A network of two products with a Relu between: 16x32 @ 32x24, then 16x24 @ 24x16."""
    return onnx_file(
        [
            ("MatMul", "up", ["x", "w0"], "h"),
            ("Relu", "relu", ["h"], "r"),
            ("MatMul", "down", ["r", "w1"], "y"),
        ],
        {"x": [16, 32]},
        {"w0": [32, 24], "w1": [24, 16]},
        name="mlp.onnx",
    )
