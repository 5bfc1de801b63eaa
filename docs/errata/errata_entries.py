"""What docs/errata-asw.md says of each erratum: as printed, as it is, and what shows it.

``{name}`` stands for a figure that a function of errata_figures.py computes; the words are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import errata_figures as f


@dataclass(frozen=True, slots=True)
class Entry:
    """One erratum.

    Attributes:
        code: Its number.
        place: Sections of the analysis.
        printed: What stands there.
        right: What is right, with figures in braces.
        figures: Computes them; ``None`` where there are none.
        command: A command whose output shows it; empty where the page's own script does.
        shows: Beginnings of the output lines that are shown.
        letters: Letters that the list of errata has behind this number.
    """

    code: str
    place: str
    printed: str
    right: str
    figures: Callable[[], dict[str, Any]] | None = None
    command: str = ""
    shows: tuple[str, ...] = ()
    letters: str = ""


CHAPTERS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Constants, units, symbols",
        (
            Entry(
                "E-01",
                "[1.3], [5.6]",
                "32 cores compute 432 TFLOPS in [5.6]: 844 GB/s and 1.69 TB/s of output, 318 us, 1.05 TB/s.",
                "[1.3] says 486: {out512_new:.0f} GB/s and {out256_new:.0f} GB/s, {mmad_new:.1f} us, {bus_new:.2f} "
                "TB/s; with 432, {out512_old:.0f}, {out256_old:.0f}, {mmad_old:.0f} and {bus_old:.2f}. The conclusions "
                "stand. Both are presets.",
                f.peaks,
                "pantile plan bmm:b=8,m=4096,n=4096,k=512 -m ascend-950pr-432 -p asw --explain",
                ("    scene", "    bus"),
            ),
            Entry(
                "E-02",
                "[1.3], [5.10]",
                "A core computes 15.2 TFLOPS.",
                "{q16} TFLOPS; the examples use the rounded figure, and so do their tests.",
                f.units,
            ),
            Entry(
                "E-03",
                "throughout",
                "Sizes in MB.",
                "Capacities are binary: L2 is {l2} B. Example sizes are decimal: {mb:.1f} MB are {mib} MiB.",
                f.units,
            ),
            Entry(
                "E-04",
                "[3.1], [5.2]",
                "T_FIX divides by W_pc, which is not defined.",
                "It is the memory's share of a core, {share:.0f} GB/s: {out_mb:.0f} MB take {fix:.1f} us to write.",
                f.units,
            ),
            Entry(
                "E-05",
                "[2], [5.2], [5.9], [7.2]",
                "One letter P for b m n 4 / L0C and for ceil(C / b); the flowchart computes the second and tests it "
                "as the first.",
                "Two quantities: 8 x 2048 x 2048 fills {wide_filled:.0f} L0C and needs {wide_split} blocks per batch. "
                "{wide_split} < 32 would reduce cores on it.",
                f.two_meanings,
                "pantile plan bmm:b=8,m=2048,n=2048,k=1024 -m ascend-950pr -p asw --semantics published --explain",
                ("    P_par", "    P_split", "    mode"),
            ),
            Entry(
                "E-51",
                "[5.1]",
                "A 16 x 16 result is 512 B.",
                "{l0c} B in L0C, which holds fp32; {out} B after conversion.",
                f.units,
            ),
            Entry(
                "E-52",
                "[5.3], [5.10]",
                "Compute bound if T_MMAD > T_MTE2; or if K >= K*.",
                "They differ at equality. A tie counts as {bound} bound here.",
                f.tie_on_bounds,
            ),
        ),
    ),
    (
        "Entry and core reduction",
        (
            Entry(
                "E-06",
                "[2], [5.9]",
                "ceil(P) cores are used where P < C, the others rest.",
                "Blocks of different batches share no L0C. 64 x 32 x 32: {small_published} core as published, "
                "{small_corrected} have a batch of their own.",
                f.two_meanings,
                "pantile compare bmm:b=31,m=64,n=32,k=256 -m ascend-950pr -p asw:published -p asw",
                ("  * assignment", "    judge", "  asw corrected", "  E-06"),
            ),
            Entry(
                "E-54",
                "[2], [5.2]",
                "b >= C implies P = 1, so the product stays whole.",
                "64 x 32 x 32 fills {small_filled:.0f} L0C: core reduction takes it before that rule is asked.",
                f.two_meanings,
            ),
        ),
    ),
    (
        "L0 tile",
        (
            Entry(
                "E-07",
                "[5.1]",
                "The side of a tile grows from 256 to 362.",
                "From {double} to {single}; in whole grains from {aligned}. 362 x 362 takes {big} KiB, twice L0C.",
                f.l0_sides,
            ),
            Entry(
                "E-08",
                "[5.1]",
                "A narrow side is rounded down to 16.",
                "100 rows: {down} and {left} left over, or {up} rounded up. Below 16 nothing is left.",
                f.l0_sides,
                "pantile plan bmm:b=1,m=8,n=100000,k=512 -m ascend-950pr -p asw --semantics published",
                ("matmul",),
            ),
            Entry(
                "E-09",
                "[5.1], [7.3]",
                "baseK is limited by the shorter side; the operator's rule may overflow; half of L0 is idle at "
                "512 x 128; a forced tile never fills L0C.",
                "By the longer ({limit}): 512 x 128 allows {k}. The two rules are {same} for every tile from 16 to "
                "1024. {idle:.1f} % are idle. {tile} fills {full:.0f} %.",
                f.l0_sides,
                letters="abcd",
            ),
            Entry(
                "E-53",
                "[5.2]",
                "The complete enumeration has 6 candidates.",
                "{enough} meet constraints 1 and 4; {pass} of them meet all, so the choice stands.",
                f.full_example,
            ),
        ),
    ),
    (
        "Single-core tile",
        (
            Entry(
                "E-10",
                "[5.2]",
                "T_MTE2 counts kL1; (4,4) beats (8,4) by 47 % and (8,8) by 75 %.",
                "All of K moves: {whole_us:.1f} us, not {printed_us:.1f}; the margins are {whole84:.0f} % and "
                "{whole88:.0f} %. Over {total} typical products the printed objective moves more on {worse}, by up "
                "to {most:.0f} %.",
                lambda: {**f.full_example(), **f.objective()},
            ),
            Entry(
                "E-11",
                "[3.1], [5.2], [5.10]",
                "Two T_MTE2: what memory delivers, and one step of every block at its rate.",
                "With all of K at 50 GB/s no allowed block is compute bound: load over compute is {gm256:.2f} for 256 "
                "and {gm512:.2f} for 512. From L2 256 loads {l2_us:.1f} us and computes {compute_us:.1f}.",
                f.loads,
                "pantile compare bmm:b=1,m=1536,n=1536,k=256 -m ascend-950pr -p asw:published -p asw",
                ("  E-11",),
            ),
            Entry(
                "E-12",
                "[5.2]",
                "Blocks are multiples of the L0 tile.",
                "{any:.0f} % of {products} products of any size have no such block, {aligned:.0f} % of multiples of "
                "128, {narrow:.0f} % of {narrow_products} narrow ones. Corrected plans them all ({corrected} are left).",
                f.multiples,
                "pantile compare bmm:b=1,m=1800,n=1900,k=1024 -m ascend-950pr -p asw:published -p asw",
                ("  asw published", "  E-12"),
            ),
            Entry(
                "E-13",
                "[5.2], [7.2]",
                "The right operand's run stands in the list of constraints and not in the steps; nothing is said "
                "of K < 128.",
                "k = 64 is a run of {run} B: {lacking} of {total} products have no plan. Corrected asks for no more "
                "than an operand has.",
                f.shallow,
                "pantile plan bmm:b=4,m=2048,n=2048,k=96 -m ascend-950pr -p asw --semantics published",
                ("matmul",),
            ),
            Entry(
                "E-14",
                "[5.2]",
                "Of equal costs the largest tail wins.",
                "That ranks no tail last. On {shape} blocks of equal cost leave 0 or {rest}; corrected takes "
                "{chosen}.",
                f.ties,
            ),
            Entry(
                "E-19",
                "[5.2], [7.2]",
                "T = max(...) + T_tail.",
                "The maximum contains the tail. 63 blocks on 32 cores: {counted:.2f} block times, {right:.0f} are "
                "right.",
                f.counterexamples,
            ),
            Entry(
                "E-25",
                "[5.2]",
                "2048 x 512 at b = 32 and 1024 x 512 at b = 16 are optimal; (4,2) at b = 4; "
                "exactly P blocks.",
                "kL1 is {k32} and {k16}: runs of {bytes32} and {bytes16} B, below 256. {tied} tie at {cost:.6f}. The "
                "enumeration takes more blocks: {blocks} where {least} are enough.",
                lambda: {**f.first_table(), **f.full_example()},
                letters="abc",
            ),
            Entry(
                "E-39",
                "[5.2], [3.1]",
                "T_MMAD does not depend on the split.",
                "At perfect balance only. 33 x 512 x 512 x 1024 whole: {whole:.1f} us; in quarters, {waves} waves: "
                "{quarters:.1f} us, {saved:.0f} % less.",
                f.unsplit,
            ),
            Entry(
                "E-41",
                "[5.2]",
                "L2 is no bottleneck, 5.2 against 1.6 TB/s.",
                "It is from {factor} reads of a panel on: on {slower} of {total} typical products L2 takes longer.",
                f.l2_time,
                "pantile compare bmm:b=8,m=2048,n=2048,k=1024 -m ascend-950pr -p cann -p asw",
                ("  E-41",),
            ),
        ),
    ),
    (
        "Core assignment",
        (
            Entry(
                "E-20",
                "[4]",
                "Giving each batch cores of its own is never better than one list.",
                "On 32 cores the formula agrees ({worse32} exceptions in the cases tried), on 31 it does not: "
                "{linear31} panels against {first31}. In a simulated cache, 4 cores and 2 batches of 3 x 10 blocks "
                "of 512 x 64: {small_linear:,.0f} B against {small_batch_first:,.0f} B.",
                f.batch_first,
            ),
            Entry(
                "E-21",
                "[1.1], [2], [4]",
                "The same, of an operand that batches share.",
                "8 x 21 x 38 blocks of 256, k = 8192, one right operand of {shared_mib} MiB: {shared_linear:,.0f} B in one "
                "list, {shared_batch_first:,.0f} B in groups.",
                f.batch_first,
            ),
            Entry(
                "E-22",
                "[4.2], [4.3]",
                "A wave has one batch if a batch has C blocks, else ceil(C / (mCnt nCnt)).",
                "Waves straddle: in {over} of {total} grids of 32 to 199 blocks some wave has two batches. With 5 "
                "blocks a batch it is up to {bound}, not {printed}.",
                f.straddling,
            ),
            Entry(
                "E-23",
                "[4.3]",
                "One list is not worse in scenarios I and II.",
                "4 cores, 2 batches of 3 blocks, the last an eighth as wide: {edge_linear} block times, "
                "{edge_batch_first} in groups.",
                f.batch_first,
            ),
            Entry(
                "E-24",
                "[4.2], [4.4]",
                "Groups are uneven if C does not divide b.",
                "If b does not divide C: 5 batches on 32 cores get {cores}. One list has a tail and uneven edges "
                "too.",
                f.straddling,
            ),
            Entry(
                "E-26",
                "[5.5]",
                "W divides C, so windows are whole waves.",
                "Of {grids} grids of 4 to 32 squared, {whole} are. {above} have a wave of more than 12 panels, up "
                "to {largest}; on {worse} grids rows are better than windows.",
                f.windows,
            ),
            Entry(
                "E-27",
                "[5.5], [5.6]",
                "Window order, and at most 6 readers of a panel.",
                "Windows have {readers} readers, diagonals {diagonal} on 8 x 8 blocks, and the widest working set. "
                "Not both: the order is a choice.",
                f.windows,
                "pantile plan bmm:b=1,m=2048,n=2048,k=1024 -m ascend-950pr -p asw --explain",
                ("    order", "      not diagonal", "    transConflict"),
            ),
            Entry(
                "E-28",
                "[5.5]",
                "18 panels against 12.",
                "With 16 columns. On the 8 x 8 grid that is drawn rows have {row_major}, windows {window}.",
                f.windows,
            ),
        ),
    ),
    (
        "L2 grouping",
        (
            Entry(
                "E-29",
                "[5.2], [5.6]",
                "The working set of a group counts every batch: D = L2 / (b k dt).",
                "[4] keeps one batch live. The example then needs {mib} MiB and no groups: r_in = {right:.0f}, not "
                "{groups} groups.",
                f.groups,
                "pantile compare bmm:b=64,m=2048,n=2048,k=1024 -m ascend-950pr -p asw:published -p asw",
                ("  * L2", "  E-29", "  E-30"),
            ),
            Entry(
                "E-30",
                "[5.2], [5.6], [7.2]",
                "r_in counts blocks of a group.",
                "[5.2] counts groups, which is right. The example: {printed:.0f} printed, {by52:.0f} by [5.2], "
                "{right:.0f} with one batch live.",
                f.groups,
            ),
            Entry(
                "E-31",
                "[5.6]",
                "Groups of the output's shape are optimal.",
                "The closed form ignores where an operand ends. On {shape}: {closed:.4f} against {best:.4f}.",
                f.groups,
            ),
            Entry(
                "E-40",
                "[5.6]",
                "5.2 TB/s, introduced as the rate of reads, is used for writes.",
                "A constant of its own; nothing here writes at it: {written:.0f} B take {write:.5f} us at {rate:.1f} TB/s.",
                f.write_rate,
                "pantile plan bmm:b=8,m=2048,n=2048,k=1024 -m ascend-950pr -p asw --explain",
                ("    T_us = ",),
            ),
        ),
    ),
    (
        "Tail",
        (
            Entry(
                "E-15",
                "[5.3], [7.2]",
                "x_min is about 1, so 16 pieces; its limit is 16.",
                "{least:.1f}: at most {pieces} pieces. For large K it tends to {limit:.0f}; 16 is alignment.",
                f.hidden_pieces,
            ),
            Entry(
                "E-16",
                "[5.3], [6.8]",
                "Two pieces save 25 % of a memory-bound run of two waves.",
                "The rows do not shrink: {saved} % ({bound} bound), as [5.10] has it.",
                f.hidden_pieces,
            ),
            Entry(
                "E-17",
                "[5.3], [5.10]",
                "Strategy B cuts into multiples of the L0 tile.",
                "From blocks of 256, {whole} of {tails} tails. In whole grains {possible}; on {undivided} the batches "
                "do not divide the blocks of full waves.",
                f.strategy_b,
            ),
            Entry(
                "E-18",
                "[5.3], [5.10], [7.2]",
                "Tails of more than three waves are left alone.",
                "[5.10] has no such gate: its example 4 has {waves4} waves. It is an option here, off.",
                f.examples,
            ),
            Entry(
                "E-32",
                "[5.10]",
                "Memory bound, many waves: A1.",
                "No combination reaches that row: {picked} of {tried}. Example 4 is {lhs4:.3f} > {rhs4}, so B, "
                "while both take {a1_4:.2f} us.",
                lambda: {**f.unreachable(), **f.examples()},
            ),
            Entry(
                "E-33",
                "[5.10]",
                "Compute bound and r divides C: A1.",
                "It must be s* = C / r. 768 x 2816 x 2048: r = {divides_r}, s* = {divides_s}, so A1 takes A0's "
                "{divides_a0:.1f} us, and B {divides_b:.1f}.",
                f.counterexamples,
            ),
            Entry(
                "E-34",
                "[5.10]",
                "A0 is never optimal.",
                "5952 x 2288 x 128: A0 {a0_a0:.2f} us, A1 the same, B ({a0_tile}) {a0_b:.2f}.",
                f.counterexamples,
            ),
            Entry(
                "E-35",
                "[5.10]",
                "Compute bound, B is never worse than A1.",
                "16 x 1792 x 768 x 16384: A1 {b_a1_a1:.1f} us, B ({b_a1_tile}) {b_a1_b:.1f}. 4 x 2304 x 2304 x 1536: "
                "{b_a1_short_a1:.1f} against {b_a1_short_b:.1f}.",
                f.counterexamples,
            ),
            Entry(
                "E-36",
                "[5.10]",
                "B is better than A0.",
                "8 x 4535 x 2097 x 128: A0 {b_worse_a0:.1f} us, B ({b_worse_tile}) {b_worse_b:.1f}; the table says "
                "{b_worse_table}.",
                f.counterexamples,
            ),
            Entry(
                "E-37",
                "[5.10]",
                "B keeps the number of waves.",
                "Fewer can be quicker. Example 3 with all of K: {fewer} in one wave {fewer_us:.2f} us, B "
                "{same_us:.2f}.",
                f.examples,
            ),
            Entry(
                "E-38",
                "[5.10]",
                "Example 4 starts from 10 x 10 blocks; example 5's ideal is 8.2 %; example 2 moves "
                "1.15 times more; n_wave = 4 is the boundary.",
                "[5.2] chooses {choice}, r = {choice_r}. {ideal5:.2f} %. {more2:.3f} times. By the formula "
                "{lhs4:.3f} against {rhs4}.",
                f.examples,
                letters="abcd",
            ),
        ),
    ),
    (
        "Comparison with the source",
        (
            Entry(
                "E-42",
                "[6.3]",
                "The theory moves half as much: twice as fast; 16 blocks a core.",
                "By its own objective {objective:.0f} times, by traffic {ratio:.0f} times, by time not at all: "
                "computing takes {mmad:.0f} us, L2 {ours:.0f} or {theirs:.0f}. 16 blocks are a batch's.",
                f.source,
            ),
            Entry("E-43", "[6.8]", "25 %.", "{saved} %, see E-16.", f.hidden_pieces),
            Entry(
                "E-44",
                "[5.1], [6.2]",
                "A working set beyond L2 raises the edge: smaller tiles.",
                "The factor is 1 - 5.2 / 1.6 = {factor}: it lowers the edge, larger tiles.",
                f.source,
            ),
            Entry(
                "E-45",
                "[6.2]",
                "Large K lowers the edge.",
                "The term is {k64:.3f} at K = 64 and {k4096:.3f} at 4096: it rises.",
                f.source,
            ),
            Entry(
                "E-46",
                "[6.2]",
                "One core's peak against the whole chip's L2.",
                "The whole chip's peak: 1 / {edge:.1f}, not {edge_core:.3f}.",
                f.loads,
            ),
            Entry(
                "E-47",
                "[6.1], [6.4], [6.8], [6.9]",
                "The source has no core reduction, or has one; fp16 and bf16 only.",
                "2 x 300 x 300 has {used} blocks with work in its data and is launched on {launched} cores "
                "({branch}). fp32 passes unless B is NZ.",
                f.source,
                "pantile plan bmm:b=8,m=512,n=512,k=512,dtype=fp32 -m ascend-950pr",
                ("  branch",),
            ),
            Entry(
                "E-48",
                "[6.7]",
                "Every core needs four rounds.",
                "Or much to load: 128 x 20000 x 512 has {rounds} rounds of 128 that are asked for; theory: "
                "{theory}, operator: {by_source}.",
                f.source,
                "pantile plan bmm:b=1,m=128,n=20000,k=512 -m ascend-950pr -p asw --explain",
                ("    AL1_full_load", "      not True"),
            ),
            Entry(
                "E-49",
                "[6.6]",
                "100 MB, batches below cores, 6 readers, a tail of one half.",
                "Rules of another generation's file; what ASW_BASIC has here is the flag that planner cann shows as "
                "l2CacheDisable.",
                None,
                "pantile plan bmm:b=8,m=2048,n=2048,k=1024,dtype=bf16 -m ascend-950pr -p cann --explain",
                ("    l2CacheDisable = ",),
            ),
            Entry(
                "E-50",
                "[6.2], [7.1]",
                "A base of at most 256; kL1 of at least 256 B; mTailCnt from a tail rule; "
                "the kernel of the high-level interface.",
                "100 x 31 x 7069 x 48: base {base}, kL1 {k_l1} ({k_bytes} B), tails {tails}, interface {api}.",
                f.source,
                letters="abcd",
            ),
        ),
    ),
)
"""Every erratum, chapter by chapter; numbers with letters in the source stand together under theirs."""
