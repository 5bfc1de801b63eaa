"""One case of a file: its name, and what came of computing and comparing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pantile.conform.compare import Difference, compare
from pantile.conform.faults import WrongInput, defect
from pantile.conform.result import CaseOutcome, judged
from pantile.errors import OutsideModelError, PantileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def case_name(value: Mapping[str, Any], stem: str) -> str:
    """Return what a case calls itself, or the name of its file."""
    named = value.get("id")
    return named if isinstance(named, str) and named else stem


def outcome_of(
    case: str,
    value: Any,
    compute: Callable[[], dict[str, Any]],
    *,
    field: str,
    wanted: str,
    relative: float = 0.0,
) -> CaseOutcome:
    """Return the outcome of comparing *value* with what *compute* returns.

    What the model does not cover is skipped. A refusal or a crash is that case's failure, and hides no other.

    Args:
        case: Its name.
        value: What the file says.
        compute: Returns the same figures.
        field: The field that the input stands in.
        wanted: What is expected there.
        relative: How far a recorded float may be off, as a part of itself.
    """
    try:
        computed = compute()
    except WrongInput as error:
        return CaseOutcome(case=case, difference=error.difference)
    except OutsideModelError as error:
        return CaseOutcome(case=case, skipped=str(error))
    except PantileError as error:
        return CaseOutcome(case=case, difference=Difference(field, wanted, str(error), "it was refused"))
    except Exception as error:
        return CaseOutcome(case=case, difference=defect(error, field, "figures"))
    return judged(case, compare(value, computed, relative=relative))
