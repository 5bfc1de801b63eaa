"""Small kernels on cores with small buffers: random ones for laws, and twenty whose flags are mutated.

Run as a program it prints what becomes of every mutant: ``python -m tests.targets.ascend.small_kernels``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from pantile.targets.ascend.elements import ELEMENTS
from pantile.targets.ascend.kernel import Kernel, works_of
from pantile.targets.ascend.kernel_program import program_of_core
from pantile.targets.ascend.kernel_stream import core_stream
from pantile.targets.ascend.mutation import FATES, mutate

if TYPE_CHECKING:
    from pantile.targets.ascend.kernel import Works

CAPACITIES = {"L1": 65536, "L0A": 8192, "L0B": 8192, "L0C": 16384, "BT": 1024, "FB": 1024}
OUTS = {"half": ("half", "float"), "bf16": ("bfloat16_t", "float"), "float": ("float",), "int8": ("int32_t",)}
BIASES = {
    "half": ("", "half", "float"),
    "bf16": ("", "bfloat16_t", "float"),
    "float": ("", "float"),
    "int8": ("", "int32_t"),
}


def kernel_of(element: str = "half", **rest: Any) -> Kernel:
    """A kernel of tiles of 32 x 32 whose L1 holds two steps a chunk, unless said otherwise."""
    step = 16 if element == "float" else 32
    given: dict[str, Any] = {
        "out": OUTS[element][-1],
        "m": 50,
        "n": 37,
        "k": 100,
        "tile_m": 32,
        "tile_n": 32,
        "chunk": 2 * step,
        "step": step,
        "capacities": CAPACITIES,
        **rest,
    }
    return Kernel(element=ELEMENTS[element], **given)


def works_in_turn(kernel: Kernel, batch: int = 1, cores: int = 1, piece: int = 0) -> list[Works]:
    """Tiles of all products, row by row, dealt to cores in turn; each over pieces of K."""
    rows: list[list[tuple[Any, ...]]] = [[] for _ in range(cores)]
    turn = 0
    for b in range(batch):
        for m in range(0, kernel.m, kernel.tile_m):
            for n in range(0, kernel.n, kernel.tile_n):
                size = (min(kernel.tile_m, kernel.m - m), min(kernel.tile_n, kernel.n - n))
                for k in range(0, kernel.k, piece or kernel.k):
                    depth = min(piece or kernel.k, kernel.k - k)
                    rows[turn % cores].append((b, b, b, m, n, k, *size, depth, k > 0))
                turn += 1
    return [works_of(each) for each in rows]


def operands_of(kernel: Kernel, batch: int, seed: int) -> tuple[Any, Any, Any]:
    """Small integers, of which every type holds all sums exactly."""
    random = np.random.default_rng(seed)
    draw = [
        random.integers(-3, 4, shape)
        for shape in ((batch, kernel.m, kernel.k), (batch, kernel.k, kernel.n), (kernel.n,))
    ]
    kinds = [np.int8, np.int8, np.int32] if kernel.element.bytes == 1 else [np.float64] * 3
    a, b, bias = (each.astype(kind) for each, kind in zip(draw, kinds, strict=True))
    return a, b, bias if kernel.bias else None


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """Kernels of every type, transposed or not, with sizes that tiles, chunks and steps do not divide."""
    element = draw(st.sampled_from(("half", "bf16", "float", "int8")))
    grain, k = 32 if element == "int8" else 16, draw(st.integers(1, 110))
    most = k if draw(st.booleans()) else 1 << 20  # planners cut what reaches beyond K
    nz = element in ("half", "bf16") and draw(st.booleans())
    return kernel_of(
        element,
        out=draw(st.sampled_from(OUTS[element])),
        bias=draw(st.sampled_from(BIASES[element])),
        ta=draw(st.booleans()),
        tb=draw(st.booleans()),
        nz=nz,
        hf32=element == "float" and draw(st.booleans()),
        m=draw(st.integers(1, 70)),
        n=draw(st.integers(1, 70)),
        k=k,
        tile_m=draw(st.sampled_from((32, 64))) if element == "int8" else draw(st.sampled_from((16, 32, 48))),
        tile_n=draw(st.sampled_from((32, 64))) if element == "int8" else draw(st.sampled_from((16, 32, 48))),
        chunk=min(most, grain * draw(st.integers(1, 3))),
        step=min(most, grain * draw(st.integers(1, 2)) if element == "half" else grain),
        l1_buffers=draw(st.sampled_from((1, 2, 4))),
        sums=draw(st.sampled_from((1, 2))) if element != "int8" else 1,
        unit_flag=draw(st.booleans()),
        capacities={**CAPACITIES, "L0C": 32768},
    )


MUTATED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("half", {}),
    ("half", {"unit_flag": False}),
    ("half", {"sums": 2}),
    ("half", {"l1_buffers": 4, "chunk": 32}),
    ("half", {"ta": True}),
    ("half", {"tb": True, "l1_buffers": 1}),
    ("half", {"ta": True, "tb": True, "sums": 2, "bias": "half"}),
    ("half", {"bias": "float", "k": 30}),
    ("half", {"bias": "half", "k": 32, "sums": 2}),
    ("half", {"nz": True, "out": "half"}),
    ("half", {"nz": True, "tb": True}),
    ("bf16", {"out": "bfloat16_t"}),
    ("bf16", {"bias": "bfloat16_t", "k": 20, "unit_flag": False}),
    ("bf16", {"tb": True, "m": 20, "n": 70, "l1_buffers": 4, "chunk": 32}),
    ("float", {"k": 50}),
    ("float", {"ta": True, "k": 50, "sums": 2}),
    ("float", {"hf32": True, "k": 40, "bias": "float"}),
    ("int8", {"k": 70}),
    ("int8", {"ta": True, "k": 70, "bias": "int32_t"}),
    ("int8", {"tb": True, "k": 70, "unit_flag": False}),
)
"""Kernels whose flags are mutated."""


def mutated(number: int) -> Any:
    """The program of one of them."""
    element, rest = MUTATED[number]
    kernel = kernel_of(element, **rest)
    told = ", ".join(f"{name} {value}" for name, value in rest.items())
    return program_of_core(core_stream(kernel, works_in_turn(kernel)[0]), f"{element} {told}".strip())


def main() -> None:
    """Print a line for every kernel, and the sums."""
    totals: Counter[str] = Counter()
    for number in range(len(MUTATED)):
        found = mutate(mutated(number))
        counts = Counter(each.fate for each in found.verdicts)
        totals += counts
        told = ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate])
        print(f"{found.name}: {len(found.verdicts)} mutants: {told}", flush=True)
    told = ", ".join(f"{totals[fate]} {fate}" for fate in FATES if totals[fate])
    print(f"all: {totals.total()} mutants: {told}")


if __name__ == "__main__":
    main()
