"""Twenty kernels whose flags are mutated: calls of ``mma_tile`` in a caller, and macro GEMMs.

Run as a program it prints what becomes of every mutant: ``python tests/targets/ascend/mutated_kernels.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from pantile.program.program import Program
from pantile.targets.ascend.block_call import BlockCall
from pantile.targets.ascend.block_gemm import gemm_block
from pantile.targets.ascend.elements import BY_DTYPE, ELEMENTS
from pantile.targets.ascend.mma_call import Events
from pantile.targets.ascend.mma_caller import in_caller
from pantile.targets.ascend.mma_default import default_call
from pantile.targets.ascend.mma_tile import Revision, mma_tile
from pantile.targets.ascend.mutation import FATES, mutate
from pantile.targets.ascend.trace import program_of_trace

ALL = {"l1a_wait": 0, "l1b_wait": 1, "l1a_set": 0, "l1b_set": 1, "back0": 0, "back1": 1}
L1 = {name: event for name, event in ALL.items() if name.startswith("l1")}


def tile(
    revision: Revision, dtype: str, m: int, n: int, k: int, events: dict[str, int], **rest: Any
) -> Program:
    call = default_call(BY_DTYPE[dtype], m, n, k, events=Events(**events), **rest)
    whole = in_caller(call, mma_tile(call, revision).instructions)
    name = f"{revision} {dtype} {m}x{n}x{k}"
    return program_of_trace(whole.stream, name, unit_flags=True)


def gemm(m: int, n: int, k: int, **rest: Any) -> Program:
    launch = BlockCall(element=ELEMENTS["half"], m=m, n=n, k=k, **rest)
    return program_of_trace(gemm_block(launch), f"gemm {m}x{n}x{k}", unit_flags=True)


KERNELS: tuple[Callable[[], Program], ...] = (
    lambda: tile("seed", "fp16", 64, 64, 600, ALL),
    lambda: tile("seed", "fp16", 48, 55, 32, ALL),
    lambda: tile("seed", "fp16", 64, 64, 600, {}),
    lambda: tile("seed", "fp16", 64, 64, 600, L1, ta=True),
    lambda: tile("seed", "bf16", 32, 96, 400, ALL, tb=True),
    lambda: tile("seed", "fp32", 32, 48, 300, ALL),
    lambda: tile("seed", "fp32", 20, 40, 100, {}, hf32=True),
    lambda: tile("seed", "int8", 32, 64, 600, ALL),
    lambda: tile("seed", "int8", 64, 32, 300, L1, tb=True),
    lambda: tile("seed", "fp16", 16, 1040, 32, ALL),
    lambda: tile("seed", "fp16", 64, 64, 64, ALL, bias="float"),
    lambda: tile("head", "fp16", 64, 64, 64, ALL),
    lambda: tile("head", "fp16", 48, 55, 32, {}),
    lambda: tile("head", "fp16", 16, 1040, 32, ALL),
    lambda: tile("head", "fp16", 64, 64, 600, ALL),
    lambda: tile("head", "int8", 32, 64, 200, L1),
    lambda: tile("head", "fp32", 32, 48, 60, ALL),
    lambda: gemm(64, 64, 64),
    lambda: gemm(40, 24, 72, ta=True),
    lambda: gemm(32, 48, 64, tb=True),
)


def main() -> None:
    """Print a line for every kernel, and the sums."""
    totals: Counter[str] = Counter()
    for make in KERNELS:
        found = mutate(make())
        counts = Counter(each.fate for each in found.verdicts)
        totals += counts
        itself = f" (itself: {', '.join(found.original)})" if found.original else ""
        told = ", ".join(f"{counts[fate]} {fate}" for fate in FATES if counts[fate])
        print(f"{found.name}{itself}: {len(found.verdicts)} mutants: {told}", flush=True)
    told = ", ".join(f"{totals[fate]} {fate}" for fate in FATES if totals[fate])
    print(f"all: {totals.total()} mutants: {told}")


if __name__ == "__main__":
    main()
