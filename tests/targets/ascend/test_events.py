"""Event ids: reserved, looked up, given back."""

from __future__ import annotations

from pantile.check.report import Finding
from pantile.targets.ascend.events import EventIds, finding_of

PAIR = ("PIPE_M", "PIPE_MTE1")


def ids(count: int = 8, kept: tuple[int, ...] = ()) -> EventIds:
    return EventIds(count, kept, lambda line: f"k.py:{line}")


def sentences(made: EventIds) -> list[str]:
    assert all(each.code == "PT-EVENT-ID" for each in made.findings)
    return [each.sentence for each in made.findings]


def test_alloc_holds_an_id_and_fetch_does_not() -> None:
    made = ids()
    assert [made.alloc(*PAIR, line=1).id for _ in range(3)] == [0, 1, 2]
    assert [made.fetch(*PAIR, line=2).id for _ in range(3)] == [3, 3, 3]
    assert made.alloc(*PAIR, line=3).id == 3
    assert not made.findings


def test_every_pair_of_pipes_has_ids_of_its_own() -> None:
    made = ids()
    assert [made.alloc(*PAIR, line=1).id, made.alloc("PIPE_MTE1", "PIPE_M", line=1).id] == [0, 0]


def test_a_released_id_is_handed_out_again() -> None:
    made = ids()
    first = made.alloc(*PAIR, line=1)
    made.alloc(*PAIR, line=1)
    made.release(first, line=2)
    assert made.alloc(*PAIR, line=3).id == 0
    assert not made.findings


def test_ids_kept_for_others_are_never_handed_out() -> None:
    made = ids(kept=(0, 7))
    assert [made.alloc(*PAIR, line=1).id for _ in range(6)] == [1, 2, 3, 4, 5, 6]


def test_a_ninth_id_is_a_finding_with_the_lines_that_hold_the_others() -> None:
    made = ids()
    for line in range(1, 9):
        made.alloc(*PAIR, line=line)
    assert made.alloc(*PAIR, line=9).id == 8
    assert sentences(made) == ["no id of PIPE_M to PIPE_MTE1 is free at k.py:9: 8 there are, 8 are held"]
    assert made.findings[0].severity == "error"
    assert made.findings[0].evidence.startswith("held since k.py:1, k.py:2")


def test_exhaustion_counts_the_ids_of_the_soc() -> None:
    made = ids(count=4)
    for _ in range(4):
        made.alloc(*PAIR, line=1)
    made.fetch(*PAIR, line=2)
    assert "4 there are, 4 are held" in sentences(made)[0]


def test_use_after_release_names_both_lines() -> None:
    made = ids()
    event = made.alloc(*PAIR, line=1)
    made.set(event, line=2)
    made.wait(event, line=3)
    made.release(event, line=4)
    made.set(event, line=5)
    assert sentences(made) == [
        "flag 0 of PIPE_M to PIPE_MTE1 is used at k.py:5 after it was released at k.py:4"
    ]


def test_release_twice_and_release_of_what_was_only_fetched() -> None:
    made = ids()
    event, looked_up = made.alloc(*PAIR, line=1), made.fetch(*PAIR, line=2)
    made.release(event, line=3)
    made.release(event, line=4)
    made.release(looked_up, line=5)
    assert "although that was done at k.py:3" in sentences(made)[0]
    assert "was only fetched" in sentences(made)[1]


def test_release_before_the_wait_is_issued_is_a_warning() -> None:
    made = ids()
    event = made.alloc(*PAIR, line=1)
    made.set(event, line=2)
    made.release(event, line=3)
    assert "while it is up" in sentences(made)[0]
    assert made.findings[0].severity == "warning"


def test_two_fetched_flags_that_are_up_at_once_are_one_flag() -> None:
    made = ids()
    first = made.fetch(*PAIR, line=1)
    made.set(first, line=2)
    made.set(made.fetch(*PAIR, line=3), line=4)
    assert sentences(made) == [
        "flag 0 of PIPE_M to PIPE_MTE1 is set at k.py:4 while it is up since k.py:2: "
        "both ids were fetched, and fetch returned the same one twice"
    ]
    assert made.findings[0].grade == "hang"


def test_fetched_flags_one_after_the_other_are_fine() -> None:
    made = ids()
    for line in (1, 2):
        event = made.fetch(*PAIR, line=line)
        made.set(event, line=line)
        made.wait(event, line=line)
    made.end()
    assert not made.findings


def test_a_number_that_alloc_gave_to_someone_else_is_a_warning() -> None:
    made = ids()
    event = made.alloc(*PAIR, line=1)
    made.set(event.flag, line=2)
    assert "used by number at k.py:2 while alloc gave that id to k.py:1" in sentences(made)[0]


def test_what_is_never_released_is_told_at_the_end() -> None:
    made = ids()
    made.alloc(*PAIR, line=7)
    made.end()
    assert sentences(made) == ["flag 0 of PIPE_M to PIPE_MTE1 is held since k.py:7 and never released"]


def test_findings_survive_their_description() -> None:
    finding = Finding(code="PT-EVENT-ID", severity="error", sentence="x", operations=(1, 2), grade="hang")
    assert finding_of(finding.to_json()) == finding
