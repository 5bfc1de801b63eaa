"""What follows from a base block: K steps, buffers, interface, cache (sections 5.6 to 10).

The functions run as they are, or compiled (``fast.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.planners.cann.integers import ceil_div, round_down, round_up

if TYPE_CHECKING:
    from pantile.planners.cann.figures import Figures

LEAST_MOVE_BYTES = 49_152
"""48 KiB: what the larger side of a K step should move."""

MOST_STEPS = 8
MOST_PACKED_STEPS = 4

TENSOR, BASIC, HIGH = 2, 1, 0
"""Interfaces of a kernel."""

SPLIT_K, SPLIT_LONG_K, LONG_K = 1024, 8192, 268_435_456


def base_depth(f: Figures, m: int, n: int) -> int:
    """Return baseK beside a block of *m* x *n*: what half of L0A holds of its longer side (section 5.6)."""
    most = (f.l0a // 2) // f.element_bytes // max(m, n)
    depth = round_up(f.k, 16)
    if depth <= most:
        return depth
    if f.transpose_a and not f.transpose_b:
        return round_down(most, 16)
    if most * f.element_bytes >= 256:
        return round_down(most, 256 // f.element_bytes)
    for each in (128, 64, 32, 16):
        if each <= most:
            return each
    return 128 // f.element_bytes


def k_unit(f: Figures) -> int:
    """Return the alignment in elements that a K step wants: 512 B where K is an inner axis."""
    return 512 // f.element_bytes if not f.transpose_a or f.transpose_b else 16


def available_l1(f: Figures, n: int) -> int:
    """Return the bytes of L1 that are left beside the bias of *n* columns."""
    return f.l1 - (n * 8 if f.bias_bytes else 0)


def fits_l1(f: Figures, m: int, n: int, k: int) -> bool:
    """Whether chunks of *k* of both sides fit twice, and the larger one four times (section 6)."""
    a, b = m * k * f.element_bytes, n * k * f.element_bytes
    return (a + b) * 2 <= available_l1(f, n) and max(a, b) * 4 <= f.l1


def accepts_step(f: Figures, reached: int, moved: int, k: int) -> bool:
    """Whether the greedy rule goes on from a chunk of *reached*, moving *moved* bytes, to one of *k*."""
    unit = k_unit(f)
    if reached == 0:
        return True
    if reached % unit != 0:
        return k % (256 // f.element_bytes) == 0 or moved < LEAST_MOVE_BYTES
    return k % unit == 0 and moved < LEAST_MOVE_BYTES


def k_steps(f: Figures, m: int, n: int, depth: int) -> int:
    """Return how many times baseK one chunk in L1 holds; 0 where not even one fits (section 6)."""
    reached, moved = 0, 0
    for step in range(1, min(ceil_div(f.k, depth), MOST_STEPS) + 1):
        k = depth * step
        if not fits_l1(f, m, n, k):
            break
        if accepts_step(f, reached, moved, k):
            reached, moved = k, max(m, n) * k * f.element_bytes
    return reached // depth


def l1_buffers(f: Figures, m: int, n: int, chunk: int) -> int:
    """Return 4 if four chunks of both sides fit in L1, else 2; a bias counts 4 B an element (quirk 7)."""
    both = chunk * (m + n) * f.element_bytes + (n * 4 if f.bias_bytes else 0)
    return 4 if both * 4 <= f.l1 else 2


def l0c_buffers(f: Figures, m: int, n: int) -> int:
    """Return 2 if two blocks fit in L0C."""
    return 2 if m * n * 8 <= f.l0c else 1


def ub_buffers(f: Figures, m: int, n: int) -> int:
    """Return 2 if a block fits in UB."""
    return 2 if m * n * 4 <= f.ub else 1


def split_length(f: Figures) -> int:
    """Return the length of the chunks into which fp32 cuts K, 0 where K is not split (section 8)."""
    if f.strided_a and f.strided_b:
        return 0
    length = SPLIT_LONG_K if f.k > LONG_K else SPLIT_K
    return length if f.true_fp32 and not f.nz and f.k > length else 0


def interface(f: Figures) -> int:
    """Return the interface of ASW_BASIC's kernel: TENSOR, or BASIC where that cannot do it (section 8)."""
    plain = not f.strided_a and not f.strided_b and not split_length(f) and not f.avoid_tensor
    return TENSOR if plain else BASIC


def inner_batch(f: Figures) -> int:
    """Return the batches between two rows of a strided view; 0 for dense inputs."""
    return f.batch_c if f.strided_a and f.strided_b else 0


def total_bytes(f: Figures) -> int:
    """Return the bytes of both inputs and the output, as the cache rule counts them."""
    outputs = f.m * f.n * f.out_bytes * f.batch_c
    left = f.m * f.k * f.element_bytes * f.batch_a
    right = f.k * f.n * f.element_bytes * f.batch_b
    return outputs + left + right


def l2_bypass(f: Figures, m: int, n: int, chunk: int) -> int:
    """Return which inputs bypass L2: 0 none, 1 A, 2 B, 3 both (section 10)."""
    if total_bytes(f) < f.l2:
        return 0
    a_inner, a_moved = (f.m, m) if f.transpose_a else (f.k, chunk)
    b_inner, b_moved = (f.k, chunk) if f.transpose_b else (f.n, n)
    size = f.element_bytes
    of_a = n >= f.n and a_inner * size % 128 == 0 and a_moved * size % 128 == 0
    of_b = m >= f.m and b_inner * size % 128 == 0 and b_moved * size % 128 == 0
    return (1 if of_a else 0) + (2 if of_b else 0)
