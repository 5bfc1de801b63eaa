"""ONNX models for the tests, built by onnx itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest
from onnx import ModelProto, TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import NodeProto

Dims = "Sequence[int | str | None] | None"


class BuildModel(Protocol):
    def __call__(
        self,
        nodes: Sequence[NodeProto],
        inputs: Mapping[str, Any],
        outputs: Sequence[str],
        weights: Mapping[str, Sequence[int]] = ...,
        **options: Any,
    ) -> ModelProto: ...


@pytest.fixture
def build() -> BuildModel:
    """A function that builds a model: nodes, shapes of inputs, names of outputs, shapes of float weights."""

    def build_model(
        nodes: Sequence[NodeProto],
        inputs: Mapping[str, Any],
        outputs: Sequence[str],
        weights: Mapping[str, Sequence[int]] | None = None,
        **options: Any,
    ) -> ModelProto:
        initializers = []
        for name, dims in (weights or {}).items():
            size = 1
            for dim in dims:
                size *= dim
            initializers.append(
                helper.make_tensor(name, TensorProto.FLOAT, dims, b"\0" * (4 * size), raw=True)
            )
        graph = helper.make_graph(
            nodes,
            "test",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            initializers,
            value_info=options.get("value_info", []),
        )
        graph.initializer.extend(options.get("initializers", []))
        opsets = [
            helper.make_opsetid(domain, version) for domain, version in options.get("opsets", [("", 17)])
        ]
        return helper.make_model(graph, opset_imports=opsets, functions=options.get("functions", []))

    return build_model


@pytest.fixture
def save(tmp_path: Path) -> Any:
    """A function that writes a model to ``net.onnx`` and returns the path."""

    def save_model(model: ModelProto) -> str:
        path = tmp_path / "net.onnx"
        path.write_bytes(model.SerializeToString())
        return str(path)

    return save_model
