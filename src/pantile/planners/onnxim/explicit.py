"""Explicit mappings: whether every output comes out exactly once.

Source: onnxim-model.md section 4, quirks Q4 to Q8. ``fixed`` refuses what loses or repeats work, with the
token and the amount; ``faithful`` refuses what hangs the original and notes the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.errors import MappingError, PantileError, raise_all
from pantile.planners.onnxim.coverage import ROLES, AxisCut, ceil_div, convolution_axes, gemm_axes, round_up
from pantile.planners.onnxim.stops import MapperStop

if TYPE_CHECKING:
    from pantile.planners.onnxim.capacity import SystolicFigures
    from pantile.planners.onnxim.layer import Layer
    from pantile.tiling.log import DecisionLog
    from pantile.tiling.onnxim import Mapping, Semantics


def check_explicit(
    mapping: Mapping, layer: Layer, machine: SystolicFigures, semantics: Semantics, log: DecisionLog
) -> None:
    """Check one explicit mapping; what the semantics let pass is noted.

    Convolutions are judged alike under both semantics, for their model is Pantile's own.

    Raises:
        MappingError: If it hangs the original, or under ``fixed`` if it loses or repeats work; several
            problems together.
    """
    _refuse_zeros(mapping, layer)
    is_conv = layer.kind == "conv"
    side = machine.widths[0] if is_conv else machine.heights[0]
    axes = convolution_axes(mapping, side) if is_conv else gemm_axes(mapping, side)
    _log_axes(axes, log)
    for remark in mapping.remarks:
        log.note("Q20", remark)
    if semantics == "faithful":
        _refuse_hangs(mapping, axes["N"], is_conv=is_conv)
    problems: list[PantileError] = []
    for letter, axis in axes.items():
        for quirk, section, problem, mend in _wrongs(letter, axis, layer):
            if semantics == "faithful" and not is_conv:
                log.note(quirk, problem)
            else:
                text = f"{problem} ({quirk})"
                problems.append(MappingError(text, place=mapping.at(section, letter), mend=mend))
    raise_all(problems)
    for letter, axis in axes.items():
        if axis.surplus and letter not in "CSR":
            ending = "; ONNXim never ends on them" if letter == "N" and not is_conv else ""
            empty = f"{axis.surplus} of {axis.outer} tiles along {letter} are empty and dropped"
            log.note("Q4" if letter == "N" else "Q5", f"{empty}, the core counter advances{ending}")


def _refuse_zeros(mapping: Mapping, layer: Layer) -> None:
    letters = "NCM" if layer.kind == "gemm" else "NCMSRQP"
    raise_all(
        [
            MapperStop(
                "Q4b",
                f"[{section}] {letter}0 leaves a layer without work, on which ONNXim never ends",
                place=mapping.at(section, letter),
                mend=f"give {letter} at least 1",
            )
            for section, counts in (("O", mapping.outer), ("I", mapping.inner))
            for letter in letters
            if counts[letter] < 1
        ]
    )


def _refuse_hangs(mapping: Mapping, rows: AxisCut, *, is_conv: bool) -> None:
    if is_conv and mapping.inner.C == 1:
        raise MapperStop("CV5", "inner C = 1 aborts ONNXim", place=mapping.at("I", "C"))
    if not is_conv and rows.surplus:
        raise MapperStop(
            "Q4",
            f"[O] N{rows.outer} of [I] N{rows.inner} goes past {rows.total} rows, "
            "and ONNXim never ends on a tile without rows",
            place=mapping.at("O", "N"),
            mend=f"lower [O] N to {rows.tiles}, or use --semantics fixed",
        )


def _log_axes(axes: dict[str, AxisCut], log: DecisionLog) -> None:
    log.stage = "explicit"
    for letter, axis in axes.items():
        log.add(
            f"covered {letter}",
            axis.covered,
            "min(T, (tiles - 1) · I + reach of the last tile)",
            {"T": axis.total, "O": axis.outer, "I": axis.inner, "tiles": axis.tiles, "reach": axis.reach},
        )  # fmt: skip


def _wrongs(letter: str, axis: AxisCut, layer: Layer) -> list[tuple[str, str, str, str]]:
    """Return quirk, section, problem and mend of everything that is lost or repeated along one loop."""
    found = []
    per_element = layer.macs // axis.total
    outputs = layer.batch * layer.total.N * layer.total.M * layer.total.Q * layer.total.P
    enough = ceil_div(axis.total, axis.inner)
    if axis.lost:
        lost = f"{axis.lost * per_element} of {layer.macs} MACs are lost"
        if letter == "C" and layer.kind == "gemm":
            lost += f", and none of {outputs} outputs is stored"
        problem = (
            f"[O] {letter}{axis.outer} of [I] {letter}{axis.inner} covers {axis.covered} of {axis.total} "
            f"{ROLES[letter]}: {lost}"
        )
        found.append(("Q7", "O", problem, f"raise [O] {letter} to {enough}"))
    if axis.repeated:
        whole = round_up(axis.inner, axis.side)
        problem = (
            f"[I] {letter}{axis.inner} is no multiple of {axis.side}, the array's rows, so tiles overlap: "
            f"{axis.repeated * per_element} MACs are repeated"
        )
        mend = f"write [I] {letter}{whole} and [O] {letter}{ceil_div(axis.total, whole)}"
        found.append(("Q8", "I", problem, mend))
    if axis.surplus and letter in "CSR":
        start = (
            f"[O] {letter}{axis.outer} of [I] {letter}{axis.inner} goes past {axis.total} {ROLES[letter]}: "
        )
        if layer.kind == "gemm":
            stored = f"each of {outputs} outputs is stored {axis.final_stages} times"
            found.append(("Q6", "O", start + stored, f"lower [O] {letter} to {enough}"))
        else:
            found.append(
                (
                    "CV15",
                    "O",
                    start + "ONNXim's last tile is empty and nothing is stored",
                    f"lower [O] {letter} to {enough}",
                )
            )
    return found
