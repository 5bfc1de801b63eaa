from __future__ import annotations

import pytest

from pantile.errors import ManyProblems, WorkloadError
from pantile.workload.tokens import Fields, Scheme, label

SCHEME = Scheme(
    name="s",
    keys={"size": "size=1", "fast": "fast", "bias": "bias"},
    flags=frozenset({"fast"}),
    optional_values=frozenset({"bias"}),
    elsewhere={"k": "k is a key of t:"},
)


def lines(fields: Fields) -> list[str]:
    try:
        fields.raise_problems()
    except WorkloadError as error:
        return [str(error)]
    except ManyProblems as errors:
        return str(errors).splitlines()
    return []


def test_tokens_know_their_columns() -> None:
    fields = Fields("s:size=4, fast ,bias", SCHEME)
    places = {key: token.place.column for key, token in fields.tokens.items()}
    assert places == {"size": 3, "fast": 11, "bias": 17}
    assert fields.tokens["size"].value == "4"
    assert fields.tokens["fast"].value is None
    assert lines(fields) == []


def test_every_problem_has_its_column() -> None:
    fields = Fields("s:size=,fast=1,k=2,sze=3,,size=4", SCHEME)
    start = "s:size=,fast=1,k=2,sze=3,,size=4"
    assert lines(fields) == [
        f"{start}:3: size needs a value; write size=1 [PT-WORKLOAD]",
        f"{start}:9: fast takes no value, got '1'; write fast, or leave it out [PT-WORKLOAD]",
        f"{start}:16: unknown key 'k' in s:; k is a key of t: [PT-WORKLOAD]",
        f"{start}:20: unknown key 'sze' in s:; did you mean 'size'? [PT-WORKLOAD]",
        f"{start}:26: expected KEY=VALUE, got '' [PT-WORKLOAD]",
        f"{start}:27: size is given twice [PT-WORKLOAD]",
    ]


def test_missing_keys_are_one_problem_and_come_first() -> None:
    fields = Fields("s:bias=", SCHEME)
    fields.require("size", "fast")
    assert lines(fields) == [
        "s:bias=:1: s: lacks size, fast; add size=1,fast [PT-WORKLOAD]",
        "s:bias=:3: bias needs a value; write bias [PT-WORKLOAD]",
    ]


def test_reading_keeps_the_problem_and_goes_on() -> None:
    fields = Fields("s:size=x", SCHEME)

    def refuse(text: str) -> int:
        raise WorkloadError(f"no {text}", mend="mend it")

    assert fields.read("size", refuse, 7) == 7
    assert fields.read("bias", refuse, 8) == 8
    assert lines(fields) == ["s:size=x:3: no x; mend it [PT-WORKLOAD]"]


@pytest.mark.parametrize(
    ("text", "line"), [("a\nb\0", r"a\nb\x00"), ("m=é", "m=é"), ("x" * 121, "x" * 120 + "…")]
)
def test_labels_are_one_short_line(text: str, line: str) -> None:
    assert label(text) == line
