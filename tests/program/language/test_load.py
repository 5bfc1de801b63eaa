"""Program files: what they must leave, and one line for everything else (design section 4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pantile.errors import ManyProblems, PantileError, ProgramError
from pantile.program.language.load import load_program

HEAD = """\
from pantile.language import *
tiling = Tiling("ti,oi->to", total=(4, 4, 8), D=(2, 2, 2), S=(2, 2, 4))
core = Core(0, 0)
tile = Tile(tiling, (0, 0, 0), location=core)

@thread
def load():
    start_writing(tile)
"""

MAKES = HEAD + "program = Program(tiling, load)\n"


def write(tmp_path: Path, text: str, name: str = "made.py") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(tmp_path: Path, text: str, name: str = "made.py") -> str:
    """The message for a file, its directory left out; one line."""
    path = write(tmp_path, text, name)
    with pytest.raises(PantileError) as caught:
        load_program(path)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.__cause__ is None
    return message.replace(f"{tmp_path}/", "")


def test_the_program_that_a_file_leaves(tmp_path: Path) -> None:
    program = load_program(write(tmp_path, MAKES))
    assert program.operations == 1
    assert program.name == "made"


def test_one_program_under_two_names_is_one(tmp_path: Path) -> None:
    assert load_program(write(tmp_path, MAKES + "again = program\n")).operations == 1


def test_a_name_chooses(tmp_path: Path) -> None:
    path = write(tmp_path, MAKES + 'other = Program(tiling, load, name="second")\n')
    assert load_program(path, "other").name == "second"
    assert load_program(f"{path}:other").name == "second"
    assert load_program(f"{path}:program").name == "made"


def test_json_and_listing_give_the_same_program(tmp_path: Path) -> None:
    program = load_program(write(tmp_path, MAKES))
    for text, name in ((json.dumps(program.to_json()), "made.json"), (program.to_text(), "made.txt")):  # type: ignore[attr-defined]
        assert load_program(write(tmp_path, text, name)).pieces == program.pieces


def test_none_or_two_programs(tmp_path: Path) -> None:
    assert refused(tmp_path, HEAD).startswith("made.py: leaves no program; make one: program = Program(")
    two = MAKES + "other = Program(tiling, load)\n"
    assert "made.py: leaves 2 programs (program, other); write " in refused(tmp_path, two)


def test_a_name_that_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, MAKES)
    with pytest.raises(ProgramError, match=r"leaves no program called 'programm'.*did you mean 'program'\?"):
        load_program(path, "programm")
    with pytest.raises(ProgramError, match="leaves no program called 'tiling'; programs there: program"):
        load_program(path, "tiling")
    with pytest.raises(ProgramError, match="leaves no program called 'x'; there is none"):
        load_program(write(tmp_path, HEAD), "x")


def test_a_syntax_error_is_one_line(tmp_path: Path) -> None:
    message = refused(tmp_path, HEAD + "program = Program(\n")
    assert message.startswith("made.py:9: not Python: ")


def test_an_exception_is_one_line_with_the_line_of_the_file(tmp_path: Path) -> None:
    assert (
        refused(tmp_path, "x = 1\ny = x / 0\n")
        == "made.py:2: raised ZeroDivisionError: division by zero [PT-PROGRAM]"
    )
    assert refused(tmp_path, "raise SystemExit(3)\n") == "made.py:1: raised SystemExit: 3 [PT-PROGRAM]"
    assert refused(tmp_path, "assert False\n") == "made.py:1: raised AssertionError [PT-PROGRAM]"
    nested = "def f():\n    return {}['a']\n\nf()\n"
    assert refused(tmp_path, nested) == "made.py:2: raised KeyError: 'a' [PT-PROGRAM]"
    assert refused(tmp_path, "import nowhere_at_all\n").startswith(
        "made.py:1: raised ModuleNotFoundError: No module"
    )


def test_an_error_of_a_statement_names_the_statement(tmp_path: Path) -> None:
    text = HEAD + "    finish_reading(tile)\nprogram = Program(tiling, load)\n"
    assert refused(tmp_path, text).startswith(
        "made.py:9: finish_reading of D(0,0,0) at sram@(0,0) without a start"
    )


def test_an_error_without_a_place_gets_that_of_the_statement(tmp_path: Path) -> None:
    text = HEAD + "    Tile(tiling, (2, 0, 0))\nprogram = Program(tiling, load)\n"
    assert refused(tmp_path, text).startswith("made.py:9: ")
    twice = 'from pantile.language import *\ntiling = Tiling("ti,oi->to", total=(4, 4, 8), D=..., S=...)\n'
    with pytest.raises(ManyProblems, match="leave out the factor of t"):
        load_program(write(tmp_path, twice))


def test_all_misuses_are_reported_together(tmp_path: Path) -> None:
    text = HEAD + "    finish_reading(tile)\n    finish_reading(tile)\nprogram = Program(tiling, load)\n"
    with pytest.raises(ManyProblems) as caught:
        load_program(write(tmp_path, text))
    assert [problem.place.line for problem in caught.value.problems if problem.place] == [9, 10]


def test_a_module_beside_the_file_can_be_imported(tmp_path: Path) -> None:
    write(tmp_path, HEAD, "shared_by_programs.py")
    program = load_program(
        write(tmp_path, "from shared_by_programs import *\nprogram = Program(tiling, load)\n")
    )
    assert program.operations == 1
    write(tmp_path, "x = (", "broken_beside.py")
    message = refused(tmp_path, "\nimport broken_beside\n")
    assert message.startswith("made.py:2: imports what is not Python: ")


def test_a_file_starts_with_nothing(tmp_path: Path) -> None:
    load_program(write(tmp_path, MAKES, "first.py"))
    assert "NameError: name 'program' is not defined" in refused(tmp_path, "program\n")


def test_a_main_section_is_not_run(tmp_path: Path) -> None:
    text = MAKES + 'if __name__ == "__main__":\n    raise SystemExit\n'
    assert load_program(write(tmp_path, text)).operations == 1


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"absent\.py: cannot be read: No such file"):
        load_program(tmp_path / "absent.py")
    with pytest.raises(ProgramError, match=r"expected FILE\.py, FILE\.json or FILE\.txt, got 'gemm:m=32'"):
        load_program("gemm:m=32")
    path = tmp_path / "latin.py"
    path.write_bytes(b"# \xe9\xff")
    with pytest.raises(ProgramError, match="is no text in UTF-8"):
        load_program(path)
    with pytest.raises(ProgramError, match="holds one program, got the name 'x'"):
        load_program(write(tmp_path, "{}", "made.json"), "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "made.json:1:2: not a JSON file"),
        ("[]", "made.json: expected an object of schema 'pantile/program/1', got 'list'"),
        (
            '{"schema": "pantile/plan/1"}',
            "made.json: expected an object of schema 'pantile/program/1', got 'pantile",
        ),
        ('{"schema": "pantile/program/1"}', "made.json: not a whole program: KeyError 'name'; write it with"),
    ],
)
def test_json_that_is_no_program(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text, "made.json").startswith(message)


def test_a_damaged_listing(tmp_path: Path) -> None:
    assert refused(tmp_path, "pantile trace\n", "made.txt").startswith(
        "made.txt:1: expected 'pantile program 1'"
    )
