"""Bytes of buffers."""

from __future__ import annotations

from typing import Any

import pytest

from pantile.errors import ProgramError
from pantile.targets.ascend.buffers import Buffer, Bytes, tensor
from pantile.targets.ascend.ranges import Range


def test_a_slice_of_a_buffer_is_a_range_of_it() -> None:
    found = Buffer("L1")[32:96]
    assert found == Bytes("L1", 32, 96)
    assert found.range(writes=True) == Range("L1", 32, 96, True)
    assert found.to_json() == {"buf": "L1", "lo": 32, "hi": 96}


@pytest.mark.parametrize("span", [slice(0, None), slice(None, 4), slice(4, 4), slice(-1, 4), slice(0, 8, 2)])
def test_anything_but_a_whole_range_is_refused(span: Any) -> None:
    with pytest.raises(ProgramError, match=r"expected bytes such as L0A\[0:512\], got L0A\["):
        Buffer("L0A")[span]


def test_a_tensor_lies_in_global_memory_under_its_name() -> None:
    assert tensor("GM_B") == tensor("B") == Buffer("GM_B")
