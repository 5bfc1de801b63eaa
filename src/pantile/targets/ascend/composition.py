"""Whether callers and callees agree about flags.

What a call needs is compared with what is up where it begins, in the order in which the scalar unit walks the
program. What a function does is held against the contract that it declares, if it declares one.

Source: ascend-core.md sections 4.1 (leak across functions) and 4.3 (hard-wired ids).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pantile.check.report import Finding, Grade, Severity
from pantile.targets.ascend.contracts import Contract, FlagCounts, contract_of, flag_of
from pantile.targets.ascend.events import LIBRARY_IDS, Flag

if TYPE_CHECKING:
    from pantile.program.program import Program
    from pantile.targets.ascend.calls import Call, Declared

_SET, _WAIT = "set_flag", "wait_flag"


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
        if any(call.from_library for call in calls):
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
        own = {at for call in calls if call.from_library for at in range(call.begin, call.end)}
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
