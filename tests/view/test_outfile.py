"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pantile.errors import OutputError
from pantile.view.outfile import replacing, write_atomically


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_atomically(path, b"old")

    def fail() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_new_file_has_the_mode_of_a_plain_open_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    plain, ours, closed = tmp_path / "plain", tmp_path / "ours", tmp_path / "closed"
    plain.write_bytes(b"")
    write_atomically(ours, b"")
    assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    closed.write_bytes(b"")
    closed.chmod(0o600)
    write_atomically(closed, b"new")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing/page.html", "cannot write: there is no folder"),
        ("", "cannot write: it is a folder"),
        ("file/page.html", "cannot write: there is no folder"),
        ("n" * 300, "cannot write: file name too long"),
    ],
)
def test_what_cannot_be_written_is_one_line_naming_the_path(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError) as caught:
        write_atomically(tmp_path / name, b"x")
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / name}: {says}")
    assert "\n" not in line
    assert os.listdir(tmp_path) == ["file"]


def test_a_device_is_refused_not_replaced() -> None:
    with pytest.raises(OutputError, match="not a regular file"):
        write_atomically("/dev/null", b"x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
