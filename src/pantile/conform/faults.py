"""What can be wrong with a case beside its figures: an input that cannot be one, a break of this program."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from pantile.conform.compare import Difference

INPUT = "an input of the case"


class WrongInput(Exception):
    """An input of a case that cannot be what was run.

    Attributes:
        difference: The input, and what was expected there.
    """

    def __init__(self, difference: Difference) -> None:
        super().__init__(f"{difference.field}: expected {difference.expected}, got {difference.got}")
        self.difference = difference


def wrong_input(field: str, expected: str, got: Any) -> WrongInput:
    """Return the error for an input that is *got* where *expected* is meant."""
    return WrongInput(Difference(field, expected, got, INPUT))


def defect(error: Exception, field: str, expected: str) -> Difference:
    """Return the difference of a case, or of a file, on which this program itself broke."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return Difference(field, expected, f"{type(error).__name__}: {error}", f"a defect of pantile, {place}")
