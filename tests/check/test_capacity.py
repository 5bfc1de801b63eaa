"""Capacity in both countings."""

from __future__ import annotations

from pantile.check.capacity import Usage, check_capacity


def usage(counted: int, physical: int, capacity: int = 100) -> Usage:
    return Usage(
        memory="scratchpad",
        counted_bytes=counted,
        physical_bytes=physical,
        capacity_bytes=capacity,
        operation=7,
    )


def test_a_full_slot_fits() -> None:
    report = check_capacity([usage(100, 100)])
    assert report.findings == ()
    assert report.proved == (
        "capacity: scratchpad slot of 100 B: at most 100 B in granules, 100 B of elements",
    )


def test_the_model_s_own_count_decides() -> None:
    (finding,) = check_capacity([usage(101, 50)]).findings
    assert (finding.code, finding.severity, finding.grade) == ("PT-CAPACITY", "error", "hang")
    assert finding.sentence == "scratchpad: a tile needs 101 B of 100 B"
    assert finding.evidence == "101 B in granules, 50 B of elements"
    assert finding.operations == (7,)


def test_elements_that_exceed_the_slot_are_a_warning() -> None:
    report = check_capacity([usage(100, 101)])
    (finding,) = report.findings
    assert report.ok
    assert finding.severity == "warning"
    assert "101 B of 100 B" in finding.sentence


def test_every_memory_is_judged() -> None:
    report = check_capacity([usage(1, 1), usage(200, 1), usage(1, 200)])
    assert [finding.severity for finding in report.findings] == ["error", "warning"]
    assert len(report.proved) == 1
