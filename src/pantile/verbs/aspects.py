"""Plans of different planners in the same dimensions, so that they can be set side by side.

The dimensions are those in which an analysis of ASW_Basic compares itself with the operator. A planner that
has no reading of its own here is shown by its levels, order and cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pantile.tiling.plan import Decision, Plan


@dataclass(frozen=True, slots=True)
class Aspect:
    """One plan in one dimension.

    Attributes:
        value: Figures by name; two plans part where a name that both have differs.
        decision: Stage and name of the decision that it comes from; empty if it is not logged.
    """

    value: dict[str, Any]
    decision: tuple[str, str] = ("", "")


def aspects_of(plan: Plan) -> dict[str, Aspect]:
    """Return a plan in every dimension that it has, in the order in which they are decided."""
    return _READERS.get(plan.planner, _generic)(plan)


def parted(a: Aspect | None, b: Aspect | None) -> bool:
    """Whether two plans differ in a dimension, which they do where only one of them has it."""
    if a is None or b is None:
        return a is not b
    return any(a.value[name] != b.value[name] for name in a.value if name in b.value)


def _logged(plan: Plan, stage: str, name: str) -> Any:
    """Return the value of a decision; ``None`` where it is not logged."""
    found = decision_of(plan, Aspect({}, (stage, name)))
    return None if found is None else found.value


def decision_of(plan: Plan, aspect: Aspect) -> Decision | None:
    """Return the last decision that an aspect comes from."""
    stage, name = aspect.decision
    found = [each for each in plan.decisions if (each.stage, each.name) == (stage, name)]
    return found[-1] if found else None


def _asw(plan: Plan) -> dict[str, Aspect]:
    figures = plan.parameters
    mode = figures["entry"]["mode"]
    ways = {
        "asw": "blocks of m and n",
        "reduce": "blocks of m and n, too few to fill all cores",
        "rejected": "k, by another branch",
    }
    found = {"entry": Aspect({"way": ways[mode], "mode": mode}, ("0 entry", "mode"))}
    if "base_tile" in figures:
        found["base tile"] = Aspect(figures["base_tile"], ("1 L0 tile", "base_tile"))
    again = "recut" in figures.get("tail", {})
    block = ("4 tail", "recut") if again else ("2 single-core block", "block")
    if "single_core" in figures:
        found["single-core tile"] = Aspect(_only(figures["single_core"], "m", "n", "k_l1"), block)
        dealt = figures["assignment"]
        where = ("3 assignment", "assignment" if "order" in figures else "used_cores")
        found["assignment"] = Aspect(
            {"dealt": dealt["kind"], "used_cores": dealt["used_cores"], "blocks": dealt["blocks"]}, where
        )
    if "order" in figures:
        order, counts = figures["order"], figures["single_core"]
        across = counts["rows"] if order["fastest"] == "m" else counts["columns"]
        window = min(order["window"], across) if order["name"] == "swizzle" else 0
        found["swizzle"] = Aspect(
            {"order": order["name"], "window": window, "fastest": order["fastest"]},
            ("5 block order", "order"),
        )
        tail = figures["tail"]
        recut = tail.get("recut")
        executed = {"waves": recut["waves"] if recut else tail["waves"], "strategy": tail["strategy"]}
        extra = {name: tail[name] for name in ("recut", "pieces") if name in tail}
        found["tail"] = Aspect({**executed, "remainder": tail["remainder"], **extra}, ("4 tail", "strategy"))
        found["L2"] = Aspect(_only(figures["l2"], "groups", "outputs", "scene"), ("6 L2", "outputs"))
    few = figures["reduction"]
    reduced = {"reduced": few["used_cores"] < few["cores"], "used_cores": few["used_cores"]} if few else {}
    found["reduction"] = Aspect(reduced or {"reduced": False}, ("0 entry", "mode"))
    found["full load"] = Aspect(figures["full_load"], ("7 totals", "AL1_full_load"))
    return found


def _cann(plan: Plan) -> dict[str, Aspect]:
    figures = plan.parameters
    branch = figures.get("branch", "")
    way = "blocks of m and n" if branch == "ASW_BASIC" else branch
    folded = _logged(plan, "entry", "folded") or 1
    if folded > 1:
        way += f", {folded} batches folded into rows"
    where = ("entry", "folded") if folded > 1 else ("branch", "branch")
    found = {"entry": Aspect({"way": way, "branch": branch}, where)}
    run, packed, predicted = figures.get("runInfo"), figures.get("tilingData"), plan.predicted
    if run and packed:
        cut = ("GetRebalanceBlock", "baseM, baseN")
        found["base tile"] = Aspect({"m": run["baseM"], "n": run["baseN"], "k": run["baseK"]}, cut)
        size = {"m": packed["mL1"], "n": packed["nL1"], "k_l1": packed["kL1"]}
        found["single-core tile"] = Aspect(size, cut)  # which is the base tile: there is one level
        used, tiles = run["usedCoreNum"], predicted["tiles"]
        placed = ("block order", "rounds")
        found["assignment"] = Aspect({"dealt": "linear", "used_cores": used, "blocks": tiles}, placed)
        window = {"order": "swizzle", "window": figures["window"], "fastest": "m"}
        found["swizzle"] = Aspect(window, ("block order", "window"))
        remainder = tiles % figures["blockDim"]
        tail = {
            "waves": predicted["rounds"],
            "strategy": "A0" if remainder else "none",
            "remainder": remainder,
        }
        found["tail"] = Aspect(tail, placed)
        kept = {0: "A and B", 1: "B", 2: "A", 3: "neither"}[packed["l2CacheDisable"]]
        found["L2"] = Aspect(
            {"groups": 1, "outputs": "allocate", "inputs": kept}, ("packing", "l2CacheDisable")
        )
        # Cores stay idle where there are fewer tiles than cores; no rule of the source reduces them (E-47).
        found["reduction"] = Aspect({"reduced": False, "used_cores": used}, placed)
    loads = {"left": branch == "AL1_FULL_LOAD_BASIC", "right": branch == "BL1_FULL_LOAD_BASIC"}
    found["full load"] = Aspect(loads, ("branch", "branch"))
    return found


def _generic(plan: Plan) -> dict[str, Aspect]:
    """A plan of any planner: its levels, its order, its cores and its buffers."""
    found: dict[str, Aspect] = {}
    if plan.tiling is not None:
        for level, sizes in zip(plan.tiling.levels, plan.tiling.nominal_sizes, strict=True):
            found[f"level {level.name}"] = Aspect(dict(zip(plan.tiling.dimensions, sizes, strict=True)))
    found["order"] = Aspect({"loops": " > ".join(plan.order)})
    found["cores"] = Aspect({"placed": plan.cores})
    found["buffering"] = Aspect(dict(plan.buffering))
    return found


def _only(figures: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: figures[name] for name in names}


_READERS: dict[str, Callable[[Plan], dict[str, Aspect]]] = {"asw": _asw, "cann": _cann}
