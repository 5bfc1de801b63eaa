"""Tables of what ONNXim's automatic mappers find: every row is mapped again.

A row that holds a text in place of outer counts is an input on which the mapper itself fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.conform.compare import KNOWN, Comparison, Difference, compare
from pantile.conform.faults import defect
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import PantileError
from pantile.planners.onnxim.conv import conv_mapping
from pantile.planners.onnxim.gemm import gemm_mapping
from pantile.tiling.log import DecisionLog
from pantile.tiling.onnxim import LoopCounts

if TYPE_CHECKING:
    from pantile.tiling.onnxim import Mapping

_HARDWARE = (
    "id",
    "num_cores",
    "core_height=core_width",
    "spad_size_KiB",
    "accum_spad_size_KiB",
    "precision_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapperFigures:
    """A machine as far as a table states it; see :class:`~pantile.planners.onnxim.capacity.SystolicFigures`.

    Attributes:
        cores: Number of cores, which are all alike.
        heights: Rows of each array; *widths* its columns.
        scratchpad_bytes: Of each core, both halves; likewise *accumulator_bytes*.
        precision: Bytes per element.
        request_bytes: The mappers do not read it, and the tables do not state it.
    """

    cores: int
    heights: tuple[int, ...]
    widths: tuple[int, ...]
    scratchpad_bytes: tuple[int, ...]
    accumulator_bytes: tuple[int, ...]
    precision: int
    request_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Table:
    """One of a file's tables.

    Attributes:
        key: Its key in the file.
        columns: What its columns must be.
        letters: Order of the counts in its outer and inner columns.
        run: Return the mapping of a row's figures on a machine.
    """

    key: str
    columns: tuple[str, ...]
    letters: str
    run: Callable[[list[Any], MapperFigures], Mapping | None]

    @property
    def inputs(self) -> int:
        """Columns before outer and inner."""
        return len(self.columns) - 2


def _map_gemm(row: list[Any], machine: MapperFigures) -> Mapping | None:
    n, c, m = row[1:4]
    return gemm_mapping(LoopCounts(N=n, C=c, M=m), machine, DecisionLog())


def _map_conv(row: list[Any], machine: MapperFigures) -> Mapping | None:
    n, c, m, kernel, size, stride, padding = row[2:9]
    total = LoopCounts(N=n, C=c, M=m, S=kernel, R=kernel, Q=size, P=size)
    if kernel == size == 1:
        return gemm_mapping(total, machine, DecisionLog())  # as ONNXim: no window, no picture
    return conv_mapping(total, stride, padding, machine, DecisionLog()).mapping


_TABLES = (
    _Table(
        "gemm",
        ("hw", "N", "C", "M", "outer[N,C,M] or failure", "inner[N,C,M]"),
        "NCM",
        _map_gemm,
    ),
    _Table(
        "conv",
        (
            "hw",
            "layer",
            "N(batch)",
            "C",
            "M",
            "S=R kernel",
            "P=Q output size",
            "stride",
            "padding",
            "outer[N,C,M,P,Q,S,R] or failure",
            "inner[N,C,M,P,Q,S,R]",
        ),
        "NCMPQSR",
        _map_conv,
    ),
)


def mapping_outcomes(value: dict[str, Any]) -> list[CaseOutcome]:
    """Return one outcome per row, and one more for the file where it has keys of its own."""
    read = {"what", "source", "hw", "hw_columns"}
    for table in _TABLES:
        read |= {table.key, f"{table.key}_columns"}
    around = compare(value, dict.fromkeys(read, KNOWN)).unchecked
    outcomes = [CaseOutcome(case="", unchecked=around)] if around else []
    machines = _machines(value)
    if isinstance(machines, Difference):
        return [*outcomes, CaseOutcome(case="hw", difference=machines)]
    for table in _TABLES:
        if table.key in value:
            outcomes += _table_outcomes(value, table, machines)
    return outcomes


def _machines(value: dict[str, Any]) -> dict[str, MapperFigures] | Difference:
    """Return the table's machines by id, or what keeps them from being read."""
    if value["hw_columns"] != list(_HARDWARE):
        return Difference("hw_columns", list(_HARDWARE), value["hw_columns"], "columns of no known meaning")
    rows = value.get("hw")
    if not isinstance(rows, list):
        return Difference("hw", "a list of rows", rows)
    least = [0 if column.endswith("_KiB") else 1 for column in _HARDWARE[1:]]
    machines: dict[str, MapperFigures] = {}
    for at, row in enumerate(rows):
        if not (_is_row(row, len(_HARDWARE)) and isinstance(row[0], str) and _are_sizes(row[1:], least)):
            return Difference(f"hw[{at}]", "an id and five sizes", row)
        name, cores, side, spad, accumulator, precision = row
        machines[name] = MapperFigures(
            cores=cores,
            heights=(side,) * cores,
            widths=(side,) * cores,
            scratchpad_bytes=(spad * 1024,) * cores,
            accumulator_bytes=(accumulator * 1024,) * cores,
            precision=precision,
        )
    return machines


