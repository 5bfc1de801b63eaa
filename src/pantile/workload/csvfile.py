"""Tables of products: one product a row, one column a letter or an option."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pantile.errors import PantileError, Place, WorkloadError, raise_all, suggestion
from pantile.workload.dtypes import DTYPES, dtype
from pantile.workload.matmul import Matmul
from pantile.workload.sizes import parse_size, quoted
from pantile.workload.sourcefile import read_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.workload.dtypes import Dtype

T = TypeVar("T")

COLUMNS = ("b", "m", "n", "k", "dtype", "ta", "tb", "bias", "name")
"""Every column that a table may have, in any order."""

_REQUIRED = ("m", "n", "k")
_TRUTH = {"": False, "0": False, "false": False, "1": True, "true": True}


def read_csv(path: str) -> tuple[Matmul, ...]:
    """Return the product of every row of the table at *path*, in file order.

    Raises:
        WorkloadError: If the file is no such table or one cell has a problem; a place is
            ``file:line:column`` with the column counted in cells from 1.
        ManyProblems: If several cells have one.
    """
    return tuple(matmul for _, matmul in read_csv_rows(path))


def read_csv_rows(path: str) -> tuple[tuple[int, Matmul], ...]:
    """Return what :func:`read_csv` does, each product after the line its row begins on.

    Columns are those of :data:`COLUMNS`; m, n and k must be there. An empty cell of an optional column
    leaves the option out, and so does a batch of 1. Rows without any text are skipped.

    Raises:
        WorkloadError: As :func:`read_csv` does.
        ManyProblems: As :func:`read_csv` does.
    """
    products, problems = check_csv_rows(path)
    raise_all(problems)
    return products


def check_csv_rows(path: str) -> tuple[tuple[tuple[int, Matmul], ...], list[PantileError]]:
    """Return the good rows as :func:`read_csv_rows` does, and the problems of the others.

    Raises:
        WorkloadError: If the file is no table at all.
        ManyProblems: If its header has several problems.
    """
    records = _records(_text(path), path)
    if not records:
        raise WorkloadError("the file is empty", place=Place(path), mend=f"begin it with {','.join(COLUMNS)}")
    (header_line, header), *rows = records
    _check_header(header, Place(path, header_line))
    if not rows:
        raise WorkloadError(
            "the table has no rows", place=Place(path, header_line), mend="add a row such as 32,32,64"
        )
    problems: list[PantileError] = []
    products: list[tuple[int, Matmul]] = []
    for line, cells in rows:
        row = _Row(path, line, header, cells)
        matmul = row.matmul()
        problems.extend(row.problems)
        if matmul:
            products.append((line, matmul))
    return tuple(products), problems


def _text(path: str) -> str:
    content = read_source(path)
    mend = "save the table as UTF-8 text"
    if b"\0" in content:
        place = Place(path, _line_of(content, content.index(b"\0")))
        raise WorkloadError("expected text, got a NUL byte", place=place, mend=mend)
    try:
        return content.decode("utf-8-sig")  # spreadsheets put a byte order mark first
    except UnicodeDecodeError as error:
        place = Place(path, _line_of(content, error.start))
        byte = content[error.start]
        raise WorkloadError(f"expected UTF-8, got the byte {byte:#04x}", place=place, mend=mend) from None


def _line_of(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def _records(text: str, path: str) -> list[tuple[int, list[str]]]:
    """Return the stripped cells of every row that has text, each with the line on which it begins."""
    # Not strict, an open quote would swallow the rest of the file without a word.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records = []
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                records.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        mend = "close every quote, and write a quote inside a quoted cell twice"
        raise WorkloadError(
            f"not comma-separated cells: {error}", place=Place(path, line), mend=mend
        ) from None
    return records


def _check_header(header: list[str], place: Place) -> None:
    mend = f"begin the file with a header such as {','.join(COLUMNS)}"
    if not any(name in COLUMNS for name in header):
        if any(mark in header[0] for mark in ";\t"):
            mend = "separate cells by commas"
        problem = f"expected a header with m, n and k, got {quoted(','.join(header))}"
        raise WorkloadError(problem, place=place, mend=mend)
    problems: list[PantileError] = []
    for at, name in enumerate(header):
        cell = Place(place.path, place.line, at + 1)
        if name not in COLUMNS:
            near = suggestion(name.lower(), COLUMNS)
            problems.append(WorkloadError(f"unknown column {quoted(name)}", place=cell, mend=near))
        elif name in header[:at]:
            problems.append(WorkloadError(f"column {name} stands twice", place=cell))
    missing = [name for name in _REQUIRED if name not in header]
    if missing and not problems:
        problems.append(WorkloadError(f"the header lacks {', '.join(missing)}", place=place, mend=mend))
    raise_all(problems)


@dataclass(slots=True)
class _Row:
    """The cells of one row, and every problem met so far."""

    path: str
    line: int
    header: list[str]
    cells: list[str]
    problems: list[PantileError] = field(default_factory=list)

    def matmul(self) -> Matmul | None:
        """Return the product of the row, or ``None`` after keeping its problems."""
        if len(self.cells) != len(self.header):
            problem = f"expected {len(self.header)} cells, got {len(self.cells)}"
            self.problems.append(WorkloadError(problem, place=Place(self.path, self.line)))
            return None
        batch = self._size("b") if self._cell("b") else 1
        m, n, k = self._size("m"), self._size("n"), self._size("k")
        element = self._read("dtype", lambda text: dtype(text) if text else None, None)
        transpose_a = self._read("ta", lambda text: _truth(text, "ta"), False)
        transpose_b = self._read("tb", lambda text: _truth(text, "tb"), False)
        bias = self._read("bias", _bias, None)
        if self.problems:
            self.problems.sort(key=lambda problem: problem.place.column if problem.place else 0)
            return None
        return Matmul(
            m=m,
            n=n,
            k=k,
            a_batch=(batch,) if batch > 1 else (),
            b_batch=(batch,) if batch > 1 else (),
            dtype=element,
            bias=bias,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            name=self._cell("name"),
        )

    def _cell(self, name: str) -> str:
        return self.cells[self.header.index(name)] if name in self.header else ""

    def _read(self, name: str, reader: Callable[[str], T], otherwise: T) -> T:
        """Return what *reader* makes of a cell, or *otherwise* after keeping its problem."""
        try:
            return reader(self._cell(name))
        except WorkloadError as error:
            place = Place(self.path, self.line, self.header.index(name) + 1)
            self.problems.append(WorkloadError(error.problem, place=place, mend=error.mend))
            return otherwise

    def _size(self, name: str) -> int:
        # Batched products may be over nothing, as in bmm:; see workload/text.py.
        least = 0 if name == "k" and self._cell("b") else 1
        return self._read(name, lambda text: parse_size(text, name, least=least), 1)


def _truth(text: str, name: str) -> bool:
    truth = _TRUTH.get(text.lower())
    if truth is None:
        raise WorkloadError(f"{name} must be 0, 1, false, true or empty, got {quoted(text)}")
    return truth


def _bias(text: str) -> Dtype | str | None:
    truth = _TRUTH.get(text.lower())
    if truth is not None:
        return "default" if truth else None
    try:
        return dtype(text)
    except WorkloadError:
        raise WorkloadError(
            f"bias must be 0, 1, false, true, empty or a dtype, got {quoted(text)}",
            mend=suggestion(text.lower(), DTYPES),
        ) from None
