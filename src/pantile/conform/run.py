"""Runs case files: finds them, tells their kind, compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pantile.conform.faults import WrongInput, defect
from pantile.conform.files import UnreadableFile, find_files, read_case_file
from pantile.conform.kinds import KINDS, kind_of
from pantile.conform.result import CaseOutcome, ConformResult, FileOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def conform(paths: Sequence[str | Path], *, on_compile: Callable[[], None] = lambda: None) -> ConformResult:
    """Return how the figures of case files compare with those of this program.

    Every file below a folder is looked at. What cannot be read, is of no known kind, or needs a model
    that this version does not have is skipped, with the reason; a file that is not as its kind must be counts
    as one failed case.

    Args:
        paths: Case files, or folders of them.
        on_compile: Called before anything is compiled.

    Raises:
        UsageError: If a path does not exist.
    """
    files = tuple(FileOutcome(path.as_posix(), _outcomes(path, on_compile)) for path in find_files(paths))
    return ConformResult(tuple(map(str, paths)), files)


def _outcomes(path: Path, on_compile: Callable[[], None]) -> tuple[CaseOutcome, ...]:
    try:
        value = read_case_file(path)
    except UnreadableFile as error:
        return (CaseOutcome(case="", skipped=str(error)),)
    try:
        kind = kind_of(value)
        if kind is None:
            known = ", ".join(each.name for each in KINDS)
            return (CaseOutcome(case="", skipped=f"of no kind that this version knows ({known})"),)
        return tuple(kind.check(value, path.stem, on_compile))
    except WrongInput as error:
        return (CaseOutcome(case=path.stem, difference=error.difference),)
    except Exception as error:  # a crash on one file is that file's failure, and must not hide the others
        return (CaseOutcome(case=path.stem, difference=defect(error, "", "cases that can be told apart")),)
