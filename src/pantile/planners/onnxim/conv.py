"""ONNXim's automatic mapping of a convolution.

Source: onnxim-model.md section 3.2, onnxim-conv.md C2. The mapper shrinks the whole layer until it fits a
budget of rows, then grows it again. It does not look at the number of cores (CV10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pantile.planners.onnxim.capacity import ACCUMULATOR_ELEMENT_BYTES, BUFFERS, Overflow
from pantile.planners.onnxim.coverage import CONVOLUTION_ORDER, ceil_div
from pantile.planners.onnxim.fixed import Cut, Outcome, automatic_gemm, cut_until_it_fits
from pantile.planners.onnxim.gemm import gemm_mapping, memory_rows, square_side
from pantile.planners.onnxim.stops import MapperStop
from pantile.tiling.onnxim import LoopCounts, Mapping

if TYPE_CHECKING:
    from pantile.planners.onnxim.capacity import SystolicFigures
    from pantile.planners.onnxim.fixed import Fits
    from pantile.tiling.log import DecisionLog
    from pantile.tiling.onnxim import Semantics
    from pantile.workload.convolution import Convolution

ARGUMENTS = ("batch", "orows", "ocols", "och", "krow", "kcol", "kch")
"""The mapper's arguments; orows runs over P and ocols over Q."""
_BATCH, _OROWS, _OCOLS, _OCH, _KROW, _KCOL, _KCH = range(7)
_CHANNELS = (_OCH, _KCH)


@dataclass(frozen=True, slots=True)
class RowBudget:
    """What the mapper compares a candidate with.

    Attributes:
        side: Side of the array.
        spad_rows: Rows of a scratchpad half.
        acc_rows: Rows of an accumulator half.
        stride: Stride of the window along its rows.
        padding: Padding above the picture.
        downsampled: Whether input rows and columns count half (stride 2, 1x1, no padding).
        precision: Bytes per element.
        half_bytes: Bytes of a scratchpad half.
    """

    side: int
    spad_rows: int
    acc_rows: int
    stride: int
    padding: int
    downsampled: bool
    precision: int
    half_bytes: int

    def rows(self, a: list[int]) -> tuple[int, int]:
        """Return scratchpad and accumulator rows that a candidate takes."""
        shift = int(self.downsampled)
        input_rows = (a[_OROWS] * self.stride + a[_KROW] - 1) >> shift
        input_columns = (a[_OCOLS] * self.stride + a[_KCOL] - 1) >> shift
        out_groups = ceil_div(a[_OCH], self.side)
        activations = ceil_div(a[_KCH], self.side) * a[_BATCH] * input_rows * input_columns
        weights = out_groups * a[_KCOL] * a[_KROW] * a[_KCH]
        return activations + weights, out_groups * a[_BATCH] * a[_OROWS] * a[_OCOLS]

    def holds(self, a: list[int]) -> bool:
        """Whether a candidate's rows fit."""
        spad, acc = self.rows(a)
        return spad <= self.spad_rows and acc <= self.acc_rows

    def overflow(self, a: list[int]) -> Overflow:
        """Return by how much a candidate that does not fit exceeds a half, in bytes."""
        spad, acc = self.rows(a)
        if spad > self.spad_rows:
            row = self.side * self.precision
            return Overflow("scratchpad", spad * row, self.spad_rows * row)
        row = self.side * ACCUMULATOR_ELEMENT_BYTES
        return Overflow("accumulator", acc * row, self.acc_rows * row)

    def bytes_fit(self, a: list[int]) -> bool:
        """Whether one and a half times a candidate's operands fit a scratchpad half."""
        weights = a[_BATCH] * a[_OCH] * a[_KROW] * a[_KCOL] * a[_KCH]
        rows, columns = a[_OROWS] + 2 * self.padding, a[_OCOLS] + 2 * self.padding
        operands = (weights + a[_BATCH] * rows * columns * a[_KCH]) * self.precision
        return 3 * operands // 2 <= self.half_bytes


