"""Any workload a user can name: a text, an ONNX file, a table."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from pantile.errors import PantileError, UsageError, WorkloadError, raise_all
from pantile.workload.csvfile import check_csv_rows, read_csv_rows
from pantile.workload.network import Network, network_of
from pantile.workload.onnxfile import NO_DIMS, read_onnx
from pantile.workload.sizes import parse_size, quoted
from pantile.workload.text import SCHEMES, parse_workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Workloads = tuple[Network, ...]
"""One network for a text or an ONNX file, one for every row of a table."""

_ONNX = re.compile(r"(?P<path>.*?\.onnx)(?:#(?P<node>.*))?", re.IGNORECASE | re.DOTALL)


def load_workload(workload: str | os.PathLike[str], *, dims: Mapping[str, int] = NO_DIMS) -> Workloads:
    """Return the networks that *workload* names.

    ``gemm:…`` and ``bmm:…`` are texts; ``FILE.onnx`` is a network, ``FILE.onnx#NODE`` one node of it, and
    ``FILE.csv`` a table with one product a row.

    Args:
        workload: The text or path.
        dims: Sizes of symbolic dimensions of an ONNX file.

    Raises:
        WorkloadError: If the text or file describes no workload, or there is no such file.
        UsageError: If *dims* are given for something else than an ONNX file.
        ManyProblems: If there are several problems.
    """
    if not isinstance(workload, str | os.PathLike):
        raise UsageError(f"expected the text or the path of a workload, got {workload!r}")
    text = os.fspath(workload)
    is_text = text.partition(":")[0].strip() in SCHEMES
    onnx_file = None if is_text else _ONNX.fullmatch(text)
    if onnx_file:
        return (read_onnx(onnx_file["path"], dims=dims, node=onnx_file["node"]),)
    if dims:
        raise UsageError(
            f"dimensions can be bound in an ONNX file only, got {', '.join(dims)} for {quoted(text)}",
            mend="leave --dim out",
        )
    if not is_text and PurePath(text).suffix.lower() == ".csv":
        return tuple(network_of(matmul, source=f"{text}:{line}") for line, matmul in read_csv_rows(text))
    return (network_of(parse_workload(text), source=text),)


def load_table(path: str) -> tuple[Workloads, list[PantileError]]:
    """Return one network for every good row of the table at *path*, and the problems of the others.

    Raises:
        WorkloadError: If the file is no table at all.
        ManyProblems: If its header has several problems.
    """
    rows, problems = check_csv_rows(path)
    return tuple(network_of(matmul, source=f"{path}:{line}") for line, matmul in rows), problems


def parse_dims(assignments: Iterable[str]) -> dict[str, int]:
    """Return the sizes in texts such as ``batch=8``, by name.

    Raises:
        WorkloadError: If a text is no assignment of a size, or a name is given twice.
        ManyProblems: If there are several such.

    >>> parse_dims(["batch=8", "seq=128"])
    {'batch': 8, 'seq': 128}
    """
    dims: dict[str, int] = {}
    problems: list[PantileError] = []
    for assignment in assignments:
        name, equals, size = (part.strip() for part in assignment.rpartition("="))
        if not equals or not name:
            problems.append(
                WorkloadError(f"expected NAME=SIZE, got {quoted(assignment)}", mend="write --dim batch=8")
            )
        elif name in dims:
            problems.append(WorkloadError(f"dimension {name!r} is bound twice, got {quoted(assignment)}"))
        else:
            try:
                dims[name] = parse_size(size, f"dimension {name!r}", least=0)
            except WorkloadError as error:
                problems.append(error)
    raise_all(problems)
    return dims
