"""From plans for Ascend machines to kernels: how every planner's cut becomes tiles of cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pantile.errors import OutsideModelError, WorkloadError
from pantile.planners.asw.assignment import Grid, placed
from pantile.planners.asw.block_order import BlockOrder
from pantile.planners.cann.block_order import WINDOW, reduction_pieces
from pantile.planners.cann.problem import DEFAULT_DTYPE
from pantile.targets.ascend.elements import BY_DTYPE
from pantile.targets.ascend.kernel import HALVES, WORK, Kernel, works_of
from pantile.targets.ascend.numbers import DTYPES
from pantile.tiling.cut import ceil_div
from pantile.tiling.plan import Note
from pantile.tiling.swizzle import Swizzle
from pantile.verbs.ascend_check import buffers_of
from pantile.verbs.ascend_packed import packed_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pantile.machine import Machine
    from pantile.targets.ascend.kernel import Works
    from pantile.tiling.plan import Plan
    from pantile.workload.matmul import Matmul

_POINTERS = {dtype: pointer for pointer, dtype in DTYPES.items() if pointer != "int32"}
"""What a pointer to elements of a type is declared as."""

OWN = Note(
    "lowering",
    "this is Pantile's own lowering: the template library that was recorded is that of 220x cores",
)
_RELOADED = Note(
    "lowering", "a block of several tiles is computed tile by tile, and each loads its own operands"
)


@dataclass(frozen=True)
class Launch:
    """A kernel, and which core computes what.

    Attributes:
        kernel: The product and how a tile of it is computed.
        batch: Products.
        cores: Cores of the machine; those without work run nothing.
        work_of: Returns the tiles of a core, in the order in which it takes them.
        notes: What a reader must know.
    """

    kernel: Kernel
    batch: int
    cores: int
    work_of: Callable[[int], Works]
    notes: tuple[Note, ...] = (OWN,)

    @cached_property
    def works(self) -> tuple[Works, ...]:
        """The tiles of every core."""
        return tuple(self.work_of(core) for core in range(self.cores))

    @cached_property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Cores that run the same but for places in GM; those without work are left out."""
        alike: dict[bytes, list[int]] = {}
        for core, works in enumerate(self.works):
            if len(works):
                shape = np.stack([works[name].astype(np.int64) for name in _SHAPE])
                alike.setdefault(shape.tobytes(), []).append(core)
        return tuple(map(tuple, alike.values()))


_SHAPE = ("rows", "columns", "depth", "adds")


def launch_of(plan: Plan, product: Matmul, machine: Machine) -> Launch:
    """Return the kernel that *plan* describes.

    Raises:
        OutsideModelError: If the plan does not say which core computes what, or computes what no core does.
        CapacityError: If its tile overflows a buffer of *machine*.
        WorkloadError: If it is a plan of something else, as one changed by hand may be.
    """
    try:
        launch = (_cann if plan.planner == "cann" else _asw)(plan, product, machine)
    except KeyError as error:
        problem = f"a plan without a usable {str(error.args[0])!r}"
        raise WorkloadError(problem, mend="plan again") from None
    kernel = launch.kernel
    sizes = (launch.batch * kernel.m, kernel.n, kernel.k)
    if sizes != (product.batch * product.m, product.n, product.k):
        planned = f"{launch.batch} of m{kernel.m} n{kernel.n} k{kernel.k}"
        problem = f"the plan computes {planned}, the product is {product}"
        raise WorkloadError(problem, mend="plan again")
    return launch


def _types(product: Matmul) -> dict[str, Any]:
    """Return the types of a product's tensors, in which it is multiplied and stored."""
    dtype = product.dtype.name if product.dtype else DEFAULT_DTYPE
    if dtype not in BY_DTYPE:
        raise OutsideModelError(f"a cube multiplies {', '.join(BY_DTYPE)}, got {dtype}")
    out = product.out.name if product.out else dtype
    bias = "" if product.bias is None else str(product.bias)
    bias = dtype if bias == "default" else bias
    for name in (out, bias):
        if name and name not in _POINTERS:
            raise OutsideModelError(f"a core stores and adds {', '.join(_POINTERS)}, got {name}")
    return {
        "element": BY_DTYPE[dtype],
        "out": _POINTERS[out],
        "bias": _POINTERS[bias] if bias else "",
        "ta": product.transpose_a,
        "tb": product.transpose_b,
        "nz": product.nz,
        "hf32": product.hf32,
    }


