from __future__ import annotations

import pytest

from pantile.errors import Place, WorkloadError
from pantile.workload.dtypes import DTYPES, dtype


def test_widths() -> None:
    widths = {name: found.bytes for name, found in DTYPES.items()}
    assert widths["fp32"] == 4
    assert widths["bf16"] == widths["fp16"] == 2
    assert widths["int8"] == widths["fp8"] == 1
    assert widths["int4"] == 0.5


@pytest.mark.parametrize(
    ("alias", "name"),
    [("half", "fp16"), ("float", "fp32"), ("float16", "fp16"), ("float32", "fp32"), ("bfloat16", "bf16")],
)
def test_aliases_are_the_types_they_name(alias: str, name: str) -> None:
    assert dtype(alias) is dtype(name) is DTYPES[name]
    assert str(dtype(alias)) == name


@pytest.mark.parametrize(("wrong", "right"), [("int9", "int8"), ("FP16", "fp16"), ("bf61", "bf16")])
def test_an_unknown_name_gets_the_likeliest(wrong: str, right: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        dtype(wrong, Place("t", 1, 2))
    expected = f"t:1:2: unknown dtype {wrong!r}; did you mean {right!r}? [PT-WORKLOAD]"
    assert str(caught.value) == expected


def test_a_hopeless_name_gets_the_list() -> None:
    with pytest.raises(WorkloadError) as caught:
        dtype("q")
    assert caught.value.mend == (
        "allowed here: bf16, fp16, fp32, fp64, fp8, int16, int32, int4, int64, int8, uint8"
    )
