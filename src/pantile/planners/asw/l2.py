"""Stage 6: what the shared cache holds, in which groups blocks are computed, and what memory then moves.

Source: asw-theory.md section 9; errata E-21 (shared operand), E-29 to E-31 (groups and re-reads).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from pantile.planners.asw.limits import refuse_many
from pantile.tiling.cut import ceil_div

if TYPE_CHECKING:
    from pantile.planners.asw.chip import Chip
    from pantile.planners.asw.problem import Problem
    from pantile.planners.asw.single_core import SingleCore

Semantics = Literal["corrected", "published", "published_5_2"]
Consumer = Literal["memory", "fused"]
Scene = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True, kw_only=True)
class L2Use:
    """Stage 6.

    Attributes:
        scene: ``A`` if inputs and outputs fit, ``B`` if the inputs alone do, ``C`` if not even they.
        sub: Under ``corrected`` in scene C: ``C0`` if a batch needs no groups, ``C1`` if it does, ``C2`` if
            not one pair of blocks fits.
        reach: Rows and columns whose panels fit (D); ``None`` where there is nothing to group.
        m_group: Blocks of a group along m; likewise n_group.
        groups: Groups of one batch; ``None`` where the published formula divides by zero.
        reread: Bytes of inputs that memory delivers, over the bytes of all inputs (r_in).
        write_out: Bytes per second that outputs need while the cube computes.
        bus: Bytes per second that inputs and outputs need together.
        outputs_stay: Whether outputs are allocated in L2.
        closed_form: Under ``corrected`` in C1, the groups and re-reads of the closed form.
    """

    scene: Scene
    sub: str = ""
    reach: Fraction | None = None
    m_group: int
    n_group: int
    groups: int | None
    reread: Fraction | None
    write_out: Fraction
    bus: Fraction
    outputs_stay: bool
    closed_form: tuple[int, int, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class _Grouping:
    """How the blocks of one batch are grouped, and the rows and columns that memory delivers for it."""

    sub: str
    m_group: int
    n_group: int
    groups: int | None
    delivered: int | None
    closed_form: tuple[int, int, Fraction] | None = None


def l2_use(
    problem: Problem, chip: Chip, block: SingleCore, semantics: Semantics, consumer: Consumer = "memory"
) -> L2Use:
    """Return stage 6.

    A consumer that is fused reads the outputs at once, so they stay in L2 and inputs get what is left.
    """
    inputs, outputs = problem.input_bytes, problem.output_bytes
    scene: Scene = "A" if inputs + outputs <= chip.l2_bytes else "B" if inputs <= chip.l2_bytes else "C"
    fused = consumer == "fused"
    space = max(0, chip.l2_bytes - outputs) if fused else chip.l2_bytes
    reach: Fraction | None = None
    if inputs <= space or (scene == "A"):
        grouping = _Grouping("", block.rows, block.columns, 1, None)
        reread: Fraction | None = Fraction(1)
    elif semantics == "corrected":
        reach = Fraction(space // (problem.k * problem.element_bytes))
        grouping = _per_batch(problem, space, int(reach), block)
        reread = Fraction(_delivered_bytes(problem, space, grouping), inputs)
    else:
        reach = Fraction(space, problem.batch * problem.k * problem.element_bytes)
        grouping = _as_published(problem, reach, block, semantics)
        delivered = grouping.delivered
        reread = None if delivered is None else Fraction(delivered, problem.m + problem.n)
    return L2Use(
        scene=scene,
        sub=grouping.sub,
        reach=reach,
        m_group=grouping.m_group,
        n_group=grouping.n_group,
        groups=grouping.groups,
        reread=reread,
        write_out=Fraction(chip.peak_flops * problem.out_bytes, 2 * problem.k),
        bus=Fraction((inputs + outputs) * chip.peak_flops, problem.flops),
        outputs_stay=scene == "A" or fused,
        closed_form=grouping.closed_form,
    )


def _as_published(problem: Problem, reach: Fraction, block: SingleCore, semantics: Semantics) -> _Grouping:
    """Group as printed: the batch counted in the reach, and as much of it for rows as for columns."""
    m_group, n_group = int(reach / (2 * block.m)), int(reach / (2 * block.n))
    if not m_group or not n_group:
        return _Grouping("", m_group, n_group, None, None)
    down, across = ceil_div(block.rows, m_group), ceil_div(block.columns, n_group)
    if semantics == "published_5_2":
        delivered = across * problem.m + down * problem.n
    else:
        delivered = n_group * problem.m + m_group * problem.n
    return _Grouping("", m_group, n_group, down * across, delivered)


def _per_batch(problem: Problem, space: int, reach: int, block: SingleCore) -> _Grouping:
    """Group the blocks of one batch, the only one that is live, so that memory delivers least."""
    m, n = problem.m, problem.n
    whole = (m + n) * problem.k * problem.element_bytes <= space
    if whole or block.rows * block.m + block.columns * block.n <= reach:
        return _Grouping("C0", block.rows, block.columns, 1, m + n)
    if reach < block.m + block.n:
        return _Grouping("C2", 1, 1, block.rows * block.columns, block.columns * m + block.rows * n)
    m_group, n_group, delivered = _least_delivered(problem, reach, block)
    groups = ceil_div(block.rows, m_group) * ceil_div(block.columns, n_group)
    half_m = max(1, min(block.rows, reach // (2 * block.m)))
    half_n = max(1, min(block.columns, reach // (2 * block.n)))
    printed = ceil_div(block.columns, half_n) * m + ceil_div(block.rows, half_m) * n
    closed = (half_m, half_n, Fraction(printed, m + n))
    return _Grouping("C1", m_group, n_group, groups, delivered, closed)


def _least_delivered(problem: Problem, reach: int, block: SingleCore) -> tuple[int, int, int]:
    """Return the group that makes memory deliver least; ties: fewer groups, then fewer rows of blocks."""
    most = min(block.rows, (reach - block.n) // block.m)
    refuse_many(most, "groups of blocks")
    m_group = np.arange(1, most + 1)
    n_group = np.minimum(block.columns, (reach - m_group * block.m) // block.n)
    across, down = -(-block.columns // n_group), -(-block.rows // m_group)
    delivered = across * problem.m + down * problem.n
    best = np.lexsort((m_group, across * down, delivered))[0]
    return int(m_group[best]), int(n_group[best]), int(delivered[best])


def _delivered_bytes(problem: Problem, space: int, grouping: _Grouping) -> int:
    """Return the bytes of inputs that memory delivers for all batches.

    A shared operand that fits beside one batch of the other stays; else every batch reads it again (E-21).
    """
    assert grouping.delivered is not None
    width = problem.k * problem.element_bytes
    whole = (problem.m + problem.n) * width <= space
    if whole and any(problem.shares):
        return problem.input_bytes
    return problem.batch * grouping.delivered * width
