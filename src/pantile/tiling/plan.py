"""Plans: a tiling that a planner decided on, with the log of its decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pantile.tiling.plan_text import plan_lines
from pantile.tiling.tiling import Tiling

if TYPE_CHECKING:
    from pantile.workload.network import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One step of a planner: what was computed, from what, and what lost.

    Attributes:
        stage: The planner's stage, e.g. ``"capacity"``.
        name: What was decided, e.g. ``"max_ij"``.
        inputs: Figures that went in, by name.
        formula: How the value follows from the inputs, in plain mathematics.
        value: The result.
        rejected: Alternatives that lost, each with its reason.
    """

    stage: str
    name: str
    inputs: dict[str, Any] = field(default_factory=dict)
    formula: str = ""
    value: Any = None
    rejected: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the decision as the object that ``--json`` prints."""
        return {
            "stage": self.stage,
            "name": self.name,
            "inputs": self.inputs,
            "formula": self.formula,
            "value": self.value,
            "rejected": list(self.rejected),
        }


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a result that a reader must not miss.

    Attributes:
        code: The quirk's or model's identifier, e.g. ``"Q17"`` or ``"model"``.
        text: One sentence.
    """

    code: str
    text: str

    def to_json(self) -> dict[str, str]:
        """Return the note as the object that ``--json`` prints."""
        return {"code": self.code, "text": self.text}

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one product is cut and placed, and why.

    Attributes:
        planner: Name of the planner.
        semantics: Which reading of the planner's rules was used.
        feasible: Whether there is a plan at all; where not, *reason* names the constraint.
        reason: The violated constraint with its two numbers; empty where feasible.
        tiling: The levels of the cut; ``None`` where infeasible, and where no nested cut says what is
            done because work is lost or repeated.
        order: Loops over the outermost level, outermost loop first.
        cores: How the tiles are placed on cores, in words.
        buffering: Slots of each memory, by memory name.
        parameters: The planner's own figures; a target reads its notation from here.
        predicted: Terms known in closed form, by name.
        decisions: The ordered log.
        notes: Quirks met and model labels.
    """

    planner: str
    semantics: str
    feasible: bool = True
    reason: str = ""
    tiling: Tiling | None = None
    order: tuple[str, ...] = ()
    cores: str = ""
    buffering: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    predicted: dict[str, Any] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Note, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the plan's own part of the object that ``plan --json`` prints."""
        tiling = self.tiling
        levels = []
        if tiling is not None:
            for level, nominal in zip(tiling.levels, tiling.nominal_sizes, strict=True):
                named = dict(zip(tiling.dimensions, level.factors, strict=True))
                sizes = dict(zip(tiling.dimensions, nominal, strict=True))
                cut: dict[str, Any] = {"name": level.name, "factors": named, "nominal_size": sizes}
                if level.bounds:
                    cut["bounds"] = dict(zip(tiling.dimensions, map(list, level.bounds), strict=True))
                levels.append(cut)
        total = dict(zip(tiling.dimensions, tiling.total, strict=True)) if tiling else {}
        return {
            "planner": self.planner,
            "semantics": self.semantics,
            "feasible": self.feasible,
            "reason": self.reason,
            "total": total,
            "levels": levels,
            "order": list(self.order),
            "cores": self.cores,
            "buffering": self.buffering,
            "parameters": self.parameters,
            "predicted": self.predicted,
            "decisions": [decision.to_json() for decision in self.decisions],
            "notes": [note.to_json() for note in self.notes],
        }

    def __str__(self) -> str:
        who = f"{self.planner} {self.semantics}"
        if not self.feasible:
            return f"{who}: infeasible: {self.reason}"
        return "\n".join([who, *plan_lines(self)])

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """Rebuild a plan from :meth:`to_json`'s object; keys of other owners are ignored.

        Raises:
            KeyError: If a key of the plan is missing.
        """
        tiling = None
        if data["levels"]:
            dimensions = list(data["total"])
            tiling = Tiling.from_json(
                {
                    "dimensions": dimensions,
                    "total": [data["total"][d] for d in dimensions],
                    "levels": [
                        {
                            "name": level["name"],
                            "factors": [level["factors"][d] for d in dimensions],
                            "bounds": [level["bounds"][d] for d in dimensions] if "bounds" in level else [],
                        }
                        for level in data["levels"]
                    ],
                }
            )
        return cls(
            planner=data["planner"],
            semantics=data["semantics"],
            feasible=data["feasible"],
            reason=data["reason"],
            tiling=tiling,
            order=tuple(data["order"]),
            cores=data["cores"],
            buffering=data["buffering"],
            parameters=data["parameters"],
            predicted=data["predicted"],
            decisions=tuple(
                Decision(**{**each, "rejected": tuple(each["rejected"])}) for each in data["decisions"]
            ),
            notes=tuple(Note(**each) for each in data["notes"]),
        )


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node with its plan, or with the reason why it is outside the model.

    Attributes:
        node: The node.
        plan: Its plan, feasible or not; ``None`` outside the model.
        outside: The reason; empty where there is a plan.
    """

    node: Node
    plan: Plan | None
    outside: str = ""
