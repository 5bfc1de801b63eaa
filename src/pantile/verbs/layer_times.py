"""What a run says of each of its layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pantile.targets.systolic.result import TERMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pantile.targets.systolic.config import SystolicConfig
    from pantile.targets.systolic.totals import Totals
    from pantile.verbs.families import PlannedLayer

ACTIVE_TERMS = (TERMS.index("compute"), TERMS.index("drain"))
"""Classes of cycles in which the array is active."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTimes:
    """One layer of a run.

    Attributes:
        planned: Its node, plan and program.
        totals: What its program holds.
        start_cycle: Core cycle in which it began, as ONNXim prints it.
        finish_cycle: Core cycle in which its last tile was handed over.
        cycles: Cycles that count to it; those of all layers, skip layers included, sum to the run's.
        terms: Cycles by class on the core that finishes the layer last; they sum to *cycles*.
        mac_utilisation: Useful MACs / (PEs x cycles).
        busy: Cycles with an array active / (cores x cycles).
    """

    planned: PlannedLayer
    totals: Totals
    start_cycle: int
    finish_cycle: int
    cycles: int
    terms: dict[str, int]
    mac_utilisation: float
    busy: float

    @property
    def bound_by(self) -> str:
        """The largest term."""
        return largest(self.terms)

    def to_json(self) -> dict[str, Any]:
        """Return the layer as an entry of ``per_layer``."""
        planned = self.planned
        return {
            "node": planned.node.name,
            "op_type": planned.node.op_type,
            "shape": str(planned.node.computation),
            "model": "pantile" if planned.program.labels else "onnxim",
            "labels": list(planned.program.labels),
            "mapping": planned.plan.parameters["mapping"],
            **self.totals.to_json(),
            "start_cycle": self.start_cycle,
            "finish_cycle": self.finish_cycle,
            "cycles": self.cycles,
            "terms": self.terms,
            "utilisation": {"mac": self.mac_utilisation, "busy": self.busy},
            "bound_by": self.bound_by,
        }


def named_terms(cycles: Iterable[int]) -> dict[str, int]:
    """Return cycles by the names of their classes."""
    return {name: int(count) for name, count in zip(TERMS, cycles, strict=True)}


def largest(terms: dict[str, int]) -> str:
    """Return the name of the largest term; of equals the first."""
    return max(terms, key=lambda name: terms[name])


def mac_utilisation(macs: int, config: SystolicConfig, cycles: int) -> float:
    """Return useful MACs / (PEs x cycles), 0 where there are no cycles."""
    elements = sum(height * width for height, width in zip(config.heights, config.widths, strict=True))
    return macs / (elements * cycles) if cycles else 0.0


def useful_macs(planned: PlannedLayer, totals: Totals) -> int:
    """Return the MACs that count as useful: those of the workload, however often a mapping repeats them."""
    return min(totals.macs, planned.node.macs)
