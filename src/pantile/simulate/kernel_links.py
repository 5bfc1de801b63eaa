"""The compiled engine's shared links: the closed form of shared_link.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.simulate import layout as at
from pantile.simulate.kernel_heaps import GOAL, compiled, schedule

if TYPE_CHECKING:
    from pantile.simulate.kernel_heaps import Memory


@compiled
def arrive(m: Memory, transfer: int, op: int) -> None:
    """Let a transfer of *op* join the queue of its link."""
    link = m[transfer + at.LINK]
    m[transfer + at.BEHIND], m[transfer + at.OWNER], m[transfer + at.CHUNK] = at.NONE, op, 1
    m[transfer + at.GOAL] = _goal(m, link, transfer, 1)
    if m[link + at.FIRST] >= 0:
        _advance(m, link, m[at.NOW])
        m[m[link + at.LAST] + at.BEHIND] = transfer
    else:
        m[link + at.BEGAN], m[link + at.FIRST] = m[at.NOW], transfer
    m[link + at.LAST] = transfer
    _plan(m, link)


@compiled
def serve_goal(m: Memory, link: int) -> tuple[int, int, int]:
    """Return the operation that reaches goals at this instant, its first such chunk and where they stop."""
    if m[link + at.EVENT] != m[at.NOW]:
        return 0, 0, 0  # planned before another transfer arrived
    transfer = m[link + at.FIRST]
    if transfer == m[link + at.LAST]:  # alone: it is served without a turn of anyone else
        m[transfer + at.DONE], m[link + at.BEGAN] = m[transfer + at.GOAL], m[at.NOW]
    else:
        _skip(m, link, _least_rounds(m, link))
        transfer = _serve_first(m, link)
        while m[transfer + at.DONE] < m[transfer + at.GOAL]:
            transfer = _serve_first(m, link)
    first, chunks = m[transfer + at.CHUNK], chunks_of(m, m[transfer + at.OWNER])
    while m[transfer + at.CHUNK] <= chunks and m[transfer + at.GOAL] <= m[transfer + at.DONE]:
        m[transfer + at.CHUNK] += 1
        if m[transfer + at.CHUNK] <= chunks:
            m[transfer + at.GOAL] = _goal(m, link, transfer, m[transfer + at.CHUNK])
    if m[transfer + at.CHUNK] > chunks:
        _leave(m, link, transfer)
    _plan(m, link)
    return m[transfer + at.OWNER], first, m[transfer + at.CHUNK]


@compiled
def chunks_of(m: Memory, op: int) -> int:
    """Return the chunks in which an operation posts along; 1 if it does not."""
    return m[m[op + at.ALONG] + at.CHUNKS] if m[op + at.ALONG] >= 0 else 1


@compiled
def _goal(m: Memory, link: int, transfer: int, chunk: int) -> int:
    chunks, quantum = chunks_of(m, m[transfer + at.OWNER]), m[link + at.QUANTUM]
    amount = (chunk * m[transfer + at.AMOUNT] + chunks - 1) // chunks
    return (amount + quantum - 1) // quantum


@compiled
def _ticks(m: Memory, link: int, amount: int) -> int:
    """Service of the first *amount* bytes, rounded up; by long division where the product overflows."""
    numerator, denominator = m[link + at.NUMERATOR], m[link + at.DENOMINATOR]
    if amount <= m[link + at.SAFE]:
        return (amount * numerator + denominator - 1) // denominator
    quotient, rest, digit = 0, 0, 1_000_000_000_000
    while digit > 0:
        part = rest * 1000 + amount * (numerator // digit % 1000)
        quotient, rest = quotient * 1000 + part // denominator, part % denominator
        digit //= 1000
    return quotient + (1 if rest > 0 else 0)


@compiled
def _span(m: Memory, link: int, transfer: int, rounds: int) -> int:
    """Ticks of a transfer's next *rounds* quanta."""
    start, size = m[transfer + at.DONE] * m[link + at.QUANTUM], m[transfer + at.AMOUNT]
    last = _ticks(m, link, min(start + rounds * m[link + at.QUANTUM], size))
    return last - _ticks(m, link, min(start, size))


