"""Inputs of case files, as pydantic checks them.

Imported only when a file was found that needs it: importing pydantic takes a while.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pantile.conform.compare import Difference
from pantile.conform.faults import INPUT, WrongInput

Size = Annotated[int, Field(ge=1)]


class CaseInputs(BaseModel):
    """Base of what a case file says was run: no value is converted, unknown names are left alone."""

    model_config = ConfigDict(strict=True, frozen=True)


Read = TypeVar("Read", bound=CaseInputs)


def read_inputs(value: Any, model: type[Read], at: str = "") -> Read:
    """Return the inputs of a case, which stand at a field of it.

    Raises:
        WrongInput: With the first input that is missing or wrong, and how many others are.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False)
    first = problems[0]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    got = None if first["type"] == "missing" else first["input"]
    if first["type"] == "model_type":  # its own words name the class
        expected = "an object"
    else:
        expected = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        expected = expected[:1].lower() + expected[1:]
    why = f"{INPUT}, given as a text" if isinstance(got, str) else INPUT
    if len(problems) > 1:
        why += f"; {len(problems) - 1} more in it cannot be one either"
    raise WrongInput(Difference(f"{at}{''.join(steps)}".removeprefix("."), expected, got, why))
