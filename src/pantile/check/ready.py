"""Does every operation wait for something that an earlier operation provides?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pantile.check.contents import contents_findings
from pantile.check.regions import covers, first_stage
from pantile.check.report import Finding, Report
from pantile.program.tables import SlotRule, Test

if TYPE_CHECKING:
    from pantile.program.piece import Piece
    from pantile.program.program import Program


def check_ready(program: Program) -> Report:
    """Check that every wait can end, as something earlier in its tile or its output's tiles posts.

    What a block is used for must also be what it holds.

    One instance of each kind of tile stands for all of its kind: their rows are the same.
    """
    findings: list[Finding] = []
    waits = 0
    for piece in program.pieces:
        found, count = _of_piece(piece, _kept(program, piece))
        findings += found + contents_findings(program, piece)
        waits += piece.count * count
    if findings:
        return Report(tuple(findings))
    return Report(proved=(f"readiness: {waits} waits, each for a block that is provided before",))


def _of_piece(piece: Piece, kept: set[int]) -> tuple[list[Finding], int]:
    """Findings on the waits of one tile of a kind, and how many waits it has."""
    findings: list[Finding] = []
    waits = 0
    posted: set[int] = set()
    outstanding: Counter[int] = Counter()
    for op, _, counter, test, amount, _, _ in piece.tables["sync"].tolist():
        if test == Test.POST:
            outstanding[counter] += amount
            if amount > 0:
                posted.add(counter)
        elif test == Test.REACH:
            waits += 1
            if counter not in posted and counter not in kept:
                findings.append(_finding(piece, op, "a block that nothing provides"))
        elif test == Test.ZERO and outstanding[counter]:
            events = f"{outstanding[counter]} events of a block that never come"
            findings.append(_finding(piece, op, events))
    return findings, waits


def _finding(piece: Piece, op: int, what: str) -> Finding:
    return Finding(
        code="PT-STATE",
        severity="error",
        sentence=f"operation {op} waits for {what}, in {piece.count} tiles of its kind",
        operations=(op,),
        grade="hang",
        mend="load or compute the block before it is used",
    )


def _kept(program: Program, piece: Piece) -> set[int]:
    """Counters that earlier stages post to, in memories whose slot a stage takes over from the one before."""
    slots = piece.tables["slot"]
    memories = slots["memory"][slots["rule"] == SlotRule.ALTERNATE_UNLESS_ACCUMULATING]
    kept: set[int] = set()
    for other in program.pieces:
        earlier = first_stage(program, other) < first_stage(program, piece)
        if not len(memories) or not earlier or not covers(program, piece, other):
            continue
        sync, counters = other.tables["sync"], other.tables["counter"]
        posts = sync["counter"][(sync["test"] == Test.POST) & (sync["amount"] > 0)]
        theirs = counters["id"][np.isin(counters["src"], memories)]
        kept |= set(np.intersect1d(posts, theirs).tolist())
    return kept
