"""Lines and columns of TOML keys."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.machine.locate import Locator

TEXT = '''\
title = "a = 1"
[clock]   # [not.this]
core = 1
  "dram" = 2

[[memory]]
name = """
slots = 7
""" # the text above is no key
slots = 1
[[memory]]
quoted = "a \\" # b"
slots = { value = 2,
  source = 'x' }
[ family . systolic ]
channels = 3
[[core]]
index = 0
engine.array.rows = 16
[core.memory.l1]
slots = 4
'''


@pytest.mark.parametrize(
    ("loc", "place"),
    [
        (("title",), (1, 1)),
        (("clock",), (2, 1)),
        (("clock", "core"), (3, 1)),
        (("clock", "dram"), (4, 3)),
        (("memory",), (6, 1)),
        (("memory", 0), (6, 1)),
        (("memory", 0, "slots"), (10, 1)),
        (("memory", 1, "quoted"), (12, 1)),
        (("memory", 1, "slots"), (13, 1)),
        (("family", "systolic"), (15, 1)),
        (("family", "systolic", "channels"), (16, 1)),
        (("core", 0, "engine", "array", "rows"), (19, 1)),
        (("core", 0, "engine", "array"), (19, 1)),
        (("core", 0, "memory", "l1"), (20, 1)),
        (("core", 0, "memory", "l1", "slots"), (21, 1)),
        (("memory", 1, "scope"), (11, 1)),  # missing: the table
        (("memory", 1, "slots", "value"), (13, 1)),  # inside an inline table
        (("grid",), (0, 0)),
        ((), (0, 0)),
    ],
)
def test_places(loc: tuple[str | int, ...], place: tuple[int, int]) -> None:
    tomllib.loads(
        TEXT.replace("slots = { value = 2,\n", "slots = { value = 2, ")
    )  # the text is TOML but for one break
    assert Locator(TEXT).find(loc) == place


def test_windows_line_ends() -> None:
    assert Locator("[clock]\r\ncore = 1\r\n").find(("clock", "core")) == (2, 1)


def test_lines_by_label() -> None:
    lines = Locator("[clock]\ncore = 1\n").lines(lambda loc: ".".join(map(str, loc)))
    assert lines == {"clock": 1, "clock.core": 2}


@given(st.text())
def test_any_text_is_scanned(text: str) -> None:
    assert Locator(text).find(("never", "there", "¬")) == Locator(text).find(("never",))