def _sources(product: Matmul, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which left and which right operand each product of the batch reads.

    A planner may have turned batches into rows: then there is one product.
    """
    if batch != product.batch:
        return np.zeros(batch, np.int64), np.zeros(batch, np.int64)
    a, b = (np.array(product.batch_indices(operand), np.int64) for operand in ("a", "b"))
    return a, b


def _cann(plan: Plan, product: Matmul, machine: Machine) -> Launch:
    packed = packed_of(plan)
    if packed.inner_batch:
        raise OutsideModelError("inputs that are views with rows of several batches are not lowered")
    m, n, k, batch = packed.sizes
    tile_m, tile_n, chunk, step = packed.tile
    pieces = reduction_pieces(k, packed.split)
    longest = pieces[-1][1] - pieces[-1][0]
    kernel = Kernel(
        **_types(product),
        m=m,
        n=n,
        k=k,
        tile_m=tile_m,
        tile_n=tile_n,
        chunk=min(chunk, longest),
        step=step,
        l1_buffers=packed.l1_buffers,
        sums=packed.sums,
        unit_flag=packed.sums == 1,
        capacities=buffers_of(machine)[0],
    )
    counts = (ceil_div(m, kernel.tile_m), ceil_div(n, kernel.tile_n))
    order, cores = Swizzle(("m", "n"), counts, window=WINDOW, tail="merged"), packed.cores
    if cores > machine.grid.cores:
        problem = f"the plan deals tiles to {cores} cores, {machine.name} has {machine.grid.cores}"
        raise WorkloadError(problem, mend="plan again for this machine")
    sources = _sources(product, batch)

    def work_of(core: int) -> Works:
        at = np.arange(core, order.size * batch, cores) if core < cores else np.zeros(0, np.int64)
        which, inside = np.divmod(at, order.size)
        tiles = np.array([order.at(each) for each in inside.tolist()], np.int64).reshape(-1, 2)
        return _with_pieces(_works(kernel, which, tiles * (kernel.tile_m, kernel.tile_n), sources), pieces)

    return Launch(kernel, batch, machine.grid.cores, work_of)


def _works(
    kernel: Kernel, batch: np.ndarray, starts: np.ndarray, sources: tuple[np.ndarray, np.ndarray]
) -> Works:
    """Return whole tiles over all of K, from the batch and the first row and column of each."""
    works = np.zeros(len(batch), WORK)
    works["batch"], works["a_batch"], works["b_batch"] = batch, sources[0][batch], sources[1][batch]
    works["m"], works["n"] = starts[:, 0], starts[:, 1]
    works["rows"] = np.minimum(kernel.tile_m, kernel.m - starts[:, 0])
    works["columns"] = np.minimum(kernel.tile_n, kernel.n - starts[:, 1])
    works["depth"] = kernel.k
    return works


def _with_pieces(works: Works, pieces: Sequence[tuple[int, int]]) -> Works:
    """Return every tile once per piece of K, one after another."""
    if len(pieces) == 1:
        return works
    begin, end = np.array(pieces, np.int64).T
    found = np.repeat(works, len(pieces))
    found["k"], found["depth"] = np.tile(begin, len(works)), np.tile(end - begin, len(works))
    found["adds"] = found["k"] > 0
    return found


def _asw(plan: Plan, product: Matmul, machine: Machine) -> Launch:
    if plan.tiling is None:
        raise OutsideModelError(f"the plan of {plan.planner} does not say how the product is cut")
    total = dict(zip(plan.tiling.dimensions, plan.tiling.total, strict=True))
    sizes = {
        level.name: dict(zip(plan.tiling.dimensions, nominal, strict=True))
        for level, nominal in zip(plan.tiling.levels, plan.tiling.nominal_sizes, strict=True)
    }
    block, tile = sizes["block"], sizes["tile"]
    capacities = buffers_of(machine)[0]
    planned = Kernel(
        **_types(product),
        m=total["m"],
        n=total["n"],
        k=total["k"],
        tile_m=min(tile["m"], block["m"]),
        tile_n=min(tile["n"], block["n"]),
        chunk=sizes["step"]["k"],
        step=tile["k"],
        l1_buffers=plan.buffering["l1"],
        sums=plan.buffering["l0c"],
        unit_flag=bool(plan.parameters["unit_flag"]),
        capacities={**capacities, "L1": _ANY},
    )
    kernel = _in_l1(planned, capacities)
    notes = [OWN]
    if (kernel.chunk, kernel.l1_buffers) != (planned.chunk, planned.l1_buffers):
        told = f"K in chunks of {kernel.chunk} ({kernel.l1_buffers} in L1), planned {planned.chunk}"
        why = "the plan leaves no room in L1 for the bias and for what rows and K are padded to"
        notes.append(Note("lowering", f"{told} ({planned.l1_buffers}): {why}"))
    sources, dealt = _sources(product, total["b"]), _Dealt(plan, machine, kernel, total["b"])
    if (block["m"], block["n"]) != (kernel.tile_m, kernel.tile_n):
        notes.append(_RELOADED)

    def work_of(core: int) -> Works:
        return _with_sources(works_of(dealt.by_core.get(core, [])), sources)

    return Launch(kernel, total["b"], machine.grid.cores, work_of, tuple(notes))


_ANY = 1 << 40
"""Bytes of an L1 that holds every chunk."""


def _in_l1(planned: Kernel, capacities: Mapping[str, int]) -> Kernel:
    """Return a kernel with as many chunks of a plan's length in L1 as fit; with two, of shorter ones.

    Raises:
        CapacityError: If not even two chunks of a single step fit.
    """
    kernel, room = planned, capacities["L1"]
    while kernel.chunk_bytes * kernel.l1_buffers > room and kernel.l1_buffers > HALVES:
        kernel = replace(kernel, l1_buffers=kernel.l1_buffers // 2)
    while kernel.chunk_bytes * kernel.l1_buffers > room and kernel.chunk > kernel.step:
        kernel = replace(kernel, chunk=(kernel.chunk - 1) // kernel.step * kernel.step)
    return replace(kernel, capacities=capacities)


def _with_sources(works: Works, sources: tuple[np.ndarray, np.ndarray]) -> Works:
    works["a_batch"], works["b_batch"] = (each[works["batch"]] for each in sources)
    return works


@dataclass(frozen=True)
class _Dealt:
    """Blocks of a plan of asw, dealt to cores."""

    plan: Plan
    machine: Machine
    kernel: Kernel
    batch: int

    @cached_property
    def by_core(self) -> dict[int, list[tuple[Any, ...]]]:
        """Rows of tiles by core."""
        found: dict[int, list[tuple[Any, ...]]] = {}
        for core, batch, rows, columns in self._blocks():
            found.setdefault(core, []).extend(self._tiles(batch, rows, columns))
        return found

    @property
    def _size(self) -> tuple[int, int]:
        assert self.plan.tiling is not None
        sizes = dict(zip(self.plan.tiling.dimensions, self.plan.tiling.nominal_sizes[0], strict=True))
        return sizes["m"], sizes["n"]

    def _blocks(self) -> Iterator[tuple[int, int, range, range]]:
        """Yield core, batch, rows and columns of every block; pieces of the last wave are dealt anew."""
        parameters, (m, n) = self.plan.parameters, self._size
        reduction = parameters.get("reduction")
        cores = reduction["used_cores"] if reduction else self.machine.grid.cores
        grid = Grid(self.batch, ceil_div(self.kernel.m, m), ceil_div(self.kernel.n, n), cores)
        kind = parameters["assignment"]["kind"]
        cut = parameters.get("tail", {}).get("pieces")
        whole = grid.blocks // cores * cores if cut else grid.blocks
        turn = 0
        for number, each in enumerate(placed(grid, self._order(), kind)):
            rows = range(each.row * m, min((each.row + 1) * m, self.kernel.m))
            columns = range(each.column * n, min((each.column + 1) * n, self.kernel.n))
            if number < whole:
                yield each.core, each.batch, rows, columns
                continue
            for piece in _cut(columns if cut["axis"] == "n" else rows, cut["size"]):
                pieces = (rows, piece) if cut["axis"] == "n" else (piece, columns)
                yield turn % cores, each.batch, *pieces
                turn += 1

    def _order(self) -> BlockOrder:
        named = self.plan.parameters.get("order", {"name": "lexicographic", "window": 1, "fastest": "n"})
        l2 = self.plan.parameters.get("l2", {})
        grouped = (l2.get("groups") or 0) > 1
        return BlockOrder(
            name=named["name"],
            window=named["window"],
            fastest="mn".index(named["fastest"]),
            diagonal_readers=0,
            window_readers=0,
            conflict_free=True,
            group=(l2["m_group"], l2["n_group"]) if grouped else None,
        )

    def _tiles(self, batch: int, rows: range, columns: range) -> Iterator[tuple[Any, ...]]:
        """Yield the tiles of a block; each is computed over all of K."""
        for across in _cut(rows, self.kernel.tile_m):
            for along in _cut(columns, self.kernel.tile_n):
                at = (across.start, along.start, 0, len(across), len(along), self.kernel.k, False)
                yield (batch, 0, 0, *at)


def _cut(span: range, size: int) -> list[range]:
    return [range(at, min(at + size, span.stop)) for at in range(span.start, span.stop, size)]