def conv_mapping(
    total: LoopCounts, stride: int, padding: int, machine: SystolicFigures, log: DecisionLog
) -> Outcome:
    """Return the mapping that ONNXim finds for a convolution with P = Q and S = R.

    Raises:
        MapperStop: If the array is not square (Q19).
    """
    side = square_side(machine, total)
    spad_rows, acc_rows = memory_rows(machine, side, log)
    budget = RowBudget(
        side, spad_rows, acc_rows, stride, padding,
        downsampled=stride == 2 and total.S == 1 and padding == 0,
        precision=machine.precision, half_bytes=machine.scratchpad_bytes[0] // BUFFERS,
    )  # fmt: skip
    limits = [1, total.P, total.P, total.M, total.S, total.S, total.C]
    log.stage = "convolution"
    shrunk = _shrink(list(limits), budget, log)
    if not budget.holds(shrunk):
        return Outcome(overflow=budget.overflow(shrunk))
    widened = _widen(shrunk, limits, budget, log)
    batch, orows, ocols, och, krow, kcol, kch = _grow(widened, limits, budget, log)
    inner = LoopCounts(N=batch, C=kch, M=och, S=krow, R=kcol, Q=ocols, P=orows)
    outer = LoopCounts(**{letter: ceil_div(count, inner[letter]) for letter, count in total.items()})
    return Outcome(Mapping(total, outer, inner))


def _log(name: str, a: list[int], budget: RowBudget, formula: str, log: DecisionLog) -> None:
    spad, acc = budget.rows(a)
    log.add(
        name, dict(zip(ARGUMENTS, a, strict=True)), formula,
        {"spad_rows": spad, "max_spad_rows": budget.spad_rows,
         "acc_rows": acc, "max_acc_rows": budget.acc_rows},
    )  # fmt: skip


def _shrink(a: list[int], budget: RowBudget, log: DecisionLog) -> list[int]:
    """Take the largest argument down until the rows fit; columns stay while they fill the array.

    Where even ones do not fit, ones are returned.
    """
    _log("whole layer", a, budget, "the whole layer, one picture", log)
    while not budget.holds(a):
        columns_stay = a[_OCOLS] <= budget.side and a[_OROWS] > 1
        largest = max((i for i in range(7) if not (i == _OCOLS and columns_stay)), key=lambda i: a[i])
        if a[largest] <= 1:
            break
        if largest in _CHANNELS:
            a[largest] = max(1, (a[largest] - 1) // budget.side * budget.side)
        else:
            a[largest] -= 1
    _log("shrunk", a, budget, "the largest argument less, until both row counts fit", log)
    return a


def _widen(a: list[int], limits: list[int], budget: RowBudget, log: DecisionLog) -> list[int]:
    """Grow the output columns while the rows fit."""
    while a[_OCOLS] < limits[_OCOLS]:
        wider = [*a]
        wider[_OCOLS] += 1
        if not budget.holds(wider):
            break
        a = wider
    _log("widened", a, budget, "ocols + 1 while both row counts fit", log)
    return a


def _grow(a: list[int], limits: list[int], budget: RowBudget, log: DecisionLog) -> list[int]:
    """Grow every argument in turn until none can; the byte test looks at the sizes before the growth."""
    grew = True
    while grew:
        grew = False
        for i in range(7):
            if a[i] < limits[i] and budget.bytes_fit(a):
                larger = [*a]
                larger[i] += 1
                if budget.holds(larger):
                    a, grew = larger, True
    _log("grown", a, budget, "each argument + 1 while rows fit and 1.5 · bytes <= S_spad / 2", log)
    return a


def automatic_convolution(
    total: LoopCounts,
    convolution: Convolution,
    machine: SystolicFigures,
    fits: Fits,
    log: DecisionLog,
    semantics: Semantics,
) -> Outcome:
    """Return the automatic mapping of a convolution.

    A tile that is too large is cut further under both semantics: the judgement is that of Pantile's own
    model, which reads whole windows and every weight (CV7, CV8 put right), so that it says nothing about
    whether ONNXim would come through.

    Raises:
        MapperStop: As :func:`automatic_gemm`; under ``faithful`` also where no candidate fits the
            mapper's rows.
    """
    if (total.S, total.R, total.Q, total.P) != (1, 1, 1, 1):
        outcome = conv_mapping(total, convolution.strides[0], convolution.pads[0], machine, log)
    elif semantics == "fixed":
        outcome = automatic_gemm(total, machine, fits, log, semantics)
    else:
        outcome = Outcome(gemm_mapping(total, machine, log))
    mapping = outcome.mapping
    if mapping is None:
        if semantics == "faithful":
            raise MapperStop("CV16", f"the mapper's smallest tile is too large: {outcome.overflow}")
        return outcome
    overflow = fits(mapping)
    if overflow is None:
        return outcome
    log.note("CV16", f"a tile {mapping.inner} is too large: {overflow}; it is cut further")
    log.stage = "fixed"
    side = machine.widths[0]
    cuts = {
        letter: Cut(total[letter], side if letter in "CM" else 1, mapping.outer[letter], padded=False)
        for letter in CONVOLUTION_ORDER
    }
    return cut_until_it_fits(total, cuts, fits, log)
