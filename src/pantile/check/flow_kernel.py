"""Which write each read of a program finds, along one order; see :mod:`pantile.check.flow`.

A kernel in the sense of :mod:`pantile.check.compiled`.
"""

from __future__ import annotations

from typing import Any

READ, WRITE, UPDATE = 0, 1, 2  # as Mode
COMPUTE = 1  # as Kind
NOTHING, MIXED = -1, -2  # what a byte holds where it holds no one sum
EMPTY, OTHER, DEAD = 0, 1, 2  # what is wrong with a read: the last does not change values
VOID = -2  # less who wrote it: what a byte holds that no copy lives in any more, or that one was born over

_MIX = 0x2545F4914F6CDD1D


def number(
    operand: Any,
    space: Any,
    lo: Any,
    length: Any,
    rows: Any,
    pitch: Any,
    home: Any,
    output: Any,
    table: Any,
    span: Any,
    first: Any,
) -> int:
    """Write the set of bytes of every access, or -1, and the first access of each; return their number.

    Left out are the inputs where they lie from the beginning. Stops when the table for hashing is half
    full, and returns -1.

    Args:
        operand: By access: the operand; then the other columns.
        space: The memory.
        lo: First byte.
        length: Bytes of one row.
        rows: Rows.
        pitch: Bytes from row to row.
        home: By memory: whether tensors lie in it from the beginning.
        output: Number of the output, as a column of one row.
        table: Room for hashing: a power of two, filled with -1.
        span: By access.
        first: By set.
    """
    count, mask = 0, len(table) - 1
    for i in range(len(span)):
        if home[space[i]] and operand[i] != output[0]:
            continue
        mixed = ((lo[i] * 31 + space[i]) * 31 + length[i]) * 31 + rows[i]
        slot = (((mixed * 31 + pitch[i]) * _MIX) >> 17) & mask
        while table[slot] >= 0:
            j = first[table[slot]]
            alike = lo[i] == lo[j] and space[i] == space[j] and length[i] == length[j]
            if alike and rows[i] == rows[j] and pitch[i] == pitch[j]:
                break
            slot = (slot + 1) & mask
        if table[slot] < 0:
            if 2 * count >= mask:
                return -1
            table[slot] = count
            first[count] = i
            count += 1
        span[i] = table[slot]
    return count


def run(
    topo: Any,
    kind: Any,
    op: Any,
    mode: Any,
    operand: Any,
    span: Any,
    output: Any,
    whole: Any,
    summed: Any,
    lo: Any,
    length: Any,
    axis_first: Any,
    axis: Any,
    atom_first: Any,
    atom: Any,
    end_first: Any,
    end_op: Any,
    end_span: Any,
    access_first: Any,
    writer: Any,
    sum_of: Any,
    fault_op: Any,
    fault: Any,
    fault_writer: Any,
) -> int:
    """Carry out all operations in order, and write the reads that find the wrong thing; return their number.

    Args:
        topo: The operations, in an order that is legal.
        kind: By operation: what it does.
        op: By access: its operation; then the other columns.
        mode: How it touches.
        operand: The operand.
        span: Its set of bytes, or -1.
        output: Number of the output, as a column of one row.
        whole: Whether every element of the output exists, as a column of one row.
        summed: Axes along which computes sum.
        lo: By operation: where its box begins, by axis.
        length: How far it goes.
        axis_first: By operand, and one more: its axes.
        axis: Axes of the operands.
        atom_first: By set of bytes, and one more: its atoms.
        atom: Atoms: bytes that every set holds all of, or none.
        end_first: By operation: the first set whose bytes become void there, or -1.
        end_op: Where bytes become void, in order.
        end_span: Which do.
        access_first: Room: by operation, and one more.
        writer: By atom: the operation that wrote it last; at first -1.
        sum_of: By atom of the output: terms in each of its sums; at first :data:`NOTHING`.
        fault_op: Room: by fault: the operation that reads.
        fault: :data:`EMPTY`, :data:`OTHER` or :data:`DEAD`.
        fault_writer: The operation that wrote what it finds.
    """
    count = len(kind)
    for i in range(len(op)):
        access_first[op[i] + 1] += 1
    for i in range(count):
        access_first[i + 1] += access_first[i]
    faults = 0
    for at in range(len(topo)):
        each = topo[at]
        end = end_first[each]
        while end >= 0 and end < len(end_op) and end_op[end] == each:
            for place in range(atom_first[end_span[end]], atom_first[end_span[end] + 1]):
                if writer[atom[place]] >= 0:
                    writer[atom[place]] = VOID - writer[atom[place]]
            end += 1
        held, wrong, source = NOTHING, -1, -1
        for i in range(access_first[each], access_first[each + 1]):
            if mode[i] == WRITE or span[i] < 0:
                continue
            kept = operand[i]
            for place in range(atom_first[span[i]], atom_first[span[i] + 1]):
                found = writer[atom[place]]
                dead = found <= VOID
                if dead:
                    found = VOID - found
                if found < 0:
                    if wrong < 0 and (kept != output[0] or whole[0]):
                        wrong = EMPTY
                elif wrong < 0:
                    inside, around = True, True
                    for which in range(axis_first[kept], axis_first[kept + 1]):
                        way = axis[which]
                        begin, start = lo[each][way], lo[found][way]
                        ahead = begin + length[each][way] - start - length[found][way]
                        inside = inside and start <= begin and ahead <= 0
                        around = around and begin <= start and ahead >= 0
                    if not inside and not around:
                        wrong, source = OTHER, found
                    elif dead:
                        wrong, source = DEAD, found
                if kept == output[0]:
                    here = sum_of[atom[place]]
                    held = here if held in (NOTHING, here) else MIXED
        if wrong >= 0 and faults < len(fault):
            fault_op[faults], fault[faults], fault_writer[faults] = each, wrong, source
            faults += 1
        depth = 1
        if kind[each] == COMPUTE:
            for which in range(len(summed)):
                depth *= length[each][summed[which]]
        for i in range(access_first[each], access_first[each + 1]):
            if mode[i] == READ or span[i] < 0:
                continue
            for place in range(atom_first[span[i]], atom_first[span[i] + 1]):
                here = atom[place]
                writer[here] = each
                if operand[i] != output[0]:
                    continue
                if kind[each] != COMPUTE:
                    sum_of[here] = held
                elif mode[i] == WRITE:
                    sum_of[here] = depth
                else:
                    sum_of[here] = sum_of[here] + depth if sum_of[here] >= 0 else MIXED
    return faults
