"""A legal timing in which two operations run in the order that nothing forbids.

A witness is an order of all operations, each carried out whole when its turn comes: an operation's effect is
taken to happen at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pantile.check.explore import explore
from pantile.check.order import happens_before
from pantile.check.steps import processes_of

if TYPE_CHECKING:
    from pantile.check.order import Order
    from pantile.program.program import Program

BUDGET = 100_000


def witness_order(
    program: Program, first: int, second: int, *, order: Order | None = None, budget: int = BUDGET
) -> np.ndarray | None:
    """Return all operations in a legal order in which *second* comes before *first*.

    Where happens-before leaves nothing open, every order that it allows is legal, and one always exists for
    operations that it does not order. Elsewhere one is searched for.

    Args:
        program: What runs; a literal program.
        first: Position of the operation that is to come late.
        second: Position of the one that is to come before it.
        order: The program's happens-before, if it is at hand.
        budget: States with a choice that may be walked through.

    Returns:
        Positions of all operations, shape ``(operations,)``; ``None`` if there is no such order, or none was
        found within the budget. Use :func:`search_witness` to tell the two apart.
    """
    return search_witness(program, first, second, order=order, budget=budget)[0]


def search_witness(
    program: Program, first: int, second: int, *, order: Order | None = None, budget: int = BUDGET
) -> tuple[np.ndarray | None, bool, int]:
    """Return a witness as :func:`witness_order` does, whether that is certain, and the states met."""
    order = order or happens_before(program)
    if bool(order.before(np.array([first]), np.array([second]))[0]):
        return None, True, 0
    if order.exact and not order.stuck:
        return _extension(order, second), True, 0
    processes = processes_of(order.tables, posts_hold_up=order.posts_hold_up, looks=(first, second))
    found = explore(processes, budget, until_seen=True)
    if found.seen is None:
        return None, found.finished, found.states
    return _whole(order, found.seen, second), True, found.states


def legal_order(order: Order, budget: int = BUDGET) -> np.ndarray | None:
    """Return all operations in some legal order.

    Args:
        order: Happens-before.
        budget: States with a choice that may be met, where something is left open.

    Returns:
        Positions of all operations; ``None`` if the program cannot come to its end, or no order was found.
    """
    if order.stuck:
        return None
    if order.exact:
        return order.topo
    found = explore(processes_of(order.tables, posts_hold_up=order.posts_hold_up), budget)
    return None if found.complete is None else _whole(order, found.complete.path)


def late_order(order: Order, first: int, second: int) -> np.ndarray | None:
    """Return a legal order in which *first* comes as late as happens-before allows, so *second* before it.

    Of the orders in which a race shows, this is the one farthest from that of :func:`witness_order`.

    Returns:
        Positions of all operations; ``None`` where happens-before orders the two, or leaves something open.
    """
    if not order.exact or order.stuck or bool(order.before(np.array([first]), np.array([second]))[0]):
        return None
    ops = np.arange(len(order.topo))
    needs = order.before(np.full(len(ops), first), ops)
    needs[first] = False
    late = needs[order.topo]
    early = order.topo[~late]
    return np.concatenate([early[early != first], [first], order.topo[late]])


def _extension(order: Order, second: int) -> np.ndarray:
    """Return an order in which *second* comes as early as happens-before allows."""
    ops = np.arange(len(order.topo))
    needed = order.before(ops, np.full(len(ops), second))
    needed[second] = False
    early = order.topo[needed[order.topo]]
    needed[second] = True
    return np.concatenate([early, [second], order.topo[~needed[order.topo]]])


def _whole(order: Order, steps: tuple[int, ...], early: int | None = None) -> np.ndarray:
    """Return an order of all operations from the order of their steps.

    An operation is carried out at its last step, the *early* one as soon as it starts. What comes
    before it in its chain and takes no steps is carried out just before; in a pipelined thread only a post
    needs that.
    """
    chains = order.chains
    last = {op: place for place, op in enumerate(steps)}
    if early is not None:
        last[early] = steps.index(early)
    at = chains.first[:-1].copy()
    seen = np.zeros(len(chains), bool)
    done: list[int] = []
    for place, op in enumerate(steps):
        if last[op] != place:
            continue
        main = int(chains.main_before[op])
        if main >= 0:
            _carry_out_up_to(order, main, at, seen, done)
        if chains.pipelined[op]:
            seen[op] = True
            done.append(op)
        else:
            _carry_out_up_to(order, op, at, seen, done)
    for chain in range(chains.count):
        rest = chains.order[at[chain] : chains.first[chain + 1]]
        done += rest[~seen[rest]].tolist()
    return np.array(done, np.int64)


def _carry_out_up_to(order: Order, op: int, at: np.ndarray, seen: np.ndarray, done: list[int]) -> None:
    """Append what has not been carried out of a chain, up to an operation."""
    chain, end = (
        order.chains.chain[op],
        order.chains.first[order.chains.chain[op]] + order.chains.position[op] + 1,
    )
    rest = order.chains.order[at[chain] : end]
    rest = rest[~seen[rest]]
    seen[rest] = True
    done += rest.tolist()
    at[chain] = max(at[chain], end)
