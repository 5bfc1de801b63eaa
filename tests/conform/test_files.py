"""Finding and reading case files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pantile.conform.files import UnreadableFile, find_files, read_case_file
from pantile.errors import ManyProblems, UsageError


def names(folder: Path, *paths: str) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in find_files([folder / path for path in paths])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b/2.json", "b/1.json", "b/c/3.json", "a.json", "z.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    return tmp_path


def test_a_folder_stands_for_its_files_in_order(folder: Path) -> None:
    assert names(folder, "") == ["a.json", "b/1.json", "b/2.json", "b/c/3.json", "z.txt"]


def test_paths_keep_their_order_and_a_file_stands_once(folder: Path) -> None:
    assert names(folder, "z.txt", "b", "a.json", "b/2.json") == [
        "z.txt", "b/1.json", "b/2.json", "b/c/3.json", "a.json",
    ]  # fmt: skip


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert find_files([tmp_path]) == []


def test_a_link_to_a_folder_is_not_followed(folder: Path) -> None:
    (folder / "b" / "loop").symlink_to(folder)
    (folder / "link.json").symlink_to(folder / "a.json")
    assert names(folder, "") == ["a.json", "b/1.json", "b/2.json", "b/c/3.json", "z.txt"]


def test_every_missing_path_is_named(folder: Path) -> None:
    with pytest.raises(ManyProblems) as raised:
        find_files([folder / "a.json", folder / "no", folder / "a.json" / "no"])
    assert len(raised.value.problems) == 2
    with pytest.raises(UsageError, match="there is no such file or folder"):
        find_files(["nowhere\0"])
    with pytest.raises(UsageError, match="no path given"):
        find_files([])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "expected JSON, but line 1, column 1: Expecting value"),
        (b'{"a": 1,\n "b": }', "expected JSON, but line 2, column 7: Expecting value"),
        (b'{"a": 1} x', "expected JSON, but line 1, column 10: Extra data"),
        (b'{"a": 1, "a": 1}', "key 'a' stands twice in one object"),
        (b'{"a": NaN}', "expected JSON, got NaN"),
        (b'{"a": -Infinity}', "expected JSON, got -Infinity"),
        (b'{"a": "\xff"}', "expected UTF-8 text, got a wrong byte at offset 7"),
        (b"[" * 100_000, "expected JSON, got lists or objects nested too deeply"),
        (b"1" * 5000, "expected JSON, got a number of too many digits"),
    ],
)
def test_what_is_no_json_says_why(content: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_bytes(content)
    with pytest.raises(UnreadableFile) as raised:
        read_case_file(file)
    assert str(raised.value) == why


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_bytes(b'\xef\xbb\xbf{"a": [1, 2.5, null]}')
    assert read_case_file(tmp_path / "case.json") == {"a": [1, 2.5, None]}


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would never return."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "gone.json").symlink_to(tmp_path / "nothing")
    assert len(find_files([tmp_path])) == 2
    with pytest.raises(UnreadableFile, match="expected a file, got a folder or a device"):
        read_case_file(tmp_path / "pipe.json")
    with pytest.raises(UnreadableFile, match="the file cannot be read: No such file or directory"):
        read_case_file(tmp_path / "gone.json")
