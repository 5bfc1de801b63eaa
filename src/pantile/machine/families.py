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
    "ascend": {
        "event_ids": Constant(
            meaning="ids of flags that each pair of pipes has; 8 where it is not said", required=False
        ),
        "architecture": Constant(
            meaning="architecture tag of the cores, such as dav-c220", kind="text", required=False
        ),
        "vector_cores": Constant(
            meaning="vector cores of the chip; two for each cube core where it is not said", required=False
        ),
        "cube_freq_mhz": Constant(meaning="cube clock that CANN's platform file states", required=False),
        "ddr_rate": Constant(
            meaning="bytes per core and cycle from the chip's memory, of CANN's platform file", required=False
        ),
        "l2_rate": Constant(
            meaning="bytes per core and cycle from L2, of CANN's platform file", required=False
        ),
        "soc_cores": Constant(
            meaning="ai_core_cnt of CANN's platform file; the cores of the grid where it is not said",
            required=False,
        ),
        "deterministic_level": Constant(
            meaning="deterministic computing; CANN splits K over cores up to level 1, 0 where it is not said",
            minimum=0,
            required=False,
        ),
        "peak_flops": Constant(
            meaning="floating-point operations per second of all cores on 2-byte inputs", required=False
        ),
        "peak_flops_1_byte": Constant(meaning="the same on 1-byte inputs", required=False),
        "peak_flops_4_byte": Constant(meaning="the same on 4-byte inputs", required=False),
        "gm_bytes_per_second": Constant(
            meaning="rate of the chip's memory, shared by all cores and by reads and writes", required=False
        ),
        "l2_bytes_per_second": Constant(meaning="rate of L2 reads, shared by all cores", required=False),
        "core_gm_bytes_per_second": Constant(
            meaning="most that one core can draw of gm_bytes_per_second; an equal share where it is not said",
            required=False,
        ),
        "min_run_bytes": Constant(
            meaning="smallest contiguous run of a move to L1 that does not waste its path", required=False
        ),
        "min_move_bytes": Constant(
            meaning="smallest move to L1 that does not waste its path", required=False
        ),
        "max_panel_readers": Constant(
            meaning="most cores that may read one panel at a time without a conflict", required=False
        ),
        "cube_grain": Constant(
            meaning="elements of M, N and K that the cube takes at a time", required=False
        ),
        "block_overhead_ps": Constant(
            meaning="fixed cost of a block on its core in picoseconds; 0 where it is not said",
            minimum=0,
            required=False,
        ),
        "fp32_cube_factor": Constant(
            meaning="cycles of the cube for 16 x 8 x 16 on fp32; 16 x 16 x 16 on 2-byte inputs take one",
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
