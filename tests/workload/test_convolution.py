from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pantile.errors import WorkloadError
from pantile.workload.convolution import Convolution

ONE: dict[str, Any] = {
    "batch": 1,
    "in_channels": 4,
    "out_channels": 6,
    "height": 5,
    "width": 5,
    "kernel": (3, 3),
}
pairs = st.tuples(st.integers(1, 3), st.integers(1, 3))


def test_first_layer_of_resnet_50() -> None:
    stem = Convolution(
        batch=1,
        in_channels=3,
        out_channels=64,
        height=224,
        width=224,
        kernel=(7, 7),
        strides=(2, 2),
        pads=(3, 3, 3, 3),
    )
    assert (stem.out_height, stem.out_width) == (112, 112)
    assert stem.macs == 118_013_952  # 112·112·64 outputs of 3·7·7 each
    assert str(stem) == "1x3x224x224 * 64x3x7x7"


def test_groups_divide_the_work() -> None:
    assert Convolution(**ONE).macs == 3 * 3 * 6 * 4 * 9
    assert Convolution(**ONE, groups=2).macs == 3 * 3 * 6 * 2 * 9
    assert str(Convolution(**ONE, groups=2)) == "1x4x5x5 * 6x2x3x3"


@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    kernel=pairs,
    strides=pairs,
    dilations=pairs,
    pads=st.tuples(*[st.integers(0, 2)] * 4),
)
def test_output_counts_the_places_where_the_whole_kernel_lies_in_the_padded_picture(
    size: tuple[int, int],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
    pads: tuple[int, int, int, int],
) -> None:
    places = []
    for axis in (0, 1):
        starts = range(-pads[axis], size[axis] + pads[axis + 2], strides[axis])
        stop = size[axis] + pads[axis + 2]
        places.append(sum(at + dilations[axis] * (kernel[axis] - 1) < stop for at in starts))
    given_sizes = {"height": size[0], "width": size[1], "kernel": kernel, "strides": strides}
    fields = ONE | given_sizes | {"dilations": dilations, "pads": pads}
    if min(places) < 1:
        with pytest.raises(WorkloadError, match="the kernel reaches over"):
            Convolution(**fields)
        return
    convolution = Convolution(**fields)
    assert [convolution.out_height, convolution.out_width] == places
    assert convolution.macs == places[0] * places[1] * 6 * 4 * kernel[0] * kernel[1]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("batch", 0, "every count of a convolution must be at least 1, every pad at least 0"),
        ("strides", (0, 1), "every count of a convolution must be at least 1, every pad at least 0"),
        ("pads", (0, 0, -1, 0), "every count of a convolution must be at least 1, every pad at least 0"),
        ("groups", 4, "4 groups do not divide 4 input and 6 output channels"),
        ("kernel", (6, 1), "the kernel reaches over 6x1, but the padded picture is 5x5"),
    ],
)
def test_refuses(field: str, value: object, problem: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        Convolution(**ONE | {field: value})
    assert caught.value.problem == problem
