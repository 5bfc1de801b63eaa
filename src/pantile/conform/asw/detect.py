"""Which files hold cases of the ASW_Basic theory, and how each is checked.

What checks them is imported when the first such file is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.result import CaseOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = "asw_theory_pipeline/1"
EXAMPLES = "asw_theory_golden/1"


def is_file(value: Any) -> bool:
    """Whether *value* is a file of such cases."""
    return isinstance(value, dict) and value.get("schema") == SCHEMA and isinstance(value.get("cases"), list)


def check_file(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return the outcome of every case of a file."""
    from pantile.conform.asw.cases import check_cases

    return check_cases(value, stem)


def is_examples(value: Any) -> bool:
    """Whether *value* is a file of the document's worked examples, each with names of its own."""
    return isinstance(value, dict) and value.get("schema") == EXAMPLES


def skip_examples(value: Any, stem: str, on_compile: Callable[[], None]) -> list[CaseOutcome]:
    """Return why a file of worked examples is not run: no layout says what its names mean."""
    return [CaseOutcome(case="", skipped="worked examples of a document; this project's tests compute them")]
