"""The mapping notation: what it reads, how it prints, and where its errors point."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pantile.errors import ManyProblems, MappingError, Place
from pantile.tiling.onnxim import (
    COUNT_LIMIT,
    LoopCounts,
    Mapping,
    Semantics,
    format_mapping,
    parse_mapping,
    read_mapping_file,
)

SEED = "[T] N32 C64 M32 - [O] N2 C2 M2 - [I] N16 C32 M16"
SEED_MAPPING = Mapping(LoopCounts(32, 64, 32), LoopCounts(2, 2, 2), LoopCounts(16, 32, 16))
BOTH = pytest.mark.parametrize("semantics", ["fixed", "faithful"])

counts = st.integers(1, COUNT_LIMIT)
loop_counts = st.builds(
    LoopCounts, counts, counts, counts, *[st.one_of(st.just(1), counts) for _ in range(4)]
)
mappings = st.builds(Mapping, loop_counts, loop_counts, loop_counts)


def messages(text: str, semantics: Semantics = "fixed") -> list[str]:
    with pytest.raises((MappingError, ManyProblems)) as caught:
        read_mapping_file(text, "f.mapping", semantics)
    return str(caught.value).splitlines()


@BOTH
def test_the_seeds_line(semantics: Semantics) -> None:
    mapping = parse_mapping(SEED, semantics=semantics)
    assert mapping == SEED_MAPPING
    assert format_mapping(mapping) == SEED
    assert mapping.at("O", "C") == Place("--mapping", 1, 26)
    assert mapping.at("I", "Q") == Place("--mapping", 1, 0)  # left out: the line


@BOTH
@given(mapping=mappings)
@example(mapping=SEED_MAPPING)
def test_text_reads_back_to_the_same_mapping(semantics: Semantics, mapping: Mapping) -> None:
    assert parse_mapping(format_mapping(mapping), semantics=semantics) == mapping
    assert read_mapping_file(f"{mapping}\n{mapping}\n", "f", semantics) == (mapping, mapping)


@BOTH
def test_convolution_letters_are_read_and_printed_where_they_are_not_1(semantics: Semantics) -> None:
    line = "[T] N1 C16 M16 S3 R3 Q12 P20 - [O] N1 C2 M2 S1 R1 Q2 P3 - [I] N1 C8 M8 S3 R3 Q8 P8"
    mapping = parse_mapping(line, semantics=semantics)
    assert mapping.total == LoopCounts(1, 16, 16, S=3, R=3, Q=12, P=20)
    assert mapping.outer == LoopCounts(1, 2, 2, Q=2, P=3)
    assert mapping.inner == LoopCounts(1, 8, 8, S=3, R=3, Q=8, P=8)
    assert format_mapping(mapping) == line.replace("S1 R1 ", "")


@BOTH
def test_repeated_letters_overwrite_outside_and_multiply_inside(semantics: Semantics) -> None:
    mapping = parse_mapping("[T] N9 N16 - [O] M3 M2 - [I] N2 N4 C8Y - [I] N2 M3X", semantics=semantics)
    assert mapping.total == LoopCounts(16, 1, 1)
    assert mapping.outer == LoopCounts(1, 1, 2)
    assert mapping.inner == LoopCounts(16, 8, 3)
    assert mapping.remarks == (
        "--mapping:1:8: N is given twice, 16 replaces 9",
        "--mapping:1:21: M is given twice, 2 replaces 3",
    )


@BOTH
def test_missing_sections_are_all_ones(semantics: Semantics) -> None:
    ones = LoopCounts(1, 1, 1)
    assert parse_mapping("[T] N4", semantics=semantics) == Mapping(LoopCounts(4, 1, 1), ones, ones)


def test_blank_line_is_the_mapping_of_ones_under_faithful_q16() -> None:
    ones = LoopCounts(1, 1, 1)
    assert read_mapping_file(f"\n{SEED}\n", "f", "faithful") == (Mapping(ones, ones, ones), SEED_MAPPING)
    assert read_mapping_file("\r\n \n", "f", "faithful") == (Mapping(ones, ones, ones),) * 2
    assert read_mapping_file("", "f", "faithful") == ()


def test_blank_line_is_an_error_with_its_line_under_fixed_q16() -> None:
    blank = "a blank line, which ONNXim reads as the mapping of a 1x1x1 product (Q16); remove the line"
    assert messages(f"{SEED}\n\n{SEED}\n  \n") == [
        f"f.mapping:2: {blank} [PT-MAPPING]",
        f"f.mapping:4: {blank} [PT-MAPPING]",
    ]
    assert read_mapping_file("", "f") == ()


def test_two_spaces_stop_faithful_and_not_fixed_q20() -> None:
    line = SEED.replace("N32 C64", "N32  C64")
    assert messages(line, "faithful") == [
        "f.mapping:1:9: two spaces in a row, on which ONNXim stops (Q20); "
        "leave one space, or use --semantics fixed [PT-MAPPING]"
    ]
    assert parse_mapping(line) == SEED_MAPPING
    assert parse_mapping(f"  {SEED}\t\r") == SEED_MAPPING
    assert parse_mapping(SEED.replace(" - ", "-")) == SEED_MAPPING


def test_faithful_drops_the_first_token_of_a_section_without_its_spaces() -> None:
    """After a dash ONNXim drops two words unseen; without the space the second is a count."""
    assert parse_mapping(SEED.replace(" - ", "-"), semantics="faithful") == Mapping(
        LoopCounts(32, 64, 32), LoopCounts(1, 2, 2), LoopCounts(1, 32, 16)
    )


def test_faithful_reads_the_leading_digits_of_a_token() -> None:
    assert parse_mapping("[T] N16x C+8 M4\r", semantics="faithful").total == LoopCounts(16, 8, 4)
    assert parse_mapping("[T] N1 - [O] N0 - [I] N65536 N65536", semantics="faithful") == Mapping(
        LoopCounts(1, 1, 1), LoopCounts(0, 1, 1), LoopCounts(0, 1, 1)
    )


@pytest.mark.parametrize(
    ("line", "column", "problem"),
    [
        ("[T] N32 C64 M3z", 13, "expected a letter of N C M S R Q P and a count, got 'M3z'"),
        ("[T] N32 K64", 9, "expected a letter of N C M S R Q P and a count, got 'K64'"),
        ("[T] n32", 5, "expected a letter of N C M S R Q P and a count, got 'n32'"),
        ("[T] N", 5, "expected a letter of N C M S R Q P and a count, got 'N'"),
        ("[T] N1.5", 5, "expected a letter of N C M S R Q P and a count, got 'N1.5'"),
        ("[T] N0", 5, "expected a count between 1 and 2147483647, got 'N0'"),
        ("[T] N-5", 5, "expected a count between 1 and 2147483647, got 'N-5'"),
        ("[T] N2147483648", 5, "expected a count between 1 and 2147483647, got 'N2147483648'"),
        ("[T] M4X", 5, "'X' does not belong to M in section [T], got 'M4X'"),
        ("[T] N4 - [O] N1 - [I] C4X", 23, "'X' does not belong to C in section [I], got 'C4X'"),
        ("N32 C64 M32", 1, "expected the label [T], got 'N32'"),
        ("[T] N32 - [I] N32", 11, "expected the label [O], got '[I]'"),
        ("[T] N32 -", 10, "expected the label [O], got ''"),
        (
            "[T] N1 - [O] N1 - [I] N65536 N65536",
            30,
            "expected a count between 1 and 2147483647, got N4294967296 (its counts multiplied)",
        ),
    ],
)
def test_malformed_token_is_named_with_its_column(line: str, column: int, problem: str) -> None:
    (message,) = messages(f"{SEED}\n{line}\n")
    assert message.startswith(f"f.mapping:2:{column}: {problem}; ")


@pytest.mark.parametrize("word", ["K3", "N", "Nx", "N2147483648", "N" + "9" * 5000])
def test_faithful_refuses_what_stops_the_original(word: str) -> None:
    (message,) = messages(f"[T] {word}", "faithful")
    assert message.startswith("f.mapping:1:5: expected a ")


def test_all_problems_of_a_file_come_at_once_in_order() -> None:
    found = messages("[T] N0 C3 Mx - [O] Z1\n\n[T] N1\nx\n")
    assert [line.split(": ")[0] for line in found] == [
        "f.mapping:1:5",
        "f.mapping:1:11",
        "f.mapping:1:20",
        "f.mapping:2",
        "f.mapping:4:1",
    ]


def test_counts_by_letter() -> None:
    counts = LoopCounts(2, 3, 5, S=7)
    assert counts.to_json() == {"N": 2, "C": 3, "M": 5, "S": 7, "R": 1, "Q": 1, "P": 1}
    assert counts.volume == 210
    with pytest.raises(KeyError):
        counts["K"]
