"""The instructions of a run, spelled out in one pass: as a list, and as a digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from pantile.targets.systolic.instructions import digest_lines, program_instructions

if TYPE_CHECKING:
    from pantile.conform.onnxim.figures import Rerun
    from pantile.targets.systolic.instructions import Instruction

_TIMES = {
    "MOVIN": {"issue_cycle": "issue", "request_cycle": "enter", "valid_cycle": "finish"},
    "GEMM_PRELOAD": {
        "issue_cycle": "issue",
        "enter_pipeline_cycle": "enter",
        "start_cycle": "start",
        "finish_cycle": "finish",
        # Finish times ascend strictly, one retires per tick: each does in the tick in which it finishes.
        "retire_cycle": "finish",
    },
    "MOVOUT": {"issue_cycle": "issue", "request_cycle": "enter"},
}
"""A file's times by opcode, and the simulation's."""


def instruction_figures(rerun: Rerun, *, listed: bool) -> tuple[list[dict[str, Any]], str]:
    """Return ``instructions``, which stays empty unless *listed*, and ``instructions_sha256``.

    The list has times if the simulation recorded them.
    """
    digest = hashlib.sha256()
    rows: list[dict[str, Any]] = []
    for at, layer in enumerate(rerun.layers):
        for number, listing in enumerate(program_instructions(layer.program, rerun.session.config)):
            digest.update(digest_lines(at, number, listing).encode())
            if listed:
                rows += [
                    {
                        "layer": at,
                        "tile": number,
                        "index": index,
                        **_row(rerun, instruction, len(rows) + index),
                    }
                    for index, instruction in enumerate(listing)
                ]
    return rows, digest.hexdigest()


def _row(rerun: Rerun, instruction: Instruction, number: int) -> dict[str, Any]:
    row = instruction.to_json()
    at = number - rerun.result.first_operation
    if 0 <= at < len(rerun.result.operations):
        times = rerun.result.operations[at]
        row |= {key: int(times[column]) for key, column in _TIMES[instruction.opcode].items()}
    return row
