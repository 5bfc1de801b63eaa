"""Addresses of tensors, worked by hand from onnxim-model.md section 2."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pantile.targets.systolic.allocate import tensor_addresses
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, Tensor, network_of


def network(*tensors: Tensor) -> Network:
    return Network(name="t", nodes=(), tensors=tensors)


def test_the_specification_s_example() -> None:
    # N32 C64 M32, one byte: weight 2048 B at 0, base 2048 + 256; input at 2304, 32 * 64 * 16 = 32768 B.
    product = network_of(Matmul(m=32, k=64, n=32))
    assert tensor_addresses(product, 1, wrap=True) == {"w": 0, "x": 2304, "y": 35_072 + 256}


def test_a_gap_follows_a_tensor_that_ends_on_a_boundary() -> None:
    # Q25: 256 B end on a boundary, and 256 more are left out; 257 B end one byte into a granule.
    exact, more = (
        network(Tensor("a", (size,), "initializer"), Tensor("b", (1,), "initializer")) for size in (256, 257)
    )
    assert tensor_addresses(exact, 1, wrap=False)["b"] == 512
    assert tensor_addresses(more, 1, wrap=False)["b"] == 512


def test_graph_inputs_take_sixteen_times_their_size() -> None:
    tensors = (
        Tensor("x", (10,), "input"),
        Tensor("y", (10,), "intermediate"),
        Tensor("z", (1,), "intermediate"),
    )
    # 10 * 2 * 16 = 320 B to 512, then 20 B to 768.
    assert tensor_addresses(network(*tensors), 2, wrap=False) == {"x": 0, "y": 512, "z": 768}


def test_a_tensor_of_unknown_dims_takes_one_element() -> None:
    tensors = (Tensor("u", (), "intermediate"), Tensor("v", (4,), "intermediate"))
    assert tensor_addresses(network(*tensors), 4, wrap=False) == {"u": 0, "v": 256}


def test_sizes_wrap_at_32_bits_where_they_do_in_the_original() -> None:
    # Q24: 4096 x 65536 x 8 in bytes. Weight 524288 B, base 524288 + 256; the input of 2^28 elements times 16
    # has size 0 modulo 2^32, so the output follows 256 bytes behind its start.
    product = network_of(Matmul(m=4096, k=65_536, n=8))
    assert tensor_addresses(product, 1, wrap=True) == {"w": 0, "x": 524_544, "y": 524_800}
    assert tensor_addresses(product, 1, wrap=False)["y"] == 524_544 + 2**32 + 256


@given(
    st.lists(
        st.tuples(st.lists(st.integers(1, 40), max_size=3), st.sampled_from(["initializer", "input"])),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 4),
)
def test_tensors_are_disjoint_aligned_and_in_order(
    shapes: list[tuple[list[int], str]], element_bytes: int
) -> None:
    tensors = [Tensor(f"t{at}", tuple(dims), role) for at, (dims, role) in enumerate(shapes)]  # type: ignore[arg-type]
    addresses = tensor_addresses(network(*tensors), element_bytes, wrap=False)
    stop = 0
    for tensor in tensors:
        address = addresses[tensor.name]
        assert address % 256 == 0
        assert address >= stop
        size = element_bytes
        for extent in tensor.dims:
            size *= extent
        stop = address + size