def _table_outcomes(
    value: dict[str, Any], table: _Table, machines: dict[str, MapperFigures]
) -> list[CaseOutcome]:
    columns, rows = value.get(f"{table.key}_columns"), value[table.key]
    if columns != list(table.columns):
        why = "columns of no known meaning"
        wrong = Difference(f"{table.key}_columns", list(table.columns), columns, why)
        return [CaseOutcome(case=table.key, difference=wrong)]
    if not isinstance(rows, list):
        return [CaseOutcome(case=table.key, difference=Difference(table.key, "a list of rows", rows))]
    return [_row_outcome(table, at, row, machines) for at, row in enumerate(rows)]


def _row_outcome(table: _Table, at: int, row: Any, machines: dict[str, MapperFigures]) -> CaseOutcome:
    field = f"{table.key}[{at}]"
    if wrong := _wrong_row(table, field, row, machines):
        return CaseOutcome(case=field, difference=wrong)
    case = f"{field} {'x'.join(map(str, row[: table.inputs]))}"
    outer = row[table.inputs]
    try:
        mapping = table.run(row, machines[row[0]])
    except PantileError as error:
        refused = None if isinstance(outer, str) else Difference(f"{field}.outer", outer, str(error))
        return judged(case, Comparison(1, refused))
    except Exception as error:  # a crash on one row must not hide the others
        return CaseOutcome(case=case, difference=defect(error, f"{field}.outer", outer))
    if mapping is None or isinstance(outer, str):
        got = "no mapping" if mapping is None else f"a mapping, {mapping}"
        same = mapping is None and isinstance(outer, str)
        return judged(case, Comparison(1, None if same else Difference(f"{field}.outer", outer, got)))
    recorded = dict(zip(("outer", "inner"), row[table.inputs :], strict=True))
    computed = {
        name: [counts[letter] for letter in table.letters]
        for name, counts in (("outer", mapping.outer), ("inner", mapping.inner))
    }
    return judged(case, compare(recorded, computed, field))


def _wrong_row(table: _Table, field: str, row: Any, machines: dict[str, MapperFigures]) -> Difference | None:
    """Return what keeps a row from being read."""
    width = len(table.columns)
    fails = isinstance(row, list) and len(row) == width - 1 and isinstance(row[-1], str)
    if not fails and not _is_row(row, width):
        return Difference(field, f"a row of {width} values", row)
    if row[0] not in machines:
        return Difference(f"{field}.hw", f"one of {', '.join(machines)}", row[0])
    texts = 2 if table.key == "conv" else 1  # the machine's id, and the layer's name
    sizes = row[texts : table.inputs]
    least = [0 if column == "padding" else 1 for column in table.columns[texts : table.inputs]]
    if not _are_sizes(sizes, least):
        return Difference(field, "sizes of at least 1", sizes)
    return None


def _is_row(row: Any, width: int) -> bool:
    return isinstance(row, list) and len(row) == width


def _are_sizes(values: list[Any], least: list[int]) -> bool:
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return whole and all(value >= low for value, low in zip(values, least, strict=True))
