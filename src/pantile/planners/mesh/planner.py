"""Plans products for a grid of chiplets with distributed memories.

``cannon`` lets shards circulate on a square grid, ``summa`` lets owners broadcast along rows and columns,
``direct`` lets every chiplet load all it needs. What they have in common is the cut: an output block for
every chiplet, and as few rounds and pieces as the chiplets' memories allow.

Sources: L. E. Cannon, A cellular computer to implement the Kalman filter algorithm, 1969; R. A. van de Geijn
and J. Watts, SUMMA: scalable universal matrix multiplication algorithm, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pantile.errors import MappingError, OutsideModelError, Place
from pantile.planners.mesh.choose import Space, choose
from pantile.planners.mesh.cut import parse_cut
from pantile.planners.mesh.product import product_of
from pantile.planners.mesh.terms import bound_terms, predicted_terms
from pantile.tiling.plan import Decision, NodePlan, Plan
from pantile.workload.matmul import Matmul

if TYPE_CHECKING:
    from pantile.planners.mesh.cut import Cut
    from pantile.planners.mesh.figures import MeshFigures
    from pantile.planners.mesh.product import Product
    from pantile.workload.network import Network, Node

PLANNERS = ("cannon", "summa", "direct")

SEMANTICS = "textbook"
"""The one reading of their rules."""

MAX_COMPUTES = 50_000
"""Computes of one program that this version takes on: each stands for some twenty operations."""


def plan_network(
    network: Network, figures: MeshFigures, planner: str, *, mapping: str | None = None
) -> tuple[NodePlan, ...]:
    """Return one plan per node, in file order.

    Args:
        network: What is computed.
        figures: The machine's figures.
        planner: One of :data:`PLANNERS`.
        mapping: An explicit cut, for every node.

    Raises:
        MappingError: If an explicit cut does not suit the product, the grid or the memory.
        OutsideModelError: If an explicit cut makes too many computes.
    """
    cut = None if mapping is None else parse_cut(mapping)
    return tuple(_plan_node(node, figures, planner, cut) for node in network.nodes)


def _plan_node(node: Node, figures: MeshFigures, planner: str, cut: Cut | None) -> NodePlan:
    if not isinstance(node.computation, Matmul) or node.outside:
        return NodePlan(node, None, node.outside or f"{node.op_type} is outside the model")
    try:
        product = product_of(node.computation, figures.precision)
    except OutsideModelError as error:
        return NodePlan(node, None, error.problem)
    return NodePlan(node, _Planning(product, figures, planner).plan(cut))


@dataclass
class _Planning:
    """One product while it is planned; *decisions* fill up on the way."""

    product: Product
    figures: MeshFigures
    planner: str
    decisions: list[Decision] = field(default_factory=list)

    def plan(self, explicit: Cut | None) -> Plan:
        """Return the plan."""
        self._log(
            "product",
            "dtypes",
            dict(zip(("a", "b", "out"), self.product.dtypes, strict=True)),
            "as the workload names them, else by precision_bytes; sums leave in 32 bits, or in 64",
            {"precision_bytes": self.figures.precision},
        )
        reason = self._unsuited()
        if reason:
            return self._infeasible(reason)
        grid = self._grid() if explicit is None else explicit.grid
        exchange = self._exchange(grid)
        if explicit is not None:
            self._check(explicit, exchange)
            return self._feasible(explicit, exchange, "explicit")
        slots = self._slots(exchange, grid)
        if isinstance(slots, str):
            return self._infeasible(slots)
        space = self._space(grid, exchange, slots)
        choice = choose(space)
        if choice.cut is None:
            return self._infeasible(
                f"the smallest shards need {choice.least_bytes} B of sram, "
                f"a chiplet of {self.figures.name} has {self.figures.sram_bytes} B"
            )
        self._log(
            "pieces",
            "pieces",
            str(choice.cut),
            "fewest bytes from off chip, then fewest computes, of the cuts whose longest pieces fit: "
            "buffers x slots x (m k a + k n b) + m n out <= capacity",
            {"buffers": space.buffers, "slots": slots, "capacity": self.figures.sram_bytes},
            choice.rejected,
        )
        if _computes(choice.cut) > MAX_COMPUTES:
            return self._infeasible(
                f"the largest shards that fit make {_computes(choice.cut)} computes, "
                f"this version takes at most {MAX_COMPUTES}"
            )
        return self._feasible(choice.cut, exchange, "automatic")

    def _unsuited(self) -> str:
        """Why this planner cannot plan on the machine at all; empty if it can."""
        chiplets = self.figures.rows * self.figures.columns
        if self.figures.wires != tuple(range(chiplets)):
            return (
                f"shards are spread over a memory for each of {chiplets} chiplets, "
                f"{self.figures.name} has {len(self.figures.wires)}, or wires them otherwise"
            )
        if self.planner == "cannon" and self.figures.rows != self.figures.columns:
            return (
                f"shards circulate on a square grid, {self.figures.name} has {self.figures.rows} rows and "
                f"{self.figures.columns} columns; summa takes any"
            )
        return ""

    def _grid(self) -> tuple[int, int]:
        """Choose the chiplets that work: all, unless the product has fewer elements than they are."""
        _, m, n, k = self.product.sizes
        rows, columns = min(self.figures.rows, m), min(self.figures.columns, n)
        formula = "no more rows than m, no more columns than n"
        if self.planner == "cannon":
            rows = columns = min(rows, columns, k)
            formula = "the largest square with no more rows than m, columns than n, pieces than k"
        whole = (self.figures.rows, self.figures.columns)
        rejected = () if (rows, columns) == whole else (_by_x(whole) + ": some chiplets would have no work",)
        inputs = {"grid": _by_x(whole), "m": m, "n": n, "k": k}
        self._log("grid", "grid", _by_x((rows, columns)), formula, inputs, rejected)
        return rows, columns

    def _exchange(self, grid: tuple[int, int]) -> str:
        """Choose how shards get to where they are needed."""
        rows, columns = grid
        if self.planner == "direct":
            exchange = "skewed" if rows == columns <= self.product.sizes[3] else "direct"
            lost = ("direct: all chiplets of a row would load one shard at once",) * (exchange == "skewed")
            formula = "in Cannon's order on a square grid, else in order of k"
        else:
            exchange, formula = self.planner, "the planner's own"
            lost = (f"direct: a would leave memories off chip {columns} times, b {rows} times",)
        self._log("exchange", "exchange", exchange, formula, {"grid": _by_x(grid)}, lost)
        return exchange

    def _slots(self, exchange: str, grid: tuple[int, int]) -> int | str:
        """Choose the slots: those of the machine; or say why they are too few."""
        slots, least = self.figures.slots, 2 if exchange == "cannon" and grid != (1, 1) else 1
        lost = ("1: everybody would wait for a neighbour's free slot",) if least == 2 else ()
        self._log("buffers", "slots", slots, "memory.sram.slots", {"least": least}, lost)
        if slots < least:
            return f"shards that circulate need {least} slots, {self.figures.name} has sram.slots = {slots}"
        return slots

    def _space(self, grid: tuple[int, int], exchange: str, slots: int) -> Space:
        circular = exchange in ("cannon", "skewed")
        return Space(
            product=self.product,
            grid=grid,
            slots=slots,
            buffers=_buffers(exchange),
            turn=max(grid) if exchange != "direct" else 1,
            partial=not circular,
            capacity=self.figures.sram_bytes,
        )

    def _check(self, cut: Cut, exchange: str) -> None:
        """Check an explicit cut.

        Raises:
            MappingError: If it does not suit the product, the grid or the memory.
            OutsideModelError: If it makes too many computes.
        """
        problem = _misfit(self.product, self.figures, cut, exchange)
        if problem:
            raise MappingError(f"{cut}: {problem}", place=Place("--mapping"))
        if _computes(cut) > MAX_COMPUTES:
            raise OutsideModelError(
                f"{cut}: {_computes(cut)} computes, this version takes at most {MAX_COMPUTES}",
                place=Place("--mapping"),
                mend="cut fewer pieces",
            )

    def _feasible(self, cut: Cut, exchange: str, source: str) -> Plan:
        figures, bus = self.figures, self.figures.topology == "bus"
        parameters: dict[str, Any] = {
            "mapping": str(cut),
            "source": source,
            "exchange": exchange,
            "grid": list(cut.grid),
            "machine_grid": [figures.rows, figures.columns],
            "pieces": list(cut.pieces),
            "dtypes": list(self.product.dtypes),
            "sram_bytes_needed": cut.bytes_needed(self.product, _buffers(exchange)),
        }
        return Plan(
            planner=self.planner,
            semantics=SEMANTICS,
            tiling=cut.tiling(self.product),
            order=("b", "m rounds", "n rounds", "k"),
            cores=f"block (m, n) on chiplet (m mod {cut.grid[0]}, n mod {cut.grid[1]}), all its k in turn",
            buffering={"sram": cut.slots},
            parameters=parameters,
            predicted=predicted_terms(self.product, cut, exchange, bus=bus)
            | bound_terms(self.product, cut, exchange, figures),
            decisions=tuple(self.decisions),
        )

    def _infeasible(self, reason: str) -> Plan:
        return Plan(
            planner=self.planner,
            semantics=SEMANTICS,
            feasible=False,
            reason=reason,
            decisions=tuple(self.decisions),
        )

    def _log(
        self,
        stage: str,
        name: str,
        value: object,
        formula: str,
        inputs: dict[str, Any],
        rejected: tuple[str, ...] = (),
    ) -> None:
        self.decisions.append(
            Decision(stage=stage, name=name, inputs=inputs, formula=formula, value=value, rejected=rejected)
        )


def _misfit(product: Product, figures: MeshFigures, cut: Cut, exchange: str) -> str:
    """Say why an explicit cut cannot be; empty if it can."""
    (rows, columns), pieces = cut.grid, cut.pieces
    if rows > figures.rows or columns > figures.columns:
        return f"the machine has {figures.rows} x {figures.columns} chiplets"
    if exchange in ("cannon", "skewed") and rows != columns:
        return f"shards circulate on a square grid, got {rows} rows and {columns} columns"
    if pieces[0] != product.sizes[0]:
        return f"products are computed one by one, {product.sizes[0]} of them, got b{pieces[0]}"
    ends = {"m": rows, "n": columns} | ({"k": rows} if exchange in ("cannon", "skewed") else {})
    for name, count, size in zip("mnk", pieces[1:], product.sizes[1:], strict=True):
        if count % ends.get(name, 1):
            return f"expected a multiple of {ends[name]} pieces of {name}, one for each chiplet, got {count}"
        if count > size:
            return f"{count} pieces of {name}, which has {size} elements"
    needed = cut.bytes_needed(product, _buffers(exchange))
    if figures.sram_bytes is not None and needed > figures.sram_bytes:
        return f"the shards need {needed} B of sram, a chiplet has {figures.sram_bytes} B"
    return ""


def _buffers(exchange: str) -> int:
    """Buffers of each input on every chiplet: one that broadcasts also has one for what it owns."""
    return 2 if exchange == "summa" else 1


def _computes(cut: Cut) -> int:
    return cut.pieces[0] * cut.pieces[1] * cut.pieces[2] * cut.pieces[3]


def _by_x(grid: tuple[int, int]) -> str:
    return f"{grid[0]}x{grid[1]}"
