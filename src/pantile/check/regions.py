"""Which kinds of tiles work on the same outputs, and in which order they come.

Loops that a program does not reduce along say which outputs a tile works on; indices of the others are
the stages in which contributions to one output come.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pantile.program.piece import Loop, Piece
    from pantile.program.program import Program

Stage = tuple[int, ...]
"""Indices along the reduction loops; of two tiles of one output the smaller stage comes first."""


def meets(program: Program, piece: Piece, other: Piece) -> bool:
    """Whether some output is worked on by both pieces."""
    return all(
        mine.first < theirs.first + theirs.count and theirs.first < mine.first + mine.count
        for mine, theirs in _output_loops(program, piece, other)
    )


def covers(program: Program, piece: Piece, other: Piece) -> bool:
    """Whether *other* works on every output that *piece* works on."""
    return all(
        theirs.first <= mine.first and mine.first + mine.count <= theirs.first + theirs.count
        for mine, theirs in _output_loops(program, piece, other)
    )


def first_stage(program: Program, piece: Piece) -> Stage:
    """Return the earliest stage of the tiles of *piece*."""
    return tuple(loop.first for loop in piece.loops if loop.name in program.reductions)


def stages(program: Program, piece: Piece) -> int:
    """Return how many tiles of *piece* work on each of its outputs."""
    return prod(loop.count for loop in piece.loops if loop.name in program.reductions)


def _output_loops(program: Program, piece: Piece, other: Piece) -> Iterator[tuple[Loop, Loop]]:
    for mine, theirs in zip(piece.loops, other.loops, strict=True):
        if mine.name not in program.reductions:
            yield mine, theirs
