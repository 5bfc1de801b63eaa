"""What all results have in common."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pantile
from pantile.tiling.plan import Note
from pantile.verbs.result import VERSION, Many, as_html, head


@dataclass(frozen=True)
class Answer:
    """A result with nothing in it."""

    name: str
    ok: bool = True

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name}

    def __str__(self) -> str:
        return self.name


def test_there_is_one_version() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert pantile.__version__ == VERSION == project["project"]["version"] == version("pantile")


def test_head_holds_the_keys_of_every_object() -> None:
    note = Note("Q3", "a sentence")
    made = head("plan", workload="w", machine="m", planner="p", semantics="s", notes=[note])
    assert made == {
        "schema": "pantile/plan/1",
        "version": VERSION,
        "workload": "w",
        "machine": "m",
        "planner": "p",
        "semantics": "s",
        "notes": [{"code": "Q3", "text": "a sentence"}],
    }


def test_html_is_escaped() -> None:
    assert as_html("<b> & more") == "<pre>&lt;b&gt; &amp; more</pre>"


def test_many_is_a_sequence_that_sums_up() -> None:
    first, second = Answer("first"), Answer("second", ok=False)
    many = Many((first, second), (Note("outside", "1 node"),))
    assert list(many) == [first, second]
    assert (len(many), many[1], many[:1]) == (2, second, (first,))
    assert not many.ok
    assert Many((first,)).ok
    assert many.to_json() == [
        {"name": "first"},
        {"name": "second"},
        {
            "schema": "pantile/summary/1",
            "version": VERSION,
            "workloads": 2,
            "ok": 1,
            "notes": [{"code": "outside", "text": "1 node"}],
        },
    ]


def test_many_prints_every_answer_then_the_notes() -> None:
    many = Many((Answer("first"), Answer("<second>")), (Note("outside", "1 node"),))
    assert str(many) == "first\n\n<second>\n\nnote outside: 1 node"
    assert many.shown(lambda each: each.name.upper()) == "FIRST\n\n<SECOND>\n\nnote outside: 1 node"
    assert many._repr_html_() == as_html(str(many))
    assert str(Many((Answer("alone"),))) == "alone"
