"""The units of a core, as traces and pages show them."""

from __future__ import annotations

ENGINES = ("loads", "array", "stores")
"""Names of a core's units, in the order in which a page lists them."""

_BY_OPCODE = {"MOVIN": 0, "MOVOUT": 2}


def engine_of(opcode: str) -> int:
    """Return the position in :data:`ENGINES` of the unit that carries out *opcode*.

    >>> ENGINES[engine_of("GEMM_PRELOAD")]
    'array'
    """
    return _BY_OPCODE.get(opcode, 1)
