"""What the verbs take: the command line's strings, or values."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pantile.errors import Place, UsageError
from pantile.machine import Machine, load_machine
from pantile.workload.load import load_workload
from pantile.workload.matmul import Matmul
from pantile.workload.network import Network, network_of
from pantile.workload.text import format_workload

if TYPE_CHECKING:
    from collections.abc import Mapping

WorkloadLike = str | os.PathLike[str] | Matmul | Network
MachineLike = str | os.PathLike[str] | Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """How a workload is to be planned; every verb takes these.

    Attributes:
        planner: Name of the planner; ``None`` is the machine's own.
        mapping: Text of a mapping, or path of a file of them; ``None`` is the automatic one.
        semantics: Which reading of the planner's rules to use; ``None`` is its default.
        dims: Sizes of symbolic dimensions of an ONNX file.
    """

    planner: str | None = None
    mapping: str | None = None
    semantics: str | None = None
    dims: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("planner", "semantics"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise UsageError(f"{name} must be a text, got {given!r}")
        if self.mapping is not None and not isinstance(self.mapping, str | os.PathLike):
            raise UsageError(f"mapping must be a text or a path, got {self.mapping!r}")


def with_reading(options: PlanOptions) -> PlanOptions:
    """Return *options* with a reading that stands after a planner's name, as in ``asw:published``, put apart.

    Raises:
        UsageError: If there is another reading already.
    """
    planner, colon, reading = (options.planner or "").partition(":")
    if not colon:
        return options
    if options.semantics is not None:
        raise UsageError(
            f"{options.planner!r} names its semantics, got {options.semantics!r} too", mend="leave one out"
        )
    if not reading:
        raise UsageError(
            f"expected semantics after the colon of {options.planner!r}", mend=f"write {planner}"
        )
    return replace(options, planner=planner or None, semantics=reading)


def machine_of(machine: MachineLike) -> Machine:
    """Return the machine that *machine* is or names.

    Raises:
        PantileError: If it is or names none.
    """
    if not isinstance(machine, Machine | str | os.PathLike):
        raise UsageError(
            f"a machine is the name of a preset, a path or a Machine, got {machine!r}",
            mend="`pantile machines` lists the presets",
        )
    return machine if isinstance(machine, Machine) else load_machine(machine)


def refuse_core(core: int | None) -> None:
    """Refuse to run one core alone, of a machine whose cores share what they run on.

    Raises:
        UsageError: If one is named.
    """
    if core is not None:
        raise UsageError(
            "it chooses what --trace draws, got no --trace",
            place=Place("--core"),
            mend="add --trace FILE, or leave --core out",
        )


def networks_of(workload: WorkloadLike, dims: Mapping[str, int]) -> tuple[Network, ...]:
    """Return the networks that *workload* is or names: one, or one per row of a table.

    Raises:
        PantileError: If it names none, or *dims* are given for something else than an ONNX file.
    """
    if isinstance(workload, Matmul):
        workload = network_of(workload, source=format_workload(workload))
    if not isinstance(workload, Network | str | os.PathLike):
        raise UsageError(
            f"a workload is a text, a path, a Matmul or a network, got {workload!r}",
            mend="write 'gemm:m=32,n=32,k=64', for example",
        )
    if not isinstance(workload, Network):
        return load_workload(workload, dims=dims)
    if dims:
        raise UsageError(f"a workload value has no open dimensions, got {', '.join(dims)}")
    return (workload,)


def is_many(workload: WorkloadLike) -> bool:
    """Whether *workload* is a table of workloads, even if it has a single row."""
    return isinstance(workload, str | os.PathLike) and os.fspath(workload).lower().endswith(".csv")


def network_text(network: Network) -> str:
    """Return the text that names *network* again: its file, or its product where it is no file."""
    if _is_onnx(network.source) or len(network.nodes) != 1:
        return network.source or network.name
    return node_text(network, network.nodes[0].name)


def node_text(network: Network, name: str) -> str:
    """Return the text that names one node of *network* again."""
    if _is_onnx(network.source):
        return network.source if "#" in network.source else f"{network.source}#{name}"
    product = next(node.computation for node in network.nodes if node.name == name)
    return format_workload(product) if isinstance(product, Matmul) else network.source or name


def _is_onnx(source: str) -> bool:
    return source.partition("#")[0].lower().endswith(".onnx")
