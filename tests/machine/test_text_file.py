"""Reading files that may not be there, or may not be text."""

from __future__ import annotations

from pathlib import Path

import pytest

from pantile.errors import MachineError
from pantile.machine.text_file import LARGEST_BYTES, read_text


def test_utf8_with_and_without_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes("ä = 1\n".encode("utf-8-sig"))
    assert read_text(path) == "ä = 1\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ab\xff\x00", "expected UTF-8 text, got byte 0xff at offset 2"),
        (b"\x7fELF\x02\x01\x80", "expected UTF-8 text, got byte 0x80 at offset 6"),
        (b" " * (LARGEST_BYTES + 1), "expected at most 4194304 bytes, got more"),
    ],
)
def test_files_that_are_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(data)
    with pytest.raises(MachineError) as caught:
        read_text(path)
    assert str(caught.value) == f"{path}: {message} [PT-MACHINE]"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "expected a machine file, got a directory"),
        (tmp_path / "none.toml", "there is no such file"),
        (tmp_path / ("n" * 300), "the file cannot be read: File name too long"),
        ("a\0b", "the file cannot be read: embedded null byte"),
    ):
        with pytest.raises(MachineError) as caught:
            read_text(path)
        assert caught.value.problem == message
