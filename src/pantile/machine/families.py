"""The free tables: which constants each family of machines reads beyond the common ones."""

from __future__ import annotations

from pantile.machine.constant import Constant

FAMILIES: dict[str, dict[str, Constant]] = {
    "systolic": {
        "core_type": Constant(
            meaning="which operand stays in the array: systolic_ws the weights, systolic_os the outputs",
            kind="text",
            choices=("systolic_ws", "systolic_os"),
            per_core=True,
        ),
        "precision_bytes": Constant(meaning="bytes of one element of any tensor"),
        "dram_type": Constant(
            meaning="model of the DRAM", kind="text", choices=("simple", "ramulator", "ramulator2")
        ),
        "channels": Constant(meaning="DRAM channels; the address hash exists for 1 to 16, 32 and 64"),
        "dram_latency_cycles": Constant(
            meaning="DRAM cycles of an access", minimum=0, needed_with=("dram_type", "simple")
        ),
        "dram_config_path": Constant(
            meaning="configuration of a DRAM model other than simple", kind="text", required=False
        ),
        "noc_type": Constant(meaning="model of the network", kind="text", choices=("simple", "booksim2")),
        "noc_latency_cycles": Constant(
            meaning="network cycles of a hop", minimum=0, needed_with=("noc_type", "simple")
        ),
        "noc_config_path": Constant(
            meaning="configuration of a network model other than simple", kind="text", required=False
        ),
        "ports_per_core": Constant(meaning="network ports per core: requests injected per network cycle"),
        "scheduler": Constant(
            meaning="which layers run side by side",
            kind="text",
            choices=("simple", "partition_cpu", "time_multiplex", "spatial_split"),
        ),
        "partition": Constant(
            meaning="partition of each core; absent means that all are in partition 0",
            kind="counts",
            minimum=0,
            required=False,
        ),
        "layout": Constant(
            meaning="order of a convolution's dimensions; no effect on matrix products",
            kind="text",
            choices=("NHWC", "NCHW"),
        ),
        "unread": Constant(
            meaning="keys of an imported file that nothing reads, kept as they were",
            kind="table",
            required=False,
        ),
    },
    "mesh": {
        "topology": Constant(
            meaning="mesh: chiplets are linked to their neighbours in rows and columns; bus: all to one bus",
            kind="text",
            choices=("mesh", "bus"),
        ),
        "precision_bytes": Constant(
            meaning="bytes of an element of a product that names no type: 1 int8, 2 bf16, 4 fp32", maximum=4
        ),
        "wires": Constant(
            meaning="chiplet that each memory off chip is wired to, counted row by row; absent: its own",
            kind="counts",
            minimum=0,
            required=False,
        ),
    },
}
"""Constants of ``[family.<name>]``, by family and key."""
