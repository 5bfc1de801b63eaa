from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pantile.errors import WorkloadError
from pantile.workload.sourcefile import read_source

if TYPE_CHECKING:
    from pathlib import Path


def test_returns_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\x00\xff")
    assert read_source(str(tmp_path / "a.csv")) == b"\x00\xff"


def test_missing_file_names_the_likeliest_neighbour(tmp_path: Path) -> None:
    (tmp_path / "layers.csv").touch()
    with pytest.raises(WorkloadError) as caught:
        read_source(str(tmp_path / "layer.csv"))
    path = tmp_path / "layer.csv"
    near = str(tmp_path / "layers.csv")
    assert str(caught.value) == f"{path}: there is no such file; did you mean {near!r}? [PT-WORKLOAD]"


def test_missing_file_in_a_missing_folder_has_no_mend(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="there is no such file") as caught:
        read_source(str(tmp_path / "no" / "layer.csv"))
    assert caught.value.mend is None


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="expected a file, got a directory"):
        read_source(str(tmp_path))


def test_a_path_through_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkloadError, match="cannot be read: Not a directory"):
        read_source(str(tmp_path / "file" / "a.csv"))


def test_a_nul_in_the_path_is_one_line() -> None:
    with pytest.raises(WorkloadError, match="expected a path, got"):
        read_source("a\0.csv")