@compiled
def _rounds_ticks(m: Memory, link: int, rounds: int) -> int:
    total, transfer = 0, m[link + at.FIRST]
    while transfer >= 0 and rounds > 0:
        total += _span(m, link, transfer, rounds)
        transfer = m[transfer + at.BEHIND]
    return total


@compiled
def _least_rounds(m: Memory, link: int) -> int:
    """Full rounds before the one in which a goal is reached."""
    transfer = m[link + at.FIRST]
    least = m[transfer + at.GOAL] - m[transfer + at.DONE]
    while transfer >= 0:
        least = min(least, m[transfer + at.GOAL] - m[transfer + at.DONE])
        transfer = m[transfer + at.BEHIND]
    return least - 1


@compiled
def _skip(m: Memory, link: int, rounds: int) -> None:
    m[link + at.BEGAN] += _rounds_ticks(m, link, rounds)
    transfer = m[link + at.FIRST]
    while transfer >= 0:
        m[transfer + at.DONE] += rounds
        transfer = m[transfer + at.BEHIND]


@compiled
def _serve_first(m: Memory, link: int) -> int:
    transfer = m[link + at.FIRST]
    m[link + at.BEGAN] += _span(m, link, transfer, 1)
    m[transfer + at.DONE] += 1
    if m[transfer + at.BEHIND] >= 0:
        m[link + at.FIRST] = m[transfer + at.BEHIND]
        m[m[link + at.LAST] + at.BEHIND] = transfer
        m[transfer + at.BEHIND], m[link + at.LAST] = at.NONE, transfer
    return transfer


@compiled
def _advance(m: Memory, link: int, now: int) -> None:
    """Carry out every quantum that ends by *now*; no goal is reached by then."""
    low, high = 0, _least_rounds(m, link)
    while low < high:
        middle = (low + high + 1) // 2
        if m[link + at.BEGAN] + _rounds_ticks(m, link, middle) <= now:
            low = middle
        else:
            high = middle - 1
    _skip(m, link, low)
    transfer, count = m[link + at.FIRST], 0
    while transfer >= 0:
        transfer, count = m[transfer + at.BEHIND], count + 1
    for _ in range(count):
        if m[link + at.BEGAN] + _span(m, link, m[link + at.FIRST], 1) > now:
            break
        _serve_first(m, link)


@compiled
def _plan(m: Memory, link: int) -> None:
    """Schedule the next goal that will be reached, if no other transfer arrives."""
    if m[link + at.FIRST] < 0:
        m[link + at.EVENT] = at.NONE
        return
    transfer, time = m[link + at.FIRST], m[link + at.BEGAN]
    if transfer == m[link + at.LAST]:
        time += _span(m, link, transfer, m[transfer + at.GOAL] - m[transfer + at.DONE])
    else:
        rounds = _least_rounds(m, link)
        time += _rounds_ticks(m, link, rounds)
        while True:
            time += _span(m, link, transfer, rounds + 1) - _span(m, link, transfer, rounds)
            if m[transfer + at.GOAL] == m[transfer + at.DONE] + rounds + 1:
                break
            transfer = m[transfer + at.BEHIND]
    m[link + at.EVENT] = time
    schedule(m, time, GOAL, link)


@compiled
def _leave(m: Memory, link: int, last: int) -> None:
    """Take out the transfer that was served last, the end of the queue."""
    transfer = m[link + at.FIRST]
    if transfer == last:
        m[link + at.FIRST] = m[link + at.LAST] = at.NONE
        return
    while m[transfer + at.BEHIND] != last:
        transfer = m[transfer + at.BEHIND]
    m[transfer + at.BEHIND], m[link + at.LAST] = at.NONE, transfer
