"""Calls of functions in a core program, and whether caller and callee agree about flags.

A call is a stretch of the instruction stream. Its contract is inferred; a function may also declare one,
which the inferred one is then held against. What a call needs is compared with what is up where it begins.

Source: ascend-core.md sections 1.4, 4.1 (leak across functions) and 4.3 (hard-wired ids).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pantile.check.report import Finding, Grade, Severity
from pantile.targets.ascend.contracts import Contract, FlagCounts, contract_of, flag_of
from pantile.targets.ascend.events import LIBRARY_IDS, Flag

if TYPE_CHECKING:
    from pantile.program.program import Program

_SET, _WAIT = "set_flag", "wait_flag"


class Declared(NamedTuple):
    """What a function says of itself: flags that it needs up, and that it leaves up."""

    needs: tuple[Flag, ...] = ()
    leaves: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        name: The function's name.
        begin: Its first instruction, as a place in the stream.
        end: The place behind its last one.
        line: Line of the call.
        library: Whether the function may use the ids that the library keeps.
        declared: What it says of itself, if it says anything.
    """

    name: str
    begin: int
    end: int
    line: int
    library: bool = False
    declared: Declared | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON-able description that :func:`call_of_json` reads back."""
        declared = None if self.declared is None else [list(map(list, part)) for part in self.declared]
        return {
            "name": self.name,
            "begin": self.begin,
            "end": self.end,
            "line": self.line,
            "library": self.library,
            "declared": declared,
        }


def call_of_json(data: Mapping[str, Any]) -> Call:
    """Return the call that its ``to_json`` wrote."""
    declared = data["declared"]
    said = None if declared is None else Declared(*(tuple(Flag(*each) for each in part) for part in declared))
    return Call(**{**data, "declared": said})


@dataclass(frozen=True, slots=True)
class FunctionContract:
    """A function and one contract that calls of it have; a function may have several, by its arguments.

    Attributes:
        name: The function.
        lines: Lines of the calls that have it.
        contract: What they ask and leave.
    """

    name: str
    lines: tuple[int, ...]
    contract: Contract

    def __str__(self) -> str:
        calls = f"{len(self.lines)} call{'s' if len(self.lines) > 1 else ''}"
        at = ", ".join(map(str, dict.fromkeys(self.lines)))
        rows = self.contract.lines() or ["no flags"]
        return "\n".join([f"{self.name}: {calls}, line {at}", *(f"  {row}" for row in rows)])


def contracts_of(stream: Sequence[Mapping[str, Any]], calls: Iterable[Call]) -> tuple[FunctionContract, ...]:
    """Return the distinct contracts of all calls, in the order of first calls."""
    found: dict[tuple[str, Contract], list[int]] = {}
    for call in sorted(calls, key=lambda each: (each.begin, -each.end)):
        contract = contract_of(stream[call.begin : call.end])
        found.setdefault((call.name, contract), []).append(call.line)
    return tuple(FunctionContract(name, tuple(lines), contract) for (name, contract), lines in found.items())


def with_calls(program: Program, calls: Sequence[Call], findings: Iterable[Finding] = ()) -> Program:
    """Return the program of a trace with its calls, and with what is wrong with them.

    Args:
        program: As :func:`~pantile.targets.ascend.trace.program_of_trace` makes it.
        calls: Outer ones before those within them.
        findings: What else was found while it was emitted.
    """
    told = program.parameters
    places = [f"{program.name}:{line}" for line in told["lines"]]
    found = [*findings, *check_calls(told["stream"], calls, told["starts"], places)]
    more = {"calls": [each.to_json() for each in calls], "emission": [each.to_json() for each in found]}
    return replace(program, parameters={**told, **more})


def check_calls(
    stream: Sequence[Mapping[str, Any]],
    calls: Sequence[Call],
    op_of: Sequence[int],
    place: Sequence[str],
) -> list[Finding]:
    """Return what callers and callees do not agree about.

    Args:
        stream: Instructions in program order.
        calls: Calls, outer ones before those within them.
        op_of: By instruction: the operation that it became.
        place: By instruction: file and line.
    """
    return _Composition(stream, op_of, place).run(calls)


@dataclass(slots=True)
class _Composition:
    stream: Sequence[Mapping[str, Any]]
    op_of: Sequence[int]
    place: Sequence[str]
    findings: list[Finding] = field(default_factory=list)
    up: Counter[Flag] = field(default_factory=Counter)
    setter: dict[Flag, int] = field(default_factory=dict)

    def run(self, calls: Sequence[Call]) -> list[Finding]:
        """Return the findings on all calls."""
        at, judged = 0, set[tuple[str, Contract]]()
        for call in sorted(calls, key=lambda each: (each.begin, -each.end)):
            self._walk(at, call.begin)
            at = max(at, call.begin)
            contract = contract_of(self.stream[call.begin : call.end])
            self._enter(call, contract)
            if call.declared is not None and (call.name, contract) not in judged:
                judged.add((call.name, contract))
                self._declared(call, contract, call.declared)
        if any(call.library for call in calls):
            self._library_ids(calls)
        return self.findings

    def _walk(self, begin: int, end: int) -> None:
        """Follow the flags, in the order in which the scalar unit issues them."""
        for at in range(begin, end):
            each = self.stream[at]
            if each["op"] == _SET:
                flag = flag_of(each)
                self.up[flag] += 1
                self.setter[flag] = at
            elif each["op"] == _WAIT:
                flag = flag_of(each)
                self.up[flag] = max(self.up[flag] - 1, 0)

    def _enter(self, call: Call, contract: Contract) -> None:
        """Compare what a call needs with what is up where it begins."""
        for flag, count in contract.needs:
            if self.up[flag] < count:
                self._unmet(call, flag, count)
        for flag in contract.lowered:
            if self.up[flag]:
                self._already_up(call, flag)

    def _unmet(self, call: Call, flag: Flag, count: int) -> None:
        at = self._nth(call, _WAIT, flag, self.up[flag])
        others = sorted(
            each.id for each, many in self.up.items() if many and each[:2] == flag[:2] and each != flag
        )
        self._find(
            "PT-UNPAIRED",
            "error",
            f"{call.name} needs {flag} up{f' {count} times' if count > 1 else ''}, and its caller "
            f"has not raised it: {self.place[at]}",
            at,
            evidence=f"the caller has {', '.join(map(str, others))} of that pair up: the callee's id is "
            "fixed and not the one that it was given"
            if others
            else f"called at line {call.line}",
            grade="hang",
            mend=f"raise {flag} before the call, or let the callee use the id that it is given",
        )

    def _already_up(self, call: Call, flag: Flag) -> None:
        at, by = self._nth(call, _SET, flag, 0), self.setter[flag]
        self._find(
            "PT-DOUBLE-SET",
            "error",
            f"{call.name} sets {flag}, which is up when it is called: {self.place[at]}",
            at,
            by,
            evidence=f"set before at {self.place[by]}; called at line {call.line}",
            grade="timing-dependent",
            mend="give one of the two another id, or let it take the flag that is up",
        )

    def _declared(self, call: Call, contract: Contract, declared: Declared) -> None:
        """Hold what a function does against what it says of itself."""
        for flag, extra in _beyond(contract.needs, declared.needs):
            at = self._nth(call, _WAIT, flag, dict(contract.needs)[flag] - extra)
            self._find(
                "PT-UNPAIRED",
                "error",
                f"{call.name} takes {flag}, which its contract does not name: {self.place[at]}",
                at,
                grade="hang",
                mend="name it in needs, or set it before",
            )
        for flag, _ in _beyond(contract.leaves, declared.leaves):
            at = self._last(call, _SET, flag)
            self._find(
                "PT-LEAK",
                "error",
                f"{call.name} returns with {flag} up, which its contract does not name: {self.place[at]}",
                at,
                evidence="the next wait of that flag, of whatever runs then, passes too early",
                grade="leak",
                mend="wait for it before returning, or name it in leaves",
            )
        self._broken_promises(call, contract, declared)

    def _broken_promises(self, call: Call, contract: Contract, declared: Declared) -> None:
        begin = min(call.begin, len(self.stream) - 1)
        for flag, _ in _beyond(Counter(declared.leaves).items(), _repeated(contract.leaves)):
            self._find(
                "PT-UNPAIRED",
                "error",
                f"{call.name} does not leave {flag} up as its contract says: called at line {call.line}",
                begin,
                grade="hang",
                mend="set it on every way through the function, or mend the contract",
            )
        for flag, _ in _beyond(Counter(declared.needs).items(), _repeated(contract.needs)):
            self._find(
                "PT-LEAK",
                "error",
                f"{call.name} does not take {flag} as its contract says: called at line {call.line}",
                begin,
                grade="leak",
                mend="wait for it on every way through the function, or mend the contract",
            )

    def _library_ids(self, calls: Sequence[Call]) -> None:
        """Note uses of the library's ids outside of the library, once for each flag."""
        own = {at for call in calls if call.library for at in range(call.begin, call.end)}
        seen: set[Flag] = set()
        for at, each in enumerate(self.stream):
            if each["op"] not in (_SET, _WAIT) or at in own:
                continue
            flag = flag_of(each)
            if flag.id in LIBRARY_IDS and flag not in seen:
                seen.add(flag)
                self._find(
                    "PT-EVENT-ID",
                    "warning",
                    f"{flag} is used by a caller of the library, which keeps ids "
                    f"{' and '.join(map(str, LIBRARY_IDS))} for itself: {self.place[at]}",
                    at,
                    mend="use an id from 0 to 5",
                )

    def _nth(self, call: Call, op: str, flag: Flag, number: int) -> int:
        """Return the place of a call's *number*-th set or unserved wait of a flag."""
        up = 0
        for at in range(call.begin, call.end):
            each = self.stream[at]
            if each["op"] not in (_SET, _WAIT) or flag_of(each) != flag:
                continue
            served = each["op"] == _WAIT and up > 0
            if each["op"] == op and not served:
                if number == 0:
                    return at
                number -= 1
            up += 1 if each["op"] == _SET else -served
        return call.begin

    def _last(self, call: Call, op: str, flag: Flag) -> int:
        places = range(call.end - 1, call.begin - 1, -1)
        return next(at for at in places if self.stream[at]["op"] == op and flag_of(self.stream[at]) == flag)

    def _find(
        self,
        code: str,
        severity: Severity,
        sentence: str,
        *at: int,
        evidence: str = "",
        grade: Grade = "",
        mend: str = "",
    ) -> None:
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                sentence=sentence,
                operations=tuple(self.op_of[each] for each in at if each >= 0),
                evidence=evidence,
                grade=grade,
                mend=mend,
            )
        )


def _repeated(flags: FlagCounts) -> list[Flag]:
    return [flag for flag, count in flags for _ in range(count)]


def _beyond(done: Iterable[tuple[Flag, int]], named: Iterable[Flag]) -> FlagCounts:
    """Return what is done more often than it is named."""
    allowed = Counter(named)
    return tuple((flag, count - allowed[flag]) for flag, count in done if count > allowed[flag])
