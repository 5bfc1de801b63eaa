"""The inputs of ONNXim's case files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from pantile.conform.case_inputs import CaseInputs, Size

Shape = Annotated[list[Size], Field(min_length=2)]


class MappingInput(CaseInputs):
    """How a layer was mapped; only the line of the mapping file, if there was one, is an input."""

    line: str | None = None


class LayerInput(CaseInputs):
    """One node of the graph.

    Attributes:
        node: The ONNX operator.
        weight_shape: Dims of its weight as stored.
        has_bias: Whether it has a bias input.
        transposes_a: Attribute transA.
        transposes_b: Attribute transB.
        mapping: Its line of the mapping file.
    """

    node: str
    weight_shape: Shape
    has_bias: bool = False
    transposes_a: bool = Field(default=False, alias="transA")
    transposes_b: bool = Field(default=False, alias="transB")
    mapping: MappingInput = MappingInput()


class RunInputs(CaseInputs):
    """What ONNXim was given.

    Attributes:
        config: Its configuration.
        input_shape: Dims of the graph's only input.
        topology: ``chain``: a layer reads the one before it; ``parallel``: all read the graph's input.
        layers: The nodes, in file order.
    """

    config: dict[str, Any]
    input_shape: Shape
    topology: Literal["chain", "parallel"] = "chain"
    layers: Annotated[list[LayerInput], Field(min_length=1)]


class FailureInput(CaseInputs):
    """One input that ONNXim does not come through.

    Attributes:
        config: The configuration.
        gemm: Rows N, reduction C and columns M of the product.
        mapping: Lines of the mapping file, or ``None`` for the automatic mapping.
        input_shape: Dims of the activation, where they are not N x C.
        transposes_a: Attribute transA.
        transposes_b: Attribute transB.
    """

    config: dict[str, Any]
    gemm: Annotated[list[Size], Field(min_length=3, max_length=3)]
    mapping: str | None = None
    input_shape: Shape | None = None
    transposes_a: bool = Field(default=False, alias="transA")
    transposes_b: bool = Field(default=False, alias="transB")

    def as_run(self) -> RunInputs:
        """Return the run of one product without bias that it stands for."""
        rows, reduction, columns = self.gemm
        transposes = self.transposes_a or self.transposes_b  # MatMul has no such attributes
        activation = [reduction, rows] if self.transposes_a else [rows, reduction]
        layer = {
            "node": "Gemm" if transposes else "MatMul",
            "weight_shape": [columns, reduction] if self.transposes_b else [reduction, columns],
            "transA": self.transposes_a,
            "transB": self.transposes_b,
            "mapping": {"line": self.mapping},
        }
        return RunInputs.model_validate(
            {"config": self.config, "input_shape": self.input_shape or activation, "layers": [layer]}
        )
