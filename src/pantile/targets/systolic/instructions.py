"""Instructions, spelled out tile by tile, with every field that ONNXim gives them.

Source: onnxim-model.md section 4, onnxim-conv.md C4. ``dest_addr`` is the entry that a MOVIN fills, the
entry that a compute updates, and the entry that a MOVOUT *reads*; ``src_addrs`` are the requests of a
MOVIN, the activation and weight entries of a compute, and the DRAM destinations of a MOVOUT.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from pantile.targets.systolic.requests import box_requests
from pantile.targets.systolic.rows import DRAM, MOVIN, MOVOUT, NAMES
from pantile.targets.systolic.tiles import tiles_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from pantile.program.program import Operand, Program
    from pantile.targets.systolic.config import SystolicConfig


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of one tile.

    Attributes:
        opcode: ``"MOVIN"``, ``"GEMM_PRELOAD"``, ``"GEMM"`` or ``"MOVOUT"``.
        operand: Name of the operand that a move carries; ``""`` on computes.
        dest_addr: Address label of the on-chip entry it fills, updates or (MOVOUT) reads.
        size: Requests of a move; allocation granules of a compute's entry.
        compute_size: Rows that a compute streams through the array.
        tile_m: Output columns.
        tile_k: Reduction length.
        tile_n: Output rows.
        src_addrs: DRAM requests of a move, source entries of a compute.
    """

    opcode: str
    operand: str
    dest_addr: int
    size: int
    compute_size: int
    tile_m: int
    tile_k: int
    tile_n: int
    src_addrs: tuple[int, ...]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of a compute, 0 for a move."""
        return self.tile_m * self.tile_k * self.tile_n if self.compute_size else 0

    def roles(self) -> dict[str, str]:
        """Return what ``dest_addr`` and ``src_addrs`` are on this opcode."""
        if self.opcode == "MOVIN":
            return {"dest_addr": "entry filled", "src_addrs": "DRAM requests read"}
        if self.opcode == "MOVOUT":
            return {"dest_addr": "entry read", "src_addrs": "DRAM requests written"}
        return {"dest_addr": "entry updated", "src_addrs": "activation entry, weight entry"}

    def to_json(self) -> dict[str, Any]:
        """Return the instruction with the golden files' field names; at most 16 addresses are listed."""
        moved: dict[str, Any]
        if len(self.src_addrs) <= 16:
            moved = {"src_addrs": list(self.src_addrs)}
        else:
            moved = {
                "src_count": len(self.src_addrs),
                "src_first": self.src_addrs[0],
                "src_last": self.src_addrs[-1],
                "src_sha256": _digest(",".join(map(str, self.src_addrs))),
            }
        return {
            "op": self.opcode,
            "dest_addr": self.dest_addr,
            "size": self.size,
            "compute_size": self.compute_size,
            "tile_m": self.tile_m,
            "tile_k": self.tile_k,
            "tile_n": self.tile_n,
            **moved,
        }


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def tile_instructions(
    program: Program, piece: int, step: np.ndarray, config: SystolicConfig
) -> list[Instruction]:
    """Return the instructions of one tile.

    Args:
        program: A program of this family.
        piece: Position of the tile's piece.
        step: How far its coordinates lie beyond those of the piece's first instance, by axis.
        config: The machine.
    """
    tables = program.pieces[piece].tables
    listing: list[Instruction] = []
    accesses = iter(tables["access"][["space", "lo", "operand"]].tolist())
    boxes = tables["box"]
    for row, op in enumerate(tables["op"]):
        length = boxes["length"][row].tolist()
        opcode, count = int(op["opcode"]), int(op["count"])
        if opcode in (MOVIN, MOVOUT):
            lo = (boxes["lo"][row] + step * (boxes["length"][row] > 0)).tolist()
            pair = (next(accesses), next(accesses))
            _, key, operand = next(access for access in pair if access[0] != DRAM)
            listing.append(_move(program, opcode, program.operands[operand], key, (lo, length), config))
            continue
        (_, first, _), (_, second, _), (_, dest, _) = (next(accesses) for _ in range(3))
        axis, stride = int(boxes["axis"][row]), int(boxes["step"][row])
        rows, columns, size = compute_shape(program, length, config)
        for at in range(count):
            depth = min(stride, length[axis] - at * stride)
            listing.append(
                Instruction(NAMES[opcode], "", dest, size, rows, columns, depth, rows, (first, second))
            )
    return listing


def _move(
    program: Program,
    opcode: int,
    operand: Operand,
    key: int,
    box: tuple[list[int], list[int]],
    config: SystolicConfig,
) -> Instruction:
    wrap = program.semantics == "faithful"
    sources = tuple(box_requests(operand, *box, config.request_bytes, wrap=wrap).tolist())
    fields = _move_fields(program).get(operand.name, (0, 0, 0)) if opcode == MOVIN else (0, 0, 0)
    return Instruction(NAMES[opcode], operand.name, key, len(sources), 0, *fields, sources)


def _move_fields(program: Program) -> dict[str, tuple[int, int, int]]:
    """Fields tile_m, tile_k, tile_n of a product's MOVINs, by operand (onnxim-model.md section 4)."""
    if program.parameters["kind"] == "conv":
        return {}
    inner = program.parameters["inner"]
    return {"b": (inner["M"], inner["C"], 0), "a": (0, inner["C"], inner["N"])}


def compute_shape(program: Program, length: list[int], config: SystolicConfig) -> tuple[int, int, int]:
    """Return rows streamed, output columns and allocation granules of a compute with these box lengths."""
    if program.parameters["kind"] == "conv":
        n, q, p, m = length[:4]
        rows = prod((n, q, p))
        return rows, m, rows * config.precision // config.request_bytes
    _, rows, columns, _ = length[:4]
    return rows, columns, rows


def program_instructions(program: Program, config: SystolicConfig) -> Iterator[list[Instruction]]:
    """Yield the instructions of every tile of *program*, in creation order."""
    for tile in tiles_of(program):
        yield tile_instructions(program, int(tile["piece"]), tile["step"], config)


def digest_lines(layer: int, tile: int, listing: list[Instruction]) -> str:
    """Return the golden files' digest lines of one tile, each ended by a newline."""
    return "".join(
        f"{layer}|{tile}|{i.opcode}|{i.dest_addr}|{i.size}|{i.compute_size}|{i.tile_m}|{i.tile_k}|{i.tile_n}|"
        f"{','.join(map(str, i.src_addrs))}\n"
        for i in listing
    )
